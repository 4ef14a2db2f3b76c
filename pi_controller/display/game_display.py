"""Display of a game: its name, words, pads, lights and sentences.

`GameShow` displays any game by its scoreboard. A game with words or sentences of its own has a subclass,
`SHOW` of its module `display`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from rich.text import Text

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display.i18n import Translator
from pi_controller.display.shown_names import clean_name, isolate_name, player_name, team_name
from pi_controller.pinmap import pinmap
from pi_controller.rules import registry
from pi_controller.rules.base import opposing_team
from pi_controller.rules.scoreboard import Note, Scoreboard, gains
from pi_controller.text import mark

if TYPE_CHECKING:
    from pi_controller.table.view import View

SheetT = TypeVar("SheetT")


@dataclass(frozen=True, slots=True)
class Word:
    """A called word. Fields are empty if its source lacks them; `source` is its chapter, rule or heading.

    `sounds` is the source's spelling of the pronunciation, `note` its remark on that.
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
        """The pronunciation with the note on it; "" if the source gives neither."""
        return ", ".join(filter(None, (self.sounds, self.note)))


def key_to_words(key: str) -> str:
    """Return a key as words: `high_ball` -> `High ball`."""
    return key.replace("_", " ").capitalize()


LABELS: Mapping[str, str] = {
    "hides": mark("hides"),
    "hits": mark("hits"),
    "shoots": mark("shoots"),
    "guesses": mark("guesses"),
    "throws": mark("throws"),
    "plays": mark("plays"),
    "wins": mark("wins"),
    "out": mark("out"),
    "sticks": mark("sticks"),
    "counters": mark("counters"),
    "points": mark("points"),
    "notches": mark("notches"),
    "short_sticks": mark("short sticks"),
    "middle": mark("middle"),
    "pool": mark("pool"),
    "pile": mark("pile"),
    "bank": mark("bank"),
    "hides_left": mark("hides left: {n}"),
    "last_throw": mark("last throw: {n}"),
}
"""Texts of the keys on a scoreboard; a game may have more (`GameShow.labels`)."""


class PadMark(NamedTuple):
    """A pad of the mat. `mark` is `struck`, `found`, `bead`, `opened` or "", `look` is `high`, `mate` or ""."""

    mark: str = ""
    said: str = ""
    worth: str = ""
    look: str = ""


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
"""Numbers written as words in sentences."""
_SOUNDS_BY = mark(
    "The sounds are as Grady Renville’s booklet gives them: close to the Dakota, and by an author who does not call "
    "himself an expert in the language."
)
"""Chapter 3 of the Hampa Apena booklet, before the words."""
_COMMON_WORDS = {
    "forfeit": Word(
        "forfeit", mark("Forfeit"), meaning=mark("One side withdraws, does not show up or is disqualified.")
    ),
    "game": Word("game", mark("Game"), meaning=mark("The game is won.")),
}
"""Words called in every game, for games whose source lacks them."""


