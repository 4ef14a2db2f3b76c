from __future__ import annotations

import itertools

import pytest

from pi_controller.display import i18n, phrases
from pi_controller.display.game_display import credit, game_name, glossary, sounds_credit, word, words_of
from pi_controller.errors import MatError, SettingsError
from pi_controller.referee.story import KeptStroke
from pi_controller.rules import registry
from pi_controller.sensing.events import SensorFault
from pi_controller.table.view import Hit, QuestionView

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
SITUATIONS = [None, "wheya", "eyeya", "yawapi", "other"]
PHASES = ["toss", "hide", "check", "hit", "guess", "throw", "show", "over", "halted"]


def test_every_call_fouls_and_question_has_words():
    assert sorted(words_of("dakota")) == sorted(CALLS)
    assert sorted(phrases.FOULS) == sorted(FOULS)
    assert sorted(phrases.QUESTIONS) == sorted(ABOUTS)
    for call in CALLS:
        known = word(call)
        assert known.shown
        assert known.meaning.endswith(".")
        assert known.source.startswith("chapter ")


def test_literal_meanings_are_those_of_the_booklet():
    assert {call: word(call).literal for call in CALLS if word(call).literal} == {
        "wheya": "going after",
        "sahdogan": "eight",
    }


def test_english_words_have_no_pronunciation():
    assert [call for call in CALLS if not word(call).sounds] == ["it_stays", "foul", "game"]
    assert word("paguga").sounds == "pa-goo-ga"


def test_pronunciation_notes_are_those_of_the_booklet():
    assert {call: word(call).note for call in CALLS if word(call).note} == {
        "paguga": "the goo long and guttural",
        "sahdogan": "the n silent",
        "eyeya": "with a long E",
        "eyeya_obojun": "with a long E",
    }
    assert word("sahdogan").spoken == "shaw-ha-doe-gaa, the n silent"
    assert word("wheya").spoken == "way-yaa"
    assert word("foul").spoken == ""


def test_sounds_credit_names_the_author_for_pronounced_words():
    said = sounds_credit(["game", "paguga"])
    assert "Grady Renville" in said
    assert "does not call himself an expert" in said
    assert sounds_credit(["foul", "game", "high_ball"]) == ""
    assert sounds_credit(["found"], game="ojibwe") == sounds_credit([]) == ""


def test_glossary_lists_every_word_with_sound_and_source():
    lines = glossary("dakota")
    assert len(lines) == len(CALLS) + 1
    assert lines[-1] == sounds_credit(CALLS)
    (line,) = (line for line in lines if line.startswith("Sahdogan"))
    assert line.startswith("Sahdogan (shaw-ha-doe-gaa, the n silent) “eight”: The hiding team keeps twelve sticks")
    assert line.endswith("(chapter 7)")
    assert [line.split(":")[0] for line in glossary("patol")] == ["Killed"]
    assert glossary("bageswin") == []


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
    assert game_name(game) == name
    assert credit(game) == f"{whose} Written source of the rules: {registry.game_class(game).source}"


def test_every_game_is_credited():
    for game in registry.names():
        assert not credit(game).startswith("The rules")


def test_unknown_call_has_a_label_without_meaning():
    assert word("high_ball").shown == "High ball"
    assert word("high_ball").meaning == ""
    assert game_name("dakota") == "Hampa Apena"


@pytest.mark.parametrize("about", ABOUTS)
def test_questions_are_plain_and_name_their_pads(about):
    said = phrases.question(QuestionView(about, (), (2, 3)))
    assert said.startswith("Pads 2 and 3. ")
    assert said.endswith("?")
    assert about not in said.lower() or "_" not in about
    assert phrases.question(QuestionView(about, (), (4,))).startswith("Pad 4. ")


def test_strikes_during_open_question_are_listed_in_order():
    said = phrases.question(QuestionView("doubtful", (), (4,), struck=(KeptStroke(1.0, (3,)), KeptStroke(2.0, (1, 2)))))
    assert said.endswith("Struck after that: pad 3. Struck after that: pad 1 and 2.")
    assert phrases.question(QuestionView("no_reading", (), (), struck=(KeptStroke(1.0, (3,)),))).endswith(
        "Struck after that: pad 3."
    )


