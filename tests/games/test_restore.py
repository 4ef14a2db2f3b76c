"""A table set by the judge: from the score sheet back to the state, for every state a game comes to."""

import random
from copy import deepcopy
from dataclasses import replace

import pytest
from cases import cases
from random_play import steps

from pi_controller.games.ojibwe.rules import OjibweState
from pi_controller.rules import registry
from pi_controller.rules.base import InvalidActionError
from pi_controller.rules.sheet_changes import apply_changes
from pi_controller.rules.sticks import Sticks

OPTIONS = [
    ("dakota", {}),
    ("dakota", {"points": 1, "low_hider": "literal", "foul_payer": "middle_first", "wheya_16_4": "sahdogan"}),
    ("ojibwe", {"games": 2}),
    ("ojibwe", {"start_counters": "split_10_10", "high_reset": "never", "max_open": 3}),
    ("ojibwe", {"games": 2, "one_stick": "keeps_shooting"}),
    ("slahal", {}),
    ("slahal", {"payment": "live_dead_own", "king_last": True}),
    ("bageswin", {"sticks": 20}),
    ("bageswin", {"players": "Kate,Ann,Bo,Cy", "sticks": 40, "table": "hinckley_2009"}),
    ("plum_stone", {"counters": 30, "no_throw": "again"}),
    ("patol", {"players": "Kate,Ann,Bo", "circuits": 2}),
    ("patol", {"killing": False, "throws": "zuni_1891"}),
]
STATES = cases(600, 1200)


def reached(game, seed, many):
    """Yield states of random games."""
    chance, count = random.Random(seed), 0
    while count < many:
        yield game.opening()
        for _, _, state, _ in steps(chance, game, many - count):
            count += 1
            yield state


def known(game, actions):
    """Return the legal actions but the one that the sheet cannot hold: a foul of the hide just settled."""
    return [action for action in actions if action.get("hide") != "last"]


@pytest.mark.parametrize(("name", "options"), OPTIONS[:: cases(3, 1)])
def test_every_state_comes_back_from_its_sheet(name, options):
    game = registry.game(name, options)
    finished = 0
    for state in reached(game, name, STATES):
        sheet = game.sheet(state)
        again = game.restore(sheet)
        assert game.sheet(again) == sheet
        assert game.is_over(again) == game.is_over(state)
        finished += game.is_over(again)
        assert known(game, game.legal_actions(again)) == known(game, game.legal_actions(state))
        for action in known(game, game.legal_actions(again)):
            (here, calls), (there, same) = game.play(again, action), game.play(state, action)
            if name == "dakota" and options and action["do"] == "foul":
                continue  # 4/16/0 is no eyeya for sure where the middle pays for fouls
            assert (game.sheet(here), calls) == (game.sheet(there), same), (sheet, action)
    assert finished


def test_dakota_sheet_omits_first_pad_and_last_hide():
    game = registry.game("dakota")
    for state in reached(game, 1, STATES):
        assert game.restore(game.sheet(state)) == replace(state, first_pad=None, last=None)


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_derived_key_is_optional_but_checked(name, options):
    game = registry.game(name, options)
    follows = {"ojibwe": ("shooting", "double"), "slahal": ("phase", "sticks")}.get(name, ())
    for state in reached(game, name, 200):
        sheet = game.sheet(state)
        for key in follows:
            assert game.restore({k: v for k, v in sheet.items() if k != key}) == game.restore(sheet)
            with pytest.raises(InvalidActionError, match=f"{key} is derived from the rest"):
                game.restore({**sheet, key: "x"})


@pytest.mark.parametrize("name", registry.names())
def test_missing_unknown_or_mistyped_key_is_refused(name):
    game = registry.game(name)
    chance = random.Random(name)
    for state in reached(game, name, 60):
        sheet = game.sheet(state)
        for key in sheet:
            if key in ("shooting", "double", "phase", "sticks"):
                continue
            with pytest.raises(InvalidActionError, match=f"{key} is missing"):
                game.restore({k: v for k, v in sheet.items() if k != key})
            for value in (-1, 1.0, "C", True, [], {}, {"A": 1}, [None], 10**5000, "x" * 5000):
                with pytest.raises(InvalidActionError) as refused:
                    game.restore({**sheet, key: value})
                assert key in str(refused.value)
                assert len(refused.value.message.splitlines()) == 1
                assert len(str(refused.value)) < 1500
        with pytest.raises(InvalidActionError, match="there is no 'pads'"):
            game.restore({**sheet, "pads": 4})
        broken = deepcopy(sheet)
        broken[chance.choice(list(sheet))] = object()
        with pytest.raises(InvalidActionError):
            game.restore(broken)
    for sheet in (None, [], "sheet", 3):
        with pytest.raises(InvalidActionError, match="an object"):
            game.restore(sheet)


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_restore_without_changes_returns_same_sheet(name, options):
    game = registry.game(name, options)
    for state in reached(game, name, 200):
        sheet = game.sheet(state)
        before = deepcopy(sheet)
        assert game.sheet(game.restore(apply_changes(sheet, ()))) == sheet == before


