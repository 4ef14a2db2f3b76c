"""The pages' templates: Jinja2 with every text escaped, `templates/` and one beside each game's module in `games/`.

All pages extend `base.html` and are put together from `macros.html`. The attributes `data-live`, `data-state`,
`data-count` and `data-clock` are what the script patches the page by; with scripts off the page is complete and reloads
itself. A template's line breaks between tags are for who reads it, and are not sent.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from pi_controller.show.i18n import catalogue
from pi_controller.web.address import qr_code
from pi_controller.web.shapes import SHAPES

FOLDER = Path(__file__).parent / "templates"
_BETWEEN = re.compile(r"(?<=[>}])(\s*\n\s*)(?=[<{])")


def render(template: str | Path, language: str = "en", **values: Any) -> str:
    """Return `template`, a name in `templates/` or a path, as HTML in `language`, which it calls by `text`.

    Every value is escaped, but for `markupsafe.Markup`. Raises `jinja2.UndefinedError` for a value that is not there.
    """
    made = environment().get_template(str(template))
    return made.render(values, language=language, text=catalogue(language).gettext)


@cache
def environment() -> Environment:
    """Return what templates are read with; each is compiled once."""
    made = Environment(loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, auto_reload=False)
    made.globals |= {"shapes": SHAPES, "qr_code": qr_code}
    return made


def _source(name: str) -> str:
    # a comment in the place of each break keeps the numbers of the lines
    return _BETWEEN.sub(r"{#\1#}", (FOLDER / name).read_text("utf-8"))
