"""The light strip, read off its pin as a WS2812 does."""

import pytest

from pi_controller.board.board_strip import BoardStrip

pytestmark = pytest.mark.emulated

RAINBOW = [(3 * n, 250 - 3 * n, n) for n in range(69)]


def test_strip_pin_sends_the_requested_pixels(host):
    strip = BoardStrip(69, host.session, cap_ma=1e6)
    host.go(0.1)  # the board may just have started
    strip.show(RAINBOW)
    host.go(0.2)
    state = host.board.state()
    assert state["odd_pulses"] == 0
    frame = state["frames"][-1]
    assert frame["bits"] == 69 * 24
    assert [tuple(pixel) for pixel in frame["pixels"]] == RAINBOW
    assert (host.t - 0.2) * 1e6 < frame["us"] < (host.t - 0.1) * 1e6
    strip.show([(0, 0, 9), *RAINBOW[1:]])
    host.go(0.2)
    assert host.board.state()["frames"][-1]["pixels"][:2] == [[0, 0, 9], list(RAINBOW[1])]


def test_lights_go_out_when_the_host_says_goodbye(host):
    host.session.close()
    host.go(0.1)
    frame = host.board.state()["frames"][-1]
    assert frame["pixels"] == [[0, 0, 0]] * 69
