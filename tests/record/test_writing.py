"""How each game's actions look in a record, and what no record can hold."""

import pytest

from pi_controller.record.file import read
from pi_controller.record.model import Check, Comment, Move, Record, RecordError, Ruling
from pi_controller.record.notation import format_action, parse_action
from pi_controller.record.tokens import scan
from pi_controller.record.writing import write

RED = {"woman": 1, "fish": 0, "knives": 2, "buttons": 3}


@pytest.mark.parametrize(
    ("game", "action", "line"),
    [
        ("dakota", {"do": "toss", "winner": "A"}, "toss A"),
        ("dakota", {"do": "hit", "found": False, "pad": 2}, "hit missed 2"),
        ("dakota", {"do": "hit", "found": True}, "hit found"),
        ("dakota", {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"}, "foul hider no_bead last"),
        ("dakota", {"do": "foul", "by": "hitter", "kind": "time"}, "foul hitter time"),
        ("dakota", {"do": "forfeit", "by": "B"}, "forfeit B"),
        ("ojibwe", {"do": "shoot", "opened": [1, 4], "hit": 3, "ball": 3}, "shoot open 1,4 hit 3 ball 3"),
        ("ojibwe", {"do": "shoot", "opened": [2], "hit": None, "ball": 2}, "shoot open 2 hit - ball 2"),
        ("ojibwe", {"do": "shoot", "opened": [], "hit": 1, "ball": 2}, "shoot open - hit 1 ball 2"),
        ("slahal", {"do": "duo", "A": True, "B": False}, "duo A yes B no"),
        ("slahal", {"do": "guess", "signal": "left", "actual": "inside"}, "guess left inside"),
        (
            "slahal",
            {"do": "guess", "signal": "left", "actual": "right", "block": True, "mirror": True},
            "guess left right block mirror",
        ),
        (
            "slahal",
            {"do": "guess", "signal": "left", "actual": "right", "block": False, "mirror": True},
            "guess left right mirror block=false",
        ),
        ("slahal", {"do": "king_moved", "by": "B"}, "king_moved B"),
        ("slahal", {"do": "rehide"}, "rehide"),
        ("bageswin", {"do": "throw", "red": RED}, "throw woman 1 fish 0 knives 2 buttons 3"),
        ("bageswin", {"do": "double_tap"}, "double_tap"),
        ("plum_stone", {"do": "lot", "first": "B"}, "lot B"),
        ("plum_stone", {"do": "throw", "moons": 2, "whites": 0}, "throw moons 2 whites 0"),
        (
            "patol",
            {"do": "start", "player": "A", "river": "north", "direction": "clockwise"},
            "start A north clockwise",
        ),
        ("patol", {"do": "throw", "marked": 3}, "throw 3"),
    ],
)
def test_the_short_form(game, action, line):
    assert format_action(game, action) == line


@pytest.mark.parametrize(
    "player", ["true", "7", "-", "->", "[judge]", "a b", 'say "x"', "x;y", "a=b", "\u2028", "🪶", "~", "north"]
)
def test_any_name_can_stand_in_a_line(player):
    action = {"do": "start", "player": player, "river": "north", "direction": "counterclockwise"}
    line = format_action("patol", action)
    assert parse_action("patol", scan(line)[0]) == action
    assert "\n" not in line


@pytest.mark.parametrize(
    ("game", "line", "same"),
    [
        ("dakota", "found", "hit found"),
        ("dakota", "Missed 3", "hit missed 3"),
        ("slahal", "guess inside mirror", "guess signal=inside mirror=true"),
        ("bageswin", "wfkkbbbb", "throw woman 1 fish 1 knives 2 buttons 4"),
        ("bageswin", "throw K", "throw woman 0 fish 0 knives 1 buttons 0"),
        ("plum_stone", "mmwww", "throw moons 2 whites 3"),
        ("plum_stone", "0", "throw moons 0 whites 0"),
        ("patol", "3", "throw 3"),
    ],
)
def test_line_may_leave_out_verb_and_labels(game, line, same):
    assert parse_action(game, scan(line)[0]) == parse_action(game, scan(same)[0])


@pytest.mark.parametrize(
    ("game", "line"),
    [
        *(("dakota", line) for line in ("found 3 4", "hit missed 2 found")),
        *(("slahal", line) for line in ("guess left twice", "guess left block block")),
        *(("bageswin", line) for line in ("throw kkk", "throw wx", "throw k woman 1")),
        *(("plum_stone", line) for line in ("throw mmm", "throw wwww", "m w")),
    ],
)
def test_too_many_parts_are_refused(game, line):
    with pytest.raises(RecordError, match=r"does not take|comes twice"):
        parse_action(game, scan(line)[0])


@pytest.mark.parametrize(("game", "line"), [("dakota", "A"), ("ojibwe", "found"), ("patol", "4"), ("bageswin", "kkk")])
def test_ambiguous_or_unknown_first_word_is_the_verb(game, line):
    assert parse_action(game, scan(line)[0]) == {"do": line.lower()}


def test_action_without_short_form_is_written_with_keys():
    assert format_action("dakota", {"do": "hit", "pad": 3}) == "hit pad=3"
    assert format_action("dakota", {"do": "foul", "kind": "time", "hide": "this"}) == "foul kind=time hide=this"
    assert format_action("bageswin", {"do": "throw", "red": {}}) == "throw red={}"
    assert format_action("none", {"do": "x", "a": [1, {"b": None}], "c": 1.5}) == 'x a=[1,{"b":null}] c=1.5'


def test_invalid_records_and_parts_are_refused():
    toss = Move({"do": "toss", "winner": "A"})
    with pytest.raises(RecordError, match="entry 2 is not allowed: the toss is done"):
        write(Record("dakota", entries=(toss, toss)))
    with pytest.raises(RecordError, match="entry 1: the words called are none"):
        write(Record("dakota", entries=(Move(toss.action, ("game",)),)))
    with pytest.raises(RecordError, match="entry 1 is not allowed"):
        write(Record("dakota", entries=(Move({"do": "dance"}, superseded=True),)))
    with pytest.raises(RecordError, match="not known"):
        write(Record("", entries=(toss,)))
    with pytest.raises(RecordError, match="points is written as 3"):
        write(Record("dakota", options={"points": "3"}))
    with pytest.raises(RecordError, match="no option"):
        write(Record("dakota", options={"pionts": 3}))
    for wrong in (
        lambda: Move({"do": "hit", "a b": 1}),
        lambda: Move({"do": "hit"}, ("two words",)),
        lambda: Move({"do": "hit"}, t=0.0001),
        lambda: Move({"do": "hit"}, by="a judge"),
        lambda: Ruling("x", t=-1.0),
        lambda: Ruling("x", t=float("nan")),
        lambda: Comment("x" * 1001),
        lambda: Check((("a b", 1),)),
        lambda: Check((("a", [1]),)),
        lambda: Record("dakota", teams={"A": ""}),
        lambda: Record("dakota", teams={"A": "x" * 61}),
        lambda: Record("dakota", headers=(("Game", "x"),)),
        lambda: Record("dakota", headers=(("a:b", "x"),)),
    ):
        with pytest.raises(RecordError):
            wrong()


def test_times_are_written_as_people_say_them():
    times = (0.0, 0.005, 59.999, 60.0, 3599.5, 3600.0, 86400.25, 10.0**9)
    record = Record("", entries=tuple(Ruling("x", t) for t in times))
    text = write(record)
    assert "@0:00 x\n   ! @0:00.005 x\n   ! @0:59.999 x\n   ! @1:00 x\n   ! @59:59.5 x\n   ! @1:00:00 x" in text
    assert [entry.t for entry in read(text.encode()).entries] == list(times)
