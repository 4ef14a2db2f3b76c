"""The judge at the terminal: a whole game with no sensor at all."""

import pytest
from seats import sit

from pi_controller.errors import UsageError
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import read_journal_record
from pi_controller.record.file import read
from pi_controller.record.playthrough import Playthrough
from pi_controller.record.writing import write
from pi_controller.referee.history import fold
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeAnswer,
    JudgeClock,
    JudgeHidden,
    JudgeHideAgain,
    JudgeNewGame,
    JudgeProtest,
    JudgeReplace,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeUndo,
)
from pi_controller.rules import registry
from pi_controller.runtime.console import execute_line, help_all, help_now, parse_line
from pi_controller.sensing.events import Link, Strike

DAKOTA = registry.game("dakota")
OPENING = DAKOTA.sheet(DAKOTA.opening())


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("toss A", JudgeAction(1.0, {"do": "toss", "winner": "A"})),
        ("toss b", JudgeAction(1.0, {"do": "toss", "winner": "B"})),
        ("found", JudgeAction(1.0, {"do": "hit", "found": True})),
        ("missed 3", JudgeAction(1.0, {"do": "hit", "found": False, "pad": 3})),
        ("hit missed 3", JudgeAction(1.0, {"do": "hit", "found": False, "pad": 3})),
        ("foul hider no_bead", JudgeAction(1.0, {"do": "foul", "by": "hider", "kind": "no_bead"})),
        ("foul hider no_bead last", JudgeAction(1.0, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"})),
        ("foul by=hitter kind=time", JudgeAction(1.0, {"do": "foul", "by": "hitter", "kind": "time"})),
        ("answer play_on", JudgeAnswer(1.0, "play_on")),
        ("again", JudgeHideAgain(1.0)),
        ("undo a slip of the tongue", JudgeUndo(1.0, "a slip of the tongue")),
        ("replace found 2", JudgeReplace(1.0, {"do": "hit", "found": True, "pad": 2})),
        ("replace foul hider no_bead", JudgeReplace(1.0, {"do": "foul", "by": "hider", "kind": "no_bead"})),
        ("hidden", JudgeHidden(1.0)),
        ("sensors off the drums", JudgeSensors(1.0, on=False, reason="the drums")),
        ("sensors on", JudgeSensors(1.0, on=True)),
        ("clock stop", JudgeClock(1.0, running=False)),
        ("clock go they are back", JudgeClock(1.0, running=True, reason="they are back")),
        ("protest A", JudgeProtest(1.0, "A")),
        ("protest b his sleeve", JudgeProtest(1.0, "B", "his sleeve")),
        ("ruling play_on decided later", JudgeRuling(1.0, "play_on", "decided later")),
        ("ruling denied", JudgeRuling(1.0, "denied", "")),
        ("new", JudgeNewGame(1.0)),
        ("new swapped", JudgeNewGame(1.0, swapped=True)),
        ("set short.A=1; it was won", JudgeSet(1.0, OPENING | {"short": {"A": 1, "B": 0}}, "it was won")),
    ],
)
def test_valid_line_parses_to_its_call(line, call):
    assert parse_line(line, 1.0, DAKOTA) == call


@pytest.mark.parametrize(
    "line",
    [
        *("toss C", "hit", "found three", "found 3 4", "foul", "answer", "answer a b", "\x00", "; x", "replace"),
        *("hidden 2", "sensors", "sensors maybe", "clock", "protest", "protest C", "ruling", "ruling perhaps x"),
        "replace undo",
    ],
)
def test_invalid_line_is_refused_with_help_hint(line):
    with pytest.raises(UsageError) as refused:
        parse_line(line, 1.0, DAKOTA)
    assert "\n" not in refused.value.message
    assert refused.value.hint == "'help' lists the commands allowed now"


@pytest.mark.parametrize(
    ("game", "line", "what"),
    [
        ("dakota", "bar", "not understood: bar"),
        ("dakota", "fuond 3", "not understood: fuond 3; did you mean found?"),
        ("dakota", "hit", "hit needs found or missed: hit missed"),
        ("dakota", "foul hider", "foul needs its kind: foul hitter outside_help last"),
        ("dakota", "answer", "answer is incomplete: answer CHOICE"),
        ("dakota", "clock", "clock is incomplete: clock stop|go [REASON]"),
        ("ojibwe", "shoot open 1", "shoot needs the pad struck, or -: shoot open 1 hit 4 ball 4"),
        ("slahal", "guess", "guess needs what is guessed: guess left inside"),
        ("bageswin", "throw", "throw needs how many of each piece show red: throw woman 1 fish 1 knives 0 buttons 0"),
        ("plum_stone", "lot", "lot needs who throws first: lot B"),
        ("patol", "throw", "throw needs how many marked: throw 3"),
        ("patol", "throw 4", "throw: marked cannot be 4; marked is a whole number from 0 to 3; for example: throw 3"),
    ],
)
def test_incomplete_line_is_refused_with_missing_part(game, line, what):
    with pytest.raises(UsageError) as refused:
        parse_line(line, 1.0, registry.game(game))
    assert refused.value.message == what


