"""The mat between the teams, or one before each: what they feel is told to the table as the hiders see it.

A mat itself knows nothing of this. Its detectors and baselines go on while the roles change, so there is nothing to
learn anew; only what happened is told the other way round, or from the other mat. Which magnets are in
play, and how many hands, goes by the game (`mat_sensors_for`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pi_controller.games.registry import kind
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
    from pi_controller.mat.events import MatEvent
    from pi_controller.mat.strikes import StrikeSettings
    from pi_controller.table.table import Table

log = logging.getLogger(__name__)

BEFORE = ("A", "B")
"""Before whom each of two mats lies."""
IN_A_FIST_MM = 45.0
"""So high above the mat a bone may be in a fist that rests on it."""


class Mats:
    """What lies between or before the teams of `table`: one mat, or two where its `seats` are `each`."""

    def __init__(self, table: Table, mat_sensors: Sequence[MatSensors]) -> None:
        self._table = table
        self._mat_sensors = mat_sensors
        self._links = [
            Link(0.0, up=False, why=_whose(n, "The board has not answered yet.")) for n in range(len(mat_sensors))
        ]
        self._mirrored = table.mirrored
        self._shown_on = self.faced
        """The mat that the last hide was on: its bead is shown there, whoever hides next."""
        self.arm()

    @property
    def faced(self) -> int:
        """Which mat is before the hiders."""
        return int(self._mirrored and self._table.seats == "each")

    def arm(self) -> None:
        """Let strikes be felt where one is due, or would be told of."""
        for n, mat_sensors in enumerate(self._mat_sensors):
            mat_sensors.armed = self._table.strike_reporting and n == self.faced

    def feed(self, messages: Iterable[Message], mat: int = 0) -> list[MatEvent]:
        """Feel `messages` of a mat and tell the table what happened; return that, as the mat itself felt it.

        Samples come in longer blocks than scans, so events are put in order over all the messages.
        """
        mat_sensors = self._mat_sensors[mat]
        events = [event for message in messages for event in mat_sensors.feed(message)]
        events.sort(key=lambda event: event.t)
        if events:
            self.look_round(events[0].t)
        for event in events:
            self._take(event, mat)
            self.look_round(event.t)
        return events

    def look_round(self, t: float) -> None:
        """See who hides now, at `t`: the table may have been told of it by the judge."""
        table, mat_sensors = self._table, self._mat_sensors[self.faced]
        if table.mirrored != self._mirrored:
            self._mirrored = table.mirrored
            mat_sensors = self._mat_sensors[self.faced]
            if table.seats == "each":
                table.mat_event(replace(self._links[self.faced], t=t))
            self._pass_on(Sensors(t, mat_sensors.told))
        if table.story.phase != "show" and self._shown_on != self.faced:
            self._shown_on = self.faced
            mat_sensors.beads.emit_again(t)  # what lies here was of no interest until the bead there was shown
        self.arm()

    def _take(self, event: MatEvent, mat: int) -> None:
        if len(self._mat_sensors) > 1 and isinstance(event, Link):
            event = self._links[mat] = Link(event.t, event.up, _whose(mat, event.why))
        showing = self._table.story.phase == "show" and self._shown_on != self.faced
        if showing and isinstance(event, Beads):
            if mat == self._shown_on and event.sure and not event.found:
                self._pass_on(Button(event.t, "shown"))
        elif mat == self.faced:
            self._pass_on(event)
        elif isinstance(event, Link) and not event.up:
            log.warning("%s", event.why)  # nobody plays on it now; it is told when they do

    def _pass_on(self, event: MatEvent) -> None:
        table = self._table
        table.mat_event(turned(event) if table.mirrored and table.seats == "turn" else event)


def _whose(mat: int, why: str) -> str:
    return f"The mat before {BEFORE[mat]}: {why}" if why else ""


def mat_sensors_for(game: str, strikes: StrikeSettings | None = None, profile: Profile | None = None) -> MatSensors:
    """Return the feel of a mat on which `game` is played; `strikes` are the strike detector's settings.

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
