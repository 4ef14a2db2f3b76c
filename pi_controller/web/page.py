"""The page on the server's side: a plain HTML file whose marked elements are filled with the board's content.

`data-live="key"` gets a text, `data-state="key"` a mark as `data-value`, `data-count="key"` its sticks: the very
attributes by which the script patches the page later; `data-html="table"` gets the board's table as it is. With scripts
off the page is complete and reloads itself.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_controller.web.board import Board

_TEMPLATES = Path(__file__).parent / "templates"
_PLACE = re.compile(r"<!-- (\w+) -->\n")
_STATE = re.compile(r'data-state="(\w+)"')
_LIVE = re.compile(r'(<[^<>]*\bdata-live="(\w+)"[^<>]*>)(?=</)')
_HTML = re.compile(r'(<[^<>]*\bdata-html="table"[^<>]*>)(?=</)')
_COUNT = re.compile(r'(<[^<>]*\bdata-count="(\w+)"[^<>]*>)(?=</)')


@cache
def template(name: str) -> str:
    """Return `templates/frame.html` with its marked places filled from the parts of `templates/NAME.html`."""
    parts = _PLACE.split((_TEMPLATES / f"{name}.html").read_text("utf-8"))[1:]
    filled = dict(zip(parts[::2], parts[1::2], strict=True))
    frame = (_TEMPLATES / "frame.html").read_text("utf-8")
    return _PLACE.sub(lambda m: filled.get(m[1], ""), frame).replace("LAYOUT", name, 1)


def sticks(lit: int, of: int) -> str:
    """Return `of` strokes, the first `lit` of them on."""
    return '<i class="on"></i>' * lit + "<i></i>" * (of - lit)


def page(content: Board, *, language: str, as_of: str) -> str:
    """Return the live page. Every text is escaped; a key of the template that the board lacks is a `KeyError`."""
    texts = {**content.texts, "as_of": as_of}
    html = template(content.layout).replace('lang="en"', f'lang="{escape(language)}"', 1)
    html = _STATE.sub(lambda m: f'{m[0]} data-value="{escape(content.marks[m[1]])}"', html)
    html = _COUNT.sub(lambda m: m[1] + sticks(*content.counts[m[2]]), html)
    html = _LIVE.sub(lambda m: m[1] + escape(texts[m[2]]), html)
    return _HTML.sub(lambda m: m[1] + content.table, html)
