"""Routes the events of the mats to the table, with pads numbered as the hiders see them.

There is one mat, or one before each team. A mat does not know who hides: its detectors and baselines keep running
while the roles change, so they need not adapt again. Only its events are mirrored, or taken from the other mat. The
game decides which magnets are in play and how many hands (`mat_sensors_for`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pi_controller.board.message_source import Source
from pi_controller.board.messages import Message, Piezo, Touch
from pi_controller.calibration.profile import Profile
from pi_controller.rules.registry import game_class
from pi_controller.sensing.bead_fit import HIGHEST_MM
from pi_controller.sensing.bead_solver import UNMARKED_AM2
from pi_controller.sensing.beads import BeadTracker
from pi_controller.sensing.events import BeadsAtRest, Button, Link, MatEvent, SensorFaultsChange
from pi_controller.sensing.hands import HandDetector, HandSettings
from pi_controller.sensing.mirror import mirror_event
from pi_controller.sensing.sensors import MatSensors
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.table.stepped_table import SteppedTable
from pi_controller.text import mark

log = logging.getLogger(__name__)

MAT_TEAMS = ("A", "B")
"""The team that each of two mats is before."""


MAX_TOUCH_LAG_S = 0.2
"""How long a press waits for the next scan of the touch strips before it is passed on without one."""


FIST_HEIGHT_MM = 45.0
"""Greatest height of a bone above the mat, in a fist that rests on it."""


class Mat:
    """One mat: the `source` of its readings, and the `sensors` that turn them into mat events."""

    def __init__(self, source: Source, sensors: MatSensors) -> None:
        self.source = source
        self.sensors = sensors
        self.scanned_until = float("-inf")
        """Time up to which the touch strips have been scanned, s."""
        self.link = Link(0.0, up=False, why=mark("The board has not answered yet."))
        """Last known state of its link."""

    def feed(self, messages: Iterable[Message]) -> list[MatEvent]:
        """Process `messages` and return the mat events in them, ordered by time.

        They must be sorted because samples come in longer blocks than scans.
        """
        events: list[MatEvent] = []
        for message in messages:
            if isinstance(message, Touch):
                self.scanned_until = message.t
            elif isinstance(message, Piezo):
                # if the touch strips are dead, samples show a little later that the board is alive
                self.scanned_until = max(self.scanned_until, message.t - MAX_TOUCH_LAG_S)
            events += self.sensors.feed(message)
        events.sort(key=lambda event: event.t)
        return events


class Mats:
    """The `mats` of `table`: one between the teams, or two if its `seats` are `each`."""

    def __init__(self, table: SteppedTable, mats: Sequence[Mat]) -> None:
        self._table = table
        self._mats = mats
        if len(mats) > 1:
            for mat, team in zip(mats, MAT_TEAMS, strict=True):
                mat.link = _with_mat_name(mat.link, team)
        self._mirrored = table.mirrored
        self._shown_on = self.active_mat
        """The mat of the last hide: its bead is revealed there, also if the other team hides next."""
        self.enable_reporting()
        table.subscribe_mat(self.update_active_mat)

    @property
    def active_mat(self) -> Mat:
        """The mat before the hiders."""
        return self._mats[self._mirrored and self._table.seats == "each"]

    def enable_reporting(self) -> None:
        """Report strikes of the active mat while the table expects them, and of no other mat."""
        for mat in self._mats:
            mat.sensors.reporting_enabled = self._table.strike_reporting and mat is self.active_mat

    def feed(self, messages: Iterable[Message], mat: Mat) -> list[MatEvent]:
        """Pass the events in `messages` of `mat` to the table; return them, numbered as the mat numbers its pads."""
        events = mat.feed(messages)
        for event in events:
            self._take(event, mat)
        return events

    def update_active_mat(self, t: float) -> None:
        """Select the active mat, its orientation and its reporting; the table calls this after an input at `t`."""
        table = self._table
        if table.mirrored != self._mirrored:
            self._mirrored = table.mirrored
            if table.seats == "each":
                table.mat_event(replace(self.active_mat.link, t=t))
            self._pass_on(SensorFaultsChange(t, self.active_mat.sensors.reported))
        if not table.showing and self._shown_on is not self.active_mat:
            self._shown_on = self.active_mat
            self.active_mat.sensors.beads.request_report(t)  # ignored until the bead on the other mat was revealed
        self.enable_reporting()

    def _take(self, event: MatEvent, mat: Mat) -> None:
        if len(self._mats) > 1 and isinstance(event, Link):
            event = _with_mat_name(event, MAT_TEAMS[self._mats.index(mat)])
            mat.link = replace(event, why="") if event.up else event
        showing = self._table.showing and self._shown_on is not self.active_mat
        if showing and isinstance(event, BeadsAtRest):
            if mat is self._shown_on and event.sure and not event.found:
                self._pass_on(Button(event.t, "shown"))
        elif mat is self.active_mat:
            self._pass_on(event)
        elif isinstance(event, Link) and not event.up:
            log.warning("%s", event.why)  # it is not in use; the table learns it when it is

    def _pass_on(self, event: MatEvent) -> None:
        table = self._table
        table.mat_event(mirror_event(event) if table.mirrored and table.seats == "turn" else event)


def _with_mat_name(link: Link, team: str) -> Link:
    """Return `link` with a reason that names the mat before `team`."""
    return replace(link, why=f"The mat before {team}: {link.why}") if link.why else link


def mat_sensors_for(
    game: str,
    strikes: StrikeSettings | None = None,
    profile: Profile | None = None,
    *,
    magnetometers: int | None = None,
    depth_mm: float | None = None,
) -> MatSensors:
    """Return the detectors of a mat on which `game` is played; `strikes` are the strike detector's settings.

    `profile` is the calibration of this mat, which has so many `magnetometers`, `depth_mm` below its surface.
    """
    touch = HandSettings() if profile is None else profile.hand_settings()
    base = None if profile is None else profile.baseline()
    board = "" if profile is None else profile.board_id
    hidden = game_class(game).hidden
    if hidden is None or not hidden.unmarked:
        hands = HandDetector(settings=touch)
        beads = BeadTracker(baseline=base, magnetometers=magnetometers, depth_mm=depth_mm)
    else:
        hands = HandDetector(settings=touch, most_hands=4 if hidden.in_fists else 2)
        beads = BeadTracker(
            smallest=UNMARKED_AM2,
            most=hidden.pieces,
            in_play=hidden.pieces,
            highest_mm=FIST_HEIGHT_MM if hidden.in_fists else HIGHEST_MM,
            baseline=base,
            magnetometers=magnetometers,
            depth_mm=depth_mm,
        )
    return MatSensors(strikes, hands=hands, beads=beads, board_id=board)
