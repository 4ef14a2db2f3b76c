"""Display of Slahal: its words, signals and sentences."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.game_display import GameShow, Word, both_teams, pads_opened, side_name
from pi_controller.display.shown_names import isolate_name, team_name
from pi_controller.games.slahal.rules import SlahalSheet
from pi_controller.rules.base import opposing_team
from pi_controller.rules.scoreboard import gains
from pi_controller.table.view import View
from pi_controller.text import mark

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

    def sentence(self, view: View) -> str:
        """Return the action that the table is waiting for."""
        hiding = self.sheet(view)["hiding"]
        if view.phase == "check":
            return self.tr.text("Hands off: the mat checks the balls")
        if view.phase == "guess" and hiding:
            return self.tr.text("The hands are out: {guesser} guesses", **both_teams(view, hiding, "guesser"))
        if hiding is None:
            return self.tr.text("The first guessers face off for the bones")
        return self.tr.text("{hider} hides, {guesser} guesses", **both_teams(view, hiding, "guesser"))

    def describe_win(self, view: View, winner: str) -> str:
        """Return who has won, and how."""
        sheet, loser = view.sheet, opposing_team(winner)
        template = {
            "sweep": self.tr.text("{winner} wins with all eleven sticks"),
            "time": self.tr.text("Time is up: {winner} wins, {won} sticks to {lost}"),
            "king_moved": self.tr.text("{winner} wins: {loser} moved the king stick too early"),
        }[sheet["finish"]]
        return template.format(
            winner=isolate_name(team_name(view, winner)),
            loser=isolate_name(team_name(view, loser)),
            won=sheet["sticks"][winner],
            lost=sheet["sticks"][loser],
        )

    def describe_stakes(self, view: View) -> str:
        """Return the special stakes of this hide."""
        one = self.sheet(view)["pairs_out"] == 1
        return self.tr.text("One pair is out: left or right.") if one else ""

    def result(self, view: View) -> str:
        """Return the result of the last guess, or of the duo."""
        sheet, now = self.sheet(view), self.sheet(view)["hiding"]
        if view.before is None or now is None or sheet["finish"] in {"forfeit", "time", "king_moved"}:
            return ""
        names = both_teams(view, now, "guesser")
        hid = view.before.turn
        if hid is None:
            return self.tr.text("{hider} win the bones and hide first", **names)
        if "catch" in view.calls:
            return self.tr.text("Caught: no stick moves, and {hider} hide next", **names)
        n = gains(view.before, view.scoreboard)[hid]
        if not {"miss", "split"} & {*view.calls}:
            return ""
        names["sticks"] = self.tr.plural("{n} stick", "{n} sticks", n, n=self.number(n))
        if sheet["winner"]:
            return self.tr.text("Missed: {sticks} to {hider}", **names)
        if "split" in view.calls:
            return self.tr.text("One caught, one missed: {sticks} to {hider}, who hide again", **names)
        return self.tr.text("Missed: {sticks} to {hider}, who hide again", **names)

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str]) -> str:
        """Return an action as a short sentence."""
        match action:
            case {"do": "duo", "A": bool(a), "B": bool(b)}:
                only = self.tr.text("Only {team}", team=side_name("A" if a else "B", teams))
                return self.tr.text("Both, or neither: again") if a == b else only
            case {"do": "guess", "signal": str(signal), "actual": str(actual)}:
                template = self.tr.text("Guessed {signal}; {actual} would have caught the bones")
                signals = {
                    key: self.tr.text(SIGNALS.get(value, value))
                    for key, value in (("signal", signal), ("actual", actual))
                }
                return template.format(**signals)
            case {"do": "king_moved", "by": by}:
                return self.tr.text("{team} moved the king stick too early", team=side_name(by, teams))
            case _:
                return super().describe_action(action, teams)

    def describe_reveal(self, view: View) -> str:
        """Return the pads of the fists that held the bones."""
        return f"Bones over {pads_opened(view)}"


SHOW = SlahalShow
