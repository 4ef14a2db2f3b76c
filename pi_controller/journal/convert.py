"""Converts journals to records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pi_controller.errors import UsageError
from pi_controller.record import model, table_facts
from pi_controller.record.model import Comment, Entry, Move, Record, RecordError, Ruling
from pi_controller.record.playthrough import SET, Playthrough
from pi_controller.record.table_facts import format_caller, format_table_fact
from pi_controller.referee import facts
from pi_controller.referee.history import with_status
from pi_controller.rules import registry
from pi_controller.rules.base import Action, IllegalActionError, InvalidActionError, Team
from pi_controller.text import strip_controls


def from_journal(
    records: Iterable[tuple[int, facts.Fact]],
    headers: Sequence[tuple[str, str]] = (),
    *,
    private: bool = False,
) -> Record:
    """Return the record of a journalled game: its `records`, facts with their batches; undone actions are superseded.

    The judge's answers become rulings, with the name of a signed-in judge; a table that was set becomes an action
    `set`. The bead's place is written for hides that are over and were not reopened. Seals and nonces are left out, and
    so is the text of a protest unless `private`. Times count from the first fact. Raises `RecordError` if the journal
    holds no game, or its actions break the rules.
    """
    builder = _RecordBuilder(private=private)
    for batch, fact, counts in with_status(records):
        builder.add_fact(batch, fact, superseded=not counts)
    return builder.record(tuple(headers))


class _RecordBuilder:
    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._who = ""
        self._opened: facts.GameOpened | None = None
        self._teams: Mapping[str, str] = {}
        self._playthrough: Playthrough[Any] | None = None
        self._entries: list[Entry] = []
        self._asked: facts.Question | None = None
        self._batch = 0

    def add_fact(self, batch: int, fact: facts.Fact, *, superseded: bool) -> None:
        if batch != self._batch or isinstance(fact, facts.CommandIssued):
            self._batch, self._who = batch, format_caller(fact) if isinstance(fact, facts.CommandIssued) else ""
        if isinstance(fact, facts.GameOpened):
            self._open(fact)
            return
        if self._opened is None:
            raise RecordError("the journal does not name its game")
        match fact:
            case facts.ActionPlayed(t=t, action=action, by=by):
                calls = fact.calls if superseded else self._play(action)
                by = "" if by == "sensor" else by
                self._move(t, dict(action), calls, by, superseded)
            case facts.StateSet(t=t, sheet=sheet):
                action = {"do": SET, **sheet}
                calls = () if superseded else self._play(action)
                self._move(t, action, calls, "judge", superseded, format_table_fact(fact, {}, private=self._private))
            case facts.TeamsNamed(t=t, teams=teams):
                self._teams = teams
                self._rule(t, format_table_fact(fact, teams, private=self._private), superseded)
            case (
                facts.SensorsUsed(t=t)
                | facts.ProtestMade(t=t)
                | facts.ProtestRuled(t=t)
                | facts.ClockSet(t=t)
                | facts.GameClosed(t=t)
            ):
                self._rule(t, format_table_fact(fact, self._teams, private=self._private), superseded)
            case (
                facts.JudgedByEye()
                | facts.MatchGiven()
                | facts.MatchVoid()
                | facts.VoidClosed()
                | facts.RoundClock()
                | facts.WallClockSet()
            ) if not superseded:
                self._entries.append(Comment(format_table_fact(fact, {}, private=self._private)))
            case facts.Question():
                self._asked = fact
            case facts.Answer(t=t):
                self._rule(t, table_facts.format_answer(self._asked, fact), superseded)
            case facts.HideAgain(t=t, why=why, by="judge"):
                self._rule(t, ": ".join(filter(None, ("hide again", why))), superseded)
            case facts.Undone(t=t, reason=reason):
                self._rule(t, ": ".join(filter(None, ("taken back", reason))), superseded)
            case facts.Reveal(hide=hide, pad=pad) if not superseded:
                self._entries.append(Comment(f"hide {hide}: the bead lay under pad {pad}"))
            case _:
                pass  # hands, seals, strikes and the link are kept in the journal only

    def record(self, headers: tuple[tuple[str, str], ...]) -> Record:
        if self._opened is None or self._playthrough is None:
            raise RecordError("the journal contains no game yet", "play first")
        opened = self._opened
        named: dict[Team, str] = {
            team: name for team in ("A", "B") if (name := strip_controls(self._teams.get(team, "")).strip())
        }
        return Record(
            game=opened.game,
            version=opened.version,
            source=opened.source[: model.MAX_TEXT_CHARS],
            options=self._playthrough.game.chosen_settings,
            teams=named,
            headers=headers,
            entries=tuple(self._entries),
        )

    def _open(self, fact: facts.GameOpened) -> None:
        self._opened = fact
        self._teams = fact.teams
        try:
            self._playthrough = Playthrough(registry.game(fact.game, fact.options))
        except UsageError as error:
            raise RecordError(error.message, error.hint) from error

    def _play(self, action: Action) -> tuple[str, ...]:
        assert self._playthrough
        try:
            return self._playthrough.play(action)[1]
        except (InvalidActionError, IllegalActionError) as error:
            raise RecordError(f"the journal does not follow the rules: {error.message}", error.hint) from error

    def _move(
        self, t: float, action: dict[str, Any], calls: tuple[str, ...], by: str, superseded: bool, why: str = ""
    ) -> None:
        assert self._playthrough
        comment = strip_controls(": ".join(filter(None, (self._who, why))))[: model.MAX_TEXT_CHARS]
        self._entries.append(Move(action, calls, self._since(t), by, comment, superseded=superseded))

    def _rule(self, t: float, text: str, superseded: bool) -> None:
        text = strip_controls(": ".join(filter(None, (self._who, text))))
        self._entries.append(Ruling(text[: model.MAX_TEXT_CHARS], self._since(t), superseded))

    def _since(self, t: float) -> float | None:
        """Return `t` in seconds since the first fact; None if the clock was set back to before it."""
        assert self._opened
        since = round(t - self._opened.t, 3)
        return since if 0 <= since <= model.MAX_TIME_S else None
