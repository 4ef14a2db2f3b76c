"""A journal of ojibwe from before `shoot`, `hides_left` and `one_stick`: it goes on, and is told in today's words.

`older/ojibwe.jsonl` is what that version wrote: every record with its batch. The game was played by the mat and by the
judge; a hit was undone, another replaced, and the table was set. It stops while a pad lies open.
"""

import json
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec
import pytest

from pi_controller.cli.replay import replay
from pi_controller.journal.export import as_json
from pi_controller.journal.journal import Journal
from pi_controller.journal.replay import replay as retold
from pi_controller.journal.sheet import sheet_of
from pi_controller.record.convert import from_sheet, read_journal_record, to_sheet
from pi_controller.record.file import read, write
from pi_controller.referee.base import referee_for
from pi_controller.referee.facts import ANY_FACT, ActionPlayed, Fact, GameOpened
from pi_controller.referee.history import Draft, fold
from pi_controller.referee.judge import JudgeAction, JudgeSet, JudgeUndo
from pi_controller.rules.registry import game
from pi_controller.web import event_log

OLDER = (Path(__file__).parent / "older" / "ojibwe.jsonl").read_text("utf-8")
RECORDS: list[tuple[int, Fact]] = [
    (batch, msgspec.convert(fact, ANY_FACT)) for batch, fact in map(json.loads, OLDER.splitlines())
]
TEAMS = {"A": "Red", "B": "Blue"}
STANDS = {
    "hider": "A", "counters": {"A": 3, "B": 17}, "pool": 0, "short": {"A": 0, "B": 0}, "high": 2, "hides_left": 1,
    "banked": 0, "shooting": 17, "double": False, "winner": None, "finish": None,
}  # fmt: skip
"""How the table stood at its end, as that version told it, in today's words."""


def shot(*opened, hit, ball):
    return {"do": "shoot", "opened": list(opened), "hit": hit, "ball": ball}


def begun():
    opened = RECORDS[0][1]
    assert isinstance(opened, GameOpened)
    assert "one_stick" not in opened.options
    return game(opened.game, opened.options)


@pytest.fixture
def path(tmp_path):
    """A journal file with the older records."""
    path = tmp_path / "table.sqlite"
    with Journal(path) as journal:
        for number, records in groupby(RECORDS, itemgetter(0)):
            assert journal.append([fact for _, fact in records]) == number
    return path


def test_it_folds_to_how_the_table_stood():
    story = fold(begun(), RECORDS)
    assert begun().sheet(story.state) == STANDS
    assert (story.phase, story.hide.number, story.hide.opened, story.question) == ("hit", 8, (1,), None)
    assert story.hide.commit is not None


def test_it_goes_on_in_todays_words():
    ojibwe = begun()
    referee = referee_for(ojibwe, None, bytes)
    records = list(RECORDS)
    batch = records[-1][0]

    def does(*calls):
        nonlocal batch
        for call in calls:
            batch += 1
            told = [(batch, fact) for fact in referee.decide(Draft(batch, fold(ojibwe, records)), call).facts]
            records.extend(told)
        return told

    batch += 1
    records.extend((batch, fact) for fact in referee.resume(Draft(batch, fold(ojibwe, records)), 50.0).facts)
    assert fold(ojibwe, records).hide.commit is None
    does(JudgeUndo(51.0), JudgeUndo(52.0))  # the open pad, then the last attempt: a `hunt`
    story = fold(ojibwe, records)
    assert (story.hide.number, story.state.counters["A"], story.state.hides_left) == (6, 0, 2)
    (done,) = [fact for _, fact in does(JudgeAction(53.0, {"do": "hunt", "opened": [], "hit": 1, "ball": 2}))
               if isinstance(fact, ActionPlayed)]  # fmt: skip
    assert done.action == shot(hit=1, ball=2)
    older = {"hider": "B", "counters": {"A": 1, "B": 1}, "pool": 18, "short": {"A": 1, "B": 0}, "high": None,
             "lives": 2, "winner": None}  # fmt: skip
    told = does(JudgeSet(54.0, older, "counted again"))
    assert "'hides_left': 2" in repr(told)
    assert "lives" not in repr(told)
    assert fold(ojibwe, records).state.hides_left == 2


def test_it_is_replayed_and_told_in_todays_words(path, capsys):
    assert retold(str(path)) == 0
    said = capsys.readouterr().out
    assert said.count("shoot open") == 9
    assert "hides_left=2" in said
    assert "hunt" not in said
    assert "lives" not in said
    assert replay([str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["view"]["sheet"] == STANDS
    with Journal(path, read_only=True) as journal:
        sheet = sheet_of(journal)
    assert sheet.state == STANDS
    assert [line.action["do"] for line in sheet.lines if line.action] == ["toss", *["shoot"] * 9]
    assert "hunt" not in as_json(sheet)
    last = event_log.read_event_log(path, "ojibwe", TEAMS, mark=26)
    assert last.action == shot(hit=3, ball=3)
    assert last.undo.startswith("Struck 3, ball under 3")
    assert not [line.text for line in last.lines if "hunt" in line.text]


def test_its_record_is_written_and_read_in_todays_words(path):
    record = read_journal_record(str(path))
    text = write(record)
    assert "hunt" not in text
    assert "lives" not in text
    again = read(text.encode())
    assert again.entries == record.entries
    assert not again.faults


OLDER_RECORD = """Game: ojibwe
Option games: 2
  1. toss A
  1. hunt open 1 hit 2 ball 2 -> found high_ball
  = lives=1 high=2
  2. hunt opened=[] hit=4 ball=3 -> missed
  ~ hunt open - hit 1 ball 1
  set hider=A counters={"A":0,"B":2} pool=18 short={"A":0,"B":0} high=null lives=2 winner=null [judge]
end lives=2
"""


def test_an_older_record_is_read():
    record, now = (
        read(OLDER_RECORD.encode()),
        read(OLDER_RECORD.replace("hunt", "shoot").replace("lives", "hides_left").encode()),
    )
    assert record == now
    assert [fault.message for fault in record.faults] == [fault.message for fault in now.faults]
    assert "shoot open - hit 4 ball 3" in write(record)
    assert "= hides_left=1 high=2" in write(record)
    assert "hides_left=2 winner=null" in write(record)


def test_an_older_score_sheet_becomes_a_record_of_today():
    lines = b'{"do":"toss","winner":"A"}\n{"do":"hunt","opened":[1],"hit":2,"ball":2}\n'
    record = from_sheet(lines, game("ojibwe"))
    assert list(to_sheet(record)) == ['{"do": "toss", "winner": "A"}', json.dumps(shot(1, hit=2, ball=2))]
