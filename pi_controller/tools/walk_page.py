"""Serve the calibration walk as a page with the terminal's steps, texts and bars, for a phone at the mat.

The page is read-only: the mat's events advance the walk.
"""

from pathlib import Path

import msgspec
from markupsafe import Markup, escape

from pi_controller.calibration.steps import WalkView
from pi_controller.display.i18n import Translator
from pi_controller.tools.walk_picture import BAR_MARKS, MARKS, OUTCOMES
from pi_controller.web.pushed_page import PushedPage
from pi_controller.web.templates import render

_PAGE, _WALK = (Path(__file__).with_name(name) for name in ("page.html", "walk.html"))


class WalkPage(PushedPage[WalkView]):
    """Serves the newest view at `host`:`port` in the language of `tr`. `publish` may be called from any thread."""

    def __init__(self, host: str, port: int, tr: Translator) -> None:
        super().__init__(host, port, tr, "tools")

    def page(self, picture: WalkView | None) -> str:
        """Return the whole page."""
        return render(_PAGE, self._tr, regions={"walk": "", "said": ""} if picture is None else self._regions(picture))

    def event(self, picture: WalkView) -> tuple[str, bytes]:
        """Return the event with the regions of the page, and whether the walk is over."""
        return "walk", msgspec.json.encode({"regions": self._regions(picture), "over": picture.over}, enc_hook=str)

    def _regions(self, picture: WalkView) -> dict[str, Markup]:
        return {"walk": render_walk(picture, self._tr), "said": escape(self._tr.text(picture.ask))}


def render_walk(view: WalkView, tr: Translator) -> Markup:
    """Return a view as HTML in the language of `tr`: the instruction, the bars, the steps."""
    return Markup(render(_WALK, tr, view=view, marks=MARKS, outcomes=OUTCOMES, bar_marks=BAR_MARKS))  # noqa: S704 - escaped in render
