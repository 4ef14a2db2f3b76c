"""Writes an installation's changes and keeps a list of them, so that exactly these can be taken back.

Every file is written beside its place and put there whole; what stood there is kept beside it. A file that was changed
by hand since is left, and named.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from pi_controller.setup import boot
from pi_controller.setup.changes import Block, Link, digest, needed, read
from pi_controller.setup.place import SetupError
from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.setup.changes import Change
    from pi_controller.setup.place import Place

BACKUP = ".before-moccasin-mat"


class Written(msgspec.Struct, frozen=True):
    """One thing that was written: a `file` and a `block` by the hash of their text, a `link` by its target.

    `backup` is the path of what stood there before, or "".
    """

    path: str
    kind: Literal["file", "block", "link"]
    mark: str
    backup: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """All that was written, and the folders made for it, the outermost first."""

    version: int = 1
    written: tuple[Written, ...] = ()
    folders: tuple[str, ...] = ()


def load(place: Place) -> Manifest:
    """Return the list of what was written, an empty one where nothing was; `SetupError` where it cannot be read."""
    path = place.on_disk(place.manifest)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return Manifest()
    except (OSError, msgspec.MsgspecError) as error:
        raise SetupError(f"{path} cannot be read: {error}", "without it nothing can be taken back by itself") from error


def write(place: Place, changes: Sequence[Change]) -> list[str]:
    """Make the `changes` that are needed; return the paths written. Raises `SetupError`.

    The list is written first: after a cut of the power it may name what was not written, never miss what was.
    """
    wanted = [change for change in changes if needed(change, place.on_disk(change.path))]
    if not wanted:
        return []
    old = load(place)
    known = {entry.path: entry for entry in old.written}
    folders = list(old.folders)
    try:
        keeps: list[Path | None] = []
        for change in wanted:
            known[str(change.path)], keep = _entry(place, change, known.get(str(change.path)))
            keeps.append(keep)
            folders += [name for name in _make_folders(place, change.path.parent) if name not in folders]
        # systemd makes the folder of a system service's journal, with the right owner
        for folder in (place.manifest.parent, *(() if place.system else (place.state,))):
            folders += [name for name in _make_folders(place, folder) if name not in folders]
        _store(place, Manifest(written=tuple(known.values()), folders=tuple(folders)))
        for change, keep in zip(wanted, keeps, strict=True):
            _put(place, change, keep)
    except OSError as error:
        raise SetupError(f"cannot write {error.filename or 'a file'}: {error.strerror}", _WHO) from error
    return [str(change.path) for change in wanted]


def undo(place: Place, *, dry: bool = False) -> list[str]:
    """Take back all that was written; return a line for each thing, also for what is left. `dry` only tells."""
    manifest = load(place)
    try:
        told = [_undo(place, entry, dry=dry) for entry in reversed(manifest.written)]
        if manifest.written and not dry:
            place.on_disk(place.manifest).unlink(missing_ok=True)
            for name in sorted(manifest.folders, key=len, reverse=True):
                with suppress(OSError):  # something else is kept there
                    place.on_disk(Path(name)).rmdir()
    except OSError as error:
        raise SetupError(f"cannot take back {error.filename or 'a file'}: {error.strerror}", _WHO) from error
    return told


def state(place: Place, entry: Written) -> Literal["as written", "changed since", "gone"]:
    """Return how a thing that was written is now."""
    path = _checked(place, Path(entry.path))
    if entry.kind == "link":
        if not path.is_symlink():
            return "changed since" if path.exists() else "gone"
        return "as written" if str(path.readlink()) == entry.mark else "changed since"
    text = read(path)
    if entry.kind == "block":
        text = boot.block(text or "") or None
    if text is None:
        return "gone"
    return "as written" if digest(text) == entry.mark else "changed since"


_WHO = "run it with the rights it was installed with: sudo for a system service"


def _entry(place: Place, change: Change, old: Written | None) -> tuple[Written, Path | None]:
    """Return the entry of a change about to be made, and where to keep what stands there now, if that is not ours.

    What stood there first is what is put back in the end.
    """
    if isinstance(change, Link):
        return Written(str(change.path), "link", str(change.to)), None
    path = _checked(place, change.path)
    before = read(path)
    after = change.after(before)
    if isinstance(change, Block):
        kept = path.with_name(path.name + BACKUP)
        entry = Written(str(change.path), "block", digest(boot.block(after)))
        return entry, None if kept.exists() or boot.block(before or "") else kept
    ours = old is not None and state(place, old) == "as written"
    keep = None if ours or before is None else _free(path)
    backup = old.backup if old and old.backup else str(change.path.with_name(keep.name)) if keep else ""
    return Written(str(change.path), "file", digest(after), backup), keep


def _free(path: Path) -> Path:
    """Return a name beside `path` that is free, to keep what it holds."""
    names = (f"{path.name}{BACKUP}{number}" for number in ("", *map(str, range(2, 1000))))
    return next(kept for name in names if not (kept := path.with_name(name)).exists())


def _put(place: Place, change: Change, keep: Path | None) -> None:
    path = _checked(place, change.path)
    if isinstance(change, Link):
        beside = _beside(path)
        beside.unlink(missing_ok=True)
        beside.symlink_to(change.to)
        beside.replace(path)
        return
    before = read(path)
    if keep is not None and before is not None:
        replace(keep, before, change.mode)
    replace(path, change.after(before), change.mode)


def _undo(place: Place, entry: Written, *, dry: bool) -> str:
    path = _checked(place, Path(entry.path))
    now = state(place, entry)
    if now == "gone":
        return f"gone already: {entry.path}"
    if now == "changed since":
        return f"leave, it was changed by hand: {entry.path}"
    if entry.kind == "block":
        if not dry:
            text = boot.without_block(read(path) or "")
            replace(path, text, path.stat().st_mode & 0o777)
            kept = Path(str(path) + BACKUP)
            if read(kept) == text:
                kept.unlink()
        return f"take our block out of: {entry.path}"
    backup = _checked(place, Path(entry.backup)) if entry.backup else None
    if backup is not None and backup.exists():
        if not dry:
            backup.replace(path)
        return f"put back as it was: {entry.path}"
    if not dry:
        path.unlink()
    return f"remove: {entry.path}"


def _make_folders(place: Place, folder: Path) -> list[str]:
    """Make `folder` and those above it that are missing; return them, the outermost first."""
    missing: list[Path] = []
    while not _checked(place, folder).exists():
        missing.insert(0, folder)
        folder = folder.parent
    for path in missing:
        place.on_disk(path).mkdir(mode=0o755)
    return [str(path) for path in missing]


def _store(place: Place, manifest: Manifest) -> None:
    replace(place.on_disk(place.manifest), msgspec.json.format(msgspec.json.encode(manifest)).decode() + "\n", 0o644)


def replace(path: Path, text: str, mode: int) -> None:
    """Write `path` whole or not at all, and be sure that it is on the disk."""
    replace_file(path, text.encode("utf-8", "surrogateescape"), mode)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.new")


def _checked(place: Place, path: Path) -> Path:
    """Return where `path` is; `SetupError` where a link in an image leads out of it."""
    on_disk = place.on_disk(path)
    if on_disk != place.root and not on_disk.parent.resolve().is_relative_to(place.root):
        raise SetupError(f"{path} leads out of {place.root}", "the image has a link to the machine's own files there")
    return on_disk
