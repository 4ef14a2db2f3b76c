"""Display of Hampa Apena, with its called words and the booklet's spellings of their sounds."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display import drawing as draw
from pi_controller.display.game_display import GameShow, PadMark, Word, both_teams, point_gained
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import isolate_name, team_name
from pi_controller.games.dakota.rules import DakotaSheet
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.rules.scoreboard import gains
from pi_controller.table.view import View
from pi_controller.text import mark

_WORDS = (
    Word(
        "paguga",
        "Paguga",
        "pa-goo-ga",
        "",
        mark("The bead was found on the second hit. This mistake costs the hitters four sticks, not two."),
        mark("chapter 4"),
        mark("the goo long and guttural"),
    ),
    Word(
        "wheya",
        "Wheya",
        "way-yaa",
        mark("going after"),
        mark("Only four sticks are left on the hitters’ side. The next hits may bring the hiding team a point."),
        mark("chapter 5"),
    ),
    Word(
        "yawapi",
        "Yawapi",
        "yaa-wop-pee",
        "",
        mark("The hiding team keeps six sticks, the hitters hold fourteen. The next hide is for a point."),
        mark("chapter 6"),
    ),
    Word(
        "sahdogan",
        "Sahdogan",
        "shaw-ha-doe-gaa",
        mark("eight"),
        mark("The hiding team keeps twelve sticks, the hitters hold eight. The next hide is for a point."),
        mark("chapter 7"),
        mark("the n silent"),
    ),
    Word(
        "eyeya",
        "Eyeya",
        "E-ye-ya",
        "",
        mark(
            "The last four sticks of the middle are won. If the bead is found on the next first hit, the hitters score."
        ),
        mark("chapter 8"),
        mark("with a long E"),
    ),
    Word(
        "eyeya_obojun",
        "Eyeya Obojun",
        "E-ye-ya-O-bow-jun",
        "",
        mark(
            "The hitting team found the bead on the first hit and wins the point. No other point goes to the hitters."
        ),
        mark("chapter 8"),
        mark("with a long E"),
    ),
    Word(
        "it_stays",
        mark("It stays"),
        "",
        "",
        mark("The bead was found on the first hit: no point. Each team keeps its sticks, and the finders hide."),
        mark("chapter 9"),
    ),
    Word(
        "obojun",
        "Obojun",
        "O-bow-jun",
        "",
        mark("A point: the hiding team gets a short stick."),
        mark("chapter 3"),
    ),
    Word("foul", mark("Foul"), "", "", mark("A rule was broken. The foul decides the hide."), mark("chapter 12")),
    Word(
        "game",
        mark("Game"),
        "",
        "",
        mark("The game is won, by the last short stick or by forfeit. The teams shake hands."),
        mark("chapter 2"),
    ),
)


_STAKES: Mapping[str, str] = {
    "wheya": mark("{hitter} has four sticks left: a find on the second hit is a point for {hider}."),
    "sahdogan": mark("For a point: {hitter} must find the bead on the first hit."),
    "yawapi": mark("For a point: {hitter} must find the bead on the first hit."),
    "eyeya": mark("{hitter} scores by finding the bead on the first hit."),
}


class DakotaShow(GameShow[DakotaSheet]):
    """Display of Hampa Apena."""

    title: ClassVar[str] = "Hampa Apena"
    own_title: ClassVar[bool] = True
    whose: ClassVar[str] = mark("A game of the Dakota.")
    gist: ClassVar[str] = mark(
        "The hitters have two hits. Found at the first: four sticks to them, and they "
        "hide. Found at the second: four to the hiders; missed twice: two."
    )
    after: ClassVar[str] = mark("The teams shake hands.")
    customs: ClassVar[tuple[str, ...]] = (
        mark("No alcohol or drugs while you play (chapter 2, the first unwritten rule)."),
        mark("Be a good sport: after the game all players shake hands (chapter 2, the second unwritten rule)."),
        mark("Shake out the moccasins after each new hider (chapter 12)."),
    )
    words: ClassVar[Mapping[str, Word]] = {word.call: word for word in _WORDS}

    def rows(self, view: View, t: float) -> draw.Rows:
        """Return the rows; at the far end of the hitters' row one white pixel for the first hit, two for the second."""
        rows, sheet, lights = super().rows(view, t), self.sheet(view), pinmap().lights
        owed = {"first": 1, "second": 2}.get(sheet["owed"] or "", 0) if view.phase == "hit" else 0
        if not owed or sheet["winner"] or view.question:
            return rows
        key, size = ("b", lights.b) if sheet["hider"] == "A" else ("a", lights.a)
        row = [*getattr(rows, key)[:size], *[draw.DARK] * (size - len(getattr(rows, key)))]
        return rows._replace(**{key: [*row[:-owed], *[draw.OWED] * owed]})

    def pads(self, view: View) -> list[PadMark]:
        """Return the pads of this hide: the hits, and after it the place of the bead."""
        opened = view.opening
        pads = {pad: PadMark() for pad in EVERY_PAD}
        if opened is not None and opened.hide == view.hide and opened.pad in pads:
            pads[opened.pad] = PadMark("bead", self.tr.text("the bead was here"))
        for i, hit in enumerate(view.hits[:2]):
            if hit.pad is not None:
                order = self.tr.text("second hit") if i else self.tr.text("first hit")
                template = self.tr.text("{order}: found") if hit.found else self.tr.text("{order}: not found")
                pads[hit.pad] = PadMark("found" if hit.found else "struck", template.format(order=order))
        return [*pads.values()]

    def sentence(self, view: View) -> str:
        """Return the action that the table is waiting for."""
        sheet = self.sheet(view)
        hider = sheet["hider"]
        if hider is None:
            toss = self.tr.text("The coin toss: the winner hides first")
            return toss if view.phase == "toss" else self.tr.text("The bead is hidden")
        teams = both_teams(view, hider, "hitter")
        match view.phase:
            case "check":
                return self.tr.text("Hands away: the mat checks the bead")
            case "show":
                return self.result(view) or self.tr.text("The bead is shown: {hider} hide next", **teams)
            case "hit":
                template = (
                    self.tr.text("Second hit: {hitter}")
                    if sheet["owed"] == "second"
                    else self.tr.text("First hit: {hitter}")
                )
                return template.format(**teams)
            case _:
                return self.tr.text("{hider} hides the bead", **teams)

    def describe_stakes(self, view: View) -> str:
        """Return the stakes of a hide beyond sticks (wheya, sahdogan, yawapi, eyeya)."""
        sheet = self.sheet(view)
        template, hider = _STAKES.get(sheet["situation"] or "", ""), sheet["hider"]
        only_second_left = sheet["owed"] == "second" and sheet["situation"] != "wheya"
        if not template or hider is None or only_second_left or view.phase in {"toss", "show"}:
            return ""
        return self.tr.text(template, **both_teams(view, hider, "hitter"))

    def describe_event(self, view: View) -> list[str]:
        """Return the foul and the last hit of this hide, and after it the place of the bead."""
        say = Phrases(self.tr)
        parts = [say.foul(view.foul).rstrip(".")] if view.foul else []
        parts += [say.hit(len(view.hits), view.hits[-1])] if view.hits else []
        opened = view.opening
        if parts and opened is not None and opened.hide == view.hide and view.phase != "hit":
            parts.append(self.tr.text("The bead was under pad {pad}", pad=opened.pad))
        return parts

    def reminders(self, view: View, before: str | None, *, singer: bool = False) -> list[str]:
        """Return the reminder of singers before the toss, and of the hiders' change before a hide.

        A new hider's moccasins are shaken out (chapter 12), and a team that was not found keeps its hider (chapter 2).
        """
        hider = self.sheet(view)["hider"]
        if view.phase == "toss":
            return [self.tr.text("Before the toss: does each team have a singer?")] if singer else []
        if view.phase not in {"hide", "show"} or hider is None:
            return []
        by_foul = "foul" in view.calls
        if before == hider:
            template = self.tr.text("{hider} hides again: no change of hiders until the bead is found.")
            if "paguga" in view.calls and not by_foul:
                template = self.tr.text("{hider} hides again. The hider may change now: then shake out the moccasins.")
        elif before is not None or by_foul or view.hide <= 1:
            template = self.tr.text("{hider} hides: a new hider. Shake out the moccasins.")
        else:
            return []
        return [template.format(**both_teams(view, hider, "hitter"))]

    def result(self, view: View) -> str:
        """Return the result of the last hit or foul, or of the toss."""
        hider = self.sheet(view)["hider"]
        if hider is None or view.sheet.get("finish") == "forfeit":
            return ""
        happened = self._describe_event(view)
        if not happened:
            first = view.before is not None and view.before.turn is None and view.phase == "hide"
            template = self.tr.text("{hider} won the toss: {sticks}, and they hide first") if first else ""
            return template.format(**self._sides(view, hider))
        if view.phase == "hit" and point_gained(view) is None:
            return happened  # the second hit is owed, and no sticks have moved
        return self.tr.text("{happened}: {effect}", happened=happened, effect=self._effect(view))

    def _describe_event(self, view: View) -> str:
        hits = view.hits
        if view.foul:
            return self.tr.text("Foul")
        if not hits:
            return ""
        if hits[-1].found:
            return self.tr.text("Found at the first hit") if len(hits) == 1 else self.tr.text("Found at the second hit")
        return self.tr.text("Missed at the first hit") if len(hits) == 1 else self.tr.text("Missed twice")

    def _effect(self, view: View) -> str:
        winner, hider = view.winner, self.sheet(view)["hider"] or "A"
        hid = (view.before.turn if view.before else None) or hider
        names, passes = self._sides(view, hider), hid != hider
        scored = point_gained(view)
        if scored is not None:
            names["team"] = isolate_name(team_name(view, scored))
            if winner:
                template = self.tr.text("the last point, to {team}")
            elif view.phase == "hit":
                template = self.tr.text("a point to {team}; the second hit is still to come")
            elif passes:
                template = self.tr.text("a point to {team}, who hide next")
            else:
                template = self.tr.text("a point to {team}, who hide again")
            return template.format(**names)
        if self.sheet(view)["situation"] in {"sahdogan", "yawapi"} and not passes:
            return self.tr.text("{hider} hide again, for a point", **names)
        if "it_stays" in view.calls:
            return self.tr.text("it stays, and {hider} hide next", **names)
        if gains(view.before, view.scoreboard).get(hider, 0) > 0:
            template = (
                self.tr.text("{sticks} to {hider}, who hide next")
                if passes
                else self.tr.text("{sticks} to {hider}, who hide again")
            )
            return template.format(**names)
        if not view.before:
            return self.tr.text("{hider} hide", **names)
        return (self.tr.text("{hider} hide next") if passes else self.tr.text("{hider} hide again")).format(**names)

    def _sides(self, view: View, hider: str) -> dict[str, str]:
        n = gains(view.before, view.scoreboard).get(hider, 0)
        sticks = self.tr.plural("{n} stick", "{n} sticks", n, n=self.number(n))
        return {"hider": isolate_name(team_name(view, hider)), "sticks": sticks}

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str]) -> str:
        """Return an action as a short sentence."""
        match action:
            case {"do": "hit", "found": bool(found), "pad": int(pad)}:
                return (self.tr.text("Found under pad {pad}") if found else self.tr.text("Missed at pad {pad}")).format(
                    pad=pad
                )
            case {"do": "hit", "found": bool(found)}:
                return self.tr.text("Found") if found else self.tr.text("Missed")
            case {"do": "foul", "by": by}:
                return self.tr.text("A foul of the hiders") if by == "hider" else self.tr.text("A foul of the hitters")
            case _:
                return super().describe_action(action, teams)


SHOW = DakotaShow
