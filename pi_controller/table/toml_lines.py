"""Locates the keys of a TOML text by line: `tomllib` gives values without lines, and an error needs both."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[A-Za-z0-9_-]+")
_STRING = re.compile(
    r"\"\"\"(?:[^\\]|\\.)*?\"{3,5}|'''.*?'{3,5}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")

Keys = tuple[str, ...]


def key_lines(text: str) -> dict[Keys, int]:
    """Return the line (from 1) where each key and each section first stands: `{("web", "port"): 12, ...}`.

    `text` must be TOML that `tomllib` takes; of an array only the key is listed, not what is in it.
    """
    return _Scan(text).lines


class _Scan:
    """One walk through a text. It trusts that the text is right, so it need not understand values, only pass them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._newlines = [n for n, char in enumerate(text) if char == "\n"]
        self.lines: dict[Keys, int] = {}
        section: Keys = ()
        while self._more():
            if self._take("["):
                self._take("[")
                section = self._key(())
                self._take("]")
                self._take("]")
            else:
                self._assignment(section)

    def _more(self) -> bool:
        space = _SPACE.match(self._text, self._at)
        assert space is not None
        self._at = space.end()
        return self._at < len(self._text)

    def _take(self, char: str) -> bool:
        if self._text.startswith(char, self._at):
            self._at += 1
            return True
        return False

    def _assignment(self, prefix: Keys) -> None:
        keys = self._key(prefix)
        self._more()
        self._take("=")
        self._more()
        self._value(keys)

    def _key(self, prefix: Keys) -> Keys:
        """Pass a dotted key; note where each of its parts stands."""
        while True:
            self._more()
            part = _KEY.match(self._text, self._at)
            assert part is not None
            prefix = (*prefix, _plain(part[0]))
            self.lines.setdefault(prefix, bisect_right(self._newlines, part.start()) + 1)
            self._at = part.end()
            self._more()
            if not self._take("."):
                return prefix

    def _value(self, keys: Keys) -> None:
        """Pass a value; the keys of an inline table are noted, whatever is in an array is not."""
        if self._take("{"):
            while self._more() and not self._take("}"):
                self._assignment(keys)
                self._more()
                self._take(",")
        elif self._take("["):
            known = self.lines.copy()
            while self._more() and not self._take("]"):
                self._value(keys)
                self._more()
                self._take(",")
            self.lines = known
        else:
            value = _STRING.match(self._text, self._at) or _SCALAR.match(self._text, self._at)
            assert value is not None
            self._at = value.end()


def _plain(key: str) -> str:
    """Return a key as it is meant, without its quotes."""
    if key.startswith('"'):
        return str(tomllib.loads(f"key = {key}")["key"])
    return key.strip("'")
