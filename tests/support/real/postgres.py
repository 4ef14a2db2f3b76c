"""A real PostgreSQL for tests: its own cluster in a folder of its own, on a socket there, that can be killed."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
BIN = INSTALLED[-1] if INSTALLED else None


class Postgres:
    """Runs from `start` to `stop`; `url` is its one account's."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mat-pg-", dir="/tmp"))
        self._user = "postgres" if os.getuid() == 0 else getpass.getuser()  # it refuses to run as root
        if os.getuid() == 0:
            shutil.chown(self.folder, self._user, self._user)
        self._server = None
        self._run("initdb", "-D", self.folder / "data", "-U", "hub", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")

    @property
    def url(self):
        return f"postgresql://hub@/postgres?host={self.folder}"

    @property
    def pids(self):
        """The processes of it that run."""
        return [self._server.pid, *children(self._server.pid)]

    def start(self):
        """Start it, and return when it answers."""
        command = [BIN / "postgres", "-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses="]
        log = (self.folder / "log").open("ab")
        self._server = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, **self._as_user)
        log.close()
        while True:
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                assert self._server.poll() is None, (self.folder / "log").read_text()
            else:
                return

    def kill(self):
        """Kill all its processes at once, as a power cut would."""
        os.kill(self._server.pid, signal.SIGSTOP)  # it starts no more
        # each has a session of its own, and would answer once more before it misses the one that is killed
        for each in self.pids:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self._server.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def close(self):
        """Stop it and remove its folder."""
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(signal.SIGINT)  # its fast shutdown
            self._server.wait(60)
        shutil.rmtree(self.folder)

    @property
    def _as_user(self):
        return {"user": self._user, "group": self._user, "extra_groups": []} if os.getuid() == 0 else {}

    def _run(self, name, *arguments):
        subprocess.run([BIN / name, *arguments], check=True, capture_output=True, cwd=self.folder, **self._as_user)


def children(pid):
    """Return the processes whose parent is `pid`."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            if int(stat.read_text("latin-1").rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


@contextmanager
def server_of(store):
    """Yield a server that runs where `store` is "postgresql", else None."""
    if store != "postgresql":
        yield None
        return
    with closing(Postgres()) as server:
        server.start()
        yield server
