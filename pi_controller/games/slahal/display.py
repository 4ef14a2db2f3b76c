"""Slahal on the strips: live sticks, a gap, dead sticks dimmed, the king stick at the end of its holder's row.

In the middle row, each pair of bones that is out has two pixels, and the king stick has one at the far end until it is
won. The hiding team's live and dead sticks breathe.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.text import Text

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display.game_display import GameShow, Word, both_teams, named_counts, number, pads_opened, side_name
from pi_controller.display.i18n import catalogue, mark
from pi_controller.games.slahal.rules import ALL_DEAD, PER_TEAM, SlahalSheet
from pi_controller.pinmap import pinmap
from pi_controller.rules.base import opposing_team
from pi_controller.table.view import View

KING = draw.glow(draw.WHITE, 0.55)
DEAD_DIM = 0.52
"""Perceived brightness of a dead stick relative to a live one."""

SIGNALS: Mapping[str, str] = {
    "left": mark("left"),
    "right": mark("right"),
    "inside": mark("inside"),
    "outside": mark("outside"),
}

_WORDS = (
    Word(
        "catch",
        mark("Catch"),
        meaning=mark("Every unmarked bone still out was guessed. No stick moves: the guessers win the bones and hide."),
        source=mark("Game Play, 1"),
    ),
    Word(
        "miss",
        mark("Miss"),
        meaning=mark("No unmarked bone was guessed. The hiders win a stick for each pair that was out."),
        source=mark("Game Play, 2"),
    ),
    Word(
        "split",
        mark("One caught, one missed"),
        meaning=mark("The caught pair is given up; for the missed one the hiders win a stick and hide again."),
        source=mark("Game Play, 3"),
    ),
    Word(
        "sweep",
        mark("Clean sweep"),
        meaning=mark("One team holds all ten dead sticks and the king stick, before the time is up."),
        source=mark("Scoring"),
    ),
)


def gained_sticks(view: View, team: str) -> int:
    """Return how many sticks the team won with the last guess, from its dead sticks and the king stick."""
    dead = view.sheet["dead"][team] - view.before["dead"][team]
    return dead + (view.sheet["king"] == team != view.before["king"])


class SlahalShow(GameShow[SlahalSheet]):
    """Display of Slahal."""

    title: ClassVar[str] = "Lahal (Slahal)"
    own_title: ClassVar[bool] = True
    whose: ClassVar[str] = mark("A game of the Indigenous Peoples of the Pacific Coast.")
    gist: ClassVar[str] = mark(
        "Two pairs of bones are hidden in the hands. The guessers point to the unmarked "
        "ones: for each pair that they miss a stick goes to the hiders."
    )
    customs: ClassVar[tuple[str, ...]] = (
        mark("Keep trickery to a minimum: many players are new, and everyone is here to learn (Trickery)."),
        mark("Use only the four hand signals of the sheet (Trickery)."),
        mark("Support learning and play fair, also when you sing and drum (Singing and Drumming)."),
    )
    words: ClassVar[Mapping[str, Word]] = {word.call: word for word in _WORDS}
    seal_label: ClassVar[str] = mark("Sealed bones")
    turn_key: ClassVar[str] = "hiding"
    roles: ClassVar[tuple[str, str]] = (mark("hides"), mark("guesses"))
    slips: ClassVar[Mapping[str, str]] = {
        "rehide": mark("Bones moved after presenting"),
        "time": mark("Time is up: the game is over"),
    }

    def rows(self, view: View, t: float) -> draw.Rows:
        """Return the rows of a Slahal game."""
        sheet = self.sheet(view)
        if sheet["winner"]:
            return draw.Rows(*draw.winner_rows(sheet["winner"], t))
        filled: list[list[Rgb]] = []
        for team, size in zip("AB", (pinmap().lights.a, pinmap().lights.b), strict=True):
            level = draw.breath(t) if team == sheet["hiding"] else draw.WAITING
            live = draw.pattern(team, sheet["live"][team], lambda _, level=level: level)
            dead = draw.pattern(team, sheet["dead"][team], lambda _, level=level: level * DEAD_DIM)
            row = live + [draw.DARK] * (PER_TEAM + 1 - len(live)) + dead + [draw.DARK] * (ALL_DEAD - len(dead))
            row += [draw.DARK] * (size - len(row))
            if sheet["king"] == team:
                row[-1] = KING
            filled.append(row)
        bone = draw.glow(draw.MIDDLE, draw.STEADY)
        middle = [bone, bone, draw.DARK] * (sheet["pairs_out"] or 0)
        if sheet["king"] is None:
            middle += [draw.DARK] * (pinmap().lights.middle - 1 - len(middle)) + [KING]
        return draw.Rows(filled[0], filled[1], middle)

    def terminal_lines(self, view: View, language: str, width: int) -> list[Text]:
        """Return the table as lines for a terminal."""
        text, sheet = catalogue(language).gettext, self.sheet(view)
        lines: list[Text] = []
        for team, (_, light, dims) in draw.TEAMS.items():
            live, dead = sheet["live"][team], sheet["dead"][team]
            head = draw.team_line(team, draw.team_name(view, team), sheet["sticks"][team], width)
            role = " · ".join(
                filter(None, (self.role(view, team, language), text("king stick") * (sheet["king"] == team)))
            )
            lines += [
                head,
                draw.fit(Text(f"  {role}", draw.BOLD), width),
                draw.bar_line(text("live"), draw.bar(live, PER_TEAM, width, light, dims), live, width),
                draw.bar_line(text("dead"), draw.bar(dead, ALL_DEAD, width, light, "0"), dead, width),
            ]
        out = "◖◗ " * (sheet["pairs_out"] or 0) or "–"
        lines.append(draw.fit(draw.label("  " + text("bones out")).append(out, draw.BOLD), width))
        if sheet["king"] is None:
            lines.append(draw.fit(Text("  " + text("The king stick is not won yet"), draw.DIM), width))
        return lines

    def sentence(self, view: View, language: str = "en") -> str:
        """Return the action that the table is waiting for."""
        text, hiding = catalogue(language).gettext, self.sheet(view)["hiding"]
        if view.phase == "check":
            return text("Hands off: the mat checks the balls")
        if view.phase == "guess" and hiding:
            return text("The hands are out: {guesser} guesses").format(**both_teams(view, hiding, "guesser"))
        if hiding is None:
            return text("The first guessers face off for the bones")
        return text("{hider} hides, {guesser} guesses").format(**both_teams(view, hiding, "guesser"))

    def describe_win(self, view: View, winner: str, language: str = "en") -> str:
        """Return who has won, and how."""
        text, sheet, loser = catalogue(language).gettext, view.sheet, opposing_team(winner)
        template = {
            "sweep": text("{winner} wins with all eleven sticks"),
            "time": text("Time is up: {winner} wins, {won} sticks to {lost}"),
            "king_moved": text("{winner} wins: {loser} moved the king stick too early"),
        }[sheet["finish"]]
        return template.format(
            winner=draw.isolate_name(draw.team_name(view, winner)),
            loser=draw.isolate_name(draw.team_name(view, loser)),
            won=sheet["sticks"][winner],
            lost=sheet["sticks"][loser],
        )

    def describe_stakes(self, view: View, language: str = "en") -> str:
        """Return the special stakes of this hide."""
        one = self.sheet(view)["pairs_out"] == 1
        return catalogue(language).gettext("One pair is out: left or right.") if one else ""

    def result(self, view: View, language: str = "en") -> str:
        """Return the result of the last guess, or of the duo."""
        text, plural = catalogue(language).gettext, catalogue(language).ngettext
        sheet, hid = self.sheet(view), view.before.get("hiding")
        now = sheet["hiding"]
        if not view.before or now is None or sheet["finish"] in {"forfeit", "time", "king_moved"}:
            return ""
        names = both_teams(view, now, "guesser")
        if hid is None:
            return text("{hider} win the bones and hide first").format(**names)
        if "catch" in view.calls:
            return text("Caught: no stick moves, and {hider} hide next").format(**names)
        n = gained_sticks(view, hid)
        if not {"miss", "split"} & {*view.calls}:
            return ""
        names["sticks"] = plural("{n} stick", "{n} sticks", n).format(n=number(n, language))
        if sheet["winner"]:
            return text("Missed: {sticks} to {hider}").format(**names)
        if "split" in view.calls:
            return text("One caught, one missed: {sticks} to {hider}, who hide again").format(**names)
        return text("Missed: {sticks} to {hider}, who hide again").format(**names)

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return an action as a short sentence."""
        text = catalogue(language).gettext
        match action:
            case {"do": "duo", "A": bool(a), "B": bool(b)}:
                only = text("Only {team}").format(team=side_name("A" if a else "B", teams))
                return text("Both, or neither: again") if a == b else only
            case {"do": "guess", "signal": str(signal), "actual": str(actual)}:
                template = text("Guessed {signal}; {actual} would have caught the bones")
                signals = {
                    key: text(SIGNALS.get(value, value)) for key, value in (("signal", signal), ("actual", actual))
                }
                return template.format(**signals)
            case {"do": "king_moved", "by": by}:
                return text("{team} moved the king stick too early").format(team=side_name(by, teams))
            case _:
                return super().describe_action(action, teams, language)

    def describe_counts(self, view: View, language: str = "en") -> str:  # noqa: ARG002 - names and numbers
        """Return each team's sticks in a line."""
        return named_counts(view, self.sheet(view)["sticks"])

    def score(self, view: View, before: View) -> str:  # noqa: ARG002
        """Return each team's live and dead sticks, and who holds the king stick."""
        sheet = self.sheet(view)
        counts = [f"{team} live {sheet['live'][team]} dead {sheet['dead'][team]:>2}" for team in "AB"]
        return "  ".join([*counts, f"king {sheet['king'] or '-'}"])

    def describe_reveal(self, view: View) -> str:
        """Return the pads of the fists that held the bones."""
        return f"Bones over {pads_opened(view)}"


SHOW = SlahalShow()
