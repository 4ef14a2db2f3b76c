"""The application of a table: its pages, feed and limits as one ASGI application."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.display.i18n import Translator
from pi_controller.table.view import View
from pi_controller.web.address import PageSettings
from pi_controller.web.api import ServerHealth
from pi_controller.web.connection_limits import ConnectionLimits, client_network
from pi_controller.web.event_stream import HEARTBEAT_S, event, stream
from pi_controller.web.feed import Feed
from pi_controller.web.frames import FRAMES
from pi_controller.web.help_pages import help_routes
from pi_controller.web.limits import HEADERS, RequestFilter
from pi_controller.web.public_pages import LATER_S, Answer, public_routes
from pi_controller.web.requests import (
    RequestError,
    client_ip,
    compress,
    error_response,
    json_route,
    refusal_page,
)

_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
_COMPRESSED = {"text/css", "text/javascript", "image/svg+xml"}
_KEPT = {"cache-control": "public, max-age=604800"}
"""Header of a font: it changes with a new version alone, so that a phone loads it once."""
MAX_WATCHERS = 1024
"""Maximum open streams; beyond, the oldest stream of the client with the most is closed."""


@cache
def static_files(package: str = "web") -> Mapping[str, tuple[bytes, str]]:
    """Return the files in `static/` of the pages and of another `package`: content and media type by name."""
    folders = [files(f"pi_controller.{name}").joinpath("static") for name in ("web", package)]
    return {
        path.name: (path.read_bytes(), _TYPES[suffix])
        for folder in folders
        for path in folder.iterdir()
        if (suffix := Path(path.name).suffix) in _TYPES
    }


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


async def respond_error(request: Request, error: Exception) -> Response:
    """Return the response to a missing page, or to an `error` of the program, in the application's language."""
    text = request.app.state.tr.text
    if isinstance(error, HTTPException):
        message, status, headers = text("Page not found."), error.status_code, error.headers
    else:  # the middleware does not see this response
        message, status, headers = text("That did not work."), 500, {key.decode(): one.decode() for key, one in HEADERS}
    page = refusal_page(request, status, message, headers=headers)
    return page or PlainTextResponse(f"{message}\n", status, headers)


def make_app(
    routes: Sequence[Route],
    static: Mapping[str, tuple[bytes, str]],
    hosts: Iterable[str],
    tr: Translator,
    setting: str = "[web] hosts",
) -> Starlette:
    """Return an application of `routes` and the help, behind the request filter.

    The files `static` are served under `/static`, each with its media type; browsers may keep a font. Refusals are in
    the language of `tr`, and name the `setting` that allows another host.
    """

    async def serve_file(request: Request) -> Response:
        content, media_type = static.get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        if media_type in _COMPRESSED:
            return compress(request, content, media_type)
        return Response(content, media_type=media_type, headers=_KEPT if media_type == "font/woff2" else None)

    posts = tuple(route.path for route in routes if "POST" in (route.methods or ()))
    app = Starlette(
        routes=[*routes, Route("/static/{name}", serve_file), *help_routes()],
        middleware=[Middleware(RequestFilter, hosts=tuple(hosts), posts=posts, setting=setting)],
        exception_handlers={HTTPException: respond_error, Exception: respond_error},
    )
    app.router.redirect_slashes = False
    app.state.tr = tr
    return app


def create_app(
    feed: Feed[View],
    *,
    hosts: Iterable[str] = (),
    tr: Translator,
    heartbeat_s: float = HEARTBEAT_S,
    max_watchers: int = MAX_WATCHERS,
    now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    more: Sequence[Route] = (),
    pages: PageSettings | None = None,
) -> Starlette:
    """Return the application over `feed`. `hosts` are accepted host names besides `localhost` and addresses.

    `tr` gives the pages' language, `now` the wall clock for "as of". `more` are other routes. `pages` are the
    organiser's settings of the public pages.
    """
    pages = pages or PageSettings()
    static = {**static_files(), **(pages.host.static_files() if pages.host else {})}
    numbers = itertools.count()
    watching = ConnectionLimits(max_watchers)

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        frame = request.query_params.get("page", "")
        if frame not in FRAMES:
            raise RequestError("missing", "there is no such page", "leave it out, or see /openapi.json")
        # a page that opens a new stream cannot set the header, so it sends the last id in the URL
        last_id = request.headers.get("last-event-id") or request.query_params.get("last")
        place = client_network(client_ip(request))
        write = partial(event, tr=tr, frame=frame)
        body = stream(feed, write, last_id, next(numbers), heartbeat_s, place=place, shares=watching)
        return StreamingResponse(body, media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def view_json(request: Request) -> Response:
        latest = feed.latest
        if latest is None:
            return error_response(
                request, RequestError("waiting", "there is no view yet", "try again in a moment", LATER_S)
            )
        return Response(msgspec.json.encode(latest.content), media_type="application/json")

    async def healthz(_: Request) -> Response:
        latest = feed.latest
        well = latest is not None and latest.content.phase != "halted"
        state: ServerHealth = {
            "ok": well,
            "seq": latest.content.seq if latest else None,
            "phase": latest.content.phase if latest else None,
            "link": latest.content.link if latest else None,
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
        tr=tr,
        now=now,
        settings=pages,
        more={route.path for route in more},
    )
    routes = [
        *public,
        json_route("/events", events),
        Route("/view.json", _readable(view_json, pages.embed)),
        Route("/healthz", healthz),
        Route("/openapi.json", openapi_json),
    ]
    return make_app([*routes, *more], static, hosts, tr)
