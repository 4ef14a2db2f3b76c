"""A mat before each team: two boards with their firmware, two pseudo-terminals; and one mat that never turns."""

import secrets

import pytest
from cases import ALL_CASES
from ground_truth import compare, disagreements
from pty_mat import PtyMat

from pi_controller.board.buttons import MockButtons
from pi_controller.board.connection import BoardConnection
from pi_controller.board.serial_port import SerialPort
from pi_controller.games.dakota.people import Players
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import LinkSeen
from pi_controller.referee.history import effective_records
from pi_controller.rules import registry
from pi_controller.runtime.daemon import Daemon
from pi_controller.sensing.sensors import MatSensors
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import TICK_S, Simulation
from pi_controller.table.mats import Mat
from pi_controller.table.table import Table


class TwoWorlds:
    """What people reach of two mats: the one before those who hide."""

    def __init__(self, mats):
        self.mats = mats
        self.here = mats[0].world
        for mat in mats:
            mat.world.seats = "each"

    def sit(self, hiders):
        if all(hand.pad is None for hand in self.here.hands.values()):  # people finish what they do at a mat
            self.here = self.mats[hiders == "B"].world

    def __getattr__(self, name):
        return getattr(self.here, name)


@pytest.mark.slow
def test_a_game_on_two_mats(tmp_path):
    game = registry.game("dakota", {"points": "1"})
    with Journal(tmp_path / "j.sqlite") as journal, PtyMat(21) as a, PtyMat(22) as b:
        for mat in (a, b):
            mat.world.sit = lambda hiders: None  # each mat lies the right way round for its team
        buttons = MockButtons()
        table = Table(journal, game, {"A": "A", "B": "B"}, DakotaReferee(game, None, secrets.token_bytes), 0.0, "each")
        boards = [BoardConnection(lambda mat=mat: SerialPort(mat.device)) for mat in (a, b)]
        daemon = Daemon(table, [Mat(board, MatSensors()) for board in boards], buttons)
        t = 0.0
        mischief = Mischief(0.1, 0.0)
        players = Players(21, TwoWorlds((a, b)), lambda name: buttons.press(name, t), table.judge, mischief=mischief)
        while table.view.phase != "over" and t < 3600.0:
            players.watch(table.view)
            players.act(t)
            for mat in (a, b):
                mat.advance(TICK_S)
            t += TICK_S
            daemon.step(t)
        daemon.close()
        facts = [fact for _, fact in effective_records(journal.read())]
        assert table.view.winner
        assert compare(players.truth, facts, game) == []
        assert table.view.hide > 5
        assert all(fact.up or "has not answered yet" in fact.why for fact in facts if isinstance(fact, LinkSeen))


@pytest.mark.parametrize(
    ("name", "options", "seed"),
    [("dakota", {"points": "1"}, 36), *([("ojibwe", {"games": "1"}, 31)] if ALL_CASES else [])],
)
@pytest.mark.slow
def test_whole_game_with_hiders_always_at_near_edge(tmp_path, name, options, seed):
    game = registry.game(name, options)
    with Simulation(seed, tmp_path / "j.sqlite", game, mischief=Mischief(0.1, 0.1), seats="stay") as table:
        table.play()
        assert table.view.winner
        assert disagreements(table) == []
