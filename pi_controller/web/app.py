"""The web application: live page, help, event stream, view as JSON, health check and static files."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.display.game_display import credit, game_name, get_show
from pi_controller.display.i18n import catalogue
from pi_controller.help import contents
from pi_controller.referee.settings import PRESETS, RefereeSettings
from pi_controller.rules.base import Game
from pi_controller.rules.options import Choice
from pi_controller.web.address import PageSettings, list_urls
from pi_controller.web.api import Health
from pi_controller.web.feed import BOARD_MAKERS, HEARTBEAT_S, BoardMaker, Feed, stream
from pi_controller.web.limits import CSP, HEADERS, ConnectionLimits, RequestFilter, client_network
from pi_controller.web.live_page import check_page, make_board, overlay, page
from pi_controller.web.live_page import room as room_board
from pi_controller.web.requests import RequestError, client_ip, error_response, json_route
from pi_controller.web.templates import render

# Routes of the public pages: live page, room, overlay, addresses, rules, and the check of a commitment.
#
# They show only the public view and accept only GET.

Answer = Callable[[Request], Awaitable[Response]]
PLACES = ("bottom", "top")
"""The overlay's positions on the picture, given as `place` in its URL."""
_LATER_S = 2.0
_LATER = {"retry-after": f"{_LATER_S:.0f}"}


def public_routes(
    feed: Feed, *, language: str, now: Callable[[], datetime], settings: PageSettings, judged: bool, ruled: bool
) -> Sequence[Route]:
    """Return the routes `/`, `/room`, `/overlay`, `/find` and `/check`; `now` is the wall clock for "as of".

    `judged`: judges can sign in at `/judge`, and `/find` links it; `ruled`: the same for the rules at `/rules`.
    """

    def board_response(make: BoardMaker, waiting: str = "waiting.html", **values: Any) -> Response:
        latest = feed.latest
        if latest is None:
            return HTMLResponse(render(waiting, language), 503, _LATER)
        board, as_of = make(latest.view, language), f"{now():%H:%M:%S}"
        shown = page(board, language=language, as_of=as_of, t=feed.clock(), host=settings.host, **values)
        return HTMLResponse(shown)

    async def live(_: Request) -> Response:
        return board_response(make_board, ruled=ruled)

    async def room(request: Request) -> Response:
        values = {"found": _page_urls(request, settings), "event": _event(settings), "words": settings.words}
        return board_response(room_board, frame="room", **values)

    async def overlay_page(request: Request) -> Response:
        place = request.query_params.get("place", PLACES[0])
        if place not in PLACES:
            return PlainTextResponse("place is bottom or top.\n", 400)
        return board_response(overlay, "overlay_waiting.html", place=place)

    async def find(request: Request) -> Response:
        urls, game = _page_urls(request, settings), feed.latest.view.game if feed.latest else ""
        return HTMLResponse(find_page(urls, settings, language, game, judged=judged, ruled=ruled))

    async def check(_: Request) -> Response:
        return HTMLResponse(check_page(feed.latest.view if feed.latest else None, language))

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


def _readable(answer: Answer, sites: Sequence[str]) -> Answer:
    """Return `answer` with data that scripts of `sites` may read; with none it is unchanged."""
    if not sites:
        return answer

    async def answer_readable(request: Request) -> Response:
        response = await answer(request)
        response.headers["vary"] = "origin"
        origin = request.headers.get("origin", "")
        if origin in sites:
            response.headers["access-control-allow-origin"] = origin
            response.headers["cross-origin-resource-policy"] = "cross-origin"
        return response

    return answer_readable


def rules_route(in_force: Callable[[], tuple[Game[Any], RefereeSettings]], language: str = "en") -> Route:
    """Return the route `/rules`; `in_force` returns the table's game and referee settings."""

    async def rules(_: Request) -> Response:
        return HTMLResponse(rules_page(*in_force(), language))

    return Route("/rules", rules)


