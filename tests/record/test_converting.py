"""From journals and score sheets to records; and the acceptance game of chapter 11 as a record."""

import io
import json
import re
from pathlib import Path

import pytest

from pi_controller.journal.convert import from_journal
from pi_controller.journal.rendering import as_json, as_text
from pi_controller.record.file import read
from pi_controller.record.model import Check, Move, Record, RecordError
from pi_controller.record.playthrough import Playthrough
from pi_controller.record.writing import write
from pi_controller.referee.facts import (
    ActionPlayed,
    Answer,
    Commit,
    GameOpened,
    HideAgain,
    Question,
    Reveal,
    StrikeFelt,
    Undone,
)
from pi_controller.rules.registry import game

CHAPTER11 = Path(__file__).parents[1] / "scenarios" / "chapter11.txt"
RECORD = Path(__file__).with_name("chapter11.record")
OPENED = GameOpened(
    100.0, "dakota", "1", "the booklet", {"points": 3, "low_hider": "floor"}, {"A": "Red", "B": "x" * 60}
)


def hit(t, found, pad=None, calls=(), by="sensor"):
    return ActionPlayed(t, {"do": "hit", "found": found, **({"pad": pad} if pad else {})}, calls, by)


def chapter11():
    """Return the story of chapter 11 as a record: its hits, and the counts it states."""
    dakota = game("dakota")
    playthrough = Playthrough(dakota)
    entries = []
    for line in CHAPTER11.read_text("utf-8").splitlines():
        if not line or line.startswith(("#", "hide")):
            continue
        done, _, stated = (*(part.strip() for part in line.split("|")), "", "")[:3]
        word, _, who = done.partition(" ")
        action = {"do": "toss", "winner": who} if word == "toss" else {"do": "hit", "found": word == "find"}
        _, calls = playthrough.play(action)
        entries.append(Move(action, calls, comment="not told" if "not told" in done else ""))
        values, remarks = [], []
        for item in filter(None, stated.split(", ")):
            said = re.fullmatch(r"(\S+) (\S+)(?: \((.+)\))?", item)
            pool, count = said[1], said[2]
            if pool == "points":
                values += ((f"short.{team}", int(n)) for team, n in zip("AB", count.split("-"), strict=True))
            else:
                values.append((pool if pool == "middle" else f"long.{pool}", int(count)))
            if said[3]:
                remarks.append(f"{pool}: {said[3]}")
        if values:
            entries.append(Check(tuple(values), ", ".join(remarks)))
    return Record("dakota", dakota.version, source=dakota.source, entries=tuple(entries))


def test_chapter_11_record_ends_b_5_to_3():
    record = chapter11()
    text = write(record)
    assert text == RECORD.read_text("utf-8")
    again = read(text.encode())
    assert again == record
    assert again.faults == []  # every count that the chapter states is checked by reading it
    assert text.endswith("\n 56. hit found -> eyeya_obojun game\n   = short.A=3 short.B=5\nend winner=B\n")
    told = io.StringIO()
    as_text(again, told)
    end = told.getvalue().split("\n\n")[-1]
    assert end.startswith("End: hider B, winner B\n")
    assert re.search(r"points A  \|\|\|  +3\n  points B  \|{5}  +5\n", end)
    assert told.getvalue().count("\nHide ") == 56


def test_a_count_changed_by_one_is_found():
    text = RECORD.read_text("utf-8")
    changed = text.replace("long.A=14 middle=6", "long.A=14 middle=7")
    assert changed != text
    assert [fault.message for fault in read(changed.encode()).faults] == ["middle is 6, not 7"]


def records(batches):
    return [(number, fact) for number, facts in batches for fact in facts]


def test_from_a_journal():
    batches = [
        (1, [OPENED]),
        (2, [ActionPlayed(101.0, {"do": "toss", "winner": "A"}, (), "sensor")]),
        (3, [Commit(102.0, 1, "ab" * 32), HideAgain(102.5, "the cloth slipped")]),
        (4, [StrikeFelt(103.0, (1,)), hit(103.0, found=True, pad=1), Reveal(103.0, 1, 1, "cd" * 32)]),
        (5, [Undone(104.0, 4, reason="it was pad 3")]),
        (6, [hit(105.25, found=False, pad=3, by="judge")]),
        (7, [Question(106.0, "two_struck", ("2", "4", "none"), pads=(2, 4))]),
        (8, [Answer(107.0, "two_struck", "2"), hit(107.0, found=True, pad=2, calls=("paguga",), by="judge")]),
        (9, [Reveal(107.0, 1, 2, "ef" * 32)]),
    ]
    record = from_journal(records(batches), (("Provenance", "journal x"),))
    assert (
        write(record)
        == f"""\
Record: 1
Game: dakota
Version: 1
Source: the booklet
Option points: 3
Team A: Red
Team B: {"x" * 60}
Provenance: journal x

     @0:01 toss A
   ! @0:02.5 hide again: the cloth slipped
   ~ @0:03 hit found 1
   ! @0:04 taken back: it was pad 3
  1. @0:05.25 hit missed 3 [judge]
   ! @0:07 two struck (pad 2, pad 4): 2
     @0:07 hit found 2 [judge] -> paguga
   ; hide 1: the bead lay under pad 2
end
"""
    )
    assert read(write(record).encode()) == record


def test_reopened_hide_omits_its_bead():
    batches = [
        (1, [OPENED]),
        (2, [ActionPlayed(101.0, {"do": "toss", "winner": "A"}, (), "sensor")]),
        (3, [hit(103.0, found=True, pad=1), Reveal(103.0, 1, 1, "cd" * 32)]),
        (4, [Undone(104.0, 3)]),
    ]
    text = write(from_journal(records(batches)))
    assert "the bead" not in text
    assert "cd" not in text


def test_journals_that_tell_no_game():
    with pytest.raises(RecordError, match="no game yet"):
        from_journal([])
    with pytest.raises(RecordError, match="does not name its game"):
        from_journal([(1, hit(0.0, found=True))])
    with pytest.raises(RecordError, match="does not follow the rules"):
        from_journal([(1, OPENED), (1, hit(101.0, found=True))])
    with pytest.raises(RecordError, match="no game 'chess'"):
        from_journal([(1, GameOpened(0.0, "chess", "1", "", {}, {}))])


def test_json_output_has_one_line_per_entry():
    record = read(b"Game: dakota\ntoss A\n~ @0:01 hit found\n! so\n; and\n= middle=16\nend")
    out = io.StringIO()
    as_json(record, out)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line.get("entry") for line in lines] == [1, 2, 3, 4, 5, None]
    assert lines[0]["state"]["middle"] == 16
    assert (lines[1]["counts"], lines[1]["t"]) == (False, 1.0)
    assert [lines[2]["ruling"], lines[3]["comment"], lines[4]["stated"]] == ["so", "and", {"middle": 16}]
    assert lines[5]["over"] is False
    out = io.StringIO()
    as_json(record, out, to=0)
    assert json.loads(out.getvalue())["state"]["middle"] == 20


def test_record_text_cannot_send_control_characters_to_terminal():
    record = read(b'Game: dakota\nTeam A: "\\u001b[2J"\nPlace: "\\u009b2J"\n; "\\u001b[31m"\ntoss A ; "\\u0007"\nend')
    assert record.teams["A"] == "\x1b[2J"
    out = io.StringIO()
    as_text(record, out)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out.getvalue())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", write(record))
