"""The table: journal first, then fold, then show. Nothing counts, and nobody is told, before it is on disk."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pi_controller.errors import JournalError, MatError
from pi_controller.games import registry
from pi_controller.games.base import IllegalActionError
from pi_controller.referee.commitment import Bound
from pi_controller.referee.facts import Called, Fact, MatchGiven, Opened, Question, RoundClock, Undone
from pi_controller.referee.history import History
from pi_controller.referee.judge import JudgeNewGame, MatchCall, RoundClockCall
from pi_controller.referee.seating import mirrored
from pi_controller.table.command import CommandResult, StaleError, UsedKeyError
from pi_controller.table.course import course_of
from pi_controller.table.next_game import opening_facts
from pi_controller.table.view import View, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from pi_controller.games.base import Game
    from pi_controller.mat.events import MatEvent
    from pi_controller.referee.judge import HubCall, JudgeCall, Ruling
    from pi_controller.referee.seating import Seats
    from pi_controller.referee.story import Story
    from pi_controller.table.command import Command
    from pi_controller.table.course import Course
    from pi_controller.table.decides import Decides
    from pi_controller.table.journal import Journal

log = logging.getLogger(__name__)

TEND_S = 1.0
"""How often the journal is looked after."""
SAME_CLOCK_S = 1.0
"""The clock of a round that is said once more may differ by so much: that is how long messages take."""
KEPT_RECORDS = 100
"""So many records the journal's log may hold before a hide is over; nothing is hidden in the games that are thrown."""
PUZZLED = "puzzled"
"""What the judge is asked where the referee has come to something that the rules do not allow."""


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


def bound_to(journal: Journal, name: str) -> Callable[[], Bound]:
    """Return what tells to what the next commitment is bound at the table called `name` on `journal`."""
    return lambda: Bound(name, journal.meta.epoch if journal.meta else "", journal.batch + 1)


