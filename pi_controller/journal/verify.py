"""Verifies a journal: whether it is intact, or up to which event, and the fault there.

It checks each record (it decodes, its number and batch follow, its columns match its body), the hash chain, the game
(the facts must follow its rules), the number of records, and the file itself (SQLite's own check). The file is only
read; a read-only medium will do, with or without the -journal file of a writer that was killed. All of it is done on a
snapshot, which does not hold up a table that is writing.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from pi_controller.errors import DamagedJournalError, JournalError, MatError
from pi_controller.journal import file
from pi_controller.journal.chain import JournalRow, genesis, next_hash
from pi_controller.referee.facts import Fact, GameOpened
from pi_controller.referee.history import History
from pi_controller.rules import registry


@dataclass(frozen=True, slots=True)
class JournalVerdict:
    """Result of verifying a journal.

    `records` and `head` (the hash of the last one) are those of the intact part; `wrong` is the fault after it, or "".
    """

    file: str
    game: str = ""
    version: str = ""
    teams: dict[str, str] = field(default_factory=dict[str, str])
    epoch: str = ""
    made_by: str = ""
    created: float = 0.0
    origin: str = ""
    records: int = 0
    batches: int = 0
    head: str = ""
    wrong: str = ""

    @property
    def whole(self) -> bool:
        """Whether the journal has no fault."""
        return not self.wrong


class ChainChecker:
    """Checks records in order: each must follow in number, batch, hash chain, and by the game's rules.

    `epoch` is the journal's, hex. `rows` are the accepted ones.
    """

    def __init__(self, epoch: str, *, by_rules: bool = True) -> None:
        self.rows: list[JournalRow] = []
        self.head = genesis(epoch)
        self.opened: GameOpened | None = None
        self._by_rules = by_rules

    @property
    def teams(self) -> dict[str, str]:
        """The latest team names by their letters; empty before the first record."""
        return dict(self._history.now.teams) if self.opened else {}

    def take(self, row: JournalRow) -> str:
        """Accept `row` and return "", or return why it does not follow."""
        seq, batch = len(self.rows) + 1, self.rows[-1].batch if self.rows else 0
        if row.seq != seq:
            return f"record {seq} is missing"
        if row.batch not in (batch, batch + 1) or not row.batch:
            return f"record {seq} is of batch {row.batch}, after batch {batch}"
        head = next_hash(self.head, row)
        if row.hash != head:
            return f"record {seq} was changed: its hash does not match"
        try:
            fact: Fact = file.decode(row.body)
        except JournalError:
            return f"record {seq} cannot be read"
        if (fact.t, fact.__struct_config__.tag) != (row.t, row.kind):
            return f"record {seq} contradicts itself: its columns differ from its body"
        if refused := self._apply_rules(row.batch, fact):
            return f"record {seq}: {refused}"
        self.rows.append(row)
        self.head = head
        return ""

    def _apply_rules(self, batch: int, fact: Fact) -> str:
        """Apply the fact to the game; return why its rules refuse it, or ""."""
        if not self._by_rules:
            return ""
        try:
            if self.opened is None:
                if not isinstance(fact, GameOpened):
                    return "it does not name its game"
                game = registry.game(fact.game, fact.options)
                if game.version != fact.version:
                    return f"it is a game of {fact.game} {fact.version}, and the rules here are {game.version}"
                self._history, self.opened = History(game), fact
            self._history.add(batch, fact)
        except MatError as error:
            return f"the rules do not allow it: {error.message}"
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, AssertionError) as error:
            return f"it cannot be checked: {error!r}"  # a body that decodes can still be nonsense
        return ""


def verify_journal(path: Path | str) -> JournalVerdict:
    """Verify the journal at `path`. Raises `JournalError` if there is no journal."""
    path = Path(path)
    try:
        with file.journal_errors(path, "it cannot be read"), closing(file.open_snapshot(path)) as db:
            found = file.identity(db)
            file.check(path, found)
            if not found.tables:
                raise file.journal_error(path, "it is empty", "check the file's name")
            return _verify_records(path, db)
    except DamagedJournalError as error:
        return JournalVerdict(path.name, wrong=error.message)


def check_records(follows: ChainChecker, db: sqlite3.Connection) -> str:
    """Let `follows` take the records of the journal `db` up to the first fault; return that, or ""."""
    try:
        for row in file.rows(db):
            if fault := follows.take(row):
                return fault
    except (sqlite3.Error, UnicodeError) as error:
        return f"record {len(follows.rows) + 1} cannot be read: {error}"
    return ""


def _verify_records(path: Path, db: sqlite3.Connection) -> JournalVerdict:
    about = file.require_meta(path, db)
    follows = ChainChecker(about.epoch)
    fault = check_records(follows, db) or file.count_fault(db)
    (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok" and not fault:
        fault = f"the file is damaged: {' '.join(str(state).split())}"
    opened, rows = follows.opened, follows.rows
    return JournalVerdict(
        file=path.name,
        game=opened.game if opened else "",
        version=opened.version if opened else "",
        teams=follows.teams,
        **about._asdict(),
        records=len(rows),
        batches=rows[-1].batch if rows else 0,
        head=follows.head,
        wrong=fault,
    )
