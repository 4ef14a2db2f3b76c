"""How a board starts: counted, asked to stay for new files, and after a row of failures at the prompt by itself."""

import sys
import types
from pathlib import Path

import pytest

MAIN = (Path(__file__).parents[2] / "firmware" / "main.py").read_text("utf-8")
POWER, RESET = 1, 3
SCRATCH = {"RP2040": 0x4005800C, "RP2350": 0x400D800C}


class Sampler:
    """A program that fails at its first pass."""

    passes = 0

    def __init__(self, board):
        self.board = board

    def step(self):
        Sampler.passes += 1
        raise ValueError("broken")


class Living(Sampler):
    """One that fails only after twelve seconds."""

    chips = None
    seconds = 0

    def step(self):
        self.chips.us += 1_000_000
        self.board.feed()
        self.seconds += 1
        if self.seconds > 12:
            super().step()


@pytest.fixture
def start(load_board, chips, monkeypatch, capsys):
    """Return what starts the board with a program, for a reason, and returns what its prompt shows."""

    def started(program, reason):
        load_board()
        chips.reason = reason
        monkeypatch.setitem(sys.modules, "sampler", types.SimpleNamespace(Sampler=program))
        exec(compile(MAIN, "main.py", "exec"), {})
        return capsys.readouterr().out.replace("\0", "")  # signs of life

    Sampler.passes = 0
    Living.chips = chips
    return started


def test_program_failing_at_once_prompts_on_sixth_start(start, chips):
    shown = [start(Sampler, reason) for reason in (POWER, *[RESET] * 7)]
    assert [bool(out) for out in shown] == [False] * 5 + [True] + [False] * 2
    assert "fault.txt" in shown[5]
    assert Sampler.passes == 7
    assert chips.resets == 7, "at the prompt it resets no more"
    assert "broken" in Path("fault.txt").read_text("utf-8")


@pytest.mark.slow
def test_power_lost_gives_a_program_another_five(start):
    shown = [start(Sampler, reason) for reason in [POWER, *[RESET] * 3] * 3]
    assert not any(shown)


@pytest.mark.parametrize("chips", SCRATCH, indirect=True)
@pytest.mark.slow
def test_program_failing_later_is_restarted_without_prompt(start, chips):
    shown = [start(Living, RESET) for _ in range(12)]
    assert not any(shown)
    assert chips.mem[SCRATCH[chips.chip]] == 0


@pytest.mark.slow
def test_foreign_scratch_register_value_is_ignored(start, chips):
    chips.mem[SCRATCH[chips.chip]] = 0xFFFFFFFF
    assert not any(start(Sampler, RESET) for _ in range(5))
    assert start(Sampler, RESET)


@pytest.mark.slow
def test_somebody_at_work_on_it_ends_the_row(start, load_board):
    for _ in range(5):
        start(Sampler, RESET)
    load_board()
    sys.modules["starts"].stay()
    assert "asked for" in start(Sampler, RESET)
    assert not any(start(Sampler, RESET) for _ in range(5))


def test_boots_are_counted(load_board):
    load_board()
    starts = sys.modules["starts"]
    assert [starts.count_boot(power=False) for _ in range(3)] == [(1, 0), (2, 0), (3, 0)]
    Path("boots").write_text("torn", "utf-8")
    assert starts.count_boot(power=False) == (1, 0)
    Path("boots").write_text("17", "utf-8")  # as firmware 0.1 wrote it
    assert starts.count_boot(power=True) == (18, 1)


def test_mpremote_gets_in(board, chips):
    chips.inputs += b"\x05\r\x03\x11\x01\x00"
    board.read()
    assert not chips.resets
    chips.inputs += b"\r\x03"
    board.read()
    assert chips.resets == 1
    assert sys.modules["starts"].asked_to_stay()
    assert not sys.modules["starts"].asked_to_stay()
