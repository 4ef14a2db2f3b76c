"""Takes an update from a stick: a signed wheel of this program, unpacked beside the others, tried once.

What the host's file `update_signers` does not name is refused (`signed.py`). A wheel is this program alone; one that
needs other packages is refused.

In the folder of programs `current` is a link to `versions/VERSION`, which comes before the machine's own installation
on Python's path; where there is no link that one runs. A trial is written down before the link is changed: a trial that
was cut off by the power counts as one that failed.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import zipfile
from contextlib import suppress
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from pi_controller.errors import MatError
from pi_controller.setup.place import NAME
from pi_controller.setup.signed import copied, how, signature, verify
from pi_controller.whole_files import remove_unfinished, replace_file, sync

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

NAMESPACE = f"{NAME}-update"
"""What a signature must be made for: one for anything else is none."""
PACKAGE = "moccasin-mat"
MOST_BYTES, MOST_UNPACKED, MOST_FILES = 50_000_000, 200_000_000, 5_000
_INSIDE = re.compile(r"pi_controller|moccasin_mat-[^/]+\.dist-info")


class UpdateError(MatError, RuntimeError):
    """An update that is not taken; what ran before runs."""

    code = "update"


class Trial(msgspec.Struct, frozen=True):
    """A version that is being tried: `digest` of its file, `before` the version linked before, "" for none."""

    version: str
    digest: str
    before: str


class Wheel(NamedTuple):
    """What a verified file holds."""

    version: Version
    file: zipfile.ZipFile


class Programs:
    """The folder of programs; `installed` is the version of the machine's own installation."""

    def __init__(self, folder: Path, installed: str) -> None:
        self.folder, self.installed = folder, Version(installed)
        self._link, self._versions = folder / "current", folder / "versions"
        self._trial, self._failed = folder / "trial", folder / "failed"
        self._room = folder / "room"

    @property
    def linked(self) -> str:
        """The version that is linked, "" for none: then the machine's own runs."""
        return self._link.readlink().name if self._link.is_symlink() else ""

    @property
    def running(self) -> Version:
        """The version that runs at the next start."""
        return Version(self.linked) if self.linked else self.installed

    def take(self, source: Path, signers: Path, start: Callable[[], str]) -> str:
        """Take the update `source`, a file or a folder with one; return what was done.

        `start` starts the service anew and returns what went wrong, "" for nothing. Raises `UpdateError`.
        """
        if not self.folder.is_dir():
            raise UpdateError(f"there is no {self.folder}: this machine takes no update by file", "use pip in its venv")
        self.settle()
        try:
            copy = copied(found(source), self._room, MOST_BYTES, UpdateError)
            digest = hashlib.sha256(copy.read_bytes()).hexdigest()
            verify(copy, signers, NAMESPACE, UpdateError)
            if self._failed.is_file() and digest in self._failed.read_text("utf-8").split():
                raise UpdateError("this update was tried before and did not come up", "take one that was mended")
            wheel = opened(copy)
            if wheel.version <= self.running:
                raise UpdateError(
                    f"version {wheel.version} is not newer than {self.running}, which runs", "take a newer one"
                )
            version = self._unpacked(wheel)
        except OSError as error:
            todo = "was the stick pulled out, or is the disk full? try it again"
            raise UpdateError(f"the update could not be copied: {error.strerror or error}", todo) from error
        finally:
            shutil.rmtree(self._room, ignore_errors=True)
        return self._try(Trial(version, digest, self.linked), start)

    def settle(self) -> str:
        """Undo a trial that was cut off, and let go of a version that the machine's own has overtaken.

        Return what was done, "" for nothing. To be called when the machine starts, before the service.
        """
        done = ""
        shutil.rmtree(self._room, ignore_errors=True)
        for file in (self._trial, self._failed):
            remove_unfinished(file)
        if self._trial.is_file():
            try:
                trial = msgspec.json.decode(self._trial.read_bytes(), type=Trial)
            except msgspec.MsgspecError:
                trial = Trial("", "", "")  # written no further: the link was not changed yet
            if trial.version and self.linked == trial.version:
                self._back(trial)
                done = f"version {trial.version} was cut off while it was tried: {self.running} runs"
            self._trial.unlink()
        if self.linked and (Version(self.linked) <= self.installed or not self._link.is_dir()):
            done = f"version {self.linked} is let go: the machine's own {self.installed} runs"
            self._link.unlink()
        self._forget_others()
        return done

    def _unpacked(self, wheel: Wheel) -> str:
        """Unpack `wheel` beside the other versions, whole or not at all; return its version."""
        part, version = self._room / "part", str(wheel.version)
        wheel.file.extractall(part)
        os.sync()
        self._versions.mkdir(exist_ok=True)
        place = self._versions / version
        shutil.rmtree(place, ignore_errors=True)
        part.rename(place)
        return version

    def _try(self, trial: Trial, start: Callable[[], str]) -> str:
        replace_file(self._trial, msgspec.json.encode(trial))
        self._to(trial.version)
        if not (wrong := start()):
            self._trial.unlink()
            self._forget_others()
            return f"version {trial.version} runs"
        self._back(trial)
        self._trial.unlink()
        again = start()
        self._forget_others()
        runs = f"it does not start either: {again}" if again else "runs again"
        raise UpdateError(f"version {trial.version} did not come up ({wrong}): {self.running} {runs}", "nothing to do")

    def _back(self, trial: Trial) -> None:
        failed = self._failed.read_text("utf-8") if self._failed.is_file() else ""
        replace_file(self._failed, f"{failed}{trial.digest}\n".encode())
        self._to(trial.before)

    def _to(self, version: str) -> None:
        """Link `version`, at once; "" for none."""
        if version:
            new = self.folder / "next"
            new.unlink(missing_ok=True)
            new.symlink_to(Path("versions") / version)
            new.replace(self._link)
        else:
            self._link.unlink(missing_ok=True)
        sync(self.folder)

    def _forget_others(self) -> None:
        for path in self._versions.glob("*"):
            if path.name != self.linked:
                shutil.rmtree(path, ignore_errors=True)


