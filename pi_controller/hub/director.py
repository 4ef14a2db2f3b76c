"""The hub's tournament director: stores decisions, makes the automatic ones, and gives matches to tables.

Automatic decisions: a match is called when a table becomes free, has begun with its first action, and is reported when
its game is over in the journal that the hub has received and verified. The match for a table is always published
complete (`orders`), so a lost message or a killed process does no harm.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple, Self, get_args

import msgspec

from pi_controller.errors import JournalError, MatError
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Order, Reply
from pi_controller.hub.store import StoreError
from pi_controller.journal import file
from pi_controller.journal.score_history import ScoreHistory, build_score_history
from pi_controller.referee.facts import Fact as GameFact
from pi_controller.referee.facts import GameOpened, MatchGiven
from pi_controller.referee.history import History as GameHistory
from pi_controller.referee.history import fold
from pi_controller.referee.judge import VoidReason
from pi_controller.referee.story import Story
from pi_controller.rules import registry
from pi_controller.rules.base import Game, IllegalActionError
from pi_controller.table.view import View, is_pause
from pi_controller.text import Sentence, mark, strip_controls
from pi_controller.tournament import decisions as d
from pi_controller.tournament.actions import Finish
from pi_controller.tournament.decision_history import DecisionHistory
from pi_controller.tournament.director import Tournament

log = logging.getLogger(__name__)
RETRY_REFUSED_S = 20.0
MAX_RETRY_REFUSED_S = 1280.0
"""How long a table that refused a match gets no automatic call: `RETRY_REFUSED_S`, doubled after each refusal in a row
up to
`MAX_RETRY_REFUSED_S`."""
MAX_UNANSWERED_S = 30.0
"""With automatic calls, an unanswered match goes to another table after its own was disconnected for this long.

Counted from when this hub notices it: after a restart of the hub the tables need a moment to reconnect.
"""
MAX_OPENING_RECORDS = 64
"""The first batch of a game is among this many records."""
MAX_NOTES_OF_TABLE = 10
MAX_NOTE_CHARS = 600
MAX_OPEN_REPORTS = 10
"""Of one table; its further results are noted."""


class DecisionResult(NamedTuple):
    """The result of a command: the decision's number, and whether the same command had already made it."""

    seq: int
    repeated: bool


class GameAtTable(NamedTuple):
    """The unfinished game of a match at its table. `void` is why the match no longer counts there, "" if it does.

    `undone`: its end was reported and counted, and then the table took the end back.
    """

    table: str
    match: str
    order: str
    teams: tuple[str, ...]
    void: VoidReason
    begun: bool
    undone: bool = False


class PlayedGame(NamedTuple):
    """A game of a match that a table has played: its teams and scores by side, and how the scores came about."""

    teams: Mapping[str, str]
    scores: Mapping[str, int]
    course: ScoreHistory | None


class _Game(NamedTuple):
    """The game of a match at a table, with the records that the hub has.

    `pause` is the story at the last record at which no hide was in progress: from there another table can go on.
    """

    match: MatchGiven
    history: GameHistory
    opened: GameOpened
    seq: int
    pause: Story | None = None

    @property
    def rules(self) -> Game[Any]:
        """The rules of the game, with its options."""
        return registry.game(self.opened.game, self.opened.options)

    @property
    def paused_sheet(self) -> dict[str, Any]:
        """The score sheet at the `pause`; {} before the toss."""
        return dict(self.rules.sheet(self.pause.state)) if self.pause and self.pause.phase != "toss" else {}

    def with_pause(self) -> Self:
        """Return the game with `pause` at its last record, if no hide is in progress there."""
        story = self.history.now
        return self._replace(pause=story) if is_pause(story.phase, len(story.hide.passes)) else self


class _FollowError(Exception):
    """A game cannot be followed past `seq`, for the reason in `__cause__`; `match` is None if not known."""

    def __init__(self, seq: int, match: MatchGiven | None) -> None:
        super().__init__(seq)
        self.seq, self.match = seq, match


class NotDirectingError(IllegalActionError):
    """Another hub of the venue directs the tournament."""


