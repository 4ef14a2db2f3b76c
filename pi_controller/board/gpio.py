"""Detects the Raspberry Pi model and the GPIO chip with the header's pins.

The chips' numbers have changed with the kernel (on a Pi 5 the header was gpiochip4, then gpiochip0); their labels have
not. gpiozero 2.0.1 uses the number, so it is passed in.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pi_controller.errors import MatError, describe_error
from pi_controller.extras import install_hint

if TYPE_CHECKING:
    from gpiozero import Factory

HEADER = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835")
"""Labels of the header's chip: Pi 5; Pi 4; Pi 3 and Zero 2 W."""
PINS = range(2, 28)
"""BCM numbers of the header's usable pins; 0 and 1 are reserved for the EEPROM of a HAT."""
_CHIP = re.compile(r"gpiochip(\d+)")


def no_pins(error: type[MatError], otherwise: str = "") -> MatError:
    """Return an `error` for a machine whose pins cannot be opened, with the remedy; `otherwise` is one without pins
    (default: the packages for a Pi).

    gpiozero raises BadPinFactory, and whatever the library that `GPIOZERO_PIN_FACTORY` names raises: ImportError if it
    is not installed, RuntimeError if it does not know the machine (RPi.GPIO on a Pi 5, or no Pi).
    """
    chosen = os.environ.get("GPIOZERO_PIN_FACTORY")
    if not chosen:
        return error("this machine has no pins", otherwise or install_hint("pi"))
    hint = "unset GPIOZERO_PIN_FACTORY: lgpio fits every Pi"
    if chosen == "rpigpio":
        hint += "; RPi.GPIO knows no Pi 5, for which 'pip install rpi-lgpio' takes its place"
    return error(f"the pin library {chosen[:40]!r} cannot be used on this machine", hint)


def read_pi_model(root: Path = Path("/")) -> str:
    """Return the Raspberry Pi's model, or "" on other machines. `root` is the root of the machine's files."""
    try:
        name = (root / "proc/device-tree/model").read_text("utf-8").strip("\0\n ")
    except (OSError, UnicodeDecodeError):
        return ""
    return name if "Raspberry Pi" in name else ""


def import_lgpio() -> Any:
    """Return the module lgpio, or None if it is not installed or cannot be used.

    Importing it creates a FIFO in the current folder or in `LG_WD`, which fails if the folder is read-only and
    otherwise leaves the FIFO behind. So it is imported once, in a temporary folder.
    """
    if "lgpio" in sys.modules:
        return sys.modules["lgpio"]
    chosen = os.environ.pop("LG_WD", None)
    try:
        with TemporaryDirectory(prefix="moccasin-mat-") as folder, chdir(folder):
            return import_module("lgpio")
    except (ImportError, OSError):
        return None
    finally:
        if chosen is not None:
            os.environ["LG_WD"] = chosen


def header_chip(label: Callable[[int], str], error: type[MatError], dev: Path = Path("/dev")) -> int | None:
    """Return the number of the chip with the header's pins, or None if no chip has them.

    `label` returns a chip's label; chips for which it raises `OSError` are skipped. Raises `error` if none is found and
    this user may not open one of them.
    """
    chips = {int(found[1]): path for path in dev.glob("gpiochip*") if (found := _CHIP.fullmatch(path.name))}
    for number in sorted(chips):
        try:
            if label(number) in HEADER:
                return number
        except OSError:
            continue
    if closed := [path for _, path in sorted(chips.items()) if not os.access(path, os.R_OK | os.W_OK)]:
        what = f"the pins cannot be used: this user may not open {closed[0].name}"
        group = _group(closed[0])
        hint = f"add it to the group {group} (sudo usermod -aG {group} $USER), then log in again"
        raise error(what, hint)
    return None


def header_factory(error: type[MatError], dev: Path = Path("/dev")) -> Factory | None:
    """Return gpiozero's pin factory for the header's chip, or None to leave the choice to gpiozero.

    None is returned if `GPIOZERO_PIN_FACTORY` is set, lgpio is not installed, or no chip has a Pi's header. Raises
    `error` if this user may not open the chips.
    """
    chosen = os.environ.get("GPIOZERO_PIN_FACTORY")
    if chosen not in (None, "", "lgpio") or not any(dev.glob("gpiochip*")):
        return None
    if import_lgpio() is None or chosen:  # gpiozero imports it, too
        return None
    chip = header_chip(_label, error, dev)
    if chip is None:
        return None
    try:
        from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415 - only a Pi has pins
    except ModuleNotFoundError:  # reported by the device that imports gpiozero next
        return None
    return LGPIOFactory(chip=chip)


def _label(number: int) -> str:
    """Return the label of chip `number` by lgpio. Raises `OSError` if it cannot be opened."""
    lgpio = import_lgpio()
    try:
        handle = lgpio.gpiochip_open(number)
        try:
            return str(lgpio.gpio_get_chip_info(handle)[3])
        finally:
            lgpio.gpiochip_close(handle)
    except lgpio.error as error:
        raise OSError(f"gpiochip{number}: {describe_error(error)}") from error


def _group(path: Path) -> str:
    try:
        return path.group()
    except KeyError:
        return str(path.stat().st_gid)
