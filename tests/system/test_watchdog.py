"""What systemd hears of a table: ready when it has stepped, fed while the loop turns, silent when it hangs."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack, closing
from types import SimpleNamespace

import pytest
from service_manager import CONFINED, _manager  # noqa: F401 - a fixture

from pi_controller.board.message_source import NoSource
from pi_controller.errors import JournalError
from pi_controller.host.notify import FEEDS, Notifier, from_environment
from pi_controller.runtime.run import TableDesk, run_loop, service_status


@pytest.fixture
def notifier(manager):
    """Return a maker of notifiers, to the manager unless an address is given; all are closed."""
    with ExitStack() as stack:

        def make(address=manager.path, watchdog_s=0.0):
            return stack.enter_context(closing(Notifier(address, watchdog_s)))

        yield make


def test_watchdog_is_fed_at_its_interval(manager, notifier):
    service, heard = notifier(watchdog_s=10.0), []
    for n in range(3000):  # thirty seconds
        service.feed(n / 100)
        heard += manager.all()  # at once: the kernel keeps few unread (net.unix.max_dgram_qlen, often 10)
    assert heard == ["WATCHDOG=1"] * 3 * FEEDS


def test_unchanged_state_is_sent_once(manager, notifier):
    service, heard = notifier(), []
    for line in ("one", "one", "two"):
        for sends in (service.ready, lambda: service.feed(1.0), lambda line=line: service.status(line)):
            sends()
            heard += manager.all()
    service.stopping()
    assert heard + manager.all() == ["READY=1", "STATUS=one", "STATUS=two", "STOPPING=1"]


def test_failed_notification_is_sent_later(notifier, tmp_path):
    service = notifier(str(tmp_path / "later"), watchdog_s=10.0)
    service.ready()
    service.feed(0.0)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as late:
        late.bind(str(tmp_path / "later"))
        late.settimeout(20)
        service.ready()
        assert late.recv(100) == b"READY=1"
        service.feed(0.01)
        assert late.recv(100) == b"WATCHDOG=1"


def test_an_abstract_socket():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(f"\0moccasin-{os.getpid()}")
        with closing(from_environment({"NOTIFY_SOCKET": f"@moccasin-{os.getpid()}"})) as service:
            service.ready()
            assert end.recv(100) == b"READY=1"


@pytest.mark.parametrize(
    ("told", "feeds"),
    [
        ({"WATCHDOG_USEC": "1000000"}, 1),
        ({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "7"}, 1),
        ({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "8"}, 0),
        ({"WATCHDOG_USEC": "soon"}, 0),
        ({}, 0),
    ],
)
def test_watchdog_is_fed_if_environment_asks(manager, told, feeds):
    with closing(from_environment({"NOTIFY_SOCKET": manager.path, **told}, pid=7)) as service:
        service.feed(1.0)
        assert manager.all() == ["WATCHDOG=1"] * feeds


def test_table_needs_no_writable_executable_memory():
    code = (
        "import mmap, sys, numpy, ctypes\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 3)()\n"
        "assert numpy.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0]).tolist() == [0.5, 0.25]\n"
        "try:\n"
        "    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
        "except PermissionError:\n"
        "    sys.exit(0)\n"
        "sys.exit(77)"
    )
    done = subprocess.run([sys.executable, "-c", CONFINED, "-c", code], check=False, timeout=600)
    if done.returncode == 77:
        pytest.skip("this kernel cannot deny it by prctl (before 6.3)")
    assert done.returncode == 0


class Loop:
    """A daemon, its clock and stop flag: its steps last `lasts` seconds; `heard` is what came until the end of each."""

    source = NoSource()
    idle = True

    def __init__(self, manager, *lasts):
        self.t, self.heard = 0.0, []
        self.table = SimpleNamespace(halted=None, view=None, recovery="")
        self._manager, self._lasts = manager, lasts

    @property
    def requested(self):
        return len(self.heard) == len(self._lasts)

    def clock(self):
        return self.t

    def wait(self, seconds):
        self.t += seconds

    def step(self, t):
        self.t += self._lasts[len(self.heard)]
        self.heard.append(self._manager.all())


def test_a_loop_that_hangs_feeds_no_watchdog(manager, notifier):
    loop, service = Loop(manager, 0.1, 1000.0, 0.1, 0.1), notifier(watchdog_s=10.0)
    run_loop(loop, loop.clock, loop, service, TableDesk(loop, loop.clock, service).serve)
    assert loop.heard == [[], ["READY=1", "WATCHDOG=1", "STATUS=a table without a board"], [], ["WATCHDOG=1"]]
    assert manager.all() == ["STOPPING=1"]


def test_service_status_reveals_no_people_or_hide():
    daemon = SimpleNamespace(source=SimpleNamespace(up=True), table=SimpleNamespace(halted=None, recovery=""))
    assert service_status(daemon) == "the board is connected"
    daemon.source.up = False
    assert service_status(daemon) == "no board is connected; looking for it"
    daemon.table.halted = JournalError("journal /srv/ann/j.sqlite: disk full")
    assert service_status(daemon) == "play is stopped: the journal cannot be written"
