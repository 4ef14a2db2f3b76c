"""The pages' templates: Jinja2 with autoescaping, in `templates/` and beside each game's module in `games/`.

All pages extend `base.html` and use `macros.html`. The script updates the elements with `data-region` from the HTML
that the server sends; without scripts the page is complete and reloads itself. Line breaks between tags are removed.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from pi_controller.display.i18n import Translator
from pi_controller.text import Sentence
from pi_controller.web.address import qr_code

LONG_NAME_CHARS = (14, 36, 44)
"""Limits above which a team's name is set smaller, step by step."""
RADIUS = 13
"""Distance of the edge of a player's shape from its centre, in the units of the drawing."""
FOLDER = Path(__file__).parent / "templates"
_BETWEEN = re.compile(r"(?<=[>}])(\s*\n\s*)(?=[<{])")


def render(template: str | Path, tr: Translator, **values: Any) -> str:
    """Render `template`, a name in `templates/` or a path, as HTML in the language of `tr`.

    Each `Sentence` among the values is translated where it is shown, and `text` translates what the template says.
    Every value except `markupsafe.Markup` is escaped. A missing value raises `jinja2.UndefinedError`.
    """
    made = environment().get_template(str(template))
    return made.render(values, language=tr.code, text=tr.text)


def render_regions(template: str, tr: Translator, **values: Any) -> dict[str, str]:
    """Render a template that sets `regions`; return them as HTML by name, as `render` does a page."""
    made: Any = environment().get_template(template).make_module({**values, "language": tr.code, "text": tr.text})
    return made.regions


@cache
def environment() -> Environment:
    """Return the Jinja2 environment, which compiles each template once."""
    made = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        finalize=_translate,
    )
    made.globals["qr_code"] = qr_code
    made.filters["text_size"] = text_size
    made.filters["json"] = lambda value: msgspec.json.encode(value).decode()
    return made


def text_size(text: str, limits: tuple[int, ...] = LONG_NAME_CHARS) -> str:
    """Return the mark of a text's length for the style sheets: "", "long", "longest" or "extreme"."""
    return ("", "long", "longest", "extreme")[sum(len(text) > limit for limit in limits)]


@pass_context
def _translate(context: Context, value: object) -> object:
    return context["text"](value) if isinstance(value, Sentence) else value


def _source(name: str) -> str:
    # a comment instead of each break keeps the line numbers
    return _BETWEEN.sub(r"{#\1#}", (FOLDER / name).read_text("utf-8"))
