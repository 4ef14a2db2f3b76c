"""Whole games through the real firmware, a real pseudo-terminal and the journal: what was written is what happened.

`python tests/end_to_end/many_games.py --games 200` plays as many as one likes.
"""

import pytest

from pi_controller.games import registry
from pi_controller.sim.conditions import Conditions
from pi_controller.sim.script import Mischief
from pi_controller.sim.simulation import Simulation
from pi_controller.sim.truth import compare, foretell


@pytest.mark.parametrize("seed", range(6))
def test_the_journal_says_what_happened(seed, tmp_path):
    game = registry.game("dakota", {"points": "2"})
    mischief = Mischief(fouls=0.15, doubts=0.1)
    with Simulation(seed, tmp_path / "j.sqlite", game, mischief=mischief) as table:
        table.play()
        facts = [fact for _, fact in table.journal.read()]
        assert table.view.winner is not None
        assert compare(table.truth, facts, game) == []
        # and what happened is what the scripts alone foretell: nobody was asked to do anything twice for nothing
        assert table.truth.hides == foretell(seed, game, mischief=mischief).hides


def test_the_same_seed_plays_the_same_game_to_the_byte(tmp_path):
    game = registry.game("dakota", {"points": "1"})

    def played(name):
        with Simulation(4, tmp_path / name, game, mischief=Mischief(0.1, 0.1)) as table:
            table.play()
            return [
                (type(fact), getattr(fact, "t", None)) for _, fact in table.journal.read()
            ], table.daemon.session.stats.frames

    assert played("one.sqlite") == played("two.sqlite")


def test_drums_beside_the_mat(tmp_path):
    game = registry.game("dakota", {"points": "1"})
    with Simulation(11, tmp_path / "j.sqlite", game, conditions=Conditions.pow_wow()) as table:
        table.play()
        assert compare(table.truth, [fact for _, fact in table.journal.read()], game) == []
