"""A table's lights on the mat board: the simulated board's strip shows the frame, through bytes."""

from pty_mat import PtyMat

from pi_controller.board.board_strip import BoardStrip
from pi_controller.board.connection import BoardConnection
from pi_controller.board.message_source import NoSource
from pi_controller.board.serial_port import SerialPort
from pi_controller.config import Settings
from pi_controller.pinmap import pinmap
from pi_controller.runtime.assembly import make_strip


def run(mat, listener, t, seconds):
    end = t + seconds
    while t < end:
        mat.advance(0.008)
        t += 0.008
        listener.step(t)
    return t


def test_board_strip_shows_frame_until_host_closes():
    settings = Settings.model_validate({"strips": {"kind": "board", "brightness": 1.0}})
    dark = [(0, 0, 0)] * pinmap().lights.count
    with PtyMat(3) as mat:
        listener = BoardConnection(lambda: SerialPort(mat.device))
        strip = make_strip(settings, listener)
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


def test_board_strip_needs_a_board_listener():
    settings = Settings.model_validate({"strips": {"kind": "board"}})
    assert make_strip(settings, NoSource()) is None
