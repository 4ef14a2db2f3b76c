"""Verifies a journal: whether it is intact, or up to which event, and the fault there.

It checks the file itself (SQLite's own check) and its log (`write_ahead_log`), each record (it decodes, its number and
batch follow, its columns match its body), the hash chain, and the game: the facts must follow its rules. The file is
only read; a read-only medium will do, with or without the log of a writer that was killed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from pi_controller.errors import JournalError, MatError
from pi_controller.journal import file
from pi_controller.journal.file import Meta, Row, genesis, next_hash
from pi_controller.referee.facts import Fact, GameOpened
from pi_controller.referee.history import History
from pi_controller.rules import registry


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of verifying a journal.

    `records` and `head` (the hash of the last one) are those of the intact part; `wrong` is the fault after it, or "".
    If `chained` is false it is a journal of version 1, which has no hashes. `torn`: its log ends in an incomplete
    event, which was never acknowledged as far as can be determined. `unwitnessed`: there is a log but no lock file with
    the number of acknowledged records, so missing records at its end cannot be detected.
    """

    file: str
    game: str = ""
    version: str = ""
    teams: dict[str, str] = field(default_factory=dict[str, str])
    chained: bool = False
    epoch: str = ""
    made_by: str = ""
    created: float = 0.0
    origin: str = ""
    records: int = 0
    batches: int = 0
    head: str = ""
    wrong: str = ""
    torn: bool = False
    unwitnessed: bool = False

    @property
    def whole(self) -> bool:
        """Whether the journal has no fault."""
        return not self.wrong


class ChainChecker:
    """Checks records in order: each must follow in number, batch, hash chain, and by the game's rules.

    `epoch` is the journal's, hex; None if it has no chain. `rows` are the accepted ones, with their hashes.
    """

    def __init__(self, epoch: str | None, *, by_rules: bool = True) -> None:
        self.rows: list[Row] = []
        self.head = genesis(epoch) if epoch else ""
        self.opened: GameOpened | None = None
        self._by_rules = by_rules

    @property
    def teams(self) -> dict[str, str]:
        """The latest team names by their letters; empty before the first record."""
        return dict(self._history.now.teams) if self.opened else {}

    def take(self, row: Row, *, stated: bool = True) -> str:
        """Accept `row`, or return why it does not follow. Without `stated` its stored hash is not compared."""
        seq, batch = len(self.rows) + 1, self.rows[-1].batch if self.rows else 0
        if row.seq != seq:
            return f"record {seq} is missing"
        if row.batch not in (batch, batch + 1) or not row.batch:
            return f"record {seq} is of batch {row.batch}, after batch {batch}"
        head = next_hash(self.head, row) if self.head else ""
        if stated and row.hash != head:
            return f"record {seq} was changed: its hash does not match"
        try:
            fact: Fact = file.decode(row.body)
        except JournalError:
            return f"record {seq} cannot be read"
        if (fact.t, fact.__struct_config__.tag) != (row.t, row.kind):
            return f"record {seq} contradicts itself: its columns differ from its body"
        if refused := self._apply_rules(row.batch, fact):
            return f"record {seq}: {refused}"
        self.rows.append(row._replace(hash=head))
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


def verify_journal(path: Path) -> Verdict:
    """Verify the journal at `path`. Raises `JournalError` if there is no journal."""
    with file.journal_errors(path, "opened"):
        db = file.open_read_only(path)
    with closing(db):
        try:
            found = file.identity(db)
        except (sqlite3.Error, UnicodeError) as error:
            return Verdict(path.name, wrong=f"the file cannot be read: {error}")
        file.check(path, found)
        if not found.tables:
            raise file.journal_error(path, "it is empty", "check the file's name")
        examined = _verify_records(path.name, db, found.version)
    if examined.wrong:
        return examined
    with file.journal_errors(path, "looked at"):
        log = file.examine(path)
    return replace(examined, wrong=log.lost, torn=log.torn, unwitnessed=log.unwitnessed)


def chain_of(db: sqlite3.Connection) -> ChainChecker:
    """Return the records of the journal `db` that follow by number and hash chain, without checking the rules.

    Raises `sqlite3.Error`, or `ValueError` if the journal's description is malformed.
    """
    about = file.meta(db, file.SCHEMA_VERSION)
    follows = ChainChecker(about.epoch if about else None, by_rules=False)
    for row in file.rows(db, file.SCHEMA_VERSION):
        if follows.take(row):
            break
    return follows


def _verify_records(name: str, db: sqlite3.Connection, version: int) -> Verdict:
    about: Meta | None = None
    wrong = ""
    try:
        (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
        wrong = "" if state == "ok" else f"the file is damaged: {' '.join(str(state).split())}"
        about = file.meta(db, version)
    except (sqlite3.Error, ValueError) as error:
        wrong = wrong or f"the file cannot be read: {error}"
    follows = ChainChecker(about.epoch if about else None)
    wrong = _check_rows(follows, _safely(db, version)) or wrong
    opened, rows = follows.opened, follows.rows
    return Verdict(
        file=name,
        game=opened.game if opened else "",
        version=opened.version if opened else "",
        teams=follows.teams,
        chained=about is not None,
        **(about._asdict() if about else {}),
        records=len(rows),
        batches=rows[-1].batch if rows else 0,
        head=follows.head,
        wrong=wrong,
    )


def _check_rows(follows: ChainChecker, rows: Iterable[Row | str]) -> str:
    for row in rows:
        if refused := row if isinstance(row, str) else follows.take(row, stated=bool(follows.head)):
            return refused
    return ""


def _safely(db: sqlite3.Connection, version: int) -> Iterator[Row | str]:
    """Yield the records, and if reading fails, the fault as the last item."""
    n = 0
    try:
        for row in file.rows(db, version):
            n += 1
            yield row
    except (sqlite3.Error, UnicodeError) as error:
        yield f"record {n + 1} cannot be read: {error}"
