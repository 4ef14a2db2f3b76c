"""Install an update from a stick: a signed wheel of this program, unpacked beside the others, tried once.

An update without a signature by a key in the host's file `update_signers` is refused. A wheel contains only this
program; one that needs other packages is refused.

In the folder of programs, `current` links to `versions/VERSION`, which precedes the machine's own installation on
Python's path; without the link the machine's own runs. A trial is recorded before the link is changed: a trial
interrupted by a power failure counts as failed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path, PurePosixPath

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pi_controller.errors import MatError, describe_error
from pi_controller.host.files import atomic_write, remove_unfinished, sync
from pi_controller.host.place import NAME

NAMESPACE = f"{NAME}-update"
"""Namespace of update signatures; a signature for another one is invalid."""
PACKAGE = "moccasin-mat"
MAX_WHEEL_BYTES, MAX_UNPACKED_BYTES, MAX_FILES = 50_000_000, 200_000_000, 5_000
MAX_CANDIDATES = 50
"""Updates of one folder that are examined, the newest first."""
_INSIDE = re.compile(r"pi_controller|moccasin_mat-[^/]+\.dist-info")


class UpdateError(MatError, RuntimeError):
    """A refused or failed update; the earlier version runs."""

    code = "update"


# Signatures are SSH's (`ssh-keygen -Y`): available on every Debian, made with an ordinary SSH key. Rejected: minisign
# (one more tool and key on the host's laptop, no maintained reader in Python). There is no default key.
_SIGNING_HINT = f"ssh-keygen -Y sign -f KEY -n {NAMESPACE} FILE makes it"


def signature(file: Path) -> Path:
    """Return the path of the signature of `file`."""
    return file.with_name(f"{file.name}.sig")


def copy_signed(source: Path, room: Path) -> Path:
    """Copy `source` and its signature into the new folder `room`, so that the verified file is the one used.

    Return the copy. Raises `OSError`, and `UpdateError` if a file is too large.
    """
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(mode=0o700)
    for path in (source, signature(source)):
        with path.open("rb") as file, (room / path.name).open("wb") as copy:
            if len(content := file.read(MAX_WHEEL_BYTES + 1)) > MAX_WHEEL_BYTES:
                raise UpdateError(f"{path.name} is too large", "use the original file")
            copy.write(content)
    return room / source.name


def verify(file: Path, signers: Path) -> None:
    """Verify the signature of `file` with the keys in `signers`. Raises `UpdateError`."""
    if not signers.is_file():
        raise UpdateError(
            f"there is no {signers}: this machine accepts no signatures", "put the host's public key there"
        )
    command = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", "host", "-n", NAMESPACE, "-s", signature(file)]
    try:
        with file.open("rb") as content:
            done = subprocess.run(command, stdin=content, capture_output=True, text=True, timeout=60, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise UpdateError(
            f"the signature cannot be checked: {describe_error(error)}", "apt install openssh-client"
        ) from error
    if done.returncode:
        hint = "copy the file and its .sig again, or sign it with a listed key"
        raise UpdateError(f"{file.name} is not signed by a key in {signers}", hint)


class Trial(msgspec.Struct, frozen=True):
    """A version on trial: `digest` of its file, `before` the version linked before, "" for none."""

    version: str
    digest: str
    before: str


class Programs:
    """The folder of programs; `installed` is the version of the machine's own installation."""

    def __init__(self, folder: Path, installed: str) -> None:
        self.folder, self.installed = folder, Version(installed)
        self._link, self._versions = folder / "current", folder / "versions"
        self._trial, self._failed = folder / "trial", folder / "failed"
        self._room = folder / "room"
        self._next = folder / "next"

    @property
    def linked(self) -> str:
        """The linked version; "" if the machine's own runs."""
        return self._link.readlink().name if self._link.is_symlink() else ""

    @property
    def running(self) -> Version:
        """The version that will run at the next start."""
        return Version(self.linked) if self.linked else self.installed

    def take(self, source: Path, signers: Path, start: Callable[[], str]) -> str:
        """Install the update at `source`, a file or a folder; return a summary.

        `start` restarts the service and returns the error, "" for success. Raises `UpdateError`.
        """
        if not self.folder.is_dir():
            raise UpdateError(
                f"there is no {self.folder}: this machine does not accept updates by file", "use pip in its venv"
            )
        self.settle()
        return self._try(self._first_good(find_updates(source), signers), start)

    def _first_good(self, files: Sequence[Path], signers: Path) -> Trial:
        """Return the trial of the first usable file of `files`.

        Raises the first file's `UpdateError` if there is none.
        """
        try:
            return self._prepare_trial(files[0], signers)
        except UpdateError:
            for file in files[1:]:
                with suppress(UpdateError):
                    return self._prepare_trial(file, signers)
            raise

    def _prepare_trial(self, file: Path, signers: Path) -> Trial:
        """Copy, verify and unpack `file`; return its trial. Raises `UpdateError`."""
        try:
            copy = copy_signed(file, self._room)
            digest = hashlib.sha256(copy.read_bytes()).hexdigest()
            verify(copy, signers)
            if self._failed.is_file() and digest in self._failed.read_text("utf-8").split():
                raise UpdateError("this update was tried before and did not start", "use a corrected one")
            version, wheel = open_wheel(copy)
            if version <= self.running:
                raise UpdateError(f"version {version} is not newer than {self.running}, which runs", "use a newer one")
            self._unpack(str(version), wheel)
            return Trial(str(version), digest, self.linked)
        except OSError as error:
            hint = "was the stick pulled out, or is the disk full? try it again"
            raise UpdateError(f"the update could not be copied: {describe_error(error)}", hint) from error
        finally:
            shutil.rmtree(self._room, ignore_errors=True)

    def settle(self) -> str:
        """Undo an interrupted trial, and unlink a version that the machine's own has overtaken.

        Return a summary, "" for no change. Call it when the machine starts, before the service.
        """
        done = ""
        shutil.rmtree(self._room, ignore_errors=True)
        self._next.unlink(missing_ok=True)
        for file in (self._trial, self._failed):
            remove_unfinished(file)
        if self._trial.is_file():
            try:
                trial = msgspec.json.decode(self._trial.read_bytes(), type=Trial)
            except msgspec.MsgspecError:
                trial = Trial("", "", "")  # interrupted while it was written: the link was not changed yet
            if trial.version and self.linked == trial.version:
                self._roll_back(trial)
                done = f"version {trial.version} was interrupted during its trial: {self.running} runs"
            self._trial.unlink()
        if self.linked and (Version(self.linked) <= self.installed or not self._link.is_dir()):
            done = f"version {self.linked} is removed: the machine's own {self.installed} runs"
            self._link.unlink()
        self._forget_others()
        return done

    def _unpack(self, version: str, wheel: zipfile.ZipFile) -> None:
        """Unpack `wheel` atomically beside the other versions."""
        part = self._room / "part"
        wheel.extractall(part)
        os.sync()
        self._versions.mkdir(exist_ok=True)
        place = self._versions / version
        shutil.rmtree(place, ignore_errors=True)
        part.rename(place)

    def _try(self, trial: Trial, start: Callable[[], str]) -> str:
        atomic_write(self._trial, msgspec.json.encode(trial))
        self._link_version(trial.version)
        if not (wrong := start()):
            self._trial.unlink()
            self._forget_others()
            return f"version {trial.version} runs"
        self._roll_back(trial)
        self._trial.unlink()
        again = start()
        self._forget_others()
        runs = f"it does not start either: {again}" if again else "runs again"
        raise UpdateError(f"version {trial.version} did not start ({wrong}): {self.running} {runs}", "nothing to do")

    def _roll_back(self, trial: Trial) -> None:
        failed = self._failed.read_text("utf-8") if self._failed.is_file() else ""
        atomic_write(self._failed, f"{failed}{trial.digest}\n".encode())
        self._link_version(trial.before)

    def _link_version(self, version: str) -> None:
        """Switch the link atomically to `version`, "" for none."""
        if version:
            self._next.unlink(missing_ok=True)
            self._next.symlink_to(Path("versions") / version)
            self._next.replace(self._link)
        else:
            self._link.unlink(missing_ok=True)
        sync(self.folder)

    def _forget_others(self) -> None:
        for path in self._versions.glob("*"):
            if path.name != self.linked:
                shutil.rmtree(path, ignore_errors=True)


