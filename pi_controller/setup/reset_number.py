"""The number of a machine's next reset: an order with another one is refused, so none holds twice."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_controller.whole_files import remove_unfinished, replace_file

if TYPE_CHECKING:
    from pathlib import Path

DIGITS = 8


def next_number(folder: Path) -> str:
    """Return the number kept in the `folder` of resets; one is made where there is none. Raises `OSError`."""
    with suppress(FileNotFoundError, UnicodeError):
        if len(number := (folder / "number").read_text("ascii").strip()) == DIGITS:
            remove_unfinished(folder / "number")
            return number
    return another_number(folder)


def another_number(folder: Path) -> str:
    """Keep another number in `folder`; return it. Raises `OSError`."""
    number = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / "number", f"{number}\n".encode(), 0o644)
    return number


def accepted(folder: Path) -> bool:
    """Return whether a reset was accepted that is not done yet."""
    remove_unfinished(folder / "pending")
    return (folder / "pending").exists()
