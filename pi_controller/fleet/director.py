"""The hub's side of the tournament: keeps the decisions, makes those that follow by themselves, gives tables matches.

What follows by itself: a match is called as a table comes free, has begun with the first thing played of it, and is
reported when its game is over in the journal that the hub has and has checked. Which match a table is to play is
always published whole (`orders`), so it does not matter what was lost on the way or who was killed when.
"""

from __future__ import annotations

import logging
import secrets
import threading
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.errors import MatError
from pi_controller.fleet.messages import Order
from pi_controller.fleet.store import StoreError
from pi_controller.games import registry
from pi_controller.games.wording import listed
from pi_controller.referee.facts import MatchGiven, Opened
from pi_controller.referee.history import History as GameHistory
from pi_controller.table import journal_file
from pi_controller.tournament.decisions import (
    HUB,
    Appointed,
    Assigned,
    Begun,
    ClockSet,
    Confirmed,
    Entered,
    Recalled,
    Reported,
    Retracted,
    Undone,
)
from pi_controller.tournament.history import History

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pi_controller.fleet.inbox import Inbox
    from pi_controller.fleet.messages import Reply
    from pi_controller.fleet.tournament_log import TournamentLog
    from pi_controller.tournament.decisions import Call, Decision, Fact
    from pi_controller.tournament.director import Tournament

log = logging.getLogger(__name__)
REFUSED_S = 20.0
"""For so long a table that could not take a match is given no other by itself."""
UNANSWERED_S = 30.0
"""After so long without any answer a match goes to another table, where they are called by themselves."""


class Result(NamedTuple):
    """What came of a command: the decision's number, and whether it had been made before by the same command."""

    seq: int
    repeated: bool


class _Game(NamedTuple):
    """A match's game at a table, as far as the hub has it."""

    match: MatchGiven
    history: GameHistory
    opened: Opened
    seq: int


