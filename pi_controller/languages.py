"""What may stand for a language: a code such as `en`, `dak` or `oj`, or a catalogue's file, `FOLDER/dak.po`."""

from __future__ import annotations

import re
from pathlib import Path

SUFFIX = ".po"
_CODE = re.compile(r"[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8})*")


def is_code(text: str) -> bool:
    """Return whether `text` is written like a language code. No list is asked: none knows every language."""
    return _CODE.fullmatch(text) is not None


def is_file(text: str) -> bool:
    """Return whether `text` is the path of a catalogue that is named by its language's code."""
    path = Path(text)
    return text.isprintable() and path.suffix == SUFFIX and is_code(path.stem)
