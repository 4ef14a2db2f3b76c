"""OpenAPI 3.1 of what the hub serves to programs: results, standings, tables. Nobody signs in for it."""

from __future__ import annotations

from typing import Any

from pi_controller import __version__

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer"}
_LIST: dict[str, Any] = {"type": "array"}
_RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "match": {**_TEXT, "description": "as in the bracket"},
        "game": {**_NUMBER, "description": "of a match of several, from 1"},
        "round": _NUMBER,
        "bracket": {"enum": ["winners", "losers", "final", None]},
        "teams": {"type": "array", "items": _TEXT},
        "winner": _TEXT,
        "sweep": {"type": "boolean"},
        "sticks": {"type": "object", "additionalProperties": _NUMBER},
        "walkover": {"type": "boolean", "description": "not played: the other team had gone"},
        "table": {**_TEXT, "description": "where it was played, empty for a result that was typed"},
        "journal": {**_TEXT, "description": "the epoch of that table's journal, for 'moccasin-mat verify'"},
        "judge": _TEXT,
        "ended": {"type": ["number", "null"], "description": "s since 1970"},
    },
}
_PATHS: dict[str, tuple[str, dict[str, Any]]] = {
    "/tournament.json": (
        "The plan, who is ready, who is out, how all stand, the champion",
        {
            "type": "object",
            "properties": {
                "title": _TEXT,
                "game": _TEXT,
                "seed": {**_TEXT, "description": "of the drawing, which anybody can work out again"},
                "entered": {"type": "array", "items": _TEXT},
                "teams": {"type": "array", "items": _TEXT, "description": "by their seeds"},
                "ready": _LIST,
                "eliminated": {"type": "array", "items": _TEXT},
                "standings": _LIST,
                "champion": {"type": ["string", "null"]},
                "calls": _LIST,
                "announcement": _TEXT,
            },
        },
    ),
    "/results.json": (
        "Every game that counts, in the order in which they ended",
        {"type": "object", "properties": {"results": {"type": "array", "items": _RESULT}}, "required": ["results"]},
    ),
    "/tables.json": (
        "All tables with their public views, as each table's own /view.json",
        {"type": "object", "properties": {"tables": _LIST}, "required": ["tables"]},
    ),
}


def document() -> dict[str, Any]:
    """Return the description."""

    def operation(path: str, what: str, media: str, schema: dict[str, Any]) -> dict[str, Any]:
        name = path.strip("/").replace(".", "_")
        content = {media: {"schema": schema}}
        return {
            "get": {
                "summary": what,
                "operationId": f"get_{name}",
                "responses": {"200": {"description": what, "content": content}},
            }
        }

    paths = {path: operation(path, what, "application/json", schema) for path, (what, schema) in _PATHS.items()}
    paths["/results.csv"] = operation("/results.csv", "The results for a spreadsheet", "text/csv", _TEXT)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Moccasin Mat, the hub of a tournament", "version": __version__},
        "paths": paths,
    }
