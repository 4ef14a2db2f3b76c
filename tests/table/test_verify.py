"""`moccasin-mat game verify`: whole, or up to which event and what is wrong there; a copy on any medium will do."""

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from corruptions import leave_unfinished

from pi_controller.cli import main
from pi_controller.errors import JournalError
from pi_controller.journal.chain import JournalRow, next_hash
from pi_controller.journal.file import RECOVER_HINT, insert
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import ActionPlayed, GameOpened, Ready


@pytest.fixture
def path(tmp_path, play_on):
    path = tmp_path / "game.sqlite"
    with Journal(path, created=1_700_000_000.0) as journal:
        play_on(journal, 20)
    return path


def test_settings_file_is_refused_as_a_journal(tmp_path, capsys):
    settings = tmp_path / "table.toml"
    settings.write_text("[web]\n", "utf-8")
    assert main(["game", "verify", str(settings)]) == 2
    assert "this is a settings file, not a journal" in capsys.readouterr().err


def add(path, **wrong):
    """Write one more record, well chained, with something `wrong` in it."""
    with closing(sqlite3.connect(path)) as db, db:
        seq, batch, head = db.execute("SELECT seq, batch, hash FROM facts ORDER BY seq DESC LIMIT 1").fetchone()
        row = JournalRow(seq + 1, batch + 1, 5000.0, "ready", '{"kind":"ready","t":5000.0}')._replace(**wrong)
        insert(db, [row._replace(hash=next_hash(head, row))])
    return seq + 1


def action(body):
    return f'{{"kind":"action","t":5000.0,"action":{body},"calls":[],"by":"judge"}}'


def test_whole(path, capsys):
    with Journal(path) as journal:
        (seq, head), batches, epoch = journal.head, journal.batch, journal.meta.epoch
    assert main(["game", "verify", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "dakota 1: Red (A) and Blå (B)"
    assert said[1].startswith(f"journal {epoch}, made by version ")
    assert said[2:] == [f"head    {head[:16]}", f"        {head}", f"records {seq} in {batches} events", "whole"]
    assert main(["game", "verify", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["whole"], told["head"], told["records"], told["created"]) == (True, head, seq, 1_700_000_000.0)


def test_damaged_file_with_readable_records_is_not_whole(path):
    data = bytearray(path.read_bytes())
    data[36:40] = (7).to_bytes(4, "big")  # free pages that are not there
    path.write_bytes(data)
    found = verify_journal(path)
    assert "damaged" in found.wrong
    assert (found.records > 0, found.whole) == (True, False)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"body": "{}"}, "cannot be read"),
        ({"body": '{"kind":"dance","t":5000.0}'}, "cannot be read"),
        ({"t": 5001.0}, "its columns differ from its body"),
        ({"kind": "shown"}, "its columns differ from its body"),
        ({"batch": 999}, "is of batch 999, after batch"),
        ({"kind": "action", "body": action('{"do":"toss","winner":"A"}')}, "the rules do not allow it"),
        ({"kind": "action", "body": action("{}")}, "the rules do not allow it"),
    ],
)
def test_well_chained_wrong_record_is_reported(path, capsys, wrong, said):
    at = add(path, **wrong)
    assert main(["game", "verify", str(path)]) == 1
    *_, told, hint = capsys.readouterr().out.splitlines()
    assert hint == RECOVER_HINT
    assert told.startswith("complete up to event ")
    assert f"(record {at - 1}); then: record {at}" in told
    assert said in told


def test_a_journal_that_says_no_game(tmp_path, capsys):
    with Journal(tmp_path / "j") as journal:
        journal.append([Ready(1.0)])
    assert main(["game", "verify", str(tmp_path / "j")]) == 1
    assert "record 1: it does not name its game" in capsys.readouterr().out


def test_a_fresh_one_is_whole(tmp_path, capsys):
    Journal(tmp_path / "j").close()
    assert main(["game", "verify", str(tmp_path / "j")]) == 0
    assert "no game" in capsys.readouterr().out