def test_a_change_leads_somewhere():
    sheet = registry.game("patol").sheet(registry.game("patol").opening())
    after = apply_changes(sheet, [("horses.1.progress", 3), ("thrower", "B")])
    assert (after["horses"][1]["progress"], after["thrower"]) == (3, "B")
    assert "notch" not in after["horses"][0]
    assert sheet["horses"][1]["progress"] == 0
    for path in ("horses.2.progress", "horses.x.progress", "thrower.A", "nobody.A", "horses.0.progress.x", ".", "a."):
        with pytest.raises(InvalidActionError, match="the score sheet has no"):
            apply_changes(sheet, [(path, 1)])


def dakota(**changes):
    return {
        "hider": "A", "long": {"A": 8, "B": 6}, "middle": 6, "short": {"A": 1, "B": 2}, "owed": "first",
        "situation": None, "winner": None, "finish": None,
    } | changes  # fmt: skip


def ojibwe(**changes):
    return {
        "hider": "B", "counters": {"A": 5, "B": 7}, "pool": 8, "short": {"A": 0, "B": 0}, "high": 3, "hides_left": 2,
        "banked": 0, "winner": None, "finish": None,
    } | changes  # fmt: skip


def slahal(**changes):
    return {
        "hiding": "A", "pairs_out": 1, "live": {"A": 3, "B": 0}, "dead": {"A": 7, "B": 0}, "king": "B",
        "winner": None, "finish": None,
    } | changes  # fmt: skip


def bageswin(a=20, b=80, **changes):
    players = [{"name": "A", "sticks": a}, {"name": "B", "sticks": b}]
    return {"thrower": "B", "bank": 0, "players": players, "value": None, "winner": None, "finish": None} | changes


def plums(a=40, b=60, **changes):
    sheet = {"thrower": "A", "pile": 0, "counters": {"A": a, "B": b}, "value": 1, "winner": None, "finish": None}
    return sheet | changes


def patol(a=("north", "clockwise", 12), b=("east", "counterclockwise", 3), **changes):
    horses = [
        {"player": player, "river": river, "direction": direction, "progress": progress}
        for player, (river, direction, progress) in zip("AB", (a, b), strict=True)
    ]
    return {"thrower": "B", "horses": horses, "value": 5, "winner": None, "finish": None} | changes


STILL = (None, None, 0)
TEAMS = {"dakota": dakota, "ojibwe": ojibwe, "slahal": slahal, "plum_stone": plums}


