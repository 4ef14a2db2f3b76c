"""Why a board starts, and how: power, its RUN button, the watchdog's bite, a program that fails, files to be copied."""

import pytest
from emulated_board import firmware

from pi_controller.board.messages import LinkUp
from pi_controller.tools.probe import INTERRUPT

pytestmark = pytest.mark.emulated

FAILING = b"""
class Sampler:
    def __init__(self, board):
        raise ValueError("made to fail")
"""


def starts(host):
    return [(one.boot_count, one.boot_reason) for one in host.messages if isinstance(one, LinkUp)]


def again(host):
    host.session.report_port_loss(host.t, "gone")
    host.connect()
    return starts(host)[-1]


def test_watchdog_resets_a_hung_loop(host):
    host.board.change("hang")
    began = host.t
    while host.board.state()["starts"] == 1:
        host.go(0.1)
    assert 1.8 < host.t - began < 2.2
    assert again(host) == (2, "watchdog")


@pytest.mark.slow
def test_run_button_counts_as_reset_without_brown_out(host):
    before = starts(host)[-1][0]
    for number in (before + 1, before + 2):
        host.board.change("run_pin")
        assert again(host) == (number, "reset")
    assert ("brown-out", 0) not in host.events()


@pytest.mark.slow
def test_reset_after_copying_at_prompt_is_a_restart(host):
    board = host.board
    starts_before, (boots, _) = board.state()["starts"], starts(host)[-1]
    got = board.until(b">>> ", send=b"\0" + INTERRUPT)
    assert b"Programming: the mat does not run (asked for)" in got
    assert "board.py" in board.python("import os; print(os.listdir())")
    board.run(3e6)
    assert board.state()["starts"] == starts_before + 1, "no watchdog runs there"
    board.run(1e5, b"\x02import machine; machine.reset()\r\n")
    assert again(host) == (boots + 1, "restart"), "a start at the prompt is none of the mat's"


@pytest.mark.slow
def test_program_failing_at_once_prompts_after_five_starts(board):
    board.power_on(firmware() | {"sampler.py": FAILING})
    board.change("open", True)
    got = board.until(b">>> ", 30e6)
    assert b"the mat's program failed again and again, see fault.txt" in got
    assert board.state()["starts"] == 6
    files = board.files()
    assert b"ValueError: made to fail" in files["fault.txt"]
    assert files["boots"].split()[0] == b"5"
    assert "fault.txt" in board.python("import os; print(os.listdir())")
    board.change("power")
    board.run(2e6)
    assert board.state()["starts"] >= 8, "power lets it try again"
