"""The public pages of a table: live, room, overlay, find, check and the rules in force.

They show only the public view and accept only GET.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import Translator
from pi_controller.referee.settings import PRESETS, RefereeSettings
from pi_controller.rules.base import Game
from pi_controller.rules.options import Choice
from pi_controller.table.view import View
from pi_controller.web.address import PageSettings, list_urls
from pi_controller.web.check_page import check_page
from pi_controller.web.feed import Feed
from pi_controller.web.frames import frame_page
from pi_controller.web.limits import CSP
from pi_controller.web.templates import render

Answer = Callable[[Request], Awaitable[Response]]
PLACES = ("bottom", "top")
"""The overlay's positions on the picture, given as `place` in its URL."""
LATER_S = 2.0
_LATER = {"retry-after": f"{LATER_S:.0f}"}


def public_routes(
    feed: Feed[View], *, tr: Translator, now: Callable[[], datetime], settings: PageSettings, more: Collection[str]
) -> Sequence[Route]:
    """Return the routes `/`, `/room`, `/overlay`, `/find` and `/check`; `now` is the wall clock for "as of".

    `more` are the paths of other pages: `/judge`, `/rules` and `/games` are linked.
    """

    def frame_response(frame: str, waiting: str = "waiting.html", **values: Any) -> Response:
        latest = feed.latest
        if latest is None:
            return HTMLResponse(render(waiting, tr), 503, _LATER)
        more = {"as_of": f"{now():%H:%M:%S}", "host": settings.host, **values}
        return HTMLResponse(frame_page(latest.content, tr, frame, feed.clock(), **more))

    async def live(_: Request) -> Response:
        return frame_response("", linked=more)

    async def room(request: Request) -> Response:
        values = {"found": _page_urls(request, settings), "event": _event(settings), "words": settings.words}
        return frame_response("room", **values)

    async def overlay_page(request: Request) -> Response:
        place = request.query_params.get("place", PLACES[0])
        if place not in PLACES:
            return PlainTextResponse("place is bottom or top.\n", 400)
        return frame_response("overlay", "overlay_waiting.html", place=place)

    async def find(request: Request) -> Response:
        urls, game = _page_urls(request, settings), feed.latest.content.game if feed.latest else ""
        return HTMLResponse(find_page(urls, settings, tr, game, more))

    async def check(_: Request) -> Response:
        return HTMLResponse(check_page(feed.latest.content if feed.latest else None, tr))

    pages = {"/": live, "/room": room, "/overlay": overlay_page, "/find": find, "/check": check}
    return [Route(path, _embeddable(answer, settings.embed)) for path, answer in pages.items()]


def _embeddable(answer: Answer, sites: Sequence[str]) -> Answer:
    """Return `answer` with a page that `sites` may show inside their own; with none it is unchanged."""
    if not sites:
        return answer
    policy = CSP.replace("frame-ancestors 'none'", f"frame-ancestors {' '.join(sites)}")

    async def answer_embeddable(request: Request) -> Response:
        response = await answer(request)
        response.headers["content-security-policy"] = policy
        return response

    return answer_embeddable


def rules_route(in_force: Callable[[], tuple[Game[Any], RefereeSettings]], tr: Translator) -> Route:
    """Return the route `/rules`; `in_force` returns the table's game and referee settings."""

    async def rules(_: Request) -> Response:
        return HTMLResponse(rules_page(*in_force(), tr))

    return Route("/rules", rules)


def rules_page(game: Game[Any], referee: RefereeSettings, tr: Translator) -> str:
    """Return the page of the rules in force: source, options with their values, and customs of the game."""
    show = get_show(game.name, tr)
    options = [
        {
            "rule": tr.text(
                option.rules[option.choices.index(str(value))] if isinstance(option, Choice) else option.about
            ),
            "value": "" if isinstance(option, Choice) else format_value(value, tr),
            "source": option.sources.get(str(value), "") if isinstance(option, Choice) else "",
            "changed": value != option.default,
        }
        for option in type(game).options
        for value in (game.settings[option.name],)
    ]
    return render(
        "rules.html",
        tr,
        game=show.name,
        gist=tr.text(show.gist),
        whose=tr.text(show.whose),
        source=type(game).source,
        version=type(game).version,
        options=options,
        customs=[tr.text(custom) for custom in show.customs],
        preset=PRESETS[referee.preset] if game.hidden is not None else "",
        beads=referee.beads if game.hidden is not None else "",
        nearest=", ".join(map(str, referee.nearest)),
    )


def format_value(value: object, tr: Translator) -> str:
    """Format an option's value for people: yes or no, none, spaces for underscores."""
    if isinstance(value, bool):
        return tr.text("yes") if value else tr.text("no")
    return tr.text("none") if value is None else str(value).replace("_", " ")


def find_page(
    found: Sequence[str],
    pages: PageSettings,
    tr: Translator,
    game: str = "",
    more: Collection[str] = (),
) -> str:
    """Return the page with the pages' URLs and QR codes, and the credits of the current `game`, if there is one.

    `more` are the paths of other pages: the judge's console, the rules and the past games are added.
    """
    show = get_show(game, tr) if game else None
    return render(
        "find.html",
        tr,
        found=found,
        linked=more,
        event=_event(pages),
        host=pages.host,
        words=pages.words,
        credit=f"{show.name}. {show.credit}" if show else "",
    )


def _event(pages: PageSettings) -> str:
    return " · ".join(filter(None, (pages.event, pages.table)))


def _page_urls(request: Request, pages: PageSettings) -> list[str]:
    asked, port = request.scope.get("server") or ("", 80)
    return list_urls(pages, port or 80, request.url.scheme, asked)
