"""A table's lights on the mat board: the simulated board's strip shows the frame, through bytes."""

from pi_controller.assembly import lights
from pi_controller.drivers.serial_port import SerialPort
from pi_controller.link.board_strip import BoardStrip
from pi_controller.link.connection import BoardConnection
from pi_controller.link.source import NoSource
from pi_controller.pinmap import pinmap
from pi_controller.sim.mat import SimMat
from pi_controller.table.settings import Settings


def run(mat, listener, t, seconds):
    end = t + seconds
    while t < end:
        mat.advance(0.008)
        t += 0.008
        listener.step(t)
    return t


def test_the_boards_strip_shows_the_frame_and_goes_dark_with_the_host():
    settings = Settings.model_validate({"strips": {"kind": "board", "brightness": 1.0}})
    dark = [(0, 0, 0)] * pinmap().lights.count
    with SimMat(3) as mat:
        listener = BoardConnection(lambda: SerialPort(mat.device))
        strip = lights(settings, listener)
        assert isinstance(strip, BoardStrip)
        t = run(mat, listener, 0.0, 1.0)
        assert mat.board.strip == dark
        scene = [(3 * n, 100 if n % 3 else 0, 7) for n in range(len(dark))]
        strip.show(scene)
        t = run(mat, listener, t, 0.3)
        assert mat.board.strip == list(strip.wanted)
        mat.reset_board()
        t = run(mat, listener, t, 3.0)
        assert mat.board.strip == list(strip.wanted)
        for n in range(40):
            strip.show([(n, 0, 5)] * len(dark))
            t = run(mat, listener, t, 0.04)
        t = run(mat, listener, t, 0.2)
        assert mat.board.strip == [(39, 0, 5)] * len(dark)
        listener.close()
        mat.advance(0.1, 3)
        assert mat.board.strip == dark


def test_a_table_without_a_listener_has_no_such_strip():
    settings = Settings.model_validate({"strips": {"kind": "board"}})
    assert lights(settings, NoSource()) is None
