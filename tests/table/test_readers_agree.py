"""One history for the table, the pipe and all that reads a journal: what was taken back is so in all of them."""

from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import msgspec
from seats import sit

from pi_controller.cli.replay import game_replay as replay
from pi_controller.display.i18n import ENGLISH
from pi_controller.errors import MatError
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import read_journal_record
from pi_controller.journal.sheet import sheet_of
from pi_controller.record.model import Move, Ruling
from pi_controller.referee.facts import UNDO_PROOF_FACTS, GameOpened
from pi_controller.referee.history import History
from pi_controller.referee.judge import JudgeAction, JudgeClock, JudgeProtest, JudgeSensors, JudgeUndo
from pi_controller.referee.selection import referee_for
from pi_controller.referee.stream import Pipe
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Link
from pi_controller.web import event_log

TOSS = {"do": "toss", "winner": "A"}


class Both:
    """A table and a pipe that hear the same."""

    def __init__(self, journal, name="dakota"):
        self.game = game(name)
        self.table = sit(journal, self.game, teams={})
        self.out = []
        self.pipe = Pipe(self.game, referee_for(self.game, None, bytes), self.out.append)
        self.pipe.history = History(self.game)
        self.pipe.history.append([GameOpened(0.0, name, "", "", {}, {})])  # so that the batches have the same numbers

    def hear(self, said):
        try:
            if isinstance(said, Link):
                self.table.mat_event(said)
            else:
                self.table.judge(said)
        except MatError:
            taken = False
        else:
            taken = True
        assert self.pipe.line(msgspec.json.encode(said)) == taken
        assert self.pipe.story == self.table.story


def test_undo_leaves_the_same_for_all_readers(tmp_path):
    """The board came, the clock was stopped and a team protested within what was taken back: that still counts."""
    with Journal(tmp_path / "game.sqlite") as journal:
        table = Both(journal).table
        table.judge(JudgeAction(1.0, TOSS))
        table.judge(JudgeAction(2.0, {"do": "hit", "found": False}))
        table.mat_event(Link(3.0, up=True))
        table.judge(JudgeClock(4.0, running=False))
        table.judge(JudgeSensors(5.0, on=False))
        table.judge(JudgeProtest(6.0, "A"))
        table.judge(JudgeUndo(7.0))
        story = replace(table.story)
        assert (story.link.up, story.clocks.paused, story.sensors, story.protest.by) == (True, 4.0, False, "A")
        records = list(journal.read())
        lasting = {seq for seq, (_, fact) in enumerate(records, 1) if isinstance(fact, UNDO_PROOF_FACTS)}
        gone = {seq for seq, (_, fact) in enumerate(records, 1) if 2.0 <= fact.t < 7.0} - lasting
        assert len(lasting) == 4
        assert gone
        assert [line.kind for line in sheet_of(journal).lines if not line.counts] == ["action"]
    shown = event_log.read_event_log(journal.path, "dakota", {}, ENGLISH)
    assert {line.seq for line in shown.lines if line.undone} <= gone
    assert {line.seq for line in shown.lines if not line.undone} >= lasting
    out = StringIO()
    with redirect_stdout(out):
        replay([str(journal.path)])
    told = out.getvalue()
    assert told.count("(undone)") == 1
    record = read_journal_record(str(journal.path))
    assert [entry.superseded for entry in record.entries if isinstance(entry, Move)] == [False, True]
    assert not any(entry.superseded for entry in record.entries if isinstance(entry, Ruling))
