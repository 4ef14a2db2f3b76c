"""OpenAPI 3.1 document of the table's API, generated from the types that the server sends and accepts."""

import re
from collections.abc import Collection, Mapping
from inspect import cleandoc
from itertools import chain
from typing import Any, NamedTuple, get_args

import msgspec

from pi_controller import __version__
from pi_controller.referee.judge import JudgeCommand
from pi_controller.table.view import View
from pi_controller.web import requests as api
from pi_controller.web.feed import BOARD_MAKERS

JSON, EVENTS = "application/json", "text/event-stream"
_REF = "#/components/schemas/{name}"
_BODY_REFUSED = (400, 403, 408, 413, 415)
"""Statuses of a request whose body is refused before it is read."""
_LATER = 503


class Answer(NamedTuple):
    """The response of an operation: a `kind` of `web.requests`, or text of type `media`."""

    what: str
    kind: Any = None
    media: str = JSON


class Operation(NamedTuple):
    """One operation: `refused` are the statuses with an `ErrorResponse`, `takes` the types of the body of a POST."""

    path: str
    what: str
    answer: Answer
    refused: tuple[int, ...] = ()
    takes: tuple[Any, ...] = ()
    signed_in: bool = False
    parameters: tuple[dict[str, Any], ...] = ()
    others: dict[int, Answer] = {}  # noqa: RUF012 - never changed

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "post" if self.takes else "get"


def _for_judges(path: str, what: str, answer: Answer, *refused: int, **more: Any) -> Operation:
    return Operation(path, what, answer, (401, 403, *refused), signed_in=True, **more)


def _parameter(name: str, where: str, what: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "description": what, "required": where == "path", "schema": schema}


_ORIGIN = {
    **_parameter(
        "Origin", "header", "the origin of the pages, as a browser sends it; any other is refused", type="string"
    ),
    "required": True,
}
_EVENTS_ANSWER = Answer(
    "Events `view`, each with its id, and `beat` every 15 s with the table's clock (s). A stream begun with the id of "
    "the newest event waits for the next one; missed events are not sent again.",
    api.EventContent,
    EVENTS,
)
_EVENTS_PARAMETERS = (
    _parameter("page", "query", "the page whose texts are included", type="string", enum=[*BOARD_MAKERS], default=""),
    _parameter("last", "query", "the last id, for clients that cannot set the header", type="string"),
    _parameter("Last-Event-ID", "header", "the id of the last event", type="string"),
)
_JUDGE_EVENTS_ANSWER = Answer(
    "Events `judge`, and `beat` while nothing changes, until the session ends.", api.StateContent, EVENTS
)
_NO_VIEW = {_LATER: Answer("There is no view yet.", api.NoView)}
_NO_PAGE = {404: Answer("There is no such page.", media="text/plain")}
_UNWELL = {_LATER: Answer("It does not work.", api.Health)}
_HIT_NUMBER = (_parameter("n", "path", "the hit's number", type="integer", minimum=0),)

