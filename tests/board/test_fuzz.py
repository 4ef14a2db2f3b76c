"""A run of the fuzzer: no byte raises, and none makes an event."""

import pytest
from load_file import load_file

from pi_controller.board import wire


@pytest.mark.parametrize(("share", "noise"), [(0.0, 2000), (0.5, 0), (0.95, 0), (0.3, 1000)])
def test_no_byte_raises_and_none_makes_an_event(share, noise):
    fuzz = load_file("tests/board/fuzz_wire.py").Fuzz(7, share, noise).run(75_000)
    assert fuzz.false == []
    assert fuzz.rig.session.stats.bad > 20
    assert fuzz.messages > 0


def test_the_board_survives_the_same(rig):
    rig.connect()
    for _ in range(300):
        rig.board.heard += rig.random.randbytes(500)
        rig.board.us += 8000
        rig.sampler.step()
    decoder = rig.sampler.decoder
    assert decoder.bad > 100
    rig.board.heard = bytearray(b"\0" + wire.seal(wire.hello_body(), 300) + wire.seal(wire.ping_body(5), 301))
    rig.board.sent = bytearray()
    rig.sampler.step()
    assert rig.sampler.running
    assert rig.board.sent
