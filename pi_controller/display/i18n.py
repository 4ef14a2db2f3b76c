"""Translations by gettext: any language code works, including those without a locale database (`dak`, `oj`).

Catalogues are the files `locale/CODE.po`, read directly, so that a translator sees a change at once without compiling.
They belong to the communities that speak the language (LANGUAGES.md). A sentence is shown in English if its catalogue
or its translation is missing or unusable.
"""

from __future__ import annotations

import gettext
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pi_controller.display.catalogue import read_catalogue
from pi_controller.errors import SettingsError
from pi_controller.host.platform import expand_home
from pi_controller.text import SUFFIX, Sentence, is_code, is_file

log = logging.getLogger(__name__)

LOCALES = Path(__file__).parent / "locale"
TEMPLATE = LOCALES / "moccasin_mat.pot"
"""All sentences, for a new catalogue; `tests/support/extract.py` writes it."""
HOST_CATALOGUES: dict[str, Path] = {}
"""Paths of the host's own catalogues outside the package, by language code."""


@dataclass(frozen=True, slots=True, eq=False)
class Translator:
    """Translates sentences from English into the language `code`; untranslated ones stay English.

    >>> ENGLISH.text("pad {pad}", pad=2)
    'pad 2'
    >>> ENGLISH.plural("{n} stick", "{n} sticks", 4)
    '4 sticks'
    """

    code: str
    sentences: gettext.NullTranslations

    def text(self, english: str, /, **values: object) -> str:
        """Return the sentence with its and these `values`, and sentences among them translated; see `Sentence`."""
        if isinstance(english, Sentence):
            english, values = english.template, {**english.values, **values}
        translated = self.sentences.gettext(english) if english else ""
        return translated.format(**{name: self._value(one) for name, one in values.items()}) if values else translated

    def parts(self, english: str) -> str:
        """Return a text of which each part before a colon can be a sentence: the journal and the hub have no more."""
        if (whole := self.text(english)) != english or ": " not in english:
            return whole
        first, _, rest = english.partition(": ")
        return f"{self.text(first)}: {self.parts(rest)}"

    def plural(self, one: str, many: str, number: int, /, **values: object) -> str:
        """Return the sentence's form for `number`, which is also the value of the place `{n}` unless given."""
        return self.sentences.ngettext(one, many, number).format(**{"n": number, **values})

    def _value(self, value: object) -> object:
        return self.text(value) if isinstance(value, Sentence) else value

    @property
    def name(self) -> str:
        """The language's own name by its catalogue's header, else its code."""
        own = "English" if self.code == "en" else self.code
        return self.sentences.info().get("language-name", "") or own


ENGLISH = Translator("en", gettext.NullTranslations())
"""Returns the English sentences: for logs, the command line and exports."""


def resolve_language(language: str) -> str:
    """Return `language` if it is a code, or the code of a catalogue file `FOLDER/CODE.po` after registering that file.

    Raises `SettingsError` if it is neither, or the catalogue cannot be read.
    """
    if not is_file(language):
        translator(language)
        return language
    path = expand_home(language)
    HOST_CATALOGUES[path.stem] = path
    translator.cache_clear()
    translator(path.stem)
    return path.stem


def path_of(language: str) -> Path | None:
    """Return the path of a language's catalogue, or None.

    The host's own comes before the package's; without a catalogue for the region the plain language is used.
    """
    code = language.replace("-", "_")
    while code:
        for path in (HOST_CATALOGUES.get(code), LOCALES / f"{code}{SUFFIX}"):
            if path is not None and (code in HOST_CATALOGUES or path.is_file()):
                return path
        code = code.rpartition("_")[0]
    return None


@cache
def translator(code: str) -> Translator:
    """Return the translator into the language `code`, such as `en` or `dak`.

    Raises `SettingsError` if it is not a language code, or its catalogue cannot be read.
    """
    if not is_code(code):
        raise SettingsError("{code} is not a language code", "use a code such as en, fr, dak or oj", code=f"{code!r}")
    path = path_of(code)
    if path is None:
        return Translator(code, gettext.NullTranslations())

    found = read_catalogue(path)
    for fault in found.faults:
        log.warning("%s: %s; English is shown there", path.name, fault)
    return Translator(code, found.sentences)
