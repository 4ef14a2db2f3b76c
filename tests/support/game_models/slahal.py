"""A model of slahal."""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar

from game_models.base import FORFEITS, OTHER, Model, need

FACING = {"left": "right", "right": "left", "inside": "outside", "outside": "inside"}
MARKS: list[dict[str, bool]] = [{}, {"block": True}, {"mirror": True}, {"mirror": False, "block": True}]
GUESSES = [
    {"do": "guess", "signal": signal, "actual": actual, **marks}
    for signal, actual, marks in product(FACING, FACING, MARKS)
]
MISSES = [{"do": "guess", "signal": signal, "actual": FACING[signal]} for signal in ("left", "right")]
ENDS = [{"do": "time"}, *({"do": "king_moved", "by": team} for team in "AB"), *FORFEITS]


class Bones(Model):
    """Slahal. A state is its score sheet."""

    options: ClassVar[dict[str, tuple[Any, ...]]] = {
        "payment": ("live_own_dead", "live_dead_own"),
        "king_last": (False, True),
        "rehide": ("loses_bones", "hide_again", "warning"),
        "minutes": (20,),
        "hide_seconds": (60,),
    }
    bounds: ClassVar[dict[str, tuple[int, int]]] = {"minutes": (1, 1440), "hide_seconds": (1, 3600)}
    invalid: ClassVar[list[Any]] = [
        {"do": "forfeit", "by": "hiding"}, {"do": "king_moved", "by": "C"}, {"do": "toss", "winner": "A"},
        {"do": "guess", "signal": "left", "actual": "up"},
    ]  # fmt: skip

    def opening(self) -> dict[str, Any]:
        return {
            "phase": "duo", "hiding": None, "pairs_out": None, "live": {"A": 5, "B": 5}, "dead": {"A": 0, "B": 0},
            "king": None, "sticks": {"A": 5, "B": 5}, "winner": None, "finish": None,
        }  # fmt: skip

    def kinds(self) -> list[tuple[float, list[dict[str, Any]]]]:
        duos = [{"do": "duo", "A": a, "B": b} for a, b in product((True, False), repeat=2)]
        return [(4, GUESSES), (5, MISSES), (2, duos), (0.4, [{"do": "rehide"}]), (0.03, ENDS)]

    def act(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        do = action["do"]
        need(s["phase"] != "over" and (do == "forfeit" or (do == "duo") == (s["phase"] == "duo")))
        if do == "forfeit":
            self.end(s, OTHER[action["by"]], "forfeit")
            calls += ["forfeit", "game"]
        elif do == "duo" and action["A"] != action["B"]:
            winner = "A" if action["A"] else "B"
            s |= {"phase": "play", "hiding": winner, "king": winner, "pairs_out": 2}
        elif do == "guess":
            self.guess(s, action, calls)
        elif do == "rehide" and self.o["rehide"] == "loses_bones":
            self.swap(s)
        elif do == "king_moved":
            self.end(s, OTHER[action["by"]], "king_moved")
        elif do == "time":
            self.end(s, "A" if s["sticks"]["A"] > s["sticks"]["B"] else "B", "time")
        s["sticks"] = {team: s["live"][team] + s["dead"][team] + (s["king"] == team) for team in "AB"}

    def end(self, s: dict[str, Any], winner: Any, finish: str) -> None:
        s |= {"phase": "over", "winner": winner, "finish": finish}

    def swap(self, s: dict[str, Any]) -> None:
        s |= {"hiding": OTHER[s["hiding"]], "pairs_out": 2}

    def guess(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        signal, actual, one = action["signal"], action["actual"], s["pairs_out"] == 1
        need(not one or {signal, actual} <= {"left", "right"})
        need(one or not action.get("mirror"))
        if signal == actual:
            calls.append("catch")
            self.swap(s)
        elif one or actual == FACING[signal]:
            self.won(s, 1 if one else 2, "miss", calls)
        else:
            s["pairs_out"] = 1
            self.won(s, 1, "split", calls)

    def won(self, s: dict[str, Any], n: int, word: str, calls: list[str]) -> None:
        """Give the hiding team `n` sticks, one at a time."""
        calls.append(word)
        h = s["hiding"]
        g, live, dead = OTHER[h], s["live"], s["dead"]
        for _ in range(n):
            if s["winner"]:
                return
            own, others = (live, h), (dead, g)
            order = [(live, g), own, others] if self.o["payment"] == "live_own_dead" else [(live, g), others, own]
            pile, team = next(((pile, team) for pile, team in order if pile[team]), (None, None))
            if pile:
                pile[team] -= 1
                dead[h] += 1
            if dead[h] == 10 and (not pile or (s["king"] == h and not self.o["king_last"])):
                s["king"] = h
                self.end(s, h, "sweep")
                calls.append("sweep")
