"""Read a catalogue of translated sentences, a `.po` file as its translators write it, and skip unusable entries.

A translation with a placeholder that the English sentence lacks, or with a misspelt one, would raise an error in the
middle of a game. It is found here when the file is read; skipped entries are reported.
"""

from __future__ import annotations

import gettext
import io
import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.errors import SettingsError, describe_error
from pi_controller.extras import requires_extra

if TYPE_CHECKING:
    import polib

AUTHORITY = "X-Authority"
"""Header that names the source of the catalogue and the authority behind it."""
_MAX_BYTES = 4_000_000
_COUNTS = range(200)
"""Numbers for testing a plural rule: more than the sticks or notches of any table."""


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """A catalogue: usable `sentences`, the texts that are `filled`, its header, and the faults of skipped entries."""

    sentences: gettext.GNUTranslations
    filled: frozenset[str]
    header: dict[str, str]
    faults: tuple[str, ...]


def read_catalogue(path: Path) -> CatalogueFile:
    """Return the catalogue in `path` without fuzzy and unusable sentences.

    Raises `SettingsError` if the file is not a catalogue, or its plural rule fails.
    """
    entries = _parse_catalogue(path)
    entries.metadata["Content-Type"] = "text/plain; charset=utf-8"  # it was read as UTF-8, so override the header
    faults: list[str] = []
    for entry in entries:
        if not entry.translated():
            continue
        wrong = _find_problem(entry)
        if wrong:
            faults.append(f"line {entry.linenum}: {wrong}")
            entry.flags = ["fuzzy"]  # skipped below, like entries that translators marked as unsure
    filled = frozenset(entry.msgid for entry in entries if entry.translated())
    try:
        sentences = gettext.GNUTranslations(io.BytesIO(entries.to_binary()))
        probe = "n"
        for n in _COUNTS:
            sentences.ngettext(probe, probe, n)
    except (ValueError, ArithmeticError, IndexError, RecursionError) as error:
        raise SettingsError(
            "{path}: the header Plural-Forms is invalid: {error}",
            'write the number of forms and the rule that selects one, such as "nplurals=2; plural=(n != 1);"',
            path=path,
            error=error,
        ) from error
    return CatalogueFile(sentences, filled, dict(entries.metadata), tuple(faults))


def _parse_catalogue(path: Path) -> polib.POFile:
    with requires_extra("languages", "a language other than English"):
        import polib  # noqa: PLC0415 - English needs no catalogue
    hint = "open it with a program for catalogues (Poedit, a text editor), and see LANGUAGES.md"
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            raise SettingsError("there is no catalogue {path}", hint, path=path)
        return polib.pofile(str(path), encoding="utf-8")
    except (OSError, UnicodeError, ValueError) as error:
        if isinstance(error, SettingsError):
            raise
        raise SettingsError("{path} is not a catalogue: {why}", hint, path=path, why=describe_error(error)) from error


def _find_problem(entry: polib.POEntry) -> str:
    """Return why a translation cannot be shown, or ""."""
    asked = _places([entry.msgid, entry.msgid_plural])
    if asked is None:
        return "the English sentence was changed: the table no longer uses it"
    for translation in entry.msgstr_plural.values() or [entry.msgstr]:
        if any(unicodedata.category(char) in {"Cc", "Cs"} for char in translation):
            return "it contains a control character"
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
    """Return the names in braces; None if the braces do not match or contain more than a name."""
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
