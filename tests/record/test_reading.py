"""Records as people write them, and as disks and editors leave them."""

import pytest

from pi_controller.record.file import read
from pi_controller.record.lines import MAX_ISSUES, MAX_LINE_BYTES
from pi_controller.record.model import Comment, Move, ParseIssue, Ruling
from pi_controller.record.writing import write

GOOD = """\
Record: 1
Game: dakota
Version: 1
Option points: 3
Team A: Big Coulee
Team B: Ḣoḋ Ká
Place: Sisseton

     toss A
  1. hit missed 2
     hit found 3 -> paguga
  2. @1:02:03.5 hit found [judge] ; felt by all
end
"""
MOVES = [
    {"do": "toss", "winner": "A"},
    {"do": "hit", "found": False, "pad": 2},
    {"do": "hit", "found": True, "pad": 3},
    {"do": "hit", "found": True},
]


def moves(record):
    return [dict(move.action) for move in record.moves()]


def test_a_good_record():
    record = read(GOOD.encode())
    assert record.faults == []
    assert (record.game, record.version, dict(record.options)) == ("dakota", "1", {"points": 3})
    assert dict(record.teams) == {"A": "Big Coulee", "B": "Ḣoḋ Ká"}
    assert record.headers == (("Place", "Sisseton"),)
    assert record.header("place") == "Sisseton"
    assert moves(record) == MOVES
    assert record.entries[-1] == Move(MOVES[-1], (), 3723.5, "judge", "felt by all")
    assert write(record) == GOOD


@pytest.mark.parametrize(
    "encoded",
    [
        GOOD.encode("utf-8-sig"),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("\n", "\r").encode(),
        GOOD.replace("\n", "\n\n  \t").encode(),
        GOOD.replace("hit", "HIT").replace("Game", "game").replace("toss A", "Toss a").encode(),
        GOOD.replace("found", "find").replace("missed", "miss").encode(),
        GOOD.replace("  1. ", "").replace("  2. ", "").replace(" -> paguga", "").encode(),
        GOOD.replace("hit missed 2", "hit pad=2 found=false").encode(),
    ],
)
def test_other_spellings_of_a_record_have_no_faults(encoded):
    record = read(encoded)
    assert record.faults == []
    assert write(record) == GOOD


