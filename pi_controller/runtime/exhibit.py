"""Main loop of the exhibit on the wall clock: its page, its mat if it has one, its lights and its files.

This module reads the clock and waits. Only a completed step feeds the service's watchdog. After too many restarts in
one boot the exhibit shows a plain notice and opens no game (`exhibit.recoveries`).
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from pi_controller.board.connection import NoSource
from pi_controller.board.interfaces import Buttons, Strip, StripError
from pi_controller.board.strips import scale_brightness
from pi_controller.config import Settings
from pi_controller.display.i18n import catalogue, resolve_language
from pi_controller.display.lights import frame
from pi_controller.display.sound import SILENCE, TEST_TONES, AplaySound, Sound, SoundError, tones
from pi_controller.display.voice import start_voice
from pi_controller.errors import MatError
from pi_controller.exhibit.exhibit import EndedSession, Exhibit, SessionGames, local_time
from pi_controller.exhibit.health import (
    WARM_C,
    Check,
    CrashCounter,
    Fact,
    MachineWatch,
    SelfTest,
    SensorDrift,
    Verdict,
    boot_id,
    watch_unit,
)
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.lessons import IDLE
from pi_controller.exhibit.pages import (
    MAX_NOTICE_CHARS,
    ExhibitPage,
    Order,
    StaffPage,
    StaffStatus,
    Touch,
    build_staff_view,
    host_lines,
    preview_of,
)
from pi_controller.exhibit.usage import Usage, usage_path
from pi_controller.journal.verify import verify_journal
from pi_controller.runtime import assembly
from pi_controller.runtime.daemon import Mat
from pi_controller.runtime.run import Stop, steady_clock, tune_interpreter
from pi_controller.sensing.events import Button
from pi_controller.simulation.visitors import Visitors
from pi_controller.system import kiosk
from pi_controller.system.clock import REQUEST, is_clock_set
from pi_controller.system.files import atomic_write
from pi_controller.system.kiosk import RUNNING, reset_request_path
from pi_controller.system.machine_health import LOW_DISK_BYTES, MachineHealth, read_health
from pi_controller.system.place import KEY_CHANGES, KEYS_CHANGED, PROGRAMS, RESETS
from pi_controller.system.reset import request_reset
from pi_controller.system.status import CARD_FAULTS, from_environment
from pi_controller.system.update import last_line
from pi_controller.table.view import View

log = logging.getLogger(__name__)

STEP_S = 0.04
"""Interval of the loop: the longest delay of a touch, and the interval between frames of the lights."""
POLL_S = 5.0
"""Interval between checks of the host's files for changes."""
PRUNE_S = 3600.0
STAFF_REFRESH_S = 1.0
NOTICE = "The staff needs to check this installation. Please come back later."
"""Notice after too many restarts. It is in English, as the host's translations may be the cause."""


