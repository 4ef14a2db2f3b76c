"""A catalogue of sentences as its speakers write it: a `.po` file. What could stop a table is left out and told.

A sentence with a place for a team's name that the English one has not, or with one misspelt, would fail at the table,
in the middle of a game: it is found here instead, before the first view is shown.
"""

from __future__ import annotations

import gettext
import io
import string
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polib

from pi_controller.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

AUTHORITY = "X-Authority"
"""The header that says who the catalogue is from, and with whose word."""
_MOST_BYTES = 4_000_000
_COUNTS = range(200)
"""Numbers that a plural rule is tried with: more sticks or notches than any table counts."""


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """What was read: the `sentences` ready for use, which are `filled`, the header, what was left out and why."""

    sentences: gettext.GNUTranslations
    filled: frozenset[str]
    header: dict[str, str]
    faults: tuple[str, ...]


def read(path: Path) -> CatalogueFile:
    """Return the catalogue in `path`; sentences that are marked fuzzy, or cannot be used, are not in it.

    Raises `SettingsError` for a file that is no catalogue, or whose plural rule does not hold.
    """
    entries = _parsed(path)
    entries.metadata["Content-Type"] = "text/plain; charset=utf-8"  # as it was read, whatever stood there
    faults: list[str] = []
    for entry in entries:
        if not entry.translated():
            continue
        wrong = _wrong(entry)
        if wrong:
            faults.append(f"line {entry.linenum}: {wrong}")
            entry.flags = ["fuzzy"]  # left out below, like what its writers are not sure of
    filled = frozenset(entry.msgid for entry in entries if entry.translated())
    try:
        sentences = gettext.GNUTranslations(io.BytesIO(entries.to_binary()))
        probe = "n"
        for n in _COUNTS:
            sentences.ngettext(probe, probe, n)
    except (ValueError, ArithmeticError, IndexError, RecursionError) as error:
        raise SettingsError(
            f"{path}: the header Plural-Forms does not hold: {error}",
            'write how many forms there are and which is whose, such as "nplurals=2; plural=(n != 1);"',
        ) from error
    return CatalogueFile(sentences, filled, dict(entries.metadata), tuple(faults))


def _parsed(path: Path) -> polib.POFile:
    todo = "open it with a program for catalogues (Poedit, a text editor), and see LANGUAGES.md"
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            raise SettingsError(f"there is no catalogue {path}", todo)
        return polib.pofile(str(path), encoding="utf-8")
    except (OSError, UnicodeError, ValueError) as error:
        if isinstance(error, SettingsError):
            raise
        what = f"{error} stands where UTF-8 should" if isinstance(error, UnicodeError) else str(error)
        raise SettingsError(f"{path} is no catalogue: {what}", todo) from error


def _wrong(entry: polib.POEntry) -> str:
    """Return why what was written cannot be shown, or nothing."""
    asked = _places([entry.msgid, entry.msgid_plural])
    if asked is None:
        return "the English sentence was changed: it is not the table's any more"
    for translation in entry.msgstr_plural.values() or [entry.msgstr]:
        if any(unicodedata.category(char) in {"Cc", "Cs"} for char in translation):
            return "a control character stands in it"
        places = _places([translation])
        if places is None:
            return "a { without its }, or the other way round"
        if more := places - asked:
            names = " and ".join("{" + name + "}" for name in sorted(more))
            return f"the English sentence has no {names}"
        if translation != translation.strip() and entry.msgid == entry.msgid.strip():
            return "it begins or ends with a space"
    return ""


def _places(sentences: Iterable[str]) -> set[str] | None:
    """Return the names in braces; None where the braces do not match or hold more than a name."""
    names: set[str] = set()
    try:
        for sentence in sentences:
            for _, name, form, conversion in string.Formatter().parse(sentence):
                if name is None:
                    continue
                if form or conversion or not name.isidentifier():
                    return None
                names.add(name)
    except ValueError:
        return None
    return names
