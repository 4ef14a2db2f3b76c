from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from pi_controller.games import registry
from pi_controller.games.chances import ChancesError
from pi_controller.show.chances_bar import ChancesBar, ShownChances, basis, percents
from pi_controller.show.terminal import render_text

sys.path.insert(0, str(Path(__file__).parent))
from played import play, view_of


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
    assert bar.of(dakota()).percents == (50, 50)


def test_a_miss_is_good_for_the_hider(bar):
    paguga = bar.of(dakota(TOSS, MISS, {"do": "hit", "found": True})).chance
    assert bar.of(dakota(TOSS)).chance < bar.of(dakota(TOSS, MISS)).chance < paguga
    assert bar.of(dakota(TOSS, MISS, MISS)).chance < paguga, "the second hit should not find"


def test_only_what_is_on_the_sheet_counts(bar):
    view = dakota(TOSS, MISS)
    for changed in ({"commit": "ab" * 32}, {"passes": 3}, {"phase": "check"}, {"seq": 99}, {"calls": ("paguga",)}):
        assert bar.of(msgspec.structs.replace(view, **changed)) == bar.of(view)


def test_there_is_none_for_another_game_or_after_the_end_or_without_a_sheet(bar):
    over = registry.game("dakota", {"points": 1})
    state = over.opening()
    while not over.over(state):
        state, _ = over.play(state, MISS if state.hider else TOSS)
    assert bar.of(view_of("dakota", over.sheet(state))) is None
    assert bar.of(play("plum_stone", 1, 3)) is None
    assert bar.of(msgspec.structs.replace(dakota(TOSS), sheet={})) is None


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
def test_percents_come_to_a_hundred_and_promise_nothing(chance, said):
    chances = ShownChances("dakota", ("A", "B"), chance)
    assert percents(chances) == said
    assert sum(chances.percents) == 100


def test_what_the_chances_take_for_granted_is_said():
    assert basis(ShownChances("dakota", ("A", "B"), 0.5, 0.25, 0.3333)) == (
        "if a hit finds by luck alone: the first with 25 %, a second with 33.3 %; no fouls"
    )
    other = basis(ShownChances("dakota", ("A", "B"), 0.5, 0.4, 0.5))
    assert "luck" not in other
    assert "40 %" in other
    assert "50 %" in other
    assert basis(ShownChances("patol", ("Ana", "Bo"), 0.5)) == "if every stick falls on either side equally"


def test_the_terminal_has_a_line_of_it_only_when_given(bar):
    view = dakota(TOSS, MISS)
    with_it, without = render_text(view, chances=bar.of(view)), render_text(view)
    assert with_it.startswith(without)
    one, two = bar.of(view).percents
    added = " ".join(with_it.removeprefix(without).split())
    assert added.startswith(f"Chance of winning ● A {one} % ■ B {two} % if a hit finds by luck alone")
    assert "Chance" not in without
    assert all(len(line) <= 40 for line in render_text(view, 40, chances=bar.of(view)).splitlines())


def test_players_are_called_by_number_and_name():
    chosen = {"players": "Ana,\u2068Bo"}
    view = play("bageswin", 5, 4, chosen)
    text = render_text(view, 120, chances=ChancesBar(registry.game("bageswin", chosen)).of(view))
    assert "1 Ana " in text
    assert "2 Bo " in text
    assert "\u2068" not in text


def test_no_word_is_about_betting(bar):
    said = render_text(dakota(TOSS), chances=bar.of(dakota(TOSS))).lower()
    assert not {"odds", "bet", "stake", "wager", "favourite"} & set(said.split())
