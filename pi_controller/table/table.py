"""The table: journal first, then fold, then show. Nothing counts, and nobody is told, before it is on disk."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from pi_controller.errors import JournalError, MatError
from pi_controller.games import registry
from pi_controller.referee.facts import Called, Fact, Opened, Undone
from pi_controller.referee.judge import JudgeAction, JudgeReplace, JudgeUndo
from pi_controller.referee.seats import far
from pi_controller.referee.telling import blank, tell_batch
from pi_controller.table.command import Ruled, StaleError
from pi_controller.table.fold import fold
from pi_controller.table.view import View, view_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Game
    from pi_controller.mat.events import MatEvent
    from pi_controller.referee.judge import JudgeCall, Ruling
    from pi_controller.referee.seats import Seats
    from pi_controller.referee.story import Story
    from pi_controller.table.command import Command
    from pi_controller.table.journal import Journal


class Decides(Protocol):
    """The referee as the table knows it; see `referee.Referee`."""

    def decide(self, story: Story, event: MatEvent | JudgeCall) -> list[Fact]:
        """Return what follows from an event or a call."""
        ...

    def tick(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from time passing."""
        ...

    def resume(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from a restart."""
        ...

    def sense(self, event: MatEvent) -> None:
        """Remember, and conclude nothing."""
        ...

    def listens(self, story: Story) -> bool:
        """Return whether a stroke is to be felt now."""
        ...

    def unanswered(self, story: Story) -> tuple[float, str] | None:
        """Return when the open question is answered unless somebody answers it, and how."""
        ...

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """What can be ruled on a protest here."""
        ...

    def change_sides(self, seats: Seats) -> None:
        """The other team hides from now on, and sits as `seats` say."""
        ...

    def catch_up(self, story: Story, t: float, why: str) -> list[Fact]:
        """Return what follows from having stood still."""
        ...


def journalled_game(journal: Journal, game: Game[Any]) -> Game[Any]:
    """Return the game that `journal` holds, with the options it was begun with; `game` for a fresh journal.

    Raises `JournalError` when it holds another game than `game`, or the same by other rules than this version's.
    """
    opened = journal.opened()
    if opened is None:
        return game
    if (opened.game, opened.version) != (game.name, game.version):
        raise JournalError(
            f"journal {journal.path.name} holds a game of {opened.game} {opened.version}, "
            f"not {game.name} {game.version}",
            f"finish it with what began it, or choose another file for {game.name}",
        )
    return registry.game(opened.game, opened.options) if opened.options != dict(game.settings) else game


class Table:
    """One game at one table.

    A fresh `journal` is opened with `game` and the `teams`' names; one with a game in it is resumed, and then `game`
    must be the one it holds (`journalled_game`) and its names prevail. `seats` say which mat is before the hiders, and
    which way round; pads are told to the table as the hiders see them (`far`). When the journal fails the table halts:
    it acknowledges nothing until `retry` finds the journal well. All times are seconds of one clock.
    """

    def __init__(
        self,
        journal: Journal,
        game: Game[Any],
        teams: Mapping[str, str],
        referee: Decides,
        t: float = 0.0,
        seats: Seats = "stay",
    ) -> None:
        self.journal = journal
        self.game = game
        self.seats: Seats = seats
        self.far = False
        """Whether the hiders sit where B does: at the far edge of the mat, or before the other mat."""
        self.story = blank(game)
        self.halted: JournalError | None = None
        self._referee = referee
        self._view: View | None = None
        self._keys: dict[str, int] = {}
        opened = journal.opened()
        options = dict(game.settings)
        if opened is None:
            self._write([Opened(t, game.name, game.version, game.source, options, dict(teams))])
        else:
            if (opened.game, opened.version, opened.options) != (game.name, game.version, options):
                raise JournalError(
                    f"journal {journal.path.name} holds another game, or other options",
                    "take the game that journalled_game() gives",
                )
            self._fold()
            self._keys = {fact.key: 0 for _, fact in journal.read() if isinstance(fact, Called) and fact.key}
            self._write(referee.resume(self.story, t))

    @property
    def view(self) -> View:
        """The public picture; the same object until something changes."""
        if self._view is None:
            unanswered = self._referee.unanswered(self.story)
            self._view = view_of(self.game, self.story, self.journal.seq, self.halted, unanswered)
        return self._view

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """What can be ruled on a protest at this table."""
        return self._referee.rulings

    @property
    def armed(self) -> bool:
        """Whether a hit is owed and no question open."""
        return self.halted is None and self.story.armed

    @property
    def listens(self) -> bool:
        """Whether strokes are to be felt: one is due, or it would be an early one."""
        return self.halted is None and self._referee.listens(self.story)

    def mat_event(self, event: MatEvent) -> list[Fact]:
        """Take in what the mat felt; return the facts it gave rise to. Never raises for the event or the journal."""
        if self.halted is not None:
            self._referee.sense(event)
            return []
        return self._try(self._referee.decide(self.story, event))

    def tick(self, t: float) -> list[Fact]:
        """Let time pass to `t`; return the facts that follow."""
        return [] if self.halted is not None else self._try(self._referee.tick(self.story, t))

    def judge(self, call: JudgeCall, said: Command | None = None) -> list[Fact]:
        """Do as the judge says; return the facts that follow. `said` tells who says it.

        Raises `InvalidActionError` or `IllegalActionError` for a call that cannot be followed, `JournalError` when it
        cannot be written; then it does not count.
        """
        if self.halted is not None:
            raise self.halted
        facts = self._replaced(call) if isinstance(call, JudgeReplace) else self._referee.decide(self.story, call)
        if said is not None:
            facts = [said.called, *facts]
        facts = self._try(facts)
        if self.halted is not None:
            raise self.halted
        if any(isinstance(fact, Undone) for fact in facts):
            facts += self.tick(call.t)
        return facts

    def _replaced(self, call: JudgeReplace) -> list[Fact]:
        """Return what follows from an undo and an action in its place; both count, or neither.

        What was itself put in the place of another goes with it: the other does not come back in between.
        """
        taken = {batch: fact.batch for batch, fact in self.journal.read() if isinstance(fact, Undone)}
        mark = self.story.mark
        while mark in taken:
            mark = taken[mark]
        undo = self._referee.decide(replace(self.story, mark=mark), JudgeUndo(call.t, call.reason))
        records = chain(self.journal.read(), ((self.journal.batch + 1, fact) for fact in undo))
        return undo + self._referee.decide(fold(self.game, records), JudgeAction(call.t, call.action))

    def command(self, command: Command) -> Ruled:
        """Do as somebody who is signed in says, once: journalled with who said it.

        Said again with the same key it is told as done. Raises `StaleError` where the table has moved on from what the
        one who says it saw, and what `judge` raises; then it does not count.
        """
        done = self._keys.get(command.key)
        if done is not None:
            return Ruled(done, repeated=True)
        if command.expect is not None and command.expect != self.story.stand:
            raise StaleError("the table has moved on since this screen was drawn", "look again: it is up to date now")
        self.judge(command.call, command)
        return Ruled(self.journal.seq, repeated=False)

    def retry(self, t: float) -> bool:
        """Try the journal again and go on from what is in it; return whether the table plays."""
        if self.halted is None:
            return True
        try:
            self.journal.reopen()
            self._fold()
            self._write(self._referee.catch_up(self.story, t, "the journal could not be written"))
        except JournalError as error:
            self._halt(error)
            return False
        self.halted = None
        self._view = None
        return True

    def _try(self, facts: list[Fact]) -> list[Fact]:
        try:
            self._write(facts)
        except JournalError as error:
            self._halt(error)
            return []
        return facts

    def _write(self, facts: list[Fact]) -> None:
        if not facts:
            return
        batch = self.journal.append(facts)
        self._keys |= {fact.key: self.journal.seq for fact in facts if isinstance(fact, Called) and fact.key}
        if any(isinstance(fact, Undone) for fact in facts):
            self._fold()
        else:
            self.story = tell_batch(self.game, self.story, batch, facts)
        self._told()

    def _fold(self) -> None:
        try:
            self.story = fold(self.game, self.journal.read())
        except JournalError:
            raise
        except MatError as error:
            raise JournalError(
                f"journal {self.journal.path.name} does not follow the rules of {self.game.name}: {error.what}",
                "it was written by other rules: begin a new journal",
            ) from error
        self._told()

    def _told(self) -> None:
        """The story is another: see whether the hiders are."""
        self._view = None
        hidden_afar = far(self.seats, self.game.hiders(self.story.state))
        if hidden_afar != self.far:
            self.far = hidden_afar
            self._referee.change_sides(self.seats)

    def _halt(self, error: JournalError) -> None:
        self.halted = error
        self._view = None
