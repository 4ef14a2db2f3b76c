"""Serves the calibration walk as a web page: the steps, words and bars of the terminal, for a phone at the mat.

Nothing can be sent from the page: the walk goes on by what the mat feels.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from markupsafe import Markup

from pi_controller.calibration.terminal import BAR_MARKS, MARKS, OUTCOMES
from pi_controller.calibration.view import WalkView
from pi_controller.web.pushed_page import PushedPage
from pi_controller.web.templates import render

_STATIC = {
    "calibrate.css": ("pi_controller.calibration", "text/css"),
    "calibrate.js": ("pi_controller.calibration", "text/javascript"),
}
_PAGE, _WALK = (Path(__file__).with_name(name) for name in ("page.html", "walk.html"))


class WalkPage(PushedPage[WalkView]):
    """Serves the newest view at `host`:`port`. `publish` may be called from any thread."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port, _STATIC)

    def page(self, picture: WalkView | None) -> str:
        """Return the whole page."""
        walk, ask = ("", "") if picture is None else (markup(picture), picture.ask)
        return render(_PAGE, walk=walk, ask=ask)

    def event(self, picture: WalkView) -> tuple[str, bytes]:
        """Return the walk as HTML, what is asked, and whether it is over."""
        content = {"html": str(markup(picture)), "said": picture.ask, "over": picture.over}
        return "walk", msgspec.json.encode(content)


def markup(view: WalkView) -> Markup:
    """Return a view as HTML: what to do now, the bars, the steps."""
    return Markup(render(_WALK, view=view, marks=MARKS, outcomes=OUTCOMES, bar_marks=BAR_MARKS))  # noqa: S704 - escaped by it
