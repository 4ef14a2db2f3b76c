"""What was done, and what the table waits for in the games told by their score sheet: one short sentence for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pi_controller.games.base import other
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.names import clean, inline, player_name, team_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.table.view import View

    Text = Callable[[str], str]

SIGNALS: Mapping[str, str] = {
    "left": mark("left"),
    "right": mark("right"),
    "inside": mark("inside"),
    "outside": mark("outside"),
}
PIECES: Mapping[str, str] = {
    "woman": mark("woman"),
    "fish": mark("fish"),
    "knives": mark("knife"),
    "buttons": mark("button"),
    "moons": mark("moon"),
    "whites": mark("white"),
}
SLIPS: Mapping[str, str] = {
    "double_tap": mark("Tapped twice: nothing, the bowl passes"),
    "no_throw": mark("No throw: spilled, or not all moved"),
    "rehide": mark("Bones moved after presenting"),
    "time": mark("Time: the game is over"),
}
GAMES = ("ojibwe", "slahal", "bageswin", "plum_stone", "patol")
"""The games that have no hides of Hampa Apena to be told by."""
RIVERS: Mapping[str, str] = {
    "north": mark("north"),
    "east": mark("east"),
    "south": mark("south"),
    "west": mark("west"),
}
DIRECTIONS: Mapping[str, str] = {"clockwise": mark("clockwise"), "counterclockwise": mark("counterclockwise")}
ROLES: Mapping[str, tuple[str, str]] = {
    "ojibwe": (mark("hides"), mark("shoots")),
    "slahal": (mark("hides"), mark("guesses")),
    "plum_stone": (mark("throws"), ""),
}
"""What the team whose turn it is does, and what the other one does."""
_TURN = {"ojibwe": "hider", "slahal": "hiding", "plum_stone": "thrower"}


def has_sheet(view: View) -> bool:
    """Return whether `view` is of one of `GAMES` and has a score sheet to be told by."""
    return view.game in GAMES and bool(view.sheet)


def played(action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
    """Return in a short sentence what an action of any game does; nothing for one that has no sentence.

    `action` is in the words of this version (`Game.current`), `teams` are the names by their letters.
    """
    text = catalogue(language).gettext

    def named(side: object) -> str:
        return inline(clean(teams.get(str(side), "")) or clean(str(side)) or "?")

    match action:
        case {"do": "toss", "winner": winner}:
            return text("{team} won the toss").format(team=named(winner))
        case {"do": "lot", "first": first}:
            return text("{team} throws first").format(team=named(first))
        case {"do": "hit", "found": bool(found), "pad": int(pad)}:
            return (text("Found under pad {pad}") if found else text("Missed at pad {pad}")).format(pad=pad)
        case {"do": "hit", "found": bool(found)}:
            return text("Found") if found else text("Missed")
        case {"do": "foul", "by": by}:
            return text("A foul of the hiders") if by == "hider" else text("A foul of the hitters")
        case {"do": "forfeit", "by": by}:
            return text("Forfeit by {side}").format(side=named(by))
        case {"do": "shoot", "ball": ball}:
            return _shot(action, ball, text)
        case {"do": "duel", "A": bool(a), "B": bool(b)}:
            only = text("Only {team}").format(team=named("A" if a else "B"))
            return text("Both, or neither: again") if a == b else only
        case {"do": "guess", "signal": str(signal), "actual": str(actual)}:
            said = text("Guessed {signal}; {actual} would have caught the bones")
            told = {key: text(SIGNALS.get(value, value)) for key, value in (("signal", signal), ("actual", actual))}
            return said.format(**told)
        case {"do": "king_moved", "by": by}:
            return text("{team} moved the king stick too early").format(team=named(by))
        case {"do": "start", "player": player, "river": str(river), "direction": str(direction)}:
            said = text("{player} starts from {river}, {direction}")
            way = text(DIRECTIONS.get(direction, direction))
            return said.format(player=named(player), river=text(RIVERS.get(river, river)), direction=way)
        case {"do": "throw", "marked": marked}:
            return text("{n} marked").format(n=marked)
        case {"do": "throw", "red": Mapping() as red}:
            return _thrown(red, text("No piece shows red"), text)
        case {"do": "throw"}:
            return _thrown(action, text("No moon and no white shows"), text)
        case {"do": str(slip)}:
            return text(SLIPS[slip]) if slip in SLIPS else ""
        case _:
            return ""


def _shot(action: Mapping[str, Any], ball: object, text: Text) -> str:
    told = [text("ball under {pad}").format(pad=ball)]
    if (hit := action.get("hit")) is not None:
        told.insert(0, text("struck {pad}").format(pad=hit))
    if opened := action.get("opened"):
        told.insert(0, text("opened {pads}").format(pads=", ".join(map(str, opened))))
    said = ", ".join(told)
    return said[:1].upper() + said[1:]


def _thrown(shown: Mapping[str, Any], none: str, text: Text) -> str:
    told = [f"{shown[kind]} {text(piece)}" for kind, piece in PIECES.items() if shown.get(kind)]
    return text("Shows: {told}").format(told=", ".join(told)) if told else none


def role(view: View, team: str, language: str = "en") -> str:
    """Return what `team` does now, or nothing: `hides`, `shoots`, `guesses`, `throws`, `wins`."""
    text = catalogue(language).gettext
    if winner := view.sheet["winner"]:
        return text("wins") if team == winner else ""
    turn = view.sheet[_TURN[view.game]]
    if turn is None:
        return ""
    said = ROLES[view.game][0 if turn == team else 1]
    return text(said) if said else ""


def sentence(view: View, language: str = "en") -> str:
    """Return the one thing the table is waiting for, e.g. `Ana throws`; at the end, who won."""
    text, sheet = catalogue(language).gettext, view.sheet
    if sheet["winner"]:
        return _won(view, sheet["winner"], text)
    match view.game:
        case "ojibwe" if sheet["hider"] is None:
            return text("The coin toss: the winner hides first")
        case "ojibwe" | "slahal" if view.phase == "check":
            return text("Nothing moves: the mat looks")
        case "ojibwe" if view.phase == "hit":
            return text("{hitter} shoots: open a pad, or strike").format(**_teams(view, sheet["hider"], "hitter"))
        case "ojibwe" if view.phase == "show":
            return text("The balls are taken up; {hider} hides next").format(**_teams(view, sheet["hider"], "hitter"))
        case "slahal" if view.phase == "guess":
            return text("The hands are out: {guesser} guesses").format(**_teams(view, sheet["hiding"], "guesser"))
        case "ojibwe":
            return text("{hider} hides, {hitter} shoots").format(**_teams(view, sheet["hider"], "hitter"))
        case "slahal" if sheet["hiding"] is None:
            return text("The first guessers face off for the bones")
        case "slahal":
            return text("{hider} hides, {guesser} guesses").format(**_teams(view, sheet["hiding"], "guesser"))
        case "plum_stone" if sheet["thrower"] is None:
            return text("Lots are drawn for the first throw")
        case "patol" if starter := starts_next(sheet):
            return text("{player} chooses a river and a direction").format(player=_name(view, starter))
        case _ if view.strokes:
            return text("{player} has thrown: what shows?").format(player=_name(view, sheet["thrower"]))
        case _:
            return text("{player} throws").format(player=_name(view, sheet["thrower"]))


def turn_worth(view: View, language: str = "en") -> str:
    """Return what is special about this turn, or what the last throw was worth; nothing when there is nothing."""
    text, plural, sheet = catalogue(language).gettext, catalogue(language).ngettext, view.sheet
    if sheet["winner"]:
        return ""
    match view.game:
        case "ojibwe" if n := sheet["banked"]:
            return plural(
                "Double, {n} find banked: the same team shoots until it misses.",
                "Double, {n} finds banked: the same team shoots until it misses.",
                n,
            ).format(n=n)
        case "ojibwe" if sheet["double"]:
            return text("Double: two fingers are shown, and nobody is asked.")
        case "ojibwe" if (n := sheet["hides_left"]) > 1:
            return plural(
                "The hide passes when the hiders are found {n} time.",
                "The hide passes when the hiders are found {n} times.",
                n,
            ).format(n=n)
        case "slahal" if sheet["pairs_out"] == 1:
            return text("One pair is out: left or right.")
        case "bageswin" | "plum_stone" | "patol":
            return worth(sheet["value"], language)
        case _:
            return ""


def worth(value: int | None, language: str = "en") -> str:
    """Return what the last throw was worth as words; nothing before the first."""
    return "" if value is None else catalogue(language).gettext("The last throw: {value}").format(value=value)


def counted(view: View, language: str = "en") -> str:
    """Return what each side has now, in a line: `Big Coulee 12, Long Hollow 3`; in Pa-tol the notches run."""
    sheet = view.sheet
    teams = sheet.get("sticks") or sheet.get("counters")
    if teams:
        held = list(teams.items())
    else:
        held = [(row["name"], row["sticks"]) for row in sheet.get("players", ()) if not row["out"]]
        held += [(row["player"], row["progress"]) for row in sheet.get("horses", ()) if not row["out"]]
    told = ", ".join(f"{_name(view, str(side))} {n}" for side, n in held)
    if sheet.get("short") and any(sheet["short"].values()):
        points = ", ".join(f"{_name(view, side)} {n}" for side, n in sheet["short"].items())
        return f"{told}. {catalogue(language).gettext('Short sticks: {points}').format(points=points)}"
    return told


def starts_next(sheet: Mapping[str, Any]) -> str | None:
    """Return the player of Pa-tol whose turn it is and who has not started; None where somebody throws."""
    left = [horse for horse in sheet["horses"] if not horse["out"]]
    turn = next((horse for horse in left if sheet["thrower"] in (None, horse["player"])), None)
    return turn["player"] if turn and turn["river"] is None else None


def horse(told: Mapping[str, Any], language: str = "en") -> str:
    """Return where a horse started, which way it runs and how far it is: `from north, clockwise, 12 notches`."""
    if told["out"]:
        return catalogue(language).gettext("out")
    if told["river"] is None:
        return catalogue(language).gettext("has not started")
    text, plural = catalogue(language).gettext, catalogue(language).ngettext
    run = plural("{n} notch", "{n} notches", told["progress"]).format(n=told["progress"])
    return text("from {river}, {direction}, {run}").format(
        river=text(RIVERS[told["river"]]), direction=text(DIRECTIONS[told["direction"]]), run=run
    )


def _won(view: View, winner: str, text: Text) -> str:
    sheet = view.sheet
    match view.game:
        case "ojibwe":
            loser = "B" if winner == "A" else "A"
            return text("{winner} wins, {won} to {lost}").format(
                winner=inline(team_name(view, winner)), won=sheet["short"][winner], lost=sheet["short"][loser]
            )
        case "slahal":
            loser = "B" if winner == "A" else "A"
            said = {
                "sweep": text("{winner} wins with all eleven sticks"),
                "time": text("Time: {winner} wins, {won} sticks to {lost}"),
                "king_moved": text("{winner} wins: {loser} moved the king stick too early"),
            }[sheet["finish"]]
            return said.format(
                winner=inline(team_name(view, winner)),
                loser=inline(team_name(view, loser)),
                won=sheet["sticks"][winner],
                lost=sheet["sticks"][loser],
            )
        case "bageswin":
            return text("{winner} holds all the sticks and wins").format(winner=_name(view, winner))
        case "plum_stone":
            return text("{winner} holds all the counters and wins").format(winner=_name(view, winner))
        case _:
            return text("{winner} wins: the horse has come all the way round").format(winner=_name(view, winner))


def _name(view: View, player: str) -> str:
    return inline(player_name(view, player))


def _teams(view: View, hider: str, opponents: str) -> dict[str, str]:
    return {
        "hider": inline(team_name(view, hider)),
        opponents: inline(team_name(view, other("A" if hider == "A" else "B"))),
    }
