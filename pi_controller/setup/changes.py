"""Changes of an installation: whole files, a link, a marked block in a system file; each can be shown as a diff."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_controller.setup import boot

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class WholeFile:
    """A file that is ours from its first line to its last; with `once`, one that is there already is left as it is."""

    path: Path
    text: str
    once: bool = False
    mode: int = 0o644

    def after(self, before: str | None) -> str:
        """Return what the file holds afterwards."""
        return before if self.once and before is not None else self.text


@dataclass(frozen=True)
class Block:
    """Our marked block at the end of the Pi's config.txt."""

    path: Path
    lines: tuple[str, ...]
    mode: int = 0o644

    def after(self, before: str | None) -> str:
        """Return what the file holds afterwards."""
        return boot.with_block(before or "", self.lines)


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    path: Path
    to: Path


Change = WholeFile | Block | Link


def read(path: Path) -> str | None:
    """Return what a file holds, byte for byte, or None where there is none."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def digest(text: str) -> str:
    """Return the SHA-256 of a file's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def needed(change: Change, on_disk: Path) -> bool:
    """Return whether `change` would change anything; `on_disk` is where it is written."""
    if isinstance(change, Link):
        return not (on_disk.is_symlink() and on_disk.readlink() == change.to)
    before = read(on_disk)
    return change.after(before) != before


def shown(change: Change, on_disk: Path) -> str:
    """Return the change for people, as a diff; nothing where there is none."""
    if not needed(change, on_disk):
        return ""
    if isinstance(change, Link):
        return f"+ link {change.path} -> {change.to}\n"
    before = read(on_disk)
    old = "/dev/null" if before is None else str(change.path)
    lines = difflib.unified_diff(
        (before or "").splitlines(), change.after(before).splitlines(), old, str(change.path), lineterm=""
    )
    return "".join(f"{_printable(line)}\n" for line in lines)


def _printable(line: str) -> str:
    return line.encode("utf-8", "replace").decode()