@pytest.fixture
def table(tmp_path):
    game = registry.game("dakota", {"points": "1"})
    with Journal(tmp_path / "j.sqlite") as journal:
        yield sit(journal, game)


def test_a_game_without_sensors(table):
    lines = ["toss A", *["missed", "missed"] * 6, "missed", "found", "missed"]
    for n, line in enumerate(lines):
        assert execute_line(table, line, float(n)) == "entered", line
        if table.view.phase == "over":
            break
    assert table.view.winner == "A"


def test_judge_lines_control_protest_clock_and_sensors(table):
    assert execute_line(table, "toss A", 1.0) == "entered"
    assert "a reason is needed" not in execute_line(table, "protest B his sleeve", 2.0)
    assert "play is stopped until the protest is decided" in execute_line(table, "hidden", 3.0)
    assert "a reason is needed" in execute_line(table, "ruling denied", 4.0)
    assert execute_line(table, "ruling denied seen by all", 5.0) == "entered"
    assert execute_line(table, "hidden", 6.0) == "entered"
    assert table.view.phase == "hit"
    assert execute_line(table, "missed 1", 7.0) == "entered"
    assert execute_line(table, "replace found 1", 8.0) == "entered"
    assert table.view.sheet["hider"] == "B"
    assert "the clock is already running" in execute_line(table, "clock go", 9.0)
    assert execute_line(table, "clock stop", 10.0) == execute_line(table, "sensors off", 11.0) == "entered"
    assert (table.view.sensors, table.view.paused) == (False, 10.0)


def test_set_line_changes_given_values_and_checks_them(table):
    assert execute_line(table, "toss A", 1.0) == "entered"
    assert execute_line(table, "set long.A=6 middle=14; a stick had rolled away", 2.0) == "entered"
    assert (table.view.sheet["long"], table.view.sheet["middle"], table.view.phase) == ({"A": 6, "B": 0}, 14, "hide")
    assert execute_line(table, "undo", 3.0) == "entered"
    assert table.view.sheet["long"] == {"A": 4, "B": 0}
    before = table.view
    assert "a reason is needed" in execute_line(table, "set long.A=6 middle=14", 4.0)
    assert "add up to 22, not 20" in execute_line(table, "set long.A=6; why", 5.0)
    assert "the score sheet has no 'wide.A'" in execute_line(table, "set wide.A=6; why", 6.0)
    assert "there is no 'all'" in execute_line(table, "set all; why", 7.0)
    assert "set is incomplete: set KEY=VALUE" in execute_line(table, "set", 8.0)
    assert "is not a value" in execute_line(table, 'set long="; why', 9.0)
    assert table.view is before


@pytest.mark.parametrize(
    ("name", "line", "instead", "set_to"),
    [
        ("dakota", "toss A", "toss B", "long.A=6 long.B=0 middle=14 hider=A"),
        ("ojibwe", "toss A", "toss B", "counters.A=6 pool=14"),
        ("slahal", "duo A yes B no", "duo A no B yes", "live.A=4 dead.A=1"),
        ("bageswin", "bb", "bbb", "players.0.sticks=60 players.1.sticks=40"),
        ("plum_stone", "lot A", "lot B", "counters.A=6 pile=94"),
        ("patol", "start A north clockwise", "start A south counterclockwise", "horses.0.river=east"),
    ],
)
def test_a_judge_rules_in_every_game(name, line, instead, set_to, tmp_path):
    """Undo, replace, set, a protest: typed at the terminal, and told again by the record of the journal."""
    game = registry.game(name)
    path = tmp_path / "j.sqlite"
    with Journal(path) as journal:
        table = sit(journal, game)
        opening = table.story.state

        def stands(line, t):
            assert execute_line(table, line, t) == "entered", line
            assert table.story == fold(game, journal.read())
            return table.story.state

        one = stands(line, 1.0)
        assert stands("undo misread", 2.0) == opening != one
        assert stands(line, 3.0) == one
        two = stands(f"replace {instead}", 4.0)
        assert two == game.play(opening, parse_line(instead, 0.0, game).action)[0] != one
        assert (stands("protest B he looked", 5.0), table.view.held) == (two, True)
        for refused in (line, "again", "answer play_on"):
            assert "play is stopped until the protest is decided" in execute_line(table, refused, 6.0)
        assert stands("ruling play_on it is decided later", 7.0) == two
        assert not table.view.held
        three = stands(f"set {set_to}; counted again", 8.0)
        assert three not in (one, two, opening)
        assert table.view.protest == "B"
        assert stands("undo", 9.0) == two
        assert stands("undo", 9.1) == one, "what was replaced counts again"
        stands(f"set {set_to}; it was right", 9.5)
        stands("ruling upheld seen by all", 10.0)
        assert (table.view.protest, table.view.held) == ("", False)
        sheet = game.sheet(table.story.state)
    text = write(read_journal_record(str(path)))
    for told in ("protests, play stands", "the protest is open still", "the protest is upheld", "it was right"):
        assert told in text
    assert "he looked" not in text, "the words of a protest are for the judges"
    record = read(text.encode())
    assert record.faults == []
    course = Playthrough(game)
    for move in record.moves():
        course.play(move.action)
    assert course.sheet == sheet


