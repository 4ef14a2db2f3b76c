"""A model of patol."""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar

from game_models.base import Model, need

RIVERS = {"north": 0, "east": 10, "south": 20, "west": 30}
VALUES = {"isleta_1891": (5, 3, 2, 10), "zuni_1891": (5, 2, 3, 10)}


class Races(Model):
    """Patol. A state is its score sheet."""

    options: ClassVar[dict[str, tuple[Any, ...]]] = {
        "players": ("A,B", "A,B,C", "A,B,C,D,E,F,G,H"),
        "killing": (True, False),
        "throws": tuple(VALUES),
        "circuits": (1, 2),
    }
    bounds: ClassVar[dict[str, tuple[int, int]]] = {"players": (2, 8), "circuits": (1, 99)}
    invalid: ClassVar[list[Any]] = [
        {"do": "forfeit", "by": "Z"}, {"do": "throw", "marked": 4},
        {"do": "start", "player": "Z", "river": "north", "direction": "clockwise"},
    ]  # fmt: skip

    @property
    def names(self) -> list[str]:
        return self.o["players"].split(",")

    def opening(self) -> dict[str, Any]:
        horses = [
            {"player": name, "river": None, "direction": None, "progress": 0, "notch": None, "out": False}
            for name in self.names
        ]
        return {"thrower": None, "horses": horses, "value": None, "winner": None, "finish": None}

    def kinds(self) -> list[tuple[float, list[dict[str, Any]]]]:
        ways = product(self.names, RIVERS, ("clockwise", "counterclockwise"))
        starts = [{"do": "start", "player": name, "river": river, "direction": way} for name, river, way in ways]
        throws = [{"do": "throw", "marked": marked} for marked in range(4)]
        return [(5, throws), (2, starts), (0.15, [{"do": "forfeit", "by": name} for name in self.names])]

    def act(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        need(not s["winner"])
        if action["do"] == "start":
            self.start(s, action)
        elif action["do"] == "throw":
            self.throw(s, VALUES[self.o["throws"]][action["marked"]], calls)
        else:
            self.forfeit(s, action, calls)

    def of(self, s: dict[str, Any], player: str) -> dict[str, Any]:
        return next(horse for horse in s["horses"] if horse["player"] == player)

    def start(self, s: dict[str, Any], action: dict[str, Any]) -> None:
        """Once for each player, in turn order, and at the latest when their first turn comes."""
        waiting = [horse for horse in s["horses"] if not horse["river"] and not horse["out"]]
        need(waiting and waiting[0]["player"] == action["player"])
        river, way = action["river"], action["direction"]
        waiting[0] |= {"river": river, "direction": way, "notch": RIVERS[river]}
        if s["thrower"] is None:
            s["thrower"] = next(horse["player"] for horse in s["horses"] if not horse["out"])

    def throw(self, s: dict[str, Any], value: int, calls: list[str]) -> None:
        need(s["thrower"])
        me = self.of(s, s["thrower"])
        need(me["river"])
        me["progress"] += value
        me["notch"] = (me["notch"] + (value if me["direction"] == "clockwise" else -value)) % 40
        s["value"] = value
        if me["progress"] >= 40 * self.o["circuits"]:
            s["winner"] = s["thrower"]
            return
        for horse in s["horses"]:
            met = horse is not me and not horse["out"] and horse["notch"] == me["notch"]
            if met and self.o["killing"] and horse["progress"]:
                horse |= {"progress": 0, "notch": RIVERS[horse["river"]]}
                calls.append("killed")
        if value != 10:
            self.pass_on(s)

    def pass_on(self, s: dict[str, Any]) -> None:
        at = self.names.index(s["thrower"])
        s["thrower"] = next(name for name in (self.names * 2)[at + 1 :] if not self.of(s, name)["out"])

    def forfeit(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        leaver = self.of(s, action["by"])
        need(not leaver["out"])
        leaver |= {"out": True, "notch": None}
        calls.append("forfeit")
        if s["thrower"] == action["by"]:
            self.pass_on(s)
        left = [horse["player"] for horse in s["horses"] if not horse["out"]]
        if len(left) == 1:
            s |= {"winner": left[0], "finish": "forfeit"}
            calls.append("game")
