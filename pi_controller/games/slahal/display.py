"""Display of Slahal: its words, signals and sentences."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.game_display import GameShow, Word, both_teams, number, pads_opened, side_name
from pi_controller.display.i18n import catalogue, mark
from pi_controller.display.shown_names import isolate_name, team_name
from pi_controller.games.slahal.rules import SlahalSheet
from pi_controller.rules.base import opposing_team
from pi_controller.rules.scoreboard import gains
from pi_controller.table.view import View

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
    labels: ClassVar[Mapping[str, str]] = {
        "live": mark("live"),
        "dead": mark("dead"),
        "king_stick": mark("king stick"),
        "king_not_won": mark("The king stick is not won yet"),
        "pairs_out": mark("pairs out"),
    }
    slips: ClassVar[Mapping[str, str]] = {
        "rehide": mark("Bones moved after presenting"),
        "time": mark("Time is up: the game is over"),
    }

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
            winner=isolate_name(team_name(view, winner)),
            loser=isolate_name(team_name(view, loser)),
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
        sheet, now = self.sheet(view), self.sheet(view)["hiding"]
        if view.before is None or now is None or sheet["finish"] in {"forfeit", "time", "king_moved"}:
            return ""
        names = both_teams(view, now, "guesser")
        hid = view.before.turn
        if hid is None:
            return text("{hider} win the bones and hide first").format(**names)
        if "catch" in view.calls:
            return text("Caught: no stick moves, and {hider} hide next").format(**names)
        n = gains(view.before, view.scoreboard)[hid]
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

    def describe_reveal(self, view: View) -> str:
        """Return the pads of the fists that held the bones."""
        return f"Bones over {pads_opened(view)}"


SHOW = SlahalShow()
