"""All detectors of one mat in one object: messages of the link in, mat events out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.link.messages import Field, Gap, LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.mat.beads import BeadTracker
from pi_controller.mat.events import Blind, Link, MatEvent, SensorFault, Sensors
from pi_controller.mat.hands import HandDetector
from pi_controller.mat.strikes import StrikeDetector, StrikeSettings
from pi_controller.mat.stroke_hands import StrokeHands
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from pi_controller.mat.events import Strike

LOOK_S = 0.25
"""How often faults are looked for."""
STAYS_S = 1.0
"""A fault that comes and goes within so long is not reported."""

NO_SCAN_S = 0.3
"""Scans come fifty times a second: so long without one while samples come, and no strip can be believed."""


class MatSensors:
    """The strike, hand and bead detectors of one mat, and its link.

    `strikes` are the settings of the strike detector, which is built when the first samples give their rate; `hands`
    and `beads` are detectors set up differently from the pin map's. `board_id` is the board that the beads' baseline
    was measured with, where it is known: with another one it is forgotten.
    """

    def __init__(
        self,
        strikes: StrikeSettings | None = None,
        *,
        hands: HandDetector | None = None,
        beads: BeadTracker | None = None,
        board_id: str = "",
    ) -> None:
        pins = pinmap()
        self.hands = hands or HandDetector(PADS, len(pins.touch.strips))
        self._struck = StrokeHands(self.hands)
        self.beads = beads or BeadTracker()
        self._settings = strikes or StrikeSettings()
        self._strikes: StrikeDetector | None = None
        self._like: tuple[float, int, int] | None = None
        self._following: int | None = None  # the number of the next sample, when there can be no gap before it
        self._ended = 0.0
        self._armed = True
        self._scanned: float | None = None  # when the touch strips last sent a scan
        self._boot: tuple[str, int] | None = (board_id, 0) if board_id else None
        self._wrong: tuple[SensorFault, ...] = ()
        self._wrong_since = self._looked_at = float("-inf")
        self.reported: tuple[SensorFault, ...] = ()
        """The faults that were last reported."""

    @property
    def armed(self) -> bool:
        """Whether strikes are reported (a hit is due)."""
        return self._armed

    @armed.setter
    def armed(self, value: bool) -> None:
        self._armed = value
        if not value:
            self._struck.forget()
        if self._strikes is not None and self._strikes.armed != value:
            self._strikes.armed = value

    def feed(self, message: Message) -> list[MatEvent]:
        """Take one message; return what happened on the mat with it, in order of time."""
        match message:
            case Piezo():
                events = self._piezo(message)
            case Touch():
                last, self._scanned = self._scanned, message.t
                blind = [Blind(last, message.t)] if last is not None and message.t - last > NO_SCAN_S else []
                hands = self.hands.feed(message)
                if hands:
                    self.beads.emit_again(message.t)  # the referee goes by what lies there after the last hand
                events = [*blind, *self._struck.scanned(message.t, hands), *hands]
            case Field():
                events = [*self.beads.feed(message)]
            case Gap():
                events = [*self._lost(), Blind(message.t, message.until)]
            case LinkUp():
                events = [*self._up(message), Link(message.t, up=True)]
            case LinkDown():
                events = [*self._lost(), Link(message.t, up=False, why=message.why)]
            case _:
                events = []
        if isinstance(message, Piezo | Touch):
            events += self._sensors(message.t)
        return sorted(events, key=lambda event: event.t)

    @property
    def faults(self) -> tuple[SensorFault, ...]:
        """The piezo discs and touch strips that cannot be believed now."""
        discs = self._strikes.faults if self._strikes is not None else {}
        # missing samples are reported as `Blind`; they are the link's, not the disc's
        dead = (SensorFault("disc", pad, why) for pad, why in sorted(discs.items()) if why != "samples are missing")
        if self._unheard:
            touch = pinmap().touch
            every = ((pad, strip) for pad in EVERY_PAD for strip in range(len(touch.strips)))
            return (*dead, *(SensorFault("strip", pad, "silent", strip) for pad, strip in every))
        strips = (SensorFault("strip", one.pad, one.wrong, one.strip) for one in self.hands.faults)
        return (*dead, *strips)

    @property
    def _unheard(self) -> bool:
        return self._scanned is not None and self._ended - self._scanned > NO_SCAN_S

    def _sensors(self, t: float) -> list[Sensors]:
        """Report the faults when they have changed and stayed so for a while."""
        if 0.0 <= t - self._looked_at < LOOK_S:
            return []
        self._looked_at = t
        faults = self.faults
        if faults != self._wrong:
            self._wrong, self._wrong_since = faults, t
        if faults == self.reported or (t - self._wrong_since < STAYS_S and not self._unheard):
            return []
        self.reported = faults
        return [Sensors(t, faults)]

    def _piezo(self, piezo: Piezo) -> list[MatEvent]:
        like = (piezo.rate, piezo.samples.shape[1], piezo.full_scale)
        if self._strikes is None or like != self._like:  # another board, or the first samples
            self._strikes = StrikeDetector(*like, self._settings)
            self._strikes.armed = self._armed
            self._like, self._following = like, None
        events: list[MatEvent] = []
        if self._following is not None and piezo.index != self._following:  # nobody reported these
            self._strikes.gap()
            events += [*self._struck.lost(), Blind(min(self._ended, piezo.t), piezo.t)]
        events += self._struck.overdue(self._ended)  # what this block goes with may wait in the same breath
        self._following = piezo.index + len(piezo.samples)
        self._ended = piezo.t + len(piezo.samples) / piezo.rate
        struck: list[Strike] = self._strikes.feed(piezo)
        if self._scanned is None or self._unheard:
            return [*events, *struck]
        return [*events, *self._struck.hold(struck)]

    def _lost(self) -> list[Strike]:
        """Samples are missing from here; return the strokes that were held back."""
        self._following = self._scanned = None
        if self._strikes is not None:
            self._strikes.gap()
        return self._struck.lost()

    def _up(self, up: LinkUp) -> list[Strike]:
        """The board is there: sense the beads again, and what a board that was off cannot have kept."""
        held = self._lost()
        board, boots = self._boot or (up.board_id, up.boot_count)
        if up.board_id != board:
            self.beads.forget()
        else:
            self.beads.sense_again()
        if (up.board_id, up.boot_count) != (board, boots):
            self.hands.reset()  # the touch chip has set itself up anew
        self._boot = (up.board_id, up.boot_count)
        return held
