"""`moccasin-mat hub run` in a process of its own, which can be killed and started again."""

import socket
import subprocess
import sys

from patience import until

from pi_controller.hub.settings import load_hub

PROGRAM = (sys.executable, "-m", "pi_controller", "hub", "run")


class HubProcess:
    """The hub of the files in `folder`, from `start` to `kill`; `program` is what is started with the folder."""

    def __init__(self, folder, program=PROGRAM):
        self.folder, self._program, self.process = folder, program, None

    @property
    def log(self):
        """Return what it has printed and logged."""
        return (self.folder / "log").read_text()

    @property
    def page(self):
        """Return the address of its public pages."""
        return f"http://127.0.0.1:{load_hub(self.folder).page.port}/"

    def start(self):
        """Start it, and return when it takes reports."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*self._program, self.folder], stdout=log, stderr=log)
        until(self._listens)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        """Stop it as its unit does."""
        self.process.terminate()
        self.process.wait()

    def _listens(self):
        assert self.process.poll() is None, self.log
        try:
            socket.create_connection(("127.0.0.1", load_hub(self.folder).page.https), 1.0).close()
        except OSError:
            return False
        return True