class Director:
    """One tournament on `log`; games are read from `inbox`. May be used from any thread.

    `changed` is called after each decision, in the thread that made it.
    """

    def __init__(self, log: TournamentLog, inbox: Inbox, changed: Callable[[], None] = lambda: None) -> None:
        self.history = History(log.read())
        self.changed = changed
        self.notes: dict[str, str] = {}
        """What the director is to know, by what it is about."""
        self._log = log
        self._inbox = inbox
        self._lock = threading.RLock()
        self._unsure: tuple[Decision, str] | None = None
        """A decision and its key that may stand in the store or not: the connection broke."""
        self._games: dict[tuple[str, str], _Game | None] = {}
        self._replies: dict[str, Reply] = {}
        self._away: dict[str, float] = {}
        """Until when a table gets nothing by itself."""

    @property
    def now(self) -> Tournament:
        """The tournament as it stands."""
        return self.history.now

    @property
    def replies(self) -> Mapping[str, Reply]:
        """What each table said last of the match it was given."""
        return dict(self._replies)

    def decide(self, t: float, actor: str, fact: Fact, key: str = "") -> Result:
        """Make a decision, on disk when this returns. Raises what `Tournament.after` does, and `StoreError`."""
        with self._lock:
            self._settle()
            if key and (seq := self._log.keys.get((actor, key))) is not None:
                return Result(seq, True)
            decision = self.history.next(t, actor, fact)
            try:
                self._log.append(decision, key)
            except StoreError:
                self._unsure = decision, key
                raise
            self.history.add(decision)
        self.changed()
        return Result(decision.seq, False)

    def undo(self, t: float, actor: str, reason: str = "", key: str = "") -> Result:
        """Take back the last decision that somebody made. Raises as `decide`."""
        with self._lock:
            self._settle()
            if key and (seq := self._log.keys.get((actor, key))) is not None:
                return Result(seq, True)
            return self.decide(t, actor, self.history.undo(reason), key)

    def _settle(self) -> None:
        """Find out whether the decision whose writing failed stands after all."""
        if self._unsure is not None:
            if self._log.stands(*self._unsure):
                self.history.add(self._unsure[0])
            self._unsure = None

    def orders(self, tables: Iterable[str]) -> dict[str, Order]:
        """Return what each of `tables` is to play; an empty order for nothing."""
        with self._lock:
            now = self.now
            calls = {call.table: call for call in now.calls.values()}
            return {table: self._order(now, calls.get(table)) for table in tables}

    def _order(self, now: Tournament, call: Call | None) -> Order:
        plan = now.plan
        if call is None or plan is None:
            return Order()
        version = registry.kind(plan.game).version
        order = now.order(call)
        if order in now.reports:
            return Order()  # its game is over, and stays on the table's board until there is another
        clock = now.clock_of(now.pairing(call.match).round)
        return Order(
            order,
            plan.tournament,
            call.match,
            plan.game,
            version,
            dict(plan.options),
            {"A": call.teams[0], "B": call.teams[1]},
            ends=None if clock is None else clock.ends,
            left_s=None if clock is None or clock.ends is not None else clock.left_s,
        )

    def replied(self, t: float, table: str, reply: Reply) -> None:
        """Take note of what `table` says of the match it was given. Raises `StoreError`."""
        with self._lock:
            self._replies[table] = reply
            call = next((call for call in self.now.calls.values() if call.table == table), None)
            if call is None or self.now.order(call) != reply.order:
                return
            if reply.taken:
                self.notes.pop(table, None)
                return
            self.notes[table] = f"{call.match} was not taken: {reply.why}"
            self._away[table] = t + REFUSED_S
            plan = self.now.plan
            if plan is not None and plan.calling == "automatic" and not call.begun:
                self._hub(t, Recalled(call.match, reply.why[:200]))

    def call_due(self, t: float, tables: Iterable[str]) -> None:
        """Call what can be called to those of `tables` that are free, where matches are called by themselves.

        Raises `StoreError`.
        """
        with self._lock:
            plan = self.now.plan
            if plan is None or plan.calling != "automatic" or not self.now.state.teams or self.now.champion is not None:
                return
            here = set(tables)
            for call in list(self.now.calls.values()):
                answered = (reply := self._replies.get(call.table)) is not None and reply.order == self.now.order(call)
                late = t - call.t > UNANSWERED_S
                if not call.begun and not answered and late and call.table not in here:
                    self._hub(t, Recalled(call.match, "the table does not answer"))
            free = [table for table in here if self._away.get(table, t) <= t]
            called, _ = self.now.schedule(free, t)
            for one in called:
                self._hub(t, Assigned(one.match, one.table, secrets.token_hex(8), one.judge))

    def catch_up(self, t: float) -> None:
        """Look at all games that the hub has: some may have come just before it was killed."""
        for table, games in self._inbox.held().items():
            for epoch in games:
                self.progress(t, table, epoch)

    def progress(self, t: float, table: str, epoch: str) -> None:
        """More came of this game: has its match begun, is it over? Raises `StoreError`; asked again it goes on."""
        with self._lock:
            plan = self.now.plan
            if plan is None:
                return
            try:
                game = self._followed(table, epoch)
            except StoreError:
                raise
            except MatError as error:
                self.notes[f"{table} {epoch}"] = f"a game at {table} cannot be followed: {error.what}"
                return
            if game is not None and game.match.tournament == plan.tournament:
                self._conclude(t, table, epoch, game)

    def _followed(self, table: str, epoch: str) -> _Game | None:
        """Return the game with all that has come of it; None where it is no match's. Raises the game's errors."""
        key = table, epoch
        if key in self._games and self._games[key] is None:
            return None
        game = self._games.get(key)
        for row in self._inbox.rows(table, epoch, game.seq + 1 if game else 1):
            if game is None:
                game = self._opened(table, epoch)
                if game is None:
                    return None
            if row.seq > game.seq:
                game.history.add(row.batch, journal_file.decode(row.body))
                game = game._replace(seq=row.seq)
        for other in [one for one in self._games if one[0] == table and one != key]:
            if self._games[other] is not None:
                del self._games[other]  # followed anew in the seldom case that more of it comes
        if game is not None:
            self._games[key] = game
        return game

    def _opened(self, table: str, epoch: str) -> _Game | None:
        facts = [journal_file.decode(row.body) for row in self._inbox.rows(table, epoch) if row.batch == 1]
        opened = next((fact for fact in facts if isinstance(fact, Opened)), None)
        match = next((fact for fact in facts if isinstance(fact, MatchGiven)), None)
        if opened is None or match is None:
            if opened is not None:
                self._games[table, epoch] = None
            return None
        return _Game(match, GameHistory(registry.game(opened.game, opened.options)), opened, 0)

    def _conclude(self, t: float, table: str, epoch: str, game: _Game) -> None:
        story, match, now = game.history.now, game.match, self.now
        call = now.calls.get(match.match)
        given = call is not None and now.order(call) == match.order and call.table == table
        if call is not None and given and not call.begun and story.undoable.batch:
            self._hub(t, Begun(match.match))
        over = story.phase == "over" and story.protest is None
        known = now.reports.get(match.order)
        if known is not None and not over:
            self._hub(t, Retracted(match.order))
        elif over and known is None and match.order not in now.settled:
            self._hub(t, self._result(table, epoch, game))
            report = self.now.reports.get(match.order)
            plan = self.now.plan
            if report is not None and report.expected and plan is not None and plan.results == "at_once":
                self._hub(t, Confirmed(match.order))
        elif not over and match.order in now.settled and story.phase != "over":
            note = f"the end of {match.match} was taken back at {table} after its result counted: correct it"
            self.notes[match.order] = note

    def _result(self, table: str, epoch: str, game: _Game) -> Reported:
        story, rules = game.history.now, registry.game(game.opened.game, game.opened.options)
        teams, sheet = dict(story.teams), rules.sheet(story.state)
        sticks: dict[str, int] = {}
        plan = self.now.plan
        if plan is not None and plan.format in {"round_robin", "groups"}:
            sticks = {teams[side]: n for side, n in rules.score(story.state).items() if side in teams}
        match = game.match
        winner = teams.get(str(sheet["winner"]), "")
        return Reported(
            match.match, match.order, table, epoch, game.seq, winner, sheet.get("finish") == "sweep", sticks
        )

    def _hub(self, t: float, fact: Fact) -> None:
        """Decide what follows by itself; where it cannot be, the director is told. Raises `StoreError`."""
        try:
            self.decide(t, HUB, fact)
        except StoreError:
            raise
        except MatError as error:
            about = f"{type(fact).__name__} {getattr(fact, 'match', '')}{getattr(fact, 'order', '')}"
            if self.notes.get(about) != error.what:
                log.warning("%s", error.what)
            where = f"{fact.table}: " if isinstance(fact, Reported | Assigned) else ""
            self.notes[about] = f"{where}{error.what}"


MOST_TOLD = 600
"""Characters of a decision that the log tells: a reason of any length, and what it is about."""
_TOLD = ("match", "winner", "team", "table", "judge", "player", "ruling", "title", "seed", "text", "why", "reason")


def described(decision: Decision) -> str:
    """Return in a line what a decision is about, for the log of decisions; what only programs read is left out."""
    fact = decision.fact
    match fact:
        case Undone():
            return ", ".join(map(str, fact.taken_back))
        case Entered(teams=teams):
            return listed(team.name for team in teams)
        case Appointed(judges=judges):
            return listed(judges)
        case ClockSet(round=number, running=running):
            return f"round {number}, {'runs' if running else 'stands'}"
        case _:
            told = (getattr(fact, field, "") for field in _TOLD)
            return " ".join(value for value in told if isinstance(value, str) and value)[:MOST_TOLD]
