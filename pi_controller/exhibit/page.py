"""The installation's page: the screen in one piece of HTML, pushed when it changes, and the touches that come back.

It serves the visitors' page at `/`, the host's pictures, and the log of the session whose seals anybody may check
(`/session.jsonl`). A touch is a POST of this page's own, from this machine only unless the host says otherwise; it is
put into a queue for the loop that steps the installation, and what does not fit there is dropped.
"""

from __future__ import annotations

import ipaddress
import queue
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pi_controller.errors import MatError
from pi_controller.exhibit.screen import Screen, screen_of
from pi_controller.show.i18n import catalogue
from pi_controller.web.pushed_page import PushedPage
from pi_controller.web.request_body import RefusedError, answer, only, refusal, sender, sent, text_of
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request

    from pi_controller.exhibit.exhibit import Exhibit
    from pi_controller.exhibit.host_files import HostTexts
    from pi_controller.exhibit.staff import StaffPage

_STATIC = {
    "mat.css": ("pi_controller.web", "text/css"),
    "exhibit.css": ("pi_controller.exhibit", "text/css"),
    "exhibit.js": ("pi_controller.exhibit", "text/javascript"),
    "here.js": ("pi_controller.exhibit", "text/javascript"),
    "preview.css": ("pi_controller.exhibit", "text/css"),
    "staff.css": ("pi_controller.exhibit", "text/css"),
    "staff.js": ("pi_controller.exhibit", "text/javascript"),
    "judge.css": ("pi_controller.web", "text/css"),
    **{
        path.name: ("pi_controller.web", "text/javascript")  # the sign-in page is the judges' own
        for path in files("pi_controller.web").joinpath("static").iterdir()
        if path.name.endswith(".js")
    },
}
_PAGE, _SCREEN = (Path(__file__).with_name(name) for name in ("exhibit.html", "screen.html"))
MOST_WATCHERS = 16
MOST_TOUCHES = 32
"""Touches that wait for the next step of the loop; ten hands at once make no more."""
LONGEST_NAME = 40


class Touch(NamedTuple):
    """What was touched, and on the screen of which turn."""

    name: str
    turn: int


class Shown(NamedTuple):
    """A picture: the screen, the host's texts with it, and the session's log as far as it is."""

    screen: Screen
    host: HostTexts
    languages: tuple[tuple[str, str], ...]
    session_log: str


