"""Translations by gettext: any language code works, also those no locale database knows (`dak`, `oj`).

Catalogues stand in `locale/CODE.po` and are read as they are: who fills one sees it at once, with nothing to compile.
They belong to the communities that speak the language (LANGUAGES.md). Where there is no catalogue, a sentence is
missing in it, or one could not be used, English is shown, sentence by sentence.
"""

from __future__ import annotations

import gettext
import logging
from functools import cache
from pathlib import Path

from pi_controller.errors import SettingsError
from pi_controller.languages import SUFFIX, is_code, is_file

log = logging.getLogger(__name__)

DOMAIN = "moccasin_mat"
LOCALES = Path(__file__).parent / "locale"
_OWN: dict[str, Path] = {}
"""Catalogues that a host keeps outside the package, by their code."""


def mark(text: str) -> str:
    """Return `text` unchanged: marks a sentence for the catalogues before the language is known."""
    return text


def chosen(language: str) -> str:
    """Return the code of `language`, which is one, or the path of a catalogue `FOLDER/CODE.po` to be used from now on.

    Raises `SettingsError` when it is neither, or the catalogue cannot be read.
    """
    if not is_file(language):
        catalogue(language)
        return language
    path = Path(language).expanduser()
    _OWN[path.stem] = path
    catalogue.cache_clear()
    catalogue(path.stem)
    return path.stem


def path_of(language: str) -> Path | None:
    """Return the file of a language's catalogue: the host's own, the package's, or that of the language without its
    region; None where there is none.
    """
    code = language.replace("-", "_")
    while code:
        for path in (_OWN.get(code), LOCALES / f"{code}{SUFFIX}"):
            if path is not None and (code in _OWN or path.is_file()):
                return path
        code = code.rpartition("_")[0]
    return None


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the sentences of `language` (a code such as `en` or `dak`), English where there are none.

    Raises `SettingsError` when it is no language code, or its catalogue is no catalogue.
    """
    if not is_code(language):
        raise SettingsError(f"{language!r} is no language code", "use a code such as en, fr, dak or oj")
    path = path_of(language)
    if path is None:
        return gettext.NullTranslations()
    from pi_controller.show.catalogue_file import read  # noqa: PLC0415 - English needs no reader

    found = read(path)
    for fault in found.faults:
        log.warning("%s: %s; English is shown there", path.name, fault)
    return found.sentences
