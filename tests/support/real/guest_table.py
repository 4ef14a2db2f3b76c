"""A table in the guest: the installed service on a booted systemd, given settings, asked from outside over its page."""

from __future__ import annotations

import http.client
import json
import re
import time
from typing import TYPE_CHECKING, Any

from virtual_machine import MachineError

if TYPE_CHECKING:
    from virtual_machine import VirtualMachine

INSIDE = 8000
"""The page's port in the guest."""
JOURNAL = "/var/lib/moccasin-mat/table.sqlite"
SETTINGS = """\
[table]
journal = "{journal}"
[game.options]
points = {points}
[board]
port = "{board}"
[buttons]
kind = "{buttons}"
[web]
host = "0.0.0.0"
port = {port}
hosts = ["127.0.0.1"]
judges = true
"""
DROP_IN = """\
[Service]
BindReadOnlyPaths=/run/cpuinfo:/proc/cpuinfo
Environment=BLINKA_FORCEBOARD=RASPBERRY_PI_4B BLINKA_FORCECHIP=BCM2XXX
"""
"""The sandbox has a /proc of its own, where this machine must be a Pi, too."""
START_S = 900.0
"""A start may take so long, on the wall."""
REQUEST_S = 60.0


class RefusedError(RuntimeError):
    """The page answered, and did not say yes: its status and what it said."""

    def __init__(self, status: int, answer: dict[str, Any]) -> None:
        super().__init__(f"{status}: {answer}")
        self.status = status
        self.answer = answer


class Table:
    """The service in a machine that was booted; `port` here is its page's."""

    def __init__(self, machine: VirtualMachine, port: int) -> None:
        self.machine = machine
        self.port = port

    def install(self) -> str:
        """Run `service install` as a host does, with the drop-ins that a pretended Pi needs; return what it printed."""
        folder = "/etc/systemd/system/moccasin-mat.service.d"
        lines = DROP_IN.replace("\n", "\\n")
        self.machine.check(f"mkdir -p {folder}; printf '{lines}' > {folder}/pretended.conf")
        return self.machine.check("moccasin-mat service install --yes", START_S)

    def configure(self, *, board: str = "auto", buttons: str = "pi", points: int = 4) -> None:
        """Give it settings and a new journal, and start it."""
        text = SETTINGS.format(journal=JOURNAL, points=points, board=board, buttons=buttons, port=INSIDE)
        self.machine.check("systemctl stop moccasin-mat", START_S)
        lines = text.replace("\n", "\\n")
        self.machine.check(f"rm -f {JOURNAL}*; printf '{lines}' > /etc/moccasin-mat/table.toml")
        self.machine.check("systemctl start moccasin-mat", START_S)

    def property(self, name: str) -> str:
        """Return what systemd says of the service."""
        return self.machine.check(f"systemctl show moccasin-mat -P {name}")

    def ready_s(self) -> float:
        """Return the guest's seconds from the start of the service's process to READY=1."""
        started = int(self.property("ExecMainStartTimestampMonotonic"))
        return round(self.active_at() - started / 1e6, 2)

    def resident_mb(self) -> float:
        """Return the resident memory of the service's main process, in MB."""
        status = self.machine.check(f"grep VmRSS /proc/{self.property('MainPID')}/status")
        return int(status.split()[1]) / 1000

    def new_judge(self, name: str) -> str:
        """Make a head judge; return the PIN."""
        return made_judge(self.machine, name)

    def active_at(self) -> float:
        """Return when the service last said READY=1, in the guest's seconds since its kernel's start."""
        return int(self.property("ActiveEnterTimestampMonotonic")) / 1e6

    def view(self) -> dict[str, Any]:
        """Return the public view; raises `OSError` or `ValueError` while the page does not answer."""
        return Page(self.port).ask("GET", "/view.json")

    def until(self, **wanted: object) -> dict[str, Any]:
        """Return the first view that has these values."""
        end = time.monotonic() + START_S
        seen: object = None
        while time.monotonic() < end:
            try:
                seen = self.view()
                if all(seen[name] == value for name, value in wanted.items()):
                    return seen
            except (OSError, ValueError, http.client.HTTPException) as error:
                seen = error
            time.sleep(0.5)
        raise MachineError(f"no view with {wanted}; the last: {seen}")


def made_judge(machine: VirtualMachine, name: str, options: str = "") -> str:
    """Make a head judge in the guest's shell; return the PIN."""
    told = machine.check(f"moccasin-mat judges {options} add '{name}' head", START_S)
    found = re.search(rf"{name}: (\d+)", told)
    if found is None:
        raise MachineError(f"no PIN in: {told}")
    return found[1]


class Page:
    """A browser at the page, from outside the guest, which keeps its cookies.

    With `keep_alive` one connection serves all that is asked until `close`, as a browser's does; the guest ends one
    that was idle for some seconds, and that is a broken line like any other.
    """

    def __init__(self, port: int, *, keep_alive: bool = False) -> None:
        self._port = port
        self._keep_alive = keep_alive
        self._line: http.client.HTTPConnection | None = None
        self._cookie = ""

    def close(self) -> None:
        """End the connection; the next question opens another."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def sign_in(self, name: str, pin: str) -> None:
        """Sign in as a judge."""
        self.ask("POST", "/judge/sign-in", {"name": name, "pin": pin})

    def signed_out(self) -> bool:
        """Whether the table no longer knows who this is."""
        try:
            self.ask("GET", "/judge/state.json")
        except RefusedError as refused:
            if refused.status != 401:
                raise
            return True
        return False

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the answer; raises `RefusedError` where it is no 200, and what a broken line raises."""
        headers = {"Cookie": self._cookie} if self._cookie else {}
        if body is not None:
            headers |= {"Origin": f"http://127.0.0.1:{self._port}", "Content-Type": "application/json"}
        if self._line is None:
            self._line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=REQUEST_S)
        kept = False
        try:
            self._line.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self._line.getresponse()
            told = json.loads(answer.read())
            kept = self._keep_alive
        finally:
            if not kept:
                self.close()
        if cookies := answer.headers.get_all("Set-Cookie"):
            self._cookie = "; ".join(cookie.split(";")[0] for cookie in cookies)
        if answer.status != 200:
            raise RefusedError(answer.status, told)
        return told
