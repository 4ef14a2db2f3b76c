"""OpenAPI 3.1 of what the table serves to programs, made of the types that the server itself answers and takes."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import msgspec

from pi_controller import __version__
from pi_controller.referee.judge import JudgeCall
from pi_controller.table.view import View
from pi_controller.web import api_types as api
from pi_controller.web.judge_command import MOST_TEXT
from pi_controller.web.sse import SHAPES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

JSON, EVENTS = "application/json", "text/event-stream"
_REF = "#/components/schemas/{name}"
_SIGNED_IN = (401,)
_SENT = (400, 403, 408, 413, 415)
"""Statuses of what is refused before anybody looks at what was sent."""
_LATER = 503


class Answer(NamedTuple):
    """What an operation answers: a `kind` of `api_types`, or text of `media`."""

    what: str
    kind: Any = None
    media: str = JSON


class Operation(NamedTuple):
    """One thing that can be asked: `refused` are the statuses of a `Refusal`, `takes` what may be sent, one of it."""

    path: str
    method: str
    what: str
    answer: Answer
    refused: tuple[int, ...] = ()
    takes: tuple[Any, ...] = ()
    signed_in: bool = False
    parameters: tuple[dict[str, Any], ...] = ()
    others: dict[int, Answer] = {}  # noqa: RUF012 - of a tuple, which cannot change


def _parameter(name: str, where: str, what: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "description": what, "required": where == "path", "schema": schema}


_NO_VIEW = {_LATER: Answer("There is no view yet.", api.NoView)}
_ORIGIN = {
    **_parameter("Origin", "header", "where the pages are, as a browser says it; no other is taken", type="string"),
    "required": True,
}

OPERATIONS = (
    Operation("/view.json", "get", "The table as anybody may see it", Answer("The view.", View), others=_NO_VIEW),
    Operation(
        "/events",
        "get",
        "The view whenever it changes",
        Answer(
            "Events `view`, each with its id, and `beat` every 15 s with the table's clock (s). A stream begun with "
            "the id of the newest event waits for what comes after; what went by in between is not made up for.",
            api.EventContent,
            EVENTS,
        ),
        parameters=(
            _parameter("page", "query", "which page's texts come along", type="string", enum=[*SHAPES], default=""),
            _parameter("last", "query", "the last id, for who cannot set the header", type="string"),
            _parameter("Last-Event-ID", "header", "the id of the last event", type="string"),
        ),
        others={404: Answer("There is no such page.", media="text/plain")},
    ),
    Operation(
        "/healthz",
        "get",
        "Whether the table plays on",
        Answer("It does.", api.Health),
        others={_LATER: Answer("It does not.", api.Health)},
    ),
    Operation("/openapi.json", "get", "This description", Answer("It.", dict[str, Any])),
    Operation("/metrics", "get", "The table in figures, for Prometheus", Answer("The figures.", media="text/plain")),
    Operation(
        "/judge/sign-in",
        "post",
        "Sign in. A wrong PIN costs a wait that doubles",
        Answer("Signed in; the session is in the cookie.", api.SignedIn),
        (*_SENT, 401, 409, 429, _LATER),
        (api.SignIn,),
    ),
    Operation("/judge/sign-out", "post", "End the session", Answer("Signed out.", api.Done), _SENT, (dict[str, Any],)),
    Operation(
        "/judge/state.json",
        "get",
        "All that the console shows",
        Answer("The state.", api.StateContent),
        (403, _LATER),
        signed_in=True,
    ),
    Operation(
        "/judge/events",
        "get",
        "The console's state whenever it changes",
        Answer("Events `judge`, and `beat` while nothing changes, until the session ends.", api.StateContent, EVENTS),
        (403,),
        signed_in=True,
    ),
    Operation(
        "/judge/command",
        "post",
        "Say something to the table",
        Answer("It stands in the journal.", api.CommandDone),
        (*_SENT, 409, 429, _LATER),
        (api.CommandSent,),
        signed_in=True,
    ),
    Operation(
        "/judge/hits.json",
        "get",
        "The hits that can be looked at",
        Answer("The hits.", api.KeptHits),
        (403, _LATER),
        signed_in=True,
    ),
    Operation(
        "/judge/hit/{n}.svg",
        "get",
        "What each pad felt around a hit",
        Answer("A drawing.", media="image/svg+xml"),
        (403, 404, _LATER),
        signed_in=True,
        parameters=(_parameter("n", "path", "the hit's number", type="integer", minimum=0),),
    ),
    Operation(
        "/judge/people",
        "get",
        "Who may sign in; for the head judge",
        Answer("The people.", api.People),
        (403, _LATER),
        signed_in=True,
    ),
    Operation(
        "/judge/people",
        "post",
        "Change who may sign in; for the head judge",
        Answer("Done.", api.PeopleChanged),
        (*_SENT, 404, 409, _LATER),
        (api.AddPerson, api.ChangePerson),
        signed_in=True,
    ),
)
"""All that programs may ask, whether or not a table serves it."""
_REFUSALS = {
    400: "What was sent is nothing that is taken here.",
    401: "Nobody is signed in, or name and PIN do not go together.",
    403: "Not for this role, or not from this page.",
    404: "There is no such thing.",
    408: "What was sent did not come to its end.",
    409: "Not now: against the rules, on a picture that is stale, or said otherwise before.",
    413: "Too much at once.",
    415: "Only JSON is taken.",
    429: "Too often: `retry-after` says how long to wait, s.",
    _LATER: "Not at this moment.",
}


def served(routes: Collection[str]) -> Iterator[Operation]:
    """Yield the operations of a server with `routes`, as the router writes them."""
    plain = {re.sub(r":\w+(?=})", "", path) for path in routes}
    return (operation for operation in OPERATIONS if operation.path in plain)


def document(routes: Collection[str]) -> dict[str, Any]:
    """Return the OpenAPI document of a server with `routes`."""
    operations = tuple(served(routes))
    kinds = _kinds(operations)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    for name, schema in components.items():
        if "description" in schema:
            schema["description"] = cleandoc(schema["description"])
        if name in {kind.__name__ for kind in (*get_args(JudgeCall), *_taken(operations))}:
            _strict(schema)
    by_kind = list(zip(kinds, schemas, strict=True))
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Moccasin Mat",
            "version": __version__,
            "summary": "One table: what its pages show, and the judges' console where it is switched on.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": "mat_session"}},
        },
    }


def _kinds(operations: Collection[Operation]) -> list[Any]:
    """Return the types of all bodies, each once."""
    found: list[Any] = [api.Refusal]
    for operation in operations:
        answers = (operation.answer, *operation.others.values())
        for kind in (*operation.takes, *(answer.kind for answer in answers)):
            if kind is not None and kind not in found:
                found.append(kind)
    return found


def _taken(operations: Collection[Operation]) -> list[Any]:
    """Return the types of what is sent that have a name."""
    return [kind for operation in operations for kind in operation.takes if isinstance(kind, type)]


def _strict(schema: dict[str, Any]) -> None:
    """Say in the schema of something sent that nothing else may be sent: no other keys, no longer texts.

    The time of a call (`t`) is the table's to tell.
    """
    schema["additionalProperties"] = False
    schema["properties"].pop("t", None)
    schema["required"] = [key for key in schema.get("required", ()) if key != "t"]
    for key, of in schema["properties"].items():
        if key == "action":
            of |= {"properties": {"do": {"type": "string"}}, "required": ["do"]}
        if of.get("type") == "string" and "pattern" not in of:
            of.setdefault("maxLength", MOST_TEXT)


def _described(operation: Operation, by_kind: list[tuple[Any, dict[str, Any]]]) -> dict[str, Any]:
    def schema(kind: Any) -> dict[str, Any]:
        return next(schema for known, schema in by_kind if known == kind)

    def content(answer: Answer) -> dict[str, Any]:
        if answer.media == EVENTS:
            data = {"type": "string", "contentMediaType": JSON, "contentSchema": schema(answer.kind)}
            return {EVENTS: {"schema": data}}
        return {answer.media: {"schema": {"type": "string"} if answer.kind is None else schema(answer.kind)}}

    answers = {200: operation.answer, **operation.others}
    refused = {*operation.refused, *(_SIGNED_IN if operation.signed_in else ())}
    answers |= {status: Answer(_REFUSALS[status], api.Refusal) for status in sorted(refused)}
    found: dict[str, Any] = {
        "summary": operation.what,
        "operationId": "_".join([operation.method, *re.findall(r"\w+", operation.path)]),
        "responses": {
            str(status): {"description": answer.what, "content": content(answer)}
            for status, answer in sorted(answers.items())
        },
    }
    if "{" in operation.path:  # nor is there a page of that name
        found["responses"]["404"]["content"]["text/plain"] = {"schema": {"type": "string"}}
    parameters = [*operation.parameters, *([_ORIGIN] if operation.takes else ())]
    if parameters:
        found["parameters"] = parameters
    if operation.takes:
        sent = [schema(kind) for kind in operation.takes]
        body = sent[0] if len(sent) == 1 else {"oneOf": sent}
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
    if operation.signed_in:
        found["security"] = [{"session": []}]
    return found
