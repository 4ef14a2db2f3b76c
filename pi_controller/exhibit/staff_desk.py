"""The staff's orders at the loop that steps the installation: notice, texts, clock, keys, test sound.

The web's thread puts orders on the staff page's queue; `StaffDesk` executes them and renews the content of the page.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pi_controller.display.i18n import catalogue
from pi_controller.display.sound import TEST_TONES, SoundError, tones
from pi_controller.exhibit.exhibit import local_time
from pi_controller.exhibit.health import Fact
from pi_controller.exhibit.pages import (
    MAX_NOTICE_CHARS,
    Order,
    StaffPage,
    StaffStatus,
    build_staff_view,
    host_lines,
    preview_of,
)
from pi_controller.system.files import atomic_write
from pi_controller.system.kiosk import request_reset
from pi_controller.system.place import KEYS_CHANGED, PROGRAMS, RESETS, SET_CLOCK_REQUEST
from pi_controller.system.status import CARD_FAULTS
from pi_controller.system.update import last_line

if TYPE_CHECKING:
    from pi_controller.exhibit.installation import Installation

log = logging.getLogger(__name__)

REFRESH_S = 1.0
"""Interval between refreshes of the staff page."""
NOTICE = "The staff needs to check this installation. Please come back later."
"""Notice after too many restarts. It is in English, as the host's translations may be the cause."""


class StaffDesk:
    """Executes the staff's orders at the installation `at` and renews its `page`; times are s since 1970.

    `key_changes` is the file that lists changes of the keys on the card, `reset_request` the file that asks the machine
    for a reset (None: it takes no request).
    """

    def __init__(
        self, at: Installation, page: StaffPage, key_changes: Path, reset_request: Path | None, t: float
    ) -> None:
        self.page = page
        self._at, self._exhibit, self._reset_request = at, at.exhibit, reset_request
        self._sound_order: Order | None = None
        self._loudspeaker: Fact | None = None
        self._key_changes, self._keys_seen = key_changes, at.games.folder / ".exhibit-keys"
        changes, seen = _read_lines(key_changes), set(_read_lines(self._keys_seen))
        self._keys = tuple(one for one in changes if one not in seen)
        self._exhibit.keys_changed = bool(self._keys)
        self._notice = at.state_file(".exhibit-notice")
        if notice := NOTICE if at.recoveries is not None and at.recoveries.too_many else self._kept_notice():
            self._exhibit.set_notice(t, notice)
        self._previewed: object = None
        self.read_machine()
        self.refresh(t)

    def step(self, t: float) -> None:
        """Execute the waiting orders, and report the test sound once it has ended."""
        while not self.page.orders.empty():
            order = self.page.orders.get_nowait()
            if order.do == "sound":
                self._play_sound(t, order)
                continue
            self._execute(t, order)
            self._exhibit.tick(t)
            self.refresh(t)
            order.done.set()
        if self._sound_order is not None:
            try:
                if not self._at.sound.is_playing():
                    self._report_sound(t, "")
            except SoundError as error:
                self._report_sound(t, error.message)

    def read_machine(self) -> None:
        """Read the results of the last update and of resets."""
        self._update, self._last_reset = last_line(PROGRAMS), last_line(RESETS)

    def refresh(self, t: float, *, at_once: bool = True) -> None:
        """Renew the content of the page; unless `at_once`, no more often than each `REFRESH_S`."""
        if not at_once and t - self._refreshed < REFRESH_S:
            return
        self._refreshed = t
        at, host = self._at, self._exhibit.host
        if (previewed := (host.texts, host.waiting)) != self._previewed:
            self._previewed = previewed
            self.page.preview = preview_of(self._exhibit, at.games, t)
        known = StaffStatus(
            at.usage,
            at.recoveries,
            tuple(host_lines(host.texts)),
            at.watch,
            at.drift.report,
            at.self_test.verdict,
            self._update,
            self._reset_request is not None,
            self._last_reset,
            at.screen,
            self._loudspeaker,
            at.wall_time(t),
            self._keys,
        )
        shown = build_staff_view(self._exhibit, at.settings, known, local_time)
        self.page.shown = replace(shown, faults=(*shown.faults, *self._card_faults()))

    def _execute(self, t: float, order: Order) -> None:
        match order.do:
            case "end":
                self._exhibit.end_session(t)
            case "supply":
                self._at.watch.dismiss_under_voltage()
            case "texts":
                self._exhibit.host.publish(order.mark)
            case "keys":
                self._confirm_keys()
            case "clock":
                _request_clock(order)
            case "reset":
                self._request_reset(order)
            case _:
                self._exhibit.set_notice(t, order.notice)
                self._keep_notice(self._exhibit.notice)

    def _confirm_keys(self) -> None:
        """Save that the staff has seen the changes of the keys."""
        try:
            atomic_write(self._keys_seen, "\n".join(_read_lines(self._key_changes)).encode())
        except OSError as error:
            log.warning("cannot save that the keys were confirmed: %s", error)
        self._keys = ()
        self._exhibit.keys_changed = False

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
            volume = self._at.settings.voice.volume_at(self._at.local(t).time())
            self._at.sound.play(tones(*TEST_TONES), volume)
        except SoundError as error:
            self._report_sound(t, error.message)

    def _report_sound(self, t: float, fault: str) -> None:
        order, self._sound_order = self._sound_order, None
        text = catalogue(self._exhibit.section.languages[0]).gettext
        self._loudspeaker = Fact(text("Loudspeaker"), fault or text("The test sound was played."), bool(fault))
        self.refresh(t)
        if order is not None:
            order.done.set()

    def _card_faults(self) -> list[str]:
        """Return the faults in the files that a laptop writes on the card, without changed keys, which are shown
        separately.
        """
        keys = _read_lines(self._key_changes)
        told = (one for one in _read_lines(CARD_FAULTS) if one not in keys)
        return [one for one in told if one and not one.startswith(KEYS_CHANGED)]

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


def _request_clock(order: Order) -> None:
    """Ask the machine to set its clock; the installation follows it at its next poll."""
    folder = os.environ.get("RUNTIME_DIRECTORY", "")
    try:
        if not folder:
            raise FileNotFoundError("this installation is not run by a system service")
        atomic_write(Path(folder) / SET_CLOCK_REQUEST, f"{order.t:.0f}".encode())
    except OSError as error:
        order.fault = f"the clock cannot be set: {error.strerror or error}"


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file; none if it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
