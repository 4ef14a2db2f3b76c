"""What is to be heard from one view to the next."""

from __future__ import annotations

import msgspec
import pytest
from cases import cases
from played import play

from pi_controller.display.announcement import Announcement, announcement, is_english_word, score
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.table.view import Hit, QuestionView

MISSED, FOUND = Hit(2, found=False), Hit(4, found=True)


def test_first_view_announces_no_words(view):
    assert announcement(None, view(calls=("paguga",), phase="show")) == Announcement()


def test_words_are_announced_once_when_new(view):
    before = view(hits=(MISSED,), owed="second")
    after = view(hits=(MISSED, FOUND), phase="show", calls=("paguga", "wheya"))
    assert announcement(before, after).words == ("paguga", "wheya")
    assert announcement(after, after).words == ()
    assert announcement(after, msgspec.structs.replace(after, link=False, seq=9)).words == ()
    next_hide = view(hide=4, phase="hide", calls=("paguga", "wheya"))
    assert announcement(after, next_hide).words == ()
    assert announcement(next_hide, view(hide=4, hits=(FOUND,), phase="show", calls=("paguga",))).words == ("paguga",)


def test_same_word_in_next_hide_is_announced_again(view):
    first = view(hits=(MISSED, FOUND), phase="show", calls=("paguga",))
    begun = view(hide=4, phase="hide", calls=("paguga",))
    again = view(hide=4, hits=(MISSED, FOUND), phase="show", calls=("paguga",))
    assert announcement(first, begun).words == ()
    assert announcement(begun, again).words == ("paguga",)


def test_undo_announces_no_words(view):
    shown = view(hide=4, hits=(MISSED, FOUND), phase="show", calls=("paguga",))
    assert announcement(shown, view(hide=4, hits=(MISSED,), calls=("obojun",))).words == ()
    fouled = view(hide=4, phase="hide", foul="no_bead", calls=("foul",))
    assert announcement(view(hide=4, phase="hide", calls=("obojun",)), fouled).words == ("foul",)
    assert announcement(fouled, view(hide=4, phase="hide", calls=("obojun",))).words == ()


def test_game_change_and_halt_announce_no_words(view):
    before, after = view(), view(phase="show", hits=(FOUND,), calls=("it_stays",))
    assert announcement(msgspec.structs.replace(before, game="slahal"), after) == Announcement()
    assert announcement(before, msgspec.structs.replace(after, phase="halted")) == Announcement()


def test_unknown_call_is_not_announced(view):
    assert announcement(view(), view(phase="show", hits=(FOUND,), calls=("sweep", "it_stays", "odd"))).words == (
        "it_stays",
    )


def test_the_english_sentence_has_no_names_in_it(view):
    said = announcement(view(phase="hide"), view(phase="hit")).sentence
    assert said == "First hit: Team B"
    said = announcement(view(), view(phase="hide", hider="B", hide=4, short={"A": 2, "B": 2})).sentence
    assert said == "Team A 2, Team B 2. Team B hides the bead"
    assert announcement(view(), view(phase="check")).sentence == ""
    assert announcement(view(phase="check"), view()).sentence == "First hit: Team B", (
        "it is said after the mat has looked"
    )
    assert (
        announcement(view(), view(question=QuestionView("two_struck", ("1", "2"), (1, 2)))).sentence
        == "The judge decides"
    )


@pytest.mark.parametrize("name", ["slahal", "ojibwe", "bageswin", "plum_stone", "patol"][:: cases(2, 1)])
def test_other_games_announce_their_own_words_without_names(name):
    called, sentences = set[str](), 0
    for seed in range(cases(3, 6)):
        before = None
        for actions in range(60):
            after = play(name, seed, actions, teams={"A": "Ŋ", "B": "Ȟ"})
            told = announcement(before, after)
            called |= set(told.words)
            sentences += bool(told.sentence)
            assert not set("ŊȞ") & set(told.sentence)
            before = after
    assert called <= set(get_show(name, ENGLISH).words)
    assert sentences
    if name in {"ojibwe", "slahal"}:
        assert called


def test_english_words_alone_may_be_spoken():
    assert [call for call in get_show("dakota", ENGLISH).words if is_english_word(call, "dakota")] == [
        "it_stays",
        "foul",
        "game",
    ]
    assert not is_english_word("paguga", "ojibwe")
    assert all(
        is_english_word(call, game) for game in ("ojibwe", "slahal", "patol") for call in get_show(game, ENGLISH).words
    )


def test_score_names_both_teams(view):
    assert score(view(short={"B": 0, "A": 3})) == "Team A 3, Team B 0"
