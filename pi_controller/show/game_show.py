"""How a game is shown: its name, its words, its lights, its lines in a terminal and its sentences.

`GameShow` shows any game that is told by its score sheet, plainly. A game that wants more has a subclass of it, `SHOW`
of its module in `show/games/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from rich.text import Text

from pi_controller.games import registry
from pi_controller.games.base import other
from pi_controller.games.play import BARS, POOLS
from pi_controller.pinmap import pinmap
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.lines import BOLD, DIM, bar, fit, label, solid
from pi_controller.show.names import clean, inline, player_name, team_name
from pi_controller.show.paint import (
    DARK,
    HIDING,
    MIDDLE,
    PLAYERS,
    SECOND_DIM,
    STEADY,
    WAITING,
    Rows,
    champion,
    glow,
    share,
    shares,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.drivers.ports import Rgb
    from pi_controller.table.view import View

SheetT = TypeVar("SheetT")

POOL_NAMES = {"bank": mark("bank"), "middle": mark("middle"), "pile": mark("pile"), "pool": mark("pool")}
"""What nobody holds, by its key on the score sheet."""
BAR = 20
"""Places of a bar in the terminal that stands for all there is."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the table. Empty where its source says nothing; `source` is the chapter, rule or heading of it.

    `sounds` is how the source spells the sound, `note` what it adds to that.
    """

    call: str
    shown: str
    sounds: str = ""
    literal: str = ""
    meaning: str = ""
    source: str = ""
    note: str = ""

    @property
    def spoken(self) -> str:
        """How it sounds, with the note on it; nothing where the source gives neither."""
        return ", ".join(filter(None, (self.sounds, self.note)))


def plain(key: str) -> str:
    """Return a key as words: `high_ball` -> `High ball`."""
    return key.replace("_", " ").capitalize()


def held(sheet: Mapping[str, Any]) -> dict[str, int]:
    """Return what each side holds: the first counts of A and B on the score sheet, or a count of each player."""
    for value in sheet.values():
        if isinstance(value, Mapping):
            counts = cast("Mapping[str, Any]", value)
            if [*counts] == ["A", "B"] and all(type(n) is int for n in counts.values()):
                return dict(counts)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            rows = [cast("Mapping[str, Any]", row) for row in cast("Sequence[Any]", value) if isinstance(row, Mapping)]
            counted = {str(next(iter(row.values()))): next((row[key] for key in BARS if key in row), 0) for row in rows}
            if counted:
                return counted
    return {"A": 0, "B": 0}


def player_rows(sheet: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return what the score sheet has of each player by the name, its first value; empty where teams play."""
    for value in sheet.values():
        if isinstance(value, list | tuple):
            rows = [cast("Mapping[str, Any]", row) for row in cast("Sequence[Any]", value) if isinstance(row, Mapping)]
            return {str(next(iter(row.values()))): row for row in rows}
    return {}


