"""Main loop of the installation on the wall clock: its page, its mat where it has one, its lights and its files.

This is the edge where the clock is read and time is waited for. The service's watchdog is fed only by a step that came
to its end. Started anew too often in one boot it shows a plain notice and tries nothing (`exhibit.recoveries`).
"""

from __future__ import annotations

import logging
import secrets
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller import assembly
from pi_controller.drivers.notify import from_environment
from pi_controller.drivers.ports import StripError
from pi_controller.exhibit.exhibit import Exhibit, Session, local_time
from pi_controller.exhibit.games_kept import SessionGames
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.page import ExhibitPage, Touch, host_lines
from pi_controller.exhibit.recoveries import Recoveries, boot_id
from pi_controller.exhibit.staff import LONGEST_NOTICE, StaffPage, shown_of
from pi_controller.exhibit.usage import Usage, usage_path
from pi_controller.link.source import NoSource
from pi_controller.mat.events import Button
from pi_controller.mats import Mat
from pi_controller.run import Stop, settle, steady_clock
from pi_controller.show.i18n import chosen
from pi_controller.show.lights import frame
from pi_controller.voice.at_table import heard

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """An `Exhibit` with its page, its mat, its lights and buttons, stepped by one loop; times are s since 1970."""

    def __init__(self, settings: Settings, clock: Callable[[], float], stack: ExitStack, *, sim: bool = False) -> None:
        languages = tuple(chosen(one) for one in settings.exhibit.languages)
        section = settings.exhibit.model_copy(update={"languages": languages})
        settings = settings.model_copy(update={"exhibit": section})
        t = clock()
        beside = settings.table.journal.parent
        kept = beside / ".exhibit-texts" if section.folder else None
        self.host = HostFiles(Path(section.folder) if section.folder else None, kept)
        self.usage = Usage(usage_path(settings))
        self.recoveries = None if sim else Recoveries(beside / ".exhibit-recoveries", boot_id())
        self.games = SessionGames(settings)
        self.exhibit = Exhibit(
            section, self.games, secrets.SystemRandom(), t, ended=self._ended, local=local_time, host=self.host
        )
        self._notice = None if sim else beside / ".exhibit-notice"
        if notice := NOTICE if self.recoveries is not None and self.recoveries.too_many else self._kept_notice():
            self.exhibit.pause_notice(t, notice)
        self.staff = StaffPage(beside, clock, languages[0])
        self._settings, self._staff_shown = settings, t
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
            self._wire(settings, clock, stack, sensors=section.mat == "sensors")
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
            for event in self._mat.feed(self._mat.source.step(t)):
                self.exhibit.felt(t, event)
            game = self.exhibit.game
            self._mat.sensors.armed = game is not None and game.awaits in ("strike", "next")
        if self._buttons is not None:
            self._buttons.tick(t)
        self.exhibit.tick(t)
        if t - self._looked >= LOOK_S:
            self._looked = t
            self.host.look()
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
            else:
                self.exhibit.pause_notice(t, order.notice)
                self._keep_notice(self.exhibit.notice)
            self.exhibit.tick(t)
            self._show_staff(t)
            order.done.set()

    def _show_staff(self, t: float) -> None:
        self._staff_shown = t
        texts = tuple(host_lines(self.host.texts))
        self.staff.shown = shown_of(self.exhibit, self._settings, self.usage, self.recoveries, texts)

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
                self._notice.write_text(notice, "utf-8")
            else:
                self._notice.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the notice is not kept for the next start: %s", error)

    def _wire(self, settings: Settings, clock: Callable[[], float], stack: ExitStack, *, sensors: bool) -> None:
        """Open the mat, the buttons and the lights that the settings name."""
        if sensors:
            settings, profile = assembly.profiled(settings, settings.table.journal.parent)
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
        if self._strip is None or self.exhibit.game is None:
            return
        with suppress(StripError):  # visitors play on without lights
            self._strip.show(frame(self.exhibit.game.view, t))

    def _announce(self) -> None:
        """Let the voice hear what is new in a visitor's game; the game that attract shows is silent."""
        game = self.exhibit.game
        if self._hear is None or game is None or self.exhibit.stage.name not in ("play", "result"):
            return
        if game.view is not self._view:
            self._view = game.view
            self._hear(game.view)

    def _ended(self, t: float, session: Session) -> None:
        self.usage.add(local_time(t).date(), session)


def run_exhibit(settings: Settings, sleep: Callable[[float], None], visitors: Visitors | None = None) -> None:
    """Run the installation of `settings` until it is stopped; `visitors` are simulated. Raises `MatError`."""
    stop = Stop()
    stop.at_signals()
    clock = steady_clock()
    with ExitStack() as stack:
        service = from_environment()
        stack.callback(service.close)
        installation = Installation(settings, clock, stack, sim=visitors is not None)
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
