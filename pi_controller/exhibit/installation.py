"""An exhibit as the table of a `Daemon`: touches and mat events go in; views, the page and files come out.

The daemon reads the mat and the buttons and drives the lights, as at any table; its view is that of the game on the
screen. After too many restarts in one boot the installation shows a plain notice and opens no game (`CrashCounter`).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path

from pi_controller.board.messages import LinkUp, Message
from pi_controller.calibration.sensor_listener import SensorListener
from pi_controller.config import Settings
from pi_controller.config.request import saver
from pi_controller.display.i18n import translator
from pi_controller.display.sound import AplaySound
from pi_controller.display.voice import Voice, make_voice
from pi_controller.exhibit.crash_count import CrashCounter
from pi_controller.exhibit.exhibit import EndedSession, Exhibit
from pi_controller.exhibit.health import MachineWatch
from pi_controller.exhibit.host_files import OWN_TEXTS, HostFiles
from pi_controller.exhibit.orders import Order, OrderQueue, ScreenTouch
from pi_controller.exhibit.page_watch import watch_unit
from pi_controller.exhibit.pages import ExhibitPage
from pi_controller.exhibit.screen_power import ScreenPower
from pi_controller.exhibit.self_test import Lines, SelfTest, check_installation
from pi_controller.exhibit.session_games import SessionGames, local_time
from pi_controller.exhibit.spoken import Prompter
from pi_controller.exhibit.staff_desk import StaffDesk, StaffPage
from pi_controller.exhibit.staff_setup import select_settings
from pi_controller.exhibit.stage import IDLE
from pi_controller.exhibit.usage import Usage, usage_path
from pi_controller.host.clock import JumpDetector
from pi_controller.host.machine_health import MachineHealth, is_clock_set, read_health
from pi_controller.host.place import KEY_CHANGES
from pi_controller.host.request import RUNNING, restart_request_path
from pi_controller.sensing.events import MatEvent
from pi_controller.table.stepped_table import SteppedTable
from pi_controller.table.table import Observer
from pi_controller.table.view import View

POLL_S = 5.0
"""Interval between checks of the machine and of the host's files for changes."""


