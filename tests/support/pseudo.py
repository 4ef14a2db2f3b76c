"""A language nobody speaks: each sentence as in English, between brackets. What stands outside them escaped gettext."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from extract import template

from pi_controller.display import i18n

if TYPE_CHECKING:
    from pathlib import Path

OPEN, SHUT = "⟦", "⟧"
CODE = "qps"
_SILENT = {"script", "style", "code", "pre", "bdi"}
_READ_OUT = {"title", "aria-label", "alt", "placeholder"}
_ADDRESS = re.compile(r"://|^/")
_WORD = re.compile(r"[^\W\d_]{2,}")


def write(folder: Path) -> Path:
    """Write the catalogue of that language and return its path."""
    made = template()
    made.metadata["Plural-Forms"] = "nplurals=2; plural=(n != 1);"
    for entry in made:
        if entry.msgid_plural:
            entry.msgstr_plural = {0: f"{OPEN}{entry.msgid}{SHUT}", 1: f"{OPEN}{entry.msgid_plural}{SHUT}"}
        else:
            entry.msgstr = f"{OPEN}{entry.msgid}{SHUT}"
    path = folder / f"{CODE}.po"
    made.save(str(path))
    return path


def use(folder: Path) -> i18n.Translator:
    """Use it from now on, until `i18n.HOST_CATALOGUES` forgets it; return its translator."""
    return i18n.translator(i18n.resolve_language(str(write(folder))))


def escaped(text: str) -> list[str]:
    """Return the words of `text` that stand outside all brackets. A line that was cut may lack the one that shuts."""
    return [word for line in text.split("\n") for word in _WORD.findall(_outside(line))]


def escaped_of_page(html: str) -> list[str]:
    """Return the words that people see or hear of a page and that stand outside all brackets.

    Code, addresses and what is isolated as a name are not looked at.
    """
    texts = _Texts()
    texts.feed(html)
    texts.close()
    seen = "".join(texts.seen)
    assert seen.count(OPEN) == seen.count(SHUT), "a sentence of the page is cut"
    heard = [word for text in texts.heard for word in escaped(text)]
    return [*_WORD.findall(_outside(seen)), *heard]


def _outside(text: str) -> str:
    out, depth = list[str](), 0
    for char in text:
        depth += (char == OPEN) - (char == SHUT)
        out.append(" " if depth or char == SHUT else char)
    return "".join(out)


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.heard: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        self.heard += [value for name, value in attrs if name in _READ_OUT and value]
        self.seen.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT
        self.seen.append(" ")

    def handle_data(self, data: str) -> None:
        # a sentence may have a name or a code in its middle
        kept = "".join(char for char in data if char in OPEN + SHUT) if self._silent or _ADDRESS.search(data) else data
        self.seen.append(kept)
