"""One contract for every port: the real driver on a pseudo-terminal, and the mock."""

import fcntl
import os
import select
import struct
import termios
import threading
import tty

import pytest

from pi_controller.board.mock_port import MockCable
from pi_controller.board.serial_port import SerialPort
from pi_controller.errors import PortError


class PtyRig:
    """A board played on the master side of a pseudo-terminal."""

    def __init__(self):
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.name = os.ttyname(slave)
        self.slave = slave  # kept, or the master reads an error while nobody has the port open
        self.plugged = True
        self.ports = []

    def open(self):
        port = SerialPort(self.name, write_timeout_s=0.1, read_timeout_s=1e6)
        self.ports.append(port)
        return port

    def board_sends(self, data):
        wanted = self._waiting() + os.write(self.master, data)
        # the terminal hands bytes over in its own time
        while self._waiting() < wanted:
            os.sched_yield()

    def _waiting(self):
        return struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, bytes(4)))[0]

    def board_gets(self, n):
        data = b""
        while len(data) < n and select.select([self.master], [], [], 10)[0]:
            data += os.read(self.master, n - len(data))
        return data

    def unplug(self):
        os.close(self.slave)
        os.close(self.master)
        self.plugged = False

    def close(self):
        for port in self.ports:
            port.close()
        if self.plugged:
            self.unplug()


class MockRig:
    """The cable in memory."""

    def __init__(self):
        self.cable = MockCable()
        self.name = self.cable.name

    def open(self):
        return self.cable.open()

    def board_sends(self, data):
        self.cable.board.write(data)

    def board_gets(self, n):
        return self.cable.board.read(n)

    def unplug(self):
        self.cable.unplug()

    def close(self):
        pass


@pytest.fixture(params=[PtyRig, MockRig])
def rig(request):
    rig = request.param()
    yield rig
    rig.close()


def mock_pair(name="mock"):
    """Return the host's and the board's end of a plugged-in cable."""
    cable = MockCable(name)
    return cable.open(), cable.board


EVERY_BYTE = bytes(range(256))


def test_bytes_pass_unchanged_both_ways(rig):
    port = rig.open()
    port.write(EVERY_BYTE)
    assert rig.board_gets(256) == EVERY_BYTE
    rig.board_sends(EVERY_BYTE)
    assert port.read(at_least=256) == EVERY_BYTE


def test_read_without_data_returns_empty(rig):
    port = rig.open()
    assert port.read() == b""
    assert port.read() == b""


def test_one_read_takes_all_that_waits(rig):
    port = rig.open()
    rig.board_sends(b"abc")
    rig.board_sends(b"def")
    assert port.read(at_least=1) == b"abcdef"
    assert port.read() == b""


def test_opening_discards_pending_input(rig):
    rig.open().close()
    rig.board_sends(b"of the last game")
    port = rig.open()
    assert port.read() == b""
    rig.board_sends(b"new")
    assert port.read(at_least=3) == b"new"


def test_second_opener_is_refused_without_disturbing_the_first(rig):
    port = rig.open()
    with pytest.raises(PortError, match="another program is using") as caught:
        rig.open()
    assert "stop it" in caught.value.hint
    rig.board_sends(b"x")
    assert port.read(at_least=1) == b"x"
    port.write(b"y")
    assert rig.board_gets(1) == b"y"


def test_after_closing_another_may_open(rig):
    rig.open().close()
    port = rig.open()
    port.write(b"z")
    assert rig.board_gets(1) == b"z"


def test_a_closed_port_refuses_and_closes_twice(rig):
    port = rig.open()
    port.close()
    port.close()
    with pytest.raises(PortError, match="closed"):
        port.read()
    with pytest.raises(PortError, match="closed"):
        port.write(b"x")


def test_unplugged_before_a_read(rig):
    port = rig.open()
    rig.unplug()
    with pytest.raises(PortError, match="disconnected") as caught:
        port.read()
    assert "cable" in caught.value.hint
    with pytest.raises(PortError, match="closed"):
        port.read()
    with pytest.raises(PortError, match="closed"):
        port.write(b"x")
    port.close()


def test_waiting_ends_with_a_byte_and_takes_none(rig):
    port = rig.open()
    rig.board_sends(b"x")
    port.wait(1e6)
    assert port.read() == b"x"
    port.wait(0.0)
    assert port.read() == b""


def test_wait_on_unplugged_port_still_raises_disconnected(rig):
    port = rig.open()
    rig.unplug()
    with pytest.raises(PortError, match="disconnected"):
        [port.wait(1e6), port.read()]
    with pytest.raises(PortError, match="closed"):
        port.wait(1e6)


