"""A board listened to without a game: it may be missing, busy, silent or pulled, and is looked for again."""

from pi_controller.board.connection import RETRY_S, BoardConnection
from pi_controller.board.messages import LinkDown, LinkUp, Piezo
from pi_controller.errors import PortError
from pi_controller.simulation.listening import SimListening
from pi_controller.simulation.mat import SimMat
from pi_controller.testing import BoardContract


def test_missing_board_retries_every_second_and_reports_once():
    tried = []

    def none():
        tried.append(1)
        raise PortError("no mat board is plugged in", "check the USB cable")

    connection = BoardConnection(none)
    told = [message for n in range(300) for message in connection.step(n * 0.01)]
    assert len(tried) == 3
    assert told == [LinkDown(0.0, "no mat board is plugged in: check the USB cable")]
    assert connection.missing is not None
    assert connection.missing.hint == "check the USB cable"
    connection.close()


def test_it_comes_back_after_the_cable_was_pulled():
    with SimListening(1) as sim:
        connection = sim.connection
        while not any(isinstance(message, Piezo) for message in sim.tick()):
            assert sim.t < 2.0
        assert connection.missing is None
        sim.mat.unplug()
        down = [message for _ in range(40) for message in sim.tick() if isinstance(message, LinkDown)]
        assert " is disconnected: check the USB cable" in down[0].why
        assert connection.missing is not None
        sim.mat.plug()
        end = sim.t + RETRY_S + 1.0
        up = []
        while sim.t < end:
            up += [message for message in sim.tick() if isinstance(message, LinkUp)]
        assert [message.boot_count for message in up] == [2]
        assert connection.missing is None


def test_port_in_use_by_another_program_is_reported():
    with SimListening(1) as sim:
        sim.tick()
        other = BoardConnection(sim.mat.open_port)
        other.step(0.0)
        assert other.missing is not None
        assert "another program is using" in other.missing.message


def test_closing_twice_is_safe_and_board_stops_streaming():
    with SimListening(1) as sim:
        for _ in range(30):
            sim.tick()
        sim.connection.close()
        sim.connection.close()
        sim.mat.advance(0.1, 3)
        assert sim.mat.board.state == "wait"


class TestBoardConnection(BoardContract):
    """To the real firmware's sampler on a simulated board, by a cable in memory."""

    def open_board(self):
        mat, sent = SimMat(3), 0
        self.exit_stack.callback(mat.close)
        connection = BoardConnection(mat.open_port)

        def advance(seconds):
            nonlocal sent
            mat.advance(seconds, connection.sent - sent)
            sent = connection.sent

        return connection, advance
