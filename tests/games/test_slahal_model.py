"""Slahal beside a short model of it, written from the rules page alone: the same states, words and refusals."""

from __future__ import annotations

from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from cases import ALL_CASES, cases

from pi_controller.games.slahal.rules import Slahal

OPTIONS = {
    "payment": ("live_own_dead", "live_dead_own"),
    "king_last": (False, True),
    "rehide": ("loses_bones", "hide_again", "warning"),
}
OTHER = {"A": "B", "B": "A"}
FACING = {"left": "right", "right": "left", "inside": "outside", "outside": "inside"}


class Model:
    """The rules in the order in which the page has them. A state is its score sheet and is never changed."""

    def __init__(self, **options: Any) -> None:
        self.o = {name: values[0] for name, values in OPTIONS.items()} | options

    def opening(self) -> dict[str, Any]:
        return {
            "phase": "duo", "hiding": None, "pairs_out": None, "live": {"A": 5, "B": 5}, "dead": {"A": 0, "B": 0},
            "king": None, "sticks": {"A": 5, "B": 5}, "winner": None, "finish": None,
        }  # fmt: skip

    def sheet(self, s: dict[str, Any]) -> dict[str, Any]:
        return s

    def play(self, before: dict[str, Any], action: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        s, calls = deepcopy(before), []
        do = action["do"]
        self.need(s["phase"] != "over" and (do == "forfeit" or (do == "duo") == (s["phase"] == "duo")))
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
        return s, calls

    def need(self, allowed: bool) -> None:
        if not allowed:
            raise PermissionError

    def end(self, s: dict[str, Any], winner: str, finish: str) -> None:
        s |= {"phase": "over", "winner": winner, "finish": finish}

    def swap(self, s: dict[str, Any]) -> None:
        s |= {"hiding": OTHER[s["hiding"]], "pairs_out": 2}

    def guess(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        signal, actual, one = action["signal"], action["actual"], s["pairs_out"] == 1
        self.need(not one or {signal, actual} <= {"left", "right"})
        self.need(one or not action.get("mirror"))
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


SIGNALS = ("left", "right", "inside", "outside")
MARKS: list[dict[str, bool]] = [{}, {}, {"block": True}, {"mirror": True}, {"mirror": False, "block": True}]
DUOS = [{"do": "duo", "A": a, "B": b} for a in (True, False) for b in (True, False)]
GUESSES = [
    {"do": "guess", "signal": signal, "actual": actual, **marks}
    for signal, actual, marks in product(SIGNALS, SIGNALS, MARKS)
]
MISSES = [{"do": "guess", "signal": signal, "actual": FACING[signal]} for signal in ("left", "right")]
REHIDES = [{"do": "rehide"}]
ENDS = [{"do": "time"}, *({"do": do, "by": team} for do in ("king_moved", "forfeit") for team in "AB")]
INVALID = [
    {"do": "forfeit"}, {"do": "forfeit", "by": "C"}, {"do": "forfeit", "by": "hiding"}, {"do": "rehide", "by": "A"},
    {"do": "guess", "signal": "left", "actual": "up"}, {"do": "guess", "signal": "left", "actual": "left", "block": 1},
    {"do": "duo", "A": True}, {"do": "king_moved"}, {"do": "time", "by": "A"}, {"do": "toss", "winner": "A"}, "time",
]  # fmt: skip


def test_random_games_of_all_options_are_the_models(agree):
    accepted = 0
    for n, values in enumerate(product(*OPTIONS.values())):
        chosen = dict(zip(OPTIONS, values, strict=True))
        kinds = [(4, GUESSES), (5, MISSES), (2, DUOS), (0.4, REHIDES), (0.03, ENDS)]
        accepted += agree(Slahal(chosen), Model(**chosen), kinds, INVALID, n, cases(1500, 5000))
    assert accepted > cases(4_500, 15_000)


@pytest.mark.parametrize(
    ("chosen", "counts"),
    [
        ({}, {1: 3, 2: 17, 3: 71, 4: 273, 6: 3841, 8: 53457, 12: 10218049, 16: 1887151369}),
        ({"payment": "live_dead_own"}, {8: 53457, 12: 10218161}),
        ({"king_last": True}, {8: 53511, 12: 10302807}),
        ({"payment": "live_dead_own", "king_last": True}, {12: 10302807, 16: 1933252911}),
        ({"rehide": "hide_again"}, {3: 71, 8: 47851, 12: 8042663}),
        ({"rehide": "warning"}, {3: 71, 8: 47851, 12: 8042663}),
    ],
)
def test_game_counts_by_length_match_the_model(
    chosen: dict[str, Any], counts: dict[int, int], reckoned, reckoned_of_model
):
    """Any change of what is allowed, or of what it leads to, moves these counts of sequences of legal actions."""
    counts = {length: count for length, count in counts.items() if ALL_CASES or length <= max(8, min(counts))}
    game, model = Slahal(chosen), Model(**chosen)
    guesses = [{"do": "guess", "signal": "left", "actual": actual} for actual in ("left", "right", "inside")]
    alphabet = [*DUOS[:3], *guesses, *REHIDES, *ENDS[:3]]

    of_model = reckoned_of_model(model, alphabet)
    assert {length: of_model(length) for length in counts} == counts
    assert {length: reckoned(game, length) for length in counts} == counts
