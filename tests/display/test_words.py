from __future__ import annotations

import itertools

import pytest

from pi_controller.display import phrases
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.referee.story import KeptStroke
from pi_controller.rules import registry
from pi_controller.sensing.events import HUM, SensorFault
from pi_controller.table.view import Hit, QuestionView

SAY, DAKOTA = Phrases(ENGLISH), get_show("dakota", ENGLISH)
CALLS = ["paguga", "wheya", "sahdogan", "yawapi", "it_stays", "obojun", "eyeya", "eyeya_obojun", "foul", "game"]
FOULS = [
    "pad_skipped",
    "pad_twice",
    "no_bead",
    "two_beads",
    "bead_showing",
    "bead_off_mat",
    "left_position",
    "outside_help",
    "time",
    "bead_moved",
    "early_hit",
    "rehide",
    "double_tap",
    "no_throw",
]
ABOUTS = [
    "two_struck",
    "doubtful",
    "same_pad",
    "early_hit",
    "link_gap",
    "bead_moved",
    "no_reading",
    "passes_unsure",
    "hitters_hand",
    "hand_again",
    "peek",
    "foul",
    "found",
    "balls",
    "ball",
    "ball_moved",
    "lifted",
    "opened",
    "opened_pad",
    "late_hit",
    "struck_meanwhile",
    "hand_stays",
    "too_many",
    "bones",
    "actual",
    "several_struck",
    "disc_dead",
    "beside_dead",
    "puzzled",
    "recovered",
    "record_lost",
    "sealed_again",
    "time",
    "one_stroke",
    "two_magnets",
]
PHASES = ["toss", "hide", "check", "hit", "guess", "throw", "show", "over", "halted"]


def test_every_call_fouls_and_question_has_words():
    assert sorted(DAKOTA.words) == sorted(CALLS)
    assert sorted(phrases.FOULS) == sorted(FOULS)
    assert sorted(phrases.QUESTIONS) == sorted(ABOUTS)
    for call in CALLS:
        known = DAKOTA.word(call)
        assert known.shown
        assert known.meaning.endswith(".")
        assert known.source.startswith("chapter ")


def test_literal_meanings_are_those_of_the_booklet():
    assert {call: DAKOTA.word(call).literal for call in CALLS if DAKOTA.word(call).literal} == {
        "wheya": "going after",
        "sahdogan": "eight",
    }


def test_english_words_have_no_pronunciation():
    assert [call for call in CALLS if not DAKOTA.word(call).sounds] == ["it_stays", "foul", "game"]
    assert DAKOTA.word("paguga").sounds == "pa-goo-ga"


def test_pronunciation_notes_are_those_of_the_booklet():
    assert {call: DAKOTA.word(call).note for call in CALLS if DAKOTA.word(call).note} == {
        "paguga": "the goo long and guttural",
        "sahdogan": "the n silent",
        "eyeya": "with a long E",
        "eyeya_obojun": "with a long E",
    }
    assert DAKOTA.word("sahdogan").spoken == "shaw-ha-doe-gaa, the n silent"
    assert DAKOTA.word("wheya").spoken == "way-yaa"
    assert DAKOTA.word("foul").spoken == ""


def test_sounds_credit_names_the_author_for_pronounced_words():
    said = DAKOTA.sounds_credit(["game", "paguga"])
    assert "Grady Renville" in said
    assert "does not call himself an expert" in said
    assert DAKOTA.sounds_credit(["foul", "game", "high_ball"]) == ""
    assert get_show("ojibwe", ENGLISH).sounds_credit(["found"]) == DAKOTA.sounds_credit([]) == ""


def test_glossary_lists_every_word_with_sound_and_source():
    lines = DAKOTA.glossary()
    assert len(lines) == len(CALLS) + 1
    assert lines[-1] == DAKOTA.sounds_credit(CALLS)
    (line,) = (line for line in lines if line.startswith("Sahdogan"))
    assert line.startswith("Sahdogan (shaw-ha-doe-gaa, the n silent) “eight”: The hiding team keeps twelve sticks")
    assert line.endswith("(chapter 7)")
    assert [line.split(":")[0] for line in get_show("patol", ENGLISH).glossary()] == ["Killed"]
    assert get_show("bageswin", ENGLISH).glossary() == []


