"""What came of a hide or throw, as one sentence, and how a game went: from games played as a journal has them."""

from __future__ import annotations

import pytest

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.journal.score_history import MAX_DRAWN_SCORES, build_score_history
from pi_controller.referee.facts import ActionPlayed, BeadShown, GameOpened, Undone
from pi_controller.referee.history import History
from pi_controller.rules import registry
from pi_controller.table.view import view_of

TEAMS = {"A": "Big Coulee", "B": "Long Hollow"}
PLAYERS = {"bageswin": {"players": "Ann,Bo,Cy"}, "patol": {"players": "Ann,Bo"}}
FOUND, MISSED = {"do": "hit", "found": True}, {"do": "hit", "found": False}
TOSS = {"do": "toss", "winner": "A"}


def foul(**more):
    return {"do": "foul", "by": "hider", "kind": "no_bead", **more}


def shot(hit, ball, *opened):
    return {"do": "shoot", "opened": [*opened], "hit": hit, "ball": ball}


def guess(signal, actual):
    return {"do": "guess", "signal": signal, "actual": actual}


def marked(n):
    return {"do": "throw", "marked": n}


def start(player, river="north", direction="clockwise"):
    return {"do": "start", "player": player, "river": river, "direction": direction}


def red(**pieces):
    return {"do": "throw", "red": {"woman": 0, "fish": 0, "knives": 0, "buttons": 0, **pieces}}


GAMES = {
    "dakota": [
        (TOSS, "Big Coulee won the toss: four sticks, and they hide first"),
        (FOUND, "Found at the first hit: four sticks to Long Hollow, who hide next"),
        (MISSED, "Missed at the first hit"),
        (MISSED, "Missed twice: two sticks to Long Hollow, who hide again"),
        (MISSED, "Missed at the first hit"),
        (FOUND, "Found at the second hit: four sticks to Long Hollow, who hide again"),
        (foul(), "Foul: four sticks to Big Coulee, who hide next"),
        (MISSED, "Missed at the first hit"),
        (FOUND, "Found at the second hit: four sticks to Big Coulee, who hide again"),
        (foul(hide="last"), "Foul: four sticks to Long Hollow, who hide next"),
        (MISSED, "Missed at the first hit"),
        (FOUND, "Found at the second hit: four sticks to Long Hollow, who hide again"),
        (MISSED, "Missed at the first hit"),
        (MISSED, "Missed twice: two sticks to Long Hollow, who hide again"),
        (MISSED, "Missed at the first hit"),
        (FOUND, "Found at the second hit: a point to Long Hollow, who hide again"),
        *[
            (MISSED, "Missed at the first hit"),
            (FOUND, "Found at the second hit: four sticks to Long Hollow, who hide again"),
        ]
        * 4,
        (MISSED, "Missed at the first hit"),
        (MISSED, "Missed twice: Long Hollow hide again, for a point"),
        (MISSED, "Missed at the first hit: a point to Long Hollow; the second hit is still to come"),
        (MISSED, "Missed twice: a point to Long Hollow, who hide again"),
    ],
    "ojibwe": [
        (TOSS, "Big Coulee won the toss and hide first"),
        (shot(1, 2), "Missed: four counters to Big Coulee, who hide again"),
        (shot(2, 2, 1), "Found: three counters to Big Coulee, and Long Hollow hide next"),
        (shot(1, 2), "Missed: eight counters to Long Hollow, who hide again"),
        (shot(1, 2), "Missed: eight counters to Long Hollow, who hide again"),
        (shot(1, 1), "Found: three counters to Long Hollow, and Big Coulee hide next"),
    ],
    "slahal": [
        ({"do": "duo", "A": True, "B": True}, ""),
        ({"do": "duo", "A": True, "B": False}, "Big Coulee win the bones and hide first"),
        (guess("left", "left"), "Caught: no stick moves, and Long Hollow hide next"),
        (guess("left", "right"), "Missed: two sticks to Long Hollow, who hide again"),
        (guess("left", "inside"), "One caught, one missed: one stick to Long Hollow, who hide again"),
        (guess("left", "right"), "Missed: one stick to Long Hollow, who hide again"),
    ],
    "bageswin": [
        (red(buttons=3), "Ann throws 3: three sticks, and throws again"),
        (red(woman=1, buttons=1), "No score for Ann: the bowl passes to Bo"),
        (red(woman=1), "Bo throws 20: 20 sticks, and throws again"),
    ],
    "plum_stone": [
        ({"do": "lot", "first": "B"}, ""),
        ({"do": "throw", "moons": 2, "whites": 3}, "Long Hollow throws 10: ten counters, and throws again"),
        ({"do": "throw", "moons": 2, "whites": 0}, "No score for Long Hollow: the bowl passes to Big Coulee"),
    ],
    "patol": [
        (start("Ann"), ""),
        (marked(3), "Ann throws ten, and throws again"),
        (marked(1), "Ann throws three and has run 13 notches"),
        (start("Bo"), ""),
        (marked(3), "Bo throws ten, and throws again"),
        (marked(1), "Bo throws three and sends the horse of Ann back to its start"),
    ],
}