class GameShow(Generic[SheetT]):
    """Display of any game by its scoreboard, in the language of `tr`. The texts of the class are marked sentences.

    Pronunciations of words, the notes on them and literal meanings are those of the Hampa Apena booklet (chapters 3 to
    9), if it gives them. The other games' words are the English ones of their sources. The explanatory sentences are
    the project's own. There are no translations or inventions.
    """

    title: ClassVar[str] = ""
    """Name of the game; "": its name on the command line, as a word."""
    own_title: ClassVar[bool] = False
    """True if the title is the game's own name, which is not translated."""
    whose: ClassVar[str] = ""
    """The people whose game it is, a sentence, by the name that its source gives them."""
    words: ClassVar[Mapping[str, Word]] = {}
    """The words called in the game."""
    gist: ClassVar[str] = ""
    """Summary of the game in two or three sentences, for first-time viewers."""
    after: ClassVar[str] = ""
    """The teams' custom after the game, a sentence, if its source describes one."""
    customs: ClassVar[tuple[str, ...]] = ()
    """Customs of the source beside the scored rules, a sentence each with its chapter."""
    seal_label: ClassVar[str] = mark("Sealed place of the bead")
    """Label of the commitment."""
    labels: ClassVar[Mapping[str, str]] = {}
    """Texts of keys on the game's scoreboard, besides `LABELS`."""
    win: ClassVar[str] = mark("{winner} wins")
    """How a winner has won, other than by a forfeit."""
    slips: ClassVar[Mapping[str, str]] = {}
    """Texts of rare actions that have no further fields, by action."""

    def __init__(self, game: str, tr: Translator) -> None:
        self.game, self.tr = game, tr

    @property
    def name(self) -> str:
        """The display name of the game."""
        return self.title if self.own_title else self.tr.text(self.title) or key_to_words(self.game)

    @property
    def credit(self) -> str:
        """Whose game it is, and the author of the rules used here (`Game.source`)."""
        source = registry.game_class(self.game).source
        written = self.tr.text("Written source of the rules: {source}", source=source)
        return " ".join(filter(None, (self.tr.text(self.whose), written)))

    @classmethod
    def sheet(cls, view: View) -> SheetT:
        """Return the score sheet in `view`, typed for this game."""
        return cast("SheetT", view.sheet)

    def pads(self, view: View) -> Sequence[PadMark]:  # noqa: ARG002 - most have none
        """Return the four pads as everybody may see them; empty in a game without pads."""
        return ()

    def rows(self, view: View, t: float) -> draw.Rows:
        """Return the rows of the light strips: one for each of two sides, or both shared by several.

        The pool is in the middle, the points in the row of short sticks.
        """
        board, lights = view.scoreboard, pinmap().lights
        pool = board.pool
        short = draw.short_row(board.scores, lights.short) if board.goal else ()
        if board.of_teams and board.winner:
            return draw.Rows(*draw.winner_rows(board.winner, t), short)
        middle = [draw.glow(draw.MIDDLE, draw.STEADY)] * (
            draw.count_pixels(pool.n, pool.of, lights.middle) if pool else 0
        )
        sides = board.sides
        if len(sides) == len("AB"):
            runs = [self._run(view, i, size, t) for i, size in enumerate((lights.a, lights.b))]
            return draw.Rows(runs[0], runs[1], middle, short)
        sizes = draw.divide_pixels(
            [side.score for side in sides], sides[0].counts[0].of, lights.a + lights.b - (len(sides) - 1)
        )
        line = [pixel for i, size in enumerate(sizes) for pixel in (*self._run(view, i, size, t, full=True), draw.DARK)]
        return draw.Rows(line[: lights.a], line[lights.a :], middle)

    def _run(self, view: View, i: int, size: int, t: float, *, full: bool = False) -> list[Rgb]:
        """Return the bars of side number `i` in `size` pixels, or with `full` one bar of all of them."""
        side, (light, dims) = view.scoreboard.sides[i], draw.PLAYERS[i % len(draw.PLAYERS)]
        level = draw.breath(t) if side.key == view.scoreboard.turn else draw.WAITING
        wave = draw.swell(size, t) if side.key == view.scoreboard.winner and size else lambda _: level
        bars, run = side.bars, list[Rgb]()
        whole = sum(bar.of for bar in bars) + len(bars) - 1 <= size
        for n, bar in enumerate(bars):
            room = bar.of if whole else (size - len(bars) + 1) // len(bars)
            lit = size if full else draw.count_pixels(bar.n, bar.of, room)
            shade = draw.BAR_DIM**n
            run += [draw.DARK] if n else []
            run += [
                draw.glow(light, wave(k) * shade * (1.0 if dims[k % len(dims)] == "1" else draw.SECOND_DIM))
                for k in range(lit)
            ]
            run += [draw.DARK] * (room - lit) if n + 1 < len(bars) else []
        return run

    def own_lines(self, view: View, width: int) -> list[Text]:  # noqa: ARG002 - most have none
        """Return lines for a terminal, of at most `width` cells, that the game has besides its scoreboard."""
        return []

    def sentence(self, view: View) -> str:
        """Return the one action that the table is waiting for before the game is won."""
        turn = view.scoreboard.turn
        if turn is None:
            return self.tr.text("The judge enters what happens")
        return self.tr.text("{player} plays", player=isolate_name(player_name(view, turn)))

    def describe_win(self, view: View, winner: str) -> str:
        """Return how `winner` has won, other than by a forfeit."""
        return self.describe_score(view.scoreboard, winner, player_name(view, winner))

    def describe_score(self, board: Scoreboard, winner: str, name: str) -> str:
        """Return that the side `winner`, called `name`, has won, with the score if it is won by points."""
        template = self.tr.text("{winner} wins, {won} to {lost}") if board.goal else self.tr.text(self.win)
        lost = max((n for side, n in board.scores.items() if side != winner), default=0)
        return template.format(winner=isolate_name(name), won=board.scores[winner], lost=lost)

    def describe_stakes(self, view: View) -> str:  # noqa: ARG002 - most have none
        """Return the special stakes of this turn before the game is won, or ""."""
        return ""

    def describe_event(self, view: View) -> list[str]:
        """Return the last hit, throw or guess as sentences without a full stop; [] if there is none yet."""
        value = view.sheet.get("value")
        return [self.describe_throw_value(value)] if type(value) is int else []

    def reminders(self, view: View, before: str | None, *, singer: bool = False) -> list[str]:  # noqa: ARG002
        """Return the judge's reminders to the players.

        `before` is the team that hid in the hide just settled, if known; `singer` adds the question for each team's
        singer before the game.
        """
        return []

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str]) -> str:
        """Return an action as a short sentence; "" if it has none. `teams` are the names by letter."""
        match action:
            case {"do": "toss", "winner": winner}:
                return self.tr.text("{team} won the toss", team=side_name(winner, teams))
            case {"do": "lot", "first": first}:
                return self.tr.text("{team} throws first", team=side_name(first, teams))
            case {"do": "forfeit", "by": by}:
                return self.tr.text("Forfeit by {side}", side=side_name(by, teams))
            case {"do": str(slip)}:
                return self.tr.text(self.slips[slip]) if slip in self.slips else ""
            case _:
                return ""

    def result(self, view: View) -> str:  # noqa: ARG002 - subclasses use it
        """Return the result of the last hide or throw as a sentence without a full stop; "" if there is none yet."""
        return ""

    def describe_reveal(self, view: View) -> str:
        """Return the place of the hidden object from the opened commitment in `view`; in English, for a log."""
        return f"Under {pads_opened(view)}"

    def label(self, key: str) -> str:
        """Return the text of a key on the scoreboard, such as a unit or a role; an unknown key as words."""
        known = {**LABELS, **self.labels}
        if key in self.words:
            return self.word(key).shown
        return self.tr.text(known[key]) if key in known else key_to_words(key).lower()

    def describe_note(self, note: Note) -> str:
        """Return a note of the scoreboard as text."""
        n = self.label(note.n) if isinstance(note.n, str) else note.n
        return self.label(note.key).format(n=n)

    def describe_counts(self, view: View) -> str:
        """Return all counts in a line: `Points: Big Coulee 1, Long Hollow 0. Sticks: Big Coulee 12, Long Hollow 3`."""
        board, parts = view.scoreboard, list[str]()
        for i, count in enumerate(board.sides[0].counts):
            numbers = (
                f"{isolate_name(player_name(view, side.key))} {side.counts[i].n}"
                for side in board.sides
                if not side.out
            )
            parts.append(f"{self.label(count.unit)}: {', '.join(numbers)}")
        if board.pool:
            parts.append(f"{self.label(board.pool.unit)}: {board.pool.n}")
        return ". ".join(part[:1].upper() + part[1:] for part in parts)

    def number(self, n: int) -> str:
        """Return a number for the middle of a sentence: `four`, `13`."""
        return self.tr.text(NUMBERS[n]) if 0 <= n < len(NUMBERS) else str(n)

    def bowl_result(self, view: View, counted: Callable[[int], str]) -> str:
        """Return the result of the last throw of a bowl; `counted` formats the winnings, `20 counters`."""
        value = view.sheet.get("value")
        thrower = view.before.turn if view.before else None
        if thrower is None or value is None or view.sheet.get("finish") == "forfeit":
            return ""
        names = {
            "player": isolate_name(player_name(view, thrower)),
            "value": value,
            "won": counted(gains(view.before, view.scoreboard).get(thrower, 0)),
        }
        if view.winner:
            return self.tr.text("{player} throws {value}: {won}", **names)
        if value and view.scoreboard.turn == thrower:
            return self.tr.text("{player} throws {value}: {won}, and throws again", **names)
        passed = isolate_name(player_name(view, view.scoreboard.turn or ""))
        return self.tr.text("No score for {player}: the bowl passes to {next}", next=passed, **names)

    def throws(self, view: View) -> str:
        """Return who throws, or that the throw awaits its entry."""
        player = isolate_name(player_name(view, view.scoreboard.turn or ""))
        if view.strokes:
            return self.tr.text("{player} has thrown: the judge enters the throw", player=player)
        return self.tr.text("{player} throws", player=player)

    def pieces_shown(self, shown: Mapping[str, Any], pieces: Mapping[str, str], none: str) -> str:
        """Return the pieces of a throw by their names, `Shows: 1 woman, 2 knife`; `none` if there are none."""
        counts = [f"{shown[kind]} {self.tr.text(piece)}" for kind, piece in pieces.items() if shown.get(kind)]
        return self.tr.text("Shows: {told}", told=", ".join(counts)) if counts else none

    def describe_throw_value(self, value: int) -> str:
        """Return the value of the last throw as words."""
        return self.tr.text("The last throw: {value}", value=value)

    def word(self, call: str) -> Word:
        """Return the word for a call of the score sheet; an unknown call is shown unchanged."""
        text, known = self.tr.text, self.words.get(call) or _COMMON_WORDS.get(call)
        if known is None:
            return Word(call, key_to_words(call))
        return replace(
            known,
            shown=known.shown if known.sounds else text(known.shown),  # Dakota words are Dakota in every language
            literal=text(known.literal),
            meaning=text(known.meaning),
            source=text(known.source),
            note=text(known.note),
        )

    def list_words(self, calls: Iterable[str]) -> str:
        """Return the words for `calls` in a line: `Wheya, Obojun`."""
        return ", ".join(self.word(call).shown for call in calls)

    def sounds_credit(self, calls: Iterable[str]) -> str:
        """Return the source of the pronunciations of `calls` as a sentence; "" if all are English words."""
        sounds_known = any(self.words[call].sounds for call in calls if call in self.words)
        return self.tr.text(_SOUNDS_BY) if sounds_known else ""

    def glossary(self) -> list[str]:
        """Return each word called in the game with its pronunciation and meaning, a line each, then their source."""
        lines: list[str] = []
        for known in map(self.word, self.words):
            literal = f" “{known.literal}”" if known.literal else ""
            spoken = f" ({known.spoken})" if known.spoken else ""
            lines.append(f"{known.shown}{spoken}{literal}: {known.meaning} ({known.source})")
        return [*lines, *filter(None, [self.sounds_credit(self.words)])]


