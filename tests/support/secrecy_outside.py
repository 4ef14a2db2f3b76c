"""The program that people start, `cli.tables.run`, on virtual time before a simulated mat, watched from all sides.

Only its edges are other: the clock, the finger on the button, the socket under the web application, the dice. What is
between the firmware's bytes and those edges is what runs at a table.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import logging
import os
import queue
import secrets
import shutil
import signal
import sqlite3
import stat
import sys
import traceback
import types
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import msgspec
import numpy as np
from cable import Cable
from secrecy_browsing import Browsing
from secrecy_channels import ROLES, Told, kinds
from secrecy_venue import Venue

import pi_controller.web.app as web_app
import pi_controller.web.server as web_server
from pi_controller.board import connection
from pi_controller.board.buttons import MockButtons
from pi_controller.board.serial_port import SerialPort
from pi_controller.cli.tables import run as cli_run
from pi_controller.display import voice
from pi_controller.display.sound import Clip
from pi_controller.display.voice import Voice
from pi_controller.host.machine_health import MachineHealth
from pi_controller.host.notify import Notifier
from pi_controller.hub import table_link
from pi_controller.journal import file
from pi_controller.runtime import assembly, run
from pi_controller.runtime.daemon import Daemon
from pi_controller.table.backup import Backup
from pi_controller.web import judge_api
from pi_controller.web.sessions import Sessions
from pi_controller.web.users import FILE, Users

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from pi_controller.referee.judge import JudgeCommand

START = 1_800_000_000.0
"""The table's clock when the mat is laid out, seconds since 1970."""
TICK_S = 0.016
SETTINGS = """
[table]
journal = "{folder}/table/j.sqlite"
[game]
name = "{game}"
{options}
[board]
port = "{folder}/board"
[strips]
kind = "board"
[web]
port = 0
judges = true
[recording]
hits = true
sensors = true
folder = "{folder}/table"
[backup]
folder = "{folder}/stick"
every_s = 1.0
[hub]
address = "127.0.0.1"
table = "t01"
token_file = "{folder}/token"
ca = "{folder}/ca"
[voice]
english = true
{more}
"""