def test_unplugged_before_a_write(rig):
    port = rig.open()
    rig.unplug()
    with pytest.raises(PortError, match="disconnected"):
        port.write(b"x")


def test_opening_unplugged_port_is_refused(rig):
    rig.unplug()
    with pytest.raises(PortError, match="there is no board at") as caught:
        rig.open()
    assert "cable" in caught.value.hint


def test_stalled_board_fails_write_and_closes_port(rig):
    port = rig.open()
    with pytest.raises(PortError, match="takes no more data"):
        port.write(bytes(1 << 20))
    with pytest.raises(PortError, match="closed"):
        port.read()


# what only one of them can do


@pytest.fixture
def pty_rig():
    rig = PtyRig()
    yield rig
    rig.close()


def test_unplugged_in_the_middle_of_a_read(pty_rig):
    port = pty_rig.open()
    pty_rig.board_sends(b"half a fr")
    caught = []

    def wait():
        try:
            port.read(at_least=20)
        except PortError as error:
            caught.append(error.message)

    reader = threading.Thread(target=wait, daemon=True)
    reader.start()
    pty_rig.unplug()
    reader.join()  # or the test's own timeout ends it, long before that of the read
    assert caught == [f"the board at {pty_rig.name} is disconnected"]


def test_public_errors_name_no_port(rig):
    port = rig.open()
    told = []
    for fail in (rig.open, rig.unplug, port.read, port.read, rig.open):
        try:
            fail()
        except PortError as error:
            told.append(error)
    assert all(rig.name in error.message for error in told)
    assert [error.public.split(":")[0] for error in told] == [
        "another program is using the board's port",
        "the board is disconnected",
        "the board's port is closed",
        "there is no board at its port",
    ]
    assert not any(rig.name in error.public for error in told)


def test_read_timeout_returns_partial_data(pty_rig):
    port = SerialPort(pty_rig.name, read_timeout_s=0.05)
    pty_rig.ports.append(port)
    pty_rig.board_sends(b"ab")
    assert port.read(at_least=10) == b"ab"


def test_more_than_the_terminal_holds_arrives_whole(pty_rig):
    port = pty_rig.open()
    data = os.urandom(50_000)
    sender = threading.Thread(
        target=lambda: [os.write(pty_rig.master, data[i : i + 1000]) for i in range(0, 50_000, 1000)], daemon=True
    )
    sender.start()
    assert port.read(at_least=50_000) == data
    sender.join()


def test_open_port_sets_dtr_and_avoids_bootloader_baudrate(pty_rig):
    port = pty_rig.open()
    assert port.serial.dtr is True
    assert port.serial.baudrate != 1200


def test_no_permission_names_the_group(tmp_path, monkeypatch):
    # root may open anything, so the system's answer is given by hand
    def refuse(path, flags, *mode):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("serial.serialposix.os.open", refuse)
    with pytest.raises(PortError, match="no permission to open") as caught:
        SerialPort("/dev/ttyACM0")
    assert "dialout" in caught.value.hint


@pytest.mark.parametrize("kind", ["file", "folder", "fifo", "nul"])
def test_path_that_is_no_serial_port_is_refused(tmp_path, kind):
    path = tmp_path / "thing"
    if kind == "file":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path = "/dev/tty\0ACM0"
    with pytest.raises(PortError, match="is not a serial port") as caught:
        SerialPort(str(path))
    assert "auto" in caught.value.hint


def test_the_mock_reads_short():
    host, board = mock_pair()
    host.short_reads = 2
    board.write(b"abcde")
    assert [host.read(), host.read(5), host.read(), host.read()] == [b"ab", b"cd", b"e", b""]


def test_mock_reopened_after_stall_accepts_writes():
    cable = MockCable()
    port = cable.open()
    port.stalled = True
    with pytest.raises(PortError, match="takes no more"):
        port.write(b"x")
    cable.open().write(b"y")
    assert cable.board.read() == b"y"


def test_mock_board_output_without_listener_is_lost():
    cable = MockCable()
    cable.board.write(b"lost")
    port = cable.open()
    assert port.read() == b""
    port.close()
    cable.board.write(b"lost too")
    assert cable.open().read() == b""


def test_the_mock_replugged_is_a_new_board():
    cable = MockCable()
    old, board = cable.open(), cable.board
    board.write(b"under way")
    cable.unplug()
    with pytest.raises(PortError, match="disconnected"):
        board.write(b"x")
    cable.plug()
    new = cable.open()
    with pytest.raises(PortError, match="disconnected"):
        old.read()
    assert new.read() == b""
    cable.board.write(b"hello")
    assert new.read() == b"hello"