@pytest.mark.parametrize(
    ("game", "name", "whose"),
    [
        ("dakota", "Hampa Apena", "A game of the Dakota."),
        ("ojibwe", "Mille Lacs Moccasin Game", "A game of the Mille Lacs Band of Ojibwe."),
        ("slahal", "Lahal (Slahal)", "A game of the Indigenous Peoples of the Pacific Coast."),
        ("bageswin", "Bageswin (Fish Game)", "A game of the Mille Lacs Band of Ojibwe."),
        ("plum_stone", "Plum Stone Game", "A game of the Omaha and kindred tribes."),
        ("patol", "Pa-tol", "A Pueblo game."),
    ],
)
def test_credit_names_the_games_people_and_written_source(game, name, whose):
    assert get_show(game, ENGLISH).name == name
    assert get_show(game, ENGLISH).credit == f"{whose} Written source of the rules: {registry.game_class(game).source}"


def test_unknown_call_has_a_label_without_meaning():
    assert DAKOTA.word("high_ball").shown == "High ball"
    assert DAKOTA.word("high_ball").meaning == ""
    assert DAKOTA.name == "Hampa Apena"


@pytest.mark.parametrize("about", ABOUTS)
def test_questions_are_plain_and_name_their_pads(about):
    said = SAY.question(QuestionView(about, (), (2, 3)))
    assert said.startswith("Pads 2 and 3. ")
    assert said.endswith("?")
    assert about not in said.lower() or "_" not in about
    assert SAY.question(QuestionView(about, (), (4,))).startswith("Pad 4. ")


def test_strikes_during_open_question_are_listed_in_order():
    said = SAY.question(QuestionView("doubtful", (), (4,), struck=(KeptStroke(1.0, (3,)), KeptStroke(2.0, (1, 2)))))
    assert said.endswith("Struck after that: pad 3. Struck after that: pad 1 and 2.")
    assert SAY.question(QuestionView("no_reading", (), (), struck=(KeptStroke(1.0, (3,)),))).endswith(
        "Struck after that: pad 3."
    )


def test_unknown_question_choice_and_foul_show_their_key():
    assert SAY.question(QuestionView("odd_thing", (), ())) == "Odd thing?"
    assert SAY.choice("odd_thing") == "odd thing"
    assert SAY.choice("3") == "pad 3"
    assert SAY.foul("odd_thing") == "Odd thing."


def test_the_phase_is_one_sentence(view):
    assert SAY.sentence(view()) == "First hit: Long Hollow"
    assert SAY.sentence(view(owed="second", hider="B")) == "Second hit: Big Coulee"
    assert SAY.sentence(view(phase="hide")) == "Big Coulee hides the bead"
    assert SAY.sentence(view(phase="over", winner="B", short={"A": 3, "B": 5})) == "Long Hollow wins, 5 to 3"
    assert SAY.sentence(view(question=QuestionView("found", (), ()))) == "The judge decides"
    assert "save the game" in SAY.sentence(view(phase="halted", question=QuestionView("found", (), ())))


@pytest.mark.parametrize(
    ("phase", "hider", "owed", "situation"),
    list(
        itertools.product(
            PHASES, [None, "A", "B"], [None, "first", "second"], [None, "wheya", "eyeya", "yawapi", "other"]
        )
    ),
)
def test_every_state_has_a_sentence(view, phase, hider, owed, situation):
    told = view(phase=phase, hider=hider, owed=owed, situation=situation)
    said = SAY.sentence(told) + SAY.describe_stakes(told)
    assert said
    assert "{" not in said
    assert "None" not in said


def test_decision_hide_stakes_end_after_their_hit(view):
    assert "Long Hollow must find" in SAY.describe_stakes(view(situation="sahdogan"))
    assert SAY.describe_stakes(view(situation="sahdogan", owed="second")) == ""
    assert "second hit" in SAY.describe_stakes(view(situation="wheya", owed="second"))
    assert SAY.describe_stakes(view(phase="over", situation="yawapi", winner="A")) == ""


def test_hit_text_with_and_without_pad():
    assert SAY.hit(1, Hit(2, found=False)) == "First hit, pad 2: not found"
    assert SAY.hit(2, Hit(None, found=True)) == "Second hit: found"


def test_sensor_faults_are_listed_by_pad(view):
    assert SAY.faults(view()) == ""
    silent = (
        SensorFault("disc", 2, "silent"),
        SensorFault("disc", 3, HUM),
        SensorFault("strip", 1, "stuck", 0),
        SensorFault("strip", 4, "silent", 1),
    )
    said = SAY.faults(view(faults=silent))
    assert said == (
        "The mat does not feel hits on pad 2: the judge enters them. "
        "Hum of the mains hides the softest hits on pad 3: move chargers and cables away. "
        "The mat may not feel hands on pads 1 and 4: the judge watches them."
    )


@pytest.mark.parametrize(("pads", "said"), [((3,), "3"), ((1, 4), "1 and 4"), ((1, 2, 3, 4), "1, 2, 3 and 4")])
def test_pads_are_listed_as_one_says_them(pads, said):
    assert SAY.join_pads(pads) == said
