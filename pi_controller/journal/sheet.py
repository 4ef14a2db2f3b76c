"""Score sheet of a game in a journal: every action, foul and ruling in order, with the sticks after each.

Undone lines stay on it, marked; the text of a protest is left out. It is computed from all facts of the journal, so it
includes corrections of the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pi_controller.errors import JournalError
from pi_controller.journal.journal import Journal
from pi_controller.record.notation import format_action
from pi_controller.record.playthrough import SET, Playthrough
from pi_controller.record.table_facts import format_answer, format_table_fact, format_words
from pi_controller.referee import facts
from pi_controller.referee.facts import ActionPlayed, Fact, StateSet, Undone
from pi_controller.referee.history import History, HistoryStep, Timeline
from pi_controller.referee.story import Story
from pi_controller.rules import registry
from pi_controller.rules.base import Game, Json
from pi_controller.rules.options import Value

Kind = Literal["action", "foul", "ruling", "note"]


_FIRST_DAY = 86_400.0 * 365
"""Games opened earlier have a simulated clock, whose date is meaningless."""
_UNDER_WAY = ("hide", "check", "hit", "guess", "throw")
"""Phases of a hide or turn in progress."""


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One line: record `seq` of event `batch`, `t` seconds since the game was opened, `what` in words.

    `turn` is the number of its hide or turn (0 before the first), `side` the side whose turn it is. `state` is the
    score sheet after it, empty if the line was undone or is only a note.
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
    """The score sheet of a game. `head` is (number, hash) of the journal's last record, which proves the sheet."""

    game: str
    version: str
    source: str
    options: Mapping[str, Value]
    teams: Mapping[str, str]
    opened: float
    epoch: str
    head: tuple[int, str]
    lines: tuple[SheetLine, ...]
    state: Mapping[str, Json]
    over: bool

    @property
    def began(self) -> datetime | None:
        """When the game was opened, in local time; None for a simulated clock."""
        return datetime.fromtimestamp(self.opened).astimezone() if self.opened > _FIRST_DAY else None

    @property
    def rules(self) -> Game[Any]:
        """The game with its options."""
        return registry.game(self.game, self.options)


def sheet_of(journal: Journal) -> Sheet:
    """Build the sheet of the game in `journal`. Raises `JournalError` if it has no game or is damaged."""
    opened = journal.read_opening()
    if opened is None:
        raise JournalError(f"journal {journal.path.name} contains no game yet", "play first")
    game = registry.game(opened.game, opened.options)
    lines: list[SheetLine] = []
    records = list(journal.read())
    writer = _Writer(
        game, opened.teams, {batch for batch, fact in records if isinstance(fact, ActionPlayed) and _is_foul(fact)}
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
        over=game.is_over(state),
    )


class _Turns:
    """Assigns facts to hides or turns and their sides, numbered as in the record."""

    def __init__(self, game: Game[Any]) -> None:
        self._playthrough = Timeline[Playthrough[Any]](Playthrough(game), _play_fact)
        self._sides: dict[int, str] = {}

    def of(self, batch: int, fact: Fact, before: Story) -> tuple[int, str]:
        """Process `fact`; return the number of its hide or turn (0 before the first), and its side."""
        playthrough = self._playthrough.now
        side = playthrough.side or ""
        number = self._playthrough.add(batch, fact).turn
        if isinstance(fact, Undone):
            return playthrough.turn, self._sides.get(playthrough.turn, "")
        under_way = before.phase in _UNDER_WAY and not isinstance(fact, ActionPlayed | StateSet)
        if number == playthrough.turn and not playthrough.open and under_way:
            number += 1  # the fact comes before the first action of the turn
        if number > playthrough.turn:
            self._sides[number] = side
        return number, self._sides.get(number, "")


def _play_fact(playthrough: Playthrough[Any], batch: int, fact: Fact) -> Playthrough[Any]:
    """Return the playthrough after `fact`, as a copy: an undo may return to the one before."""
    del batch
    match fact:
        case ActionPlayed(action=action):
            pass
        case StateSet(sheet=sheet):
            action = {"do": SET, **sheet}
        case _:
            return playthrough
    after = copy(playthrough)
    after.play(action)
    return after


class _Writer:
    """Describes facts in words."""

    def __init__(self, game: Game[Any], teams: Mapping[str, str], settled: Set[int]) -> None:
        """`settled` are the events with an action that settles the foul in the same event."""
        self._game = game
        self._teams = teams
        self._settled = settled
        self._asked: facts.Question | None = None
        self._called: facts.CommandIssued | None = None
        self._called_in = 0
        self._turns = _Turns(game)

    def lines(self, seq: int, step: HistoryStep[Story], t: float) -> Iterator[SheetLine]:
        """Yield the line of a record, if it has one; `t` is in seconds since the game was opened."""
        batch, fact, counts, before, after = step
        turn, side = self._turns.of(batch, fact, before)
        if isinstance(fact, facts.Question):
            self._asked = fact
        elif isinstance(fact, facts.CommandIssued):
            self._called, self._called_in = fact, batch
        described = self._describe(fact)
        if described is None or (isinstance(fact, facts.FoulSeen) and batch in self._settled):
            return
        kind, what, by = described
        if self._called is not None and self._called_in == batch:
            by = self._called.actor
            if self._called.reason not in what:
                what = _because(what, self._called.reason)
        action: Mapping[str, Any] = fact.action if isinstance(fact, ActionPlayed) else {}
        state: Mapping[str, Any] = (
            self._game.sheet(after.state) if counts and isinstance(fact, ActionPlayed | Undone | StateSet) else {}
        )
        calls = fact.calls if isinstance(fact, ActionPlayed) else ()
        yield SheetLine(seq, batch, t, kind, what, calls, by, counts, turn, side, action, state)

    def _describe(self, fact: Fact) -> tuple[Kind, str, str] | None:
        match fact:
            case ActionPlayed(action=action, by=by):
                kind = "foul" if _is_foul(fact) else "action"
                return kind, format_action(self._game.name, action), "" if by == "sensor" else by
            case facts.FoulSeen(foul=foul, by=by):
                return "foul", f"foul of the {by}: {format_words(foul)}", ""
            case facts.Answer(by=by):
                asked = self._asked if self._asked is not None and self._asked.about == fact.about else None
                return "ruling" if by == "judge" else "note", format_answer(asked, fact), by
            case facts.HideAgain(why=why, by=by):
                return "ruling" if by == "judge" else "note", _because("hide again", why), by
            case Undone(reason=reason, by=by):
                return "ruling" if by == "judge" else "note", _because("taken back", reason), by
            case StateSet() | facts.ProtestRuled() | facts.GameClosed():
                return "ruling", format_table_fact(fact, self._teams, private=False), "judge"
            case facts.ProtestMade():
                return "ruling", format_table_fact(fact, self._teams, private=False), ""
            case facts.TeamsNamed(teams=teams):
                self._teams = teams
                return "note", format_table_fact(fact, teams, private=False), "judge"
            case facts.ClockSet() | facts.SensorsUsed():
                return "note", format_table_fact(fact, self._teams, private=False), "judge"
            case facts.Reveal(pad=pad):
                return "note", f"the bead lay under pad {pad}", ""
            case _:
                return None


def _is_foul(done: ActionPlayed) -> bool:
    return done.action.get("do") == "foul"


def _because(what: str, reason: str) -> str:
    return f"{what}: {reason}" if reason else what
