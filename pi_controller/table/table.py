"""The table: writes facts to the journal, then adds them to the history, then shows the view.

Facts that are not on disk do not count.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from pi_controller.board.messages import Message
from pi_controller.errors import JournalError, MatError
from pi_controller.journal.journal import Journal
from pi_controller.journal.rotation import opening_facts
from pi_controller.journal.score_history import ScoreHistory, build_score_history
from pi_controller.referee import facts as fact_kinds
from pi_controller.referee import judge as calls
from pi_controller.referee.commitment import CommitmentContext
from pi_controller.referee.facts import CommandIssued, Fact, GameOpened, Question, Seats, Undone, is_mirrored
from pi_controller.referee.history import Draft, History
from pi_controller.referee.judge import HubCommand, JudgeAnswer, JudgeCommand, JudgeNewGame, MatchCall
from pi_controller.referee.story import Story
from pi_controller.rules import registry
from pi_controller.rules.base import Game, IllegalActionError
from pi_controller.sensing.events import Button, MatEvent
from pi_controller.table.stepped_table import SteppedTable
from pi_controller.table.view import View, view_of
from pi_controller.text import mark

if TYPE_CHECKING:  # pages and lights import the table, and must not load the bead's sealed place
    from pi_controller.referee.base import Referee

ObservedT_contra = TypeVar("ObservedT_contra", contravariant=True)


class Observer(Generic[ObservedT_contra]):
    """Receives everything that happens at a table or an exhibit, in order; must not change anything or raise.

    The methods of this class are empty; an observer overrides those it needs. `armed` is whether strikes count.
    """

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:
        """Called before messages of the board are passed to the mat's sensors, in the step at `t`."""

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:
        """Called after the table has processed these mat events, numbered as the mat numbers its pads."""

    def on_press(self, t: float, press: Button) -> None:
        """Called before a button press is passed to the table, in the step at `t`."""

    def on_step(self, t: float, table: ObservedT_contra, armed: bool) -> None:
        """Called at the end of the step at `t`, after changes were shown."""


DIGEST_DIGITS = 16


class StaleCommandError(MatError, RuntimeError):
    """The table has changed since the user saw it; the command was not executed."""

    code = "stale"


class UsedKeyError(MatError, RuntimeError):
    """The same user has given another command with this idempotency key; it was not executed."""

    code = "key"


class Command(msgspec.Struct, frozen=True):
    """A command of `actor` with an idempotency key: a repetition with the same `key` has no effect.

    `expect` is the `View.revision` that it was given for, if any.
    """

    call: JudgeCommand | HubCommand
    actor: str
    role: str
    key: str
    expect: int | None = None

    @property
    def fact(self) -> CommandIssued:
        """The fact that the command was given."""
        call = self.call
        tag, reason = str(call.__struct_config__.tag), str(getattr(call, "reason", ""))
        timeless = msgspec.json.encode(msgspec.structs.replace(call, t=0.0), order="sorted")
        digest = hashlib.sha256(timeless).hexdigest()[:DIGEST_DIGITS]
        return CommandIssued(call.t, self.actor, self.role, tag, self.key, reason, digest)


class CommandResult(NamedTuple):
    """Result of a command: the journal's last record after it (0 if it was before a restart), whether it is a
    repetition, and the `View.revision` after it.
    """

    seq: int
    repeated: bool
    revision: int


log = logging.getLogger(__name__)

MAINTAIN_EVERY_S = 1.0
"""Interval of the journal's maintenance."""
RETRY_S = 1.0
"""Interval between retries of a failing journal."""
SAME_CLOCK_S = 1.0
"""Greatest difference between repeated messages about one round clock: the delay of a message."""
BUFFERED_FACTS = (
    fact_kinds.HandPass,
    fact_kinds.RoundBegun,
    fact_kinds.LinkSeen,
    fact_kinds.Ready,
    fact_kinds.SensorsSeen,
    fact_kinds.BeadShown,
)
"""Facts of the mat that a power cut may take: after a restart the hide in progress starts over without them."""
RULES_REFUSED = "puzzled"
"""Question to the judge if the rules refuse the referee's conclusion."""
RECOVERED, RECORD_LOST = "recovered", "record_lost"
"""Questions to the judge after a damaged journal, with and without recovered records."""
NEW_GAME = str(JudgeNewGame.__struct_config__.tag)
"""The answer to start over: it stands for the command with this tag."""