class Installation:
    """An `Exhibit` with its page, mat, lights and buttons, stepped by one loop; times are s since 1970.

    `folder` is that of the settings, which also has the mat's profile (None: the journal's folder). `wall` is the wall
    clock, which the network may set while `clock` runs on evenly: opening hours follow it (None: `clock`). `read` reads
    the health of the machine, and `clock_set` returns whether its clock was set. `sound` is the loudspeaker to test.
    `key_changes` is the file that lists changes of the keys on the card. `report` makes the report that the staff can
    download.
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
        report: Callable[[str], bytes] | None = None,
        sound: Sound | None = None,
        clock_set: Callable[[float], bool] = is_clock_set,
        key_changes: Path = KEY_CHANGES,
    ) -> None:
        languages = tuple(resolve_language(one) for one in settings.exhibit.languages)
        section = settings.exhibit.model_copy(update={"languages": languages})
        settings = settings.model_copy(update={"exhibit": section})
        t = clock()
        beside = settings.table.journal.parent
        kept = beside / ".exhibit-texts" if section.folder else None
        self.host = HostFiles(Path(section.folder) if section.folder else None, kept, approve=section.approve_texts)
        self.usage = Usage(usage_path(settings))
        self.recoveries = None if sim else CrashCounter(beside / ".exhibit-recoveries", boot_id())
        self._wall, self._set_by, self._clock_set = wall, 0.0, clock_set
        self._set_by = 0.0 if wall is None else wall() - t
        self.games = SessionGames(settings, local=self._local)
        self.exhibit = Exhibit(
            section,
            self.games,
            secrets.SystemRandom(),
            t,
            ended=self._record_session,
            local=self._local,
            host=self.host,
        )
        self._update_wall_clock(t)
        self.watch = MachineWatch(
            read or (lambda before: read_health(folder=beside, before=before)),
            None if sim else beside / ".exhibit-supply",
            boot_id(),
        )
        self.watch.check(t)
        self._update, self._last_reset = last_line(PROGRAMS), last_line(RESETS)
        self._reset_request = None if sim else reset_request_path(os.environ.get("RUNTIME_DIRECTORY", ""))
        asked = None if sim else kiosk.restart_request_path(os.environ.get("RUNTIME_DIRECTORY", ""))
        self.screen = watch_unit(RUNNING, asked) if asked is not None else None
        self.drift = SensorDrift()
        self.self_test = SelfTest(
            section.self_test_hour, self._checks, local_time, None if sim else beside / ".exhibit-self-test"
        )
        self._beside, self._strip_fault = beside, ""
        self._key_changes, self._keys_seen = key_changes, beside / ".exhibit-keys"
        self._keys = self._unconfirmed_keys()
        self._notice = None if sim else beside / ".exhibit-notice"
        if notice := NOTICE if self.recoveries is not None and self.recoveries.too_many else self._kept_notice():
            self.exhibit.set_notice(t, notice)
        self.staff = StaffPage(beside, clock, languages[0], report=report)
        self._sound = sound or AplaySound(settings.voice.device)
        stack.callback(self._sound.stop)
        self._sound_order: Order | None = None
        self._loudspeaker: Fact | None = None
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
        self._hear = start_voice(settings.voice, self.games.begin_show(t).table.view, None, stack)
        self._looked = self._pruned = t
        self._now = t

    def step(self, t: float) -> list[Touch]:
        """Process touches and readings, advance to time `t`, and show changes; return the touches."""
        self._now = t
        touches = self._touches(t)
        self._do_orders(t)
        self._finish_sound(t)
        if self._mat is not None:
            messages = self._mat.source.step(t)
            for event in self._mat.feed(messages):
                self.exhibit.handle_mat_event(t, event)
            if self.exhibit.stage.name in IDLE and not self._mat.sensors.hands.occupied_pads:
                self.drift.add_messages(messages)
            else:
                self.drift.forget()
            game = self.exhibit.game
            self._mat.sensors.reporting_enabled = game is not None and game.awaits in ("strike", "next")
        if self._buttons is not None:
            self._buttons.tick(t)
        self.exhibit.tick(t)
        if t - self._looked >= POLL_S:
            self._looked = t
            self.host.reload()
            self._update_wall_clock(t)
            self.watch.check(t)
            if self.screen is not None:
                self.screen.check(t, self.page.seen)
            self.exhibit.danger = self.watch.is_dangerous(t)
            self._update, self._last_reset = last_line(PROGRAMS), last_line(RESETS)
        if self.self_test.step(t + self._set_by, idle=self.exhibit.stage.name in IDLE):
            self._show_staff(t)
        if t - self._staff_shown >= STAFF_REFRESH_S:
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
        while not self.staff.orders.empty():
            order = self.staff.orders.get_nowait()
            if order.do == "end":
                self.exhibit.end_session(t)
            elif order.do == "supply":
                self.watch.dismiss_under_voltage()
            elif order.do == "texts":
                self.host.publish(order.mark)
            elif order.do == "keys":
                self._confirm_keys()
            elif order.do == "clock":
                self._request_clock(order)
            elif order.do == "reset":
                self._request_reset(order)
            elif order.do == "sound":
                self._play_sound(t, order)
                continue
            else:
                self.exhibit.set_notice(t, order.notice)
                self._keep_notice(self.exhibit.notice)
            self.exhibit.tick(t)
            self._show_staff(t)
            order.done.set()

    def _unconfirmed_keys(self) -> tuple[str, ...]:
        """Return the changes of the keys on the card that the staff has not confirmed, and show them on the screen."""
        changes = _read_lines(self._key_changes)
        seen = set(_read_lines(self._keys_seen))
        unconfirmed = tuple(one for one in changes if one not in seen)
        self.exhibit.keys_changed = bool(unconfirmed)
        return unconfirmed

    def _confirm_keys(self) -> None:
        """Save that the staff has seen the changes of the keys."""
        try:
            atomic_write(self._keys_seen, "\n".join(_read_lines(self._key_changes)).encode())
        except OSError as error:
            log.warning("cannot save that the keys were confirmed: %s", error)
        self._keys = ()
        self.exhibit.keys_changed = False

    def _request_clock(self, order: Order) -> None:
        """Ask the machine to set its clock; the loop follows it within `POLL_S`."""
        folder = os.environ.get("RUNTIME_DIRECTORY", "")
        try:
            if not folder:
                raise FileNotFoundError("this installation is not run by a system service")
            atomic_write(Path(folder) / REQUEST, f"{order.t:.0f}".encode())
        except OSError as error:
            order.fault = f"the clock cannot be set: {error.strerror or error}"

    def _request_reset(self, order: Order) -> None:
        """Ask the machine to reset the installation; it restarts."""
        try:
            if self._reset_request is None:
                raise FileNotFoundError("this machine takes no reset from the staff page")
            request_reset(self._reset_request, erased=order.erased)
        except OSError as error:
            order.fault = f"the installation cannot be reset: {error.strerror or error}"

    def _play_sound(self, t: float, order: Order) -> None:
        """Play the test sound for the staff, at the voice's volume for this hour."""
        self._sound_order = order
        try:
            self._sound.play(tones(*TEST_TONES), self._settings.voice.volume_at(self._local(t).time()))
        except SoundError as error:
            self._report_sound(t, error.message)

    def _finish_sound(self, t: float) -> None:
        """Report the result of the test sound once it has ended."""
        if self._sound_order is None:
            return
        try:
            if not self._sound.is_playing():
                self._report_sound(t, "")
        except SoundError as error:
            self._report_sound(t, error.message)

    def _report_sound(self, t: float, fault: str) -> None:
        order, self._sound_order = self._sound_order, None
        text = catalogue(self._settings.exhibit.languages[0]).gettext
        self._loudspeaker = Fact(text("Loudspeaker"), fault or text("The test sound was played."), bool(fault))
        self._show_staff(t)
        if order is not None:
            order.done.set()

    def _show_staff(self, t: float) -> None:
        self._staff_shown = t
        if (host := (self.host.texts, self.host.waiting)) != self._previewed:
            self._previewed = host
            self.staff.preview = preview_of(self.exhibit, self.games, t)
        texts = tuple(host_lines(self.host.texts))
        known = StaffStatus(
            self.usage,
            self.recoveries,
            texts,
            self.watch,
            self.drift.report,
            self.self_test.verdict,
            self._update,
            self._reset_request is not None,
            self._last_reset,
            self.screen,
            self._loudspeaker,
            t + self._set_by,
            self._keys,
        )
        shown = build_staff_view(self.exhibit, self._settings, known, local_time)
        self.staff.shown = replace(shown, faults=(*shown.faults, *self._card_faults()))

    def _card_faults(self) -> list[str]:
        """Return the faults in the files that a laptop writes on the card, without changed keys, which are shown
        separately.
        """
        keys = _read_lines(self._key_changes)
        told = (one for one in _read_lines(CARD_FAULTS) if one not in keys)
        return [one for one in told if one and not one.startswith(KEYS_CHANGED)]

    def _local(self, t: float) -> datetime:
        """Return `t` in the exhibit's time zone."""
        return local_time(t + self._set_by)

    def _update_wall_clock(self, t: float) -> None:
        """Measure how far the wall clock was set since the start, and check whether it was ever set."""
        self._set_by = 0.0 if self._wall is None else self._wall() - t
        self.exhibit.clock_set = self._wall is None or self._clock_set(t + self._set_by)

    def _checks(self, t: float, before: Verdict | None) -> Iterator[Check]:
        """Yield the checks of the self-test that begins at `t`, each short; `before` is the last verdict."""
        made = Path(__file__).stat().st_mtime
        early = t < made or (before is not None and t < before.t)
        yield Check(
            "clock", f"the clock says {local_time(t):%Y-%m-%d %H:%M}, which is impossible: set it" if early else ""
        )
        health = self.watch.health
        free = health.free_bytes
        yield Check("disk", "disk space is low" if free is not None and free < LOW_DISK_BYTES else "")
        yield Check("disk", f"{health.fs_errors} errors of the file system: replace it" if health.fs_errors else "")
        yield Check("disk", self._find_write_fault())
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
        if self._settings.voice.is_audible:
            yield from self._check_loudspeaker()
        yield Check("texts", self.host.fault)
        for path in self.games.list_journals():
            yield Check("journals", _journal_fault(path))

    def _check_loudspeaker(self) -> Iterator[Check]:
        """Play silence and yield checks meanwhile, so that no step of the loop waits for the device."""
        fault = ""
        try:
            self._sound.play(SILENCE, 0.0)
            while self._sound.is_playing():
                yield Check("loudspeaker")
        except SoundError as error:
            fault = error.message
        yield Check("loudspeaker", fault)

    def _find_write_fault(self) -> str:
        """Return why files beside the journal cannot be written; "" if they can."""
        probe = self._beside / ".exhibit-probe"
        try:
            with probe.open("wb") as file:
                file.write(b"moccasin-mat")
                file.flush()
                os.fsync(file.fileno())
            probe.unlink()
        except OSError as error:
            return f"the disk cannot be written: {error.strerror}"
        return ""

    def _kept_notice(self) -> str:
        """Return the staff's notice saved before the last start."""
        try:
            return self._notice.read_text("utf-8")[:MAX_NOTICE_CHARS].strip() if self._notice is not None else ""
        except (OSError, UnicodeError):
            return ""

    def _keep_notice(self, notice: str) -> None:
        """Save the staff's notice, so that it is shown again after a power cut."""
        if self._notice is None:
            return
        try:
            if notice:
                atomic_write(self._notice, notice.encode())
            else:
                self._notice.unlink(missing_ok=True)
        except OSError as error:
            log.warning("cannot save the notice for the next start: %s", error)

    def _wire(
        self, settings: Settings, clock: Callable[[], float], stack: ExitStack, folder: Path, *, sensors: bool
    ) -> None:
        """Open the mat, the buttons and the lights by the settings."""
        if sensors:
            settings, profile = assembly.apply_profile(settings, folder)
            self.drift = SensorDrift(profile)
            self._mat = Mat(assembly.make_source(settings, clock), assembly.mat_sensors(settings, profile))
            stack.callback(self._mat.source.close)
        self._buttons = assembly.make_buttons(settings, clock)
        if self._buttons is not None:
            stack.callback(self._buttons.close)
            self._buttons.listen(lambda name, t: self.exhibit.handle_mat_event(t, Button(t, name)))
        self._strip = assembly.make_strip(settings, NoSource() if self._mat is None else self._mat.source)
        if self._strip is not None:
            stack.callback(self._strip.close)

    def _light(self, t: float) -> None:
        if self._strip is None:
            return
        game, wanted = self.exhibit.game, self._settings.strips.brightness
        pixels = [(0, 0, 0)] * self._strip.count if game is None else frame(game.view, t)
        most = self._settings.exhibit.dim_lights
        if self.exhibit.dimmed and most < wanted:
            pixels = scale_brightness(pixels, most / wanted)
        try:
            self._strip.show(pixels)
            self._strip_fault = ""
        except StripError as error:  # visitors play on without lights
            self._strip_fault = error.message

    def _announce(self) -> None:
        """Pass new views of a visitor's game to the voice; the game in attract mode is silent."""
        game = self.exhibit.game
        if self._hear is None or game is None or self.exhibit.stage.name not in ("play", "result"):
            return
        if game.view is not self._view:
            self._view = game.view
            self._hear(game.view)

    def _record_session(self, t: float, session: EndedSession) -> None:
        self.usage.add(self._local(t).date(), session)


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file; none if it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _journal_fault(path: Path) -> str:
    """Return the fault of a recorded game's journal; "" if it has none."""
    try:
        found = verify_journal(path)
    except MatError as error:
        return f"{path.name}: {error.message}" if path.exists() else ""
    return f"{path.name}: {found.wrong}" if found.wrong else ""


def run_exhibit(
    settings: Settings,
    folder: Path,
    sleep: Callable[[float], None],
    visitors: Visitors | None = None,
    report: Callable[[str], bytes] | None = None,
) -> None:
    """Run the exhibit of `settings`, which are stored in `folder`, until it is stopped. Raises `MatError`.

    `visitors` are simulated. `report` makes the report that the staff can download.
    """
    stop = Stop()
    stop.at_signals()
    clock = steady_clock()
    with ExitStack() as stack:
        service = from_environment()
        stack.callback(service.close)
        installation = Installation(
            settings, clock, stack, folder=folder, sim=visitors is not None, wall=time.time, report=report
        )
        print(f"the installation's page: {installation.page.url}   Ctrl-C ends it", flush=True)
        if visitors is not None:
            print("Simulated visitors play until the page is touched.", flush=True)
        tune_interpreter()
        while not stop.requested:
            t = clock()
            touches = installation.step(t)
            if visitors is not None:
                visitors.step(t, installation.exhibit, disturbed=bool(touches))
            service.ready()
            service.feed(t)
            sleep(STEP_S)
        service.stopping()
        if installation.recoveries is not None:
            installation.recoveries.record_clean_exit()
