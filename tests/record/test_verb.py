"""`moccasin-mat game record` on a journal and a record."""

import pytest

from pi_controller.cli.journals import game_record as main
from pi_controller.errors import JournalError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.record.file import read
from pi_controller.record.model import RecordError
from pi_controller.referee.judge import JudgeAction, JudgeUndo
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Button
from pi_controller.table.table import Table

SHEET = b'{"do":"toss","winner":"A"}\n{"do":"hit","found":true}\n'


@pytest.fixture
def journal(tmp_path):
    dakota = game("dakota", {"points": 3})
    path = tmp_path / "game.sqlite"
    with Journal(path) as journal:
        table = Table(journal, dakota, {"A": "Red", "B": "Blue"}, DakotaReferee(dakota, None, bytes))
        table.mat_event(Button(1.0, "toss_a"))
        table.judge(JudgeAction(2.0, {"do": "hit", "found": True}))
        table.judge(JudgeUndo(3.0, "it was not"))
        table.judge(JudgeAction(4.0, {"do": "hit", "found": False, "pad": 2}))
    return path


def test_a_journal_becomes_a_record(journal, capsys):
    assert main([str(journal)]) == 0
    out = capsys.readouterr().out
    assert out.endswith(
        "Team A: Red\nTeam B: Blue\nProvenance: journal game.sqlite\n\n"
        "     @0:01 toss A\n   ~ @0:02 hit found [judge]\n   ! @0:03 taken back: it was not\n"
        "  1. @0:04 hit missed 2 [judge]\nend\n"
    )
    assert read(out.encode()).faults == []
    assert main([str(journal), "--check"]) == 0
    assert capsys.readouterr().out == "no faults found\n"


def test_faults_are_listed(tmp_path, capsys):
    path = tmp_path / "game.record"
    path.write_bytes(b"Game: dakota\ntoss A\ntoss A\n")
    assert main([str(path), "--check"]) == 2
    assert capsys.readouterr().out.splitlines() == [
        "line 3: 'toss' is not allowed here: the toss is done",
        "line 3: there is no line 'end': the record may have been cut",
    ]
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert out.endswith("toss A\nend\n")
    assert err.count("moccasin-mat: line 3: ") == 2


def test_unrecognized_file_is_refused(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\x89PNG and so on")
    with pytest.raises(RecordError, match="x is neither a journal"):
        main([str(path)])
    assert main([str(path), "--check"]) == 2
    with pytest.raises(JournalError):
        main([str(tmp_path)])
    with pytest.raises(JournalError, match="no such file"):
        main([str(path.with_name("none"))])