def rules_page(game: Game[Any], referee: RefereeSettings, language: str = "en") -> str:
    """Return the page of the rules in force: source, options with their values, and customs of the game."""
    text, show = catalogue(language).gettext, get_show(game.name)
    options = [
        {
            "name": option.name.replace("_", " "),
            "value": format_value(game.settings[option.name], text),
            "about": option.about,
            "source": option.sources.get(str(game.settings[option.name]), "") if isinstance(option, Choice) else "",
            "changed": game.settings[option.name] != option.default,
        }
        for option in type(game).options
    ]
    return render(
        "rules.html",
        language,
        game=game_name(game.name, language),
        gist=text(show.gist) if show.gist else "",
        whose=text(show.whose) if show.whose else "",
        source=type(game).source,
        version=type(game).version,
        options=options,
        customs=[text(custom) for custom in show.customs],
        preset=PRESETS[referee.preset] if game.hidden is not None else "",
        beads=referee.beads if game.hidden is not None else "",
        nearest=", ".join(map(str, referee.nearest)),
    )


def format_value(value: object, text: Callable[[str], str]) -> str:
    """Format an option's value for people: yes or no, a dash for none, spaces for underscores."""
    if isinstance(value, bool):
        return text("yes") if value else text("no")
    return "–" if value is None else str(value).replace("_", " ")


def find_page(
    found: Sequence[str],
    pages: PageSettings,
    language: str,
    game: str = "",
    *,
    judged: bool = False,
    ruled: bool = False,
) -> str:
    """Return the page with the pages' URLs and QR codes, and the credits of the current `game`, if there is one.

    `judged` adds the judge's console, `ruled` the page of the rules.
    """
    return render(
        "find.html",
        language,
        found=found,
        judged=judged,
        ruled=ruled,
        event=_event(pages),
        host=pages.host,
        words=pages.words,
        credit=f"{game_name(game, language)}. {credit(game, language)}" if game else "",
    )


def _event(pages: PageSettings) -> str:
    return " · ".join(filter(None, (pages.event, pages.table)))


def _page_urls(request: Request, pages: PageSettings) -> list[str]:
    asked, port = request.scope.get("server") or ("", 80)
    return list_urls(pages, port or 80, request.url.scheme, asked)


# The help at `/help`: its Markdown as pages of the table, with a search that needs neither scripts nor a network.

MAX_QUERY_CHARS = 200
_HELP_HEADERS = {"content-security-policy": CSP.replace("form-action 'none'", "form-action 'self'")}
"""The search is a form that asks this server; no other page has a form."""


def help_routes() -> list[Route]:
    """Return the routes of the help's pages, its pictures and its search."""
    show, search = _in_thread(_show_help), _in_thread(_search_help)
    return [Route("/help", show), Route("/help/search", search), Route("/help/{path:path}", show)]


def _in_thread(answer: Callable[[Request], Response]) -> Answer:
    """Return `answer` in a thread: the first search takes half a second."""

    async def answer_in_thread(request: Request) -> Response:
        return await asyncio.to_thread(answer, request)

    return answer_in_thread


def _show_help(request: Request) -> Response:
    path = request.path_params.get("path", "")
    if path in contents.list_pages():
        return _help_page(path, contents.list_pages()[path].title, content=contents.render_page(path))
    if path in contents.list_pictures():
        file = contents.list_pictures()[path]
        return Response(file.read_bytes(), media_type=contents.PICTURES[file.suffix])
    raise HTTPException(404)


def _search_help(request: Request) -> Response:
    query = request.query_params.get("q", "")[:MAX_QUERY_CHARS]
    return _help_page(None, "Search", query=query, results=contents.search(query))


def _help_page(address: str | None, title: str, **values: Any) -> HTMLResponse:
    values = {"query": "", "results": [], "content": "", **values}
    page = render("help.html", title=title, address=address, sections=contents.list_sections(), **values)
    return HTMLResponse(page, headers=_HELP_HEADERS)


_STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_KEPT = {"cache-control": "public, max-age=604800"}
"""Header of a font: it changes with a new version alone, so that a phone loads it once."""
MAX_WATCHERS = 1024
"""Maximum open streams; beyond, the oldest stream of the client with the most is closed."""


def file_response(content: bytes, media_type: str) -> Response:
    """Return a static file; browsers may keep a font."""
    return Response(content, media_type=media_type, headers=_KEPT if media_type == "font/woff2" else None)


