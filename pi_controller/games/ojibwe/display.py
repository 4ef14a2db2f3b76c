"""The Mille Lacs Moccasin game on the strips: a pixel is a counter, in a team's row or in the pool's.

The hiders' row breathes. A white pixel at its far end means that the next find does not pass the hide. If one of the
pads is high, four white pixels in the emptier row, away from the counters, are the pads in order: it is bright, its
mate dimmer, the others faint. Short sticks are counted from both ends, as in Hampa Apena.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.text import Text

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display import game_display as show
from pi_controller.display.i18n import catalogue, mark
from pi_controller.games.ojibwe.rules import COUNTERS, HIGH, HIGH_MATE, OjibweSheet, miss_value
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.rules.base import opposing_team
from pi_controller.table.view import View

HIDES_ON = draw.glow(draw.WHITE, 0.5)
PAD = {HIGH: draw.glow(draw.WHITE, 0.56), HIGH_MATE: draw.glow(draw.WHITE, 0.34)}
PLAIN_PAD = draw.glow(draw.WHITE, 0.17)


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
        "One of four balls is marked. The shooters may open pads and then strike one. A find passes the hide; a miss "
        "pays the value of the pad with the marked ball."
    )
    words: ClassVar[Mapping[str, show.Word]] = {word.call: word for word in _WORDS}
    seal_label: ClassVar[str] = mark("Sealed place of the marked ball")
    turn_key: ClassVar[str] = "hider"
    roles: ClassVar[tuple[str, str]] = (mark("hides"), mark("shoots"))

    def rows(self, view: View, t: float) -> draw.Rows:
        """Return the rows of a Moccasin game."""
        sheet, size = self.sheet(view), pinmap().lights.short
        short = sheet["short"]
        if sum(short.values()) > size:
            short = dict(
                zip("AB", draw.divide_pixels([short["A"], short["B"]], sum(short.values()), size), strict=True)
            )
        short = draw.short_row(short, size)
        if sheet["winner"]:
            return draw.Rows(*draw.winner_rows(sheet["winner"], t), short)
        hider, counters = sheet["hider"], sheet["counters"]
        filled: dict[str, list[Rgb]] = {}
        for team in "AB":
            level = draw.breath(t) if team == hider else draw.WAITING
            lit = draw.pattern(team, counters[team], lambda _, level=level: level)
            filled[team] = lit + [draw.DARK] * (COUNTERS - len(lit))
        if hider and sheet["high"] is not None:
            hitters = opposing_team(hider)
            emptier = hider if counters[hider] < counters[hitters] else hitters
            filled[emptier][-5:-1] = [PAD.get(miss_value(pad, sheet["high"]), PLAIN_PAD) for pad in EVERY_PAD]
        if hider and sheet["hides_left"] > 1:
            filled[hider][-1] = HIDES_ON
        return draw.Rows(filled["A"], filled["B"], [draw.glow(draw.MIDDLE, draw.STEADY)] * sheet["pool"], short)

    def terminal_lines(self, view: View, language: str, width: int) -> list[Text]:
        """Return the table as lines for a terminal."""
        text, sheet = catalogue(language).gettext, self.sheet(view)
        lines: list[Text] = []
        for team, (_, light, dims) in draw.TEAMS.items():
            counters = sheet["counters"][team]
            lines += [
                draw.team_line(team, draw.team_name(view, team), sheet["short"][team], width),
                draw.bar_line(
                    self.role(view, team, language),
                    draw.bar(counters, COUNTERS, width, light, dims),
                    counters,
                    width,
                ),
            ]
        lines.append(
            draw.bar_line(text("pool"), draw.bar(sheet["pool"], COUNTERS, width, draw.MIDDLE), sheet["pool"], width)
        )
        score = f"{sheet['short']['A']}–{sheet['short']['B']}"
        lines.append(draw.fit(draw.label("  " + text("short")).append(score, draw.BOLD), width))
        pads = draw.label("  " + text("pads"))
        for pad in EVERY_PAD:
            high = pad == sheet["high"]
            pads.append(f"[{pad}] ", draw.DIM).append(str(miss_value(pad, sheet["high"])), draw.BOLD)
            pads.append(f" {text('high')}" if high else "", draw.BOLD)
            pads.append(f" {text('open')}" if pad in view.opened else "", draw.DIM).append("   ")
        lines.append(draw.fit(pads, width))
        hides = draw.label("  " + text("to find")).append(str(sheet["hides_left"]), draw.BOLD)
        if sheet["banked"]:
            hides.append("  ").append_text(draw.label(text("banked"))).append(str(sheet["banked"]), draw.BOLD)
        lines.append(draw.fit(hides, width))
        return lines

    def sentence(self, view: View, language: str = "en") -> str:
        """Return the action that the table is waiting for."""
        text, sheet = catalogue(language).gettext, self.sheet(view)
        if sheet["hider"] is None:
            return text("The coin toss: the winner hides first")
        teams = show.both_teams(view, sheet["hider"], "hitter")
        match view.phase:
            case "check":
                return text("Hands off: the mat checks the balls")
            case "hit":
                return text("{hitter} shoots: open a pad, or strike").format(**teams)
            case "show":
                came = self.result(view, language)
                return came or text("Pick up the balls; {hider} hides next").format(**teams)
            case _:
                return text("{hider} hides, {hitter} shoots").format(**teams)

    def describe_win(self, view: View, winner: str, language: str = "en") -> str:
        """Return who has won, and by how many short sticks."""
        short, loser = self.sheet(view)["short"], opposing_team(winner)
        template = catalogue(language).gettext("{winner} wins, {won} to {lost}")
        return template.format(
            winner=draw.isolate_name(draw.team_name(view, winner)), won=short[winner], lost=short[loser]
        )

    def describe_stakes(self, view: View, language: str = "en") -> str:
        """Return the special stakes of this hide."""
        text, plural, sheet = catalogue(language).gettext, catalogue(language).ngettext, self.sheet(view)
        if n := sheet["banked"]:
            return plural(
                "Double, {n} find banked: the same team shoots until it misses.",
                "Double, {n} finds banked: the same team shoots until it misses.",
                n,
            ).format(n=n)
        if sheet["double"]:
            return text("Double: show two fingers and do not consult your team.")
        if (n := sheet["hides_left"]) > 1:
            return plural(
                "The hide passes when the hiders are found {n} time.",
                "The hide passes when the hiders are found {n} times.",
                n,
            ).format(n=n)
        return ""

    def result(self, view: View, language: str = "en") -> str:
        """Return the result of the last attempt, or of the toss."""
        text, plural, sheet = catalogue(language).gettext, catalogue(language).ngettext, self.sheet(view)
        hid, now = view.before.get("hider"), sheet["hider"]
        if not view.before or now is None or sheet["finish"] == "forfeit":
            return ""
        names = show.both_teams(view, now, "hitter")
        if hid is None:
            return text("{hider} won the toss and hide first").format(**names)
        missed = "missed" in view.calls
        if not missed and "found" not in view.calls:
            return ""
        passes = now != hid
        if (team := show.short_gained(view)) is not None:
            names["team"] = draw.isolate_name(draw.team_name(view, team))
            if sheet["winner"]:
                template = text("Missed: a short stick to {team}") if missed else text("Found: a short stick to {team}")
            elif missed:
                template = text("Missed: a short stick to {hider}, who hide next")
            else:
                template = text("Found: a short stick to {team}, and {hider} hide next")
            return template.format(**names)
        n = show.count_gains(view).get(hid, 0)
        names["team"] = draw.isolate_name(draw.team_name(view, hid))
        names["counters"] = plural("{n} counter", "{n} counters", n).format(n=show.number(n, language))
        if missed and passes:
            template = text("Missed: {counters} to {team}, and {hider} hide next")
        elif missed:
            template = text("Missed: {counters} to {hider}, who hide again")
        elif not n:
            template = (
                text("Found: nothing is paid, and {hider} hide next")
                if passes
                else text("Found: nothing is paid, and {hider} hide again")
            )
        elif passes:
            template = text("Found: {counters} to {team}, and {hider} hide next")
        else:
            template = text("Found: {counters} to {hider}, who hide again")
        return template.format(**names)

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return an action as a short sentence."""
        if action.get("do") != "shoot" or "ball" not in action:
            return super().describe_action(action, teams, language)
        text = catalogue(language).gettext
        parts = [text("ball under {pad}").format(pad=action["ball"])]
        if (hit := action.get("hit")) is not None:
            parts.insert(0, text("struck {pad}").format(pad=hit))
        if opened := action.get("opened"):
            parts.insert(0, text("opened {pads}").format(pads=", ".join(map(str, opened))))
        sentence = ", ".join(parts)
        return sentence[:1].upper() + sentence[1:]

    def describe_counts(self, view: View, language: str = "en") -> str:
        """Return each team's counters, and the short sticks once there are any."""
        sheet = self.sheet(view)
        counters = show.named_counts(view, sheet["counters"])
        if not any(sheet["short"].values()):
            return counters
        points = catalogue(language).gettext("Short sticks: {points}")
        return f"{counters}. {points.format(points=show.named_counts(view, sheet['short']))}"

    def score(self, view: View, before: View) -> str:  # noqa: ARG002
        """Return counters, the pool, and games won."""
        sheet = self.sheet(view)
        held, short = sheet["counters"], sheet["short"]
        return f"A {held['A']:>2}  B {held['B']:>2}  pool {sheet['pool']:>2}  games {short['A']}:{short['B']}"

    def describe_reveal(self, view: View) -> str:
        """Return which pads were opened, and where the marked ball was."""
        opened = f"Opened {', '.join(map(str, view.opened))}. " if view.opened else ""
        return f"{opened}Ball under {show.pads_opened(view)}"


SHOW = OjibweShow()