def test_refused_line_gives_reason_and_keeps_view(table):
    before = table.view
    assert "toss" in execute_line(table, "found", 1.0)
    assert "not understood: fuond" in execute_line(table, "fuond", 1.0)
    assert execute_line(table, "  ", 1.0) == ""
    assert table.view is before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ojibwe", {"toss", "shoot"}),
        ("slahal", {"duo", "guess", "rehide", "king_moved", "time"}),
        ("bageswin", {"throw", "double_tap"}),
        ("plum_stone", {"lot", "throw", "no_throw"}),
        ("patol", {"start", "throw"}),
    ],
)
def test_help_examples_parse_and_cover_every_action(name, words):
    game = registry.game(name, {"players": "Big Bear,true,B,C,D,E,F,G"} if name == "patol" else {})
    told, _, _ = help_all(game, 1000).partition("\n")
    examples = told.removeprefix("For example: ").split(" | ")
    assert {parse_line(line, 1.0, game).action["do"] for line in examples} == words


def typed_now(table):
    now, _, always = execute_line(table, "help", 1.0, width=1000).partition("\n")
    assert always == "Always: undo [REASON] | help all | help words"
    return now.removeprefix("Now: ").split(" | ")


def test_help_is_of_the_moment(table):
    assert typed_now(table) == ["toss A", "toss B"]
    execute_line(table, "toss A", 2.0)
    fouls = ["foul hider KIND", "foul hitter KIND"]
    assert typed_now(table) == ["hidden", "found [PAD]", "missed [PAD]", *fouls]
    execute_line(table, "hidden", 3.0)
    assert typed_now(table) == ["found [PAD]", "missed [PAD]", *fouls]
    execute_line(table, "protest B his sleeve", 4.0)
    assert typed_now(table) == ["ruling upheld REASON", "ruling denied REASON", "ruling play_on REASON"]
    execute_line(table, "ruling denied seen by all", 5.0)
    execute_line(table, "forfeit B", 6.0)
    assert typed_now(table) == ["new", "new swapped"]


def test_a_question_is_answered_from_the_help(tmp_path):
    with Journal(tmp_path / "j.sqlite") as journal:
        table = sit(journal, DAKOTA)
        execute_line(table, "toss A", 1.0)
        execute_line(table, "hidden", 2.0)
        table.mat_event(Link(2.5, up=True))
        table.mat_event(Strike(3.0, (1, 2)))
        assert table.view.question is not None
        assert typed_now(table) == [*(f"answer {choice}" for choice in table.view.question.choices), "again"]
        assert execute_line(table, typed_now(table)[0], 4.0) == "entered"


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("width", [40, 80])
def test_help_is_broken_at_words(name, width, tmp_path):
    game = registry.game(name)
    with Journal(tmp_path / "j.sqlite") as journal:
        table = sit(journal, game)
        for line in ("help", "help all", "help words"):
            told = execute_line(table, line, 1.0, width=width).split("\n")
            one_line = execute_line(table, line, 1.0, width=1000)
            assert max(map(len, told)) <= width
            assert "".join("".join(told).split()) == "".join(one_line.split()), "nothing is lost"


def test_all_that_can_be_typed(table):
    told = execute_line(table, "help all", 1.0)
    assert told == help_all(DAKOTA)
    for line in ("toss A|B", "found [PAD]", "foul hider KIND [last]", "bead_off_mat", "close SIDE", "new [swapped]"):
        assert line in told
    assert help_now(table) == execute_line(table, " help ", 1.0)


def test_the_words_of_the_mats_own_game(table):
    words = execute_line(table, "help words", 1.0, width=500)
    assert "Paguga (pa-goo-ga, the goo long and guttural): The bead was found on the second hit." in words
    assert "Grady Renville" in words.splitlines()[-1]


def test_non_utf8_bytes_do_not_stop_the_table(table):
    assert execute_line(table, "toss A", 1.0) == "entered"
    assert execute_line(table, "undo \udcff it was B", 2.0) == "entered"  # how Python reads a lone byte FF
    assert table.view.note == "Taken back: ? it was B"