def test_a_line_not_in_utf8_is_skipped():
    record = read(GOOD.replace("Ḣoḋ", "Hod").encode("latin-1"))
    assert "B" not in record.teams
    assert record.faults == [ParseIssue(6, "not UTF-8, skipped: save the file as UTF-8")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_record_in_another_encoding_has_faults(encoding):
    assert read(GOOD.encode(encoding)).faults[0].line == 1


def test_nuls_are_left_out():
    record = read(GOOD.replace("toss A", "to\0ss\0 A\x07").encode())
    assert record.faults == [ParseIssue(9, "control characters or NULs: left out")]
    assert write(record) == GOOD


@pytest.mark.parametrize("at", range(0, len(GOOD.encode()) - 2, 7))
def test_cut_record_reports_it_and_keeps_earlier_moves(at):
    record = read(GOOD.encode()[:at])
    assert any("may have been cut" in fault.message for fault in record.faults)
    whole = GOOD.encode()[:at].count(b"\n") - 8
    assert moves(record)[: max(0, whole)] == MOVES[: max(0, whole)]


def test_a_game_that_is_won_needs_no_end():
    assert read(b"Game: dakota\nOption points: 1\ntoss A\n" + b"hit missed\n" * 15).faults == []
    record = read(b"Game: dakota\ntoss A\nend winner=B")
    assert record.faults == [ParseIssue(3, "winner is null, not 'B'")]


def test_invalid_and_disallowed_actions_are_omitted_and_listed(canonical):
    lines, faults = canonical(
        "hit missed\n"
        "toss A\n"
        "toss B\n"
        "hit missed 2\n"
        "hit missed 2\n"
        "hit missed 7\n"
        "hit missed 2 3\n"
        "dance\n"
        "foul hider singing\n"
        'hit found="yes"\n'
        "hit [judge] missed\n"
        "hit found=false found=true\n"
        "hit red.woman.x=1\n"
        'hit "missed\n'
        "hit missed {}{}\n"
        "~ dance\n"
        "1 2 3\n"
        "hit missed 3\n"
        "end\n"
    )
    assert lines == ["toss A", "1. hit missed 2", "hit missed 3"]
    assert [line for line, _ in faults] == [2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]
    said = dict(faults)
    assert said[2] == "'hit' is not allowed here: there is no hider yet"
    assert said[7] == "'hit' is no action: pad cannot be 7"
    assert said[8].startswith("hit does not take 3")
    assert said[13] == "found comes twice"


def test_words_called_and_counts_stated_are_checked(canonical):
    lines, faults = canonical(
        "toss A -> wheya\nhit missed\nhit found -> obojun\n"
        '= long.A=8 long.B=1 middle=12 situation=null owed="first"\n= A=3 long.A.x=1 short.A=0.0\nend\n'
    )
    assert lines[:3] == ["toss A", "1. hit missed", "hit found -> paguga"]
    assert lines[3] == "= long.A=8 long.B=1 middle=12 situation=null owed=first"  # kept as it was stated
    assert faults == [
        (2, "the words called are none"),
        (4, "the words called are paguga"),
        (5, "long.B is 0, not 1"),
        (6, "the score sheet has no 'A'; the score sheet has no 'long.A.x'; short.A is 0, not 0.0"),
    ]


def test_misnumbered_line_is_reported_once(canonical):
    lines, faults = canonical("toss A\n1. hit found\n3. hit found\n4. hit found\nend\n")
    assert lines[1:] == ["1. hit found", "2. hit found", "3. hit found"]
    assert faults == [(4, "this is number 2, not 3")]


def test_superseded_lines_and_rulings_stay(canonical):
    body = (
        "toss A\n~ @0:01 hit missed 1 -> whatever\n~! @0:02 two struck: none\n"
        "! @0:03 taken back\n1. hit missed 2\n# so\nend\n"
    )
    lines, faults = canonical(body)
    assert faults == []
    assert lines == [
        "toss A",
        "~ @0:01 hit missed 1 -> whatever",
        "~! @0:02 two struck: none",
        "! @0:03 taken back",
        "1. hit missed 2",
        "; so",
    ]
    record = read(("Game: dakota\n" + body).encode())
    assert record.entries[2] == Ruling("two struck: none", 2.0, superseded=True)
    assert moves(record) == [MOVES[0], MOVES[1]]


def test_headers():
    record = read(
        "Éva's flag: 3\nGame: Dakota\nGame: patol\nRecord: 2\nVersion: 9\nPlace:\nPlace:  two \nTeam A:\n"
        f"Team B: {'é' * 61}\nTeam C: kept\nOption pionts: 3\nOption points: 0\nOption low_hider: literal\n"
        "toss A\nOption points: 3\nDate: 2026-11-20\nend\nend\n".encode()
    )
    assert record.game == "dakota"
    assert record.headers == (
        ("Éva's flag", "3"),
        ("Place", ""),
        ("Place", "two"),
        ("Team C", "kept"),
        ("Date", "2026-11-20"),
    )
    assert dict(record.teams) == {}
    assert dict(record.options) == {"low_hider": "literal"}
    assert [(fault.line, fault.message.partition(";")[0]) for fault in record.faults] == [
        (3, "Game comes twice: the first one counts"),
        (4, "this is format '2'"),
        (8, "a team's name has 1 to 60 characters: left out"),
        (9, "a team's name has 1 to 60 characters: left out"),
        (11, "dakota has no option 'pionts'"),
        (12, "option points cannot be 0: left out"),
        (14, "written by dakota '9', read by the rules of dakota 1"),
        (15, "Option points comes after the first action: left out"),
        (18, "after the end: this and all further lines were not read"),
    ]


def test_title_above_the_headers_is_omitted():
    record = read(b"The game at the lake\n; a word\nGame: dakota\nwe sang first\nOption points: 3\ntoss A\nend")
    assert [fault.line for fault in record.faults] == [1, 4]
    assert record.entries == (Comment("a word"), Move(MOVES[0]))
    assert dict(record.options) == {"points": 3}


@pytest.mark.parametrize("head", ["", "Game: chess\n"])
def test_unknown_game_keeps_rulings_and_checks_without_actions(head):
    record = read(f"{head}Option points: 3\nPlace: here\ntoss A\nhit missed\n! so\n= middle=16\nend".encode())
    assert record.headers == (("Place", "here"),)
    assert [type(entry).__name__ for entry in record.entries] == ["Ruling", "Check"]
    assert any(fault.message.startswith("2 lines could not be read") for fault in record.faults)
    assert read(write(record).encode()) == record


def test_names_match_in_composed_and_decomposed_accents():
    record = read(
        "Game: patol\nOption players: Ká,\u1e02o\n"
        "start Ka\u0301 north clockwise\nstart B\u0307o south counterclockwise\nend".encode()
    )
    assert record.faults == []
    assert [move.action["player"] for move in record.moves()] == ["Ká", "\u1e02o"]


def test_noise_is_bounded(monkeypatch):
    monkeypatch.setattr("pi_controller.record.lines.MAX_LINES", 1_000)
    record = read(b"Game: dakota\n" + b"x\n" * 1_010)
    assert len(record.faults) == MAX_ISSUES + 1
    assert "more faults" in record.faults[-1].message
    record = read(b";\n" * 1_010)
    assert len(record.entries) == 1_000
    assert "not read" in record.faults[-2].message + record.faults[-1].message
    record = read(GOOD.encode() + b"\n")
    assert record.faults == []
    record = read(GOOD.replace("Sisseton", "x" * MAX_LINE_BYTES).encode())
    assert [fault.line for fault in record.faults] == [7]
    assert moves(record) == MOVES
    assert read(b"").faults[0].message.startswith("the record does not name its game")
    assert read(b"Game: dakota\nhit " + b"[" * 30_000).entries == ()
    assert read(b"Game: dakota\n= x=" + b"1" * 5000).entries == ()
