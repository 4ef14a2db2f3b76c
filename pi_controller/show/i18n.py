"""Languages: stdlib gettext, so that any code works, also those no locale database knows (`dak`, `oj`).

Catalogues stand in `locale/CODE/LC_MESSAGES/moccasin_mat.mo`. They belong to the communities that speak the language;
where there is none, or a sentence is missing, English is shown.
"""

from __future__ import annotations

import gettext
import re
from functools import cache
from pathlib import Path

from pi_controller.errors import SettingsError

DOMAIN = "moccasin_mat"
LOCALES = Path(__file__).parent / "locale"
_CODE = re.compile(r"[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8})*")


def mark(text: str) -> str:
    """Return `text` unchanged: marks a sentence for the catalogues before the language is known."""
    return text


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the sentences of `language` (a code such as `en` or `dak`), English where there are none.

    Raises `SettingsError` when it is no language code.
    """
    if not _CODE.fullmatch(language):
        raise SettingsError(f"{language!r} is no language code", "use a code such as en, fr, dak or oj")
    return gettext.translation(DOMAIN, LOCALES, languages=[language.replace("-", "_")], fallback=True)