def pool(sheet: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the pool that nobody holds, by its key, and how much is in it; None where there is none."""
    return next(((key, sheet[key]) for key in POOLS if type(sheet.get(key)) is int), None)


def everything(sheet: Mapping[str, Any]) -> int:
    """Return how much there is in all; at least one, to share by."""
    rest = pool(sheet)
    return max(1, sum(held(sheet).values()) + (rest[1] if rest else 0))


class GameShow(Generic[SheetT]):
    """What any game's score sheet can be shown by. All texts of the class are marked for translation."""

    title: ClassVar[str] = ""
    """What the game is called; empty: its name on the command line, as a word."""
    own_title: ClassVar[bool] = False
    """Whether the title is the game's own name, in every language."""
    whose: ClassVar[str] = ""
    """Whose game it is, a sentence, by the name that its source gives them."""
    words: ClassVar[Mapping[str, Word]] = {}
    """The words called in it."""
    if_even: ClassVar[str] = ""
    """What its chances of winning take for granted."""
    gist: ClassVar[str] = ""
    """How it goes in two or three sentences, for those who see it for the first time."""
    after: ClassVar[str] = ""
    """What the teams do when it is over, a sentence, where its source says so."""
    seal_label: ClassVar[str] = mark("Sealed place of the bead")
    """What is said over the seal of what is hidden."""
    turn_key: ClassVar[str] = "thrower"
    """The score sheet's key of whose turn it is."""
    roles: ClassVar[tuple[str, str]] = (mark("plays"), "")
    """What the side whose turn it is does, and what the other one does."""
    slips: ClassVar[Mapping[str, str]] = {}
    """What an action that is seldom and has nothing but its word comes to, by that word."""

    def sheet(self, view: View) -> SheetT:
        """Return the score sheet in `view`, by the keys of its game."""
        return cast("SheetT", view.sheet)

    def of_players(self, sheet: Mapping[str, Any]) -> bool:
        """Return whether players are in no team: the sheet has a list of them."""
        return any(isinstance(value, list | tuple) for value in sheet.values())

    def turn(self, view: View) -> str | None:
        """Return the side whose turn it is, or None."""
        return view.sheet.get(self.turn_key) or view.sheet.get("hider")

    def rows(self, view: View, t: float) -> Rows:
        """Return the light strips' rows: two sides have one each, several share both; the pool is in the middle."""
        sheet, lights = view.sheet, pinmap().lights
        counts, total, rest = held(sheet), everything(sheet), pool(sheet)
        if sheet.get("winner") in {"A", "B"}:
            return Rows(*champion(sheet["winner"], t))
        middle = [glow(MIDDLE, STEADY)] * (share(rest[1], total, lights.middle) if rest else 0)
        if len(counts) == len("AB"):
            sizes = [share(n, total, size) for n, size in zip(counts.values(), (lights.a, lights.b), strict=True)]
        else:
            sizes = shares([*counts.values()], total, lights.a + lights.b - (len(counts) - 1))
        runs = [self._run(view, i, side, size) for i, (side, size) in enumerate(zip(counts, sizes, strict=True))]
        if len(runs) == len("AB"):
            return Rows(runs[0], runs[1], middle)
        line = [pixel for run in runs for pixel in (*run, DARK)]
        return Rows(line[: lights.a], line[lights.a :], middle)

    def _run(self, view: View, i: int, side: str, size: int) -> list[Rgb]:
        light, dims = PLAYERS[i % len(PLAYERS)]
        level = HIDING if side in (view.sheet.get("winner"), self.turn(view)) else WAITING
        return [glow(light, level * (1.0 if dims[k % len(dims)] == "1" else SECOND_DIM)) for k in range(size)]

    def drawn(self, view: View, language: str, width: int) -> list[Text]:
        """Return the table as lines for a terminal, none wider than `width` cells and at most 16 of them."""
        sheet, lines = view.sheet, list[Text]()
        total, rest = everything(sheet), pool(sheet)
        for i, (side, n) in enumerate(held(sheet).items()):
            light, dims = PLAYERS[i % len(PLAYERS)]
            name = Text.assemble((f"{side if side in {'A', 'B'} else i + 1}  ", solid(light)))
            lines.append(fit(name.append(player_name(view, side), solid(light)), width))
            strip = bar(share(n, total, BAR), BAR, width, light, dims)
            lines.append(
                fit(label(f"  {self.role(view, side, language)}").append_text(strip).append(f"  {n}", BOLD), width)
            )
        if rest:
            strip = bar(share(rest[1], total, BAR), BAR, width, MIDDLE)
            lines.append(fit(label(f"  {plain(rest[0])}").append_text(strip).append(f"  {rest[1]}", BOLD), width))
        others = [f"{plain(key)} {value}" for key, value in self.others(view)]
        lines += [fit(Text(f"  {line}", DIM), width) for line in others[:4]]
        return lines[:16]

    def others(self, view: View) -> list[tuple[str, str]]:
        """Return what else stands on the score sheet, by its keys: single words and numbers that are set."""
        shown = {*POOLS, self.turn_key, "winner", "finish"}
        return [
            (key, str(value))
            for key, value in view.sheet.items()
            if key not in shown and isinstance(value, str | int | float) and not isinstance(value, bool)
        ]

    def role(self, view: View, side: str, language: str = "en") -> str:
        """Return what `side` does now, or nothing: `hides`, `shoots`, `guesses`, `throws`, `wins`."""
        text = catalogue(language).gettext
        if winner := view.sheet.get("winner"):
            return text("wins") if side == winner else ""
        turn = self.turn(view)
        role = "" if turn is None else self.roles[0 if turn == side else 1]
        return text(role) if role else ""

    def sentence(self, view: View, language: str = "en") -> str:
        """Return the one thing the table is waiting for while nobody has won."""
        turn, text = self.turn(view), catalogue(language).gettext
        if turn is None:
            return text("The judge enters what is played")
        return text("{player} plays").format(player=inline(player_name(view, turn)))

    def won(self, view: View, winner: str, language: str = "en") -> str:
        """Return how `winner` has won, otherwise than by a forfeit."""
        return catalogue(language).gettext("{winner} wins").format(winner=inline(player_name(view, winner)))

    def turn_worth(self, view: View, language: str = "en") -> str:
        """Return what is special about this turn, while nobody has won, or what the last throw was worth."""
        value = view.sheet.get("value")
        return worth(value if type(value) is int else None, language)

    def played(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return in a short sentence what an action does; nothing for one that has no sentence.

        `action` is in the words of this version (`Game.current`), `teams` are the names by their letters.
        """
        text = catalogue(language).gettext
        match action:
            case {"do": "toss", "winner": winner}:
                return text("{team} won the toss").format(team=side_name(winner, teams))
            case {"do": "lot", "first": first}:
                return text("{team} throws first").format(team=side_name(first, teams))
            case {"do": "forfeit", "by": by}:
                return text("Forfeit by {side}").format(side=side_name(by, teams))
            case {"do": str(slip)}:
                return text(self.slips[slip]) if slip in self.slips else ""
            case _:
                return ""

    def result(self, view: View, language: str = "en") -> str:  # noqa: ARG002 - most know more
        """Return in a sentence what came of the last hide or throw, without a full stop; nothing where nothing came."""
        return ""

    def counted(self, view: View, language: str = "en") -> str:  # noqa: ARG002 - names and numbers
        """Return what each side that is in the game has now, in a line: `Big Coulee 12, Long Hollow 3`."""
        out = {name for name, row in player_rows(view.sheet).items() if row.get("out")}
        return named_counts(view, {side: n for side, n in held(view.sheet).items() if side not in out})

    def score(self, view: View, before: View) -> str:  # noqa: ARG002 - some tell what has changed
        """Return what each side has now, in columns, for a log in English; `before` is the view before."""
        counts = [f"{player_name(view, side)} {n:>3}" for side, n in held(view.sheet).items()]
        rest = pool(view.sheet)
        return "  ".join([*counts, *([f"{rest[0]} {rest[1]:>3}"] if rest else [])])

    def lay(self, view: View) -> str:
        """Return where lay what was hidden, by the commitment that `view` shows opened; in English, for a log."""
        return f"Under {pads_opened(view)}"


def side_name(side: object, teams: Mapping[str, str]) -> str:
    """Return the name of a team or player for the middle of a sentence; `teams` are the names by their letters."""
    return inline(clean(teams.get(str(side), "")) or clean(str(side)) or "?")


def named_counts(view: View, counts: Mapping[str, int]) -> str:
    """Return counts by side in a line: `Big Coulee 12, Long Hollow 3`."""
    return ", ".join(f"{inline(player_name(view, side))} {n}" for side, n in counts.items())


NUMBERS = (
    mark("no"),
    mark("one"),
    mark("two"),
    mark("three"),
    mark("four"),
    mark("five"),
    mark("six"),
    mark("seven"),
    mark("eight"),
    mark("nine"),
    mark("ten"),
    mark("eleven"),
    mark("twelve"),
)
"""Numbers that a sentence has as words."""


def number(n: int, language: str = "en") -> str:
    """Return a number for the middle of a sentence: `four`, `13`."""
    return catalogue(language).gettext(NUMBERS[n]) if 0 <= n < len(NUMBERS) else str(n)


def gained(view: View) -> dict[str, int]:
    """Return by how much each side holds more since the last hide or throw began; empty where that is not known."""
    earlier = held(view.before) if view.before else {}
    return {side: n - earlier[side] for side, n in held(view.sheet).items() if side in earlier}


def short_gained(view: View) -> str | None:
    """Return the team that was given a short stick since the last hide began; None where none was."""
    earlier, now = view.before.get("short", {}), view.sheet.get("short", {})
    return next((team for team in earlier if now.get(team, 0) > earlier[team]), None)


def bowl_result(view: View, language: str, counted: Callable[[int], str]) -> str:
    """Return what came of the last throw of a bowl; `counted` says what is won by it, `20 counters`."""
    text, value, thrower = catalogue(language).gettext, view.sheet.get("value"), view.before.get("thrower")
    if thrower is None or value is None or view.sheet.get("finish") == "forfeit":
        return ""
    names = {"player": inline(player_name(view, thrower)), "value": value, "won": counted(gained(view).get(thrower, 0))}
    if view.sheet.get("winner"):
        return text("{player} throws {value}: {won}").format(**names)
    if value and view.sheet.get("thrower") == thrower:
        return text("{player} throws {value}: {won}, and throws again").format(**names)
    passed = inline(player_name(view, view.sheet["thrower"]))
    return text("Nothing for {player}: the bowl passes to {next}").format(next=passed, **names)


def throws(view: View, language: str = "en") -> str:
    """Return who throws, or that what shows is to be said."""
    text = catalogue(language).gettext
    template = text("{player} has thrown: what shows?") if view.strokes else text("{player} throws")
    return template.format(player=inline(player_name(view, view.sheet["thrower"])))


def pieces_shown(shown: Mapping[str, Any], pieces: Mapping[str, str], none: str, language: str) -> str:
    """Return what a throw shows, `Shows: 1 woman, 2 knife`, by the names of its `pieces`; `none` where that is none."""
    text = catalogue(language).gettext
    counts = [f"{shown[kind]} {text(piece)}" for kind, piece in pieces.items() if shown.get(kind)]
    return text("Shows: {told}").format(told=", ".join(counts)) if counts else none


def both_teams(view: View, hider: str, opponents: str) -> dict[str, str]:
    """Return the names of the team that hides and of its `opponents`, for a sentence."""
    return {
        "hider": inline(team_name(view, hider)),
        opponents: inline(team_name(view, other(hider))),
    }


def pads_opened(view: View) -> str:
    """Return the pads of the commitment that `view` shows opened, a digit each: `1 and 3`."""
    assert view.opening is not None
    return " and ".join(str(view.opening.pad))


def worth(value: int | None, language: str = "en") -> str:
    """Return what the last throw was worth as words; nothing before the first."""
    return "" if value is None else catalogue(language).gettext("The last throw: {value}").format(value=value)


_PLAIN = GameShow[Mapping[str, Any]]()


@cache
def show_of(game: str) -> GameShow[Any]:
    """Return how `game` is shown: by `SHOW` of its own module here, plainly where it has none or is not known."""
    own = registry.floor(game, "show.games") if registry.playable(game) else None
    return _PLAIN if own is None else own.SHOW


def played(game: str, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
    """Return in a short sentence what an action of `game` does (`GameShow.played`); nothing where it has none."""
    return show_of(game).played(action, teams, language)


@cache
def by_sheet(game: str) -> bool:
    """Return whether `game` is told by its score sheet, not by the hides of Hampa Apena."""
    return registry.playable(game) and not registry.kind(game).hand_passes


def has_sheet(view: View) -> bool:
    """Return whether `view` is of a game that is told by its score sheet, and has one."""
    return by_sheet(view.game) and bool(view.sheet)
