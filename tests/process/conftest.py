import io

import pty_board
import pytest
from feed_fixtures import _feed, _server  # noqa: F401 - fixtures
from needed import need
from rich.console import Console
from sound_fixtures import _clip, program, record  # noqa: F401 - fixtures

from pi_controller.tools import board_flasher
from pi_controller.tools import flash as flash_board
from pi_controller.tools.board_flasher import BoardFlasher


@pytest.fixture(scope="session")
def webassembly():
    """Return how MicroPython's WebAssembly build is started."""
    try:
        return pty_board.micropython._webassembly()
    except pty_board.micropython.NoMicroPythonError as error:
        return need(None, f"no MicroPython: {error}")


@pytest.fixture
def plug(tmp_path, webassembly):
    """Return a function that plugs in a board: `plug(holds=firmware, **options of Bench)`."""
    boards = []

    def plugged(holds=None, files=None, **options):
        board = pty_board.Bench(tmp_path, webassembly, **options)
        for name, data in {**(holds.files if holds else {}), **(files or {})}.items():
            (board.flash / name).write_bytes(data)
        boards.append(board)
        return board.plug()

    yield plugged
    for board in boards:
        board.unplug()


@pytest.fixture
def flash(monkeypatch):
    """Return a function that flashes a board and returns the exit status and what was shown.

    The board may take a minute for its first answer: it starts as a process of a machine that is busy.
    """
    monkeypatch.setattr(board_flasher, "FIRST_ANSWER_S", 60.0)

    def flashed(board, firmware, mode="write", **options):
        shown = io.StringIO()
        console = Console(file=shown, width=100, highlight=False)
        try:
            status = flash_board.flash(
                BoardFlasher(str(board.link), limit_s=15, answer_s=0.2), firmware, console, mode, **options
            )
        finally:
            flashed.shown = shown.getvalue()
        return status, shown.getvalue()

    return flashed
