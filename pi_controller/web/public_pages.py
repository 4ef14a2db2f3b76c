"""Routes of the public pages besides the live page: room, stream overlay, addresses, and the check of a commitment.

They show what the public view says and nothing else, and take no more than a GET.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from pi_controller.show.words import credit, game_name
from pi_controller.web.address import Pages, addresses
from pi_controller.web.check_page import check_page
from pi_controller.web.page import page, waiting
from pi_controller.web.room import room as room_board
from pi_controller.web.strip import overlay
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from starlette.requests import Request

    from pi_controller.web.feed import Feed

PLACES = ("bottom", "top")
"""Where the overlay stands on the picture, by `place` in its address."""
_LATER = {"retry-after": "2"}


def public_routes(
    feed: Feed, *, language: str, now: Callable[[], datetime], pages: Pages | None = None, judged: bool = False
) -> Sequence[Route]:
    """Return the routes `/room`, `/overlay`, `/find` and `/check`; `now` is the wall clock for "as of".

    `judged`: judges can sign in at `/judge`, and `/find` shows where.
    """
    settings = pages or Pages()

    async def room(request: Request) -> Response:
        latest = feed.latest
        if latest is None:
            return HTMLResponse(waiting(language), 503, _LATER)
        html = page(
            room_board(latest.view, language),
            language=language,
            as_of=f"{now():%H:%M:%S}",
            t=feed.clock(),
            frame="room",
            found=_found(request, settings),
            event=_event(settings),
            words=settings.words,
        )
        return HTMLResponse(html)

    async def over(request: Request) -> Response:
        place, latest = request.query_params.get("place", PLACES[0]), feed.latest
        if place not in PLACES:
            return PlainTextResponse("place is bottom or top.\n", 400)
        if latest is None:
            return HTMLResponse(render("overlay_waiting.html", language), 503, _LATER)
        html = page(
            overlay(latest.view, language),
            language=language,
            as_of=f"{now():%H:%M:%S}",
            t=feed.clock(),
            place=place,
        )
        return HTMLResponse(html)

    async def find(request: Request) -> Response:
        latest = feed.latest
        return HTMLResponse(
            find_page(_found(request, settings), settings, language, latest.view.game if latest else "", judged=judged)
        )

    async def check(_: Request) -> Response:
        latest = feed.latest
        return HTMLResponse(check_page(latest.view if latest else None, language))

    return [Route("/room", room), Route("/overlay", over), Route("/find", find), Route("/check", check)]


def find_page(found: Sequence[str], pages: Pages, language: str, game: str = "", *, judged: bool = False) -> str:
    """Return the page that says where the pages are, with a code for each, and whose `game` is played, if one is.

    `judged`: the judge's console is among them.
    """
    return render(
        "find.html",
        language,
        found=found,
        judged=judged,
        event=_event(pages),
        words=pages.words,
        credit=f"{game_name(game, language)}. {credit(game, language)}" if game else "",
    )


def _event(pages: Pages) -> str:
    return " · ".join(filter(None, (pages.event, pages.table)))


def _found(request: Request, pages: Pages) -> list[str]:
    """Return where the pages are found, by the machine's own end of the line on which somebody asks."""
    asked, port = request.scope.get("server") or ("", 80)
    return addresses(pages, port or 80, request.url.scheme, asked)
