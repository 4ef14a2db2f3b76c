"""Edit the Pi's config.txt for light strips on GPIO10: the required lines, the missing ones, as one marked block.

GPIO10's bit rate derives from the core clock, so that clock must be fixed: 250 MHz on a Pi 3 and Zero 2 W, 500 MHz
on a Pi 4; a Pi 5 does not need this. The strips' library also needs the serial port enabled.
"""

import re
from collections.abc import Sequence
from pathlib import Path

FILES = (Path("/boot/firmware/config.txt"), Path("/boot/config.txt"))
BEGIN, END = "# moccasin-mat begin", "# moccasin-mat end"
PINS = ("dtparam=spi=on", "dtparam=i2c_arm=on")
"""Lines for sensors on the Pi's own pins."""
_BLOCK = re.compile(rf"\n?^{re.escape(BEGIN)}$.*?^{re.escape(END)}$\n?", re.MULTILINE | re.DOTALL)
_LINES: dict[str, tuple[tuple[str, ...], str]] = {
    # model -> lines, and the name of its own section
    "Raspberry Pi 5": (("dtparam=spi=on",), "pi5"),
    "Raspberry Pi 4": (("dtparam=spi=on", "core_freq=500", "core_freq_min=500", "enable_uart=1"), "pi4"),
    "Raspberry Pi 3": (("dtparam=spi=on", "core_freq=250", "enable_uart=1"), "pi3"),
    "Raspberry Pi Zero 2": (("dtparam=spi=on", "core_freq=250", "enable_uart=1"), "pi02"),
}


def required_lines(model: str, *, strips: bool, pins: bool = False) -> tuple[str, ...]:
    """Return the config lines of this model for light strips and for sensors on its pins; () for an unknown model."""
    found = next((lines for name, (lines, _) in _LINES.items() if strips and model.startswith(name)), ())
    return (*found, *(line for line in PINS if model and pins and line not in found))


def by_model(models: Sequence[str]) -> list[str]:
    """Return the lines for light strips on any of `models` ("Raspberry Pi 4"), each in its model's section."""
    return [*(line for name in models for line in (f"[{_LINES[name][1]}]", *_LINES[name][0])), "[all]"]


def missing_lines(text: str, model: str, wanted: Sequence[str]) -> list[str]:
    """Return the lines of `wanted` that are not in effect for this model in `text`, ignoring our own block.

    A line is in effect in a section for all models or for this one; of one setting the last line wins, as on the Pi.
    """
    own = next((section for name, (_, section) in _LINES.items() if model.startswith(name)), "")
    holds: dict[str, str] = {}
    section = "all"
    for raw in without_block(text).splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line and not line.startswith("#") and section in {"all", own}:
            holds[_key(line)] = line.replace(" ", "")
    return [line for line in wanted if holds.get(_key(line)) != line]


def with_block(text: str, lines: Sequence[str]) -> str:
    """Return `text` with our block of `lines` at its end, in place of an earlier block."""
    plain = without_block(text)
    if not lines:
        return plain
    block = "\n".join([BEGIN, "[all]", *lines, END])
    return f"{plain}\n{block}\n"  # the line break before belongs to the block, so that removing it restores `text`


def without_block(text: str) -> str:
    """Return `text` without our block."""
    return _BLOCK.sub("", text)


def block(text: str) -> str:
    """Return our block in `text`, or ""."""
    found = _BLOCK.search(text)
    return found[0].strip() if found else ""


def _key(line: str) -> str:
    """Return the name of the setting in a line: `core_freq`, for dtparam with the parameter."""
    parts = line.replace(" ", "").split("=")
    return "=".join(parts[:2]) if parts[0] in {"dtparam", "dtoverlay"} else parts[0]
