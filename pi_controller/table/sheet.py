"""The score sheet of a journalled game: every action, foul and ruling in order, and how the sticks lay after each.

What was taken back stays on it, marked; the words of a protest are left out. It is made of the journal's facts as they
are told, so whatever sets the sticks is followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pi_controller.errors import JournalError
from pi_controller.games import registry
from pi_controller.games.play import BARS, POOLS
from pi_controller.record.notation import spoken
from pi_controller.record.playthrough import SET, SIDES, Playthrough
from pi_controller.record.saying import of_table
from pi_controller.referee.facts import (
    Answer,
    Called,
    ClockSet,
    Done,
    FoulSeen,
    GameClosed,
    HideAgain,
    ProtestMade,
    ProtestRuled,
    Question,
    Reveal,
    SensorsUsed,
    StateSet,
    TeamsNamed,
    Undone,
)
from pi_controller.referee.history import History, Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from pi_controller.games.base import Game, Json
    from pi_controller.games.options import Value
    from pi_controller.referee.facts import Fact
    from pi_controller.referee.history import Step
    from pi_controller.referee.story import Story
    from pi_controller.table.journal import Journal

    Kind = Literal["action", "foul", "ruling", "note"]

_UNDER_WAY = ("hide", "check", "hit", "guess", "throw")
"""Phases of a hide or turn that is not settled."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: record `seq` of event `batch`, `t` seconds since the game was opened, `what` in words.

    `turn` numbers the hide or turn it belongs to (0 before the first), `side` is whose it is. `state` is the score
    sheet after it, empty where the line was taken back or is only a note.
    """

    seq: int
    batch: int
    t: float
    kind: Kind
    what: str
    calls: tuple[str, ...]
    by: str
    counts: bool
    turn: int
    side: str
    action: Mapping[str, Any]
    state: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A game from its opening on. `head` is (number, hash) of the journal's last record, a proof of what stands
    here."""

    game: str
    version: str
    source: str
    options: Mapping[str, Value]
    teams: Mapping[str, str]
    opened: float
    epoch: str
    head: tuple[int, str]
    lines: tuple[Line, ...]
    state: Mapping[str, Json]
    over: bool


def sheet_of(journal: Journal) -> Sheet:
    """Return the sheet of the game in `journal`. Raises `JournalError` where there is none, or it is not whole."""
    opened = journal.opened()
    if opened is None:
        raise JournalError(f"journal {journal.path.name} holds no game yet", "play first")
    game = registry.game(opened.game, opened.options)
    lines: list[Line] = []
    records = list(journal.read())
    writer = _Writer(
        game, opened.teams, {batch for batch, fact in records if isinstance(fact, Done) and _is_foul(fact)}
    )
    history = History(game)
    for seq, step in enumerate(history.walk(records), 1):
        lines += writer.lines(seq, step, round(step.fact.t - opened.t, 3))
    state = history.now.state
    return Sheet(
        game=game.name,
        version=opened.version,
        source=opened.source,
        options=game.chosen_settings,
        teams={} if "players" in game.settings else dict(history.now.teams),
        opened=opened.t,
        epoch=journal.meta.epoch if journal.meta else "",
        head=journal.head,
        lines=tuple(lines),
        state=game.sheet(state),
        over=game.over(state),
    )


def columns(state: Mapping[str, Json]) -> Iterator[tuple[str, str, int]]:
    """Yield what a score sheet counts: (what, whose, how many)."""
    for key, value in state.items():
        match value:
            case bool():
                pass
            case int() if key in POOLS:
                yield key, "", value
            case Mapping():
                for team, held in cast("Mapping[str, Json]", value).items():
                    if type(held) is int:
                        yield key, team, held
            case list() | tuple():
                for player in cast("Sequence[Mapping[str, Json]]", value):
                    (_, name), *rest = player.items()
                    yield from ((part, str(name), held) for part, held in rest if part in BARS)
            case _:
                pass


