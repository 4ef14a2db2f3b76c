"""Pa-tol on the strips: rows A and B are the ring of forty notches from north clockwise, the middle row the last throw.

The four rivers glow faintly if no horse is there. Every horse has a colour and a rhythm of its own, eight beats of half
a second between bright and dim, so blinking never exceeds 1 Hz and players need not distinguish colours. Horses in one
notch take turns, a whole rhythm each. The thrower's horse is brighter.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.text import Text

from pi_controller.display import drawing as draw
from pi_controller.display.game_display import GameShow, Word, side_name
from pi_controller.display.shown_names import isolate_name, player_name
from pi_controller.display.terminal_drawing import BOLD, DIM, fit, label, solid
from pi_controller.games.patol.rules import RIVERS, STONES, HorseRow, PatolSheet
from pi_controller.pinmap import pinmap
from pi_controller.rules.scoreboard import gains
from pi_controller.table.view import View
from pi_controller.text import mark

BEAT_S = 0.5
RHYTHMS = ("11111111", "11110000", "10000000", "11111110", "11001100", "10100000", "11111010", "10101010")
"""A rhythm for each horse in turn order: `1` is a bright beat, `0` a dim one. All differ, also when shifted."""
RIVER_LEVEL = 0.20


_WORDS = (
    Word(
        "killed",
        mark("Killed"),
        meaning=mark("A horse landed in a notch with another horse: the other horse goes back to its start."),
        source=mark("Pa-tol Stick Game, Lummis at Isleta"),
    ),
)


def _notch(horses: list[HorseRow], notch: int, cells: int) -> Text:
    """Return one notch: its horses, a river, or an empty cell; `+` if there is no room for all horses."""
    here = [i for i, horse in enumerate(horses) if horse["notch"] == notch]
    cell = Text()
    for n, i in enumerate(here):
        if n == cells - 2 and len(here) > cells - 1:
            cell.append("+", BOLD)
            break
        cell.append(str(i + 1), solid(draw.PLAYERS[i % len(draw.PLAYERS)][0]))
    if not here:
        river = notch in RIVERS.values()
        cell.append("≈" if river else "·", solid(draw.RIVER, bold=False) if river else DIM)
    cell.append(" " * (cells - cell.cell_len))
    return cell


RIVER_NAMES: Mapping[str, str] = {
    "north": mark("north"),
    "east": mark("east"),
    "south": mark("south"),
    "west": mark("west"),
}
DIRECTION_NAMES: Mapping[str, str] = {"clockwise": mark("clockwise"), "counterclockwise": mark("counterclockwise")}


def starts_next(sheet: PatolSheet) -> str | None:
    """Return the player who must start now; None if a started player throws."""
    left = [horse for horse in sheet["horses"] if not horse["out"]]
    turn = next((horse for horse in left if sheet["thrower"] in (None, horse["player"])), None)
    return turn["player"] if turn and turn["river"] is None else None


class PatolShow(GameShow[PatolSheet]):
    """Display of Pa-tol."""

    title: ClassVar[str] = "Pa-tol"
    own_title: ClassVar[bool] = True
    whose: ClassVar[str] = mark("A Pueblo game.")
    gist: ClassVar[str] = mark(
        "Three sticks are thrown on a stone. Your horse moves by the value they show. If you land on another horse, "
        "it goes back to its start. The first horse all the way round wins."
    )
    words: ClassVar[Mapping[str, Word]] = {word.call: word for word in _WORDS}
    labels: ClassVar[Mapping[str, str]] = {
        **RIVER_NAMES,
        **DIRECTION_NAMES,
        "from": mark("from {n}"),
        "has_not_started": mark("has not started"),
    }
    win: ClassVar[str] = mark("{winner} wins: the horse went all the way round")

    def rows(self, view: View, t: float) -> draw.Rows:
        """Return the rows of a Pa-tol game."""
        sheet, lights = self.sheet(view), pinmap().lights
        value = [draw.glow(draw.MIDDLE, draw.STEADY)] * min(sheet["value"] or 0, lights.middle)
        players = [horse["player"] for horse in sheet["horses"]]
        if sheet["winner"]:
            light, _ = draw.PLAYERS[players.index(sheet["winner"]) % len(draw.PLAYERS)]
            wave = draw.swell(STONES, t)
            ring = [draw.glow(light, wave(i)) for i in range(STONES)]
            return draw.Rows(ring[: lights.a], ring[lights.a :], value)
        ring = [draw.glow(draw.RIVER, RIVER_LEVEL) if i in RIVERS.values() else draw.DARK for i in range(STONES)]
        beat = int(t / BEAT_S)
        standing: dict[int, list[int]] = {}
        for i, horse in enumerate(sheet["horses"]):
            if horse["notch"] is not None:
                standing.setdefault(horse["notch"], []).append(i)
        for notch, here in standing.items():
            i = here[beat // len(RHYTHMS[0]) % len(here)]
            light, _ = draw.PLAYERS[i % len(draw.PLAYERS)]
            level = draw.HIDING if players[i] == sheet["thrower"] else draw.WAITING
            rhythm = RHYTHMS[i % len(RHYTHMS)]
            ring[notch] = draw.glow(light, level if rhythm[beat % len(rhythm)] == "1" else level * draw.SECOND_DIM)
        return draw.Rows(ring[: lights.a], ring[lights.a :], value)

    def own_lines(self, view: View, width: int) -> list[Text]:
        """Draw the ring as its four quarters, ten notches each, a horse by its player's number."""
        horses = self.sheet(view)["horses"]
        lines: list[Text] = []
        for river, first in RIVERS.items():
            quarter = label("  " + self.tr.text(RIVER_NAMES[river]))
            for notch in range(first, first + STONES // len(RIVERS)):
                quarter.append_text(_notch(horses, notch, 3 if width < 62 else 4))
            lines.append(fit(quarter, width))
        return lines

    def sentence(self, view: View) -> str:
        """Return the action that the table is waiting for."""
        if starter := starts_next(self.sheet(view)):
            template = self.tr.text("{player} chooses a river and a direction")
            return template.format(player=isolate_name(player_name(view, starter)))
        return self.throws(view)

    def result(self, view: View) -> str:
        """Return the result of the last throw: the horse's new place, and the horse it sent back."""
        sheet = self.sheet(view)
        value, thrower = sheet["value"], view.before.turn if view.before else None
        if thrower is None or value is None or sheet["finish"] == "forfeit":
            return ""
        moved = gains(view.before, view.scoreboard)
        back = next((player for player, n in moved.items() if n < 0), None)
        names = {
            "player": isolate_name(player_name(view, thrower)),
            "value": self.number(value),
        }
        if back is not None:
            template = self.tr.text("{player} throws {value} and sends the horse of {other} back to its start")
            return template.format(other=isolate_name(player_name(view, back)), **names)
        if not moved.get(thrower):
            return ""
        if sheet["thrower"] == thrower and not sheet["winner"]:
            return self.tr.text("{player} throws {value}, and throws again", **names)
        run = next(horse["progress"] for horse in sheet["horses"] if horse["player"] == thrower)
        return self.tr.text("{player} throws {value} and has run {n} notches", n=run, **names)

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str]) -> str:
        """Return an action as a short sentence."""
        match action:
            case {"do": "start", "player": player, "river": str(river), "direction": str(direction)}:
                template = self.tr.text("{player} starts from {river}, {direction}")
                way = self.tr.text(DIRECTION_NAMES.get(direction, direction))
                where = self.tr.text(RIVER_NAMES.get(river, river))
                return template.format(player=side_name(player, teams), river=where, direction=way)
            case {"do": "throw", "marked": marked}:
                return self.tr.text("{n} marked", n=marked)
            case _:
                return super().describe_action(action, teams)


SHOW = PatolShow
