"""The three frames of a table's public view: the live page, the room's and the overlay, with their regions.

A frame has a template of its regions, which all viewers share and each event carries, and one of the page around them.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from pi_controller.display.i18n import Translator
from pi_controller.table.view import View
from pi_controller.web.game_page import page_of
from pi_controller.web.live_page import LiveContent, live_content
from pi_controller.web.room_page import LONG_SENTENCE_CHARS, describe_course, room_table, strip
from pi_controller.web.templates import render, render_regions


class Frame(NamedTuple):
    """The template of a frame's page, beside that of its regions, and what draws the table in it as HTML."""

    page: str
    table: Callable[[View, Translator], str]


FRAMES: Mapping[str, Frame] = {
    "": Frame("phone", lambda view, tr: page_of(view, tr).table(view)),
    "room": Frame("room", room_table),
    "overlay": Frame("overlay", strip),
}
"""The frames, by the value of `page` in the stream's URL."""


def frame_regions(view: View, tr: Translator, frame: str = "") -> dict[str, str]:
    """Return the HTML of a frame's regions by name, without the times left, which the page's script shows."""
    return _render(live_content(view, tr), view, tr, frame)


def frame_page(view: View, tr: Translator, frame: str, t: float, **values: Any) -> str:
    """Return the page of a frame for `view` at the time `t` on the table's clock, with more template `values`."""
    content = live_content(view, tr, t)
    regions = _render(content, view, tr, frame, **values)
    return render(f"{FRAMES[frame].page}.html", tr, regions=regions, page_title=content.news.title, **values)


def _render(content: LiveContent, view: View, tr: Translator, frame: str, **values: Any) -> dict[str, str]:
    page, draw_table = FRAMES[frame]
    table = Markup(draw_table(view, tr))  # noqa: S704 - escaped by it
    values |= {"s": content, "table": table, "limits": LONG_SENTENCE_CHARS, **describe_course(view, tr)}
    return render_regions(f"{page}_regions.html", tr, **values)