@pytest.mark.parametrize(
    ("name", "sheet", "what"),
    [
        ("dakota", dakota(hider=None), "before the toss"),
        ("dakota", dakota(winner="B"), "B has 2 short sticks"),
        ("dakota", dakota(winner="A", short={"A": 5, "B": 5}, owed=None), "B has 5 short sticks"),
        ("dakota", dakota(situation="sahdogan"), "in sahdogan with the first hit owed the hider has 12, the hitter 8"),
        ("dakota", dakota(situation="eyeya", owed="second"), "in eyeya there is no second hit"),
        ("dakota", dakota(situation="wheya"), "wheya is when the hitters and the middle have four"),
        (
            "dakota",
            dakota(situation="yawapi", owed="second", long={"A": 6, "B": 0}, middle=14, short={"A": 0, "B": 0}),
            "the first miss gives A a short stick: it has none",
        ),
        ("ojibwe", ojibwe(counters={"A": 0, "B": 20}, pool=0), "holds all 20"),
        ("ojibwe", ojibwe(pool=9), "counters and pool add up to 21, not 20"),
        ("ojibwe", ojibwe(hides_left=3), "hides_left"),
        ("ojibwe", ojibwe(banked=1), "finds are banked only under option one_stick=keeps_shooting: banked is 0"),
        ("ojibwe", ojibwe(counter=2), "there is no 'counter'"),
        ("ojibwe", ojibwe(finish="forfeit", winner="A", short={"A": 0, "B": 5}), "B has 5 short sticks"),
        ("ojibwe", ojibwe(hider=None), "before the toss"),
        ("ojibwe", ojibwe(winner="A"), "A has 0 short sticks"),
        *((name, sheet(finish="rain"), "finish") for name, sheet in TEAMS.items()),
        *((name, sheet(finish="forfeit"), "winner") for name, sheet in TEAMS.items()),
        *(("dakota", dakota(finish="forfeit", winner="B", owed=None, short=short), "has 5 short sticks")
          for short in ({"A": 5, "B": 0}, {"A": 0, "B": 5})),
        ("slahal", slahal(king=None), "king"),
        ("slahal", slahal(winner="A"), "winner and finish are both set or both null"),
        ("slahal", slahal(winner="B", finish="time"), "B has not won on time"),
        ("slahal", slahal(winner="A", finish="sweep"), "A has not swept"),
        ("slahal", slahal(king="A", live={"A": 0, "B": 0}, dead={"A": 10, "B": 0}), "A has ten dead sticks and the"),
        ("slahal", slahal(live={"A": 3, "B": 1}), "live and dead add up to 11, not 10"),
        ("bageswin", bageswin(players=bageswin()["players"][::-1]), "the players are A, B, in this order"),
        ("bageswin", bageswin(21), "bank and players add up to 101, not 100"),
        ("bageswin", bageswin(0, 100), "alone has sticks"),
        ("bageswin", bageswin(winner="B"), "alone has sticks"),
        ("bageswin", bageswin(0, 100, thrower="A", winner="A"), "thrower is a player who is not out"),
        ("bageswin", bageswin(value=7), "value is 0, 1, 2, 3, 4, 15, 20, 30, 50 or null, not 7"),
        ("plum_stone", plums(0, 100), "B has 100 of 100"),
        ("plum_stone", plums(winner="A"), "A has 40 of 100"),
        ("plum_stone", plums(thrower=None), "before the lot"),
        ("patol", patol(("north", "clockwise", 40)), "A has gone 40 of 40"),
        ("patol", patol(winner="A"), "A has gone 12 of 40"),
        ("patol", patol(STILL), "horses start in the order of the players"),
        ("patol", patol(STILL, STILL), "thrower is null before the first start"),
        ("patol", patol(b=STILL, thrower=None), "thrower is null before the first start, then a player"),
        ("patol", patol(b=(None, "counterclockwise", 3)), "B has a river"),
        ("patol", patol(finish="forfeit"), "a forfeit ends the game: winner is the side that won by it"),
        ("patol", patol(winner="B", finish="forfeit"), "finish is forfeit exactly if one player"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_stand_so(name, sheet, what):
    with pytest.raises(InvalidActionError) as refused:
        registry.game(name).restore(sheet)
    assert what in refused.value.message


@pytest.mark.parametrize(
    ("name", "sheet", "key", "value"),
    [
        ("dakota", dakota(long={"A": 16, "B": 2}, middle=2), "situation", "wheya"),
        ("dakota", dakota(short={"A": 5, "B": 2}, owed=None, winner="A"), "owed", None),
        ("ojibwe", ojibwe(counters={"A": 2, "B": 18}, pool=0), "double", True),
        ("slahal", slahal(winner="A", finish="time"), "phase", "over"),
        ("bageswin", bageswin(0, 100, winner="B"), "winner", "B"),
        ("patol", patol(("west", "counterclockwise", 41), thrower="A", winner="A"), "winner", "A"),
    ],
)  # fmt: skip
def test_derived_keys_are_computed_on_restore(name, sheet, key, value):
    game = registry.game(name)
    assert game.sheet(game.restore(sheet))[key] == value


def test_judge_can_set_which_players_are_out():
    game = registry.game("bageswin", {"players": "A,B,C"})
    state, _ = game.play(game.opening(), {"do": "forfeit", "by": "A"})
    told = game.sheet(state)
    assert game.restore(apply_changes(told, [("players.1.sticks", 40), ("bank", 60)])).out == {"A"}
    with pytest.raises(InvalidActionError, match="A is out"):
        game.restore(apply_changes(told, [("players.0.sticks", 40), ("bank", 60)]))
    back = apply_changes(told, [("players.0.sticks", 40), ("bank", 60), ("players.0.out", False)])
    assert game.restore(back).out == frozenset()
    with pytest.raises(InvalidActionError, match="out cannot be"):
        game.restore(apply_changes(told, [("players.0.out", "x")]))
    for finish, bank in ((None, 60), ("forfeit", 0)):
        won = {**told, "bank": bank, "winner": "B", "thrower": "B", "finish": finish, "players": [
            {"name": "A", "sticks": 0, "out": True}, {"name": "B", "sticks": 100 - bank, "out": False},
            {"name": "C", "sticks": 0, "out": True},
        ]}  # fmt: skip
        with pytest.raises(InvalidActionError, match="a winner by play has won the bank too"):
            game.restore(won)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"counters": {"A": 18, "B": 2}}, "finds are banked with one shooting stick: banked is 0"),
        ({"hider": "B"}, "finds are banked with one shooting stick: banked is 0"),
        ({"banked": -1, "hides_left": 0}, "banked"),
    ],
)
def test_a_sheet_with_finds_banked_that_cannot_be(changes, what):
    ojibwe = registry.game("ojibwe", {"one_stick": "keeps_shooting"})
    state = OjibweState(Sticks.of(A=19, B=1, pool=0), hider="A", hides_left=7, banked=2)
    assert ojibwe.restore(ojibwe.sheet(state)) == state
    with pytest.raises(InvalidActionError, match=what):
        ojibwe.restore({**{k: v for k, v in ojibwe.sheet(state).items() if k not in ("shooting", "double")}, **changes})
