"""Display of a game: its name, words, lights, terminal lines and sentences.

`GameShow` displays any game with a score sheet in a generic way. A game with its own display has a subclass, and an
instance `SHOW` in its module in `show/games/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from rich.text import Text

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display.i18n import catalogue, mark
from pi_controller.pinmap import pinmap
from pi_controller.rules import registry
from pi_controller.rules.base import opposing_team
from pi_controller.rules.play import BARS, POOLS

if TYPE_CHECKING:
    from pi_controller.table.view import View

SheetT = TypeVar("SheetT")

POOL_NAMES = {"bank": mark("bank"), "middle": mark("middle"), "pile": mark("pile"), "pool": mark("pool")}
"""Names of shared pools by their keys on the score sheet."""
BAR = 20
"""Number of places in a terminal bar for the whole supply."""


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


def counts_by_side(sheet: Mapping[str, Any]) -> dict[str, int]:
    """Return the count of each side: the first counts of A and B on the score sheet, or a count of each player."""
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
    """Return the rows of players on the score sheet by name (the row's first value); {} for team games."""
    for value in sheet.values():
        if isinstance(value, list | tuple):
            rows = [cast("Mapping[str, Any]", row) for row in cast("Sequence[Any]", value) if isinstance(row, Mapping)]
            return {str(next(iter(row.values()))): row for row in rows}
    return {}


def pool(sheet: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the key of the shared pool and the number in it; None if there is no pool."""
    return next(((key, sheet[key]) for key in POOLS if type(sheet.get(key)) is int), None)


def total_count(sheet: Mapping[str, Any]) -> int:
    """Return the total of all counts and the pool; at least one, so that it can be a divisor."""
    rest = pool(sheet)
    return max(1, sum(counts_by_side(sheet).values()) + (rest[1] if rest else 0))


class GameShow(Generic[SheetT]):
    """Generic display of a game with a score sheet. All texts of the class are marked for translation."""

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
    turn_key: ClassVar[str] = "thrower"
    """Key on the score sheet of the side whose turn it is."""
    roles: ClassVar[tuple[str, str]] = (mark("plays"), "")
    """Verbs for the side whose turn it is, and for the other one."""
    win: ClassVar[str] = mark("{winner} wins")
    """How a winner has won, other than by a forfeit."""
    slips: ClassVar[Mapping[str, str]] = {}
    """Texts of rare actions that have no further fields, by action."""

    def sheet(self, view: View) -> SheetT:
        """Return the score sheet in `view`, typed for this game."""
        return cast("SheetT", view.sheet)

    def of_players(self, sheet: Mapping[str, Any]) -> bool:
        """Return True if the players are not in teams: the sheet has a list of them."""
        return any(isinstance(value, list | tuple) for value in sheet.values())

    def turn(self, view: View) -> str | None:
        """Return the side whose turn it is, or None."""
        return view.sheet.get(self.turn_key) or view.sheet.get("hider")

    def rows(self, view: View, t: float) -> draw.Rows:
        """Return the rows of the light strips: one for each of two sides, or both shared by several.

        The pool is in the middle.
        """
        sheet, lights = view.sheet, pinmap().lights
        counts, total, rest = counts_by_side(sheet), total_count(sheet), pool(sheet)
        if sheet.get("winner") in {"A", "B"}:
            return draw.Rows(*draw.winner_rows(sheet["winner"], t))
        middle = [draw.glow(draw.MIDDLE, draw.STEADY)] * (
            draw.scale_to_pixels(rest[1], total, lights.middle) if rest else 0
        )
        if len(counts) == len("AB"):
            sizes = [
                draw.scale_to_pixels(n, total, size)
                for n, size in zip(counts.values(), (lights.a, lights.b), strict=True)
            ]
        else:
            sizes = draw.divide_pixels([*counts.values()], total, lights.a + lights.b - (len(counts) - 1))
        runs = [self._run(view, i, side, size) for i, (side, size) in enumerate(zip(counts, sizes, strict=True))]
        if len(runs) == len("AB"):
            return draw.Rows(runs[0], runs[1], middle)
        line = [pixel for run in runs for pixel in (*run, draw.DARK)]
        return draw.Rows(line[: lights.a], line[lights.a :], middle)

    def _run(self, view: View, i: int, side: str, size: int) -> list[Rgb]:
        light, dims = draw.PLAYERS[i % len(draw.PLAYERS)]
        level = draw.HIDING if side in (view.sheet.get("winner"), self.turn(view)) else draw.WAITING
        return [draw.glow(light, level * (1.0 if dims[k % len(dims)] == "1" else draw.SECOND_DIM)) for k in range(size)]

    def terminal_lines(self, view: View, language: str, width: int) -> list[Text]:
        """Return the table as lines for a terminal, at most 16 lines of at most `width` cells."""
        sheet, lines = view.sheet, list[Text]()
        total, rest = total_count(sheet), pool(sheet)
        for i, (side, n) in enumerate(counts_by_side(sheet).items()):
            light, dims = draw.PLAYERS[i % len(draw.PLAYERS)]
            name = Text.assemble((f"{side if side in {'A', 'B'} else i + 1}  ", draw.solid(light)))
            lines.append(draw.fit(name.append(draw.player_name(view, side), draw.solid(light)), width))
            strip = draw.bar(draw.scale_to_pixels(n, total, BAR), BAR, width, light, dims)
            lines.append(draw.bar_line(self.role(view, side, language), strip, n, width))
        if rest:
            strip = draw.bar(draw.scale_to_pixels(rest[1], total, BAR), BAR, width, draw.MIDDLE)
            lines.append(draw.bar_line(key_to_words(rest[0]), strip, rest[1], width))
        others = [f"{key_to_words(key)} {value}" for key, value in self.others(view)]
        lines += [draw.fit(Text(f"  {line}", draw.DIM), width) for line in others[:4]]
        return lines[:16]

    def others(self, view: View) -> list[tuple[str, str]]:
        """Return the other values on the score sheet by key: single words and numbers that are set."""
        shown = {*POOLS, self.turn_key, "winner", "finish"}
        return [
            (key, str(value))
            for key, value in view.sheet.items()
            if key not in shown and isinstance(value, str | int | float) and not isinstance(value, bool)
        ]

    def role(self, view: View, side: str, language: str = "en") -> str:
        """Return the current role of `side`, or "": `hides`, `shoots`, `guesses`, `throws`, `wins`."""
        text = catalogue(language).gettext
        if winner := view.sheet.get("winner"):
            return text("wins") if side == winner else ""
        turn = self.turn(view)
        role = "" if turn is None else self.roles[0 if turn == side else 1]
        return text(role) if role else ""

    def sentence(self, view: View, language: str = "en") -> str:
        """Return the one action that the table is waiting for before the game is won."""
        turn, text = self.turn(view), catalogue(language).gettext
        if turn is None:
            return text("The judge enters what is played")
        return text("{player} plays").format(player=draw.isolate_name(draw.player_name(view, turn)))

    def describe_win(self, view: View, winner: str, language: str = "en") -> str:
        """Return how `winner` has won, other than by a forfeit."""
        name = draw.isolate_name(draw.player_name(view, winner))
        return catalogue(language).gettext(self.win).format(winner=name)

    def describe_stakes(self, view: View, language: str = "en") -> str:
        """Return the special stakes of this turn before the game is won, or the value of the last throw."""
        value = view.sheet.get("value")
        return describe_throw_value(value if type(value) is int else None, language)

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return an action as a short sentence; "" if it has none. `teams` are the names by letter."""
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

    def result(self, view: View, language: str = "en") -> str:  # noqa: ARG002 - subclasses use it
        """Return the result of the last hide or throw as a sentence without a full stop; "" if there is none yet."""
        return ""

    def describe_counts(self, view: View, language: str = "en") -> str:  # noqa: ARG002 - names and numbers
        """Return the current count of each side still in the game, in a line: `Big Coulee 12, Long Hollow 3`."""
        out = {name for name, row in player_rows(view.sheet).items() if row.get("out")}
        return named_counts(view, {side: n for side, n in counts_by_side(view.sheet).items() if side not in out})

    def score(self, view: View, before: View) -> str:  # noqa: ARG002 - some subclasses show the change
        """Return the current count of each side in columns, for a log in English; `before` is the previous view."""
        counts = [f"{draw.player_name(view, side)} {n:>3}" for side, n in counts_by_side(view.sheet).items()]
        rest = pool(view.sheet)
        return "  ".join([*counts, *([f"{rest[0]} {rest[1]:>3}"] if rest else [])])

    def describe_reveal(self, view: View) -> str:
        """Return the place of the hidden object from the opened commitment in `view`; in English, for a log."""
        return f"Under {pads_opened(view)}"


def side_name(side: object, teams: Mapping[str, str]) -> str:
    """Return the name of a team or player for the middle of a sentence; `teams` are the names by letter."""
    return draw.isolate_name(draw.clean_name(teams.get(str(side), "")) or draw.clean_name(str(side)) or "?")


def named_counts(view: View, counts: Mapping[str, int]) -> str:
    """Return counts by side in a line: `Big Coulee 12, Long Hollow 3`."""
    return ", ".join(f"{draw.isolate_name(draw.player_name(view, side))} {n}" for side, n in counts.items())


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


def number(n: int, language: str = "en") -> str:
    """Return a number for the middle of a sentence: `four`, `13`."""
    return catalogue(language).gettext(NUMBERS[n]) if 0 <= n < len(NUMBERS) else str(n)


def count_gains(view: View) -> dict[str, int]:
    """Return each side's gain since the last hide or throw began; {} if it is unknown."""
    earlier = counts_by_side(view.before) if view.before else {}
    return {side: n - earlier[side] for side, n in counts_by_side(view.sheet).items() if side in earlier}


def short_gained(view: View) -> str | None:
    """Return the team that was given a short stick since the last hide began; None for neither."""
    earlier, now = view.before.get("short", {}), view.sheet.get("short", {})
    return next((team for team in earlier if now.get(team, 0) > earlier[team]), None)


def bowl_result(view: View, language: str, counted: Callable[[int], str]) -> str:
    """Return the result of the last throw of a bowl; `counted` formats the winnings, `20 counters`."""
    text, value, thrower = catalogue(language).gettext, view.sheet.get("value"), view.before.get("thrower")
    if thrower is None or value is None or view.sheet.get("finish") == "forfeit":
        return ""
    names = {
        "player": draw.isolate_name(draw.player_name(view, thrower)),
        "value": value,
        "won": counted(count_gains(view).get(thrower, 0)),
    }
    if view.sheet.get("winner"):
        return text("{player} throws {value}: {won}").format(**names)
    if value and view.sheet.get("thrower") == thrower:
        return text("{player} throws {value}: {won}, and throws again").format(**names)
    passed = draw.isolate_name(draw.player_name(view, view.sheet["thrower"]))
    return text("No score for {player}: the bowl passes to {next}").format(next=passed, **names)


def throws(view: View, language: str = "en") -> str:
    """Return who throws, or that the throw awaits its entry."""
    text = catalogue(language).gettext
    template = text("{player} has thrown: the judge enters the throw") if view.strokes else text("{player} throws")
    return template.format(player=draw.isolate_name(draw.player_name(view, view.sheet["thrower"])))


def pieces_shown(shown: Mapping[str, Any], pieces: Mapping[str, str], none: str, language: str) -> str:
    """Return the pieces of a throw by their names, `Shows: 1 woman, 2 knife`; `none` if there are none."""
    text = catalogue(language).gettext
    counts = [f"{shown[kind]} {text(piece)}" for kind, piece in pieces.items() if shown.get(kind)]
    return text("Shows: {told}").format(told=", ".join(counts)) if counts else none


def both_teams(view: View, hider: str, opponents: str) -> dict[str, str]:
    """Return the names of the hiding team and of its `opponents`, for a sentence."""
    return {
        "hider": draw.isolate_name(draw.team_name(view, hider)),
        opponents: draw.isolate_name(draw.team_name(view, opposing_team(hider))),
    }


def pads_opened(view: View) -> str:
    """Return the pads of the opened commitment in `view`, a digit each: `1 and 3`."""
    assert view.opening is not None
    return " and ".join(str(view.opening.pad))


def describe_throw_value(value: int | None, language: str = "en") -> str:
    """Return the value of the last throw as words; "" before the first."""
    return "" if value is None else catalogue(language).gettext("The last throw: {value}").format(value=value)


_PLAIN = GameShow[Mapping[str, Any]]()


@cache
def get_show(game: str) -> GameShow[Any]:
    """Return the display of `game`: `SHOW` of its module here, or the generic one."""
    own = registry.game_module(game, "display") if registry.playable(game) else None
    return _PLAIN if own is None else own.SHOW


def describe_action(game: str, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
    """Return an action of `game` as a short sentence (`GameShow.describe_action`); "" if it has none."""
    return get_show(game).describe_action(action, teams, language)


@cache
def uses_score_sheet(game: str) -> bool:
    """Return True if `game` is displayed from its score sheet, unlike Hampa Apena with its hides."""
    return registry.playable(game) and not registry.game_class(game).hand_passes


def has_sheet(view: View) -> bool:
    """Return True if the game of `view` is displayed from its score sheet, and the view contains one."""
    return uses_score_sheet(view.game) and bool(view.sheet)


# Glossary of the words called at the table: display form, pronunciation and meaning.
#
# Pronunciations, the notes on them, and literal meanings are those of the Hampa Apena booklet (chapters 3 to 9), if it
# gives them. The other games' words are the English ones of their sources. The explanatory sentences are the project's
# own. The glossary contains no translations or inventions.

_SOUNDS_BY = mark(
    "The sounds are as Grady Renville’s booklet gives them: close to the Dakota, and by an author who does not call "
    "himself an expert in the language."
)
"""Chapter 3, before the words."""
_COMMON_WORDS = {
    "forfeit": Word(
        "forfeit", mark("Forfeit"), meaning=mark("One side withdraws, does not show up or is disqualified.")
    ),
    "game": Word("game", mark("Game"), meaning=mark("The game is won.")),
}
"""Words called in every game, for games whose source lacks them."""


def game_name(game: str, language: str = "en") -> str:
    """Return the display name of the game."""
    show = get_show(game)
    name = show.title or key_to_words(game)
    return name if show.own_title or not show.title else catalogue(language).gettext(name)


def credit(game: str, language: str = "en") -> str:
    """Return whose game it is, and the author of the rules used here (`Game.source`)."""
    text = catalogue(language).gettext
    whose = text(get_show(game).whose) if get_show(game).whose else ""
    source = registry.game_class(game).source
    return " ".join(filter(None, (whose, text("Written source of the rules: {source}").format(source=source))))


def words_of(game: str) -> Mapping[str, Word]:
    """Return the words called in `game` by their calls."""
    return get_show(game).words


def word(call: str, language: str = "en", game: str = registry.DEFAULT_GAME) -> Word:
    """Return the word for a call of `game`'s score sheet in `language`; an unknown call is shown unchanged."""
    known = words_of(game).get(call) or _COMMON_WORDS.get(call)
    if known is None:
        return Word(call, key_to_words(call))
    text = catalogue(language).gettext
    return replace(
        known,
        shown=known.shown if known.sounds else text(known.shown),  # Dakota words are Dakota in every language
        literal=text(known.literal) if known.literal else "",
        meaning=text(known.meaning),
        source=text(known.source) if known.source else "",
        note=text(known.note) if known.note else "",
    )


def sounds_credit(calls: Iterable[str], language: str = "en", game: str = registry.DEFAULT_GAME) -> str:
    """Return the source of the pronunciations of `calls` as a sentence; "" if all are English words."""
    known = words_of(game)
    sounds_known = any(known[call].sounds for call in calls if call in known)
    return catalogue(language).gettext(_SOUNDS_BY) if sounds_known else ""


def glossary(game: str, language: str = "en") -> list[str]:
    """Return each word called in `game` with its pronunciation and meaning, a line each, then their source."""
    lines: list[str] = []
    for call in words_of(game):
        known = word(call, language, game)
        literal = f" “{known.literal}”" if known.literal else ""
        spoken = f" ({known.spoken})" if known.spoken else ""
        lines.append(f"{known.shown}{spoken}{literal}: {known.meaning} ({known.source})")
    return [*lines, *filter(None, [sounds_credit(words_of(game), language, game)])]