def test_unknown_question_choice_and_foul_show_their_key():
    assert phrases.question(QuestionView("odd_thing", (), ())) == "Odd thing?"
    assert phrases.choice("odd_thing") == "odd thing"
    assert phrases.choice("3") == "pad 3"
    assert phrases.foul("odd_thing") == "Odd thing."


def test_the_phase_is_one_sentence(view):
    assert phrases.sentence(view()) == "First hit: Long Hollow"
    assert phrases.sentence(view(owed="second", hider="B")) == "Second hit: Big Coulee"
    assert phrases.sentence(view(phase="hide")) == "Big Coulee hides the bead"
    assert phrases.sentence(view(phase="over", winner="B", short={"A": 3, "B": 5})) == "Long Hollow wins, 5 to 3"
    assert phrases.sentence(view(question=QuestionView("found", (), ()))) == "The judge decides"
    assert "save the game" in phrases.sentence(view(phase="halted", question=QuestionView("found", (), ())))


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
    said = phrases.sentence(told) + phrases.describe_stakes(told)
    assert said
    assert "{" not in said
    assert "None" not in said


def test_decision_hide_stakes_end_after_their_hit(view):
    assert "Long Hollow must find" in phrases.describe_stakes(view(situation="sahdogan"))
    assert phrases.describe_stakes(view(situation="sahdogan", owed="second")) == ""
    assert "second hit" in phrases.describe_stakes(view(situation="wheya", owed="second"))
    assert phrases.describe_stakes(view(phase="over", situation="yawapi", winner="A")) == ""


def test_hit_text_with_and_without_pad():
    assert phrases.hit(1, Hit(2, found=False)) == "First hit, pad 2: not found"
    assert phrases.hit(2, Hit(None, found=True)) == "Second hit: found"


def test_other_languages_fall_back_to_english(view):
    for language in ("dak", "oj", "fr", "fr-CA"):
        assert word("wheya", language) == word("wheya")
        assert phrases.sentence(view(), language) == phrases.sentence(view())


def test_available_catalogue_translates_words_and_phrases(view, monkeypatch):
    class Loud(i18n.gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return message.upper() if "{" not in message else message

        def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
            return msgid1

    monkeypatch.setattr("pi_controller.display.phrases.catalogue", lambda _language: Loud())
    monkeypatch.setattr("pi_controller.display.game_display.catalogue", lambda _language: Loud())
    monkeypatch.setattr("pi_controller.games.dakota.display.catalogue", lambda _language: Loud())
    assert word("wheya", "xx").literal == "GOING AFTER"
    assert phrases.foul("no_bead", "xx") == phrases.FOULS["no_bead"].upper()
    assert phrases.sentence(view(phase="check"), "xx") == "HANDS AWAY: THE MAT CHECKS THE BEAD"


@pytest.mark.parametrize("code", ["", "../../etc", "e n", "english!", "a"])
def test_a_bad_language_code_is_refused(code):
    with pytest.raises(SettingsError) as caught:
        i18n.catalogue(code)
    assert isinstance(caught.value, MatError)
    assert caught.value.hint


def test_sensor_faults_are_listed_by_pad(view):
    assert phrases.faults(view()) == ""
    silent = (
        SensorFault("disc", 2, "silent"),
        SensorFault("strip", 1, "stuck", 0),
        SensorFault("strip", 4, "silent", 1),
    )
    said = phrases.faults(view(faults=silent))
    assert said == (
        "Hits are not felt on pad 2: the judge enters them. "
        "Hands may not be felt on pads 1 and 4: the judge watches them."
    )


@pytest.mark.parametrize(("pads", "said"), [((3,), "3"), ((1, 4), "1 and 4"), ((1, 2, 3, 4), "1, 2, 3 and 4")])
def test_pads_are_listed_as_one_says_them(pads, said):
    assert phrases.join_pads(pads) == said
