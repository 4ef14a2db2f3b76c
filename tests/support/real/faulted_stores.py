"""Programs that write a store and print what they have acknowledged: `faulted_stores.py journal|hub|accounts FOLDER`.

They do what the product does after an error: the journal is opened again, a table sends again, a person tries again.
`check` finds in what lies on the disk all that was acknowledged.
"""

import os
import sys
from contextlib import closing
from pathlib import Path

from pi_controller.errors import JournalError, MatError
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Events, Hello, SentGame, SentRecord
from pi_controller.journal.chain import JournalRow, chain_rows, genesis
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import GameOpened, LinkSeen
from pi_controller.tournament.decisions import Announced, Decision
from pi_controller.web.sessions import Sessions
from pi_controller.web.users import Users

EPOCH, TRIES = "aa" * 16, 3
NAME = "kept.sqlite"
ENDINGS = ("", "-journal", "-wal", "-shm", ".lock")


def opened(after=""):
    return GameOpened(0.0, "dakota", "1", "", {}, {"A": "Red", "B": "Blue"}, after)


def repeat(do, *values):
    """Return what `do` returns; call it again after an error."""
    for _ in range(TRIES):
        try:
            return do(*values)
        except MatError as error:
            last = error
    raise last


def acknowledge(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def write_journal(path):
    with repeat(Journal, path) as journal:

        def write(change, *values):
            before = journal.seq, journal.meta
            try:
                change(*values)
            except JournalError:
                repeat(journal.reopen)
                if (journal.seq, journal.meta) == before:
                    raise
            acknowledge(journal.meta.epoch, *journal.head)

        repeat(write, journal.append, [opened()])
        for t in (1.0, 2.0, 3.0):
            repeat(write, journal.append, [LinkSeen(t, up=True)])
        kept = repeat(journal.archive_path)
        repeat(write, journal.rotate, [(1, opened(kept.name))], kept, 9.0)
        repeat(write, journal.append, [LinkSeen(10.0, up=False)])


def check_journal(path, acknowledged):
    heads = set()
    for file in path.parent.glob("[!.]*.sqlite"):
        assert verify_journal(file).whole, file
        with Journal(file) as journal:  # the next start
            heads |= {(journal.meta.epoch, str(row.seq), row.hash) for row in journal.rows()}
    assert set(acknowledged) <= heads


def sent_rows(count):
    return [*chain_rows(genesis(EPOCH), (JournalRow(n, n, n / 4, "ready", "{}") for n in range(1, count + 1)))]


def write_hub(path):
    with repeat(Inbox, path) as inbox, repeat(TournamentLog, path) as log:

        def decide(decision):
            if not log.was_written(decision):
                log.append(decision)

        messages = [Hello((SentGame(EPOCH, 4),))]
        messages += [Events(EPOCH, (SentRecord(*row),)) for row in sent_rows(4)]
        for message in messages:
            acknowledge("records", dict(repeat(inbox.store_messages, 1.0, [("t01", message)]))["t01"].seq)
        for n in (1, 2, 3):
            repeat(decide, Decision(n, 1.0, "Ann", Announced(str(n))))
            acknowledge("decision", n)


def check_hub(path, acknowledged):
    with Inbox(path) as inbox, TournamentLog(path) as log:
        found = [*inbox.rows("t01", EPOCH)]
        assert found == sent_rows(len(found))
        decisions = [*log.read()]
    for what, n in acknowledged:
        assert len(found if what == "records" else decisions) >= int(n), what


def write_accounts(path):
    with closing(repeat(Users, path)) as users:

        def add(name):
            known = users.find_by_name(name)
            return known[0] if known else users.add(name, "head", "no PIN")

        for name in ("Ann", "Jo", "Sam"):
            person = repeat(add, name)
            acknowledge(name, repeat(Sessions(users).begin, person, 1.0))


def check_accounts(path, acknowledged):
    with closing(Users(path)) as users:
        for name, token in acknowledged:
            assert Sessions(users).find(token, 2.0, touch=False).person.name == name
        users.add("Com", "committee", "no PIN")


WRITERS = {"journal": write_journal, "hub": write_hub, "accounts": write_accounts}
CHECKS = {"journal": check_journal, "hub": check_hub, "accounts": check_accounts}

if __name__ == "__main__":
    WRITERS[sys.argv[1]](Path(sys.argv[2]) / NAME)
