"""The page on the server's side: a plain HTML file whose marked elements are filled with the board's content.

`data-live="key"` gets a text, `data-state="key"` a mark as `data-value`, `data-count="key"` its sticks: the very
attributes by which the script patches the page later; `data-clock="key"` gets the time left until the mark of that
name, and `data-html="table"` the board's table as it is. With scripts off the page is complete and reloads itself.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.show.i18n import catalogue
from pi_controller.show.phrases import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.web.page_content import Board

_TEMPLATES = Path(__file__).parent / "templates"
_PLACE = re.compile(r"<!-- (\w+) -->\n")
_STATE = re.compile(r'data-state="(\w+)"')
_LIVE = re.compile(r'(<[^<>]*\bdata-live="(\w+)"[^<>]*>)(?=</)')
_HTML = re.compile(r'(<[^<>]*\bdata-html="(\w+)"[^<>]*>)(?=</)')
_CLOCK = re.compile(r'(<[^<>]*\bdata-clock="(\w+)"[^<>]*>)(?=</)')
_COUNT = re.compile(r'(<[^<>]*\bdata-count="(\w+)"[^<>]*>)(?=</)')


@cache
def template(name: str, frame: str = "frame") -> str:
    """Return `templates/FRAME.html` with its marked places filled.

    They are the parts of `templates/NAME.html`, and those that frames share.
    """
    filled = _parts("shared") | _parts(name)
    return _PLACE.sub(lambda m: filled.get(m[1], ""), document(frame)).replace("LAYOUT", name, 1)


def _parts(name: str) -> dict[str, str]:
    parts = _PLACE.split(document(name))[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def document(name: str) -> str:
    """Return `templates/NAME.html` as it is."""
    return (_TEMPLATES / f"{name}.html").read_text("utf-8")


def waiting(language: str) -> str:
    """Return the page that stands until there is a table; it reloads itself."""
    return fill(document("waiting"), {"sentence": catalogue(language).gettext("The table is starting")}, {}, language)


def sticks(lit: int, of: int) -> str:
    """Return `of` strokes, the first `lit` of them on."""
    return '<i class="on"></i>' * lit + "<i></i>" * (of - lit)


def page(
    content: Board,
    *,
    language: str,
    as_of: str,
    t: float | None = None,
    frame: str = "frame",
    pieces: Mapping[str, str] | None = None,
) -> str:
    """Return the live page. Every text is escaped; a key of the template that the board lacks is a `KeyError`.

    `t` is the time on the table's clock, `frame` the page around the table, `pieces` what HTML it takes besides.
    """
    html = template(content.layout, frame)
    html = _STATE.sub(lambda m: f'{m[0]} data-value="{escape(content.marks[m[1]])}"', html)
    html = _COUNT.sub(lambda m: m[1] + sticks(*content.counts[m[2]]), html)
    if t is not None:
        html = _CLOCK.sub(lambda m: m[1] + _left(content.marks, m[2], t), html)
    return fill(html, {**content.texts, "as_of": as_of}, {"table": content.table, **(pieces or {})}, language)


def fill(html: str, texts: Mapping[str, str], pieces: Mapping[str, str], language: str) -> str:
    """Return `html` in `language` with its texts, escaped, and its `pieces`, as they are."""
    html = html.replace('lang="en"', f'lang="{escape(language)}"', 1)
    html = _LIVE.sub(lambda m: m[1] + escape(texts[m[2]]), html)
    return _HTML.sub(lambda m: m[1] + pieces[m[2]], html)


def _left(marks: Mapping[str, str], key: str, t: float) -> str:
    return remaining(float(marks[key]) if marks[key] else None, float(marks[f"{key}_stood"] or t))
