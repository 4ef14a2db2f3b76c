"""Checks the machine: versions, SPI for the strips, groups, loudspeaker, the journal's disk."""

from __future__ import annotations

import grp
import importlib.metadata
import os
import platform
import shutil
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from pi_controller import __version__
from pi_controller.board.gpio import read_pi_model
from pi_controller.config import Settings
from pi_controller.display.sound import SILENCE, AplaySound, SoundError, sound_cards
from pi_controller.display.speech import SPEECH_PROGRAM
from pi_controller.errors import JournalError, describe_error
from pi_controller.extras import install_hint
from pi_controller.host.files import explain_refusal
from pi_controller.host.findings import Finding, Group
from pi_controller.host.machine_health import LOW_DISK_BYTES
from pi_controller.journal.file import SETTING, journal_files
from pi_controller.journal.journal import Journal
from pi_controller.text import Sentence, mark

MACHINE = Group("Machine")
DISK = Group("Journal")
SLOW_SYNC_S = 0.5
"""A disk that takes longer to sync a few bytes delays play at every call."""
PACKAGES = ("gpiozero", "lgpio", "pyserial", "numpy", "rich", "starlette", "uvicorn")
_ALSO = {"lgpio": "adafruit-lgpio"}


def versions() -> dict[str, str]:
    """Return the versions of this program, Python, the system and the packages; "" for a missing package."""
    return {
        "moccasin-mat": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **{package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str:
    for name in filter(None, (package, _ALSO.get(package))):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return ""


def groups() -> set[str]:
    """Return the names of this process's groups."""
    names: set[str] = set()
    for number in {*os.getgroups(), os.getegid()}:
        with suppress(KeyError):
            names.add(grp.getgrgid(number).gr_name)
    return names


def machine_lines(
    settings: Settings, root: Path = Path("/"), member: Collection[str] | None = None
) -> Iterator[Finding]:
    """Yield the lines for the machine. Tests set `root` (of its files) and `member` (the user's groups)."""
    pi = read_pi_model(root)
    installed = versions()
    yield MACHINE.passes("model", pi) if pi else MACHINE.absent("model", "this is not a Raspberry Pi")
    python = installed["python"]
    enough = sys.version_info >= (3, 11)
    yield MACHINE.passes("python", python) if enough else MACHINE.fails("python", python, "use 3.11 or newer")
    pins = settings.strips.kind == "pi" or settings.buttons.kind == "pi"
    for package in ("gpiozero", "lgpio"):
        if version := installed[package]:
            yield MACHINE.passes(package, version)
        elif pi and pins:
            yield MACHINE.fails(package, "it is not installed", install_hint("pi"))
        else:
            yield MACHINE.absent(package, "it is not installed; only a Raspberry Pi needs it")
    if settings.voice.english:
        yield _speech()
    yield _spi(settings, root)
    yield from _groups(settings, root, groups() if member is None else member)


def _journal(path: Path) -> Iterator[Finding]:
    """Yield the line for the journal: this user may write it, and it is readable."""
    if not path.exists():
        yield DISK.passes("journal", "none yet: the first start creates it")
    elif hint := explain_refusal(journal_files(path), SETTING):
        yield DISK.fails("journal", "{file} cannot be written by this user", hint, file=path.name)
    else:
        try:
            with Journal(path, read_only=True) as kept:
                yield DISK.passes("journal", "{n} records", n=kept.seq)
        except JournalError as error:
            yield DISK.fails("journal", *error.sentences)


def _spi(settings: Settings, root: Path) -> Finding:
    if settings.strips.kind != "pi" and settings.board.port != "pins":
        return MACHINE.absent("SPI", "the settings use no strips")
    found = sorted((root / "dev").glob("spidev*"))
    if found:
        return MACHINE.passes("SPI", ", ".join(path.name for path in found))
    hint = mark("turn SPI on with raspi-config (Interface Options), then restart")
    return MACHINE.fails("SPI", "it is turned off", hint)


def loudspeaker(
    settings: Settings, sound: AplaySound | None = None, root: Path = Path("/")
) -> Iterator[Finding | None]:
    """Play a moment of silence on the loudspeaker `[voice] device`; yield None while it plays, then its line.

    `sound` is the loudspeaker if it is open already, `root` is for tests.
    """
    name, device = "loudspeaker", settings.voice.device
    if not settings.voice.is_audible:
        yield MACHINE.absent(name, "the settings use no sound")
        return
    sound, cards = sound or AplaySound(device), sound_cards(root)
    try:
        sound.play(SILENCE, 0.0)
        while sound.is_playing():
            yield None
    except SoundError as error:
        message, hint = error.sentences
        wrong = message if cards else Sentence("{message}; this machine has no sound card", message=message)
        yield MACHINE.fails(name, wrong, hint)
    else:
        found = "; ".join(cards) or Sentence("none")
        yield MACHINE.passes(name, "{device} opens; sound cards: {cards}", device=device, cards=found)


def _speech() -> Finding:
    if shutil.which(SPEECH_PROGRAM) is None:
        hint = mark("sudo apt install {program}, or set [voice] english to false")
        why = mark("{program} is not installed, so nothing is said aloud")
        return MACHINE.fails("speech", why, hint, program=SPEECH_PROGRAM)
    return MACHINE.passes("speech", SPEECH_PROGRAM)


def _groups(settings: Settings, root: Path, member: Collection[str]) -> Iterator[Finding]:
    """Yield a line for each group that the settings require: only its members may open the device."""
    needed = {
        "dialout": (settings.board.port not in {"none", "pins"}, mark("the board's port")),
        "gpio": (settings.buttons.kind == "pi", mark("the buttons' pins")),
        "spi": (settings.strips.kind == "pi" or settings.board.port == "pins", mark("the pins of SPI")),
    }
    if settings.voice.is_audible:
        needed["audio"] = (True, mark("the loudspeaker"))
    if settings.board.port == "pins":
        needed["i2c"] = (True, mark("the touch strips' chip"))
    for name, (wanted, text) in needed.items():
        group, what = Sentence("group {name}", name=name), Sentence(text)
        if not wanted:
            yield MACHINE.absent(group, "the settings do not use {what}", what=what)
        elif name in member or os.geteuid() == 0:
            yield MACHINE.passes(group, "{what} can be opened", what=what)
        elif not _has_group(name, root):
            yield MACHINE.absent(group, "this system has no such group")
        else:
            hint = mark("add this user to it (sudo usermod -aG {name} $USER), then log in again")
            wrong = mark("this user is not in it: {what} cannot be opened")
            yield MACHINE.fails(group, wrong, hint, name=name, what=what)


def _has_group(name: str, root: Path) -> bool:
    with suppress(OSError):
        lines = (root / "etc/group").read_text("utf-8", "replace").splitlines()
        return any(line.startswith(f"{name}:") for line in lines)
    return False


def disk(journal: Path) -> Iterator[Finding]:
    """Yield the lines for the journal's disk: free space, writing, the journal, and the time of a sync."""
    folder = journal.absolute().parent
    if not folder.is_dir():
        yield DISK.fails("folder", "there is no folder {folder}", "make it, or change [table] journal", folder=folder)
        return
    free = shutil.disk_usage(folder).free
    room = Sentence("{gb} GB free", gb=f"{free / 1e9:.1f}")
    if free < LOW_DISK_BYTES:
        yield DISK.fails("room", room, "free some space: delete old recordings first")
    else:
        yield DISK.passes("room", room)
    probe = folder / f".{journal.name}.doctor"
    try:
        began = time.monotonic()
        with probe.open("wb") as file:
            file.write(b"moccasin-mat")
            file.flush()
            os.fsync(file.fileno())
        took = time.monotonic() - began
    except OSError as error:
        hint = mark("check the folder's owner and the disk, or change [table] journal")
        wrong = mark("{folder} cannot be written: {why}")
        yield DISK.fails("writing", wrong, hint, folder=folder, why=describe_error(error))
        return
    finally:
        probe.unlink(missing_ok=True)
    yield DISK.passes("writing", str(folder))
    yield from _journal(journal)
    found = Sentence("{took} ms", took=f"{1000 * took:.1f}")
    slow = took > SLOW_SYNC_S
    yield DISK.fails("fsync", found, "use a better card, or a USB disk") if slow else DISK.passes("fsync", found)
