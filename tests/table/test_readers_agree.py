"""One history for the table, the pipe and all that reads a journal: what was taken back is so in all of them."""

import json
import random
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import msgspec
import pytest

from pi_controller.cli import replay
from pi_controller.errors import MatError
from pi_controller.games.registry import game, names
from pi_controller.mat.events import Link
from pi_controller.record.model import Move, Ruling
from pi_controller.referee.facts import LASTING, Opened
from pi_controller.referee.history import History, counted, fold
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeClock,
    JudgeHidden,
    JudgeHideAgain,
    JudgeProtest,
    JudgeReplace,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeUndo,
)
from pi_controller.referee.referees import referee_for
from pi_controller.referee.stream import Pipe
from pi_controller.table.journal import Journal
from pi_controller.table.record import kept_in
from pi_controller.table.sheet import sheet_of
from pi_controller.table.table import Table
from pi_controller.table.verify import verdict
from pi_controller.web import event_log

TOSS = {"do": "toss", "winner": "A"}


class Both:
    """A table and a pipe that hear the same."""

    def __init__(self, journal, name="dakota"):
        self.game = game(name)
        self.table = Table(journal, self.game, {}, referee_for(self.game, None, bytes))
        self.out = []
        self.pipe = Pipe(self.game, referee_for(self.game, None, bytes), self.out.append)
        self.pipe.history = History(self.game)
        self.pipe.history.append([Opened(0.0, name, "", "", {}, {})])  # so that the batches have the same numbers

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


def test_what_replaces_a_replacement_replaces_the_same_thing(memory_journal):
    both = Both(memory_journal())
    both.hear(JudgeAction(1.0, TOSS))
    both.hear(JudgeAction(2.0, {"do": "hit", "found": True}))
    both.hear(JudgeReplace(3.0, {"do": "hit", "found": False}))
    both.hear(JudgeReplace(4.0, {"do": "hit", "found": True}))
    for story in (both.table.story, both.pipe.story):
        sheet = both.game.sheet(story.state)
        assert (sheet["long"], sheet["middle"], story.hide.number) == ({"A": 4, "B": 4}, 12, 1)


def anything(chance, rules, story, t):
    """Return something that a judge may say, or the link do."""
    action = chance.choice(rules.legal_actions(story.state) or [{"do": "hit", "found": True}])
    sheet = rules.sheet(story.state)
    return chance.choice(
        [
            *[JudgeAction(t, action)] * 8,
            *[JudgeReplace(t, action)] * 3,
            *[JudgeUndo(t, "misread")] * 3,
            JudgeSet(t, sheet, "as it lies"),
            JudgeHidden(t),
            JudgeHideAgain(t),
            JudgeSensors(t, not story.sensors),
            JudgeClock(t, story.clocks.paused is not None),
            JudgeProtest(t, "A", "his sleeve") if story.protest is None else JudgeRuling(t, "denied", "no"),
            Link(t, chance.random() < 0.7),
        ]
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", names())
def test_the_pipe_and_the_table_stand_alike_after_every_line(name, seed, tmp_path):
    chance = random.Random(f"{name} {seed}")
    with Journal(tmp_path / "game.sqlite") as journal:
        both = Both(journal, name)
        for n in range(50):
            both.hear(anything(chance, both.game, both.table.story, 1.0 + n))
        story, records = both.table.story, list(journal.read())
        assert fold(both.game, records) == story
        sheet = both.game.sheet(story.state)
        told = sheet_of(journal)
        assert (told.state, [line.counts for line in told.lines]) == (
            sheet,
            [counted(records)[line.seq - 1].counts for line in told.lines],
        )
    assert verdict(journal.path).whole
    out = StringIO()
    with redirect_stdout(out):
        replay.main([str(journal.path), "--json"])
    *lines, last = map(json.loads, out.getvalue().splitlines())
    assert [line["counts"] for line in lines] == [counts for _, _, counts in counted(records)]
    assert last["view"]["phase"] == story.phase
    state = both.game.opening()
    for move in kept_in(str(journal.path)).moves():
        action = dict(move.action)
        if action["do"] == "set":
            del action["do"]
            state = both.game.restore(action)
        else:
            state, _ = both.game.play(state, action)
    assert both.game.sheet(state) == sheet


def test_what_an_undo_leaves_is_left_by_all_readers(tmp_path):
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
        lasting = {seq for seq, (_, fact) in enumerate(records, 1) if isinstance(fact, LASTING)}
        gone = {seq for seq, (_, fact) in enumerate(records, 1) if 2.0 <= fact.t < 7.0} - lasting
        assert len(lasting) == 4
        assert gone
        assert {line.seq for line in sheet_of(journal).lines if not line.counts} <= gone
    shown = event_log.kept(journal.path, "dakota", {})
    assert {line.seq for line in shown.lines if line.undone} <= gone
    assert {line.seq for line in shown.lines if not line.undone} >= lasting
    out = StringIO()
    with redirect_stdout(out):
        replay.main([str(journal.path)])
    told = out.getvalue()
    assert told.count("taken back)") == 1
    record = kept_in(str(journal.path))
    assert [entry.superseded for entry in record.entries if isinstance(entry, Move)] == [False, True]
    assert not any(entry.superseded for entry in record.entries if isinstance(entry, Ruling))
