"""An exhibit as the table of a `Daemon`: touches and mat events go in; views, the page and files come out.

The daemon reads the mat and the buttons and drives the lights, as at any table; its view is that of the game on the
screen. After too many restarts in one boot the installation shows a plain notice and opens no game (`CrashCounter`).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from pi_controller.board.messages import Message
from pi_controller.calibration.profile import Profile
from pi_controller.config import Settings
from pi_controller.display.sound import AplaySound, Sound
from pi_controller.display.voice import start_voice
from pi_controller.exhibit.exhibit import EndedSession, Exhibit, SessionGames, local_time
from pi_controller.exhibit.health import CrashCounter, Health, MachineWatch, SensorDrift, WallClock, boot_id, watch_unit
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.lessons import IDLE
from pi_controller.exhibit.pages import ExhibitPage, ResetStatus, StaffPage
from pi_controller.exhibit.self_test import Checks, SelfTest
from pi_controller.exhibit.staff_desk import StaffDesk
from pi_controller.exhibit.usage import Usage, usage_path
from pi_controller.referee.facts import Seats
from pi_controller.runtime.daemon import Mat
from pi_controller.sensing.events import MatEvent
from pi_controller.system import kiosk
from pi_controller.system.clock import is_clock_set
from pi_controller.system.kiosk import RUNNING
from pi_controller.system.machine_health import MachineHealth, read_health
from pi_controller.system.place import KEY_CHANGES
from pi_controller.table.table import Observer
from pi_controller.table.view import View

POLL_S = 5.0
"""Interval between checks of the machine and of the host's files for changes."""
PRUNE_S = 3600.0


