"""Models of the two bowl games."""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar

from game_models.base import FORFEITS, OTHER, Model, need

REDS = [
    dict(zip(("woman", "fish", "knives", "buttons"), counts, strict=True))
    for counts in product((0, 1), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4))
]


class FishGame(Model):
    """Bageswin. A state is its score sheet."""

    options: ClassVar[dict[str, tuple[Any, ...]]] = {
        "players": ("A,B", "A,B,C", "A,B,C,D,E", "A,B,C,D,E,F,G,H"),
        "sticks": (100, 20),
        "table": ("mille_lacs", "hinckley_2009"),
    }
    bounds: ClassVar[dict[str, tuple[int, int]]] = {"players": (2, 8), "sticks": (1, 1_000_000)}
    invalid: ClassVar[list[Any]] = [
        {"do": "forfeit", "by": "Zoe"}, {"do": "forfeit", "by": ""},
        *({"do": "throw", "red": {**REDS[0], piece: count}}
          for piece, count in (("woman", 2), ("fish", 2), ("knives", 3), ("buttons", 5))),
    ]  # fmt: skip
    distinct: ClassVar[bool] = False

    @property
    def names(self) -> list[str]:
        return self.o["players"].split(",")

    def opening(self) -> dict[str, Any]:
        each = self.o["sticks"] // 2 if len(self.names) == 2 else 0
        players = [{"name": name, "sticks": each, "out": False} for name in self.names]
        bank = self.o["sticks"] - each * len(players)
        return {
            "thrower": self.names[0], "bank": bank, "players": players, "value": None, "winner": None, "finish": None,
        }  # fmt: skip

    def kinds(self) -> list[tuple[float, list[dict[str, Any]]]]:
        throws = [{"do": "throw", "red": red} for red in REDS]
        forfeits = [{"do": "forfeit", "by": name} for name in self.names]
        scores = [throw for throw in throws if self.worth(throw["red"])]
        return [(4, scores), (1, throws), (0.3, [{"do": "double_tap"}]), (0.25, forfeits)]

    def worth(self, red: dict[str, int]) -> int:
        hinckley = self.o["table"] == "hinckley_2009"
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

    def act(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        need(not s["winner"])
        if action["do"] == "forfeit":
            self.leave(s, action["by"], calls)
            return
        s["value"] = self.worth(action["red"]) if action["do"] == "throw" else 0
        if not s["value"]:
            self.pass_on(s)
            return
        self.pay(s, s["value"])
        if not s["bank"]:
            for player in s["players"]:
                player["out"] = player["out"] or player["sticks"] == 0
        if len(self.left(s)) == 1:
            s["winner"] = s["thrower"]

    def leave(self, s: dict[str, Any], by: str, calls: list[str]) -> None:
        leaver = next(player for player in s["players"] if player["name"] == by)
        need(not leaver["out"])
        s["bank"] += leaver["sticks"]
        leaver |= {"sticks": 0, "out": True}
        calls.append("forfeit")
        if s["thrower"] == by:
            self.pass_on(s)
        if len(self.left(s)) == 1:
            s |= {"winner": self.left(s)[0]["name"], "finish": "forfeit"}
            calls.append("game")

    def pay(self, s: dict[str, Any], value: int) -> None:
        """The bank pays until it is empty; then every other player pays as much as the poorest of them can."""
        thrower = next(player for player in s["players"] if player["name"] == s["thrower"])
        if s["bank"]:
            paid = min(value, s["bank"])
            s["bank"] -= paid
            thrower["sticks"] += paid
            return
        payers = [player for player in self.left(s) if player is not thrower]
        paid = min(value, *(player["sticks"] for player in payers))
        for player in payers:
            player["sticks"] -= paid
            thrower["sticks"] += paid

    def left(self, s: dict[str, Any]) -> list[dict[str, Any]]:
        return [player for player in s["players"] if not player["out"]]

    def pass_on(self, s: dict[str, Any]) -> None:
        out = {player["name"]: player["out"] for player in s["players"]}
        at = self.names.index(s["thrower"])
        s["thrower"] = next(name for name in (self.names * 2)[at + 1 :] if not out[name])


class PlumStones(Model):
    """The plum stone game. A state is its score sheet."""

    options: ClassVar[dict[str, tuple[Any, ...]]] = {"counters": (100, 1, 12), "no_throw": ("pass", "again")}
    bounds: ClassVar[dict[str, tuple[int, int]]] = {"counters": (1, 1_000_000)}
    invalid: ClassVar[list[Any]] = [
        {"do": "lot", "first": "C"}, {"do": "throw", "moons": 3, "whites": 0}, {"do": "throw", "moons": 0, "whites": 4},
    ]  # fmt: skip
    distinct: ClassVar[bool] = False

    def opening(self) -> dict[str, Any]:
        counters = {"A": 0, "B": 0}
        return {
            "thrower": None, "pile": self.o["counters"], "counters": counters, "value": None, "winner": None,
            "finish": None,
        }  # fmt: skip

    def kinds(self) -> list[tuple[float, list[dict[str, Any]]]]:
        throws = [{"do": "throw", "moons": moons, "whites": whites} for moons in range(3) for whites in range(4)]
        lots = [{"do": "lot", "first": side} for side in "AB"]
        return [(10, throws), (1, lots), (0.5, [{"do": "no_throw"}]), (0.1, FORFEITS)]

    def act(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        if action["do"] == "forfeit":
            self.forfeit(s, action, calls)
            return
        need(not s["winner"] and (action["do"] == "lot") == (s["thrower"] is None))
        if action["do"] == "lot":
            s["thrower"] = action["first"]
            return
        me = s["thrower"]
        you = OTHER[me]
        shows = (action.get("moons"), action.get("whites"))
        s["value"] = {(2, 3): 10, (0, 0): 10, (1, 3): 1, (1, 0): 1}.get(shows, 0)
        for _ in range(s["value"]):
            pocket, key = (s, "pile") if s["pile"] else (s["counters"], you)
            if pocket[key]:
                pocket[key] -= 1
                s["counters"][me] += 1
        if s["counters"][me] == self.o["counters"]:
            s["winner"] = me
        if not s["value"] and not (action["do"] == "no_throw" and self.o["no_throw"] == "again"):
            s["thrower"] = you
