"""Files that nobody else may read, made for the owner of their folder: what root starts once locks nobody out."""

from __future__ import annotations

import os
import pwd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def make_private(path: Path, like: Path | None = None, mode: int = 0o600) -> None:
    """Make an empty file at `path` that only its owner may read, where there is none. Raises `OSError`.

    Who may read the file `like`, where there is one, may read it too; else `mode` says who may, as far as the umask
    lets. What root makes, or has made, belongs to the owner of its folder; SQLite gives the log that it keeps beside a
    file to the owner of that file. A file that is there is not opened: to close it would let go of all locks that
    this process holds on it, SQLite's among them.
    """
    root = os.geteuid() == 0
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


def closed_to_us(paths: Iterable[Path]) -> str:
    """Return whose the first of `paths` is that this user may not write, and what to do about it; "" for none.

    A file that is not there yet is as its folder.
    """
    for path in paths:
        place = path if path.exists() else path.absolute().parent
        if place.exists() and not os.access(place, os.R_OK | os.W_OK, effective_ids=True):
            owner, us = _name(place.stat().st_uid), _name(os.geteuid())
            return f"{place.name} belongs to {owner} and this is {us}: run it as {owner}, or 'sudo chown {us} {place}'"
    return ""


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
