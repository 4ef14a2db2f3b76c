"""Whole games through the real firmware, a real pseudo-terminal and the journal: what was written is what happened.

`python tests/end_to_end/many_games.py --game dakota --games 200` plays as many as one likes.
"""

import pytest
from cases import ALL_CASES, cases
from foretold import predict
from ground_truth import disagreements

from pi_controller.referee.facts import ActionPlayed, Commit, FoulSeen, Notice, Question, Reveal, StrikeFelt
from pi_controller.rules import registry
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation


@pytest.mark.parametrize(("seed", "points"), [(4, 1), *([(2, 2), (0, 1), (1, 1)] if ALL_CASES else [])])
@pytest.mark.slow
def test_journal_agrees_with_simulated_game(seed, points, tmp_path):
    game = registry.game("dakota", {"points": str(points)})
    mischief = Mischief(fouls=0.15, doubts=0.1)
    with Simulation(seed, tmp_path / "j.sqlite", game, mischief=mischief) as table:
        table.play()
        assert table.view.winner is not None
        assert disagreements(table) == []
        # and what happened is what the scripts alone foretell: nobody was asked to do anything twice for nothing
        assert table.truth.hides == predict(seed, game, mischief=mischief).hides


def test_same_seed_repeats_dakota_records_and_frames(tmp_path):
    game = registry.game("dakota", {"points": "1"})

    def played(name):
        with Simulation(4, tmp_path / name, game, mischief=Mischief(0.1, 0.1)) as table:
            table.play(cases(10.0, 3600.0))
            return [
                (type(fact), getattr(fact, "t", None)) for _, fact in table.journal.read()
            ], table.daemon.source.session.stats.frames

    assert played("one.sqlite") == played("two.sqlite")


@pytest.mark.slow
def test_drums_beside_the_mat(tmp_path):
    game = registry.game("dakota", {"points": "1"})
    with Simulation(11, tmp_path / "j.sqlite", game, conditions=Conditions.drums()) as table:
        table.play()
        assert disagreements(table) == []


def played(path, name, seed, mischief=None, **options):
    """Play a game to its end and return its table and facts; journal and truth agree."""
    with Simulation(seed, path / f"{name}.sqlite", registry.game(name, options), mischief=mischief) as table:
        table.play()
        assert table.view.winner is not None
        assert disagreements(table) == []
        return table, [fact for _, fact in table.journal.read()]


def kinds(facts, kind):
    return [fact for fact in facts if isinstance(fact, kind)]


@pytest.mark.slow
def test_four_balls_laid_pads_opened_and_one_struck(tmp_path):
    table, facts = played(tmp_path, "ojibwe", 5, games="1")
    shots = [fact for fact in kinds(facts, ActionPlayed) if fact.action["do"] == "shoot"]
    assert any(fact.action["opened"] for fact in shots)
    assert sum(fact.by == "sensor" for fact in shots) >= len(shots) / 2
    assert len(kinds(facts, Reveal)) >= len(shots) / 2
    assert len(table.truth.turns) == table.view.hide + 1


@pytest.mark.slow
def test_ojibwe_mischief_raises_hide_and_shot_questions(tmp_path):
    _, facts = played(tmp_path, "ojibwe", 3, Mischief(0.3, 0.3), games="1")
    asked = {fact.about for fact in kinds(facts, Question)}
    assert asked & {"balls", "no_reading"}
    assert asked & {"opened_pad", "two_struck", "doubtful", "too_many"}


@pytest.mark.slow
def test_slahal_game_ends_when_its_clock_expires(tmp_path):
    table, facts = played(tmp_path, "slahal", 2, minutes="1")
    *_, last = kinds(facts, ActionPlayed)
    assert (last.action, last.by) == ({"do": "time"}, "clock")
    assert table.view.sheet["finish"] == "time"
    assert last.t == pytest.approx(
        60.0 + next(fact.t for fact in kinds(facts, ActionPlayed) if fact.action["do"] == "duo"), 2
    )
    assert len(kinds(facts, Reveal)) == len(kinds(facts, Commit))


@pytest.mark.slow
def test_slahal_mischief_causes_rehide_and_late_hide_notice(tmp_path):
    _, facts = played(tmp_path, "slahal", 6, Mischief(0.3, 0.3), minutes="1", hide_seconds="5")
    assert "hide_time" in {fact.about for fact in kinds(facts, Notice)}
    assert any(fact.action == {"do": "rehide"} for fact in kinds(facts, ActionPlayed))


@pytest.mark.parametrize(
    ("name", "options"), [("bageswin", {"sticks": "20"}), ("plum_stone", {"counters": "20"}), ("patol", {})]
)
@pytest.mark.slow
def test_bowl_taps_count_once_and_pieces_never(name, options, tmp_path):
    table, facts = played(tmp_path, name, 3, Mischief(fouls=0.15), **options)
    turns = [turn for number, turn in table.truth.turns.items() if number]
    twice = sum("second tap" in turn.mischief for turn in turns)
    assert twice > 0
    felt = len(turns) + (0 if name == "patol" else twice)
    assert len(kinds(facts, StrikeFelt)) == felt
    fouls = [turn for turn in turns if "second tap" in turn.mischief and turn.actions[0]["do"] != "throw"]
    assert len(kinds(facts, FoulSeen)) == len(fouls)
    assert {fact.by for fact in kinds(facts, ActionPlayed) if fact.action["do"] == "double_tap"} <= {"sensor"}


@pytest.mark.slow
def test_same_seed_repeats_patol_throws_and_times(tmp_path):
    def told(name):
        (tmp_path / name).mkdir()
        _, facts = played(tmp_path / name, "patol", 7)
        return [(fact.t, fact.action) for fact in kinds(facts, ActionPlayed)]

    assert told("one") == told("two")
