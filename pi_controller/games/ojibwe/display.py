"""Display of the Mille Lacs Moccasin game: its words, pads and sentences."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display import game_display as show
from pi_controller.display.shown_names import isolate_name, team_name
from pi_controller.games.ojibwe.rules import HIGH, HIGH_MATE, OjibweSheet, miss_value
from pi_controller.pads import EVERY_PAD
from pi_controller.referee.story import SETTLED
from pi_controller.rules.scoreboard import gains
from pi_controller.table.view import View
from pi_controller.text import mark

_MARKS = {HIGH: "high", HIGH_MATE: "mate"}

_WORDS = (
    show.Word(
        "double",
        mark("Double"),
        meaning=mark("The hitters have three shooting sticks or fewer: a find costs none, a miss costs all of them."),
        source=mark("DGR-13, rules 21 to 24"),
    ),
    show.Word(
        "found",
        mark("Found"),
        meaning=mark("The marked ball was under the pad that was hit."),
        source=mark("DGR-13, rules 5 and 7"),
    ),
    show.Word(
        "missed",
        mark("Missed"),
        meaning=mark("The marked ball was not under the pad that was hit, or it was under an opened pad."),
        source=mark("DGR-13, rules 6 and 17"),
    ),
    show.Word(
        "high_ball",
        mark("High ball"),
        meaning=mark("Found after opening a pad. A miss on this pad now pays eight, on its pair six."),
        source=mark("DGR-13, rules 7 to 11"),
    ),
    show.Word(
        "short_stick",
        mark("Short stick"),
        meaning=mark("The hiders hold all twenty counters: one game, and a short stick."),
        source=mark("DGR-13, rules 27 and 28"),
    ),
    show.Word(
        "game",
        mark("Game"),
        meaning=mark("The whole game is won, by the last short stick or by forfeit."),
        source=mark("DGR-13, rule 29"),
    ),
)


class OjibweShow(show.GameShow[OjibweSheet]):
    """Display of the Mille Lacs Moccasin game."""

    title: ClassVar[str] = mark("Mille Lacs Moccasin Game")
    whose: ClassVar[str] = mark("A game of the Mille Lacs Band of Ojibwe.")
    gist: ClassVar[str] = mark(
        "One of four balls is marked. The shooters may open pads and then strike one. After a find the hide passes; a "
        "miss pays what the pad with the marked ball is worth."
    )
    words: ClassVar[Mapping[str, show.Word]] = {word.call: word for word in _WORDS}
    seal_label: ClassVar[str] = mark("Sealed place of the marked ball")
    labels: ClassVar[Mapping[str, str]] = {
        "double": mark("double"),
        "double_banked": mark("double, banked: {n}"),
        "high_pad": mark("High ball: pad {n}"),
    }

    def pads(self, view: View) -> list[show.PadMark]:
        """Return the pads: which were opened, where the marked ball lay once that is known, and what a miss pays."""
        opened = view.opening
        lay = opened.pad if opened is not None and view.phase in SETTLED and opened.hide == view.hide else 0
        found = "found" if "found" in view.calls else "bead"
        high = self.sheet(view)["high"]
        pads: list[show.PadMark] = []
        for pad in EVERY_PAD:
            worth = miss_value(pad, high)
            mark = found if pad == lay else "opened" if pad in view.opened else ""
            words = (
                [self.tr.text("the marked ball was here")]
                if pad == lay
                else [self.tr.text("open")]
                if mark == "opened"
                else []
            )
            words += [self.tr.text("high ball")] if worth == HIGH else []
            pads.append(show.PadMark(mark, ", ".join(words), str(worth), _MARKS.get(worth, "")))
        return pads

    def sentence(self, view: View) -> str:
        """Return the action that the table is waiting for."""
        sheet = self.sheet(view)
        if sheet["hider"] is None:
            return self.tr.text("The coin toss: the winner hides first")
        teams = show.both_teams(view, sheet["hider"], "hitter")
        match view.phase:
            case "check":
                return self.tr.text("Hands off: the mat checks the balls")
            case "hit":
                return self.tr.text("{hitter} shoots: open a pad, or strike", **teams)
            case "show":
                came = self.result(view)
                return came or self.tr.text("Pick up the balls; {hider} hides next", **teams)
            case _:
                return self.tr.text("{hider} hides, {hitter} shoots", **teams)

    def describe_stakes(self, view: View) -> str:
        """Return the special stakes of this hide."""
        sheet = self.sheet(view)
        if n := sheet["banked"]:
            return self.tr.plural(
                "Double, {n} find banked: the same team shoots until it misses.",
                "Double, {n} finds banked: the same team shoots until it misses.",
                n,
            )
        if sheet["double"]:
            return self.tr.text("Double: show two fingers and do not consult your team.")
        if (n := sheet["hides_left"]) > 1:
            return self.tr.plural(
                "The hide passes when the hiders are found {n} time.",
                "The hide passes when the hiders are found {n} times.",
                n,
            )
        return ""

    def result(self, view: View) -> str:
        """Return the result of the last attempt, or of the toss."""
        sheet = self.sheet(view)
        now = sheet["hider"]
        if view.before is None or now is None or sheet["finish"] == "forfeit":
            return ""
        names = show.both_teams(view, now, "hitter")
        hid = view.before.turn
        if hid is None:
            return self.tr.text("{hider} won the toss and hide first", **names)
        missed = "missed" in view.calls
        if not missed and "found" not in view.calls:
            return ""
        passes = now != hid
        if (team := show.point_gained(view)) is not None:
            names["team"] = isolate_name(team_name(view, team))
            if sheet["winner"]:
                template = (
                    self.tr.text("Missed: a short stick to {team}")
                    if missed
                    else self.tr.text("Found: a short stick to {team}")
                )
            elif missed:
                template = self.tr.text("Missed: a short stick to {hider}, who hide next")
            else:
                template = self.tr.text("Found: a short stick to {team}, and {hider} hide next")
            return template.format(**names)
        n = gains(view.before, view.scoreboard).get(hid, 0)
        names["team"] = isolate_name(team_name(view, hid))
        names["counters"] = self.tr.plural("{n} counter", "{n} counters", n, n=self.number(n))
        if missed and passes:
            template = self.tr.text("Missed: {counters} to {team}, and {hider} hide next")
        elif missed:
            template = self.tr.text("Missed: {counters} to {hider}, who hide again")
        elif not n:
            template = (
                self.tr.text("Found: nothing is paid, and {hider} hide next")
                if passes
                else self.tr.text("Found: nothing is paid, and {hider} hide again")
            )
        elif passes:
            template = self.tr.text("Found: {counters} to {team}, and {hider} hide next")
        else:
            template = self.tr.text("Found: {counters} to {hider}, who hide again")
        return template.format(**names)

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str]) -> str:
        """Return an action as a short sentence."""
        if action.get("do") != "shoot" or "ball" not in action:
            return super().describe_action(action, teams)
        parts = [self.tr.text("ball under {pad}", pad=action["ball"])]
        if (hit := action.get("hit")) is not None:
            parts.insert(0, self.tr.text("struck {pad}", pad=hit))
        if opened := action.get("opened"):
            parts.insert(0, self.tr.text("opened {pads}", pads=", ".join(map(str, opened))))
        sentence = ", ".join(parts)
        return sentence[:1].upper() + sentence[1:]

    def describe_reveal(self, view: View) -> str:
        """Return which pads were opened, and where the marked ball was."""
        opened = f"Opened {', '.join(map(str, view.opened))}. " if view.opened else ""
        return f"{opened}Ball under {show.pads_opened(view)}"


SHOW = OjibweShow