def make_app(
    routes: Sequence[Route], more: Sequence[Route], files: Mapping[str, tuple[bytes, str]], hosts: Iterable[str]
) -> Starlette:
    """Return an application of `routes` and `more`, behind the request filter; only `more` may accept a POST.

    `files` are served under `/static`, each with its media type.
    """

    async def static(request: Request) -> Response:
        content, media_type = files.get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return file_response(content, media_type)

    async def respond_error(_: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return PlainTextResponse("Page not found.\n", error.status_code, error.headers)
        # the middleware does not see this response
        headers = {name.decode(): value.decode() for name, value in HEADERS}
        return PlainTextResponse("That did not work.\n", 500, headers)

    posts = tuple(route.path for route in more if "POST" in (route.methods or ()))
    app = Starlette(
        routes=[*routes, Route("/static/{name}", static), *help_routes(), *more],
        middleware=[Middleware(RequestFilter, hosts=tuple(hosts), posts=posts)],
        exception_handlers={HTTPException: respond_error, Exception: respond_error},
    )
    app.router.redirect_slashes = False
    return app


def create_app(
    feed: Feed,
    *,
    hosts: Iterable[str] = (),
    language: str = "en",
    heartbeat_s: float = HEARTBEAT_S,
    max_watchers: int = MAX_WATCHERS,
    now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    more: Sequence[Route] = (),
    pages: PageSettings | None = None,
) -> Starlette:
    """Return the application over `feed`. `hosts` are accepted host names besides `localhost` and addresses.

    `language` is a language code, `now` the wall clock for "as of", `more` are other routes; only these may accept a
    POST. `pages` are the organiser's settings of the public pages. Raises `SettingsError` for an unknown language.
    """
    catalogue(language)
    pages = pages or PageSettings()
    files = {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in _STATIC.iterdir() if path.suffix in _TYPES}
    files |= pages.host.static_files() if pages.host else {}
    numbers = itertools.count()
    watching = ConnectionLimits(max_watchers)

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        shape = request.query_params.get("page", "")
        if shape not in BOARD_MAKERS:
            raise RequestError("missing", "there is no such page", "leave it out, or see /openapi.json")
        # a page that opens a new stream cannot set the header, so it sends the last id in the URL
        last_id = request.headers.get("last-event-id") or request.query_params.get("last")
        place = client_network(client_ip(request))
        body = stream(feed, language, last_id, next(numbers), heartbeat_s, shape, place=place, shares=watching)
        return StreamingResponse(body, media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def view_json(request: Request) -> Response:
        latest = feed.latest
        if latest is None:
            return error_response(
                request, RequestError("waiting", "there is no view yet", "try again in a moment", _LATER_S)
            )
        return Response(msgspec.json.encode(latest.view), media_type="application/json")

    async def healthz(_: Request) -> Response:
        latest = feed.latest
        well = latest is not None and latest.view.phase != "halted"
        state: Health = {
            "ok": well,
            "seq": latest.view.seq if latest else None,
            "phase": latest.view.phase if latest else None,
            "link": latest.view.link if latest else None,
            "watchers": feed.watchers,
        }
        # a kiosk's waiting page on the disk has no origin: it may see that this answers, not what
        headers = {"cross-origin-resource-policy": "cross-origin"}
        return Response(msgspec.json.encode(state), 200 if well else 503, headers, "application/json")

    @cache
    def encode_openapi() -> bytes:
        from pi_controller.web.openapi import document  # noqa: PLC0415 - loaded at the first request

        return msgspec.json.encode(document([route.path for route in (*routes, *more)]))

    async def openapi_json(_: Request) -> Response:
        return Response(encode_openapi(), media_type="application/json")

    public = public_routes(
        feed,
        language=language,
        now=now,
        settings=pages,
        judged=any(route.path == "/judge" for route in more),
        ruled=any(route.path == "/rules" for route in more),
    )
    routes = [
        *public,
        json_route("/events", events),
        Route("/view.json", _readable(view_json, pages.embed)),
        Route("/healthz", healthz),
        Route("/openapi.json", openapi_json),
    ]
    return make_app(routes, more, files, hosts)
