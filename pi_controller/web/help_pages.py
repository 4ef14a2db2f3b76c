"""The help at `/help`: its Markdown as pages of the table, with a search that needs neither scripts nor a network."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pi_controller.display.i18n import ENGLISH
from pi_controller.help import contents
from pi_controller.help.search import search
from pi_controller.web.limits import CSP
from pi_controller.web.public_pages import Answer
from pi_controller.web.templates import render

MAX_QUERY_CHARS = 200
_HELP_HEADERS = {"content-security-policy": CSP.replace("form-action 'none'", "form-action 'self'")}
"""The search is a form that asks this server; no other page has a form."""


def help_routes() -> list[Route]:
    """Return the routes of the help's pages, its pictures and its search."""
    show = _in_thread(_show_help)
    return [Route("/help", show), Route("/help/search", _in_thread(_search_help)), Route("/help/{path:path}", show)]


def _in_thread(answer: Callable[[Request], Response]) -> Answer:
    """Return `answer` in a thread: the first search takes half a second."""

    async def answer_in_thread(request: Request) -> Response:
        return await asyncio.to_thread(answer, request)

    return answer_in_thread


def _show_help(request: Request) -> Response:
    path = request.path_params.get("path", "")
    if path in contents.list_pages():
        return _help_page(path, contents.list_pages()[path].title, content=contents.render_page(path))
    if path in contents.list_files():
        file = contents.list_files()[path]
        return Response(file.read_bytes(), media_type=contents.FILES[file.suffix])
    raise HTTPException(404)


def _search_help(request: Request) -> Response:
    query = request.query_params.get("q", "")[:MAX_QUERY_CHARS]
    return _help_page(None, "Search", query=query, results=search(query))


def _help_page(address: str | None, title: str, **values: Any) -> HTMLResponse:
    values = {"query": "", "results": [], "content": "", **values}
    page = render("help.html", ENGLISH, title=title, address=address, sections=contents.list_sections(), **values)
    return HTMLResponse(page, headers=_HELP_HEADERS)
