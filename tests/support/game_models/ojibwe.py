"""A model of the Mille Lacs Moccasin game."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any, ClassVar

from game_models.base import FORFEITS, OTHER, Model, need

if TYPE_CHECKING:
    from random import Random

PADS = (1, 2, 3, 4)
SHOTS: list[dict[str, Any]] = [
    {"do": "shoot", "opened": list(opened), "hit": hit, "ball": ball}
    for n in range(5)
    for opened in permutations(PADS, n)
    for hit, ball in product((None, *PADS), PADS)
]
"""With all that are invalid only in how the pads go together."""
FINDS = [shot for shot in SHOTS if len(shot["opened"]) < 3 and shot["hit"] == shot["ball"] not in shot["opened"]]
PLAIN = [shot for shot in SHOTS if not shot["opened"] and shot["hit"]]


class Moccasin(Model):
    """The Moccasin game of the Mille Lacs Band. A state is the score sheet without what follows from the rest."""

    options: ClassVar[dict[str, tuple[Any, ...]]] = {
        "games": (5, 1),
        "max_open": (2, 3),
        "high_ball_scope": ("shared", "next_hide_only"),
        "high_reset": ("each_short", "never"),
        "start_counters": ("pool", "split_10_10"),
        "one_stick": ("passes", "keeps_shooting"),
    }
    bounds: ClassVar[dict[str, tuple[int, int]]] = {"games": (1, 99), "max_open": (2, 3)}
    invalid: ClassVar[list[Any]] = [
        {"do": "hit", "found": True}, {"do": "toss", "winner": "C"},
        *({"do": "shoot", "opened": opened, "hit": 1, "ball": 1} for opened in ([2, 2], [0], [5], [True], [2.0])),
        {"do": "shoot", "opened": [], "hit": 5, "ball": 1}, {"do": "shoot", "opened": [], "hit": 1, "ball": 0},
    ]  # fmt: skip

    def opening(self) -> dict[str, Any]:
        half = 10 if self.o["start_counters"] == "split_10_10" else 0
        return {
            "hider": None, "counters": {"A": half, "B": half}, "pool": 20 - 2 * half, "short": {"A": 0, "B": 0},
            "high": None, "hides_left": 1, "banked": 0, "winner": None, "finish": None,
        }  # fmt: skip

    def kinds(self) -> list[tuple[float, list[dict[str, Any]]]]:
        tosses = [{"do": "toss", "winner": team} for team in "AB"]
        return [(30, FINDS), (50, PLAIN), (20, SHOTS), (2, tosses), (0.3, FORFEITS)]

    def jump(self, chance: Random, s: dict[str, Any]) -> dict[str, Any] | None:
        """With one shooting stick."""
        if not s["hider"] or s["winner"] or chance.random() > 0.03:
            return None
        return {**s, "counters": {"A": 1, "B": 1, s["hider"]: 19}, "pool": 0, "banked": 0}

    def sheet(self, s: dict[str, Any]) -> dict[str, Any]:
        shooting = 20 - s["counters"][s["hider"]] if s["hider"] else None
        return {**s, "shooting": shooting, "double": shooting is not None and shooting <= 3}

    def worth(self, s: dict[str, Any], pad: int) -> int:
        if s["high"] is None:
            return 4
        if pad == s["high"]:
            return 8
        return 6 if {pad, s["high"]} in ({1, 4}, {2, 3}) else 4

    def act(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        if action["do"] == "forfeit":
            self.forfeit(s, action, calls)
        elif action["do"] == "toss":
            need(not s["winner"] and not s["hider"])
            s["hider"] = action["winner"]
        else:
            self.check_pads(action["opened"], action["hit"], action["ball"])
            need(s["hider"] and not s["winner"] and len(action["opened"]) <= self.o["max_open"])
            self.shoot(s, action, calls)

    def check_pads(self, opened: list[int], hit: int | None, ball: int) -> None:
        """The ball is found by opening its pad, which ends the shot, or else one of the other pads is hit."""
        good = opened[-1:] == [ball] and hit is None if ball in opened else hit is not None and hit not in opened
        if not good or len(opened) > 3:
            raise ValueError

    def shoot(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        hider, hitters = s["hider"], OTHER[s["hider"]]
        sticks, ball, found = 20 - s["counters"][hider], action["ball"], action["hit"] == action["ball"]
        double, one = sticks <= 3, sticks == 1 and self.o["one_stick"] == "keeps_shooting"
        if double:
            due = 0 if found else sticks
        elif found:
            due = 4 if ball == s["high"] else 3
        else:
            due = self.worth(s, ball)
        for _ in range(min(due, sticks)):
            if s["pool"]:
                s["pool"] -= 1
            else:
                s["counters"][hitters] -= 1
            s["counters"][hider] += 1
        calls += (["double"] if double else []) + ["found" if found else "missed"]
        if self.o["high_ball_scope"] == "next_hide_only":
            s["high"] = None
        if found and action["opened"]:
            s["high"] = ball
            calls.append("high_ball")
        if found and one:
            s["banked"] += 1
        elif found and s["hides_left"] > 1:
            s["hides_left"] -= 1
        elif found:
            s |= {"hider": hitters, "hides_left": 2 if double else 1}
        if s["counters"][hider] == 20:
            self.short_stick(s, hider, calls)

    def short_stick(self, s: dict[str, Any], hider: str, calls: list[str]) -> None:
        s |= {"counters": {"A": 0, "B": 0}, "pool": 20, "hides_left": 1}
        s["short"][hider] += 1
        calls.append("short_stick")
        if self.o["high_reset"] == "each_short":
            s["high"] = None
        if s["banked"]:
            s |= {"hider": OTHER[hider], "hides_left": 1 + s["banked"], "banked": 0}
        if s["short"][hider] == self.o["games"]:
            s["winner"] = hider
            calls.append("game")
