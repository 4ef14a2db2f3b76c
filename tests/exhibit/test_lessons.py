"""The guided game: each idea exactly when it first happens, once, one at a time, in the words of the sources."""

import pytest
from exhibit_rig import STEP_S, Always, Rig

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.lessons import FIRSTS, TERMS, Lessons
from pi_controller.exhibit.opponents import Guess
from pi_controller.exhibit.screen import build_screen


class Told:
    """A guided game played by a list of hides: `f` found at once, `p` found second, `m` missed twice.

    The visitor hides under pad 1 and hits by what is to come; the mat guesses by it, or hides under pad 1.
    """

    def __init__(self, hides):
        self.rig = Rig(1, hides=40, answer_s=600, ask_after_s=600)
        self.rig.begin("learn")
        self.game = self.rig.game
        self.game._rng = OnlyOne()
        by_hide = [{"f": Guess(1, 2), "p": Guess(2, 1), "m": Guess(2, 3)}[one] for one in hides]
        self.game._opponent = Always(*by_hide, Guess(2, 3))
        self.game._begin_hide()
        self.hides, self.told, self.called = hides, [], []

    def play(self):
        rig, game = self.rig, self.game
        last = ""
        while rig.stage == "play" and game.view.hide <= len(self.hides):
            if game.lessons.open_step != last and game.lessons.open_step:
                self.told.append(game.lessons.open_step)
            last = game.lessons.open_step
            if game.awaits == "next":
                rig.touch("next")
                last = ""
            elif game.awaits == "pads":
                rig.touch("pad:1")
            elif game.awaits == "strike":
                kind, second = self.hides[game.view.hide - 1], bool(game.view.hits)
                first = {"f": 1, "p": 2, "m": 2}[kind]
                rig.touch(f"pad:{first if not second else {'f': 1, 'p': 1, 'm': 3}[kind]}")
            rig.advance(STEP_S)
        return self.told


class OnlyOne:
    def choice(self, among):
        return among[0]


BEFORE = ["under_way", "hiding"]


@pytest.mark.parametrize(
    ("hides", "told"),
    [
        # 12/0/8, found on the second: four sticks, and only four are left
        ("p", ["second_owed", "paguga", "wheya"]),
        ("m", ["second_owed", "missed_twice"]),
        ("mm", ["second_owed", "missed_twice", "wheya"]),
        # 16/0/4, missed twice: nothing of the hitters' is left
        ("mmm", ["second_owed", "missed_twice", "wheya", "sahdogan"]),
        ("mmmm", ["second_owed", "missed_twice", "wheya", "sahdogan", "obojun"]),
        ("mmmf", ["second_owed", "missed_twice", "wheya", "sahdogan", "it_stays"]),
        # the last four of the middle are won, and the next first hit finds
        ("mmff", ["second_owed", "missed_twice", "wheya", "found_first", "eyeya", "hitting", "eyeya_obojun"]),
        ("mmfm", ["second_owed", "missed_twice", "wheya", "found_first", "eyeya", "hitting"]),
        # 8/4/8, then the mat hides until it has fourteen and more: yawapi, for the hitters still hold some
        ("fp", ["found_first", "hitting", "second_owed", "paguga"]),
        ("fmmmmp", ["found_first", "hitting", "second_owed", "missed_twice", "paguga", "wheya"]),
        ("fpppp", ["found_first", "hitting", "second_owed", "paguga", "wheya", "obojun"]),
        ("fpppm", ["found_first", "hitting", "second_owed", "paguga", "wheya", "yawapi"]),
        ("fpppmf", ["found_first", "hitting", "second_owed", "paguga", "wheya", "yawapi", "it_stays"]),
    ],
)
def test_each_is_explained_exactly_when_it_first_happens(hides, told):
    assert Told(hides).play() == BEFORE + told


def test_called_words_are_explained_once_and_no_others():
    for seed in range(12):
        rig = Rig(seed)
        rig.begin("learn")
        game = rig.game
        called, shown = set(), []
        while rig.stage == "play":
            for turn in game.view.past:
                called |= set(turn.calls)
            if game.lessons.open_step and (not shown or shown[-1] != game.lessons.open_step):
                shown.append(game.lessons.open_step)
            terms = {one for one in shown if one in TERMS}
            assert terms <= called
            if touches := game.touches:
                rig.touch(rig.rng.choice(list(touches)))
            rig.advance(STEP_S)
        assert len(shown) == len(set(shown))
        assert set(game.lessons.explained) & set(TERMS) == called & set(TERMS)


def test_lesson_pauses_the_game_until_next_or_timeout():
    told = Told("p")
    rig, game = told.rig, told.game
    rig.until(lambda: game.lessons.open_step == "under_way")
    before = game.view
    rig.advance(10)
    assert game.view == before
    assert tuple(rig.exhibit.touches) == ("next", "leave")
    rig.advance(25)
    assert game.lessons.open_step != "under_way", "it goes on by itself"


def test_lesson_texts_match_glossary_with_sounds_and_caveat():
    for term in TERMS:
        lessons = Lessons()
        lessons.explain_once(term, (12, 8, 0), (16, 4, 0))
        step, known = lessons.lesson(ENGLISH), get_show("dakota", ENGLISH).word(term)
        assert step.title == known.shown
        assert step.text == known.meaning
        assert known.sounds in step.sounds
        assert known.literal in step.sounds
        assert bool(step.caveat) == bool(known.sounds)
    assert set(TERMS) == set(get_show("dakota", ENGLISH).words) - {"foul", "game"}
    assert not set(FIRSTS) & set(TERMS)


@pytest.mark.parametrize(("before", "after", "two"), [
    ((12, 0, 8), (16, 0, 4), False), ((14, 2, 4), (16, 0, 4), True), ((14, 0, 6), (16, 0, 4), True),
])  # fmt: skip
def test_lesson_says_that_only_two_were_left(before, after, two):
    lessons = Lessons()
    lessons.hit(1, (), before, after, found=True)
    step = lessons.lesson(ENGLISH)
    assert step.key == "found_first"
    assert ("only two were left" in step.text) == two


def test_moved_sticks_are_highlighted_during_lesson():
    told = Told("p")
    rig, game = told.rig, told.game
    while game.lessons.open_step != "paguga":
        if game.awaits == "next":
            rig.touch("next")
        elif game.awaits == "pads":
            rig.touch("pad:1")
        rig.advance(STEP_S)
    screen = build_screen(rig.exhibit)
    rows = {row.key: (row.count, row.new) for row in screen.rows}
    assert rows == {"a": (16, 4), "middle": (4, 0), "b": (0, 0)}
    assert screen.step.title == "Paguga"
    assert "does not call himself an expert" in screen.step.caveat
