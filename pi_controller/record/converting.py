"""Converts score sheets and journals to records, and records back to score sheets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.games.base import Game, IllegalActionError, InvalidActionError
from pi_controller.games.wording import printable
from pi_controller.record.decoding import Faults, lines
from pi_controller.record.model import (
    LATEST_S,
    LONGEST_NAME,
    LONGEST_TEXT,
    Comment,
    Entry,
    Move,
    Record,
    RecordError,
    Ruling,
)
from pi_controller.record.playthrough import SET, Playthrough
from pi_controller.record.saying import of_table, who
from pi_controller.record.values import decode_object
from pi_controller.referee.facts import (
    Answer,
    ByEye,
    Called,
    ClockSet,
    Done,
    Fact,
    GameClosed,
    HideAgain,
    MatchGiven,
    Opened,
    ProtestMade,
    ProtestRuled,
    Question,
    Reveal,
    RoundClock,
    SensorsUsed,
    StateSet,
    TeamsNamed,
    Undone,
)
from pi_controller.referee.history import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pi_controller.games.base import Action, Team


def from_sheet(data: bytes, game: Game[Any]) -> Record:
    """Return the record of a score sheet's actions, one JSON object a line; what is refused is in its `faults`."""
    faults = Faults()
    playthrough = Playthrough(game)
    entries: list[Entry] = []
    for number, text in lines(data, faults):
        try:
            action = dict(game.current(_sheet_action(text)))
            _, calls = playthrough.play(action)
            entries.append(Move(action, calls))
        except (RecordError, InvalidActionError, IllegalActionError) as error:
            faults.add(number, error.what)
    return Record(
        game.name,
        game.version,
        source=game.source,
        options=game.chosen_settings,
        entries=tuple(entries),
        faults=faults.listed(),
    )


def _sheet_action(text: str) -> dict[str, Any]:
    action = decode_object(text)
    if action.get("do") == SET:
        raise RecordError("a score sheet cannot set the table", "a record can")
    return action


def to_sheet(record: Record) -> Iterator[str]:
    """Yield the score sheet's lines: each action that counts as JSON. `RecordError` where the judge set the table."""
    if any(move.action.get("do") == SET for move in record.moves()):
        raise RecordError(
            "a score sheet cannot tell this game: the judge set the table in it", "take the record, without --sheet"
        )
    for move in record.moves():
        yield json.dumps(move.action)


def from_journal(
    records: Iterable[tuple[int, Fact]],
    headers: Sequence[tuple[str, str]] = (),
    *,
    private: bool = False,
) -> Record:
    """Return the record of a journalled game: its `records`, facts with their batches; what was undone is superseded.

    The judge's answers become rulings, with who gave them where somebody was signed in; a table that was set is an
    action `set`. Where the bead lay is written for hides that are over and were not reopened; seals and nonces are left
    out, and so are the words of a protest, unless it is `private`. Times count from the first fact. Raises
    `RecordError` where there is no game, or one that the rules here do not follow.
    """
    builder = _RecordBuilder(private=private)
    for batch, fact, counts in counted(records):
        builder.add_fact(batch, fact, superseded=not counts)
    return builder.record(tuple(headers))


