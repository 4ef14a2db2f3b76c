"""What the judge says of the table itself, in a record: it reads back, or is refused clearly."""

import io
import json
import random

import pytest
from cases import cases
from random_play import steps

from pi_controller.journal.convert import from_journal
from pi_controller.journal.rendering import as_json, as_text
from pi_controller.record.file import read
from pi_controller.record.model import Move, Record, RecordError
from pi_controller.record.writing import write
from pi_controller.referee.facts import (
    ActionPlayed,
    ClockSet,
    CommandIssued,
    GameOpened,
    JudgedByEye,
    ProtestMade,
    ProtestRuled,
    SensorsUsed,
    StateSet,
    Undone,
)
from pi_controller.rules import registry

DAKOTA = registry.game("dakota")
OPENED = GameOpened(100.0, "dakota", "1", DAKOTA.source, dict(DAKOTA.settings), {"A": "Red", "B": "Blue"})
TOSS = ActionPlayed(101.0, {"do": "toss", "winner": "A"}, (), "judge")
SHEET = {
    "hider": "B", "long": {"A": 2, "B": 14}, "middle": 4, "short": {"A": 0, "B": 1}, "owed": "first",
    "situation": None, "winner": None, "finish": None,
}  # fmt: skip


def called(t, call="set", who="Ann"):
    return CommandIssued(t, who, "judge", call, f"key {t}")


BATCHES = [
    (1, [OPENED]),
    (2, [called(101.0, "action"), TOSS]),
    (3, [called(102.0), StateSet(102.0, SHEET, "the sticks had fallen over")]),
    (4, [called(103.0, "sensors"), SensorsUsed(103.0, on=False, reason="the drums")]),
    (5, [called(104.0, "hidden"), JudgedByEye(104.0)]),
    (6, [called(105.0, "protest", "Bo"), ProtestMade(105.0, "A", "his sleeve")]),
    (7, [called(106.0, "ruling"), ProtestRuled(106.0, "denied", "nobody saw it")]),
    (8, [ClockSet(107.0, running=False), ClockSet(108.0, running=True, reason="they are back")]),
    (9, [called(109.0), StateSet(109.0, {**SHEET, "middle": 2, "long": {"A": 4, "B": 14}}, "a slip")]),
    (10, [called(110.0, "undo"), Undone(110.0, 9, reason="it was right")]),
    (11, [ActionPlayed(111.0, {"do": "hit", "found": True}, (), "judge")]),
]
RECORDS = [(number, fact) for number, facts in BATCHES for fact in facts]
WRITTEN = """\
     @0:01 toss A [judge] ; Ann, judge
     @0:02 set hider=B long.A=2 long.B=14 middle=4 short.A=0 short.B=1 owed=first situation=null winner=null \
finish=null [judge] ; Ann, judge: the table stands so: the sticks had fallen over
   ! @0:03 Ann, judge: play goes on without what the mat feels: the drums
   ; played by eye: the judge says what is found
   ! @0:05 Bo, judge: Red (A) protests, play stands
   ! @0:06 Ann, judge: the protest is denied, play goes on: nobody saw it
   ! @0:07 the clock is stopped
   ! @0:08 the clock runs on: they are back
   ~ @0:09 set hider=B long.A=4 long.B=14 middle=2 short.A=0 short.B=1 owed=first situation=null winner=null \
finish=null [judge] ; Ann, judge: the table stands so: a slip
   ! @0:10 Ann, judge: taken back: it was right
  1. @0:11 hit found [judge]
end
"""


def test_record_of_table_calls_has_caller_and_reason():
    record = from_journal(RECORDS)
    text = write(record)
    assert text.partition("\n\n")[2] == WRITTEN
    again = read(text.encode())
    assert (again, again.faults) == (record, [])
    assert "sleeve" not in text, "the words of a protest are for the judges"
    assert "protests, play stands: his sleeve" in write(from_journal(RECORDS, private=True))


def test_game_continues_from_a_set_score():
    record = from_journal(RECORDS)
    out = io.StringIO()
    as_json(record, out)
    assert json.loads(out.getvalue().splitlines()[-1])["state"]["long"] == {"A": 6, "B": 14}
    out = io.StringIO()
    as_text(record, out)
    told = out.getvalue()
    assert told.count("Score set by hand") == 1
    assert "(undone)" in told


def test_impossible_set_score_is_refused():
    set_so = Move({"do": "set", **SHEET, "middle": 5})
    with pytest.raises(RecordError, match="entry 1 is not allowed: long and middle add up to 21, not 20"):
        write(Record("dakota", entries=(set_so,)))
    text = WRITTEN.replace("middle=4", "middle=5")
    (fault, *_) = read(f"Game: dakota\n\n{text}".encode()).faults
    assert fault.line == 4
    assert "long and middle add up to 21" in fault.message
    with pytest.raises(RecordError, match="does not follow the rules"):
        from_journal([(1, OPENED), (2, StateSet(1.0, {}, "nothing"))])


@pytest.mark.parametrize("name", registry.names())
def test_set_score_round_trips_in_every_game(name):
    options = {"players": "Big Bear,true,Ká"} if name in ("bageswin", "patol") else {}
    game = registry.game(name, options)
    chance = random.Random(name)
    for _ in range(cases(12, 30)):
        states = [game.opening(), *(after for _, _, after, _ in steps(chance, game, chance.randrange(60)))]
        entries = [Move({"do": "set", **game.sheet(chance.choice(states))}, by="judge") for _ in range(3)]
        entries.append(Move({"do": "set", **game.sheet(states[0])}, superseded=True))
        state = game.restore(game.sheet(chance.choice(states)))
        entries.append(Move({"do": "set", **game.sheet(state)}))
        if legal := game.legal_actions(state):
            action = chance.choice(legal)
            entries.append(Move(action, game.play(state, action)[1]))
        record = Record(name, options={key: game.settings[key] for key in options}, entries=tuple(entries))
        text = write(record)
        again = read(text.encode())
        assert (again, again.faults) == (record, [])
        assert write(again) == text
