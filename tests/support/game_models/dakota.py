"""A model of Hampa Apena."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from game_models.base import FORFEITS, OTHER, Model, need

KEPT = {"sahdogan": 4, "yawapi": 6}
HIDER_FOULS = (
    "pad_skipped", "pad_twice", "no_bead", "two_beads", "bead_showing", "bead_off_mat", "left_position", "outside_help",
)  # fmt: skip
HITS = [{"do": "hit", "found": found, **pad} for found in (True, False) for pad in ({}, {"pad": 1}, {"pad": 4})]
FOULS = [
    {"do": "foul", "by": by, "kind": kind, **hide}
    for by, kinds in (("hider", HIDER_FOULS), ("hitter", ("outside_help", "time")))
    for kind in kinds
    for hide in ({}, {"hide": "this"}, {"hide": "last"})
]


def copied(state: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(state))


class HampaApena(Model):
    """The Dakota game. A state also has the first pad, and the table before this hide and before the last."""

    options: ClassVar[dict[str, tuple[Any, ...]]] = {
        "points": (5, 1),
        "wheya_16_4": ("yawapi", "sahdogan"),
        "low_hider": ("floor", "literal"),
        "foul_payer": ("hider", "middle_first"),
        "foul_on_decision": ("four", "it_stays"),
        "outside_help_by_hitter": ("four", "warning"),
        "hit_seconds": (None,),
        "overtime": ("missed_hit", "forfeit_four"),
    }
    bounds: ClassVar[dict[str, tuple[int, int]]] = {"points": (1, 99), "hit_seconds": (1, 86400)}
    invalid: ClassVar[list[Any]] = [
        {"do": "toss", "winner": "C"}, {"do": "hit", "found": True, "pad": 0}, {"do": "hit", "found": True, "pad": 5},
        {"do": "foul", "by": "hitter", "kind": "no_bead"}, {"do": "foul", "by": "hider", "kind": "time"},
        {"do": "foul", "by": "A", "kind": "no_bead"}, {"do": "foul", "by": "hider", "kind": "no_bead", "pad": 1},
        {"do": "hit", "found": True, "hide": "last"}, {"do": "finish"},
    ]  # fmt: skip
    distinct: ClassVar[bool] = False

    def opening(self) -> dict[str, Any]:
        return {
            "hider": None, "A": 0, "B": 0, "middle": 20, "short": {"A": 0, "B": 0}, "mode": "ordinary", "owed": None,
            "winner": None, "finish": None, "pad": None, "before": None, "last": None,
        }  # fmt: skip

    def kinds(self) -> list[tuple[float, list[dict[str, Any]]]]:
        tosses = [{"do": "toss", "winner": team} for team in "AB"]
        return [(8, HITS), (3, FOULS), (0.5, tosses), (0.06, FORFEITS)]

    def situation(self, s: dict[str, Any]) -> str | None:
        if s["winner"]:
            return None
        if s["mode"] != "ordinary":
            return s["mode"]
        return "wheya" if s["hider"] and s[OTHER[s["hider"]]] + s["middle"] == 4 else None

    def sheet(self, s: dict[str, Any]) -> dict[str, Any]:
        long = {"A": s["A"], "B": s["B"]}
        told = {key: s[key] for key in ("hider", "middle", "short", "owed", "winner", "finish")}
        return {**told, "long": long, "situation": self.situation(s)}

    def play(self, before: dict[str, Any], action: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        s, calls = copied(before), []
        which = action.get("hide", "this")
        if action["do"] == "forfeit":
            need(not s["winner"])
            self.forget(s)
            self.end(s, OTHER[action["by"]], calls, "forfeit")
            s["finish"] = "forfeit"
        elif action["do"] == "toss":
            need(not s["hider"] and not s["winner"])
            s |= {"hider": action["winner"], action["winner"]: 4, "middle": 16, "owed": "first"}
        elif action["do"] == "hit":
            need(s["owed"])
            need(s["owed"] == "first" or action.get("pad") is None or action["pad"] != s["pad"])
            self.hit(s, action["found"], action.get("pad"), calls)
        elif action["by"] == "hider":
            s = self.back(s, which)
            calls.append("foul")
            self.hiders_foul(s, calls)
        else:
            need(not (action["kind"] == "time" and which == "last"))
            hide = self.back(s, which)
            calls.append("foul")
            if action["kind"] == "time" and self.o["overtime"] == "missed_hit":
                self.hit(s, False, None, calls)
            elif action["kind"] == "time" or self.o["outside_help_by_hitter"] == "four":
                s = hide
                self.hit(s, False, None, calls)
                if not s["winner"]:
                    self.hit(s, True, None, calls)
        if self.situation(s) == "wheya" != self.situation(before):
            calls.append("wheya")
        return s, calls

    def back(self, s: dict[str, Any], which: str) -> dict[str, Any]:
        """The table before the first hit of the hide in progress, or of the one just settled."""
        if which == "last":
            need(s["last"])
            return copied(s["last"])
        need(s["owed"])
        hide = copied(s["before"] or s)
        self.forget(hide)
        return hide

    def forget(self, s: dict[str, Any]) -> None:
        s |= {"pad": None, "before": None, "last": None}

    def end(self, s: dict[str, Any], winner: Any, calls: list[str], *words: str) -> None:
        s |= {"winner": winner, "owed": None, "mode": "ordinary"}
        calls += [*words, "game"]

    def take(self, s: dict[str, Any], n: int, to: str, *sources: str) -> None:
        for source in sources:
            given = min(n, s[source])
            s[source] -= given
            s[to] += given
            n -= given

    def all_to_the_middle(self, s: dict[str, Any]) -> None:
        s |= {"A": 0, "B": 0, "middle": 20}

    def swap(self, s: dict[str, Any], mode: str = "ordinary") -> None:
        s |= {"hider": OTHER[s["hider"]], "mode": mode, "owed": "first"}

    def point(self, s: dict[str, Any], team: str, word: str, calls: list[str]) -> None:
        s["short"][team] += 1
        calls.append(word)
        if s["short"][team] == self.o["points"]:
            self.end(s, team, calls)

    def four(self, s: dict[str, Any], *payers: str) -> None:
        h, t = s["hider"], OTHER[s["hider"]]
        n = 4
        if self.o["low_hider"] == "floor":  # after the swap the old hider and the middle keep four
            n = max(0, min(4, s[h] + s["middle"] - 4))
        self.take(s, n, t, *payers)

    def eyeya_point(self, s: dict[str, Any], calls: list[str]) -> None:
        self.all_to_the_middle(s)
        self.swap(s)
        self.point(s, s["hider"], "eyeya_obojun", calls)

    def hiders_foul(self, s: dict[str, Any], calls: list[str]) -> None:
        h = s["hider"]
        if s["mode"] == "eyeya":
            self.eyeya_point(s, calls)
        elif s["mode"] in KEPT and self.o["foul_on_decision"] == "it_stays":
            calls.append("it_stays")
            self.swap(s)
        else:
            self.four(s, *((h, "middle") if self.o["foul_payer"] == "hider" else ("middle", h)))
            self.swap(s)

    def hit(self, s: dict[str, Any], found: bool, pad: Any, calls: list[str]) -> None:
        if s["owed"] == "first":
            self.forget(s)
            hide = copied(s)
            self.first(s, found, calls)
            if found or s["winner"]:
                s["last"] = hide
            else:
                s |= {"owed": "second", "pad": pad, "before": hide}
        else:
            hide = s["before"]
            self.forget(s)
            self.second(s, found, calls)
            s["last"] = hide

    def first(self, s: dict[str, Any], found: bool, calls: list[str]) -> None:
        h, mode = s["hider"], s["mode"]
        t = OTHER[h]
        if found and mode == "eyeya":
            self.eyeya_point(s, calls)
        elif found and mode in KEPT:
            calls.append("it_stays")
            self.swap(s)
        elif found:
            eyeya = (s[h], s[t], s["middle"]) == (16, 0, 4)
            self.four(s, "middle", h)
            if eyeya:
                calls.append("eyeya")
            self.swap(s, "eyeya" if eyeya else "ordinary")
        elif mode in KEPT:
            self.all_to_the_middle(s)
            self.take(s, KEPT[mode], h, "middle")
            self.point(s, h, "obojun", calls)
        elif mode == "eyeya":
            s["mode"] = "ordinary"

    def second(self, s: dict[str, Any], found: bool, calls: list[str]) -> None:
        h, n = s["hider"], 4 if found else 2
        t = OTHER[h]
        pool = s[t] + s["middle"]
        s["owed"] = "first"
        if found:
            calls.append("paguga")
        if s["mode"] in KEPT:
            s["mode"] = "ordinary"
            if found:
                self.take(s, 2, h, "middle")
        elif pool - n >= 4:
            self.take(s, n, h, "middle", t)
        elif pool <= 4 and found:
            self.all_to_the_middle(s)
            self.point(s, h, "obojun", calls)
        else:
            sahdogan = s[t] == 0 or ((s[h], s[t]) == (16, 4) and self.o["wheya_16_4"] == "sahdogan")
            s["mode"] = "sahdogan" if sahdogan else "yawapi"
            s |= {h: 12, t: 8, "middle": 0} if sahdogan else {h: 6, t: 14, "middle": 0}
            calls.append(s["mode"])
