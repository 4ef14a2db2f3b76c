"""Checks the machine that the table runs on: versions, SPI for the strips, groups, the journal's disk."""

from __future__ import annotations

import grp
import importlib.metadata
import os
import platform
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller import __version__
from pi_controller.doctor.report import Line
from pi_controller.drivers.gpio import model
from pi_controller.errors import INSTALL_PI, JournalError
from pi_controller.machine_health import ENOUGH_BYTES
from pi_controller.private_files import closed_to_us
from pi_controller.table.journal import Journal
from pi_controller.table.journal_file import kept_with

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pi_controller.table.settings import Settings

MACHINE = "Machine"
DISK = "Journal"
SLOW_SYNC_S = 0.5
"""A disk that takes longer to make sure of a few bytes stops play at every call."""
PACKAGES = ("gpiozero", "lgpio", "pyserial", "numpy", "scipy", "rich", "starlette", "uvicorn")
_ALSO = {"lgpio": "adafruit-lgpio"}


def versions() -> dict[str, str]:
    """Return the versions of this program, Python, the system and the packages; "" where one is not here."""
    return {
        "moccasin-mat": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **{package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str:
    for name in filter(None, (package, _ALSO.get(package))):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def groups() -> set[str]:
    """Return the names of the groups that this program runs in."""
    names: set[str] = set()
    for number in {*os.getgroups(), os.getegid()}:
        try:
            names.add(grp.getgrgid(number).gr_name)
        except KeyError:
            continue
    return names


def lines(settings: Settings, root: Path = Path("/"), member: Collection[str] | None = None) -> Iterator[Line]:
    """Yield the lines of the machine. `root` is where its files are, `member` the groups; both for tests."""
    pi = model(root)
    installed = versions()
    yield Line(MACHINE, "model", "pass" if pi else "not here", pi or "this is no Raspberry Pi")
    enough = sys.version_info >= (3, 11)
    yield Line(
        MACHINE, "python", "pass" if enough else "fail", installed["python"], "" if enough else "use 3.11 or newer"
    )
    pins = settings.strips.kind == "pi" or settings.buttons.kind == "pi"
    for package in ("gpiozero", "lgpio"):
        if version := installed[package]:
            yield Line(MACHINE, package, "pass", version)
        elif pi and pins:
            yield Line(MACHINE, package, "fail", "it is not installed", INSTALL_PI)
        else:
            yield Line(MACHINE, package, "not here", "it is not installed; only a Raspberry Pi needs it")
    yield _spi(settings, root)
    yield from _groups(settings, root, groups() if member is None else member)


def _journal(path: Path) -> Iterator[Line]:
    """Yield the journal's own line: it may be written by this user, and holds a game."""
    if not path.exists():
        yield Line(DISK, "journal", "pass", "none yet: the first start makes it")
    elif todo := closed_to_us(kept_with(path)):
        yield Line(DISK, "journal", "fail", f"{path.name} cannot be written by this user", todo)
    else:
        try:
            with Journal(path, read_only=True) as kept:
                yield Line(DISK, "journal", "pass", f"{kept.seq} records")
        except JournalError as error:
            yield Line(DISK, "journal", "fail", error.what, error.todo)


def _spi(settings: Settings, root: Path) -> Line:
    if settings.strips.kind != "pi" and settings.board.port != "pins":
        return Line(MACHINE, "SPI", "not here", "the settings drive no strips")
    found = sorted((root / "dev").glob("spidev*"))
    if found:
        return Line(MACHINE, "SPI", "pass", ", ".join(path.name for path in found))
    todo = "turn SPI on with raspi-config (Interface Options), then restart"
    return Line(MACHINE, "SPI", "fail", "it is turned off", todo)


def _groups(settings: Settings, root: Path, member: Collection[str]) -> Iterator[Line]:
    """Yield a line for each group that the settings need: whoever is not in it may not open the device."""
    needed = {
        "dialout": (settings.board.port not in {"none", "pins"}, "the board's port"),
        "gpio": (settings.buttons.kind == "pi", "the buttons' pins"),
        "spi": (settings.strips.kind == "pi" or settings.board.port == "pins", "the pins of SPI"),
    }
    if settings.board.port == "pins":
        needed["i2c"] = (True, "the touch strips' chip")
    for name, (wanted, what) in needed.items():
        if not wanted:
            yield Line(MACHINE, f"group {name}", "not here", f"the settings want nothing of {what}")
        elif name in member or os.geteuid() == 0:
            yield Line(MACHINE, f"group {name}", "pass", f"{what} may be opened")
        elif not _has_group(name, root):
            yield Line(MACHINE, f"group {name}", "not here", "this system has no such group")
        else:
            todo = f"add this user to it (sudo usermod -aG {name} $USER), then log in again"
            yield Line(MACHINE, f"group {name}", "fail", f"this user is not in it: {what} may not be opened", todo)


def _has_group(name: str, root: Path) -> bool:
    try:
        text = (root / "etc/group").read_text("utf-8", "replace")
    except OSError:
        return False
    return any(line.startswith(f"{name}:") for line in text.splitlines())


def disk(journal: Path) -> Iterator[Line]:
    """Yield the lines of the disk that the journal is kept on: room, writing, and that what is written is there."""
    folder = journal.absolute().parent
    if not folder.is_dir():
        yield Line(DISK, "folder", "fail", f"there is no folder {folder}", "make it, or change [table] journal")
        return
    free = shutil.disk_usage(folder).free
    room = f"{free / 1e9:.1f} GB free"
    if free < ENOUGH_BYTES:
        yield Line(DISK, "room", "fail", room, "make room: old recordings first")
    else:
        yield Line(DISK, "room", "pass", room)
    probe = folder / f".{journal.name}.doctor"
    try:
        began = time.monotonic()
        with probe.open("wb") as file:
            file.write(b"moccasin-mat")
            file.flush()
            os.fsync(file.fileno())
        took = time.monotonic() - began
    except OSError as error:
        todo = "check the folder's owner and the disk, or change [table] journal"
        yield Line(DISK, "writing", "fail", f"{folder} cannot be written: {error.strerror}", todo)
        return
    finally:
        probe.unlink(missing_ok=True)
    yield Line(DISK, "writing", "pass", str(folder))
    yield from _journal(journal)
    slow = took > SLOW_SYNC_S
    todo = "use a better card, or a USB disk" if slow else ""
    yield Line(DISK, "fsync", "fail" if slow else "pass", f"{1000 * took:.1f} ms", todo)