class Director:
    """One tournament stored in `log`; its games are read from `inbox`. Thread-safe.

    `changed` is called after each decision, in the thread that made it.
    """

    def __init__(self, log: TournamentLog, inbox: Inbox, changed: Callable[[], None] = lambda: None) -> None:
        self.history = DecisionHistory(log.read())
        self.changed = changed
        self.directs = True
        """False while another hub of the venue on the same database directs: this one stands by."""
        self.notes: dict[str, Sentence] = {}
        """Notes for the director, by subject."""
        self._table_of_note: dict[str, str] = {}
        self._note_lock = threading.Lock()
        self._log = log
        self._inbox = inbox
        self._lock = threading.RLock()
        self._unsure: tuple[d.Decision, str] | None = None
        """A decision and its key that may or may not have been stored: the connection broke."""
        self._games: dict[tuple[str, str], _Game | None] = {}
        self._epochs: dict[str, dict[str, None]] = {}
        """By table, its journals in the order of arrival; the last one is of the current game."""
        self._unfollowed: dict[tuple[str, str], str] = {}
        """Games that this version of the program cannot follow, with the order of their match, "" if not known."""
        self.replies: dict[str, Reply] = {}
        """The last reply of each table about its match."""
        self._refusals: dict[str, int] = {}
        """How many matches in a row each table has refused."""
        self._away: dict[str, float] = {}
        """Until when each table gets no automatic calls."""
        self._missed: dict[str, float] = {}
        """Since when each table with a match has been disconnected."""

    @property
    def now(self) -> Tournament:
        """The current state of the tournament."""
        return self.history.now

    def claim(self, *, reached: bool = True) -> bool:
        """Claim to direct, and read what another hub has decided; return whether this hub takes over now.

        `reached`: tables report to this hub. Call it every second; raises `StoreError`.
        """
        with self._lock:
            before, self.directs = self.directs, self._log.try_direct(reached=reached)
            for decision in self._log.read():  # also if it directed before: its connection may have broken meanwhile
                self.history.add(decision)
                self._unsure = None
        if self.directs:
            self.notes.pop("standby", None)
        elif "standby" not in self.notes:
            self.note(
                "standby", mark("Another hub directs this tournament. This one takes over as soon as that is gone.")
            )
        return self.directs and not before

    def decide(self, t: float, actor: str, fact: d.Fact, key: str = "") -> DecisionResult:
        """Make a decision and store it safely before returning. Raises as `Tournament.after`, and `StoreError`."""
        with self._lock:
            if not self.directs:
                raise NotDirectingError("another hub directs this tournament", "decide there, or wait until it is gone")
            self._settle()
            if key and (seq := self._log.keys.get((actor, key))) is not None:
                return DecisionResult(seq, True)
            decision = self.history.make_decision(t, actor, fact)
            try:
                self._log.append(decision, key)
            except StoreError:
                self._unsure = decision, key
                raise
            self.history.add(decision)
            for (table, epoch), order in self._unfollowed.items():
                if order and order in self.now.settled:
                    self.notes.pop(f"{table} {epoch}", None)
        self.changed()
        return DecisionResult(decision.seq, False)

    def undo(self, t: float, actor: str, reason: str = "", key: str = "") -> DecisionResult:
        """Take back the last decision made by a person. Raises as `decide`."""
        with self._lock:
            self._settle()
            if key and (seq := self._log.keys.get((actor, key))) is not None:
                return DecisionResult(seq, True)
            return self.decide(t, actor, self.history.undo(reason), key)

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last decision, which are published."""
        return self._log.head

    def note(self, about: str, text: str, table: str = "") -> None:
        """Show `text` to the director; it replaces the note `about` the same subject.

        Of more than `MAX_NOTES_OF_TABLE` notes of one table the oldest is dropped.
        """
        with self._note_lock:  # a lock of its own, so that the hub's loop need not wait for `process_records`
            self.notes.pop(about, None)
            self.notes[about] = _clean(Sentence(text))
            self._table_of_note[about] = table
            same = [one for one in self.notes if self._table_of_note.get(one, "") == table]
            for one in same[:-MAX_NOTES_OF_TABLE]:
                self.notes.pop(one, None)
                self._table_of_note.pop(one, None)

    def _settle(self) -> None:
        """Check whether the decision whose write failed was stored."""
        if self._unsure is not None:
            if self._log.was_written(*self._unsure):
                self.history.add(self._unsure[0])
            self._unsure = None

    def orders(self, tables: Iterable[str]) -> dict[str, Order]:
        """Return the match for each of `tables`; an empty order if it has none."""
        with self._lock:
            now = self.now
            calls = {call.table: call for call in now.calls.values()}
            orders = {table: self._order(now, calls.get(table)) for table in tables}
            for game in self.games_at_tables():
                if game.void and game.table in orders:
                    order = msgspec.structs.replace(orders[game.table], void=game.order, why=game.void)
                    orders[game.table] = order
            return orders

    def games_at_tables(self) -> tuple[GameAtTable, ...]:
        """Return the unfinished games of matches at their tables, as far as their journals have arrived.

        It takes no lock: pages ask it while the director waits for a store that hangs.
        """
        now, found, facts = self.now, list[GameAtTable](), self._facts()
        known = {fact.order for fact in facts if isinstance(fact, d.Assigned | d.Moved)}
        reported = {fact.order: fact.winner for fact in facts if isinstance(fact, d.Reported)}
        for table, epochs in list(self._epochs.items()):
            epoch = next(reversed(epochs), "")
            game = self._games.get((table, epoch))
            if now.plan is None or game is None or game.match.tournament != now.plan.tournament:
                continue
            story, match = game.history.now, game.match
            if story.phase != "over":
                begun = bool(story.undo_target.batch or story.hide.passes)
                teams = tuple(map(now.team_name, dict(story.teams).values()))
                # a hub restored from an older backup lacks its later orders, so must not call them void
                given = match.order.rpartition("-")[0] in known
                why = _void_reason(now, table, match, teams) if given else ""
                counted = _counted_winner(now, match.match, epoch)
                undone = counted is not None and counted == reported.get(match.order)
                found.append(GameAtTable(table, match.match, match.order, teams, why, begun, undone))
        return tuple(found)

    def played_game(self, match: str) -> PlayedGame | None:
        """Return the last game of `match`; None if a person entered its result, or if its records cannot be read.

        Raises `StoreError`.
        """
        with self._lock:
            source = next(reversed(self.now.sources.get(match, ())), None)
            if source is None or not source.epoch:
                return None
            records: list[tuple[int, GameFact]] = []
            try:
                records += ((row.batch, file.decode(row.body)) for row in self._inbox.rows(source.table, source.epoch))
                opened = next((fact for _, fact in records if isinstance(fact, GameOpened)), None)
                if opened is None:
                    return None
                rules = registry.game(opened.game, opened.options)
                story = fold(rules, records)
                course = build_score_history(rules, records)
            except StoreError:
                raise
            except MatError:  # another version of the program wrote it
                return None
            teams = {side: self.now.team_name(name) for side, name in dict(story.teams).items()}
            scores = rules.scoreboard(rules.sheet(story.state)).scores
            return PlayedGame(teams, {side: n for side, n in scores.items() if side in teams}, course)

    def teams_in_void_games(self) -> dict[str, GameAtTable]:
        """Return {team: game} of teams that still play a void match, without those at tables out of use.

        The teams of a match that was moved play it at another table.
        """
        unused = self.now.unused
        games = [one for one in self.games_at_tables() if one.void and one.begun and one.table not in unused]
        games = [one for one in games if one.void != "moved"]
        return {team: game for game in games for team in game.teams}

    def _order(self, now: Tournament, call: d.Call | None) -> Order:
        plan = now.plan
        if call is None or plan is None:
            return Order()
        order = now.current_order(call)
        if order in now.reports:
            return Order()  # the finished game stays on the table's display until the next match
        clock = now.clock_of(now.pairing(call.match).round)
        return Order(
            order=order,
            tournament=plan.tournament,
            match=call.match,
            game=plan.game,
            version=registry.game_class(plan.game).version,
            options=dict(plan.options),
            teams={"A": call.teams[0], "B": call.teams[1]},
            sheet=dict(call.sheet) if order == f"{call.order}-1" else {},  # later games of the match begin there
            ends=None if clock is None else clock.ends,
            left_s=None if clock is None or clock.ends is not None else clock.left_s,
        )

    def move(self, t: float, actor: str, fact: d.Moved, connected: Mapping[str, bool], key: str = "") -> DecisionResult:
        """Move a match that has begun to another table, where its game goes on from the score that the hub has.

        A hide in progress starts over. The order of the table that the match leaves is settled by the move: whatever
        that table still plays or reports is void and never counts, also if it was not connected. `connected` as in
        `check_call`. Raises as `decide`.
        """
        with self._lock:
            if (actor, key) in self._log.keys:  # it came again
                return self.decide(t, actor, fact, key)
            self.check_call(fact, connected)
            fact = msgspec.structs.replace(fact, sheet=self._find_moved_sheet(fact.match))
            return self.decide(t, actor, fact, key)

    def _find_moved_sheet(self, match: str) -> dict[str, Any]:
        """Return the score sheet from which the game of `match` goes on at another table, {} if it has not begun.

        Raises `IllegalActionError` if the hub does not have its records.
        """
        call = self.now.calls.get(match)
        if call is None or not call.started:
            return {}  # refused by the decision
        order = self.now.current_order(call)
        for epoch in reversed(self._epochs.get(call.table, {})):
            try:
                game = self._read_game(call.table, epoch)
            except _FollowError as error:
                if error.match is None or error.match.order == order:
                    raise IllegalActionError(
                        "the hub cannot read the game of {match}",
                        "update the hub, or enter the result by hand",
                        match=match,
                    ) from error
                continue
            if game is not None and game.match.order == order:
                return game.paused_sheet
        if call.sheet and order == f"{call.order}-1":
            return dict(call.sheet)  # the table that it leaves has not taken it yet
        if self.now.state.games.get(match):
            return {}  # between two games of the match
        raise IllegalActionError(
            "the hub has no records of the game of {match}", "enter the result by hand", match=match
        )

    def handle_reply(self, t: float, table: str, reply: Reply) -> None:
        """Process the reply of `table` about its match. Raises `StoreError`."""
        if not self.directs:
            return
        with self._lock:
            self.replies[table] = reply
            call = next((call for call in self.now.calls.values() if call.table == table), None)
            if call is None or self.now.current_order(call) != reply.order:
                return
            if reply.taken:
                self.notes.pop(table, None)
                self._refusals.pop(table, None)
                return
            text = Sentence("{table} did not take {match}: {why}", table=table, match=call.match, why=reply.why)
            self.note(table, text, table)
            self._away[table] = t + min(MAX_RETRY_REFUSED_S, RETRY_REFUSED_S * 2.0 ** self._refusals.get(table, 0))
            self._refusals[table] = self._refusals.get(table, 0) + 1
            plan = self.now.plan
            if plan is not None and plan.calling == "automatic" and not call.started:
                self._decide_automatically(t, d.Recalled(call.match, strip_controls(reply.why)[:200]))

    def call_due(self, t: float, tables: Iterable[str], free: Iterable[str] | None = None) -> None:
        """If the plan calls matches automatically, call the due ones to the `free` tables.

        `tables` are all connected ones. Raises `StoreError`.
        """
        if not self.directs:
            return
        with self._lock:
            plan = self.now.plan
            if plan is None or plan.calling != "automatic" or not self.now.state.teams or self.now.is_over:
                return
            here, calls = set(tables), list(self.now.calls.values())
            self._missed = {call.table: self._missed.get(call.table, t) for call in calls if call.table not in here}
            for call in calls:
                reply = self.replies.get(call.table)
                answered = reply is not None and reply.order == self.now.current_order(call)
                late = t - self._missed.get(call.table, t) > MAX_UNANSWERED_S
                if not call.started and not answered and late:
                    self._decide_automatically(t, d.Recalled(call.match, "the table does not answer"))
            sitting = self.teams_in_void_games()
            taken = {game.table for game in sitting.values()}
            able = here if free is None else here.intersection(free)
            called, _ = self.now.schedule(
                [table for table in able - taken if self._away.get(table, t) <= t], t, frozenset(sitting)
            )
            for one in called:
                self._decide_automatically(t, d.Assigned(one.match, one.table, secrets.token_hex(8), one.judge))

    def catch_up(self, t: float) -> None:
        """Process all games in the store: records may have arrived just before the hub was killed."""
        for table, games in self._inbox.record_counts().items():
            for epoch in games:
                self.process_records(t, table, epoch)

    def process_records(self, t: float, table: str, epoch: str) -> None:
        """Process new records of a game: report its match as started or finished.

        A game with a record that this program cannot read is not followed further, and the director gets a note. Raises
        `StoreError`; calling it again continues.
        """
        if not self.directs:
            return
        with self._lock:
            self._epochs.setdefault(table, {}).setdefault(epoch)
            plan = self.now.plan
            if plan is None or (table, epoch) in self._unfollowed:
                return
            try:
                game = self._read_game(table, epoch)
                if game is not None and game.match.tournament == plan.tournament:
                    with _follow_errors(game.seq, game.match):
                        self._conclude(t, table, epoch, game)
            except _FollowError as error:
                self._stop_following(t, table, epoch, error)

    def _stop_following(self, t: float, table: str, epoch: str, error: _FollowError) -> None:
        """Stop following this game, and note it for the director if it may be part of this tournament."""
        match, cause, plan = error.match, error.__cause__, self.now.plan
        self._games.pop((table, epoch), None)
        self._unfollowed[table, epoch] = match.order if match is not None else ""
        why = cause.sentences[0] if isinstance(cause, MatError) else f"{type(cause).__name__}: {cause}"
        text = Sentence(
            "{match} at {table} cannot be followed since {time}, record {seq}: {why}. "
            "Enter its result by hand, or update the hub and start it again: then the game is followed again.",
            table=table,
            match=match.match if match is not None else Sentence("A game"),
            time=f"{datetime.fromtimestamp(t).astimezone():%H:%M:%S}",
            seq=error.seq,
            why=why,
        )
        log.warning("%s", text, exc_info=None if isinstance(cause, MatError) else cause)
        if match is None or (plan is not None and match.tournament == plan.tournament):
            self.note(f"{table} {epoch}", text, table)

    def _read_game(self, table: str, epoch: str) -> _Game | None:
        """Return the game with all its records; None if it is not a match. Raises `_FollowError`."""
        key = table, epoch
        if key in self._games and self._games[key] is None:
            return None
        game = self._games.get(key)
        for row in self._inbox.rows(table, epoch, game.seq + 1 if game else 1):
            if game is None:
                game = self._identify_game(table, epoch)
                if game is None:
                    return None
            if row.seq > game.seq:
                if row.batch != game.history.batch:
                    game = game.with_pause()
                with _follow_errors(row.seq, game.match):
                    game.history.add(row.batch, file.decode(row.body))
                game = game._replace(seq=row.seq)
        game = game and game.with_pause()  # a table's messages end with whole batches
        for other in [one for one in self._games if one[0] == table and one != key]:
            if self._games[other] is not None:
                del self._games[other]  # read again in the rare case that more records arrive
        if game is not None:
            self._games[key] = game
        return game

    def _identify_game(self, table: str, epoch: str) -> _Game | None:
        rows = list(self._inbox.rows(table, epoch, last=MAX_OPENING_RECORDS))
        facts: list[GameFact] = []
        unknown: tuple[int, JournalError] | None = None
        for row in (row for row in rows if row.batch == 1):
            try:
                facts.append(file.decode(row.body))
            except JournalError as error:
                unknown = unknown or (row.seq, error)
        opened = next((fact for fact in facts if isinstance(fact, GameOpened)), None)
        match = next((fact for fact in facts if isinstance(fact, MatchGiven)), None)
        if unknown is not None:
            raise _FollowError(unknown[0], match) from unknown[1]
        if opened is None or match is None:
            if opened is not None or rows[-1].batch > 1 or len(rows) == MAX_OPENING_RECORDS:
                self._games[table, epoch] = None
            return None
        with _follow_errors(1, match):
            return _Game(match, GameHistory(registry.game(opened.game, opened.options)), opened, 0)

    def _conclude(self, t: float, table: str, epoch: str, game: _Game) -> None:
        story, match, now = game.history.now, game.match, self.now
        if story.undo_target.batch and _is_called(now, table, match) and not now.calls[match.match].started:
            self._decide_automatically(t, d.MatchStarted(match.match))
        rules = game.rules
        if story.phase == "over" and not rules.is_over(story.state):
            return  # closed by the director without a winner
        over = story.phase == "over" and story.protest is None
        known = now.reports.get(match.order)
        if known is not None and not over:
            self._decide_automatically(t, d.Retracted(match.order))
        elif over and match.order in now.moved:
            text = Sentence(
                "{match} was played to its end at {table} too, after it was moved: "
                "that does not count. Ask the teams what happened.",
                table=table,
                match=match.match,
            )
            self.note(f"moved {match.order}", text, table)
        elif over and match.order not in now.settled:
            if known is None:  # else the hub was killed before it counted
                if not self._may_report(table, match.order):
                    self._note_refused_report(table, match.match)
                    return
                self._decide_automatically(t, self._result(table, epoch, game))
            report = self.now.reports.get(match.order)
            plan = self.now.plan
            if report is not None and report.expected and plan is not None and plan.results == "at_once":
                self._decide_automatically(t, d.Confirmed(match.order))

    def _may_report(self, table: str, order: str) -> bool:
        """Return whether a result of this table becomes a decision: not of a match that another table was given.

        An order that nobody was given may be of decisions that this hub has lost, but only so many of them wait.
        """
        call, _, _ = order.rpartition("-")
        given = {fact.table for fact in self._facts() if isinstance(fact, d.Assigned | d.Moved) and fact.order == call}
        waiting = sum(report.fact.table == table for report in self.now.reports.values())
        return (not given or table in given) and waiting < MAX_OPEN_REPORTS

    def _note_refused_report(self, table: str, match: str) -> None:
        text = Sentence(
            "{table} sends a result of {match} that does not count: the match was given to another table, or too many "
            "of its results wait. See whether two tables have the same card, or take it out.",
            table=table,
            match=match,
        )
        self.note(f"refused {table}", text, table)

    def _facts(self) -> list[d.Fact]:
        return [one.fact for one in self.history.decisions]

    def _result(self, table: str, epoch: str, game: _Game) -> d.Reported:
        story, rules = game.history.now, game.rules
        teams = {side: self.now.team_name(name) for side, name in dict(story.teams).items()}
        sheet = rules.sheet(story.state)
        sticks: dict[str, int] = {}
        plan = self.now.plan
        if plan is not None and plan.format in {"round_robin", "groups"}:
            scores = rules.scoreboard(sheet).scores
            sticks = {teams[side]: n for side, n in scores.items() if side in teams}
        match = game.match
        winner = teams.get(str(sheet["winner"]), "")
        how = sheet.get("finish")
        finish = how if how in get_args(Finish) else None
        return d.Reported(match.match, match.order, table, epoch, game.seq, winner, how == "sweep", sticks, finish)

    def note_game(self, table: str, view: View | None) -> None:
        """Note for the director if a table plays another game than the tournament, so gets no match.

        `view` is None if it is not connected: then it has no such note.
        """
        about, plan = f"{table} game", self.now.plan
        drawn = bool(self.now.state.teams) and not self.now.is_over
        wanted = (plan.game, registry.game_class(plan.game).version) if plan is not None else ("", "")
        if view is None or not drawn or table in self.now.unused or (view.game, view.version) == wanted:
            self.notes.pop(about, None)
            return
        text = Sentence(
            "{table} gets no match: it plays {game}, the tournament {wanted}. "
            "Set [game] name in its settings, or install the same version of the program, then restart it.",
            table=table,
            game=f"{view.game} {view.version}",
            wanted=" ".join(wanted),
        )
        if self.notes.get(about) != text:
            self.note(about, text, table)

    def check_call(self, call: d.Assigned | d.Moved, connected: Mapping[str, bool]) -> None:
        """Raise `IllegalActionError` if a match cannot go to this table now.

        `connected` is {table: whether another game can begin there} of the connected tables.
        """
        if call.table not in connected:
            raise IllegalActionError(
                "{table} is not connected", "choose another table, or switch it on", table=call.table
            )
        sitting, pairing = self.teams_in_void_games(), self.now.pairing(call.match)
        for team in pairing.teams:
            if team is not None and (game := sitting.get(team)) is not None:
                raise IllegalActionError(
                    "{team} still plays at {table}, a match that no longer counts: {match}",
                    "close that game at its table first",
                    team=team,
                    match=game.match,
                    table=game.table,
                )
        if not connected[call.table]:
            raise IllegalActionError(
                "a game is in progress at {table}", "wait until it is over, or choose another table", table=call.table
            )

    def _decide_automatically(self, t: float, fact: d.Fact) -> None:
        """Make an automatic decision; while it is refused, the director has a note. Raises `StoreError`."""
        about = f"{type(fact).__name__} {getattr(fact, 'match', '')}{getattr(fact, 'order', '')}"
        try:
            self.decide(t, d.HUB, fact)
            self.notes.pop(about, None)
        except StoreError:
            raise
        except MatError as error:
            table = fact.table if isinstance(fact, d.Reported | d.Assigned) else ""
            why = error.sentences[0]
            text = Sentence("{table}: {why}", table=table, why=why) if table else why
            if self.notes.get(about) != text:
                log.warning("%s", text)
            self.note(about, text, table)


def _clean(text: Sentence) -> Sentence:
    """Return a note without controls and of at most `MAX_NOTE_CHARS`, or each value so: others may have sent them."""
    values = {
        name: _clean(one) if isinstance(one, Sentence) else _cut(one) if isinstance(one, str) else one
        for name, one in text.values.items()
    }
    return Sentence(text.template if values else _cut(text), **values)


def _cut(text: str) -> str:
    return strip_controls(text)[:MAX_NOTE_CHARS]


@contextmanager
def _follow_errors(seq: int, match: MatchGiven) -> Generator[None]:
    """Turn any error but the store's into a `_FollowError`: a table may send facts that no program of ours wrote."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        raise _FollowError(seq, match) from error


