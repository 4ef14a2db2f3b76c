"""The Mille Lacs Moccasin game beside a second, plain reading of its rules, written for no other use."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from pi_controller.games.ojibwe.rules import Ojibwe
from pi_controller.rules.base import IllegalActionError, InvalidActionError

OPTIONS: list[dict[str, Any]] = [
    {"games": 1 + n % 3, "max_open": most, "high_ball_scope": scope, "high_reset": reset, "start_counters": start,
     "one_stick": one}
    for n, (most, scope, reset, start, one) in enumerate(
        product((2, 3), ("shared", "next_hide_only"), ("each_short", "never"), ("pool", "split_10_10"),
                ("passes", "keeps_shooting"))
    )
]  # fmt: skip
ACTIONS = 1500
"""Actions tried with each set of options."""


class Model:
    """One game, its score sheet a plain dictionary that is changed in place."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        half = 10 if options["start_counters"] == "split_10_10" else 0
        self.sheet: dict[str, Any] = {
            "hider": None, "counters": {"A": half, "B": half}, "pool": 20 - 2 * half, "short": {"A": 0, "B": 0},
            "high": None, "hides_left": 1, "banked": 0, "winner": None, "finish": None,
        }  # fmt: skip

    def shooting(self) -> int | None:
        return None if self.sheet["hider"] is None else 20 - self.sheet["counters"][self.sheet["hider"]]

    def told(self) -> dict[str, Any]:
        shooting = self.shooting()
        return {**self.sheet, "shooting": shooting, "double": shooting is not None and shooting <= 3}

    def worth(self, pad: int) -> int:
        high = self.sheet["high"]
        if high is None:
            return 4
        if pad == high:
            return 8
        return 6 if {pad, high} in ({1, 4}, {2, 3}) else 4

    def kind(self, action: dict[str, Any]) -> str:
        """Whether an action is invalid, illegal or fine."""
        over, hider = self.sheet["winner"] is not None, self.sheet["hider"]
        if action["do"] == "forfeit":
            return "illegal" if over else "fine"
        if action["do"] == "toss":
            return "illegal" if over or hider else "fine"
        opened, hit, ball = action["opened"], action["hit"], action["ball"]
        if len(set(opened)) < len(opened) or len(opened) > 3:
            return "invalid"
        if ball in opened:
            if ball != opened[-1] or hit is not None:
                return "invalid"
        elif hit is None or hit in opened:
            return "invalid"
        return "illegal" if over or hider is None or len(opened) > self.options["max_open"] else "fine"

    def do(self, action: dict[str, Any]) -> list[str]:
        """Do an action that is fine; return the words called."""
        sheet = self.sheet
        if action["do"] == "forfeit":
            sheet["winner"], sheet["finish"] = "AB".replace(action["by"], ""), "forfeit"
            return ["forfeit", "game"]
        if action["do"] == "toss":
            sheet["hider"] = action["winner"]
            return []
        hider, hitters = sheet["hider"], "AB".replace(sheet["hider"], "")
        sticks, ball, found = self.shooting(), action["ball"], action["hit"] == action["ball"]
        assert sticks is not None
        double, one = sticks <= 3, sticks == 1 and self.options["one_stick"] == "keeps_shooting"
        if double:
            due = 0 if found else sticks
        elif found:
            due = 4 if ball == sheet["high"] else 3
        else:
            due = self.worth(ball)
        for _ in range(min(due, sticks)):
            if sheet["pool"]:
                sheet["pool"] -= 1
            else:
                sheet["counters"][hitters] -= 1
            sheet["counters"][hider] += 1
        calls = (["double"] if double else []) + ["found" if found else "missed"]
        if self.options["high_ball_scope"] == "next_hide_only":
            sheet["high"] = None
        if found and action["opened"]:
            sheet["high"] = ball
            calls.append("high_ball")
        if found and one:
            sheet["banked"] += 1
        elif found and sheet["hides_left"] > 1:
            sheet["hides_left"] -= 1
        elif found:
            sheet["hider"], sheet["hides_left"] = hitters, 2 if double else 1
        if sheet["counters"][hider] == 20:
            sheet["counters"], sheet["pool"] = {"A": 0, "B": 0}, 20
            sheet["short"][hider] += 1
            calls.append("short_stick")
            sheet["hides_left"] = 1
            if self.options["high_reset"] == "each_short":
                sheet["high"] = None
            if sheet["banked"]:
                sheet["hider"], sheet["hides_left"], sheet["banked"] = hitters, 1 + sheet["banked"], 0
            if sheet["short"][hider] == self.options["games"]:
                sheet["winner"] = hider
                calls.append("game")
        return calls


def an_action(chance: Random) -> dict[str, Any]:
    """Return any action whose words and numbers are those of the game, now and then one that fits no rule."""
    match chance.choices(("toss", "forfeit", "find", "any"), (2, 0.3, 30, 60))[0]:
        case "toss":
            return {"do": "toss", "winner": chance.choice("AB")}
        case "forfeit":
            return {"do": "forfeit", "by": chance.choice("AB")}
        case "find":
            ball, *others = chance.sample((1, 2, 3, 4), 4)
            opened = others[: chance.choice((0, 0, 1, 2, 3))]
            return {"do": "shoot", "opened": opened, "hit": ball, "ball": ball}
        case _:
            opened = chance.choices((1, 2, 3, 4), k=chance.choice((0, 0, 0, 1, 1, 2, 3, 4)))
            return {
                "do": "shoot", "opened": opened, "hit": chance.choice((None, 1, 2, 3, 4)), "ball": chance.randint(1, 4),
            }  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())))
def test_two_readings_agree_in_random_games(options: dict[str, Any]):
    chance = Random(repr(options))
    game = Ojibwe(options)
    model, state = Model(options), game.opening()
    kinds: dict[str, int] = dict.fromkeys(("fine", "illegal", "invalid"), 0)
    most_banked = 0
    for _ in range(ACTIONS):
        if model.sheet["winner"] and chance.random() < 0.2:
            model, state = Model(options), game.opening()
        if model.sheet["hider"] and not model.sheet["winner"] and chance.random() < 0.03:  # one stick, by the judge
            model.sheet |= {"counters": {"A": 1, "B": 1, model.sheet["hider"]: 19}, "pool": 0, "banked": 0}
            state = game.restore(model.sheet)
        action = an_action(chance)
        kind = model.kind(action)
        kinds[kind] += 1
        if kind == "fine":
            state, calls = game.play(state, action)
            assert list(calls) == model.do(action), action
        else:
            with pytest.raises(InvalidActionError if kind == "invalid" else IllegalActionError):
                game.play(state, action)
        assert game.sheet(state) == model.told(), action
        if chance.random() < 0.1:
            assert game.restore(model.sheet) == state
        most_banked = max(most_banked, model.sheet["banked"])
    assert min(kinds.values()) > ACTIONS / 20
    assert (most_banked > 1) == (options["one_stick"] == "keeps_shooting")
