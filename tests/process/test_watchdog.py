"""What systemd hears of a table: ready when it has stepped, fed while the loop turns, silent when it hangs."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from itertools import pairwise
from types import SimpleNamespace

import pytest

from pi_controller.board.connection import NoSource
from pi_controller.errors import JournalError
from pi_controller.runtime.run import Stop, TableDesk, run_loop, service_status
from pi_controller.system.status import Notifier

SETTINGS = """
[table]
name = "Hall"
journal = "{folder}/j.sqlite"
[teams]
a = "Upper"
[board]
port = "none"
[web]
port = 0
"""
CONFINED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
libc.prctl(65, 1, 0, 0, 0)  # PR_SET_MDWE, from Linux 6.3 on
os.umask(0o027)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.fixture
def manager(tmp_path):
    """Return the service manager's end: a socket; `heard(wait_s)` gives the next word, or None."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        path = str(tmp_path / "notify")
        end.bind(path)

        def heard(wait_s=0.0):
            end.settimeout(wait_s)
            try:
                return end.recv(1000).decode()
            except (BlockingIOError, TimeoutError):
                return None

        yield SimpleNamespace(path=path, heard=heard, all=lambda: list(iter(heard, None)))


@pytest.fixture
def notifier(manager):
    """Return a maker of notifiers, to the manager unless an address is given; all are closed."""
    with ExitStack() as stack:

        def make(address=manager.path, watchdog_s=0.0):
            return stack.enter_context(closing(Notifier(address, watchdog_s)))

        yield make


class Table:
    """A daemon whose step can be made to hang."""

    source = NoSource()
    idle = True

    def __init__(self):
        self.table = SimpleNamespace(halted=None, view=None, recovery="")
        self.steps = 0
        self.hang, self.hangs, self.go_on = threading.Event(), threading.Event(), threading.Event()

    def step(self, t, read=True):
        self.steps += 1
        if self.hang.is_set():
            self.hangs.set()
            assert self.go_on.wait(20)


def test_a_loop_that_hangs_feeds_no_watchdog(manager, notifier):
    table, stop, now = Table(), Stop(), [0.0]

    def clock():
        now[0] += 0.1
        return now[0]

    service = notifier(watchdog_s=10.0)
    loop = threading.Thread(target=run_loop, args=(table, clock, stop, service, TableDesk(table, clock, service).serve))
    loop.start()
    assert [manager.heard(20) for _ in range(3)] == ["READY=1", "WATCHDOG=1", "STATUS=a table without a board"]
    assert manager.heard(20) == "WATCHDOG=1"
    table.hang.set()
    assert table.hangs.wait(20)
    manager.all()
    now[0] += 1000.0  # the watchdog's time is long over
    assert manager.heard(0.3) is None
    assert loop.is_alive()
    table.hang.clear()
    table.go_on.set()
    assert manager.heard(20) == "WATCHDOG=1"
    stop.set()
    loop.join(20)
    assert manager.all()[-1] == "STOPPING=1"


def test_service_status_reveals_no_people_or_hide():
    table = Table()
    table.source = SimpleNamespace(up=True)
    assert service_status(table) == "the board is connected"
    table.source.up = False
    assert service_status(table) == "no board is connected; looking for it"
    table.table.halted = JournalError("journal /srv/ann/j.sqlite: disk full")
    assert service_status(table) == "play is stopped: the journal cannot be written"


def test_daemon_notifies_systemd_from_start_to_stop(manager, tmp_path):
    settings = tmp_path / "table.toml"
    settings.write_text(SETTINGS.format(folder=tmp_path), "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", CONFINED, "-m", "pi_controller", "run", "--settings", str(settings)],
        env=os.environ | {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000", "PYTHONFAULTHANDLER": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said = [manager.heard(60)]
        fed = []
        while len(fed) < 12:
            said.append(manager.heard(20))
            if said[-1] == "WATCHDOG=1":
                fed.append(time.monotonic())
        assert said[:3] == ["READY=1", "WATCHDOG=1", "STATUS=a table without a board"]
        assert set(said[3:]) == {"WATCHDOG=1"}
        gaps = sorted(late - early for early, late in pairwise(fed))
        assert gaps[len(gaps) // 2] < 0.2  # half of the watchdog's time; busy machines have late ones
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert manager.all()[-1] == "STOPPING=1"
    finally:
        process.kill()
        process.communicate()
    assert (tmp_path / "j.sqlite").stat().st_mode & 0o777 == 0o640


@pytest.mark.slow
def test_exhibit_feeds_watchdog_and_stop_counts_no_crash(manager, tmp_path):
    settings, kept = tmp_path / "table.toml", tmp_path / ".exhibit-recoveries"
    settings.write_text(f'[web]\nport = 0\n[table]\njournal = "{tmp_path}/j.sqlite"\n', "utf-8")
    command = [sys.executable, "-m", "pi_controller", "exhibit", "--settings", str(settings)]
    environment = os.environ | {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"}
    counts = []
    for ends in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
            try:
                assert [manager.heard(60), manager.heard(20), manager.heard(20)] == ["READY=1", *["WATCHDOG=1"] * 2]
                counts.append(json.loads(kept.read_text())["count"])
                process.send_signal(ends)
                assert process.wait(20) == (-ends if ends == signal.SIGKILL else 0)
            finally:
                process.kill()
        assert ("STOPPING=1" in manager.all()) == (ends != signal.SIGKILL)
    assert counts == [0, 1, 0]
    assert json.loads(kept.read_text())["running"] is False
