"""How long a board that starts is waited for: its signs of life count, and no clock on the wall."""

from pi_controller.board import wire
from pi_controller.tools.probe import probe

WELCOME = wire.seal(
    wire.welcome_body(
        firmware=(0, 9, 1), board=bytes(8), boots=3, reason=1, features=7, pads=4, sample_hz=4000, block_samples=32
    ),
    0,
)


class Board:
    """A port at which `script` comes: (seconds from the start, bytes). Time passes while it is waited for."""

    def __init__(self, *script):
        self.script = list(script)
        self.t = 100.0
        self.written = b""

    def clock(self):
        return self.t

    def wait(self, seconds):
        self.t += min(seconds, 0.1)

    def read(self):
        data = b"".join(part for at, part in self.script if 100.0 + at <= self.t)
        self.script = [(at, part) for at, part in self.script if 100.0 + at > self.t]
        return data

    def write(self, data):
        self.written += data

    def asked(self, **options):
        return probe(self, 2.0, self.clock, **options), self.t - 100.0


def test_slow_board_sending_bytes_is_awaited():
    heard, _ = Board(*[(1.5 * n, b"\0") for n in range(1, 8)], (11.0, WELCOME)).asked(starting_s=60.0)
    assert heard.answer.firmware == "0.9.1"


def test_one_that_gives_none_is_not():
    heard, took = Board((5.0, WELCOME)).asked(starting_s=60.0)
    assert heard.answer is None
    assert 2.0 <= took < 2.2


def test_endless_bytes_stop_at_the_start_timeout():
    heard, took = Board(*[(0.1 * n, b"x") for n in range(2000)]).asked(starting_s=60.0)
    assert heard.answer is None
    assert 60.0 <= took < 60.2


def test_a_program_that_ended_is_seen_at_once():
    heard, took = Board((0.5, b'  File "main.py", line 3\r\nKeyboardInterrupt: \r\n>>> ')).asked(starting_s=60.0)
    assert (heard.answer, heard.prompt) == (None, True)
    assert took < 0.8


def test_bytes_extend_no_wait_by_default():
    heard, took = Board(*[(0.3 * n, b"x") for n in range(60)], (3.0, WELCOME)).asked()
    assert heard.answer is None
    assert 2.0 <= took < 2.2
