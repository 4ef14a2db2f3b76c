"""The pages' templates: Jinja2 with autoescaping, in `templates/` and beside each game's module in `games/`.

All pages extend `base.html` and use `macros.html`. The script updates elements by the attributes
`data-live`, `data-state`, `data-count` and `data-clock`; without scripts the page is complete and reloads itself. Line
breaks between tags are removed from the output.
"""

import math
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from pi_controller.display.i18n import catalogue
from pi_controller.web.address import qr_code

# SVG shapes of up to eight players, each with its number, distinct without colour.


RADIUS = 13
"""Distance of a shape's edge from its centre, in the units of the drawing."""


class Shape(NamedTuple):
    """A shape as SVG, and the distance of its number below the centre, in the units of the drawing."""

    drawn: Markup
    down: float = 4.8


def _corners(count: int, radius: float, turn: float = 0.0, inner: float | None = None) -> Markup:
    """Return a polygon of `count` corners, the first one up and turned by `turn` degrees; with `inner` a star."""
    points: list[str] = []
    steps = count * (1 if inner is None else 2)
    for i in range(steps):
        reach = radius if inner is None or i % 2 == 0 else inner
        angle = math.radians(turn + 360 * i / steps)
        points.append(f"{reach * math.sin(angle):.1f},{-reach * math.cos(angle):.1f}")
    return Markup('<polygon points="{}"/>').format(" ".join(points))


SHAPES = (
    Shape(Markup('<circle r="12"/>')),
    Shape(Markup('<rect x="-11" y="-11" width="22" height="22"/>')),
    Shape(_corners(3, 17.5), 6.8),
    Shape(_corners(4, 14.5)),
    Shape(_corners(6, 13, 30)),
    Shape(_corners(3, 17.5, 180), 4.4),
    Shape(_corners(8, 14, inner=10)),
    Shape(Markup('<rect x="-13" y="-8.5" width="26" height="17" rx="8.5"/>')),
)


FOLDER = Path(__file__).parent / "templates"
_BETWEEN = re.compile(r"(?<=[>}])(\s*\n\s*)(?=[<{])")


def render(template: str | Path, language: str = "en", **values: Any) -> str:
    """Render `template`, a name in `templates/` or a path, as HTML in `language` (`text` translates).

    Every value except `markupsafe.Markup` is escaped. A missing value raises `jinja2.UndefinedError`.
    """
    made = environment().get_template(str(template))
    return made.render(values, language=language, text=catalogue(language).gettext)


@cache
def environment() -> Environment:
    """Return the Jinja2 environment, which compiles each template once."""
    made = Environment(loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, auto_reload=False)
    made.globals |= {"shapes": SHAPES, "qr_code": qr_code}
    made.filters["json"] = lambda value: msgspec.json.encode(value).decode()
    return made


def _source(name: str) -> str:
    # a comment instead of each break keeps the line numbers
    return _BETWEEN.sub(r"{#\1#}", (FOLDER / name).read_text("utf-8"))
