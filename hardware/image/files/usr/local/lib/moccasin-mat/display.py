"""Applies `[screen]` of the last good machine.toml: which output is used, and how it is turned.

Runs before each start of the visitors' screen, and once the settings were taken. It loads little, because the browser
waits for it. Cage would stretch the page over all outputs, so all but one are switched off in the kernel; passed over:
`cage -m last`, which crashes with a single screen in Debian 12 (cage 0.1.4). Console and touch screen are turned too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

OPTIONS = "run/moccasin-mat-card/display.env"
TOUCH_RULE = "run/udev/rules.d/62-moccasin-mat-touch.rules"
KIOSK = "moccasin-mat-kiosk.service"
MATRICES = {90: "0 -1 1 1 0 0", 180: "-1 0 1 0 -1 1", 270: "0 1 0 -1 0 1"}
"""libinput's calibration for a screen that is turned clockwise by so many degrees."""


def screen_settings(root: Path) -> tuple[int, str]:
    """Return degrees (clockwise) and output; 0 and "" if the file says nothing that can be used."""
    try:
        found = tomllib.loads((root / "etc/moccasin-mat/machine.toml").read_text("utf-8-sig")).get("screen", {})
        rotate, output = found.get("rotate", 0), found.get("output", "")
    except (OSError, ValueError, AttributeError):
        return 0, ""
    return rotate if rotate in MATRICES else 0, output if isinstance(output, str) else ""


def select_output(root: Path, output: str, *, detect: bool) -> None:
    """Switch off all outputs with a screen but one: `output`, or the first if it is "" or has no screen.

    With `detect` the kernel looks again at all, also at those that were switched off here before.
    """
    statuses = {path.parent.name.partition("-")[2]: path for path in (root / "sys/class/drm").glob("card*-*/status")}
    if detect:
        for path in statuses.values():
            path.write_text("detect", "ascii")
    found = sorted(name for name, path in statuses.items() if path.read_text("ascii").strip() == "connected")
    if output and output not in found:
        print(f"the output {output} has no screen; there are: {', '.join(sorted(statuses))}", file=sys.stderr)
    used = output if output in found else next(iter(found), "")
    for name in found:
        if name != used:
            statuses[name].write_text("off", "ascii")


def rotate_screen(root: Path, degrees: int) -> bool:
    """Turn console, touch screen and cage by `degrees`; return whether cage has to start anew for it."""
    with suppress(OSError):
        (root / "sys/class/graphics/fbcon/rotate_all").write_text(str(degrees // 90), "ascii")
    rule = root / TOUCH_RULE
    wanted = ""
    if degrees:
        wanted = f'ENV{{ID_INPUT_TOUCHSCREEN}}=="1", ENV{{LIBINPUT_CALIBRATION_MATRIX}}="{MATRICES[degrees]}"\n'
    turned = _write_if_other(rule, wanted)
    if turned and root == Path("/"):
        for command in (["control", "--reload"], ["trigger", "--subsystem-match=input", "--action=change"]):
            subprocess.run(["udevadm", *command], check=False)
    return _write_if_other(root / OPTIONS, f'CAGE_OPTIONS="{" ".join(["-r"] * (degrees // 90))}"\n')


def _write_if_other(path: Path, text: str) -> bool:
    """Write `text` if `path` holds something else; return whether it did."""
    with suppress(OSError):
        if path.read_text("utf-8") == text:
            return False
    if not text and not path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return True


def main() -> int:
    """Apply the settings; with `--restart` the visitors' screen starts anew if it was started with others."""
    root, kept = Path("/"), Path("/run/moccasin-mat-card/output")
    degrees, output = screen_settings(root)
    moved, restart = _write_if_other(kept, output), "--restart" in sys.argv[1:]
    select_output(root, output, detect=moved or not restart)
    if (rotate_screen(root, degrees) or moved) and restart:
        subprocess.run(["systemctl", "--no-block", "try-restart", KIOSK], check=False, env=dict(os.environ))
    return 0


if __name__ == "__main__":
    sys.exit(main())
