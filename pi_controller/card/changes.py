"""Describe an installation's changes: whole files, a link, a block in a system file; each can be shown as a diff."""

import difflib
import hashlib
from dataclasses import dataclass
from pathlib import Path

from pi_controller.card.boot_config import with_block


@dataclass(frozen=True)
class WholeFile:
    """A file written entirely by us; with `once`, an existing file is kept."""

    path: Path
    text: str
    once: bool = False
    mode: int = 0o644

    def after(self, before: str | None) -> str:
        """Return the file's new text; `before` is the present one, None for no file."""
        return before if self.once and before is not None else self.text


@dataclass(frozen=True)
class TextBlock:
    """Our marked block at the end of the Pi's config.txt."""

    path: Path
    lines: tuple[str, ...]
    mode: int = 0o644

    def after(self, before: str | None) -> str:
        """Return the file's new text; `before` is the present one, None for no file."""
        return with_block(before or "", self.lines)


@dataclass(frozen=True)
class LinkFile:
    """A symbolic link."""

    path: Path
    to: Path


Change = WholeFile | TextBlock | LinkFile


def read(path: Path) -> str | None:
    """Return the text of a file, byte for byte, or None if it does not exist."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def digest(text: str) -> str:
    """Return the SHA-256 of a file's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def is_needed(change: Change, on_disk: Path) -> bool:
    """Return True if `change` would have an effect; `on_disk` is the path it is written to."""
    if isinstance(change, LinkFile):
        return not (on_disk.is_symlink() and on_disk.readlink() == change.to)
    before = read(on_disk)
    return change.after(before) != before


def format_diff(change: Change, on_disk: Path) -> str:
    """Return the change as a diff for people; "" if it is not needed."""
    if not is_needed(change, on_disk):
        return ""
    if isinstance(change, LinkFile):
        return f"+ link {change.path} -> {change.to}\n"
    before = read(on_disk)
    old = "/dev/null" if before is None else str(change.path)
    lines = difflib.unified_diff(
        (before or "").splitlines(), change.after(before).splitlines(), old, str(change.path), lineterm=""
    )
    return "".join(f"{line.encode('utf-8', 'replace').decode()}\n" for line in lines)
