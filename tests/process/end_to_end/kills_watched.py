"""Kill `moccasin-mat run` (SIGKILL) again and again while viewers watch and judges command it; nothing said is lost.

python tests/process/end_to_end/kills_watched.py --kills 100 [--viewers 200] [--seed 0]

After each kill the journal holds every command that was acknowledged, once, and nothing that nobody sent; what was not
answered is sent again with its own key and counts once. The viewers come back with the last id they saw (sooner than a
browser would), and all end with the picture that the table shows.
"""

import argparse
import asyncio
import contextlib
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from ports import free_port

from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import CommandIssued
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.users import FILE, Users

SETTINGS = """
[table]
journal = "{folder}/j.sqlite"
[board]
port = "none"
[web]
port = {port}
judges = true
"""
JUDGES = ("Ann", "Bo")
PIN = "271828"
UP_S = 60.0
"""How long a start may take, on a machine that has other things to do."""
BACK_S = (0.05, 0.5)
"""How soon a viewer comes back."""
PACE_S = (0.11, 0.3)
"""Between a judge's commands: fewer than the ten a second that are taken."""
_ID = re.compile(rb"^id: (\d+)-(\w+)$", re.MULTILINE)


class LostError(AssertionError):
    """Something was lost, or counted twice."""


class Site:
    """The table's process, and how it is asked."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.port = free_port()
        (folder / "settings.toml").write_text(SETTINGS.format(folder=folder, port=self.port), "utf-8")
        pins = PinHasher(passes=1, kib=64)
        with closing(Users(folder / FILE)) as people:
            for name in JUDGES:
                people.add(name, "head", pins.hash(PIN))
        self.started_s: list[float] = []
        self.start()

    def start(self):
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pi_controller", "run", "--settings", str(self.folder / "settings.toml")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    async def up(self):
        """Return once pages are answered."""
        begun = time.monotonic()
        while time.monotonic() - begun < UP_S:
            with contextlib.suppress(OSError, ValueError):
                if (await self.ask("GET", "/healthz"))[0] == 200:
                    self.started_s.append(time.monotonic() - begun)
                    return
            if self.process.poll() is not None:
                raise LostError(f"the table did not start: {(self.folder / 'log').read_text()[-500:]}")
            await asyncio.sleep(0.02)
        raise LostError("the table did not come up")

    async def open(self, method, path, *headers, body=b""):
        """Send a request; return the streams. HTTP/1.0, so that an answer ends with its connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        host = f"127.0.0.1:{self.port}"
        head = [f"{method} {path} HTTP/1.0", f"Host: {host}", *headers]
        if method == "POST":
            head += [f"Origin: http://{host}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        return reader, writer

    async def ask(self, method, path, *headers, body=None):
        """Return the status, the headers and what was answered. Raises `OSError` or `ValueError` when it breaks off."""
        reader, writer = await self.open(method, path, *headers, body=json.dumps(body).encode() if body else b"")
        with closing(writer):
            head, _, told = (await reader.read()).partition(b"\r\n\r\n")
        if not told or b"content-length: %d\r\n" % len(told) not in head.lower() + b"\r\n":
            raise ValueError("the answer breaks off")
        return int(head.split(b" ", 2)[1]), head, json.loads(told)

    def written(self):
        """Return the journal's (seq, batch, fact) as any onlooker reads them, each hash checked."""
        with Journal(self.folder / "j.sqlite", read_only=True) as journal:
            return list(journal.records())


class Viewer:
    """Watches the live page's stream, and comes back with the last id when the line is dead."""

    def __init__(self, site: Site, rng: random.Random):
        self.site, self.rng = site, rng
        self.view: object = None
        self.id = b""
        self.came_back = 0
        self.most = 0

    async def watch(self):
        while True:
            with contextlib.suppress(OSError, EOFError):
                last = [f"Last-Event-ID: {self.id.decode()}"] if self.id else []
                reader, writer = await self.site.open("GET", "/events", *last)
                with closing(writer):
                    await reader.readuntil(b"\r\n\r\n")
                    self.came_back += bool(last)
                    while True:
                        self._take(await reader.readuntil(b"\n\n"))
            await asyncio.sleep(self.rng.uniform(*BACK_S))

    def _take(self, event: bytes):
        found = _ID.search(event)
        if found is None:
            return
        self.id = found[0][4:]
        self.most = max(self.most, int(found[1]))
        line = next(line for line in event.splitlines() if line.startswith(b"data: "))
        self.view = json.loads(line[6:])["view"]


class Judge:
    """Says what is legal, or takes it back; keeps what was acknowledged. An answer that does not come is asked for."""

    def __init__(self, site: Site, name: str, rng: random.Random):
        self.site, self.name, self.rng = site, name, rng
        self.acked: dict[str, int] = {}
        self.refused: Counter[str] = Counter()
        self.again = self.again_done = 0
        self.waits: str = ""
        self.said: set[str] = set()
        self._cookie = ""
        self._n = 0

    async def sign_in(self):
        told = await self.site.ask("POST", "/judge/sign-in", body={"name": self.name, "pin": PIN})
        if told[0] != 200:
            raise LostError(f"{self.name} cannot sign in: {told[2]}")
        found = re.search(rb"set-cookie: (mat_session=[^;]+)", told[1], re.IGNORECASE)
        self._cookie = f"Cookie: {found[1].decode()}"

    async def judge(self, stop: asyncio.Event):
        while not stop.is_set():
            await asyncio.sleep(self.rng.uniform(*PACE_S))
            try:
                _, _, state = await self.site.ask("GET", "/judge/state.json", self._cookie)
            except (OSError, ValueError):
                continue
            if "view" not in state:
                raise LostError(f"{self.name} is signed in no longer: {state}")
            await self._say(self._call(state), state["view"]["revision"])

    def _call(self, state):
        if state["view"]["phase"] == "over" or self.rng.random() < 0.08:
            return {"judge": "undo", "reason": "to be seen again"}
        if state["view"]["phase"] in ("hide", "show", "check") and self.rng.random() < 0.7:
            return {"judge": "hidden"}
        return {"judge": "action", "action": self.rng.choice(state["legal"])}

    async def _say(self, call, expect):
        self._n += 1
        key = f"{self.name}-{self._n:06}"
        self.said.add(key)
        sent = {"key": key, "expect": expect, "call": call}
        self.waits, tries = key, 0
        while True:
            try:
                status, _, told = await self.site.ask("POST", "/judge/command", self._cookie, body=sent)
                break
            except (OSError, ValueError):
                tries += 1
                await asyncio.sleep(0.05)
        self.waits = ""
        self.again += tries > 0
        if status == 200:
            if key in self.acked or (told["repeated"] and not tries):
                raise LostError(f"{key} is told as done twice")
            self.again_done += told["repeated"]
            self.acked[key] = told["seq"]
        else:
            self.refused[told["error"]["code"]] += 1


class Run:
    """The table, its viewers and judges; `kill` at a moment, look at what is left, and start again."""

    def __init__(self, site: Site, viewers: int, seed: int):
        self.site, self.rng = site, random.Random(seed)
        self.viewers = [Viewer(site, random.Random(self.rng.random())) for _ in range(viewers)]
        self.judges = [Judge(site, name, random.Random(self.rng.random())) for name in JUDGES]
        self.kills = self.in_flight = 0
        self._before: list[object] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def play(self, kills: int):
        await self.site.up()
        for judge in self.judges:
            await judge.sign_in()
        stop = asyncio.Event()
        watching = [asyncio.create_task(viewer.watch()) for viewer in self.viewers]
        judging = [asyncio.create_task(judge.judge(stop)) for judge in self.judges]
        self._tasks = [*watching, *judging]
        try:
            for _ in range(kills):
                await self._moment()
                self.site.kill()
                self.kills += 1
                self._look()
                self.site.start()
                await self.site.up()
            await self._watched()
            await self._played()
            stop.set()
            await asyncio.gather(*judging)
            self._look()
            await self._all_see_the_same(watching)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.site.kill()

    async def _moment(self):
        """Wait for play and for a while; every other time on until a command is under way, and some milliseconds."""
        await self._watched()
        await self._played()
        await asyncio.sleep(self.rng.uniform(0.0, 1.0))
        if self.rng.random() < 0.5:
            for _ in range(400):
                if any(judge.waits for judge in self.judges):
                    break
                await asyncio.sleep(0.001)
            await asyncio.sleep(self.rng.uniform(0.0, 0.012))

    async def _watched(self):
        """Return once each viewer has come back after the last kill, and has a picture to come back with."""
        async with asyncio.timeout(UP_S):
            while any(viewer.came_back < self.kills or not viewer.id for viewer in self.viewers):
                self._fail(self._tasks)
                await asyncio.sleep(0.01)

    async def _played(self):
        """Return once each judge has been acknowledged something more."""
        before = [len(judge.acked) for judge in self.judges]
        async with asyncio.timeout(UP_S):
            while any(len(judge.acked) <= n for judge, n in zip(self.judges, before, strict=True)):
                self._fail(self._tasks)
                await asyncio.sleep(0.01)

    @staticmethod
    def _fail(tasks):
        """Raise what one of `tasks` has raised."""
        for task in tasks:
            if task.done():
                task.result()

    def _look(self):
        """Compare the journal with what was acknowledged, shown and sent."""
        written = self.site.written()
        if written[: len(self._before)] != self._before:
            raise LostError("what was written is not what it was before")
        self._before = written
        keys = Counter(fact.key for _, _, fact in written if isinstance(fact, CommandIssued))
        at = {fact.key: seq for seq, _, fact in written if isinstance(fact, CommandIssued)}
        acked = {key: seq for judge in self.judges for key, seq in judge.acked.items()}
        waits = {judge.waits for judge in self.judges} - {""}
        self.in_flight += len(waits)
        said = {key for judge in self.judges for key in judge.said}
        if twice := [key for key, n in keys.items() if n > 1]:
            raise LostError(f"written twice: {twice}")
        if lost := set(acked) - set(keys):
            raise LostError(f"acknowledged and lost: {sorted(lost)}")
        if strange := set(keys) - set(acked) - waits:
            raise LostError(f"written and refused, or never sent: {sorted(strange)}, of {len(said)} sent")
        if late := [key for key, seq in acked.items() if seq and seq < at[key]]:
            raise LostError(f"acknowledged before they were written: {late}")
        if (shown := max((viewer.most for viewer in self.viewers), default=0)) > len(written):
            raise LostError(f"record {shown} was shown, and {len(written)} are written")

    async def _all_see_the_same(self, watching):
        async with asyncio.timeout(UP_S):
            while True:
                _, _, view = await self.site.ask("GET", "/view.json")
                if all(viewer.view == view for viewer in self.viewers):
                    return
                self._fail(watching)
                await asyncio.sleep(0.1)

    def figures(self) -> str:
        """Return what happened."""
        acked = sum(len(judge.acked) for judge in self.judges)
        refused = sum((judge.refused for judge in self.judges), Counter())
        again, done = (sum(getattr(judge, name) for judge in self.judges) for name in ("again", "again_done"))
        back = [viewer.came_back for viewer in self.viewers]
        starts = sorted(self.site.started_s)
        return "\n".join(
            (
                f"{self.kills} kills, {self.in_flight} commands under way in them",
                f"{acked} commands acknowledged, each in the journal once; {len(self._before)} records",
                f"{again} commands sent again, {done} of them told as done already",
                f"refused: {', '.join(f'{n} {code}' for code, n in refused.most_common()) or 'none'}",
                f"{len(back)} viewers came back {sum(back)} times; all show the table's last picture",
                f"up again after {starts[len(starts) // 2]:.1f} s (median), {starts[-1]:.1f} s at most",
            )
        )


def play(folder: Path, kills: int, viewers: int, seed: int = 0) -> Run:
    """Play on a journal in `folder` through `kills` kills. Raises `LostError`."""
    run = Run(Site(folder), viewers, seed)
    try:
        asyncio.run(run.play(kills))
    finally:
        run.site.kill()
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(play(Path(folder), args.kills, args.viewers, args.seed).figures())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
