"""The emulated board, in one process for all tests here; a skip says what is missing."""

import pytest
from emulated_board import EmulatedBoard, NotHereError
from emulated_host import Host


@pytest.fixture(scope="session")
def board():
    """Return an emulated board without power."""
    try:
        board = EmulatedBoard()
    except NotHereError as error:
        pytest.skip(str(error))
    yield board
    board.close()


@pytest.fixture(scope="module")
def host(board):
    """Return a host that talks to a board that was just given power, with the firmware on it."""
    board.power_on()
    host = Host(board)
    host.connect()
    return host
