"""Routes the events of one mat, or of one before each team, to the table, numbered as the hiders see the pads.

A mat itself knows nothing of this. Its detectors and baselines go on while the roles change, so there is nothing to
learn anew; only what happened is passed on the other way round, or from the other mat. Which magnets are in
play, and how many hands, goes by the game (`mat_sensors_for`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pi_controller.games.registry import kind
from pi_controller.link.messages import Piezo, Touch
from pi_controller.mat.bead_fit import HIGHEST_MM
from pi_controller.mat.bead_refine import UNMARKED_AM2
from pi_controller.mat.beads import BeadTracker
from pi_controller.mat.events import Beads, Button, Link, Sensors
from pi_controller.mat.hands import HandDetector, HandSettings
from pi_controller.mat.sensors import MatSensors
from pi_controller.mat.turned import turned

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_controller.calibration.profile import Profile
    from pi_controller.link.messages import Message
    from pi_controller.link.source import Source
    from pi_controller.mat.events import MatEvent
    from pi_controller.mat.strikes import StrikeSettings
    from pi_controller.table.table import Table

log = logging.getLogger(__name__)

BEFORE = ("A", "B")
"""Before whom each of two mats lies."""
NO_TOUCH_S = 0.2
"""So much older than a scan of the touch strips may a press be before it is passed on without one."""
IN_A_FIST_MM = 45.0
"""So high above the mat a bone may be in a fist that rests on it."""


class Mat:
    """One mat: the `source` of its readings, and the `sensors` that make mat events of them."""

    def __init__(self, source: Source, sensors: MatSensors) -> None:
        self.source = source
        self.sensors = sensors
        self.scanned_until = float("-inf")
        """Up to when it is known whether a hand was on it, s."""
        self.link = Link(0.0, up=False, why="The board has not answered yet.")
        """What was last known of its link."""

    def feed(self, messages: Iterable[Message]) -> list[MatEvent]:
        """Return what happened on the mat with `messages`, in order of time over all of them.

        Samples come in longer blocks than scans.
        """
        events: list[MatEvent] = []
        for message in messages:
            if isinstance(message, Touch):
                self.scanned_until = message.t
            elif isinstance(message, Piezo):
                # should the touch strips be dead, the board's samples show a little later that it lives
                self.scanned_until = max(self.scanned_until, message.t - NO_TOUCH_S)
            events += self.sensors.feed(message)
        events.sort(key=lambda event: event.t)
        return events


class Mats:
    """The `mats` between or before the teams of `table`: one, or two where its `seats` are `each`."""

    def __init__(self, table: Table, mats: Sequence[Mat]) -> None:
        self._table = table
        self._mats = mats
        if len(mats) > 1:
            for mat, team in zip(mats, BEFORE, strict=True):
                mat.link = _named(mat.link, team)
        self._mirrored = table.mirrored
        self._shown_on = self.faced
        """The mat that the last hide was on: its bead is shown there, whoever hides next."""
        self.arm()

    @property
    def faced(self) -> Mat:
        """The mat before the hiders."""
        return self._mats[self._mirrored and self._table.seats == "each"]

    def arm(self) -> None:
        """Have strikes reported where one is due, or would be asked about."""
        for mat in self._mats:
            mat.sensors.armed = self._table.strike_reporting and mat is self.faced

    def feed(self, messages: Iterable[Message], mat: Mat) -> list[MatEvent]:
        """Pass on to the table what happened with `messages` of `mat`; return that, as the mat numbers its pads."""
        events = mat.feed(messages)
        if events:
            self.look_round(events[0].t)
        for event in events:
            self._take(event, mat)
            self.look_round(event.t)
        return events

    def look_round(self, t: float) -> None:
        """Update which mat is faced and which way round, at `t`: the judge may have changed who hides."""
        table = self._table
        if table.mirrored != self._mirrored:
            self._mirrored = table.mirrored
            if table.seats == "each":
                table.mat_event(replace(self.faced.link, t=t))
            self._pass_on(Sensors(t, self.faced.sensors.reported))
        if table.story.phase != "show" and self._shown_on is not self.faced:
            self._shown_on = self.faced
            self.faced.sensors.beads.emit_again(t)  # what lies here was of no interest until the bead there was shown
        self.arm()

    def _take(self, event: MatEvent, mat: Mat) -> None:
        if len(self._mats) > 1 and isinstance(event, Link):
            event = mat.link = _named(event, BEFORE[self._mats.index(mat)])
        showing = self._table.story.phase == "show" and self._shown_on is not self.faced
        if showing and isinstance(event, Beads):
            if mat is self._shown_on and event.sure and not event.found:
                self._pass_on(Button(event.t, "shown"))
        elif mat is self.faced:
            self._pass_on(event)
        elif isinstance(event, Link) and not event.up:
            log.warning("%s", event.why)  # nobody plays on it now; it is told when they do

    def _pass_on(self, event: MatEvent) -> None:
        table = self._table
        table.mat_event(turned(event) if table.mirrored and table.seats == "turn" else event)


def _named(link: Link, team: str) -> Link:
    """Return `link`, whose reason names the mat before `team`."""
    return replace(link, why=f"The mat before {team}: {link.why}") if link.why else link


def mat_sensors_for(game: str, strikes: StrikeSettings | None = None, profile: Profile | None = None) -> MatSensors:
    """Return the detectors for a mat on which `game` is played; `strikes` are the strike detector's settings.

    `profile` is what a calibration found out about this mat.
    """
    touch = HandSettings() if profile is None else profile.hand_settings()
    base = None if profile is None else profile.baseline()
    board = "" if profile is None else profile.board_id
    hidden = kind(game).hidden
    if hidden is None or not hidden.unmarked:
        hands, beads = HandDetector(settings=touch), BeadTracker(baseline=base)
    else:
        hands = HandDetector(settings=touch, most_hands=4 if hidden.in_fists else 2)
        beads = BeadTracker(
            smallest=UNMARKED_AM2,
            most=hidden.pieces,
            in_play=hidden.pieces,
            highest_mm=IN_A_FIST_MM if hidden.in_fists else HIGHEST_MM,
            baseline=base,
        )
    return MatSensors(strikes, hands=hands, beads=beads, board_id=board)
