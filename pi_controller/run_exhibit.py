"""Main loop of the installation on the wall clock: its page, its mat where it has one, its lights and its files.

This is the edge where the clock is read and time is waited for. The service's watchdog is fed only by a step that came
to its end. Started anew too often in one boot it shows a plain notice and tries nothing (`exhibit.recoveries`).
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller import assembly
from pi_controller.drivers.notify import from_environment
from pi_controller.drivers.ports import StripError
from pi_controller.drivers.strips import scaled
from pi_controller.errors import MatError
from pi_controller.exhibit.drift import Drift
from pi_controller.exhibit.exhibit import Exhibit, Session, local_time
from pi_controller.exhibit.games_kept import SessionGames
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.kiosk_watch import watch_unit
from pi_controller.exhibit.machine_watch import WARM_C, MachineWatch
from pi_controller.exhibit.page import ExhibitPage, Touch, host_lines
from pi_controller.exhibit.recoveries import Recoveries, boot_id
from pi_controller.exhibit.self_test import Check, SelfTest, Verdict
from pi_controller.exhibit.staff import LONGEST_NOTICE, Known, StaffPage, preview_of, shown_of
from pi_controller.exhibit.stage import IDLE
from pi_controller.exhibit.usage import Usage, usage_path
from pi_controller.link.source import NoSource
from pi_controller.machine_health import ENOUGH_BYTES, MachineHealth, read_health
from pi_controller.mat.events import Button
from pi_controller.mats import Mat
from pi_controller.run import Stop, settle, steady_clock
from pi_controller.setup import kiosk_restart
from pi_controller.setup.kiosk import RUNNING
from pi_controller.setup.place import PROGRAMS
from pi_controller.setup.reset_order import waiting
from pi_controller.setup.update import last_line
from pi_controller.show.i18n import chosen
from pi_controller.show.lights import frame
from pi_controller.table.verify import verdict
from pi_controller.voice.at_table import heard
from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from pi_controller.drivers.ports import Buttons, Strip
    from pi_controller.sim.visitors import Visitors
    from pi_controller.table.settings import Settings
    from pi_controller.table.view import View

log = logging.getLogger(__name__)

STEP_S = 0.04
"""The loop's pace: a touch is answered within it, and the lights are drawn as often."""
LOOK_S = 5.0
"""How often the host's files are looked at for changes."""
PRUNE_S = 3600.0
SHOW_STAFF_S = 1.0
NOTICE = "This installation needs a moment of the staff. Please come back later."
"""What stands after too many recoveries; the host's own language may be any, and nothing else is certain to work."""


