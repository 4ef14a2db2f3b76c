from __future__ import annotations

import msgspec
import pytest
from played import play, view_of

from pi_controller.display.chances_bar import ChancesBar, ShownChances, basis, percents
from pi_controller.display.terminal import render_text
from pi_controller.rules import registry
from pi_controller.rules.chances import ChancesError


def dakota(*actions):
    """Return the view after these actions, as a table shows it."""
    game = registry.game("dakota")
    state = game.opening()
    for action in actions:
        state, _ = game.play(state, action)
    sheet = game.sheet(state)
    shown = {key: sheet[key] for key in ("hider", "long", "middle", "short", "owed", "situation")}
    return view_of("dakota", sheet, phase="over" if sheet["winner"] else "hit", hide=1, points=5, **shown)


TOSS, MISS = {"do": "toss", "winner": "A"}, {"do": "hit", "found": False}


@pytest.fixture(scope="module")
def bar():
    return ChancesBar(registry.game("dakota"))


def test_before_the_toss_both_have_the_same(bar):
    assert bar.look_up(dakota()).percents == (50, 50)


def test_a_miss_is_good_for_the_hider(bar):
    paguga = bar.look_up(dakota(TOSS, MISS, {"do": "hit", "found": True})).chance
    assert bar.look_up(dakota(TOSS)).chance < bar.look_up(dakota(TOSS, MISS)).chance < paguga
    assert bar.look_up(dakota(TOSS, MISS, MISS)).chance < paguga, "the second hit should not find"


def test_chances_depend_on_the_sheet_alone(bar):
    view = dakota(TOSS, MISS)
    for changed in ({"commit": "ab" * 32}, {"passes": 3}, {"phase": "check"}, {"seq": 99}, {"calls": ("paguga",)}):
        assert bar.look_up(msgspec.structs.replace(view, **changed)) == bar.look_up(view)


def test_no_chances_for_other_ended_or_missing_sheet(bar):
    over = registry.game("dakota", {"points": 1})
    state = over.opening()
    while not over.is_over(state):
        state, _ = over.play(state, MISS if state.hider else TOSS)
    assert bar.look_up(view_of("dakota", over.sheet(state))) is None
    assert bar.look_up(play("plum_stone", 1, 3)) is None
    assert bar.look_up(msgspec.structs.replace(dakota(TOSS), sheet={})) is None


def test_a_game_without_chances_is_refused():
    with pytest.raises(ChancesError, match="slahal"):
        ChancesBar(registry.game("slahal"))


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.5, ("50 %", "50 %")),
        (0.624, ("62 %", "38 %")),
        (0.625001, ("63 %", "37 %")),
        (1e-9, ("under 1 %", "over 99 %")),
        (0.996, ("over 99 %", "under 1 %")),
        (0.0, ("0 %", "100 %")),
        (1.0, ("100 %", "0 %")),
    ],
)
def test_percents_sum_to_100(chance, said):
    chances = ShownChances(chance)
    assert percents(chances) == said
    assert sum(chances.percents) == 100


def test_basis_states_the_assumed_hit_rates():
    assert basis(ShownChances(0.5, 0.25, 0.3333)) == (
        "if hitters guess by luck: first hit 25 %, second hit 33.3 %; no fouls"
    )
    other = basis(ShownChances(0.5, 0.4, 0.5))
    assert "luck" not in other
    assert "40 %" in other
    assert "50 %" in other


def test_terminal_shows_chances_line_when_given(bar):
    view = dakota(TOSS, MISS)
    with_it, without = render_text(view, chances=bar.look_up(view)), render_text(view)
    assert with_it.startswith(without)
    one, two = bar.look_up(view).percents
    added = " ".join(with_it.removeprefix(without).split())
    assert added.startswith(f"Chance of winning ● A {one} % ■ B {two} % if hitters guess by luck")
    assert "Chance" not in without
    assert all(len(line) <= 40 for line in render_text(view, 40, chances=bar.look_up(view)).splitlines())


def test_no_word_is_about_betting(bar):
    said = render_text(dakota(TOSS), chances=bar.look_up(dakota(TOSS))).lower()
    assert not {"odds", "bet", "stake", "wager", "favourite"} & set(said.split())
