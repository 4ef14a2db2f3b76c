"""What an action would do, told before it is entered: by the rules, for every game, whatever is hidden."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import get_args, get_type_hints

import msgspec
import pytest
from cases import cases
from phases import ALL

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.shown_names import ISOLATES
from pi_controller.games.bageswin.rules import BageswinSheet
from pi_controller.games.dakota.rules import DakotaSheet
from pi_controller.games.ojibwe.rules import OjibweSheet
from pi_controller.games.patol.rules import PatolSheet
from pi_controller.games.plum_stone.rules import PlumStoneSheet
from pi_controller.games.slahal.rules import SlahalSheet
from pi_controller.referee.reducer import blank
from pi_controller.rules import registry
from pi_controller.rules.base import Team
from pi_controller.rules.scoreboard import gains
from pi_controller.table.view import QuestionView, view_of
from pi_controller.web.consequences import action_key, list_consequences, list_entries
from pi_controller.web.console_page import FOUND_ANSWERS, console
from pi_controller.web.game_page import page_of

NAMES = {"A": "Big Coulee", "B": "Long Hollow"}
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
SHEETS = {
    "dakota": DakotaSheet, "ojibwe": OjibweSheet, "slahal": SlahalSheet, "plum_stone": PlumStoneSheet,
    "bageswin": BageswinSheet, "patol": PatolSheet,
}  # fmt: skip


def random_states(name, seed, most=60):
    """Yield the game with the states of a game played by chance."""
    game, rng = registry.game(name, ALL.get(name, {})), random.Random(seed)
    state = game.opening()
    for _ in range(most):
        yield game, state
        legal = game.legal_actions(state)
        if not legal or game.is_over(state):
            return
        state, _ = game.play(state, rng.choice(legal))


def foretell(game, state):
    """Return the actions of the form for `state` with their consequences, and the view."""
    story = replace(blank(game), state=state, phase=game.phase_of(state))
    view = msgspec.structs.replace(view_of(game, story, 1), teams=NAMES if "players" not in game.settings else {})
    form = page_of(view, ENGLISH).entry_form(view, game.legal_actions(state), game.settings)
    found = list_consequences(form, view, game, state, ENGLISH)
    buttons = [one.say["action"] for one in (*form.buttons, *form.more) if "action" in one.say]
    return view, form, [*buttons, *list_entries(form)], {key: ISOLATES.sub("", text) for key, text in found.items()}


@pytest.mark.parametrize("name", SHEETS)
def test_consequences_are_what_the_rules_do(name):
    told = 0
    for seed in range(cases(1, 20)):
        for game, state in random_states(name, seed):
            view, _, actions, found = foretell(game, state)
            for action in actions:
                if (text := found.get(action_key(action))) is None:
                    continue
                before, after = (game.scoreboard(game.sheet(one)) for one in (state, game.play(state, action)[0]))
                told += 1
                if after.winner:
                    assert text == f"the game to {view.teams.get(after.winner, after.winner)}"
                    continue
                scored = [side for side, n in after.scores.items() if after.goal and n > before.scores[side]]
                won = {side: n for side, n in gains(before, after).items() if n > 0} if not scored else {}
                for side in (*scored, *won):
                    assert f" to {view.teams.get(side, side)}" in text
                for side, n in won.items():
                    word = WORDS[n - 1] if n <= len(WORDS) else n
                    assert re.search(rf"\b{word} to {re.escape(view.teams.get(side, side))}", text), (text, won)
                assert text.startswith("a point to") == bool(scored)
                assert ("nothing moves" in text) <= (not scored and not won)
    assert told > 20


@pytest.mark.parametrize("name", SHEETS)
def test_every_legal_action_of_the_form_has_one(name):
    missing = 0
    for seed in range(cases(1, 10)):
        for game, state in random_states(name, seed):
            _, form, actions, found = foretell(game, state)
            legal = {action_key(one) for one in game.legal_actions(state)} if form.submit is None else set()
            for action in actions:
                key = action_key(action)
                if key not in found:
                    missing += 1
                    with pytest.raises((ValueError, RuntimeError)):
                        game.play(state, action)
            assert legal & {action_key(one) for one in actions} <= found.keys()
    assert missing == 0 or name in ("ojibwe", "slahal")


def test_hit_buttons_say_who_gets_the_sticks():
    game = registry.game("dakota")
    state, _ = game.play(game.opening(), {"do": "toss", "winner": "B"})
    state, _ = game.play(state, {"do": "hit", "found": False})
    view, _, _, found = foretell(game, state)
    shown = console(view, game.legal_actions(state), ENGLISH, options=game.settings, effects=found)
    assert {one.label: one.effect for one in shown.play.buttons} == {
        "Found": "four to Long Hollow, then Long Hollow hides",
        "Missed": "two to Long Hollow, then Long Hollow hides",
    }


def test_form_has_consequences_for_every_ball_place():
    game = registry.game("ojibwe")
    state, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    *_, found = foretell(game, state)
    for ball in range(1, 5):
        assert f"ball={ball} do=shoot hit={ball % 4 + 1} opened=" in found


@pytest.mark.parametrize("name", SHEETS)
def test_game_names_the_sides_of_its_sheet(name):
    hints = get_type_hints(SHEETS[name])
    typed = {key for key, kind in hints.items() if Team in get_args(kind) or (key in ("winner", "thrower"))}
    assert registry.game_class(name).side_keys == typed


def test_found_and_missed_answers_state_consequences():
    game = registry.game("dakota")
    state, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    view, form, *_ = foretell(game, state)
    view = msgspec.structs.replace(view, question=QuestionView("found", ("found", "missed"), (2,)))
    found = list_consequences(form, view, game, state, ENGLISH, [*FOUND_ANSWERS.values()])
    asked = console(view, game.legal_actions(state), ENGLISH, options=game.settings, effects=found).question
    assert asked is not None
    assert [one.effect for one in asked.buttons] == [
        "four to Long Hollow, then Long Hollow hides",
        "nothing moves, then the second hit",
    ]