@cache
def get_show(game: str, tr: Translator) -> GameShow[Any]:
    """Return the display of `game` in the language of `tr`: of the class `SHOW` of its module, or the generic one."""
    own = registry.game_module(game, "display") if registry.playable(game) else None
    return (GameShow[Mapping[str, Any]] if own is None else own.SHOW)(game, tr)


def side_name(side: object, teams: Mapping[str, str]) -> str:
    """Return the name of a team or player for the middle of a sentence; `teams` are the names by letter."""
    return isolate_name(clean_name(teams.get(str(side), "")) or clean_name(str(side)) or "?")


def point_gained(view: View) -> str | None:
    """Return the side whose score has risen since the last hide began; None for neither."""
    earlier = view.before.scores if view.before else {}
    return next((side for side, n in view.scoreboard.scores.items() if n > earlier.get(side, n)), None)


def both_teams(view: View, hider: str, opponents: str) -> dict[str, str]:
    """Return the names of the hiding team and of its `opponents`, for a sentence."""
    return {
        "hider": isolate_name(team_name(view, hider)),
        opponents: isolate_name(team_name(view, opposing_team(hider))),
    }


def pads_opened(view: View) -> str:
    """Return the pads of the opened commitment in `view`, a digit each: `1 and 3`."""
    assert view.opening is not None
    return " and ".join(str(view.opening.pad))