OPERATIONS = (
    Operation("/view.json", "The public view of the table", Answer("The view.", View), others=_NO_VIEW),
    Operation(
        "/events", "The view whenever it changes", _EVENTS_ANSWER, parameters=_EVENTS_PARAMETERS, others=_NO_PAGE
    ),
    Operation("/healthz", "Whether the table works", Answer("It works.", api.Health), others=_UNWELL),
    Operation("/openapi.json", "This description", Answer("The document.", dict[str, Any])),
    Operation(
        "/judge/sign-in",
        "Sign in. After some wrong PINs there is a wait that doubles",
        Answer("Signed in; the session is in the cookie.", api.SignedIn),
        (401, 409, 429, _LATER),
        (api.SignIn,),
    ),
    Operation("/judge/sign-out", "End the session", Answer("Signed out.", api.Done), takes=(dict[str, Any],)),
    _for_judges("/judge/state.json", "The whole state of the console", Answer("The state.", api.StateContent), _LATER),
    _for_judges("/judge/events", "The console's state whenever it changes", _JUDGE_EVENTS_ANSWER),
    _for_judges(
        "/judge/command",
        "Send a command to the table",
        Answer("It is in the journal.", api.CommandDone),
        *(409, 429, _LATER),
        takes=(api.CommandSent,),
    ),
    _for_judges("/judge/hits.json", "The recorded hits", Answer("The hits.", api.KeptHits), _LATER),
    _for_judges(
        "/judge/hit/{n}.svg",
        "The signals of the pads around a hit",
        Answer("A drawing.", media="image/svg+xml"),
        *(404, _LATER),
        parameters=_HIT_NUMBER,
    ),
    _for_judges("/judge/people", "The users; for the head judge", Answer("The users.", api.People), _LATER),
    _for_judges(
        "/judge/people",
        "Change the users; for the head judge",
        Answer("Done.", api.PeopleChanged),
        *(404, 409, _LATER),
        takes=(api.AddPerson, api.ChangePerson),
    ),
)
"""All operations for programs; a server has only those of its routes."""
_REFUSALS = {
    400: "The body is not valid.",
    401: "Not signed in, or a wrong name or PIN.",
    403: "Not allowed for this role, or not sent by this page.",
    404: "Not found.",
    408: "The body did not arrive completely.",
    409: "Not possible now: against the rules, for a stale view, or a key used for another command.",
    413: "The body is too large.",
    415: "Only JSON is accepted.",
    429: "Too many requests: wait for `retry-after`, s.",
    _LATER: "Not available at this moment.",
}


def document(routes: Collection[str]) -> dict[str, Any]:
    """Return the OpenAPI document of a server with `routes`, given in the router's notation."""
    plain = {re.sub(r":\w+(?=})", "", path) for path in routes}
    operations = [operation for operation in OPERATIONS if operation.path in plain]
    kinds: dict[Any, None] = {api.ErrorResponse: None}
    for one in operations:
        kinds |= dict.fromkeys((*one.takes, *(answer.kind for answer in (one.answer, *one.others.values()))))
    kinds.pop(None, None)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    requests = {kind.__name__ for kind in (*get_args(JudgeCommand), *chain(*(one.takes for one in operations)))}
    for name, schema in components.items():
        if "description" in schema:
            schema["description"] = cleandoc(schema["description"])
        if name in requests:
            _strict(schema)
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


def _strict(schema: dict[str, Any]) -> None:
    """Forbid other keys and longer texts in the schema of a request body.

    The time of a call (`t`) is removed: the table sets it.
    """
    schema["additionalProperties"] = False
    schema["properties"].pop("t", None)
    schema["required"] = [key for key in schema.get("required", ()) if key != "t"]
    for key, of in schema["properties"].items():
        if key == "action":
            of |= {"properties": {"do": {"type": "string"}}, "required": ["do"]}
        if of.get("type") == "string" and "pattern" not in of:
            of.setdefault("maxLength", api.MAX_TEXT_CHARS)


def _describe_operation(operation: Operation, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    def content(answer: Answer) -> dict[str, Any]:
        schema = {"type": "string"} if answer.kind is None else schemas[answer.kind]
        if answer.media == EVENTS:
            schema = {"type": "string", "contentMediaType": JSON, "contentSchema": schema}
        return {answer.media: {"schema": schema}}

    answers = {200: operation.answer, **operation.others}
    refused = {*operation.refused, *(_BODY_REFUSED if operation.takes else ())}
    answers |= {status: Answer(_REFUSALS[status], api.ErrorResponse) for status in refused}
    found: dict[str, Any] = {
        "summary": operation.what,
        "operationId": "_".join([operation.method, *re.findall(r"\w+", operation.path)]),
        "responses": {
            str(status): {"description": answer.what, "content": content(answer)}
            for status, answer in sorted(answers.items())
        },
    }
    if "{" in operation.path:  # an unknown route has a plain text 404
        found["responses"]["404"]["content"]["text/plain"] = {"schema": {"type": "string"}}
    parameters = [*operation.parameters, *([_ORIGIN] if operation.takes else ())]
    if parameters:
        found["parameters"] = parameters
    if operation.takes:
        sent = [schemas[kind] for kind in operation.takes]
        body = sent[0] if len(sent) == 1 else {"oneOf": sent}
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
    if operation.signed_in:
        found["security"] = [{"session": []}]
    return found