def played(name, actions):
    """Yield the facts of a game of `name`, with the bead shown after each hide, and the story after each."""
    game = registry.game(name, PLAYERS.get(name, {}))
    history = History(game)
    history.append([GameOpened(0.0, game.name, game.version, game.source, dict(game.settings), TEAMS)], 1)
    for batch, action in enumerate(actions, 2):
        facts = [BeadShown(float(batch))] if history.now.phase == "show" and action.get("hide") != "last" else []
        _, calls = game.play(history.now.state, action)
        facts.append(ActionPlayed(float(batch), action, calls, "judge"))
        history.append(facts, batch)
        yield facts, history.now


@pytest.mark.parametrize("name", GAMES)
def test_each_turn_result_is_a_sentence(name):
    game = registry.game(name, PLAYERS.get(name, {}))
    stories = [story for _, story in played(name, [action for action, _ in GAMES[name]])]
    assert [Phrases(ENGLISH).result(view_of(game, story, 1)) for story in stories] == [said for _, said in GAMES[name]]


def test_show_phase_sentence_states_the_hide_result(view):
    *_, (_, story) = played("dakota", [TOSS, FOUND])
    shown = view_of(registry.game("dakota", {}), story, 1)
    assert shown.phase == "show"
    assert Phrases(ENGLISH).sentence(shown) == Phrases(ENGLISH).result(shown)
    assert Phrases(ENGLISH).sentence(view(phase="show")) == "The bead is shown: Big Coulee hide next", (
        "the judge set the table"
    )


def test_view_before_the_hit_is_the_opening_scoreboard():
    game = registry.game("dakota", {})
    *_, (_, story) = played("dakota", [TOSS])
    assert view_of(game, story, 1).before == game.scoreboard(game.sheet(game.opening()))


def records(name, actions):
    """Return the game and the records that `played` makes."""
    game = registry.game(name, PLAYERS.get(name, {}))
    opened = GameOpened(0.0, game.name, game.version, game.source, dict(game.settings), TEAMS)
    batches = [facts for facts, _ in played(name, actions)]
    return game, [(1, opened), *((batch, fact) for batch, facts in enumerate(batches, 2) for fact in facts)]


def test_score_history_counts_points_leads_and_misses():
    point = [MISSED, FOUND] * 5 + [MISSED, MISSED]  # four sticks to the hiders until the hide is for a point
    game, made = records("dakota", [TOSS, *point, FOUND])
    course = build_score_history(game, made)
    assert course is not None
    assert course.turns == 7
    assert course.scores["A"][0] == 0
    assert course.scores["A"][-1] == sum(game.scoreboard(game.sheet(_last(game, made))).scores.values()) == 1
    assert len(course.scores["B"]) == course.turns + 1
    assert (course.leads, course.misses) == (0, 2)
    shorter = build_score_history(game, [*made, (len(made) + 2, Undone(99.0, 7, "wrong"))])
    assert shorter is not None
    assert shorter.turns < course.turns, "what was taken back is left out"
    assert build_score_history(game, made[:1]) is None


def _last(game, made):
    history = History(game)
    *_, last = history.walk(made)
    return last.after.state


def test_long_score_history_is_sampled():
    lot = {"do": "lot", "first": "A"}
    game, made = records(
        "plum_stone", [lot, *[{"do": "no_throw"}, {"do": "throw", "moons": 1, "whites": 0}] * MAX_DRAWN_SCORES]
    )
    course = build_score_history(game, made)
    assert course is not None
    assert {len(scores) for scores in course.scores.values()} == {MAX_DRAWN_SCORES}
    assert course.scores["A"][-1] + course.scores["B"][-1] == 100 - _last(game, made).sticks["pile"]
    assert course.turns > MAX_DRAWN_SCORES
