"""Patol beside a short model of it, written from the rules page alone: the same states, words and refusals."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from itertools import product
from typing import Any

import pytest
from cases import ALL_CASES, cases

from pi_controller.games.patol.rules import Patol

RIVERS = {"north": 0, "east": 10, "south": 20, "west": 30}
VALUES = {"isleta_1891": (5, 3, 2, 10), "zuni_1891": (5, 2, 3, 10)}


def need(allowed: Any) -> None:
    if not allowed:
        raise PermissionError


class Model:
    """The rules in the order in which the page has them. A state is its score sheet and is never changed."""

    def __init__(
        self, players: str = "A,B", killing: bool = True, throws: str = "isleta_1891", circuits: int = 1
    ) -> None:
        self.names, self.killing, self.values, self.course = players.split(","), killing, VALUES[throws], 40 * circuits

    def opening(self) -> dict[str, Any]:
        horses = [
            {"player": name, "river": None, "direction": None, "progress": 0, "notch": None, "out": False}
            for name in self.names
        ]
        return {"thrower": None, "horses": horses, "value": None, "winner": None, "finish": None}

    def sheet(self, s: dict[str, Any]) -> dict[str, Any]:
        return s

    def play(self, before: dict[str, Any], action: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        s, calls = deepcopy(before), []
        need(not s["winner"])
        if action["do"] == "start":
            self.start(s, action)
        elif action["do"] == "throw":
            self.throw(s, self.values[action["marked"]], calls)
        else:
            self.forfeit(s, action["by"], calls)
        return s, calls

    def of(self, s: dict[str, Any], player: str) -> dict[str, Any]:
        return next(horse for horse in s["horses"] if horse["player"] == player)

    def start(self, s: dict[str, Any], action: dict[str, Any]) -> None:
        """Once for each player, in turn order, and at the latest when their first turn comes."""
        waiting = [horse for horse in s["horses"] if not horse["river"] and not horse["out"]]
        need(waiting and waiting[0]["player"] == action["player"])
        clockwise = action["direction"] == "clockwise"
        way = "clockwise" if clockwise else "counterclockwise"
        waiting[0] |= {"river": action["river"], "direction": way, "notch": RIVERS[action["river"]]}
        if s["thrower"] is None:
            s["thrower"] = next(horse["player"] for horse in s["horses"] if not horse["out"])

    def throw(self, s: dict[str, Any], value: int, calls: list[str]) -> None:
        need(s["thrower"])
        me = self.of(s, s["thrower"])
        need(me["river"])
        me["progress"] += value
        me["notch"] = (me["notch"] + (value if me["direction"] == "clockwise" else -value)) % 40
        s["value"] = value
        if me["progress"] >= self.course:
            s["winner"] = s["thrower"]
            return
        for horse in s["horses"]:
            met = horse is not me and not horse["out"] and horse["notch"] == me["notch"]
            if met and self.killing and horse["progress"]:
                horse |= {"progress": 0, "notch": RIVERS[horse["river"]]}
                calls.append("killed")
        if value != 10:
            self.pass_on(s)

    def pass_on(self, s: dict[str, Any]) -> None:
        at = self.names.index(s["thrower"])
        s["thrower"] = next(name for name in (self.names * 2)[at + 1 :] if not self.of(s, name)["out"])

    def forfeit(self, s: dict[str, Any], by: str, calls: list[str]) -> None:
        leaver = self.of(s, by)
        need(not leaver["out"])
        leaver |= {"out": True, "notch": None}
        calls.append("forfeit")
        if s["thrower"] == by:
            self.pass_on(s)
        left = [horse["player"] for horse in s["horses"] if not horse["out"]]
        if len(left) == 1:
            s |= {"winner": left[0], "finish": "forfeit"}
            calls.append("game")


def starts_of(names: str) -> list[dict[str, Any]]:
    ways = ("clockwise", "counterclockwise")
    return [
        {"do": "start", "player": name, "river": river, "direction": way}
        for name, river, way in product(names, RIVERS, ways)
    ]


THROWS = [{"do": "throw", "marked": marked} for marked in range(4)]
INVALID = [
    {"do": "forfeit"}, {"do": "forfeit", "by": "Z"}, {"do": "forfeit", "by": None}, {"do": "throw", "marked": 4},
    {"do": "start", "player": "A", "river": "north"}, {"do": "start", "player": "A", "river": "north", "direction": 1},
    {"do": "start", "player": "A", "river": "north", "direction": ["clockwise"]}, {"do": "lot", "first": "A"}, 3,
]  # fmt: skip


def test_random_games_of_all_options_are_the_models(agree):
    accepted = 0
    options = product((2, 3, 8), (True, False), VALUES, (1, 2))
    for n, (count, killing, throws, circuits) in enumerate(options):
        names = "ABCDEFGH"[:count]
        chosen: dict[str, Any] = {
            "players": ",".join(names), "killing": killing, "throws": throws, "circuits": circuits,
        }  # fmt: skip
        forfeits = [{"do": "forfeit", "by": name} for name in names]
        kinds = [(5, THROWS), (2, starts_of(names)), (0.15, forfeits)]
        accepted += agree(Patol(chosen), Model(**chosen), kinds, INVALID, n, cases(500, 1500))
    assert accepted > cases(3_000, 10_000)


@pytest.mark.parametrize(
    ("chosen", "starts", "counts"),
    [
        # 8 starts; then 8 throws or 8 starts of the second; who has not started starts before throwing
        ({}, "", {1: 8, 2: 8 * 16, 4: 8768, 6: 561600}),
        ({}, "A north clockwise, B north clockwise", {1: 8, 4: 4096, 6: 262024, 12: 65579501160}),
        ({}, "A north clockwise, B south counterclockwise", {6: 262024}),
        ({"killing": False}, "A north clockwise, B south counterclockwise", {6: 262024, 12: 65118946736}),
        (
            {"players": "A,B,C"},
            "A north clockwise, B east clockwise, C west counterclockwise",
            {6: 262024, 10: 1070434656},
        ),
    ],
)
def test_game_counts_by_length_match_the_model(chosen: dict[str, Any], starts: str, counts: dict[int, int]):
    """Every start, or after these starts; and every one of the eight throws of three different sticks."""
    counts = {length: count for length, count in counts.items() if ALL_CASES or length <= max(4, min(counts))}
    game, model = Patol(chosen), Model(**chosen)
    state, mine = game.opening(), model.opening()
    for player, river, direction in (start.split() for start in starts.split(", ") if start):
        action = {"do": "start", "player": player, "river": river, "direction": direction}
        (state, _), (mine, _) = game.play(state, action), model.play(mine, action)

    @cache
    def sequences(state: Any, length: int) -> int:
        if length == 0:
            return 1
        return sum(
            (1, 3, 3, 1)[action.get("marked", 0)] * sequences(game.play(state, action)[0], length - 1)
            for action in game.legal_actions(state)
        )

    alphabet = [*THROWS, *(start for start in starts_of("ABC") if start["direction"].endswith("clockwise"))]

    @cache
    def of_the_model(text: str, length: int) -> int:
        if length == 0:
            return 1
        count = 0
        for action in alphabet:
            try:
                after, _ = model.play(json.loads(text), action)
            except (PermissionError, StopIteration):  # C is of some games only
                continue
            count += (1, 3, 3, 1)[action.get("marked", 0)] * of_the_model(json.dumps(after), length - 1)
        return count

    assert {length: sequences(state, length) for length in counts} == counts
    short = {length: count for length, count in counts.items() if length <= 6}
    assert {length: of_the_model(json.dumps(mine), length) for length in short} == short