def note(folder: Path, line: str) -> None:
    """Keep what came of an update for the staff."""
    if folder.is_dir():
        (folder / "last").write_text(f"{line}\n", "utf-8")


def last_line(folder: Path) -> str:
    """Return what came of the last update, "" where there was none."""
    try:
        return (folder / "last").read_text("utf-8")[:300].strip()
    except (OSError, UnicodeError):
        return ""


def found(source: Path) -> Path:
    """Return the update at `source`: that file, or the newest signed one in that folder. Raises `UpdateError`."""
    if source.is_dir():
        signed = [path for path in source.glob("moccasin_mat-*.whl") if signature(path).is_file()]
        if not signed:
            raise UpdateError(
                f"there is no update in {source}: moccasin_mat-VERSION-....whl with its .sig", how(NAMESPACE)
            )
        return max(signed, key=lambda path: _version(path.name.split("-")[1]))
    if not source.is_file():
        raise UpdateError(f"there is no file {source}", "name the update, or the folder it is in")
    if not signature(source).is_file():
        raise UpdateError(f"{source.name} is not signed: there is no {signature(source).name}", how(NAMESPACE))
    return source


def opened(file: Path) -> Wheel:
    """Return what the verified `file` holds. Raises `UpdateError` where it is no wheel that can run here."""
    try:
        wheel = zipfile.ZipFile(file)
        about = [name for name in wheel.namelist() if re.fullmatch(r"moccasin_mat-[^/]+\.dist-info/METADATA", name)]
        headers = HeaderParser().parsestr(wheel.read(about[0]).decode("utf-8"))
        version = _version(headers["Version"])
        needs = [Requirement(text) for text in headers.get_all("Requires-Dist", [])]
        python = headers.get("Requires-Python", "")
    except (zipfile.BadZipFile, IndexError, KeyError, UnicodeError, InvalidRequirement, InvalidVersion) as error:
        raise UpdateError(f"{file.name} is no wheel of {PACKAGE}: {error}", "take the file as it was made") from error
    infos = wheel.infolist()
    outside = [one.filename for one in infos if not _safe(one.filename)]
    if outside or len(infos) > MOST_FILES or sum(one.file_size for one in infos) > MOST_UNPACKED:
        raise UpdateError(f"{file.name} holds what is no part of {PACKAGE}", "take the file as it was made")
    lacking = [str(one) for one in needs if _lacks(one)]
    if lacking or not Requirement(f"python{python}").specifier.contains(_python()):
        what = ", ".join(lacking) or f"Python {python}"
        raise UpdateError(f"version {version} needs what is not here: {what}", "write a new card")
    return Wheel(version, wheel)


def _safe(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and ".." not in parts and bool(_INSIDE.fullmatch(parts[0])) and "\\" not in name


def _lacks(need: Requirement) -> bool:
    if need.marker is not None and not need.marker.evaluate({"extra": ""}):
        return False
    with suppress(metadata.PackageNotFoundError):
        return not need.specifier.contains(metadata.version(need.name), prereleases=True)
    return True


def _python() -> str:
    import platform  # noqa: PLC0415 - slow

    return platform.python_version()


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise UpdateError(f"{text[:40]!r} is no version", "take the file as it was made") from error
