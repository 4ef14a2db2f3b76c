"""Find files, create those that only their owner can read, write them whole, and explain why one cannot be written."""

import os
import shlex
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pi_controller.host import platform
from pi_controller.host.platform import sync

__all__ = [
    "atomic_write",
    "create_private_file",
    "explain_refusal",
    "find_file",
    "normal_name",
    "remove_unfinished",
    "sync",
    "write_private_file",
]


def normal_name(name: str) -> str:
    """Return `name` in lower case with composed accents: recorders write upper case, Macs decomposed accents."""
    return unicodedata.normalize("NFC", name).casefold()


def find_file(path: Path) -> Path:
    """Return `path`, or the file in its folder whose name differs from it only in case or in how accents are written.

    Without either it is `path`. Raises `OSError` if the folder cannot be read.
    """
    if path.exists() or not path.parent.is_dir():
        return path
    wanted = normal_name(path.name)
    return next((one for one in sorted(path.parent.iterdir()) if normal_name(one.name) == wanted), path)


def create_private_file(path: Path, like: Path | None = None, mode: int = 0o600) -> None:
    """Create an empty file at `path` that only its owner may read, if there is none. Raises `OSError`.

    If the file `like` exists its mode is copied; else the mode is `mode` less the umask. A file that root creates, or
    created before, is given to the owner of its folder; SQLite gives the log beside a database to the owner of that
    database. An existing file is not opened: closing it would drop all locks that this process holds on it, SQLite's
    among them.
    """
    root = platform.is_root()
    if path.exists():
        if root and path.stat().st_uid == 0:
            folder = path.absolute().parent.stat()
            os.chown(path, folder.st_uid, folder.st_gid)
        return
    if like is not None and like.exists():
        mode = like.stat().st_mode & 0o777
    file = os.open(path, os.O_CREAT | os.O_RDWR, mode)
    try:
        if root and os.fstat(file).st_uid == 0:
            folder = path.absolute().parent.stat()
            os.fchown(file, folder.st_uid, folder.st_gid)
    finally:
        os.close(file)


def explain_refusal(paths: Iterable[Path], setting: str = "") -> str:
    """Return why the first unwritable path of `paths` cannot be written, and what to do about it; "" if all can.

    For a file that does not exist yet its folder is checked. Only a file in a folder of this user's is worth a change
    of its owner; otherwise the hint is another folder, named in the settings' key `setting` if there is one.
    """
    for path in paths:
        folder = path.absolute().parent
        place = path if platform.exists(path) else folder
        if not platform.exists(place) or platform.can_write(place):
            continue
        if platform.is_read_only(place):
            return (
                f"the disk with {folder} is read-only: start the machine again; if it stays so, save the files and "
                "replace the disk or card"
            )
        owner, us = platform.user_name(place.stat().st_uid), platform.own_name()
        if owner == us:
            return f"{place.name} may not be written: 'chmod u+rw {place}'"
        whose = f"{path.name if place == path else folder} belongs to {owner} and this is {us}"
        if place == path and platform.can_write(folder):
            return f"{whose}: 'sudo chown {us} {shlex.quote(str(place))}'"
        others = "" if owner == "root" else f"run it as {owner}, or "
        return f"{whose}: {others}start in a folder of your own{setting and f', or name one in {setting}'}"
    return ""


def atomic_write(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace `path` by `content` and sync it to disk. Raises `OSError`.

    The file has its old or its new content, also after a power cut. `mode` are the permissions (None: by the umask).
    Temporary files of programs that were killed while writing are removed.
    """
    remove_unfinished(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with beside.open("wb") as file:
            if mode is not None:  # before there is anything to read
                with suppress(OSError):  # the boot partition's file system has no permissions
                    platform.set_mode(file, mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    sync(path.parent)


def write_private_file(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically, readable only by the owner of its folder. Raises `OSError`."""
    atomic_write(path, content, 0o600)
    create_private_file(path)  # a file written by root must belong to the folder's owner


def read_secret(path: Path) -> str:
    """Return the password or token in the file `path`, without line end. Raises `OSError`, `UnicodeError`."""
    return path.read_text("utf-8").strip()


def remove_unfinished(path: Path) -> None:
    """Remove temporary files beside `path` of programs that were killed while replacing it. Raises `OSError`."""
    for left in path.parent.glob(f".{path.name}.*.new"):
        if not platform.may_run(int(left.name.split(".")[-2])):
            left.unlink(missing_ok=True)