class _RecordBuilder:
    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._who = ""
        self._opened: Opened | None = None
        self._teams: Mapping[str, str] = {}
        self._playthrough: Playthrough[Any] | None = None
        self._entries: list[Entry] = []
        self._asked: Question | None = None
        self._batch = 0

    def add_fact(self, batch: int, fact: Fact, *, superseded: bool) -> None:
        if batch != self._batch or isinstance(fact, Called):
            self._batch, self._who = batch, who(fact) if isinstance(fact, Called) else ""
        if isinstance(fact, Opened):
            self._open(fact)
            return
        if self._opened is None:
            raise RecordError("the journal does not say which game it holds")
        match fact:
            case Done(t=t, action=action, by=by):
                calls = fact.calls if superseded else self._play(action)
                by = "" if by == "sensor" else by
                self._move(t, dict(action), calls, by, superseded)
            case StateSet(t=t, sheet=sheet):
                action = {"do": SET, **sheet}
                calls = () if superseded else self._play(action)
                self._move(t, action, calls, "judge", superseded, of_table(fact, {}, private=self._private))
            case TeamsNamed(t=t, teams=teams):
                self._teams = teams
                self._rule(t, of_table(fact, teams, private=self._private), superseded)
            case SensorsUsed(t=t) | ProtestMade(t=t) | ProtestRuled(t=t) | ClockSet(t=t) | GameClosed(t=t):
                self._rule(t, of_table(fact, self._teams, private=self._private), superseded)
            case ByEye() | MatchGiven() | RoundClock() if not superseded:
                self._entries.append(Comment(of_table(fact, {}, private=self._private)))
            case Question():
                self._asked = fact
            case Answer(t=t):
                self._rule(t, _answered(self._asked, fact), superseded)
            case HideAgain(t=t, why=why, by="judge"):
                self._rule(t, ": ".join(filter(None, ("hide again", why))), superseded)
            case Undone(t=t, reason=reason):
                self._rule(t, ": ".join(filter(None, ("taken back", reason))), superseded)
            case Reveal(hide=hide, pad=pad) if not superseded:
                self._entries.append(Comment(f"hide {hide}: the bead lay under pad {pad}"))
            case _:
                pass  # hands, seals, strokes and the link are the journal's

    def record(self, headers: tuple[tuple[str, str], ...]) -> Record:
        if self._opened is None or self._playthrough is None:
            raise RecordError("the journal holds no game yet", "play first")
        opened = self._opened
        named: dict[Team, str] = {
            team: name for team in ("A", "B") if (name := printable(self._teams.get(team, ""))[:LONGEST_NAME])
        }
        return Record(
            game=opened.game,
            version=opened.version,
            source=opened.source[:LONGEST_TEXT],
            options=self._playthrough.game.chosen_settings,
            teams=named,
            headers=headers,
            entries=tuple(self._entries),
        )

    def _open(self, fact: Opened) -> None:
        self._opened = fact
        self._teams = fact.teams
        try:
            self._playthrough = Playthrough(registry.game(fact.game, fact.options))
        except UsageError as error:
            raise RecordError(error.what, error.todo) from error

    def _play(self, action: Action) -> tuple[str, ...]:
        assert self._playthrough
        try:
            return self._playthrough.play(action)[1]
        except (InvalidActionError, IllegalActionError) as error:
            raise RecordError(f"the journal does not follow the rules: {error.what}", error.todo) from error

    def _move(
        self, t: float, action: dict[str, Any], calls: tuple[str, ...], by: str, superseded: bool, why: str = ""
    ) -> None:
        assert self._playthrough
        comment = printable(": ".join(filter(None, (self._who, why))))[:LONGEST_TEXT]
        action = self._playthrough.game.current(action)
        self._entries.append(Move(action, calls, self._since(t), by, comment, superseded=superseded))

    def _rule(self, t: float, text: str, superseded: bool) -> None:
        text = printable(": ".join(filter(None, (self._who, text))))
        self._entries.append(Ruling(text[:LONGEST_TEXT], self._since(t), superseded))

    def _since(self, t: float) -> float | None:
        """Return `t` in seconds since the first fact; None where a clock was set back beyond it."""
        assert self._opened
        since = round(t - self._opened.t, 3)
        return since if 0 <= since <= LATEST_S else None


def _answered(asked: Question | None, answer: Answer) -> str:
    if asked is None:
        return f"{_words(answer.about)}: {_words(answer.answer)}"
    details = _words(asked.foul) if asked.foul else ", ".join(f"pad {pad}" for pad in asked.pads)
    about = f"{_words(asked.about)} ({details})" if details else _words(asked.about)
    return f"{about}: {_words(answer.answer)}"


def _words(name: str) -> str:
    return name.replace("_", " ")
