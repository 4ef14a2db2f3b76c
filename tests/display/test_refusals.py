"""Refusals that a page can show: each is a sentence of the catalogue, filled in after it was translated."""

import ast
import json

import pytest
from extract import error_calls, refusals, refusing_sources, template
from pseudo import OPEN, SHUT, escaped
from starlette.applications import Starlette
from starlette.requests import Request

from pi_controller.errors import MatError
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.web.requests import RequestError, error_response


def answer(error, tr):
    app = Starlette()
    app.state.tr = tr
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [], "app": app}
    return json.loads(bytes(error_response(Request(scope), error).body))["error"]


@pytest.mark.parametrize("path", refusing_sources(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_refusals_are_templates_with_values(path):
    for _, sentences in error_calls(path.read_text("utf-8")):
        assert not [one for one in sentences if isinstance(one, ast.JoinedStr)], ast.unparse(sentences[0])


def test_refusals_are_in_the_template():
    known = {entry.msgid for entry in template()}
    found = {one for path in refusing_sources() for one, _ in refusals(path.read_text("utf-8"))}
    assert len(found) > 100
    assert found <= known


def test_refused_request_is_answered_in_page_language(tr):
    got = answer(RequestError("role", "only the head judge may change the settings", "ask the head judge"), tr)
    assert got["message"] == f"{OPEN}only the head judge may change the settings{SHUT}"
    assert got["hint"] == f"{OPEN}ask the head judge{SHUT}"


def test_values_are_filled_in_after_translation(tr):
    error = MatError("pad {pad} was hit first in this hide", "the second hit takes another pad", pad="{x}")
    assert error.message == "pad {x} was hit first in this hide"
    assert tr.text(error.sentences[0]) == f"{OPEN}pad {{x}} was hit first in this hide{SHUT}"


@pytest.mark.parametrize("name", registry.names())
def test_refused_actions_have_no_untranslated_sentence(name, tr):
    game = registry.game_class(name)()
    state = game.opening()
    for action in ({}, {"do": "no such action"}, {"do": "forfeit", "by": "nobody"}, {"do": "hit", "found": 7}, 5):
        with pytest.raises((IllegalActionError, InvalidActionError)) as caught:
            game.play(state, action)
        got = answer(caught.value, tr)
        assert escaped(got["message"]) == escaped(got["hint"]) == []
