"""The same recorded readings through the same files under CPython and under a real MicroPython: the same bytes."""

import json
import random
import struct
from pathlib import Path

import pytest
from cases import cases
from load_file import load_file
from needed import need

from pi_controller.board import wire
from pi_controller.simulation.portable_files import modules

ROOT = Path(__file__).parents[2]


micropython = load_file("tests/firmware/micropython.py")
playback = load_file("tests/firmware/playback.py")
sampler = modules()["sampler"]


def in_micropython(code, files, folder):
    try:
        return micropython.run(code, files, folder)
    except micropython.NoMicroPythonError as error:
        return need(None, f"no MicroPython: {error}")


UP_US = {1: 2**30 - 400_000, 2: 0, 3: 60 * 24 * 3600 * 1_000_000}
"""Seed -> how long the board has been up: where the ticks begin anew, at its start, and after 60 days."""


def record(seed, seconds=3.0):
    """Return a recording with strikes, a host that comes, stutters, talks nonsense and goes, and bus errors."""
    rng = random.Random(seed)
    numbers = iter(range(1000))

    def say(body):
        return wire.seal(body, next(numbers))

    other = wire.hello_body()
    other[3] = 7
    said = {
        10: say(wire.ping_body(1)),  # before HELLO: no answer
        20: say(wire.hello_body()) + say(wire.ping_body(0xFFFFFFFF)),
        30: rng.randbytes(90) + b"\0" + say(wire.ping_body(2))[:6],
        40: b"\0" + say(wire.ping_body(3)) + say(wire.ping_body(4)),
        50: 2 * say(wire.ping_body(5)) + say(wire.hello_body()),
        60: b"x" * 1500,
        61: b"y\0" + say(wire.ping_body(6)) + say(wire.ping_body(7)),
        70: say(wire.lights_body(7, b"\x00\x85\x01\x02\x03\x44\x01\xff\x00\xff")) + say(wire.ack_body(1)),
        71: 2 * say(wire.test_body(8)) + say(wire.test_body(8)) + say(wire.lights_body(9, b"\x40\x86\x01\x02\x03")),
        90: say(wire.bye_body()),
        92: say(wire.hello_body()),
        100: say(other) + say(wire.hello_body()) + say(wire.ping_body(8)),
        330: say(wire.ping_body(9)),
        340: say(wire.ack_body(3)),
    }
    steps, number = [], UP_US[seed] // 8000
    for i in range(int(seconds * 125)):
        now = UP_US[seed] + i * 8000 + rng.randrange(300)
        blocks = []
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            peak = rng.choice((2, 5, 40, 2000))
            values = [min(max(wire.REST + round(rng.gauss(0, 16 * peak)), 0), wire.TOP) for _ in range(128)]
            if i % 300 > 100:  # pad 1 goes to its rail and comes back, again and again
                values[::4] = [wire.TOP] * 32
            blocks.append([number, struct.pack("<128H", *values).hex()])
            number += 1
        steps.append([now, said.get(i, b"").hex(), blocks])
    for i in range(60):  # then the host is silent and time goes on in long passes
        steps.append([steps[-1][0] + 110_000, "", [[number + i, "0080" * 128]]])
    touch = [
        "" if rng.random() < 0.1 else struct.pack("<12H", *(rng.randint(0, 1023) for _ in range(12))).hex()
        for _ in range(50)
    ]
    magnet = ["" if rng.random() < 0.1 else rng.randbytes(6).hex() for _ in range(241)]
    return json.dumps({"steps": steps, "touch": touch, "magnet": magnet})


@pytest.mark.parametrize("seed", [*UP_US][:: cases(2, 1)])
def test_byte_for_byte_the_same(tmp_path, seed):
    recording = record(seed)
    here, lit = playback.play(recording, sampler)
    code = (
        "import sampler, playback\n"
        "sent, lit = playback.play(open('recording.json').read(), sampler)\n"
        "print(sent)\nprint(lit)\n"
    )
    files = {**micropython.firmware_files(), "recording.json": recording.encode()}
    there, lit_there = in_micropython(code, files, tmp_path).splitlines()
    assert there == here
    assert lit_there == str(lit)
    kinds = [kind for kind, _, _ in wire.Decoder(wire.TO_HOST, wire.WELCOME).feed(bytes.fromhex(here))]
    assert len(kinds) > 300
    assert {kinds.count(kind) > 0 for kind in wire.TO_HOST} == {True}
    assert [word for word in lit if word in {"wait", "run", "fault"}][-1] == "wait"
    assert {"fault", "show"} <= {word for word in lit if isinstance(word, str)}


@pytest.mark.parametrize("up_us", [*UP_US.values()][:: cases(2, 1)])
def test_a_streaming_board_makes_no_object(tmp_path, up_us):
    code = f"import sampler, playback\nprint(*playback.made(sampler, {up_us}))\n"
    made, sent = map(int, in_micropython(code, micropython.firmware_files(), tmp_path).split())
    assert sent == pytest.approx(2 * (125 + 50 + 20 + 1), abs=3)
    assert made <= 16  # one number of the test's own


def test_the_decoder_is_the_same_on_garbage(tmp_path):
    rng = random.Random(5)
    good = [wire.seal(wire.hello_body(), 0)] + [wire.seal(wire.ping_body(i), i) for i in range(1, 60)]
    data = b"".join(frame if rng.random() < 0.7 else rng.randbytes(rng.randint(1, 30)) for frame in good)
    chunks = [data[i : i + 37] for i in range(0, len(data), 37)]
    code = (
        "import wire\n"
        "ears = wire.Decoder(wire.TO_BOARD, wire.HELLO)\n"
        "data = open('data', 'rb').read()\n"
        "for i in range(0, len(data), 37):\n"
        "    print(ears.feed(data[i:i + 37]))\n"
        "print(ears.frames, ears.bad, ears.lost, ears.repeated)\n"
    )
    there = in_micropython(code, {**micropython.firmware_files(), "data": data}, tmp_path)
    ears = wire.Decoder(wire.TO_BOARD, wire.HELLO)
    here = [str(ears.feed(chunk)) for chunk in chunks]
    assert there.splitlines() == [*here, f"{ears.frames} {ears.bad} {ears.lost} {ears.repeated}"]
    assert ears.bad > 3
    assert ears.frames > 10


@pytest.mark.slow
def test_the_rate_command(tmp_path):
    version, numbers = in_micropython(micropython.RATE, micropython.firmware_files(), tmp_path).splitlines()
    assert "MicroPython" in version
    assert int(numbers.split()[0]) > 2000
