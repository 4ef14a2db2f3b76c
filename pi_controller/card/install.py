"""Apply an installation's changes, and undo them.

All files but the Pi's config.txt have names of our own, so a plan knows what setup has written. Files are written
atomically. An undo keeps the settings, and reports and keeps files that differ from this version's.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pi_controller.card.boot_config import block, without_block
from pi_controller.card.changes import Change, LinkFile, TextBlock, is_needed, read
from pi_controller.errors import describe_error
from pi_controller.host.files import atomic_write
from pi_controller.host.place import NAME, Place, SetupError

BACKUP = ".before-moccasin-mat"
_RIGHTS_HINT = "run it with sudo"


def apply_changes(place: Place, changes: Sequence[Change]) -> list[str]:
    """Make the `changes` that are needed; return the paths written. Raises `SetupError`."""
    wanted = [change for change in changes if is_needed(change, place.on_disk(change.path))]
    try:
        for change in wanted:
            path = _resolve_inside_root(place, change.path)
            for folder in reversed(change.path.parents):
                _resolve_inside_root(place, folder).mkdir(mode=0o755, exist_ok=True)
            _put(path, change)
    except OSError as error:
        raise SetupError(f"cannot write {error.filename or 'a file'}: {describe_error(error)}", _RIGHTS_HINT) from error
    return [str(change.path) for change in wanted]


def undo_changes(place: Place, changes: Sequence[Change], *, dry: bool = False) -> list[str]:
    """Undo the `changes` that are there, but for the settings; return a line for each, also for kept files.

    With `dry` only the lines are returned. Raises `SetupError`.
    """
    try:
        return list(_undo(place, changes, dry=dry))
    except OSError as error:
        raise SetupError(f"cannot undo {error.filename or 'a file'}: {describe_error(error)}", _RIGHTS_HINT) from error


def _undo(place: Place, changes: Sequence[Change], *, dry: bool) -> Iterator[str]:
    for change in reversed(changes):
        path = _resolve_inside_root(place, change.path)
        if not (path.exists() or path.is_symlink()) or getattr(change, "once", False):
            continue
        if isinstance(change, TextBlock):
            if not (ours := block(text := read(path) or "")):
                continue
            same, done = ours == block(change.after(text)), "remove our block from"
        else:
            same, done = not is_needed(change, path), "remove"
        yield f"{done if same else 'leave, another version or a hand has changed it'}: {change.path}"
        if same and not dry:
            _remove(path, change)


def _remove(path: Path, change: Change) -> None:
    if isinstance(change, TextBlock):
        plain = without_block(read(path) or "")
        replace(path, plain, path.stat().st_mode & 0o777)
        if read(kept := path.with_name(path.name + BACKUP)) == plain:
            kept.unlink()
        return
    path.unlink()
    if path.parent.name == NAME:
        with suppress(OSError):  # it contains other files
            path.parent.rmdir()


def _put(path: Path, change: Change) -> None:
    if isinstance(change, LinkFile):
        beside = path.with_name(f".{path.name}.{os.getpid()}.new")
        beside.unlink(missing_ok=True)
        beside.symlink_to(change.to)
        beside.replace(path)
        return
    before = read(path)
    if isinstance(change, TextBlock) and not (kept := path.with_name(path.name + BACKUP)).exists():
        replace(kept, without_block(before or ""), change.mode)
    replace(path, change.after(before), change.mode)


def replace(path: Path, text: str, mode: int) -> None:
    """Write `path` atomically and sync it to the disk."""
    atomic_write(path, text.encode("utf-8", "surrogateescape"), mode)


def _resolve_inside_root(place: Place, path: Path) -> Path:
    """Return the path to write to. Raises `SetupError` if a link in an image leads outside the image."""
    on_disk = place.on_disk(path)
    if on_disk != place.root and not on_disk.parent.resolve().is_relative_to(place.root):
        raise SetupError(f"{path} points outside {place.root}", "the image has a link to the machine's own files there")
    return on_disk