class Installation:
    """An `Exhibit` with its page, its mat, its lights and buttons, stepped by one loop; times are s since 1970.

    `folder` is that of the settings, where the mat's profile is kept (None: the journal's). `wall` is the machine's
    own clock, which the network may set while `clock` goes on evenly: hours go by it (None: by `clock`). `read` reads
    how the machine is.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        stack: ExitStack,
        *,
        folder: Path | None = None,
        sim: bool = False,
        wall: Callable[[], float] | None = None,
        read: Callable[[MachineHealth | None], MachineHealth] | None = None,
    ) -> None:
        languages = tuple(chosen(one) for one in settings.exhibit.languages)
        section = settings.exhibit.model_copy(update={"languages": languages})
        settings = settings.model_copy(update={"exhibit": section})
        t = clock()
        beside = settings.table.journal.parent
        kept = beside / ".exhibit-texts" if section.folder else None
        self.host = HostFiles(Path(section.folder) if section.folder else None, kept, approve=section.approve_texts)
        self.usage = Usage(usage_path(settings))
        self.recoveries = None if sim else Recoveries(beside / ".exhibit-recoveries", boot_id())
        self._wall, self._set_by = wall, 0.0
        self._look_at_wall(t)
        self.games = SessionGames(settings, local=self._local)
        self.exhibit = Exhibit(
            section, self.games, secrets.SystemRandom(), t, ended=self._ended, local=self._local, host=self.host
        )
        self.watch = MachineWatch(
            read or (lambda before: read_health(folder=beside, before=before)),
            None if sim else beside / ".exhibit-supply",
            boot_id(),
        )
        self.watch.look(t)
        self._update, self._reset = last_line(PROGRAMS), waiting()
        asked = None if sim else kiosk_restart.asked(os.environ.get("RUNTIME_DIRECTORY", ""))
        self.screen = watch_unit(RUNNING, asked) if asked is not None else None
        self.drift = Drift()
        self.self_test = SelfTest(
            section.self_test_hour, self._checks, local_time, None if sim else beside / ".exhibit-self-test"
        )
        self._beside, self._strip_fault = beside, ""
        self._notice = None if sim else beside / ".exhibit-notice"
        if notice := NOTICE if self.recoveries is not None and self.recoveries.too_many else self._kept_notice():
            self.exhibit.pause_notice(t, notice)
        self.staff = StaffPage(beside, clock, languages[0])
        self._settings, self._staff_shown = settings, t
        self._previewed: object = None
        self._show_staff(t)
        self.page = ExhibitPage(
            settings.web.host,
            settings.web.port,
            clock,
            lambda: self.host.pictures,
            anywhere=section.touch == "network",
            language=languages[0],
            staff=self.staff,
        )
        self.page.show(self.exhibit)
        stack.callback(self.staff.close)
        self.page.start()
        stack.callback(self.page.stop)
        stack.callback(lambda: self.exhibit.close(clock()))
        self._mat: Mat | None = None
        self._strip: Strip | None = None
        self._buttons: Buttons | None = None
        if section.mat != "screen":
            self._wire(settings, clock, stack, folder or beside, sensors=section.mat == "sensors")
        self._view: View | None = None
        self._hear = heard(settings.voice, self.games.show(t).table.view, None, stack)
        self._looked = self._pruned = t
        self._now = t

    def step(self, t: float) -> list[Touch]:
        """Take in what was touched and felt, let time pass to `t`, show what changed; return the touches."""
        self._now = t
        touches = self._touches(t)
        self._do_orders(t)
        if self._mat is not None:
            messages = self._mat.source.step(t)
            for event in self._mat.feed(messages):
                self.exhibit.felt(t, event)
            if self.exhibit.stage.name in IDLE and not self._mat.sensors.hands.inside:
                self.drift.take(messages)
            else:
                self.drift.forget()
            game = self.exhibit.game
            self._mat.sensors.armed = game is not None and game.awaits in ("strike", "next")
        if self._buttons is not None:
            self._buttons.tick(t)
        self.exhibit.tick(t)
        if t - self._looked >= LOOK_S:
            self._looked = t
            self.host.look()
            self._look_at_wall(t)
            self.watch.look(t)
            if self.screen is not None:
                self.screen.look(t, self.page.seen)
            self.exhibit.danger = self.watch.danger(t)
            self._update, self._reset = last_line(PROGRAMS), waiting()
        if self.self_test.step(t + self._set_by, idle=self.exhibit.stage.name in IDLE):
            self._show_staff(t)
        if t - self._staff_shown >= SHOW_STAFF_S:
            self._show_staff(t)
        if t - self._pruned >= PRUNE_S:
            self._pruned = t
            self.games.prune(t)
        self.page.show(self.exhibit)
        self._light(t)
        self._announce()
        return touches

    def _touches(self, t: float) -> list[Touch]:
        touches: list[Touch] = []
        while not self.page.touches.empty():
            touch = self.page.touches.get_nowait()
            if self.exhibit.touch(t, touch.name, touch.turn):
                touches.append(touch)
        return touches

    def _do_orders(self, t: float) -> None:
        """Do what the staff wants."""
        while not self.staff.orders.empty():
            order = self.staff.orders.get_nowait()
            if order.do == "end":
                self.exhibit.end_session(t)
            elif order.do == "supply":
                self.watch.lift()
            elif order.do == "texts":
                self.host.publish(order.mark)
            else:
                self.exhibit.pause_notice(t, order.notice)
                self._keep_notice(self.exhibit.notice)
            self.exhibit.tick(t)
            self._show_staff(t)
            order.done.set()

    def _show_staff(self, t: float) -> None:
        self._staff_shown = t
        if (host := (self.host.texts, self.host.waiting)) != self._previewed:
            self._previewed = host
            self.staff.preview = preview_of(self.exhibit, self.games, t)
        texts = tuple(host_lines(self.host.texts))
        known = Known(
            self.usage,
            self.recoveries,
            texts,
            self.watch,
            self.drift.report,
            self.self_test.verdict,
            self._update,
            self._reset,
            self.screen,
        )
        self.staff.shown = shown_of(self.exhibit, self._settings, known, local_time)

    def _local(self, t: float) -> datetime:
        """Return `t` by the clock of the place."""
        return local_time(t + self._set_by)

    def _look_at_wall(self, t: float) -> None:
        """Find how far the machine's clock was set since the start."""
        self._set_by = 0.0 if self._wall is None else self._wall() - t

    def _checks(self, t: float, before: Verdict | None) -> Iterator[Check]:
        """Yield the checks of the self-test that begins at `t`, each short; `before` is the last verdict."""
        made = Path(__file__).stat().st_mtime
        early = t < made or (before is not None and t < before.t)
        yield Check(
            "clock", f"it is {local_time(t):%Y-%m-%d %H:%M} by the clock, which cannot be: set it" if early else ""
        )
        health = self.watch.health
        free = health.free_bytes
        yield Check("disk", "little room is left" if free is not None and free < ENOUGH_BYTES else "")
        yield Check("disk", f"{health.fs_errors} errors of the file system: replace it" if health.fs_errors else "")
        yield Check("disk", self._write_fault())
        hot = health.temperature_c is not None and health.temperature_c >= WARM_C
        yield Check("heat", f"{health.temperature_c:.0f} °C" if hot and health.temperature_c is not None else "")
        yield Check("supply", "the voltage was too low" if self.watch.under_voltage else "")
        if self._mat is not None:
            board = self.exhibit.board
            yield Check("link", "" if board is not None and board.up else "the mat's board does not answer")
            for fault in self.exhibit.sensor_faults:
                yield Check("sensors", f"{fault.sensor} of pad {fault.pad}: {fault.why}")
            for one in self.drift.report:
                what = "the disc" if one.strip is None else f"strip {one.strip + 1}"
                yield Check("sensors", f"{what} of pad {one.pad} has drifted" if one.far else "")
        if self._strip is not None:
            yield Check("lights", self._strip_fault)
        yield Check("texts", self.host.fault)
        for path in self.games.recorded():
            yield Check("journals", _journal_fault(path))

    def _write_fault(self) -> str:
        """Return why nothing can be written beside the journal, empty where it can."""
        probe = self._beside / ".exhibit-probe"
        try:
            with probe.open("wb") as file:
                file.write(b"moccasin-mat")
                file.flush()
                os.fsync(file.fileno())
            probe.unlink()
        except OSError as error:
            return f"nothing can be written: {error.strerror}"
        return ""

    def _kept_notice(self) -> str:
        """Return the staff's notice of before the start."""
        try:
            return self._notice.read_text("utf-8")[:LONGEST_NOTICE].strip() if self._notice is not None else ""
        except (OSError, UnicodeError):
            return ""

    def _keep_notice(self, notice: str) -> None:
        """Keep the staff's notice for a start after a power cut."""
        if self._notice is None:
            return
        try:
            if notice:
                replace_file(self._notice, notice.encode())
            else:
                self._notice.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the notice is not kept for the next start: %s", error)

    def _wire(
        self, settings: Settings, clock: Callable[[], float], stack: ExitStack, folder: Path, *, sensors: bool
    ) -> None:
        """Open the mat, the buttons and the lights that the settings name."""
        if sensors:
            settings, profile = assembly.profiled(settings, folder)
            self.drift = Drift(profile)
            self._mat = Mat(assembly.board(settings, clock), assembly.mat_sensors(settings, profile))
            stack.callback(self._mat.source.close)
        self._buttons = assembly.buttons(settings, clock)
        if self._buttons is not None:
            stack.callback(self._buttons.close)
            self._buttons.listen(lambda name, t: self.exhibit.felt(t, Button(t, name)))
        self._strip = assembly.lights(settings, NoSource() if self._mat is None else self._mat.source)
        if self._strip is not None:
            stack.callback(self._strip.close)

    def _light(self, t: float) -> None:
        if self._strip is None:
            return
        game, wanted = self.exhibit.game, self._settings.strips.brightness
        pixels = [(0, 0, 0)] * self._strip.count if game is None else frame(game.view, t)
        most = self._settings.exhibit.dim_lights
        if self.exhibit.dimmed and most < wanted:
            pixels = scaled(pixels, most / wanted)
        try:
            self._strip.show(pixels)
            self._strip_fault = ""
        except StripError as error:  # visitors play on without lights
            self._strip_fault = error.what

    def _announce(self) -> None:
        """Let the voice hear what is new in a visitor's game; the game that attract shows is silent."""
        game = self.exhibit.game
        if self._hear is None or game is None or self.exhibit.stage.name not in ("play", "result"):
            return
        if game.view is not self._view:
            self._view = game.view
            self._hear(game.view)

    def _ended(self, t: float, session: Session) -> None:
        self.usage.add(self._local(t).date(), session)


