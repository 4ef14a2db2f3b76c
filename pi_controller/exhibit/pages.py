"""The visitors' page: the screen as one piece of HTML, pushed when it changes, and the touches sent back.

It serves the page at `/`, and the host's pictures. A touch is a POST from this page, by default only from this machine;
it goes into a queue for the loop that steps the installation. If the queue is full, the touch is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pi_controller.display.i18n import Translator, translator
from pi_controller.exhibit.exhibit import Exhibit
from pi_controller.exhibit.host_files import HostTexts
from pi_controller.exhibit.orders import OrderQueue, ScreenTouch
from pi_controller.exhibit.screen import Heard, Screen, build_screen
from pi_controller.web import requests
from pi_controller.web.connection_limits import is_loopback
from pi_controller.web.pushed_page import PushedPage
from pi_controller.web.requests import RequestError
from pi_controller.web.room_page import score_lines
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from pi_controller.exhibit.staff_desk import StaffPage

_PAGE, _SCREEN = (Path(__file__).with_name(name) for name in ("exhibit.html", "screen.html"))
MAX_WATCHERS = 16


class PageContent(NamedTuple):
    """Content of the page: the screen, the host's texts, and the languages by code and name."""

    screen: Screen
    host: HostTexts
    languages: tuple[tuple[str, str], ...]


class ExhibitPage(PushedPage[PageContent]):
    """Serves an installation at `host`:`port`; visitors' touches are put on its queue of `orders`.

    `clock` is the installation's, `pictures` returns the host's pictures by name, `anywhere` allows touches from other
    machines. `staff` is the staff page served beside it.
    """

    def __init__(
        self,
        host: str,
        port: int,
        clock: Callable[[], float],
        pictures: Callable[[], Mapping[str, tuple[bytes, str]]],
        orders: OrderQueue,
        *,
        anywhere: bool = False,
        tr: Translator,
        staff: StaffPage | None = None,
    ) -> None:
        self.staff = staff
        self._orders = orders
        self.seen: float | None = None
        """Time of the last poll by a page on this machine's own screen."""
        self._clock, self._pictures, self._anywhere = clock, pictures, anywhere
        super().__init__(host, port, tr, "exhibit", MAX_WATCHERS)

    def show(self, exhibit: Exhibit) -> None:
        """Publish the current screen of `exhibit`."""
        languages = tuple((code, translator(code).name) for code in exhibit.section.languages)
        self.publish(PageContent(build_screen(exhibit), exhibit.host.texts, languages))

    def page(self, picture: PageContent | None) -> str:
        """Return the whole page."""
        screen = None if picture is None else picture.screen
        return render(
            _PAGE,
            self._tr if screen is None else translator(screen.language),
            screen=self._render_screen(picture) if picture is not None else Markup(""),
            stage=screen.stage if screen is not None else "rest",
            low=screen is not None and screen.low,
            turn=screen.turn if screen is not None else 0,
            title=screen.title if screen is not None else "",
        )

    def event(self, picture: PageContent) -> tuple[str, bytes]:
        """Return the screen as HTML with the values that the page's script needs."""
        screen = picture.screen
        left = None if screen.until is None else max(0.0, round(screen.until - self._clock(), 1))
        content: dict[str, Any] = {
            "html": str(self._render_screen(picture)),
            "stage": screen.stage,
            "turn": screen.turn,
            "low": screen.low,
            "language": screen.language,
            "title": screen.title,
            "heard": describe_news(screen.heard),
            "left": left,
            "bright": screen.bright,
        }
        return "screen", msgspec.json.encode(content)

    def extra_routes(self) -> list[Route]:
        """Return the routes for touches and pictures."""
        return [
            requests.json_route("/touch", self._touch, "POST"),
            Route("/here", self._record_presence),
            Route("/healthz", _is_served),
            Route("/host/{name}", self._picture),
            *(self.staff.routes() if self.staff is not None else ()),
        ]

    def _render_screen(self, picture: PageContent) -> Markup:
        return render_screen(picture.screen, picture.host, picture.languages)

    async def _touch(self, request: Request) -> Response:
        if not self._anywhere and not is_loopback(requests.client_ip(request)):
            raise RequestError(
                "origin", "touches are accepted only from the installation's own screen", "see [exhibit] touch"
            )
        self._orders.put(await requests.read_request(request, ScreenTouch))
        return requests.json_response({"ok": True}, 202)

    async def _record_presence(self, request: Request) -> Response:
        if is_loopback(requests.client_ip(request)):
            self.seen = self._clock()
        return Response(status_code=204)

    async def _picture(self, request: Request) -> Response:
        content, kind = self._pictures().get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)


async def _is_served(_: Request) -> Response:
    """Answer the kiosk's waiting page on the disk, which has no origin and waits for this page; the body is empty."""
    return Response(status_code=204, headers={"cross-origin-resource-policy": "cross-origin"})


def render_screen(screen: Screen, host: HostTexts, languages: Sequence[tuple[str, str]] = ()) -> Markup:
    """Return `screen` as HTML with the host's texts."""
    ending = screen.ending
    lines = score_lines(ending.course) if ending is not None else ()
    html = render(_SCREEN, translator(screen.language), s=screen, host=host, languages=languages, lines=lines)
    return Markup(html)  # noqa: S704 - escaped by it


def describe_news(heard: Heard) -> dict[str, Any]:
    """Return what a screen reader is told of a screen, by the keys of `announce.js`."""
    lines = [heard.sentence, heard.stakes, heard.note]
    return {"moment": heard.moment, "outcome": heard.outcome, "lines": lines, "question": ""}


def host_lines(texts: HostTexts) -> Sequence[str]:
    """Return the host's texts that visitors see, a line each, as a preview for a terminal."""
    lines = [f"{name}: {value}" for name, value in texts if isinstance(value, str) and value]
    lines += [f"label: {one.name} ({one.community})" if one.community else f"label: {one.name}" for one in texts.labels]
    return [*lines, *(f"story: {one.title}, told by {one.teller}" for one in texts.stories)]
