"""Display of Hampa Apena, with its called words and the booklet's spellings of their sounds."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.drawing import isolate_name, team_name
from pi_controller.display.game_display import GameShow, Word, count_gains, number, short_gained
from pi_controller.display.i18n import catalogue, mark
from pi_controller.games.dakota.rules import DakotaSheet
from pi_controller.table.view import View

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

    def result(self, view: View, language: str = "en") -> str:
        """Return the result of the last hit or foul, or of the toss."""
        if view.hider is None or view.sheet.get("finish") == "forfeit":
            return ""
        text, happened = catalogue(language).gettext, self._describe_event(view, language)
        if not happened:
            first = bool(view.before) and view.before.get("hider") is None and view.phase == "hide"
            template = text("{hider} won the toss: {sticks}, and they hide first") if first else ""
            return template.format(**self._sides(view, view.hider, language))
        if view.phase == "hit" and short_gained(view) is None:
            return happened  # the second hit is owed, and no sticks have moved
        return text("{happened}: {effect}").format(happened=happened, effect=self._effect(view, language))

    def _describe_event(self, view: View, language: str) -> str:
        text, hits = catalogue(language).gettext, view.hits
        if view.foul:
            return text("Foul")
        if not hits:
            return ""
        if hits[-1].found:
            return text("Found at the first hit") if len(hits) == 1 else text("Found at the second hit")
        return text("Missed at the first hit") if len(hits) == 1 else text("Missed twice")

    def _effect(self, view: View, language: str) -> str:
        text, winner, hider = catalogue(language).gettext, view.winner, view.hider or "A"
        hid = view.before.get("hider") or hider
        names, passes = self._sides(view, hider, language), hid != hider
        scored = short_gained(view)
        if scored is not None:
            names["team"] = isolate_name(team_name(view, scored))
            if winner:
                template = text("the last point, to {team}")
            elif view.phase == "hit":
                template = text("a point to {team}; the second hit is owed")
            elif passes:
                template = text("a point to {team}, who hide next")
            else:
                template = text("a point to {team}, who hide again")
            return template.format(**names)
        if view.situation in {"sahdogan", "yawapi"} and not passes:
            return text("{hider} hide again, for a point").format(**names)
        if "it_stays" in view.calls:
            return text("it stays, and {hider} hide next").format(**names)
        if count_gains(view).get(hider, 0) > 0:
            template = (
                text("{sticks} to {hider}, who hide next") if passes else text("{sticks} to {hider}, who hide again")
            )
            return template.format(**names)
        if not view.before:
            return text("{hider} hide").format(**names)
        return (text("{hider} hide next") if passes else text("{hider} hide again")).format(**names)

    def _sides(self, view: View, hider: str, language: str) -> dict[str, str]:
        n, plural = count_gains(view).get(hider, 0), catalogue(language).ngettext
        sticks = plural("{n} stick", "{n} sticks", n).format(n=number(n, language))
        return {"hider": isolate_name(team_name(view, hider)), "sticks": sticks}

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return an action as a short sentence."""
        text = catalogue(language).gettext
        match action:
            case {"do": "hit", "found": bool(found), "pad": int(pad)}:
                return (text("Found under pad {pad}") if found else text("Missed at pad {pad}")).format(pad=pad)
            case {"do": "hit", "found": bool(found)}:
                return text("Found") if found else text("Missed")
            case {"do": "foul", "by": by}:
                return text("A foul of the hiders") if by == "hider" else text("A foul of the hitters")
            case _:
                return super().describe_action(action, teams, language)

    def score(self, view: View, before: View) -> str:  # noqa: ARG002
        """Return each team's sticks, the middle, and the points."""
        return (
            f"A {view.long['A']:>2}  B {view.long['B']:>2}  middle {view.middle:>2}"
            f"  points {view.short['A']}:{view.short['B']}"
        )


SHOW = DakotaShow()
