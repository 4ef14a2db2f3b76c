"""The service manager's end of a service's notifications."""

import socket
from contextlib import contextmanager
from types import SimpleNamespace


@contextmanager
def service_manager(folder):
    """Give a socket in `folder`: its `path`, `heard(wait_s)` for the next word or None, and `all()` that came."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        path = str(folder / "notify")
        end.bind(path)

        def heard(wait_s=0.0):
            end.settimeout(wait_s)
            try:
                return end.recv(1000).decode()
            except (BlockingIOError, TimeoutError):
                return None

        yield SimpleNamespace(path=path, heard=heard, all=lambda: list(iter(heard, None)))
