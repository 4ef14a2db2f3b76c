"""Apply an installation's changes and record them in a manifest, so that exactly these can be undone.

Files are written atomically; earlier contents are saved beside them. An undo reports and keeps files that were edited
by hand.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from pi_controller.card.boot_config import block, without_block
from pi_controller.card.changes import Change, LinkFile, TextBlock, digest, is_needed, read
from pi_controller.errors import describe_error
from pi_controller.host.files import atomic_write
from pi_controller.host.place import Place, SetupError

BACKUP = ".before-moccasin-mat"


class Written(msgspec.Struct, frozen=True):
    """A recorded change: a `file` or `block` with the hash of its text, a `link` with its target.

    `backup` is the path of the earlier contents, or "".
    """

    path: str
    kind: Literal["file", "block", "link"]
    mark: str
    backup: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """The changes made, and the folders created for them, the outermost first."""

    version: int = 1
    written: tuple[Written, ...] = ()
    folders: tuple[str, ...] = ()


def load(place: Place) -> Manifest:
    """Return the manifest, an empty one before the first installation. Raises `SetupError` if it cannot be read."""
    path = place.on_disk(place.manifest)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return Manifest()
    except (OSError, msgspec.MsgspecError) as error:
        raise SetupError(
            f"{path} cannot be read: {describe_error(error)}",
            "without it the installation cannot be undone automatically",
        ) from error


def apply_changes(place: Place, changes: Sequence[Change]) -> list[str]:
    """Make the `changes` that are needed; return the paths written. Raises `SetupError`.

    The manifest is written first: after a power failure it may contain changes that were not made, but never lacks one.
    """
    wanted = [change for change in changes if is_needed(change, place.on_disk(change.path))]
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
        # for a system service systemd creates the journal's folder with the right owner
        for folder in (place.manifest.parent, *(() if place.system else (place.state,))):
            folders += [name for name in _make_folders(place, folder) if name not in folders]
        manifest = msgspec.json.encode(Manifest(written=tuple(known.values()), folders=tuple(folders)))
        replace(place.on_disk(place.manifest), msgspec.json.format(manifest).decode() + "\n", 0o644)
        for change, keep in zip(wanted, keeps, strict=True):
            _put(place, change, keep)
    except OSError as error:
        raise SetupError(f"cannot write {error.filename or 'a file'}: {describe_error(error)}", _RIGHTS_HINT) from error
    return [str(change.path) for change in wanted]


def undo_changes(place: Place, *, dry: bool = False) -> list[str]:
    """Undo all recorded changes; return a line for each, also for kept files.

    With `dry` only the lines are returned.
    """
    manifest = load(place)
    try:
        told = [_undo(place, entry, dry=dry) for entry in reversed(manifest.written)]
        if manifest.written and not dry:
            place.on_disk(place.manifest).unlink(missing_ok=True)
            for name in sorted(manifest.folders, key=len, reverse=True):
                with suppress(OSError):  # it contains other files
                    place.on_disk(Path(name)).rmdir()
    except OSError as error:
        raise SetupError(f"cannot undo {error.filename or 'a file'}: {describe_error(error)}", _RIGHTS_HINT) from error
    return told


def state(place: Place, entry: Written) -> Literal["as written", "changed since", "gone"]:
    """Return the present state of a recorded change."""
    path = _resolve_inside_root(place, Path(entry.path))
    if entry.kind == "link":
        if not path.is_symlink():
            return "changed since" if path.exists() else "gone"
        return "as written" if str(path.readlink()) == entry.mark else "changed since"
    text = read(path)
    if entry.kind == "block":
        text = block(text or "") or None
    if text is None:
        return "gone"
    return "as written" if digest(text) == entry.mark else "changed since"


_RIGHTS_HINT = "run it with the rights it was installed with: sudo for a system service"


def _entry(place: Place, change: Change, old: Written | None) -> tuple[Written, Path | None]:
    """Return the manifest entry of a change to be made, and the path to save earlier contents to, if they are not ours.

    An undo restores the contents before the first installation.
    """
    if isinstance(change, LinkFile):
        return Written(str(change.path), "link", str(change.to)), None
    path = _resolve_inside_root(place, change.path)
    before = read(path)
    after = change.after(before)
    if isinstance(change, TextBlock):
        kept = path.with_name(path.name + BACKUP)
        entry = Written(str(change.path), "block", digest(block(after)))
        return entry, None if kept.exists() or block(before or "") else kept
    ours = old is not None and state(place, old) == "as written"
    keep = None if ours or before is None else _free(path)
    backup = old.backup if old and old.backup else str(change.path.with_name(keep.name)) if keep else ""
    return Written(str(change.path), "file", digest(after), backup), keep


def _free(path: Path) -> Path:
    """Return an unused path beside `path` for its backup."""
    names = (f"{path.name}{BACKUP}{number}" for number in ("", *map(str, range(2, 1000))))
    return next(kept for name in names if not (kept := path.with_name(name)).exists())


def _put(place: Place, change: Change, keep: Path | None) -> None:
    path = _resolve_inside_root(place, change.path)
    if isinstance(change, LinkFile):
        beside = path.with_name(f".{path.name}.{os.getpid()}.new")
        beside.unlink(missing_ok=True)
        beside.symlink_to(change.to)
        beside.replace(path)
        return
    before = read(path)
    if keep is not None and before is not None:
        replace(keep, before, change.mode)
    replace(path, change.after(before), change.mode)


def _undo(place: Place, entry: Written, *, dry: bool) -> str:
    path = _resolve_inside_root(place, Path(entry.path))
    now = state(place, entry)
    if now == "gone":
        return f"gone already: {entry.path}"
    if now == "changed since":
        return f"leave, it was changed by hand: {entry.path}"
    if entry.kind == "block":
        if not dry:
            text = without_block(read(path) or "")
            replace(path, text, path.stat().st_mode & 0o777)
            kept = Path(str(path) + BACKUP)
            if read(kept) == text:
                kept.unlink()
        return f"remove our block from: {entry.path}"
    backup = _resolve_inside_root(place, Path(entry.backup)) if entry.backup else None
    if backup is not None and backup.exists():
        if not dry:
            backup.replace(path)
        return f"restore: {entry.path}"
    if not dry:
        path.unlink()
    return f"remove: {entry.path}"


def _make_folders(place: Place, folder: Path) -> list[str]:
    """Create `folder` and its missing parents; return the created ones, the outermost first."""
    missing: list[Path] = []
    while not _resolve_inside_root(place, folder).exists():
        missing.insert(0, folder)
        folder = folder.parent
    for path in missing:
        place.on_disk(path).mkdir(mode=0o755)
    return [str(path) for path in missing]


def replace(path: Path, text: str, mode: int) -> None:
    """Write `path` atomically and sync it to the disk."""
    atomic_write(path, text.encode("utf-8", "surrogateescape"), mode)


def _resolve_inside_root(place: Place, path: Path) -> Path:
    """Return the path to write to. Raises `SetupError` if a link in an image leads outside the image."""
    on_disk = place.on_disk(path)
    if on_disk != place.root and not on_disk.parent.resolve().is_relative_to(place.root):
        raise SetupError(f"{path} points outside {place.root}", "the image has a link to the machine's own files there")
    return on_disk
