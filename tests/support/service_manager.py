"""The service manager's end of a service's notifications, and Python as its unit has it."""

import socket
from types import SimpleNamespace

import pytest

CONFINED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
libc.prctl(65, 1, 0, 0, 0)  # PR_SET_MDWE, from Linux 6.3 on
os.umask(0o027)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Runs Python as the unit has it: no new privileges, no memory both written and executed, its umask."""


@pytest.fixture(name="manager")
def _manager(tmp_path):
    """Give a socket: its `path`, `heard(wait_s)` for the next word or None, and `all()` that came."""
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
