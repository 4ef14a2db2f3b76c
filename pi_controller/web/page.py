"""Renders the live page on the server: the board's content in the layout of a phone, room or stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.show.phrases import remaining
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from pi_controller.web.page_content import Board


def page(
    content: Board, *, language: str, as_of: str, t: float | None = None, frame: str = "phone", **values: Any
) -> str:
    """Return the page that `content.layout` is, in its `frame`, `phone` or `room`, which takes `values` besides.

    `t` is the time on the table's clock. A key of the template that the board lacks is a `jinja2.UndefinedError`.
    """
    marks = content.marks

    def left(key: str) -> str:
        if t is None:
            return ""
        return remaining(float(marks[key]) if marks[key] else None, float(marks[f"{key}_stood"] or t))

    return render(
        "room.html" if frame == "room" else f"{content.layout}.html",
        language,
        frame=f"{frame}.html",
        layout=content.layout,
        texts={**content.texts, "as_of": as_of},
        marks=marks,
        counts=content.counts,
        table=content.table,
        left=left,
        **values,
    )


def waiting(language: str) -> str:
    """Return the page that stands until there is a table; it reloads itself."""
    return render("waiting.html", language)
