"""A whole hide of the Dakota game through the emulated board: from converter counts to the journal and the lights."""

import pytest
from emulated_mat import EmulatedMat
from ground_truth import disagreements, facts_by_hide

from pi_controller.board.board_strip import BoardStrip
from pi_controller.display.lights import frame
from pi_controller.pinmap import pinmap
from pi_controller.referee.facts import Question
from pi_controller.referee.history import effective_records
from pi_controller.rules import registry
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation

pytestmark = pytest.mark.emulated

SEED = 1
LIMIT_S = 12.0


class Table(Simulation):
    """The table of a simulation, whose mat is an emulated board that drives the lights, too."""

    def __init__(self, seed, path, mat):
        super().__init__(seed, path, registry.game("dakota", {"points": "1"}), mat=mat, mischief=Mischief())
        self.session = self.daemon.source.session
        self.daemon._strip = self.strip_on_board = BoardStrip(pinmap().lights.count, self.session)
        self.daemon._scene = frame  # without the walk of the sticks: the game stands before they would have arrived


@pytest.mark.slow
def test_emulated_hide_reaches_journal_and_lights(board, tmp_path):
    board.power_on()
    board.run(2e6)  # it has started, so that the empty mat is seen before the first hand
    mat = EmulatedMat(SEED, board)
    with Table(SEED, tmp_path / "j.sqlite", mat) as table:
        while not (table.view.phase == "show" and table.view.hits) and table.t < LIMIT_S:
            table.tick()
        for _ in range(8):  # the lights' last frame goes out, and comes off the pin
            table.tick()
        made = table.truth.hides[1].hits
        assert made
        assert [(hit.pad, hit.found) for hit in table.view.hits] == [(hit.pad, hit.found) for hit in made]
        facts = [fact for _, fact in effective_records(table.journal.read())]
        hides, _ = facts_by_hide(facts, table.game)
        told = [action for action in hides[1].actions if action["do"] == "hit"]
        assert [(hit.get("pad"), hit["found"]) for hit in told] == [(hit.pad, hit.found) for hit in made]
        assert disagreements(table) == []
        stats = table.session.stats
        assert (stats.bad, stats.lost, stats.refused, stats.missing_samples) == (0, 0, 0, 0)
        assert not any(isinstance(fact, Question) for fact in facts)
        shown = board.state()
        assert shown["odd_pulses"] == 0
        assert shown["complaints"] == []
        wanted = [tuple(pixel) for pixel in table.strip_on_board.wanted]
        assert any(map(any, wanted))
        assert wanted in [[tuple(pixel) for pixel in one["pixels"]] for one in shown["frames"][-4:]]