def _journal_fault(path: Path) -> str:
    """Return what is wrong with a recorded game's journal, empty for nothing."""
    try:
        found = verdict(path)
    except MatError as error:
        return f"{path.name}: {error.what}" if path.exists() else ""
    return f"{path.name}: {found.wrong}" if found.wrong else ""


def run_exhibit(
    settings: Settings, folder: Path, sleep: Callable[[float], None], visitors: Visitors | None = None
) -> None:
    """Run the installation of `settings`, which are kept in `folder`, until it is stopped. Raises `MatError`.

    `visitors` are simulated.
    """
    stop = Stop()
    stop.at_signals()
    clock = steady_clock()
    with ExitStack() as stack:
        service = from_environment()
        stack.callback(service.close)
        installation = Installation(settings, clock, stack, folder=folder, sim=visitors is not None, wall=time.time)
        print(f"the installation's page: {installation.page.url}   Ctrl-C ends it", flush=True)
        if visitors is not None:
            print("Simulated visitors come and go until somebody touches the page.", flush=True)
        settle()
        while not stop.wanted:
            t = clock()
            touches = installation.step(t)
            if visitors is not None:
                visitors.step(t, installation.exhibit, disturbed=bool(touches))
            service.ready()
            service.feed(t)
            sleep(STEP_S)
        service.stopping()
        if installation.recoveries is not None:
            installation.recoveries.ended_well()