def _is_called(now: Tournament, table: str, match: MatchGiven) -> bool:
    """Return whether `table` is to play the game of `match` now."""
    call = now.calls.get(match.match)
    return call is not None and call.table == table and now.current_order(call) == match.order


def _counted_winner(now: Tournament, match: str, epoch: str) -> str | None:
    """Return the winner that counts for the game of `match` in this journal; None if no result of it counts."""
    counted = zip(now.sources.get(match, ()), now.state.games.get(match, ()), strict=False)
    return next((game.winner for source, game in counted if source.epoch == epoch), None)


def _void_reason(now: Tournament, table: str, match: MatchGiven, teams: tuple[str, ...]) -> VoidReason:
    """Return why the game of `match` by `teams` at `table` does not count, "" if it does."""
    if match.order in now.reports or _is_called(now, table, match):
        return ""
    if match.order in now.moved:
        return "moved"
    pairing = next((one for one in now.pairings if one.id == match.match), None)
    if pairing is None or {*pairing.teams} != {*teams}:
        return "changed"
    return "recalled" if pairing.open else "decided"


def can_take_match(view: View, plan: d.Planned | None) -> bool:
    """Return whether the table with this `view` can begin a match of `plan`."""
    if plan is None or not view.free:
        return False
    return (view.game, view.version) == (plan.game, registry.game_class(plan.game).version)
