from __future__ import annotations

import msgspec
import pytest
from cases import cases
from hypothesis import given, settings
from played import GAMES, NAMES, play, view_of, views
from rich.cells import cell_len

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.display.terminal import render_text

CALLED = {
    "ojibwe": {"high_ball", "double", "found", "missed", "short_stick", "game"},
    "slahal": {"catch", "miss", "split", "sweep"},
    "patol": {"killed"},
}


@pytest.mark.parametrize("game", GAMES)
def test_every_call_has_a_word(game):
    heard = {call for seed in range(0, 40, cases(4, 1)) for call in play(game, seed, seed * 9).calls}
    assert heard <= CALLED.get(game, set())
    assert set(get_show(game, ENGLISH).words) == CALLED.get(game, set())
    for call in CALLED.get(game, ()):
        known = get_show(game, ENGLISH).word(call)
        assert known.shown
        assert known.meaning.endswith(".")
        assert known.source
        assert (known.sounds, known.literal) == ("", ""), "the sources give neither"


def test_the_rules_are_named_by_their_numbers():
    assert all("rule" in get_show("ojibwe", ENGLISH).word(call).source for call in CALLED["ojibwe"])
    assert get_show("plum_stone", ENGLISH).name == "Plum Stone Game"


@settings(max_examples=80)
@given(views())
def test_every_state_has_a_sentence(view):
    said = Phrases(ENGLISH).sentence(view) + Phrases(ENGLISH).describe_stakes(view)
    assert Phrases(ENGLISH).sentence(view)
    assert "{" not in said
    assert "None" not in said


@pytest.mark.parametrize(
    ("game", "actions", "said"),
    [
        ("ojibwe", 0, "The coin toss: the winner hides first"),
        ("slahal", 0, "The first guessers face off for the bones"),
        ("plum_stone", 0, "Draw lots for the first throw"),
        ("bageswin", 0, "Big Coulee throws"),
        ("patol", 0, "Big Coulee chooses a river and a direction"),
    ],
)
def test_opening_sentence_per_game(game, actions, said):
    assert Phrases(ENGLISH).sentence(play(game, 1, actions)) == said


def slahal(**changed):
    sheet = {
        "phase": "over", "hiding": "A", "pairs_out": 2, "live": {"A": 3, "B": 1}, "dead": {"A": 4, "B": 2},
        "king": "A", "sticks": {"A": 8, "B": 3}, "winner": "A", "finish": "time",
    }  # fmt: skip
    return view_of("slahal", sheet | changed)


def test_slahal_ending_sentences():
    assert Phrases(ENGLISH).sentence(slahal()) == "Time is up: Big Coulee wins, 8 sticks to 3"
    assert Phrases(ENGLISH).sentence(slahal(finish="sweep")) == "Big Coulee wins with all eleven sticks"
    told = Phrases(ENGLISH).sentence(slahal(finish="king_moved", winner="B"))
    assert told == "Long Hollow wins: Big Coulee moved the king stick too early"
    assert Phrases(ENGLISH).sentence(slahal(winner=None, finish=None)) == "Big Coulee hides, Long Hollow guesses"
    assert Phrases(ENGLISH).describe_stakes(slahal(winner=None, pairs_out=1)) == "One pair is out: left or right."


def ojibwe(**changed):
    sheet = {
        "hider": "A", "counters": {"A": 19, "B": 1}, "pool": 0, "short": {"A": 3, "B": 0}, "high": None,
        "hides_left": 1, "banked": 0, "shooting": 1, "double": True, "winner": None, "finish": None,
    }  # fmt: skip
    return view_of("ojibwe", sheet | changed)


def test_moccasin_game_double_and_banked_finds_are_described():
    assert Phrases(ENGLISH).sentence(ojibwe()) == "Big Coulee hides, Long Hollow shoots"
    assert Phrases(ENGLISH).describe_stakes(ojibwe()) == "Double: show two fingers and do not consult your team."
    assert (
        Phrases(ENGLISH).describe_stakes(ojibwe(banked=1))
        == "Double, 1 find banked: the same team shoots until it misses."
    )
    assert (
        Phrases(ENGLISH).describe_stakes(ojibwe(banked=2))
        == "Double, 2 finds banked: the same team shoots until it misses."
    )
    often = ojibwe(double=False, hides_left=3)
    assert Phrases(ENGLISH).describe_stakes(often) == "The hide passes when the hiders are found 3 times."
    assert "hides left: 3" in render_text(often, ENGLISH)
    assert "banked" not in render_text(often, ENGLISH)
    assert render_text(ojibwe(banked=2), ENGLISH).count("banked") == 2
    assert Phrases(ENGLISH).sentence(ojibwe(winner="B", finish="forfeit")) == "Long Hollow wins by forfeit"
    assert Phrases(ENGLISH).sentence(ojibwe(winner="A")) == "Big Coulee wins, 3 to 0"


@settings(max_examples=60)
@given(views())
def test_every_state_fits_eighty_by_twenty_four(view):
    said = render_text(view, ENGLISH).splitlines()
    assert len(said) <= 24
    assert max(map(cell_len, said)) <= 80
    assert all(cell_len(line) <= 40 for line in render_text(view, ENGLISH, 40).splitlines())


def test_the_terminal_draws_the_counters():
    view = play("ojibwe", 5, 30)
    said = [line for line in render_text(view, ENGLISH).splitlines() if line.strip().startswith(("counters", "pool"))]
    drawn = [line.count("█") + line.count("▒") for line in said]
    counters = view.sheet["counters"]
    assert drawn == [counters["A"], counters["B"], view.sheet["pool"]]
    assert [int(line.split()[-1]) for line in said] == drawn


def test_terminal_ring_has_four_quarters_of_ten_notches():
    said = render_text(play("patol", 1, 40, {"players": ",".join(NAMES)}), ENGLISH).splitlines()
    quarters = [line for line in said if line.startswith(("  north", "  east", "  south", "  west"))]
    assert [len(line.split()[1:]) for line in quarters] == [10, 10, 10, 10]
    standing = "".join("".join(line.split()[1:]) for line in quarters)
    assert set("12345678") <= set(standing) or "+" in standing


def test_terminal_marks_one_thrower():
    said = render_text(play("bageswin", 1, 1, {"players": "Ana,Bo,Cy"}), ENGLISH)
    assert sum(line.startswith("▶") for line in said.splitlines()) == 1


@pytest.mark.parametrize(
    ("game", "told"),
    [
        ("bageswin", "Ann holds all the sticks and wins"),
        ("plum_stone", "Ann holds all the counters and wins"),
        ("patol", "Ann wins: the horse went all the way round"),
    ],
)
def test_winning_sentence_is_the_games_own(game, told):
    view = play(game, 3, 3000)
    assert view.winner
    assert (
        get_show(game, ENGLISH).describe_win(msgspec.structs.replace(view, teams={view.winner: "Ann"}), view.winner)
        == told
    )
