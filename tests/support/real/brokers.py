"""A real Mosquitto as `hub setup` makes it, on a free port."""

import socket
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

from linked_table import VENUE
from mosquitto import MOSQUITTO
from pi_controller.hub.mqtt import Broker, Will, make_client
from ports import free_port

from pi_controller.hub.messages import State, topic
from pi_controller.hub.settings import FILE
from pi_controller.hub.setup import CA, CONF, PASSWORD, TABLES, write_hub_files

PATIENCE_S = 60.0
"""A deadline for what takes a second on an idle machine."""


class Mosquitto:
    """The broker that `hub setup` configured in `folder` for these tables; it can be killed and started again."""

    def __init__(self, folder: Path, tables):
        self.folder = folder
        self.port = free_port()
        write_hub_files(folder, VENUE, tables, ["127.0.0.1", "localhost"], self.port, datetime.now(UTC))
        self.process = None

    @classmethod
    def of_files(cls, folder: Path, port):
        """Return the broker of files that were written before."""
        made = cls.__new__(cls)
        made.folder, made.port, made.process = folder, port, None
        return made

    def start(self):
        assert MOSQUITTO
        log = (self.folder / "log").open("ab")
        with log:
            self.process = subprocess.Popen([MOSQUITTO, "-c", self.folder / CONF], stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE_S
        while True:
            assert self.process.poll() is None, (self.folder / "log").read_text()
            try:
                socket.create_connection(("127.0.0.1", self.port), 1.0).close()
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.02)
            else:
                return self

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def account(self, name):
        """Return how `name` signs in."""
        return account(self.folder, self.port, name)

    def hub_settings(self, database=None):
        """Have `hub run` in this folder take any port for its pages, and keep what comes in `database`."""
        with (self.folder / FILE).open("a") as settings:
            settings.write("[page]\nport = 0\nhttps = 0\n")
            if database is not None:
                settings.write(f'[store]\ndatabase = "{database}"\n')


def account(folder, port, name):
    """Return how `name` signs in at the broker that was set up in `folder`."""
    own = folder / f"{name}.password"
    path = own if own.is_file() else folder / TABLES / name / PASSWORD
    return Broker("127.0.0.1", port, name, path.read_text().strip(), folder / CA)


def client(broker, name):
    """Return a plain client of the broker, as the account `name`."""
    return make_client(broker.account(name), Will(topic(VENUE, name, "state"), State("lost", "x")))
