"""OpenAPI 3.1 document of the table's API, generated from the types that the server sends and accepts."""

import re
from collections.abc import Collection, Mapping
from inspect import cleandoc
from typing import Any, NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.table.view import View
from pi_controller.web import api, requests
from pi_controller.web.frames import FRAMES

JSON, EVENTS, SVG = "application/json", "text/event-stream", "image/svg+xml"
_REF = "#/components/schemas/{name}"


class Operation(NamedTuple):
    """One operation: it returns `answers` as `media`, and a POST takes the JSON of `takes`.

    `unwell` is the type of the answer with status 503, if that is no `ErrorResponse`.
    """

    path: str
    what: str
    answers: Any
    takes: Any = None
    signed_in: bool = True
    media: str = JSON
    parameters: tuple[dict[str, Any], ...] = ()
    unwell: Any = requests.ErrorResponse

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "get" if self.takes is None else "post"


def _parameter(name: str, where: str, what: str, *, required: bool = False, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "description": what, "required": required, "schema": schema}


_ORIGIN = _parameter("Origin", "header", "the origin of the pages, as a browser sends it", required=True, type="string")
_EVENTS_PARAMETERS = (
    _parameter("page", "query", "the page whose regions are included", type="string", enum=[*FRAMES], default=""),
    _parameter("last", "query", "the last id, for clients that cannot set the header", type="string"),
    _parameter("Last-Event-ID", "header", "the id of the last event", type="string"),
)
_HIT_NUMBER = (_parameter("n", "path", "the hit's number", required=True, type="integer", minimum=0),)

OPERATIONS = (
    Operation("/view.json", "The public view of the table", View, signed_in=False),
    Operation(
        "/events",
        "The view whenever it changes: events `view`, each with its id, and `beat` every 15 s with the table's clock "
        "(s). A stream begun with the id of the newest event waits for the next one; missed events are not sent again",
        api.EventContent,
        signed_in=False,
        media=EVENTS,
        parameters=_EVENTS_PARAMETERS,
    ),
    Operation("/healthz", "Whether the table works", api.ServerHealth, signed_in=False, unwell=api.ServerHealth),
    Operation("/openapi.json", "This description", dict[str, Any], signed_in=False),
    Operation(
        "/judge/sign-in",
        "Sign in: the session is in the cookie. After some wrong PINs there is a wait that doubles",
        api.SignedInAnswer,
        api.SignIn,
        signed_in=False,
    ),
    Operation("/judge/sign-out", "End the session", api.Done, api.SignOut, signed_in=False),
    Operation("/judge/state.json", "The whole state of the console", api.StateContent),
    Operation(
        "/judge/events",
        "The console's state whenever it changes: events `judge`, and `beat` while nothing changes, until the session "
        "ends",
        api.StateContent,
        media=EVENTS,
    ),
    Operation("/judge/command", "Send a command to the table", api.CommandDone, api.CommandSent),
    Operation("/judge/hits.json", "The recorded hits", api.KeptHits),
    Operation("/judge/hit/{n}.svg", "The signals of the pads around a hit", str, media=SVG, parameters=_HIT_NUMBER),
    Operation("/judge/people", "The users; for the head judge", api.PeopleAnswer),
    Operation("/judge/people", "Change the users; for the head judge", api.PeopleChanged, api.PeopleChange),
)
"""All operations for programs; a server has only those of its routes."""


def document(routes: Collection[str]) -> dict[str, Any]:
    """Return the OpenAPI document of a server with `routes`, given in the router's notation."""
    plain = {re.sub(r":\w+(?=})", "", path) for path in routes}
    operations = [operation for operation in OPERATIONS if operation.path in plain]
    kinds = [requests.ErrorResponse, *(kind for one in operations for kind in (one.answers, one.takes, one.unwell))]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    for schema in components.values():
        if "description" in schema:
            schema["description"] = cleandoc(schema["description"])
    by_kind = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, Any] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method] = _describe_operation(one, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Moccasin Mat",
            "version": __version__,
            "summary": "One table: its public pages, and the judges' console if it is enabled.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": "mat_session"}},
        },
    }


def _describe_operation(operation: Operation, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    def response(about: str, kind: Any, media: str = JSON) -> dict[str, Any]:
        schema = schemas[kind]
        if media == EVENTS:
            schema = {"type": "string", "contentMediaType": JSON, "contentSchema": schema}
        return {"description": about, "content": {media: {"schema": schema}}}

    found: dict[str, Any] = {
        "summary": operation.what,
        "operationId": "_".join([operation.method, *re.findall(r"\w+", operation.path)]),
        "responses": {
            "200": response("Done.", operation.answers, operation.media),
            "4XX": response("Refused; nothing was changed.", requests.ErrorResponse),
            "503": response("Not available at this moment.", operation.unwell),
        },
    }
    if "{" in operation.path:  # an unknown route has a plain text 404
        found["responses"]["4XX"]["content"]["text/plain"] = {"schema": {"type": "string"}}
    parameters = [*operation.parameters, *([_ORIGIN] if operation.takes else ())]
    if parameters:
        found["parameters"] = parameters
    if operation.takes:
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": schemas[operation.takes]}}}
    if operation.signed_in:
        found["security"] = [{"session": []}]
    return found