class Outside:
    """A table that plays what `deeds` (t, what is done) say, up to `end` virtual seconds; all that leaves it is `told`.

    `folder` is the same for all tables that are compared. `kills` are the moments at which the program is killed and
    started anew, half a second later, on what was on disk.
    """

    def __init__(self, folder: Path, game: str = "dakota", options: str = "", more: str = "", *, seed: int = 5):
        self.folder = folder
        self.settings = folder / "settings.toml"
        for name in ("table", "stick"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir(parents=True)
        filled = SETTINGS.format(folder=folder, game=game, options=options, more=more)
        self.settings.write_text(filled, "utf-8")
        self.told = Told()
        self.mat = Cable(seed)
        self.world = self.mat.world
        board = folder / "board"
        board.unlink(missing_ok=True)
        board.symlink_to(self.mat.device)
        self.daemon: Daemon
        self.buttons: MockButtons
        self.web: Browsing | None = None
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._voice: Voice | None = None
        self._n = self._sent = 0
        self._dead = False
        self._dice = itertools.count()
        self._keys = itertools.count()
        self._sizes: dict[str, tuple[int, int]] = {}
        self.venue = Venue(
            folder.with_name(f"{folder.name}.hub.sqlite"),
            lambda: self.t,
            functools.partial(self.say, "report"),
            self._answered,
        )
        self._link: asyncio.Task[None]
        self._rows = self._hits = self._copied = 0
        with (
            closing(Users(folder / "table" / FILE)) as users,
            mock.patch.object(secrets, "token_bytes", self._token),
        ):
            sessions = Sessions(users)
            self.cookies = {role: sessions.begin(users.add(role, role, "-" * 97), START) for role in ROLES}
            self.venue.start_hub()

    @property
    def t(self) -> float:
        """The table's clock."""
        return START + self.world.t

    def play(self, deeds, end: float, kills=()) -> Told:
        """Play to `end`; return all that left."""
        self._deeds = sorted(deeds, key=lambda deed: deed[0])
        self._play(kills, end)
        self.mat.close()
        return self.told

    def _play(self, kills, end):
        for until in (*kills, end):
            self._end, self._kill, self._dead = until, until != end, False
            with self._edges():
                try:
                    cli_run(["--settings", str(self.settings)])
                except Exception:  # noqa: BLE001 - whatever it is, a traceback is what is left
                    self.say("crash", traceback.format_exc())
                    break
            if until != end:
                shutil.rmtree(self.folder / "table")
                (self.folder / "killed").rename(self.folder / "table")
                for _ in range(30):
                    self._act()
                    self.venue.turn()
                    self.mat.advance(TICK_S)
        self.venue.close()

    def say(self, channel: str, *what: object) -> None:
        """Something leaves the table now."""
        if not self._dead:
            self.told.say(self.world.t, channel, *what)

    def _answered(self, table, content):
        self.told.say(self.world.t, "hub", table, content)  # it is there while the table is not

    def judge(self, call: JudgeCommand | dict[str, Any], role: str = "head") -> None:
        """Somebody at the console says `call`, as the page sends it."""
        said = msgspec.to_builtins(call) if isinstance(call, msgspec.Struct) else dict(call)
        said.pop("t", None)
        body = msgspec.json.encode({"key": f"said-{next(self._keys):06}", "expect": None, "call": said})
        assert self.web is not None
        self.web.post("/judge/command", body, self.cookies[role])

    # the edges

    def _edges(self):
        stack = contextlib.ExitStack()
        put = functools.partial(mock.patch.object)
        outside = self

        class InStep(Daemon):
            """The daemon, each step with exactly the bytes that the mat wrote."""

            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                outside.daemon = self

            def step(self, t, at_least=0):
                before = self.sent
                super().step(t, outside._n)
                outside._sent = self.sent - before

            def _light(self, strip, view, t):
                super()._light(strip, view, t)
                outside.say("light", bytes(part for pixel in self._lit for part in pixel))

        class Port(SerialPort):
            def wait(self, seconds):
                outside.tick()

            def write(self, data):
                outside.say("wire", data)
                super().write(data)

        class Server(web_server.WebServer):
            def start(self):
                self.port = 8080
                outside.web = Browsing(outside, self.app)

            def stop(self):
                return

        class Service(Notifier):
            def _send(self, text):
                outside.say("service", text)
                return True

        class Datetime(web_app.datetime):
            @classmethod
            def now(cls, tz=None):
                return cls.fromtimestamp(outside.t, tz)

        def clock():
            return outside.t

        clock.ahead = lambda: 0.0  # nobody sets the machine's clock

        class Stop(run.Stop):
            def wait(self, seconds):
                outside.tick()

        def console(table):
            print(run.help_now(table))
            return outside.lines

        class Copies(Backup):
            """The backup without its thread: it copies in each step."""

            def start(self):
                pass

            def on_step(self, t, table, armed):
                super().on_step(t, table, armed)
                self.step()

        class Hall(table_link.TableLink):
            """The link to the hub without its thread: its loop turns in each step, and the hub's with it."""

            def __init__(self, client, account, name, journal, command_queue):
                super().__init__(client, account, name, journal, clock, command_queue, clock)

            def start(self):
                outside._link = outside.venue.loop.create_task(self.run())

            def on_step(self, t, table, armed):
                super().on_step(t, table, armed)
                outside.venue.turn()

            def close(self):
                super().close()
                outside.venue.turn()

        class Spoken(Voice):
            def start(self):
                outside._voice = self

        class Loudspeaker:
            def __init__(self, device):
                del device

            def play(self, clip, gain):
                outside.say("voice", clip.name, gain)

            def is_playing(self):
                return False

            def stop(self):
                return

        def speak(sentence):
            return Clip(sentence, np.zeros((1, 1), np.float32), 8000)

        stack.enter_context(put(table_link, "make_client", lambda _: self.venue.client()))
        stack.enter_context(put(run, "SteadyClock", lambda: clock))
        stack.enter_context(put(assembly, "Daemon", InStep))
        stack.enter_context(put(connection, "SerialPort", Port))
        stack.enter_context(put(run, "_console", console))
        stack.enter_context(put(assembly, "make_buttons", self._fingers))
        stack.enter_context(put(run, "Stop", Stop))
        stack.enter_context(put(run, "from_environment", Service))
        stack.enter_context(put(assembly, "Journal", functools.partial(assembly.Journal, token=self._token)))
        stack.enter_context(put(secrets, "token_bytes", self._token))
        stack.enter_context(put(web_server, "WebServer", Server))
        stack.enter_context(put(assembly, "Backup", Copies))
        stack.enter_context(put(table_link, "TableLink", Hall))
        stack.enter_context(put(table_link, "read_health", lambda **_: MachineHealth(50.0, False, False, 10**9, 0)))
        stack.enter_context(put(voice, "Voice", Spoken))
        stack.enter_context(put(voice, "AplaySound", Loudspeaker))
        stack.enter_context(put(voice, "speak", speak))
        stack.enter_context(put(voice, "time", types.SimpleNamespace(monotonic=clock)))
        stack.enter_context(put(web_app, "datetime", Datetime))
        stack.enter_context(put(judge_api, "datetime", Datetime))
        stack.enter_context(put(sys, "stdin", _Terminal(self)))
        stack.enter_context(contextlib.redirect_stdout(_Terminal(self)))
        stack.enter_context(contextlib.redirect_stderr(_Terminal(self)))
        heard = _Heard(self)
        root = logging.getLogger()
        level = root.level
        root.addHandler(heard)
        root.setLevel(logging.DEBUG)
        stack.callback(root.setLevel, level)
        stack.callback(root.removeHandler, heard)
        for number in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, number, signal.getsignal(number))
        stack.callback(self._hang_up)
        return stack

    def _token(self, n=32):
        return next(self._dice).to_bytes(n, "big")

    def _fingers(self, *_):
        self.buttons = MockButtons()
        return self.buttons

    # the world

    def tick(self) -> None:
        """All look at what the step brought; then the people act and time goes on."""
        if self.web is not None:
            self.web.look()
        if self._voice is not None:
            self._voice.step()
        self._look_at_files()
        if self.world.t >= self._end:
            if self._kill:
                shutil.copytree(self.folder / "table", self.folder / "killed")
                self._link.cancel()
                self.venue.turn()
                self._dead = True
            signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)
            return
        self._act()
        self._n = self.mat.advance(TICK_S, self._sent)
        self._sent = 0

    def _act(self):
        while self._deeds and self._deeds[0][0] <= self.world.t + 1e-9:
            self._deeds.pop(0)[1](self)

    def _hang_up(self):
        if self.web is not None:
            self.web.close()
        self.web = self._voice = None

    def _look_at_files(self):
        folder = self.folder / "table"
        for name, found in sorted([*_within(str(folder)), *_within(str(self.folder / "stick"))]):
            seen = found.st_mode, found.st_size if stat.S_ISREG(found.st_mode) else 0
            if self._sizes.get(name) == seen:
                continue
            self._sizes[name] = seen
            path = Path(name)
            self.say("file", path.name, oct(seen[0]), seen[1], kinds(path))
            if path.suffix == ".sensors":
                self.say("recording", path.read_bytes())
            if kinds(path) == "copy":
                self._copied = self._say_rows("copy", path, self._copied)
        journal = folder / "j.sqlite"
        if journal.exists() and self.daemon.table.journal.seq > self._rows:
            self._rows = self._say_rows("row", journal, self._rows)
        hits = folder / "j.sqlite.hits"
        if hits.exists():
            with closing(sqlite3.connect(f"{hits.as_uri()}?mode=ro", uri=True)) as db:
                for row in db.execute("SELECT * FROM blocks WHERE id > ? ORDER BY id", (self._hits,)):
                    self._hits = row[0]
                    self.say("hit", *row)

    def _say_rows(self, channel, path, last):
        with closing(file.open_read_only(path)) as db:
            for row in db.execute("SELECT * FROM facts WHERE seq > ? ORDER BY seq", (last,)):
                last = row[0]
                self.say(channel, *row)
        return last


def _within(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield all that lies in `folder` and below, with what the disk knows of it; it is looked at in every step."""
    with os.scandir(folder) as found:
        for one in found:
            yield one.path, one.stat()
            if one.is_dir():
                yield from _within(one.path)


class _Heard(logging.Handler):
    """Every logging record."""

    def __init__(self, outside: Outside):
        super().__init__(logging.DEBUG)
        self._outside = outside

    def emit(self, record):
        self._outside.say("log", record.name, record.levelname, record.getMessage(), record.exc_info)


class _Terminal(io.StringIO):
    """A terminal that is looked at."""

    def __init__(self, outside: Outside):
        super().__init__()
        self._outside = outside

    def isatty(self):
        return True

    def write(self, text):
        self._outside.say("terminal", text)
        return len(text)