class Table:
    """One game at one table.

    A fresh `journal` is opened with `game` and the `teams`' names; one with a game in it is resumed, and then `game`
    must be the one it holds (`journalled_game`) and its names prevail. `seats` say which mat is before the hiders, and
    which way round; pads are told to the table as the hiders see them (`far`). When the journal fails the table halts:
    it acknowledges nothing until `retry` finds the journal well. Once the game is over `JudgeNewGame` begins another:
    the finished one is kept in a file beside `journal`, which is then of the new game. So does `MatchCall`, also where
    nothing was played yet; where its options are others than the game's, `refereed` makes the referee for them. All
    times are seconds of one clock.
    """

    def __init__(
        self,
        journal: Journal,
        game: Game[Any],
        teams: Mapping[str, str],
        referee: Decides,
        t: float = 0.0,
        seats: Seats = "stay",
        refereed: Callable[[Game[Any]], Decides] | None = None,
    ) -> None:
        self.journal = journal
        self.game = game
        self.seats: Seats = seats
        self.mirrored = False
        """Whether the hiders sit where B does: at the far edge of the mat, or before the other mat."""
        self.halted: JournalError | None = None
        self._history = History(game)
        self.referee = referee
        self._refereed = refereed
        self._view: View | None = None
        self._puzzle = ""
        self._tended = float("-inf")
        self._kept = (1, 0)
        """The hide and the last record when the journal's log was last brought into its file."""
        self._keys: dict[tuple[str, str], tuple[Called, int]] = {}
        opened = journal.opened()
        options = dict(game.settings)
        if opened is None:
            self._write([Opened(t, game.name, game.version, game.source, options, dict(teams))])
        else:
            # an option that there was not yet when it was begun is as when nobody chooses
            if dict(journalled_game(journal, game).settings) != options:
                raise JournalError(
                    f"journal {journal.path.name} holds a game with other options",
                    "take the game that journalled_game() gives",
                )
            self._fold()
            self._write(self._concluded(lambda: referee.resume(self.story, t), t))

    @property
    def story(self) -> Story:
        """Where the game stands."""
        return self._history.now

    @property
    def view(self) -> View:
        """The public picture; the same object until something changes."""
        if self._view is None:
            unanswered = self.referee.unanswered(self.story)
            self._view = view_of(
                self.game, self.story, self.journal.seq, self.halted, unanswered, self.journal.head[1], self._course()
            )
        return self._view

    def _course(self) -> Course | None:
        """Return how the game went, once it is over."""
        if self.story.phase != "over" or self.halted is not None:
            return None
        try:
            return course_of(self.game, self.journal.read())
        except JournalError as error:  # it is found out, and said, where it matters: at the next record
            log.warning("the course of the game cannot be read: %s", error.what)
            return None

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """What can be ruled on a protest at this table."""
        return self.referee.rulings

    @property
    def free(self) -> bool:
        """Whether another game can begin: this one is over and no protest open, or nothing of it was played."""
        story = self.story
        untouched = not story.undoable.batch and not story.hide.passes and story.phase in ("toss", "throw", "hide")
        return self.halted is None and story.protest is None and (story.phase == "over" or untouched)

    @property
    def armed(self) -> bool:
        """Whether a hit is owed and no question open."""
        return self.halted is None and self.story.armed

    @property
    def strike_reporting(self) -> bool:
        """Whether strokes are to be felt: one is due, or it would be an early one."""
        return self.halted is None and self.referee.strike_reporting(self.story)

    def mat_event(self, event: MatEvent) -> list[Fact]:
        """Take in what the mat felt; return the facts it gave rise to. Never raises for the event or the journal."""
        if self.halted is not None:
            self.referee.sense(event)
            return []
        return self._try(self._concluded(lambda: self._history.decided(event, self.referee.decide), event.t))

    def tick(self, t: float) -> list[Fact]:
        """Let time pass to `t`; return the facts that follow. Never raises for the rules or the journal."""
        if self.halted is not None:
            return []
        return self._try(self._concluded(lambda: self.referee.tick(self.story, t), t))

    def judge(self, call: JudgeCall | HubCall, command: Command | None = None) -> list[Fact]:
        """Do as the judge says, or the hub; return the facts that follow. `command` tells who says it.

        Raises `InvalidActionError` or `IllegalActionError` for a call that cannot be followed, `JournalError` when it
        cannot be written; then it does not count.
        """
        if self.halted is not None:
            raise self.halted
        if isinstance(call, JudgeNewGame):
            return self._begin_next(call, command)
        if isinstance(call, MatchCall):
            return self._take_match(call, command)
        if isinstance(call, RoundClockCall):
            if not (facts := self._round_clock(call)):
                return []
        else:
            facts = self._history.decided(call, self.referee.decide)
        if command is not None:
            facts = [command.called, *facts]
        facts = self._try(facts)
        if self.halted is not None:
            raise self.halted
        if any(isinstance(fact, Undone) for fact in facts):
            facts += self.tick(call.t)
        return facts

    def command(self, command: Command) -> CommandResult:
        """Do as somebody who is signed in says, once: journalled with who said it.

        Said again by the same person with the same key it is told as done; another call under that key is a
        `UsedKeyError`. Raises `StaleError` where the table has moved on from what the one who says it saw, and what
        `judge` raises; then it does not count.
        """
        called, (before, seq) = command.called, self._keys.get((command.actor, command.key), (None, 0))
        if before is not None:
            if (before.call, before.digest or called.digest) != (called.call, called.digest):
                raise UsedKeyError("that key was used for another command", "give each command a key of its own")
            return CommandResult(seq, repeated=True)
        if command.expect is not None and command.expect != self.story.revision:
            raise StaleError("the table has moved on since this screen was drawn", "look again: it is up to date now")
        self.judge(command.call, command)
        return CommandResult(self.journal.seq, repeated=False)

    def retry(self, t: float) -> bool:
        """Try the journal again and go on from what is in it; return whether the table plays."""
        if self.halted is None:
            return True
        try:
            self.journal.reopen()
            self._go_by(journalled_game(self.journal, self.game))
            self._fold()
            why = "the journal could not be written"
            self._write(self._concluded(lambda: self.referee.catch_up(self.story, t, why), t))
        except JournalError as error:
            self._halt(error)
            return False
        self.halted = None
        self._view = None
        return True

    def _begin_next(self, call: JudgeNewGame, command: Command | None) -> list[Fact]:
        """Keep the finished game under its date and begin another by the same rules; return the facts it begins with.

        The board is as it was, and so is whether play goes by what the mat feels. Raises as `judge` does.
        """
        story, t = self.story, call.t
        if story.phase != "over":
            raise IllegalActionError("the game is not over", "close it for the side that is out, then begin another")
        if story.protest is not None:
            raise IllegalActionError("a protest is not decided", "decide it, then begin another game")
        teams = dict(story.teams)
        if call.swapped:
            if "players" in self.game.settings:
                raise IllegalActionError("there are no teams that change sides in this game", "begin it as it was")
            teams = {"A": teams["B"], "B": teams["A"]}
        return self._go_on_with(self.game, teams, t, command)

    def _take_match(self, call: MatchCall, command: Command | None) -> list[Fact]:
        """Begin the game of a tournament's match; return the facts it begins with. Raises as `judge` does.

        `UsageError` for options that this game does not have.
        """
        if (call.game, call.version) != (self.game.name, self.game.version):
            raise IllegalActionError(
                f"this table plays {self.game.name} {self.game.version}, not {call.game} {call.version}",
                "set [game] name in its settings, or give it the same version of the program, and start it again",
            )
        if "players" in self.game.settings:
            raise IllegalActionError("this game is played by players, not by two teams")
        game = registry.game(call.game, call.options)
        if dict(game.settings) != dict(self.game.settings) and self._refereed is None:
            raise IllegalActionError("this table cannot change its options", "give it the options that it has")
        if not self.free:
            raise IllegalActionError("a game is under way at this table", "it takes the match when that is over")
        match = MatchGiven(call.t, call.tournament, call.match, call.order)
        return self._go_on_with(game, dict(call.teams), call.t, command, [match])

    def _round_clock(self, call: RoundClockCall) -> list[Fact]:
        """Return what follows from the clock of the round, nothing where that is known. Raises `IllegalActionError`."""
        clocks, minutes = self.story.clocks, self.game.minutes
        if self.story.order != call.order:
            raise IllegalActionError("this table plays another game than the one that the clock is of")
        if minutes is None:
            raise IllegalActionError(f"{self.game.name} is not played by the clock")
        known, began = clocks.playing, call.t + call.left_s - 60.0 * minutes
        if known is not None and clocks.of_round and call.running == (known.stood is None):
            left = known.began if known.stood is None else known.began + call.t - known.stood
            if abs(left - began) < SAME_CLOCK_S:
                return []
        return [RoundClock(call.t, call.left_s, call.running)]

    def _go_on_with(
        self, game: Game[Any], teams: dict[str, str], t: float, command: Command | None, more: Sequence[Fact] = ()
    ) -> list[Fact]:
        """Keep this game under its date and begin `game`; return the facts it begins with, `more` the last of them."""
        try:
            kept = self.journal.place_to_keep()
            called = [] if command is None else [command.called]
            revision_from = self.story.revision_from + self.journal.batch + 1
            facts = [*opening_facts(self.story, game, t, teams, kept.name, revision_from, called), *more]
            self.journal.begin_next(facts, kept, t)
            self._go_by(game)
            self._fold()
        except JournalError as error:
            self._halt(error)
            raise
        return facts

    def _go_by(self, game: Game[Any]) -> None:
        """Go by the options of `game`, another than before perhaps."""
        if self._refereed is None or dict(game.settings) == dict(self.game.settings):
            return
        self.game, self.referee, self.mirrored = game, self._refereed(game), False

    def tend(self, t: float) -> None:
        """Look after the journal, once a second: is it where it was? After each hide its log goes into the file."""
        if self.halted is not None or 0 <= t - self._tended < TEND_S:
            return
        self._tended = t
        try:
            self.journal.check_place()
            if self.story.hide.number != self._kept[0] or self.journal.seq - self._kept[1] > KEPT_RECORDS:
                kept = self.story.hide.number, self.journal.seq
                self._kept = kept if self.journal.checkpoint() else self._kept
        except JournalError as error:
            self._halt(error)

    def _concluded(self, conclude: Callable[[], list[Fact]], t: float) -> list[Fact]:
        """Return what the referee concludes. Where the rules do not allow that, it is logged and the judge is asked."""
        try:
            facts = conclude()
        except MatError as error:
            if self._puzzle != error.what:  # time passes again and again
                self._puzzle = error.what
                log.exception("the referee cannot go on: %s", error.what)
            story = self.story
            asked = story.question is not None or story.phase == "over" or PUZZLED in story.hide.waived
            return [] if asked else [Question(t, PUZZLED, ("play_on",))]
        if facts:
            self._puzzle = ""
        return facts

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
        with self._by_rules():
            self._history.append(facts, batch)
        self._note_keys(facts, self.journal.seq)
        self._story_changed()

    def _fold(self) -> None:
        """Tell the history from what is in the journal."""
        self._history = History(self.game)
        with self._by_rules():
            for step in self._history.walk(self.journal.read()):
                self._note_keys([step.fact], 0)
        self._story_changed()

    @contextmanager
    def _by_rules(self) -> Generator[None]:
        try:
            yield
        except JournalError:
            raise
        except MatError as error:
            raise JournalError(
                f"journal {self.journal.path.name} does not follow the rules of {self.game.name}: {error.what}",
                "it was written by other rules: begin a new journal",
            ) from error

    def _note_keys(self, facts: list[Fact], seq: int) -> None:
        for fact in facts:
            if isinstance(fact, Called) and fact.key:
                self._keys.setdefault((fact.actor, fact.key), (fact, seq))

    def _story_changed(self) -> None:
        """The story is another: see whether the hiders are."""
        self._view = None
        hidden_afar = mirrored(self.seats, self.game.hiders(self.story.state))
        if hidden_afar != self.mirrored:
            self.mirrored = hidden_afar
            self.referee.change_sides(self.seats)

    def _halt(self, error: JournalError) -> None:
        self.halted = error
        self._view = None