def journalled_game(journal: Journal, game: Game[Any]) -> Game[Any]:
    """Return the game in `journal`, with the options that it was begun with; `game` if the journal is fresh.

    Raises `JournalError` if it holds another game than `game`, or another version of its rules.
    """
    opened = journal.read_opening()
    if opened is None:
        return game
    if (opened.game, opened.version) != (game.name, game.version):
        raise JournalError(
            "journal {name} holds a game of {game} {version}, not {other} {other_version}",
            "finish it with the same version, or choose another file for {other}",
            name=journal.path.name,
            game=opened.game,
            version=opened.version,
            other=game.name,
            other_version=game.version,
        )
    return registry.game(opened.game, opened.options) if opened.options != dict(game.settings) else game


def commitment_context(journal: Journal, name: str) -> Callable[[], CommitmentContext]:
    """Return a function that gives the context of the next commitment at the table called `name` with `journal`."""
    return lambda: CommitmentContext(name, journal.meta.epoch if journal.meta else "", journal.next_batch)


class Table(SteppedTable):
    """One game at one table.

    A fresh `journal` is opened with `game` and the `teams`' names. A journal with a game is resumed: then `game` must
    be the one it holds (`journalled_game`), and its names take precedence. `seats` determine which mat is before the
    hiders and its orientation; the table numbers pads as the hiders see them (`far`). If the journal fails the table
    halts: it accepts no input until `retry` succeeds. Once the game is over `JudgeNewGame` begins another: the finished
    one is archived beside `journal`, which then holds the new game. `MatchCall` does the same, also before the first
    action; if its options differ from the game's, `refereed` makes a referee for them. All times are seconds of one
    clock.

    With `gather_s` the facts of `BUFFERED_FACTS` may wait that long for the next batch that is written to disk: a power
    cut may lose these, but no action, call, command, commitment or reveal.
    """

    def __init__(
        self,
        journal: Journal,
        game: Game[Any],
        teams: Mapping[str, str],
        referee: Referee,
        t: float = 0.0,
        seats: Seats = "stay",
        refereed: Callable[[Game[Any]], Referee] | None = None,
        gather_s: float = 0.0,
    ) -> None:
        self.journal = journal
        self._gather_s, self._gathered_at = gather_s, float("inf")
        self.game = game
        self.seats: Seats = seats
        self.halted: JournalError | None = None
        self._history = History(game)
        self.referee = referee
        self._make_referee = refereed
        self._view: View | None = None
        self._scores: ScoreHistory | None = None
        self._scored_state: object = None
        """The final state of the game that `_scores` leads to."""
        self.recovery = ""
        """Result of recovering a damaged journal at this start, in one line; "" if it was intact."""
        self._ask_next: Question | None = None
        self._puzzle = ""
        self._tended = self._retry_at = float("-inf")
        self._keys: dict[tuple[str, str], tuple[CommandIssued, int]] = {}
        opened = journal.read_opening()
        options = dict(game.settings)
        if opened is None:
            self._write(self._draft(GameOpened(t, game.name, game.version, game.source, options, dict(teams))))
        else:
            # an option that did not exist when it was begun has its default
            if dict(journalled_game(journal, game).settings) != options:
                raise JournalError(
                    "journal {name} holds a game with other options",
                    "use the game that journalled_game() returns",
                    name=journal.path.name,
                )
            self._rebuild_history()
            self._write(self._run_referee(lambda draft: referee.resume(draft, t), t))

    @property
    def story(self) -> Story:
        """The current state of the game."""
        return self._history.now

    @property
    def view(self) -> View:
        """The public view; the same object until something changes."""
        if self._view is None:
            unanswered = self.referee.default_answer(self.story)
            self._view = view_of(
                self.game,
                self.story,
                self.journal.seq,
                self.halted,
                unanswered,
                self.journal.head[1],
                None if self.halted is not None else self._scores,
                free=self.can_begin_game,
            )
        return self._view

    @property
    def can_begin_game(self) -> bool:
        """Whether another game can begin: this one is over without an open protest, or has no action yet.

        A protest about a match that no longer counts does not prevent it.
        """
        story = self.story
        untouched = not story.undo_target.batch and not story.hide.passes and story.phase in ("toss", "throw", "hide")
        settled = story.protest is None or bool(story.void)
        return self.halted is None and settled and (story.phase == "over" or untouched)

    @property
    def armed(self) -> bool:
        """Whether a hit is owed and no question is open."""
        return self.halted is None and self.story.strike_expected

    @property
    def showing(self) -> bool:
        """True while the bead of the last hide is revealed."""
        return self.story.phase == "show"

    @property
    def strike_reporting(self) -> bool:
        """Whether strikes should be reported: one is expected, or would be an early one."""
        return self.halted is None and self.referee.strike_reporting(self.story)

    def mat_event(self, event: MatEvent) -> list[Fact]:
        """Process a mat event; return the resulting facts. Never raises because of the event or the journal."""
        if self.halted is not None:
            self.referee.remember_event(event)
            return []
        resolve, decide = self._history.resolve_event, self.referee.decide
        facts = self._try(self._run_referee(lambda draft: resolve(event, decide, draft), event.t))
        self._mat_changed(event.t)  # also without facts: a hand under a pad prevents early strikes
        return facts

    def ask_after_recovery(self, t: float, line: str, *, recovered: bool) -> None:
        """Ask the judge how to go on after a damaged journal, as soon as no other question is open.

        `line` describes the recovery; with `recovered` the game continues from its proven records.
        """
        self.recovery = line
        anew = recovered and not self.story.order  # only the hub can take back a tournament's match
        self._ask_next = Question(
            t, RECOVERED if recovered else RECORD_LOST, ("play_on", NEW_GAME) if anew else ("play_on",)
        )
        self.tick(t)

    def tick(self, t: float) -> list[Fact]:
        """Advance to time `t`; return the resulting facts. Never raises because of the rules or the journal."""
        if self.halted is not None:
            return []
        facts = self._conclude(t)
        if facts or self.halted is not None:
            self._mat_changed(t)
        return facts

    def _conclude(self, t: float) -> list[Fact]:
        if self._ask_next is not None and self.story.question is None and not self.story.held_by_protest:
            asked, self._ask_next = msgspec.structs.replace(self._ask_next, t=t), None
            return self._try(self._draft(asked)) if self.story.phase != "over" else []
        if t - self._gathered_at >= self._gather_s:
            self._flush()
        return self._try(self._run_referee(lambda draft: self.referee.tick(draft, t), t))

    def note_clock_set(self, t: float, by_s: float) -> list[Fact]:
        """Note in the journal that the machine's clock was set by `by_s` s; return the fact. The game goes on."""
        return [] if self.halted is not None else self._try(self._draft(fact_kinds.WallClockSet(t, by_s)))

    def abandon(self, t: float, why: str) -> list[Fact]:
        """Withdraw an open commitment because nobody plays on; return the facts."""
        if self.halted is not None:
            return []
        return self._try(self._run_referee(lambda draft: self.referee.abandon(draft, t, why), t))

    def judge(self, call: JudgeCommand | HubCommand, command: Command | None = None) -> list[Fact]:
        """Execute a call of the judge or the hub; return the resulting facts. `command` identifies the caller.

        Raises `InvalidActionError` or `IllegalActionError` if the call cannot be executed, `JournalError` if it cannot
        be written; then it does not count.
        """
        if self.halted is not None:
            raise self.halted
        try:
            return self._execute(call, command)
        finally:
            self._mat_changed(call.t)

    def _execute(self, call: JudgeCommand | HubCommand, command: Command | None) -> list[Fact]:
        if isinstance(call, JudgeAnswer) and call.answer == NEW_GAME and self._new_game_offered:
            call = JudgeNewGame(call.t)
        if isinstance(call, JudgeNewGame):
            return self._begin_next(call, command)
        if isinstance(call, MatchCall):
            return self._take_match(call, command)
        draft = self._draft() if command is None else self._draft(command.fact)
        if isinstance(call, calls.RoundClockCall):
            if not (clock := self._round_clock(call)):
                return []
            draft = self._history.extend(draft, clock)
        elif isinstance(call, calls.MatchVoidCall):
            if self.story.order != call.order or self.story.void == call.why:
                return []
            draft = self._history.extend(draft, [fact_kinds.MatchVoid(call.t, call.order, call.why)])
        else:
            draft = self._history.resolve_event(call, self.referee.decide, draft)
        facts = self._try(draft)
        if self.halted is not None:
            raise self.halted
        return [*facts, *self.tick(call.t)] if any(isinstance(fact, Undone) for fact in facts) else facts

    def command(self, command: Command) -> CommandResult:
        """Execute the command of a signed-in user once, and write the user to the journal.

        A repetition by the same user with the same key returns the first result; another call with that key is a
        `UsedKeyError`. Raises `StaleCommandError` if the table has changed since the user saw it, and as `judge` does;
        then the command does not count.
        """
        called, (before, seq) = command.fact, self._keys.get((command.actor, command.key), (None, 0))
        if before is not None:
            if (before.call, before.digest) != (called.call, called.digest):
                raise UsedKeyError("that key was used for another command", "give each command a key of its own")
            return CommandResult(seq, repeated=True, revision=self.story.revision)
        if command.expect is not None and command.expect != self.story.revision:
            raise StaleCommandError(
                "the table has changed since this screen was drawn", "check the screen: it is up to date now"
            )
        self.judge(command.call, command)
        return CommandResult(self.journal.seq, repeated=False, revision=self.story.revision)

    def retry(self, t: float) -> bool:
        """Reopen the journal and continue from its records; return whether the table plays."""
        if self.halted is None:
            return True
        try:
            self.journal.reopen()
            self._apply_options(journalled_game(self.journal, self.game))
            self._rebuild_history()
            why = mark("the journal could not be written")
            self._write(self._run_referee(lambda draft: self.referee.catch_up(draft, t, why), t))
        except JournalError as error:
            self._halt(error)
            return False
        self.halted = None
        self._view = None
        self._mat_changed(t)
        return True

    @property
    def _new_game_offered(self) -> bool:
        """Whether the open question lets the judge start over."""
        return self.story.question is not None and NEW_GAME in self.story.question.choices

    def _begin_next(self, call: JudgeNewGame, command: Command | None) -> list[Fact]:
        """Archive the game, which is over or may be started over, and begin another by the same rules.

        The state of the board and the use of the sensors carry over. Returns the first facts. Raises as `judge` does.
        """
        story, t = self.story, call.t
        if story.phase != "over" and not self._new_game_offered:
            raise IllegalActionError("the game is not over", "close it for the side that is out, then start another")
        if story.protest is not None:
            raise IllegalActionError("a protest is waiting for a decision", "decide it, then start another game")
        teams = dict(story.teams)
        if call.swapped:
            if "players" in self.game.settings:
                raise IllegalActionError("there are no teams to change sides in this game", "start it without a change")
            teams = {"A": teams["B"], "B": teams["A"]}
        return self._rotate_to_game(self.game, teams, t, command)

    def _take_match(self, call: MatchCall, command: Command | None) -> list[Fact]:
        """Begin the game of a tournament's match; return its first facts. Raises as `judge` does.

        Raises `UsageError` if the game has no such options.
        """
        if (call.game, call.version) != (self.game.name, self.game.version):
            raise IllegalActionError(
                "this table plays {name} {version}, not {game} {other_version}",
                "set [game] name in its settings, or install the same version of the program, then restart it",
                name=self.game.name,
                version=self.game.version,
                game=call.game,
                other_version=call.version,
            )
        if "players" in self.game.settings:
            raise IllegalActionError("this game is played by players, not by two teams")
        game = registry.game(call.game, call.options)
        if dict(game.settings) != dict(self.game.settings) and self._make_referee is None:
            raise IllegalActionError("this table cannot change its options", "send the options that it has")
        if not self.can_begin_game:
            raise IllegalActionError(
                "a game is in progress at this table", "this table takes the match after that game"
            )
        match = fact_kinds.MatchGiven(call.t, call.tournament, call.match, call.order)
        if call.sheet:
            game.restore(call.sheet)  # refuse it before anything is written
        moved = [fact_kinds.StateSet(call.t, call.sheet, mark("the match was moved here"))] if call.sheet else []
        return self._rotate_to_game(game, dict(call.teams), call.t, command, [match], moved)

    def _round_clock(self, call: calls.RoundClockCall) -> list[Fact]:
        """Return the facts of a new round clock, none if it is known already. Raises `IllegalActionError`."""
        clocks, minutes = self.story.clocks, self.game.minutes
        if self.story.order != call.order:
            raise IllegalActionError("the clock belongs to another game")
        if minutes is None:
            raise IllegalActionError("{name} has no game clock", name=self.game.name)
        known, began = clocks.playing, call.t + call.left_s - 60.0 * minutes
        if known is not None and clocks.of_round and call.running == (known.stopped_at is None):
            left = known.began if known.stopped_at is None else known.began + call.t - known.stopped_at
            if abs(left - began) < SAME_CLOCK_S:
                return []
        return [fact_kinds.RoundClock(call.t, call.left_s, call.running)]

    def _rotate_to_game(
        self,
        game: Game[Any],
        teams: dict[str, str],
        t: float,
        command: Command | None,
        more: Sequence[Fact] = (),
        then: Sequence[Fact] = (),
    ) -> list[Fact]:
        """Archive this game and begin `game`; return its first facts, ending with `more`, and its second batch, `then`.

        Raises `JournalError`.
        """
        kept = self._archive_path()
        called = [] if command is None else [command.fact]
        revision_from = self.story.revision_from + self.journal.batch + 1
        facts = [*opening_facts(self.story, game, t, teams, kept.name, revision_from, called), *more]
        with self._halting():
            self.journal.rotate([*((1, fact) for fact in facts), *((2, fact) for fact in then)], kept, t)
            self._apply_options(game)
            self._rebuild_history()
        return [*facts, *then]

    def _archive_path(self) -> Path:
        with self._halting():
            return self.journal.archive_path()

    @contextmanager
    def _halting(self) -> Generator[None]:
        """Halt the table if the journal fails in the block, and raise the error."""
        try:
            yield
        except JournalError as error:
            self._halt(error)
            raise

    def _apply_options(self, game: Game[Any]) -> None:
        """Use the options of `game`, and make a new referee if they differ."""
        if self._make_referee is None or dict(game.settings) == dict(self.game.settings):
            return
        self.game, self.referee, self.mirrored = game, self._make_referee(game), False

    def maintain(self, t: float) -> None:
        """Check the journal's file once a second. If the journal has failed, retry."""
        if self.halted is None:
            self._retry_at = t + RETRY_S  # so that people see that it stopped, even for a moment
        elif t >= self._retry_at:
            self._retry_at = t + RETRY_S
            self.retry(t)
        if self.halted is not None or 0 <= t - self._tended < MAINTAIN_EVERY_S:
            return
        self._tended = t
        try:
            self.journal.check_file()
        except JournalError as error:
            self._halt(error)
            self._mat_changed(t)

    def _draft(self, *facts: Fact) -> Draft:
        """Return the draft of the next batch, with `facts`."""
        return self._history.extend(self._history.begin(self.journal.next_batch), facts)

    def _run_referee(self, conclude: Callable[[Draft], Draft], t: float) -> Draft:
        """Return the draft that `conclude` makes of an empty one. If the rules refuse it, log it and ask the judge."""
        try:
            draft = conclude(self._draft())
        except MatError as error:
            if self._puzzle != error.message:  # log it once, not in each tick
                self._puzzle = error.message
                log.exception("the referee cannot go on: %s", error.message)
            story = self.story
            asked = story.question is not None or story.phase == "over" or RULES_REFUSED in story.hide.waived_fouls
            return self._draft() if asked else self._draft(Question(t, RULES_REFUSED, ("play_on",)))
        if draft.facts:
            self._puzzle = ""
        return draft

    def _try(self, draft: Draft) -> list[Fact]:
        try:
            self._write(draft)
        except JournalError as error:
            self._halt(error)
            return []
        return list(draft.facts)

    def _write(self, draft: Draft) -> None:
        """Write the facts of `draft` to the journal, then add them to the history."""
        facts = draft.facts
        if not facts:
            return
        if self._gather_s and all(isinstance(fact, BUFFERED_FACTS) for fact in facts):
            self.journal.buffer_batch(facts)
            self._gathered_at = min(self._gathered_at, facts[0].t)
        else:
            self.journal.append(facts)
            self._gathered_at = float("inf")
        self._history.commit(draft)
        self._note_keys(facts, self.journal.seq)
        self._story_changed()

    def _flush(self) -> None:
        self._gathered_at = float("inf")
        try:
            self.journal.flush()
        except JournalError as error:
            self._halt(error)

    def _rebuild_history(self) -> None:
        self._history = History(self.game)
        try:
            for step in self._history.walk(self.journal.read()):
                self._note_keys([step.fact], 0)
        except JournalError:
            raise
        except MatError as error:
            raise JournalError(
                "journal {name} does not follow the rules of {other}: {why}",
                "it was written by other rules: begin a new journal",
                name=self.journal.path.name,
                other=self.game.name,
                why=error.message,
            ) from error
        self._story_changed()

    def _note_keys(self, facts: Sequence[Fact], seq: int) -> None:
        for fact in facts:
            if isinstance(fact, CommandIssued) and fact.key:
                self._keys.setdefault((fact.actor, fact.key), (fact, seq))

    def _story_changed(self) -> None:
        """Update the seating after a change of the game: another side may hide."""
        self._view = None
        self._update_score_history()
        hidden_afar = is_mirrored(self.seats, self.game.hiders(self.story.state))
        if hidden_afar != self.mirrored:
            self.mirrored = hidden_afar
            self.referee.change_sides(self.seats)

    def _update_score_history(self) -> None:
        """Read the score history once a game is over."""
        state = self.story.state if self.story.phase == "over" else None
        if state is self._scored_state:
            return
        self._scored_state, self._scores = state, None
        if state is not None:
            try:
                self._scores = build_score_history(self.game, self.journal.read())
            except JournalError as error:  # the next write reports it
                log.warning("the score history cannot be read: %s", error.message)

    def _halt(self, error: JournalError) -> None:
        self.halted = error
        self._view = None
