"""What was done, and what the table waits for in the games told by their score sheet: one short sentence for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pi_controller.games.base import other
from pi_controller.show.game_show import by_sheet, held, show_of
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
RIVERS: Mapping[str, str] = {
    "north": mark("north"),
    "east": mark("east"),
    "south": mark("south"),
    "west": mark("west"),
}
DIRECTIONS: Mapping[str, str] = {"clockwise": mark("clockwise"), "counterclockwise": mark("counterclockwise")}


def has_sheet(view: View) -> bool:
    """Return whether `view` is of a game that is told by its score sheet, and has one."""
    return by_sheet(view.game) and bool(view.sheet)


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
    return show_of(view.game).role(view, team, language)


def sentence(view: View, language: str = "en") -> str:
    """Return the one thing the table is waiting for, e.g. `Ana throws`; at the end, who won."""
    show, winner = show_of(view.game), view.sheet.get("winner")
    return show.won(view, winner, language) if winner else show.sentence(view, language)


def turn_worth(view: View, language: str = "en") -> str:
    """Return what is special about this turn, or what the last throw was worth; nothing when there is nothing."""
    return "" if view.sheet.get("winner") else show_of(view.game).turn_worth(view, language)


def throws(view: View, language: str = "en") -> str:
    """Return who throws, or that what shows is to be said."""
    text = catalogue(language).gettext
    said = text("{player} has thrown: what shows?") if view.strokes else text("{player} throws")
    return said.format(player=_name(view, view.sheet["thrower"]))


def counted(view: View, language: str = "en") -> str:
    """Return what each side has now, in a line: `Big Coulee 12, Long Hollow 3`; in Pa-tol the notches run."""
    sheet = view.sheet
    teams = sheet.get("sticks") or sheet.get("counters")
    if teams:
        counts = list(teams.items())
    else:
        counts = [(row["name"], row["sticks"]) for row in sheet.get("players", ()) if not row["out"]]
        counts += [(row["player"], row["progress"]) for row in sheet.get("horses", ()) if not row["out"]]
    told = ", ".join(f"{_name(view, str(side))} {n}" for side, n in counts or held(sheet).items())
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


def _name(view: View, player: str) -> str:
    return inline(player_name(view, player))


def both_teams(view: View, hider: str, opponents: str) -> dict[str, str]:
    """Return the names of the team that hides and of its `opponents`, for a sentence."""
    return {
        "hider": inline(team_name(view, hider)),
        opponents: inline(team_name(view, other("A" if hider == "A" else "B"))),
    }