class Installation(SteppedTable, Observer["Installation"]):
    """An `Exhibit` with its page, staff desk and self-test, stepped by a `Daemon`; times are s since 1970.

    `recoveries` are counted unless the visitors are simulated (None); then
    no state is stored either. `wall` is the wall clock, which the network may set while `clock` runs on evenly: opening
    hours follow it (None: `clock`). `read` reads the health of the machine, `clock_set` returns whether its clock was
    set. `sound` is the loudspeaker to test; `examine` yields the doctor's lines for it and the machine. `key_changes`
    is the file that lists changes of the keys on the card. `report` makes the report that the staff can download.
    `file` is the settings file that the staff may change. `stack` closes the installation.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        stack: ExitStack,
        *,
        recoveries: CrashCounter | None,
        wall: Callable[[], float] | None = None,
        read: Callable[[MachineHealth | None], MachineHealth] | None = None,
        report: Callable[[str], bytes] | None = None,
        examine: Callable[[AplaySound], Lines] = lambda _: iter(()),
        file: Path | None = None,
        sound: AplaySound | None = None,
        clock_set: Callable[[float], bool] = is_clock_set,
        key_changes: Path = KEY_CHANGES,
    ) -> None:
        t, section, folder = clock(), settings.exhibit, settings.table.journal.parent
        self.settings, self.recoveries = settings, recoveries
        self.lights_fault: Callable[[], str] = lambda: ""
        """Tells why the LED strip is off; "" if it works or there is none. The code that drives the strip sets it."""
        self._wall, self._clock_set, self.examine = wall, clock_set, examine
        self._set_by = 0.0 if wall is None else wall() - t
        self._jumps = JumpDetector(lambda: self._set_by)
        self.clock_jump: tuple[float, float] | None = None
        """When the machine's clock was last set while the program ran, and by how much, s; None if it was not."""
        kept = folder / ".exhibit-texts" if section.folder else None
        own = folder / OWN_TEXTS if recoveries is not None else None
        texts = Path(section.folder) if section.folder else own
        host = HostFiles(texts, kept, optional=not section.folder)
        self.usage = Usage(usage_path(settings))
        self.games = SessionGames(settings, local=self.local)
        self.cut_off = self.games.withdraw_open_seals(t)
        """How many seals of recorded games the last run left open because it was killed."""
        self.exhibit = Exhibit(
            section, self.games, secrets.SystemRandom(), t, ended=self.record_session, local=self.local, host=host
        )
        self._update_wall_clock(t)
        self.watch = MachineWatch(read or (lambda before: read_health(folder=folder, before=before)))
        self.watch.check(t)
        run = "" if recoveries is None else os.environ.get("RUNTIME_DIRECTORY", "")
        asked = restart_request_path(run)
        self.screen = watch_unit(RUNNING, asked) if asked is not None else None
        self.power = ScreenPower(RUNNING.exists, Path(run)) if run else None
        self.listener: SensorListener | None = None
        """Takes the readings of the idle mat during a self-test."""
        self.link_up: LinkUp | None = None
        """The board's last greeting."""
        self.now = t
        self.sound = sound or AplaySound(settings.voice.device)
        kept_verdict = self.state_file(".exhibit-self-test")
        self.self_test = SelfTest(section.self_test_hour, partial(check_installation, self), local_time, kept_verdict)
        save = None if file is None else saver(file, run)
        self.orders = OrderQueue()
        staff = StaffPage(
            folder, self.orders, clock, translator(section.languages[0]), report=report, file=file, save=save
        )
        self.staff = StaffDesk(self, staff, key_changes, t)
        self.page = ExhibitPage(
            settings.web.host,
            settings.web.port,
            clock,
            lambda: self.exhibit.host.pictures,
            self.orders,
            anywhere=section.touch == "network",
            tr=translator(section.languages[0]),
            staff=staff,
        )
        self.page.show(self.exhibit)
        self.touched = False
        """True if a touch of the page was accepted in this step."""
        self._polled = t
        stack.callback(self.sound.stop)
        stack.callback(staff.close)
        stack.callback(lambda: self.exhibit.close(clock()))
        self._stack = stack
        self._voice = self._start_voice(t)
        self._prompter = Prompter()

    def serve(self) -> None:
        """Start to serve the page. Raises `WebError`."""
        self.page.start()
        self._stack.callback(self.page.stop)

    @property
    def view(self) -> View | None:
        """The public view of the game on the screen; None without a game."""
        return None if self.exhibit.game is None else self.exhibit.game.view

    @property
    def strike_reporting(self) -> bool:
        """Whether strikes should be reported: a visitor may hit now, or after reading a step."""
        return self.exhibit.game is not None and self.exhibit.game.awaits in ("strike", "next")

    def brightness(self) -> float:
        """Return the share of the strip's brightness that is allowed at this hour."""
        most, wanted = self.settings.exhibit.dim_lights, self.settings.strips.brightness
        return most / wanted if self.exhibit.dimmed and most < wanted else 1.0

    def mat_event(self, event: MatEvent) -> None:
        """Handle an event of the mat or a button."""
        self.exhibit.handle_mat_event(event.t, event)
        self._mat_changed(event.t)

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:  # noqa: ARG002
        """Pass the readings of an idle mat to a self-test."""
        self.link_up = next((one for one in messages if isinstance(one, LinkUp)), self.link_up)
        if self.listener is not None and self._is_idle:
            self.listener.take(messages)

    def tick(self, t: float) -> None:
        """Process touches and the staff's orders, and advance to time `t`."""
        self.touched = False
        self.orders.drain(partial(self._execute, t))
        self.staff.step(t)
        self.exhibit.tick(t)
        self._speak()
        self._mat_changed(t)
        if t - self._polled >= POLL_S:
            self._polled = t
            self._poll(t)

    def _execute(self, t: float, order: Order) -> Future[None] | None:
        if not isinstance(order, ScreenTouch):
            return self.staff.execute(t, order)
        self.touched = self.exhibit.touch(t, order.do, order.turn) or self.touched
        return None

    def maintain(self, t: float) -> None:
        """Show the screen, continue a self-test that is due, and renew the staff page."""
        self.now = t
        finished = self.self_test.step(self.wall_time(t), idle=self._is_idle)
        self.staff.refresh(t, at_once=finished)
        self.page.show(self.exhibit)

    def announce(self, view: View) -> None:
        """Pass a new view of a visitor's game to the voice; the game in attract mode is silent."""
        if self._voice is not None and self.exhibit.stage.name in ("play", "result"):
            self._voice.hear(view)

    def _speak(self) -> None:
        """Pass a new prompt to the voice; a visitor's action cuts off the prompt before, but no result."""
        prompt = self._prompter.step(self.exhibit)
        if self._voice is None or prompt is None:
            return
        self._voice.say(prompt.news, cut=prompt.cut)
        self._voice.say(prompt.ask)

    def apply_settings(self, new: Settings) -> None:
        """Use the staff's new settings at once; a game in progress goes on."""
        before, self.settings = self.settings, select_settings(self.settings, new)
        section = self.exhibit.section = self.settings.exhibit
        if self._is_idle:
            self.exhibit.language = section.languages[0]
        if section.usage != before.exhibit.usage:
            self.usage = Usage(usage_path(self.settings))
        self.self_test.hour = section.self_test_hour
        if self.settings.voice != before.voice:
            if self._voice is not None:
                self._voice.close()
            self._voice = self._start_voice(self._polled)

    def _start_voice(self, t: float) -> Voice | None:
        view = self.games.begin_show(t).table.view
        return make_voice(self.settings.voice, view, self._stack, prompted=True)

    def wall_time(self, t: float) -> float:
        """Return the wall clock's time at `t`."""
        return t + self._set_by

    def local(self, t: float) -> datetime:
        """Return `t` in the exhibit's time zone, by the wall clock."""
        return local_time(self.wall_time(t))

    def state_file(self, name: str) -> Path | None:
        """Return the file `name` beside the journal; None if the visitors are simulated and nothing is stored."""
        return None if self.recoveries is None else self.games.folder / name

    def record_session(self, t: float, session: EndedSession) -> None:
        """Count a session that ended at `t`."""
        self.usage.add(self.local(t).date(), session)

    def record_clean_exit(self) -> None:
        """Record that the installation was stopped and has not crashed."""
        if self.recoveries is not None:
            self.recoveries.record_clean_exit()

    @property
    def _is_idle(self) -> bool:
        return self.exhibit.stage.name in IDLE

    def _poll(self, t: float) -> None:
        """Look for changes of the host's files, the machine and its clock."""
        self.exhibit.host.reload()
        self._update_wall_clock(t)
        self.games.prune()
        self.exhibit.undated = self.games.retention.undated
        self.watch.check(t)
        if self.screen is not None:
            self.screen.check(t, self.page.seen)
        if self.power is not None:
            self.power.check(t, off=self.exhibit.screen_off)
        self.exhibit.danger = self.watch.is_dangerous(t)
        self.staff.read_machine()

    def _update_wall_clock(self, t: float) -> None:
        """Measure how far the wall clock was set since the start, note a jump, and check whether it was ever set."""
        self._set_by = 0.0 if self._wall is None else self._wall() - t
        self.exhibit.clock_set = self._wall is None or self._clock_set(self.wall_time(t))
        if by_s := self._jumps.step():
            self.clock_jump = t, by_s
            if self.exhibit.game is not None:
                self.exhibit.game.table.note_clock_set(t, by_s)
