"""The walk on a page: the same steps, words and bars as in the terminal, for whoever kneels at the mat with a phone.

Nothing can be sent from the page: the walk goes on by what the mat feels.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.calibration.terminal import BAR_MARKS, MARKS, SAID
from pi_controller.web.feed import Feed
from pi_controller.web.middleware import HEADERS, RequestFilter
from pi_controller.web.server import WebServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from pi_controller.calibration.view import Bar, StepView, WalkView

LOOK_S = 0.1
"""How often a watcher looks for a newer picture."""
BEAT_S = 10.0
MAX_WATCHERS = 16
_STATIC = {
    "style.css": ("pi_controller.web", "text/css"),
    "icon.svg": ("pi_controller.web", "image/svg+xml"),
    "calibrate.css": ("pi_controller.calibration", "text/css"),
    "calibrate.js": ("pi_controller.calibration", "text/javascript"),
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Calibration</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/style.css">
<link rel="stylesheet" href="/static/calibrate.css">
<noscript><meta http-equiv="refresh" content="2"></noscript>
<script type="module" src="/static/calibrate.js"></script>
</head>
<body class="calibration">
<header><h1>Calibration</h1><p class="badge" id="badge" data-value="live"><span class="when-live">Live</span>\
<span class="when-stale">Not live</span></p></header>
<main id="walk">WALK</main>
<p class="unseen" role="status" id="said">SAID</p>
</body>
</html>
"""


class WalkPage:
    """Serves the newest view at `host`:`port`. `publish` may be called from any thread."""

    def __init__(self, host: str, port: int) -> None:
        self._bell = Feed()  # rings when the server stops
        self._latest: tuple[int, WalkView | None] = (0, None)
        self._server = WebServer(self._bell, host, port, app=self._app)

    @property
    def url(self) -> str:
        """Where the page is, for this machine."""
        return self._server.url

    def start(self) -> None:
        """Listen and serve; raises `WebError`."""
        self._server.start()

    def stop(self) -> None:
        """End all streams and stop listening. Stopping twice is fine."""
        self._server.stop()

    def publish(self, view: WalkView) -> None:
        """Make `view` the newest."""
        number, latest = self._latest
        if view != latest:
            self._latest = (number + 1, view)

    def _app(self, hosts: list[str]) -> Starlette:
        static = {
            name: (files(package).joinpath("static", name).read_bytes(), kind)
            for name, (package, kind) in _STATIC.items()
        }

        async def page(_: Request) -> Response:
            view = self._latest[1]
            walk, said = ("", "") if view is None else (markup(view), escape(view.ask))
            return HTMLResponse(_PAGE.replace("WALK", walk, 1).replace("SAID", said, 1))

        async def events(request: Request) -> Response:
            if request.method == "HEAD":
                return Response(media_type="text/event-stream")
            if self._bell.watchers >= MAX_WATCHERS:
                return PlainTextResponse("Too many are watching.\n", 503, {"retry-after": "10"})
            return StreamingResponse(self._stream(), media_type="text/event-stream")

        async def file(request: Request) -> Response:
            content, kind = static.get(request.path_params["name"], (None, ""))
            if content is None:
                raise HTTPException(404)
            return Response(content, media_type=kind)

        async def failed(_: Request, error: Exception) -> Response:
            if isinstance(error, HTTPException):
                return PlainTextResponse("There is nothing here.\n", error.status_code)
            headers = {name.decode(): value.decode() for name, value in HEADERS}  # this answer bypasses the guard
            return PlainTextResponse("That did not work.\n", 500, headers)

        return Starlette(
            routes=[Route("/", page), Route("/events", events), Route("/static/{name}", file)],
            middleware=[Middleware(RequestFilter, hosts=tuple(hosts))],
            exception_handlers={HTTPException: failed, Exception: failed},
        )

    async def _stream(self) -> AsyncIterator[bytes]:
        """Yield each newer picture until the server stops; a beat when nothing is new for a while."""
        watcher = self._bell.subscribe()
        seen, idle = 0, 0.0
        try:
            yield b"retry: 1000\n\n"
            while not watcher.ended:
                number, view = self._latest
                if view is not None and number != seen:
                    seen, idle = number, 0.0
                    told = msgspec.json.encode({"html": markup(view), "said": view.ask, "over": view.over})
                    yield b"event: walk\ndata: " + told + b"\n\n"
                elif (idle := idle + LOOK_S) >= BEAT_S:
                    idle = 0.0
                    yield b"event: beat\ndata: -\n\n"
                await watcher.next(LOOK_S)
        finally:
            watcher.close()


def markup(view: WalkView) -> str:
    """Return a view as HTML: what to do now, the bars, the steps. All texts are escaped."""
    parts = [f'<section class="now"><p class="sentence">{escape(view.ask)}</p>']
    parts.append(f'<p class="note">{escape(view.note)}</p></section>')
    if view.bars:
        parts.append(f'<section class="bars">{"".join(map(_bar, view.bars))}</section>')
    if view.saved:
        parts.append(f'<p class="saved">kept as {escape(view.saved)}</p>')
    parts.append(f'<ol class="steps">{"".join(map(_step, view.steps))}</ol>')
    return "".join(parts)


def _bar(bar: Bar) -> str:
    width = round(100 * min(max(bar.share, 0.0), 1.0))
    # a width as an attribute of SVG: the content policy lets no style through
    return (
        f'<div class="bar" data-value="{bar.state}"><span class="mark" aria-hidden="true">{BAR_MARKS[bar.state]}</span>'
        f'<span class="what">{escape(bar.label)}</span>'
        f'<svg aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 10">'
        f'<rect width="{width}" height="10"/></svg><span class="said">{escape(bar.text)}</span></div>'
    )


def _step(step: StepView) -> str:
    lines = "".join(f"<p>{escape(found)}</p>" for found in step.found if step.state == "passed")
    lines += "".join(
        f'<p class="wrong">{escape(wrong.what)}</p><p class="todo">{escape(wrong.todo)}</p>' for wrong in step.wrong
    )
    current = ' aria-current="step"' if step.state == "now" else ""
    return (
        f'<li data-value="{step.state}"{current}><span class="mark" aria-hidden="true">{MARKS[step.state]}</span>'
        f'<h2>{escape(step.title)}</h2><span class="outcome">{SAID[step.state]}</span><div>{lines}</div></li>'
    )
