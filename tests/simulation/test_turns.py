"""The truth turn by turn: what agrees with a journal is silent, every disagreement is named."""

from typing import Any

import msgspec
import pytest
from ground_truth import compare_turns

from pi_controller.referee.facts import ActionPlayed, Fact, Reveal
from pi_controller.rules import registry
from pi_controller.simulation.truth import Turns

GAME = registry.game("ojibwe", {"games": "1"})
ACTIONS: list[dict[str, Any]] = [
    {"do": "toss", "winner": "A"},
    *({"do": "shoot", "opened": [], "hit": pad, "ball": 4} for pad in (1, 2, 3, 1, 2)),
]


def truth() -> Turns:
    it = Turns(1)
    it.record_actions(0, ACTIONS[0])
    for number, action in enumerate(ACTIONS[1:], 1):
        it.begin(number, 4)
        it.record_actions(number, action)
    return it


def journal() -> list[Fact]:
    facts: list[Fact] = []
    for number, action in enumerate(ACTIONS):
        facts.append(ActionPlayed(float(number), action, (), "sensor"))
        if number:
            facts.append(Reveal(float(number), number, 4, "00"))
    return facts


def test_a_journal_that_tells_the_truth_is_silent() -> None:
    assert compare_turns(truth(), journal(), GAME) == []


@pytest.mark.parametrize("at", [0, 3, 5])
def test_another_action_is_named(at: int) -> None:
    facts = journal()
    where = [i for i, fact in enumerate(facts) if isinstance(fact, ActionPlayed)][at]
    fact = facts[where]
    assert isinstance(fact, ActionPlayed)
    facts[where] = msgspec.structs.replace(fact, action={**fact.action, "winner" if at == 0 else "hit": "B"})
    (said,) = compare_turns(truth(), facts, GAME)
    assert said.startswith(f"action {at + 1} (turn {at}): told")


def test_wrong_reveal_is_named_for_unknown_hide_too() -> None:
    assert compare_turns(truth(), [*journal(), Reveal(9.0, 2, 3, "00")], GAME) == ["hide 2: revealed 3, truly 4"]
    assert compare_turns(truth(), [*journal(), Reveal(9.0, 77, 3, "00")], GAME) == ["hide 77: revealed 3, truly None"]


def test_restarted_turn_replaces_recorded_actions() -> None:
    it = truth()
    it.begin(2, 3, "ball_out")
    assert it.turns[2].actions == []
    assert it.turns[2].place == 3
    it.record_actions(2, {"do": "shoot", "opened": [], "hit": 1, "ball": 3})
    it.record_actions(2, {"do": "shoot", "opened": [], "hit": 2, "ball": 3})
    assert [action["hit"] for number, action in it.actions() if number == 2] == [2]
