"""The mat's guesses are honest, and beatable: sealed before the hide, no better than chance against chance."""

import random

import pytest
from exhibit_rig import Always, Rig

from pi_controller.exhibit.opponents import Guess, HabitReader, RandomOpponent
from pi_controller.exhibit.screen import build_screen

FAIR = 1 / 4
HIDES = 4000


def favourite(rng, history):
    return 2 if rng.random() < 0.6 else rng.randint(1, 4)


def alternates(rng, history):
    return (1 if history[-1][0] == 4 else 4) if history and rng.random() < 0.8 else rng.randint(1, 4)


def walks_on(rng, history):
    return history[-1][0] % 4 + 1 if history and rng.random() < 0.7 else rng.randint(1, 4)


def stays_unless_found(rng, history):
    if not history:
        return rng.randint(1, 4)
    pad, found = history[-1]
    return rng.choice([one for one in (1, 2, 3, 4) if one != pad]) if found else pad


def never_twice(rng, history):
    return rng.choice([pad for pad in (2, 3) if not history or pad != history[-1][0]] or [2])


def by_chance(rng, history):
    return rng.randint(1, 4)


HIDERS = {
    "by chance": by_chance,
    "likes pad 2": favourite,
    "from end to end": alternates,
    "one further each time": walks_on,
    "stays until found": stays_unless_found,
    "the middle two in turn": never_twice,
}


def found_first(opponent, hider, *, visits, hides, seed):
    """Return the share of hides that the first guess of a new `opponent` each visit finds."""
    rng, found = random.Random(seed), 0
    for _ in range(visits):
        mat, history = opponent(rng), []
        for _ in range(hides):
            guess = mat.guess()
            pad = HIDERS[hider](rng, history)
            hit = guess.first == pad
            mat.learn_hide(pad, found=hit)
            history.append((pad, hit))
            found += hit
    return found / (visits * hides)


@pytest.mark.parametrize("opponent", [RandomOpponent, HabitReader])
def test_opponent_matches_fair_share_against_random_hider(opponent):
    share = found_first(opponent, "by chance", visits=HIDES // 12, hides=12, seed=5)
    assert abs(share - FAIR) < 4 * (FAIR * (1 - FAIR) / HIDES) ** 0.5


@pytest.mark.parametrize("hider", [name for name in HIDERS if name != "by chance"])
def test_habits_are_read_better_than_by_chance(hider):
    habits = found_first(HabitReader, hider, visits=150, hides=12, seed=7)
    chance = found_first(RandomOpponent, hider, visits=150, hides=12, seed=7)
    assert habits > chance + 0.04
    assert habits < 0.95, "who is read well has a chance, too"


def test_the_same_seed_guesses_the_same():
    def guesses(seed):
        reader = HabitReader(random.Random(seed))
        made = []
        for n in range(20):
            made.append(reader.guess())
            reader.learn_hide(1 + n % 3, found=False)
        return made

    assert guesses(3) == guesses(3)
    assert guesses(3) != guesses(4)
    assert all(guess.first != guess.second for guess in guesses(3))


def test_second_guess_is_the_least_likely_pad():
    reader = HabitReader(random.Random(1))
    for _ in range(12):
        reader.learn_hide(3, found=False)
    reader.learn_hide(1, found=False)
    guesses = [reader.guess() for _ in range(200)]
    assert max({1, 2, 3, 4}, key=[guess.first for guess in guesses].count) == 3
    assert min({1, 2, 4}, key=[guess.second for guess in guesses].count) == 1


def test_mat_strikes_the_pads_it_sealed():
    struck = 0
    for seed in range(12):
        rig = Rig(seed, mat=("screen", "eye")[seed % 2])
        rig.begin("mat")
        game, sealed = rig.game, {}
        while rig.stage == "play":
            if game.awaits in ("pads", "ready"):
                sealed[game.view.hide] = game._sealed
            if game.opened and game.hider == "visitor":
                hits = "".join(str(hit.pad) for hit in game.view.hits)
                assert game.opened == sealed[game.view.hide]
                assert game.opened.startswith(hits)
                struck += len(hits)
            if game.touches:
                rig.touch(rig.rng.choice(list(game.touches)))
            rig.advance(0.25)
    assert struck


def test_guess_is_sealed_before_visitor_hides():
    for seed in range(6):
        rig = Rig(seed)
        rig.begin("mat")
        while rig.stage == "play":
            if rig.game.awaits == "pads":
                assert rig.game.is_sealed
                assert (rig.game.opened, rig.game.guessed) == ("", None), "nothing says what it guessed"
                assert build_screen(rig.exhibit).envelope.pads == ""
            if rig.game.touches:
                rig.touch(rig.rng.choice(list(rig.game.touches)))
            rig.advance(0.25)


def test_it_learns_this_visitor_and_forgets():
    rig = Rig(4)
    rig.begin("mat")
    opponent = Always(Guess(1, 2))
    rig.game._opponent = opponent
    rig.play_on(lambda touches: "pad:3" if "pad:3" in touches else touches[0])
    assert [pad for pad, _ in opponent.seen] == rig.game.hidden_under
    assert set(rig.game.hidden_under) == {3}
    rig.touch("again")
    assert rig.game._opponent is not opponent