class ExhibitPage(PushedPage[Shown]):
    """Serves an installation at `host`:`port`; `touches` are what visitors touched. `clock` is the installation's.

    `pictures` gives the host's pictures by name, `anywhere` lets any browser that reaches the page play.
    `staff` is the staff's page beside it.
    """

    def __init__(
        self,
        host: str,
        port: int,
        clock: Callable[[], float],
        pictures: Callable[[], Mapping[str, tuple[bytes, str]]],
        *,
        anywhere: bool = False,
        language: str = "en",
        staff: StaffPage | None = None,
    ) -> None:
        self.staff = staff
        self.touches: queue.Queue[Touch] = queue.Queue(MOST_TOUCHES)
        self.seen: float | None = None
        """When a page on this machine's own screen asked last."""
        self._clock, self._pictures, self._anywhere, self._language = clock, pictures, anywhere, language
        self._newest: Shown | None = None
        super().__init__(host, port, _STATIC, MOST_WATCHERS)

    def show(self, exhibit: Exhibit) -> None:
        """Publish what `exhibit` shows now."""
        log = exhibit.session_log
        languages = tuple((code, language_name(code)) for code in exhibit.section.languages)
        self._newest = Shown(screen_of(exhibit), exhibit.host.texts, languages, "" if log is None else log.lines())
        self.publish(self._newest)

    def page(self, picture: Shown | None) -> str:
        """Return the whole page."""
        screen = None if picture is None else picture.screen
        language = screen.language if screen is not None else self._language
        return render(
            _PAGE,
            language,
            screen=self._drawn(picture) if picture is not None else Markup(""),
            stage=screen.stage if screen is not None else "rest",
            low=screen is not None and screen.low,
            turn=screen.turn if screen is not None else 0,
            title=screen.title if screen is not None else "",
        )

    def event(self, picture: Shown) -> tuple[str, bytes]:
        """Return the screen as HTML, with what the script needs to know of it."""
        screen = picture.screen
        left = None if screen.until is None else max(0.0, round(screen.until - self._clock(), 1))
        content: dict[str, Any] = {
            "html": str(self._drawn(picture)),
            "stage": screen.stage,
            "turn": screen.turn,
            "low": screen.low,
            "language": screen.language,
            "title": screen.title,
            "said": " ".join(filter(None, (screen.lead, screen.step.title if screen.step else ""))),
            "left": left,
            "bright": screen.bright,
        }
        return "screen", msgspec.json.encode(content)

    def more_routes(self) -> list[Route]:
        """Return where touches come in, and the pictures and the log."""
        return [
            Route("/touch", self._touch, methods=["POST"]),
            Route("/here", self._here),
            Route("/healthz", _is_served),
            Route("/host/{name}", self._picture),
            Route("/session.jsonl", self._log),
            *(self.staff.routes() if self.staff is not None else ()),
        ]

    def _drawn(self, picture: Shown) -> Markup:
        return drawn(picture.screen, picture.host, picture.languages)

    async def _touch(self, request: Request) -> Response:
        try:
            if not self._anywhere and not _of_this_machine(sender(request)):
                raise RefusedError("origin", "only the installation's own screen plays", "see [exhibit] touch")
            body = await sent(request)
            only(body, "do", "turn")
            name, turn = text_of(body, "do", LONGEST_NAME), body.get("turn")
            if type(turn) is not int:
                raise RefusedError("invalid", "turn must be a whole number")
            self.touches.put_nowait(Touch(name, turn))
        except queue.Full:
            return refusal(request, RefusedError("busy", "too much is touched at once"))
        except MatError as error:
            return refusal(request, error)
        return answer({"ok": True}, 202)

    async def _here(self, request: Request) -> Response:
        if _of_this_machine(sender(request)):
            self.seen = self._clock()
        return Response(status_code=204)

    async def _picture(self, request: Request) -> Response:
        content, kind = self._pictures().get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)

    async def _log(self, _: Request) -> Response:
        shown = self._newest
        return PlainTextResponse("" if shown is None else shown.session_log)


async def _is_served(_: Request) -> Response:
    """Answer the page on the kiosk's disk, which is of no origin and waits for this one; there is nothing in it."""
    return Response(status_code=204, headers={"cross-origin-resource-policy": "cross-origin"})


def drawn(
    screen: Screen, host: HostTexts, languages: Sequence[tuple[str, str]] = (), pictures: str = "/host/"
) -> Markup:
    """Return `screen` as HTML, with the host's texts; `pictures` is where the host's pictures are."""
    html = render(_SCREEN, screen.language, s=screen, host=host, languages=languages, long=range(20), pictures=pictures)
    return Markup(html)  # noqa: S704 - escaped by it


def language_name(code: str) -> str:
    """Return what a language calls itself by its catalogue's header, else its code; nothing is invented here."""
    if code == "en":
        return "English"
    named = catalogue(code).info().get("language-name", "")
    return named or code


def _of_this_machine(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def host_lines(texts: HostTexts) -> Sequence[str]:
    """Return what of the host's texts visitors see, a line each: a preview for a terminal."""
    lines = [f"{name}: {value}" for name, value in texts if isinstance(value, str) and value]
    lines += [f"label: {one.name} ({one.community})" if one.community else f"label: {one.name}" for one in texts.labels]
    return [*lines, *(f"story: {one.title}, told by {one.teller}" for one in texts.stories)]
