"""A mat at the far end of this machine's own USB serial device, people at it, and its plug pulled again and again.

    usb_mat.py [--hides 1] [--unplugs 20] [--judge NAME PIN]

For root inside the guest. Firmware and people are the project's own simulation, in this machine's real time. Its bytes
go by /dev/ttyGS0 through dummy_hcd and cdc_acm to whatever reads /dev/ttyACM0, buttons are pressed on gpio-sim's lines,
the judge answers by HTTP, and what the table shows is read from its page. Each line printed is a JSON object.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import threading
import time
import tty
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from pty_mat import PtyMat

from pi_controller.games.dakota.people import Players
from pi_controller.pinmap import pinmap
from pi_controller.table.view import View

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeCommand

CONTROLLER = Path("/sys/kernel/config/usb_gadget/board/UDC")
FAR_END = "/dev/ttyGS0"
BY_ID = Path("/dev/serial/by-id")
HEADER = Path("/run/header")
PORT = 8000
STEP_S = 0.008
PLUGGED_S, UNPLUGGED_S = 1.0, 1.0
"""How long the cable stays in after the link is back, and out after the loss is seen."""
LIMIT_S = 30.0
"""The link is given up after so long."""


class UsbMat(PtyMat):
    """The simulated board behind a real CDC ACM device."""

    def _open(self) -> None:
        CONTROLLER.write_text("dummy_udc.0")
        end = time.monotonic() + 10
        while True:
            try:
                self._master = os.open(FAR_END, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)
        tty.setraw(self._master)
        self._slave = os.dup(self._master)

    def unplug(self) -> None:
        """Take the board off the bus: the host's device goes, as with a cable that is pulled."""
        assert self._master is not None
        assert self._slave is not None
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = None
        CONTROLLER.write_text("\n")
        self._outbox.clear()

    def _receive(self, expect: int) -> None:
        with suppress(OSError):  # no host has the port open
            super()._receive(expect)

    def _flush(self) -> int:
        try:
            return super()._flush()
        except OSError:
            self._outbox.clear()
            return 0


def by_id() -> str:
    """Return the name that udev gave the board's port, "" for none."""
    return str(next(BY_ID.glob("*"), ""))


class Watcher(threading.Thread):
    """Keeps the newest view that the page gives; None while it gives none."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.view: View | None = None

    def run(self) -> None:
        """Ask again and again."""
        while True:
            try:
                page = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
                while True:
                    page.request("GET", "/view.json")
                    self.view = msgspec.json.decode(page.getresponse().read(), type=View)
                    time.sleep(0.05)
            except (OSError, http.client.HTTPException, msgspec.MsgspecError):
                self.view = None
                time.sleep(0.2)


class Judge:
    """Gives the console what simulated people ask of a judge."""

    def __init__(self, name: str, pin: str) -> None:
        self._who = {"name": name, "pin": pin}
        self._cookie = ""
        self._given = 0

    def __call__(self, call: JudgeCommand) -> None:
        """Send one call; what comes of it is printed."""
        if not self._cookie:
            self._ask("POST", "/judge/sign-in", self._who)
        _, state = self._ask("GET", "/judge/state.json")
        self._given += 1
        fields = msgspec.to_builtins(call)
        fields.pop("t", None)
        command = {"key": f"judge-{os.getpid()}-{self._given}", "expect": state["view"]["stand"], "call": fields}
        status, answer = self._ask("POST", "/judge/command", command)
        show(judge=fields, status=status, answer=answer if status != 200 else "taken")

    def _ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        page = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
        headers = {"Cookie": self._cookie} if self._cookie else {}
        if body is not None:
            headers |= {"Origin": f"http://127.0.0.1:{PORT}", "Content-Type": "application/json"}
        page.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = page.getresponse()
        if cookies := answer.headers.get_all("Set-Cookie"):
            self._cookie = "; ".join(cookie.split(";")[0] for cookie in cookies)
        return answer.status, json.loads(answer.read())


class RealTime:
    """Runs the mat at the pace of this machine's clock; where the machine falls behind, the mat's world waits."""

    def __init__(self, mat: UsbMat) -> None:
        self.mat = mat
        self.t = 0.0
        self.waited = 0.0
        """Seconds that the world stood still in all."""
        self._begun = time.monotonic()

    def step(self) -> None:
        """Let one block's time pass."""
        self.mat.advance(STEP_S)
        self.t += STEP_S
        ahead = self.t - (time.monotonic() - self._begun)
        if ahead > 0:
            time.sleep(ahead)
        elif ahead < -0.5:
            self._begun -= ahead
            self.waited -= ahead


def press(name: str) -> None:
    """Hold a button's line down for a tenth of a second."""
    pull = HEADER / f"sim_gpio{pinmap().pi.buttons[name]}" / "pull"

    def hold() -> None:
        pull.write_text("pull-down")
        time.sleep(0.12)
        pull.write_text("pull-up")

    threading.Thread(target=hold, daemon=True).start()
    show(press=name)


def show(**what: object) -> None:
    """Print a line for the program that reads it."""
    print(json.dumps(what), flush=True)


def until(pace: RealTime, watcher: Watcher, *, link: bool) -> float:
    """Return the seconds until the page shows the link so; `LIMIT_S` where it never does."""
    begun = time.monotonic()
    while (took := time.monotonic() - begun) < LIMIT_S:
        pace.step()
        if (view := watcher.view) is not None and view.link is link:
            return took
    return LIMIT_S


def stay(pace: RealTime, seconds: float) -> None:
    """Let so much time pass."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pace.step()


def play(pace: RealTime, watcher: Watcher, judge: Judge, hides: int) -> None:
    """Have people play so many hides."""
    people = Players(1, pace.mat.world, press, judge)
    shown = -1
    while True:
        people.act(pace.t)
        pace.step()
        if (view := watcher.view) is None:
            continue
        people.watch(view)
        if view.seq != shown:
            shown = view.seq
            show(seq=shown, phase=view.phase, hide=view.hide, link=view.link, t=round(pace.t, 2))
        if view.hide is not None and view.hide > hides:
            return


def main() -> None:
    """Play, then unplug; print what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hides", type=int, default=0)
    parser.add_argument("--unplugs", type=int, default=0)
    parser.add_argument("--judge", nargs=2, metavar=("NAME", "PIN"), default=("", ""))
    args = parser.parse_args()
    watcher = Watcher()
    watcher.start()
    with UsbMat(1) as mat:
        pace = RealTime(mat)
        show(first_link_s=round(until(pace, watcher, link=True), 3), name=by_id())
        if args.hides:
            play(pace, watcher, Judge(*args.judge), args.hides)
        for number in range(args.unplugs):
            stay(pace, PLUGGED_S)
            mat.unplug()
            lost = until(pace, watcher, link=False)
            stay(pace, UNPLUGGED_S)
            mat.plug()
            back = until(pace, watcher, link=True)
            show(unplug=number, lost_s=round(lost, 3), back_s=round(back, 3), name=by_id())
        show(done=round(pace.t, 1), world_waited_s=round(pace.waited, 2), frames_dropped=mat.dropped)


if __name__ == "__main__":
    main()