class Installation(Observer["Installation"]):
    """An `Exhibit` with its page, staff desk and self-test, stepped by a `Daemon`; times are s since 1970.

    `mat` is its mat, `profile` the calibration. `lights` returns why the LED strip is off, "" if it
    works, None without one. `wall` is the wall clock, which the network may set while `clock` runs on evenly: opening
    hours follow it (None: `clock`). `read` reads the health of the machine, `clock_set` returns whether its clock was
    set, `reset` the state of resets. `recoveries` are counted unless the visitors are simulated (`sim`). `sound` is the
    loudspeaker to test. `key_changes` is the file that lists changes of the keys on the card. `report` makes the report
    that the staff can download. `stack` closes the installation.
    """

    seats: Seats = "stay"
    mirrored = False
    showing = False

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        stack: ExitStack,
        *,
        mat: Mat,
        profile: Profile | None,
        lights: Callable[[], str | None],
        reset: Callable[[], ResetStatus | None],
        recoveries: CrashCounter | None = None,
        sim: bool = False,
        wall: Callable[[], float] | None = None,
        read: Callable[[MachineHealth | None], MachineHealth] | None = None,
        report: Callable[[str], bytes] | None = None,
        sound: Sound | None = None,
        clock_set: Callable[[float], bool] = is_clock_set,
        key_changes: Path = KEY_CHANGES,
    ) -> None:
        t, section, folder = clock(), settings.exhibit, settings.table.journal.parent
        self._settings, self._mat = settings, mat
        asked = None if sim else kiosk.restart_request_path(os.environ.get("RUNTIME_DIRECTORY", ""))
        self.health = Health(
            WallClock(wall, clock_set, t),
            MachineWatch(
                read or (lambda before: read_health(folder=folder, before=before)),
                None if sim else folder / ".exhibit-supply",
                boot_id(),
            ),
            SensorDrift(profile),
            watch_unit(RUNNING, asked) if asked is not None else None,
            recoveries,
        )
        kept = folder / ".exhibit-texts" if section.folder else None
        host = HostFiles(Path(section.folder) if section.folder else None, kept, approve=section.approve_texts)
        self.usage = Usage(usage_path(settings))
        local = self.health.clock.local
        self.games = SessionGames(settings, local=local)
        self.exhibit = Exhibit(
            section, self.games, secrets.SystemRandom(), t, ended=self.record_session, local=local, host=host
        )
        self.exhibit.clock_set = self.health.clock.update(t)
        self.health.watch.check(t)
        sound = sound or AplaySound(settings.voice.device)
        checks = Checks(
            self.exhibit,
            self.games,
            self.health,
            folder,
            sound if settings.voice.is_audible else None,
            lights,
        )
        self.self_test = SelfTest(
            section.self_test_hour, checks.begin, local_time, None if sim else folder / ".exhibit-self-test"
        )
        staff = StaffPage(folder, clock, section.languages[0], report=report)
        self.staff = StaffDesk(
            settings,
            staff,
            self.exhibit,
            self.games,
            self.usage,
            self.health,
            self.self_test,
            t,
            folder=folder,
            sim=sim,
            key_changes=key_changes,
            reset=reset,
            sound=sound,
        )
        self.touched = False
        """True if a touch of the page was accepted in this step."""
        self.page = ExhibitPage(
            settings.web.host,
            settings.web.port,
            clock,
            lambda: self.exhibit.host.pictures,
            anywhere=section.touch == "network",
            language=section.languages[0],
            staff=staff,
        )
        self.page.show(self.exhibit)
        self._polled = self._pruned = t
        stack.callback(sound.stop)
        stack.callback(staff.close)
        self.page.start()
        stack.callback(self.page.stop)
        stack.callback(lambda: self.exhibit.close(clock()))
        self._voice = start_voice(settings.voice, self.games.begin_show(t).table.view, None, stack)

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
        most, wanted = self._settings.exhibit.dim_lights, self._settings.strips.brightness
        return most / wanted if self.exhibit.dimmed and most < wanted else 1.0

    def mat_event(self, event: MatEvent) -> None:
        """Handle an event of the mat or a button."""
        self.exhibit.handle_mat_event(event.t, event)

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:  # noqa: ARG002
        """Measure the sensors' drift while the mat is at rest."""
        if self._is_idle and not self._mat.sensors.hands.occupied_pads:
            self.health.drift.add_messages(messages)
        else:
            self.health.drift.forget()

    def tick(self, t: float) -> None:
        """Process touches and the staff's orders, and advance to time `t`."""
        self.touched = False
        while not self.page.touches.empty():
            touch = self.page.touches.get_nowait()
            self.touched = self.exhibit.touch(t, touch.name, touch.turn) or self.touched
        self.staff.step(t)
        self.exhibit.tick(t)
        if t - self._polled >= POLL_S:
            self._polled = t
            self._poll(t)

    def maintain(self, t: float) -> None:
        """Show the screen, continue a self-test that is due, and renew the staff page; remove old games."""
        finished = self.self_test.step(self.health.clock.time(t), idle=self._is_idle)
        self.staff.refresh(t, at_once=finished)
        if t - self._pruned >= PRUNE_S:
            self._pruned = t
            self.games.prune(t)
        self.page.show(self.exhibit)

    def announce(self, view: View) -> None:
        """Pass a new view of a visitor's game to the voice; the game in attract mode is silent."""
        if self._voice is not None and self.exhibit.stage.name in ("play", "result"):
            self._voice(view)

    def record_session(self, t: float, session: EndedSession) -> None:
        """Count a session that ended at `t`."""
        self.usage.add(self.health.clock.local(t).date(), session)

    def record_clean_exit(self) -> None:
        """Record that the installation was stopped and has not crashed."""
        if self.health.recoveries is not None:
            self.health.recoveries.record_clean_exit()

    @property
    def _is_idle(self) -> bool:
        return self.exhibit.stage.name in IDLE

    def _poll(self, t: float) -> None:
        """Look for changes of the host's files, the machine and its clock."""
        self.exhibit.host.reload()
        self.exhibit.clock_set = self.health.clock.update(t)
        self.health.watch.check(t)
        if self.health.screen is not None:
            self.health.screen.check(t, self.page.seen)
        self.exhibit.danger = self.health.watch.is_dangerous(t)
        self.staff.read_machine()