def test_other_rules_version_is_reported(tmp_path):
    with Journal(tmp_path / "j") as journal:
        journal.append([GameOpened(0.0, "dakota", "0.9", "", {}, {})])
    assert "a game of dakota 0.9, and the rules here are 1" in verify_journal(tmp_path / "j").wrong


def test_missing_or_foreign_file_fails_verification(tmp_path, capsys):
    assert main(["game", "verify", str(tmp_path / "none")]) == 2
    (tmp_path / "text").write_text("dear diary\n" * 500)
    assert main(["game", "verify", str(tmp_path / "text")]) == 1
    assert "it cannot be read" in capsys.readouterr().out
    with closing(sqlite3.connect(tmp_path / "other")) as db:
        db.execute("CREATE TABLE photos(id)")
    with pytest.raises(JournalError, match="another program"):
        verify_journal(tmp_path / "other")


def test_beside_a_table_that_writes_it(path):
    with Journal(path) as journal:
        journal.append([ActionPlayed(6000.0, {"do": "hit", "found": False}, (), "judge")])
        assert verify_journal(path).records == journal.seq


@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_on_a_medium_that_takes_no_writes(path, killed):
    """A copy, with or without the unfinished transaction of a killed writer; nothing is left beside it."""
    folder = Path(tempfile.mkdtemp())
    try:
        with Journal(path) as journal:
            journal.append([Ready(6000.0)])
            head = journal.head
            if killed:
                leave_unfinished(journal, folder / "game.sqlite")
            else:
                shutil.copy(path, folder)
        before = {one.name: one.read_bytes() for one in folder.iterdir()}
        assert len(before) == 1 + killed
        for one in folder.iterdir():
            one.chmod(0o444)
        folder.chmod(0o555)
        if not os.geteuid():
            os.seteuid(65534)
        try:
            found = verify_journal(folder / "game.sqlite")
        finally:
            os.seteuid(os.getuid())
        assert (found.wrong, found.records, found.head) == ("", *head)
        assert {one.name: one.read_bytes() for one in folder.iterdir()} == before
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_verifying_leaves_no_files_behind(path):
    (path.parent / "game.sqlite.lock").unlink()
    verify_journal(path)
    with Journal(path, read_only=True) as journal:
        list(journal.read())
    assert [one.name for one in path.parent.iterdir()] == ["game.sqlite"]


@pytest.mark.parametrize(
    ("column", "value"),
    [("t", "'noon'"), ("t", "x'00ff'"), ("batch", "'many'"), ("kind", "x'ff'"), ("body", "x'7b7d'"), ("hash", "x'aa'")],
)
def test_value_of_another_type_is_a_journal_error(path, capsys, column, value):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TRIGGER facts_stay")
        db.execute(f"UPDATE facts SET {column} = {value} WHERE seq = 5")
        db.execute(f"UPDATE facts SET {column} = {value} WHERE seq = (SELECT max(seq) FROM facts)")
    for verb in (["replay"], ["record"], ["export", "--json"]):
        assert main(["game", *verb, str(path)]) == 2
        assert "damaged" in capsys.readouterr().err
    found = verify_journal(path)
    assert (found.whole, found.records) == (False, 4)
    with pytest.raises(JournalError), Journal(path) as journal:
        list(journal.read())


def test_schema_of_invalid_text_is_a_journal_error(path, capsys):
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE facts(", b"CREATE TABL\xff facts(", 1))
    for verb in (["replay"], ["record"], ["export", "--json"]):
        assert main(["game", *verb, str(path)]) == 2
        assert "damaged" in capsys.readouterr().err
    assert not verify_journal(path).whole
    with pytest.raises(JournalError, match="damaged"):
        Journal(path)
    assert main(["game", "recover", str(path), "-o", str(path.with_name("new.sqlite"))]) == 1