class _Turns:
    """Assigns facts to hides or turns and their sides, numbered as in the record."""

    def __init__(self, game: Game[Any]) -> None:
        self._playthrough = Timeline[Playthrough[Any]](Playthrough(game), _played)
        self._sides: dict[int, str] = {}

    def of(self, batch: int, fact: Fact, before: Story) -> tuple[int, str]:
        """Take `fact`; return the number of its hide or turn (0 before the first), and whose it is."""
        playthrough = self._playthrough.now
        side = next((str(playthrough.sheet[key]) for key in SIDES if playthrough.sheet.get(key)), "")
        number = self._playthrough.add(batch, fact).turn
        if isinstance(fact, Undone):
            return playthrough.turn, self._sides.get(playthrough.turn, "")
        under_way = before.phase in _UNDER_WAY and not isinstance(fact, Done | StateSet)
        if number == playthrough.turn and not playthrough.open and under_way:
            number += 1  # before the first action of it
        if number > playthrough.turn:
            self._sides[number] = side
        return number, self._sides.get(number, "")


def _played(playthrough: Playthrough[Any], batch: int, fact: Fact) -> Playthrough[Any]:
    """Return the course after `fact`; the one before stays as it is, an undo may come back to it."""
    del batch
    match fact:
        case Done(action=action):
            pass
        case StateSet(sheet=sheet):
            action = {"do": SET, **sheet}
        case _:
            return playthrough
    after = copy(playthrough)
    after.play(action)
    return after


class _Writer:
    """Puts facts into words."""

    def __init__(self, game: Game[Any], teams: Mapping[str, str], settled: Set[int]) -> None:
        """`settled` are the events with an action that settles the foul they tell of."""
        self._game = game
        self._teams = teams
        self._settled = settled
        self._asked: Question | None = None
        self._called: Called | None = None
        self._called_in = 0
        self._turns = _Turns(game)

    def lines(self, seq: int, step: Step[Story], t: float) -> Iterator[Line]:
        """Yield the line of a record, if it has one; `t` is in seconds since the game was opened."""
        batch, fact, counts, before, after = step
        turn, side = self._turns.of(batch, fact, before)
        if isinstance(fact, Question):
            self._asked = fact
        elif isinstance(fact, Called):
            self._called, self._called_in = fact, batch
        described = self._described(fact)
        if described is None or (isinstance(fact, FoulSeen) and batch in self._settled):
            return
        kind, what, by = described
        if self._called is not None and self._called_in == batch:
            by = self._called.actor
            if self._called.reason not in what:
                what = _because(what, self._called.reason)
        action: Mapping[str, Any] = self._game.current(fact.action) if isinstance(fact, Done) else {}
        state: Mapping[str, Any] = (
            self._game.sheet(after.state) if counts and isinstance(fact, Done | Undone | StateSet) else {}
        )
        calls = fact.calls if isinstance(fact, Done) else ()
        yield Line(seq, batch, t, kind, what, calls, by, counts, turn, side, action, state)

    def _described(self, fact: Fact) -> tuple[Kind, str, str] | None:
        match fact:
            case Done(action=action, by=by):
                kind = "foul" if _is_foul(fact) else "action"
                return kind, spoken(self._game.name, action), "" if by == "sensor" else by
            case FoulSeen(foul=foul, by=by):
                return "foul", f"foul of the {by}: {_words(foul)}", ""
            case Answer(by=by):
                return "ruling" if by == "judge" else "note", self._answered(fact), by
            case HideAgain(why=why, by=by):
                return "ruling" if by == "judge" else "note", _because("hide again", why), by
            case Undone(reason=reason, by=by):
                return "ruling", _because("taken back", reason), by
            case StateSet() | ProtestRuled() | GameClosed():
                return "ruling", of_table(fact, self._teams, private=False), "judge"
            case ProtestMade():
                return "ruling", of_table(fact, self._teams, private=False), ""
            case TeamsNamed(teams=teams):
                self._teams = teams
                return "note", of_table(fact, teams, private=False), "judge"
            case ClockSet() | SensorsUsed():
                return "note", of_table(fact, self._teams, private=False), "judge"
            case Reveal(pad=pad):
                return "note", f"the bead lay under pad {pad}", ""
            case _:
                return None

    def _answered(self, answer: Answer) -> str:
        asked = self._asked
        details = ""
        if asked is not None and asked.about == answer.about:
            details = _words(asked.foul) if asked.foul else ", ".join(f"pad {pad}" for pad in asked.pads)
        about = f"{_words(answer.about)} ({details})" if details else _words(answer.about)
        return f"{about}: {_words(answer.answer)}"


def _is_foul(done: Done) -> bool:
    return done.action.get("do") == "foul"


def _because(what: str, reason: str) -> str:
    return f"{what}: {reason}" if reason else what


def _words(name: str) -> str:
    return name.replace("_", " ")