def find_updates(source: Path) -> list[Path]:
    """Return the updates at `source`: a file, or the signed files in a folder, the newest first.

    Raises `UpdateError` if there is none. In a folder, entries that are not plain files, or lack a signature or a
    version in the name, are skipped, so that a visitor's file cannot block the host's.
    """
    if source.is_dir():
        signed = list[tuple[Version, Path]]()
        for path in source.glob("moccasin_mat-*.whl"):
            with suppress(InvalidVersion, OSError):
                if path.is_file() and signature(path).is_file() and path.stat().st_size <= MAX_WHEEL_BYTES:
                    signed.append((Version(path.name.split("-")[1]), path))
        if not signed:
            raise UpdateError(
                f"there is no update in {source}: moccasin_mat-VERSION-....whl with its .sig", _SIGNING_HINT
            )
        return [path for _, path in sorted(signed, reverse=True)[:MAX_CANDIDATES]]
    if not source.is_file():
        raise UpdateError(f"there is no file {source}", "name the update, or the folder it is in")
    if not signature(source).is_file():
        raise UpdateError(f"{source.name} is not signed: there is no {signature(source).name}", _SIGNING_HINT)
    return [source]


def open_wheel(file: Path) -> tuple[Version, zipfile.ZipFile]:
    """Open the verified wheel `file`, also return its version. Raises `UpdateError` if it cannot run here."""
    try:
        wheel = zipfile.ZipFile(file)
        about = [name for name in wheel.namelist() if re.fullmatch(r"moccasin_mat-[^/]+\.dist-info/METADATA", name)]
        headers = HeaderParser().parsestr(wheel.read(about[0]).decode("utf-8"))
        name, version = headers["Name"] or "", Version(headers["Version"] or "")
        needs = [Requirement(text) for text in headers.get_all("Requires-Dist", [])]
        python = SpecifierSet(headers.get("Requires-Python", ""))
    except (zipfile.BadZipFile, LookupError, ValueError) as error:
        raise UpdateError(f"{file.name} is not a wheel of {PACKAGE}: {error}", "use the original file") from error
    if canonicalize_name(name) != PACKAGE:
        raise UpdateError(f"{file.name} is the package {name[:40]!r}, not {PACKAGE}", "use the original file")
    infos = wheel.infolist()
    outside = [one.filename for one in infos if not _safe(one.filename)]
    if outside or len(infos) > MAX_FILES or sum(one.file_size for one in infos) > MAX_UNPACKED_BYTES:
        raise UpdateError(f"{file.name} contains files that do not belong to {PACKAGE}", "use the original file")
    extras = headers.get_all("Provides-Extra", [])
    lacking = [str(one) for one in needs if canonicalize_name(one.name) != PACKAGE and _lacks(one, extras)]
    if lacking or not python.contains(platform.python_version()):
        what = ", ".join(lacking) or f"Python {python}"
        raise UpdateError(f"version {version} needs packages that are not installed: {what}", "write a new card")
    return version, wheel


def _safe(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and ".." not in parts and bool(_INSIDE.fullmatch(parts[0])) and "\\" not in name


def _lacks(need: Requirement, extras: Iterable[str]) -> bool:
    """Return whether `need` is not met; of `extras` only packages that are installed must fit."""
    try:
        fits = need.specifier.contains(metadata.version(need.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return need.marker is None or need.marker.evaluate({"extra": ""})
    return not fits and (need.marker is None or any(need.marker.evaluate({"extra": one}) for one in ("", *extras)))
