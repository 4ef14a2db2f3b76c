"""Edits the Pi's config.txt for light strips on GPIO10: which lines, which are missing, as one marked block.

GPIO10 sends the strip's bits at a rate made from the core's clock, so that clock must stand still: 250 MHz on a Pi 3
and Zero 2 W, 500 MHz on a Pi 4; a Pi 5 needs nothing of the kind. The strips' library also asks for the serial port.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FILES = (Path("/boot/firmware/config.txt"), Path("/boot/config.txt"))
BEGIN, END = "# moccasin-mat begin", "# moccasin-mat end"
PINS = ("dtparam=spi=on", "dtparam=i2c_arm=on")
"""What sensors on the Pi's own pins need."""
_BLOCK = re.compile(rf"\n?^{re.escape(BEGIN)}$.*?^{re.escape(END)}$\n?", re.MULTILINE | re.DOTALL)
_LINES: dict[str, tuple[tuple[str, ...], str]] = {
    # model -> lines, and the name of its own section
    "Raspberry Pi 5": (("dtparam=spi=on",), "pi5"),
    "Raspberry Pi 4": (("dtparam=spi=on", "core_freq=500", "core_freq_min=500", "enable_uart=1"), "pi4"),
    "Raspberry Pi 3": (("dtparam=spi=on", "core_freq=250", "enable_uart=1"), "pi3"),
    "Raspberry Pi Zero 2": (("dtparam=spi=on", "core_freq=250", "enable_uart=1"), "pi02"),
}


def needed(model: str, *, strips: bool, pins: bool = False) -> tuple[str, ...]:
    """Return the lines that this model needs for light strips and for sensors on its own pins; none where unknown."""
    found = next((lines for name, (lines, _) in _LINES.items() if strips and model.startswith(name)), ())
    return (*found, *(line for line in PINS if model and pins and line not in found))


def by_model(models: Sequence[str]) -> list[str]:
    """Return the lines for light strips on any of `models` ("Raspberry Pi 4"), each under its own section's name."""
    return [*(line for name in models for line in (f"[{_LINES[name][1]}]", *_LINES[name][0])), "[all]"]


def missing(text: str, model: str, wanted: Sequence[str]) -> list[str]:
    """Return the lines `wanted` that do not hold for this model in `text`, our own block left aside.

    A line counts where it stands for all models or for this one; the last of one setting wins, as the Pi reads it.
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
    """Return `text` with our block of `lines` at its end, and no other block of ours."""
    plain = without_block(text)
    if not lines:
        return plain
    block = "\n".join([BEGIN, "[all]", *lines, END])
    return f"{plain}\n{block}\n"  # the line's end in front belongs to the block, so that taking it away leaves `text`


def without_block(text: str) -> str:
    """Return `text` without our block."""
    return _BLOCK.sub("", text)


def block(text: str) -> str:
    """Return our block in `text`, or ""."""
    found = _BLOCK.search(text)
    return found[0].strip() if found else ""


def _key(line: str) -> str:
    """Return what a line sets: `core_freq`, and for dtparam also which parameter."""
    parts = line.replace(" ", "").split("=")
    return "=".join(parts[:2]) if parts[0] in {"dtparam", "dtoverlay"} else parts[0]
