"""Comparing the truth with a journal: what agrees is silent, every seeded disagreement is named."""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from foretold import predict
from ground_truth import compare, true_sheets

from pi_controller.referee.facts import (
    ActionPlayed,
    BeadShown,
    Commit,
    Fact,
    FoulSeen,
    GameOpened,
    HandPass,
    Ready,
    Reveal,
    StrikeFelt,
    Undone,
)
from pi_controller.rules import registry
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.truth import Truth

GAME = registry.game("dakota")
SOME = Mischief(fouls=0.2)


def journalled(truth: Truth) -> list[Fact]:
    """Return the facts of a table that made no mistake."""
    facts: list[Fact] = [GameOpened(0.0, "dakota", GAME.version, GAME.source, {}, {"A": "A", "B": "B"})]
    state = GAME.opening()
    t = 0.0

    def done(action: dict[str, Any]) -> None:
        nonlocal state
        state, calls = GAME.play(state, action)
        facts.append(ActionPlayed(t, action, calls, "sensor"))

    done({"do": "toss", "winner": truth.tossed})
    for hide in truth.hides.values():
        t += 1.0
        facts += [HandPass(t, pad, t) for pad in hide.passes]
        facts.append(Ready(t))
        if hide.foul is None:
            facts.append(Commit(t, hide.hide, "00"))
        else:
            facts.append(FoulSeen(t, hide.foul, "hider"))
        for action in hide.actions():
            if action["do"] == "hit":
                facts.append(StrikeFelt(t, (action["pad"],)))
            done(action)
        if hide.foul is None and hide.place is not None:
            facts.append(Reveal(t, hide.hide, hide.place, "00"))
        if not GAME.is_over(state):
            facts.append(BeadShown(t))
    return facts


@pytest.fixture(scope="module")
def truth() -> Truth:
    return predict(3, GAME, mischief=SOME)


@pytest.fixture
def facts(truth: Truth) -> list[Fact]:
    return journalled(truth)


def test_the_foretold_game_ends_and_sticks_are_conserved(truth: Truth) -> None:
    sheets = true_sheets(truth, GAME)
    assert list(sheets) == [0, *truth.hides]
    assert all(s["long"]["A"] + s["long"]["B"] + s["middle"] == 20 for s in sheets.values())
    assert [hide for hide, s in sheets.items() if s["winner"]] == [max(truth.hides)]
    assert {hide.hider for hide in truth.hides.values()} == {"A", "B"}


def test_a_journal_without_a_mistake_agrees(truth: Truth, facts: list[Fact]) -> None:
    assert compare(truth, facts, GAME) == []


def first(facts: list[Fact], kind: type, test: Callable[[Any], bool] = lambda _: True) -> int:
    return next(i for i, fact in enumerate(facts) if isinstance(fact, kind) and test(fact))


def is_do(do: str) -> Callable[[Any], bool]:
    return lambda fact: fact.action["do"] == do


def test_changed_hit_result_is_named(truth: Truth, facts: list[Fact]) -> None:
    i = first(facts, ActionPlayed, lambda f: f.action["do"] == "hit" and not f.action["found"])
    done = facts[i]
    assert isinstance(done, ActionPlayed)
    facts[i] = msgspec.structs.replace(done, action={**done.action, "found": True})
    wrong = compare(truth, facts, GAME)
    assert any("told hit found, truly hit missed" in line for line in wrong)
    assert any("sticks are" in line for line in wrong)


def test_hit_on_other_pad_is_named_unless_padless(truth: Truth, facts: list[Fact]) -> None:
    i = first(facts, ActionPlayed, lambda f: f.action["do"] == "hit" and f.action["found"])
    done = facts[i]
    assert isinstance(done, ActionPlayed)
    other = done.action["pad"] % 4 + 1
    before = facts[i - 2]
    if isinstance(before, ActionPlayed) and before.action.get("pad") == other:
        other = other % 4 + 1
    facts[i] = msgspec.structs.replace(done, action={**done.action, "pad": other})
    (line,) = compare(truth, facts, GAME)
    assert f"told a hit on pad {other}" in line
    facts[i] = msgspec.structs.replace(done, action={"do": "hit", "found": True})
    assert compare(truth, facts, GAME) == []


def test_missing_or_different_foul_is_named(truth: Truth, facts: list[Fact]) -> None:
    i = first(facts, ActionPlayed, is_do("foul"))
    done = facts[i]
    assert isinstance(done, ActionPlayed)
    kind = "bead_showing"
    facts[i] = msgspec.structs.replace(done, action={**done.action, "kind": kind})
    assert any(f"told foul {kind} by hider, truly foul" in line for line in compare(truth, facts, GAME))
    del facts[i]
    assert any("told nothing, truly foul" in line for line in compare(truth, facts, GAME))


def test_different_toss_reveal_and_passes_are_named(truth: Truth, facts: list[Fact]) -> None:
    i = first(facts, Reveal)
    reveal = facts[i]
    assert isinstance(reveal, Reveal)
    facts[i] = msgspec.structs.replace(reveal, pad=reveal.pad % 4 + 1)
    del facts[first(facts, HandPass)]
    lines = compare(truth, facts, GAME)
    assert len(lines) == 2
    assert any("revealed under pad" in line for line in lines)
    assert any("passes" in line for line in lines)
    lines = compare(msgspec.structs.replace(truth, tossed="B" if truth.tossed == "A" else "A"), journalled(truth), GAME)
    assert lines[0].startswith("the toss: told toss to")


def test_truncated_or_illegal_journal_is_named(truth: Truth, facts: list[Fact]) -> None:
    cut = facts[: len(facts) // 2]
    assert any("told nothing" in line for line in compare(truth, cut, GAME))
    twice = [*facts, facts[first(facts, ActionPlayed)]]
    assert any("cannot be told further" in line for line in compare(truth, twice, GAME))
    assert compare(truth, [*facts, Undone(9.0, 1)], GAME) == [], "what still counts was asked for"


def test_repeated_stroke_replaces_earlier_hit(truth: Truth) -> None:
    again = copy.deepcopy(truth)
    hide = next(hide for hide in again.hides.values() if len(hide.hits) == 2)
    first_hit, second_hit = hide.hits
    again.record_stroke(hide.hide, "second", second_hit.pad)
    assert hide.hits == [first_hit, second_hit]
    again.record_stroke(hide.hide, "first", first_hit.pad)
    assert hide.hits == [first_hit]
    hide.hits = []
    again.record_stroke(hide.hide, "second", second_hit.pad)
    again.record_stroke(hide.hide, "second", second_hit.pad)
    assert hide.hits == [second_hit]
