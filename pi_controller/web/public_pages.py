"""The pages for everybody besides the live page: the room's board, a stream's overlay, where to find them, the check.

They show what the public view says and nothing else, and take no more than a GET.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from pi_controller.show.i18n import catalogue
from pi_controller.show.words import credit, game_name
from pi_controller.web.address import Pages, addresses, picture
from pi_controller.web.check_page import check_page
from pi_controller.web.page import document, fill, page, waiting
from pi_controller.web.page_content import board
from pi_controller.web.strip import overlay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from starlette.requests import Request

    from pi_controller.web.feed import Feed

PLACES = ("bottom", "top")
"""Where the overlay stands on the picture, by `place` in its address."""
_LATER = {"retry-after": "2"}


def public_routes(
    feed: Feed, *, language: str, now: Callable[[], datetime], pages: Pages | None = None
) -> Sequence[Route]:
    """Return the routes `/room`, `/overlay`, `/find` and `/check`; `now` is the wall clock for "as of"."""
    told = pages or Pages()

    async def room(request: Request) -> Response:
        latest = feed.latest
        if latest is None:
            return HTMLResponse(waiting(language), 503, _LATER)
        html = page(
            board(latest.view, language),
            language=language,
            as_of=f"{now():%H:%M:%S}",
            t=feed.clock(),
            frame="room",
            pieces={
                "find": _to_phones(_found(request, told), language),
                "event": escape(" · ".join(filter(None, (told.event, told.table)))),
                "words": escape(told.words),
            },
        )
        return HTMLResponse(html)

    async def over(request: Request) -> Response:
        place, latest = request.query_params.get("place", PLACES[0]), feed.latest
        if place not in PLACES:
            return PlainTextResponse("place is bottom or top.\n", 400)
        if latest is None:
            return HTMLResponse(document("overlay_waiting"), 503, _LATER)
        html = page(
            overlay(latest.view, language),
            language=language,
            as_of=f"{now():%H:%M:%S}",
            t=feed.clock(),
            frame="overlay",
        )
        return HTMLResponse(html.replace("PLACE", place, 1))

    async def find(request: Request) -> Response:
        latest = feed.latest
        return HTMLResponse(find_page(_found(request, told), told, language, latest.view.game if latest else ""))

    async def check(_: Request) -> Response:
        latest = feed.latest
        return HTMLResponse(check_page(latest.view if latest else None, language))

    return [Route("/room", room), Route("/overlay", over), Route("/find", find), Route("/check", check)]


def find_page(found: Sequence[str], told: Pages, language: str, game: str = "") -> str:
    """Return the page that says where the pages are, with a code for each, and whose `game` is played, if one is."""
    text = catalogue(language).gettext
    if found:
        lead = text("Point a phone’s camera at a code. The phone must be on the same network as this table.")
    else:
        lead = text(
            "This table serves its pages to its own machine only. To let phones in, set host to 0.0.0.0 under [web]."
        )
    kinds = (
        ("", text("For phones"), text("The game as it is played.")),
        ("room", text("For the room"), text("The scoreboard for a projector or a television.")),
        ("check", text("Check a seal"), text("Anyone can check that the table fixed the place before the hit.")),
        ("overlay", text("For a stream"), text("A strip on a clear ground, 1920 × 1080, for a browser source.")),
    )
    places = ""
    for path, title, what in kinds:
        urls = [f"{one}/{path}" for one in found] or [f"/{path}"]
        code = picture(urls[0], text("Code of {url}").format(url=urls[0])) if found else ""
        links = "".join(f'<li><a href="{escape(url)}">{escape(url)}</a></li>' for url in urls)
        places += (
            f'<section class="place"><h2>{escape(title)}</h2>{code}<p>{escape(what)}</p><ul>{links}</ul></section>'
        )
    texts = {
        "title": text("Find this table"),
        "event": " · ".join(filter(None, (told.event, told.table))),
        "lead": lead,
        "words": told.words,
        "credit": f"{game_name(game, language)}. {credit(game, language)}" if game else "",
        "back": text("Back to the game"),
    }
    return fill(document("find"), texts, {"places": places}, language)


def _found(request: Request, told: Pages) -> list[str]:
    """Return where the pages are found, by the machine's own end of the line on which somebody asks."""
    asked, port = request.scope.get("server") or ("", 80)
    return addresses(told, port or 80, request.url.scheme, asked)


def _to_phones(found: Sequence[str], language: str) -> str:
    if not found:
        return ""
    text, url = catalogue(language).gettext, f"{found[0]}/"
    said = "".join(f"<li>{escape(one.partition('://')[2])}</li>" for one in found)
    return f"{picture(url, text('Code of {url}').format(url=url))}<p>{escape(text('On your phone'))}</p><ul>{said}</ul>"
