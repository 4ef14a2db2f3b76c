"""The mat's guesses are honest, and beatable: sealed before the hide, no better than chance against chance."""

import json
import random
from pathlib import Path

import pytest
from exhibit_rig import Always, Rig
from load_file import load_file

from pi_controller.exhibit import check_log
from pi_controller.exhibit.visitor_game import Guess, HabitReader, RandomOpponent

statistics = load_file("tests/exhibit/opponent_statistics.py")

FAIR = 1 / 4
HIDES = 4000


@pytest.mark.parametrize("opponent", [RandomOpponent, HabitReader])
def test_opponent_matches_fair_share_against_random_hider(opponent):
    share = statistics.found_first(opponent, "by chance", visits=HIDES // 12, hides=12, seed=5)
    assert abs(share - FAIR) < 4 * (FAIR * (1 - FAIR) / HIDES) ** 0.5


@pytest.mark.parametrize("hider", [name for name in statistics.HIDERS if name != "by chance"])
def test_habits_are_read_better_than_by_chance(hider):
    habits = statistics.found_first(HabitReader, hider, visits=150, hides=12, seed=7)
    chance = statistics.found_first(RandomOpponent, hider, visits=150, hides=12, seed=7)
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


def played(seed, **section):
    rig = Rig(seed, **section)
    rig.begin("mat")
    rig.play_on()
    return rig


@pytest.mark.parametrize("seed", range(12))
def test_every_seal_of_a_game_holds(seed, tmp_path, capsys):
    rig = played(seed, mat=("screen", "eye")[seed % 2])
    rig.check_log()
    kept = tmp_path / "log.jsonl"
    kept.write_text(rig.exhibit.session_log.lines())
    assert check_log.main([str(kept)]) == 0
    assert "are correct" in capsys.readouterr().out


def tampered(lines, kind, **changed):
    """Return the log with the first record of `kind` changed; of strokes, the first of the mat's own."""
    found = False
    for n, line in enumerate(lines):
        record = json.loads(line)
        if (
            record["kind"] == kind
            and record.get("by", "mat") == "mat"
            and not found
            and all(key in record for key in changed)
        ):
            found = True
            lines[n] = json.dumps(record | {key: change(record[key]) for key, change in changed.items()})
    assert found
    return lines


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("opened", {"pads": lambda pads: {1: 2, 2: 3, 3: 4, 4: 1}.get(pads) or (34 if pads != 34 else 12)}),
        ("opened", {"nonce": lambda nonce: nonce[::-1]}),
        ("sealed", {"hash": lambda hash_: hash_[::-1]}),
        ("struck", {"pad": lambda pad: pad % 4 + 1}),
        ("struck", {"found": lambda found: not found}),
        ("session", {"session": lambda session: session[::-1]}),
    ],
)
def test_checker_detects_tampered_log(kind, changed):
    lines = next(
        lines for seed in range(40) if '"by":"mat"' in (lines := played(seed).exhibit.session_log.lines())
    ).splitlines()
    assert check_log.find_faults(list(lines)) == []
    assert check_log.find_faults(tampered(lines, kind, **changed)) != []


def test_checker_detects_guess_sealed_after_hide():
    records = [json.loads(line) for line in played(2).exhibit.session_log.lines().splitlines()]
    sealed = next(n for n, one in enumerate(records) if one.get("what") == "guess")
    hidden = next(n for n, one in enumerate(records) if one["kind"] == "hidden" and n > sealed)
    records[sealed], records[hidden] = records[hidden], records[sealed]
    assert check_log.find_faults([json.dumps(one) for one in records]) != []
    assert check_log.find_faults(["no log"]) != []


def test_guess_is_sealed_before_visitor_hides():
    for seed in range(6):
        rig = Rig(seed)
        rig.begin("mat")
        while rig.stage == "play":
            if rig.game.awaits == "pads":
                last = [one for one in rig.exhibit.session_log.records if one["kind"] == "sealed"][-1]
                assert (last["what"], last["hide"]) == ("guess", rig.game.view.hide)
                assert rig.game.seal == last["hash"]
                assert rig.game.guessed is None, "nothing says what it guessed"
            if rig.game.touches:
                rig.touch(rig.rng.choice(list(rig.game.touches)))
            rig.advance(0.25)


@pytest.mark.parametrize("mat", ["screen", "eye"])
def test_sealed_log_is_identical_for_all_four_pads(mat):
    """What is logged and shown between the seal and the strike tells the four places apart by hashes alone."""

    def seen(place):
        rig = Rig(11, mat=mat)
        rig.begin("mat")
        game = rig.game
        game._rng = Fixed(place)
        rig.until(lambda: game.awaits == "strike" or game.hider == "visitor")
        if game.hider == "visitor":
            return None
        log = [{**one, "hash": ""} if "hash" in one else one for one in rig.exhibit.session_log.records[1:]]
        return log, game.hand, game.aim, game.opened, rig.exhibit.touches, rig.t, game.view.phase

    pictures = [seen(place) for place in (1, 2, 3, 4)]
    assert pictures[0] is not None
    assert all(picture == pictures[0] for picture in pictures)


class Fixed:
    """Chance that tosses for the mat and hides under one pad."""

    def __init__(self, place):
        self.place = place

    def choice(self, among):
        return "toss_b" if "toss_b" in among else self.place


def test_it_learns_this_visitor_and_forgets():
    rig = Rig(4)
    rig.begin("mat")
    opponent = Always(Guess(1, 2))
    rig.game._opponent = opponent
    rig.play_on(lambda touches: "pad:3" if "pad:3" in touches else touches[0])
    hidden = [one for one in rig.exhibit.session_log.records if one["kind"] == "hidden" and one["by"] == "visitor"]
    assert [pad for pad, _ in opponent.seen] == [3] * len(hidden)
    rig.touch("again")
    assert rig.game._opponent is not opponent


def test_log_of_an_earlier_version_still_holds(capsys):
    kept = Path(__file__).with_name("earlier") / "session.jsonl"
    assert check_log.main([str(kept)]) == 0
    assert "correct" in capsys.readouterr().out
    lines = kept.read_text("utf-8").splitlines()
    assert check_log.find_faults(tampered(lines, "sealed", hash=lambda hash_: hash_[::-1])) != []
