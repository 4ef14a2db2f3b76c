"""The two bowl games beside short models of them, written from the rules page alone: the same states and refusals."""

from __future__ import annotations

from copy import deepcopy
from itertools import product
from typing import Any

from pi_controller.games.bageswin.rules import Bageswin
from pi_controller.games.plum_stone.rules import PlumStone


def need(allowed: Any) -> None:
    if not allowed:
        raise PermissionError


class FishGame:
    """Bageswin. A state is its score sheet and is never changed."""

    def __init__(self, players: str, sticks: int, table: str) -> None:
        self.names, self.sticks, self.table = players.split(","), sticks, table

    def opening(self) -> dict[str, Any]:
        each = self.sticks // 2 if len(self.names) == 2 else 0
        players = [{"name": name, "sticks": each, "out": False} for name in self.names]
        bank = self.sticks - each * len(players)
        return {
            "thrower": self.names[0], "bank": bank, "players": players, "value": None, "winner": None, "finish": None,
        }  # fmt: skip

    def sheet(self, s: dict[str, Any]) -> dict[str, Any]:
        return s

    def worth(self, red: dict[str, int]) -> int:
        hinckley = self.table == "hinckley_2009"
        for one in (red, {"woman": 1 - red["woman"], "fish": 1 - red["fish"], "knives": 2 - red["knives"],
                          "buttons": 4 - red["buttons"]}):  # fmt: skip
            match one["woman"], one["fish"], one["knives"], one["buttons"]:
                case 0, 0, 0, 0:
                    return 8 if hinckley else 50
                case 1, 0, 0, 0:
                    return 50 if hinckley else 20
                case 0, 1, 0, 0:
                    return 20
                case 0, 0, knives, 0:
                    return 15 * knives
                case 0, 0, 0, buttons:
                    return buttons
        return 0

    def play(self, before: dict[str, Any], action: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        s, calls = deepcopy(before), []
        need(not s["winner"])
        by_name = {player["name"]: player for player in s["players"]}
        if action["do"] == "forfeit":
            leaver = by_name[action["by"]]
            need(not leaver["out"])
            s["bank"] += leaver["sticks"]
            leaver |= {"sticks": 0, "out": True}
            calls.append("forfeit")
            if s["thrower"] == action["by"]:
                self.pass_on(s)
            if len(self.left(s)) == 1:
                s |= {"winner": self.left(s)[0]["name"], "finish": "forfeit"}
                calls.append("game")
            return s, calls
        s["value"] = self.worth(action["red"]) if action["do"] == "throw" else 0
        if not s["value"]:
            self.pass_on(s)
            return s, calls
        thrower = by_name[s["thrower"]]
        if s["bank"]:
            paid = min(s["value"], s["bank"])
            s["bank"] -= paid
            thrower["sticks"] += paid
        else:
            payers = [player for player in self.left(s) if player is not thrower]
            poorest = min(player["sticks"] for player in payers)
            for player in payers:
                paid = min(s["value"], poorest)
                player["sticks"] -= paid
                thrower["sticks"] += paid
        if not s["bank"]:
            for player in s["players"]:
                player["out"] = player["out"] or player["sticks"] == 0
        if len(self.left(s)) == 1:
            s["winner"] = s["thrower"]
        return s, calls

    def left(self, s: dict[str, Any]) -> list[dict[str, Any]]:
        return [player for player in s["players"] if not player["out"]]

    def pass_on(self, s: dict[str, Any]) -> None:
        out = {player["name"]: player["out"] for player in s["players"]}
        at = self.names.index(s["thrower"])
        s["thrower"] = next(name for name in (self.names * 2)[at + 1 :] if not out[name])


class PlumStones:
    """The plum stone game. A state is its score sheet and is never changed."""

    def __init__(self, counters: int, no_throw: str) -> None:
        self.counters, self.no_throw = counters, no_throw

    def opening(self) -> dict[str, Any]:
        counters = {"A": 0, "B": 0}
        return {
            "thrower": None, "pile": self.counters, "counters": counters, "value": None, "winner": None, "finish": None,
        }  # fmt: skip

    def sheet(self, s: dict[str, Any]) -> dict[str, Any]:
        return s

    def play(self, before: dict[str, Any], action: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        s = deepcopy(before)
        need(not s["winner"])
        if action["do"] == "forfeit":
            s |= {"winner": "B" if action["by"] == "A" else "A", "finish": "forfeit"}
            return s, ["forfeit", "game"]
        need((action["do"] == "lot") == (s["thrower"] is None))
        if action["do"] == "lot":
            s["thrower"] = action["first"]
            return s, []
        me = s["thrower"]
        you = "B" if me == "A" else "A"
        shows = (action.get("moons"), action.get("whites"))
        s["value"] = {(2, 3): 10, (0, 0): 10, (1, 3): 1, (1, 0): 1}.get(shows, 0)
        for _ in range(s["value"]):
            pocket, key = (s, "pile") if s["pile"] else (s["counters"], you)
            if pocket[key]:
                pocket[key] -= 1
                s["counters"][me] += 1
        if s["counters"][me] == self.counters:
            s["winner"] = me
        if not s["value"] and not (action["do"] == "no_throw" and self.no_throw == "again"):
            s["thrower"] = you
        return s, []


REDS = [
    dict(zip(("woman", "fish", "knives", "buttons"), counts, strict=True))
    for counts in product((0, 1), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4))
]
THROWS = [{"do": "throw", "red": red} for red in REDS]
SCORES = [{"do": "throw", "red": red} for red in REDS if FishGame("A,B", 2, "mille_lacs").worth(red)]
INVALID = [
    {"do": "forfeit"}, {"do": "forfeit", "by": "Zoe"}, {"do": "forfeit", "by": ""}, {"do": "forfeit", "by": 1},
    {"do": "forfeit", "by": "A", "sticks": 3}, {"do": "throw"}, {"do": "toss"}, {"do": "lot", "first": "C"}, None,
]  # fmt: skip


def test_random_fish_games_match_model_for_all_options(agree):
    accepted = 0
    for n, (count, sticks, table) in enumerate(product((2, 3, 5, 8), (20, 100), ("mille_lacs", "hinckley_2009"))):
        chosen: dict[str, Any] = {"players": ",".join("ABCDEFGH"[:count]), "sticks": sticks, "table": table}
        forfeits = [{"do": "forfeit", "by": name} for name in "ABCDEFGH"[:count]]
        kinds = [(4, SCORES), (1, THROWS), (0.3, [{"do": "double_tap"}]), (0.25, forfeits)]
        accepted += agree(Bageswin(chosen), FishGame(**chosen), kinds, INVALID, n, 1500)
    assert accepted > 10_000


def test_random_plum_stone_games_match_the_model(agree):
    throws = [{"do": "throw", "moons": moons, "whites": whites} for moons in range(3) for whites in range(4)]
    lots, forfeits = ([{"do": do, key: side} for side in "AB"] for do, key in (("lot", "first"), ("forfeit", "by")))
    kinds = [(10, throws), (1, lots), (0.5, [{"do": "no_throw"}]), (0.1, forfeits)]
    accepted = 0
    for n, (counters, option) in enumerate(product((1, 12, 100), ("pass", "again"))):
        chosen: dict[str, Any] = {"counters": counters, "no_throw": option}
        accepted += agree(PlumStone(chosen), PlumStones(**chosen), kinds, INVALID, n, 4000)
    assert accepted > 10_000
