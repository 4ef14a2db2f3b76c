"""Runs all detectors of one mat: turns the link's messages into mat events."""

from pi_controller.board.messages import Field, Gap, LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.beads import BeadTracker
from pi_controller.sensing.events import HandIn, Link, MatEvent, SamplesMissing, SensorFault, SensorFaultsChange, Strike
from pi_controller.sensing.hands import HandDetector
from pi_controller.sensing.strikes import StrikeDetector, StrikeSettings
from pi_controller.sensing.stroke_hands import StrikeLabeller

POLL_S = 0.25
"""Interval between checks for faults."""
STAYS_S = 1.0
"""A fault that comes and goes within this time is not reported."""

NO_SCAN_S = 0.3
"""Scans come fifty times a second; after this long without one, while samples come, all strips are faulty."""


class MatSensors:
    """The strike, hand and bead detectors of one mat, and its link.

    `strikes` are the settings of the strike detector, which is built when the first samples give their rate.
    `hands` and `beads` replace the default detectors of the pin map. `board_id` is the board that the beads'
    baseline was measured with, if known; the baseline is discarded for another board.
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
        self._struck = StrikeLabeller(self.hands)
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
    def reporting_enabled(self) -> bool:
        """True if strikes are reported (the game expects a hit)."""
        return self._armed

    @reporting_enabled.setter
    def reporting_enabled(self, value: bool) -> None:
        self._armed = value
        if not value:
            self._struck.forget()
        if self._strikes is not None and self._strikes.reporting_enabled != value:
            self._strikes.reporting_enabled = value

    def feed(self, message: Message) -> list[MatEvent]:
        """Process one message; return the mat events it caused, in order of time."""
        match message:
            case Piezo():
                events = self._piezo(message)
            case Touch():
                last, self._scanned = self._scanned, message.t
                blind = [SamplesMissing(last, message.t)] if last is not None and message.t - last > NO_SCAN_S else []
                hands = self.hands.feed(message)
                if self._strikes is not None:
                    for hand in hands:
                        self._strikes.note_hand(hand.pad, under=isinstance(hand, HandIn))
                if hands:
                    self.beads.request_report(message.t)  # the referee uses the reading after the last hand
                events = [*blind, *self._struck.take_scan(message.t, hands), *hands]
            case Field():
                events = [*self.beads.feed(message)]
            case Gap():
                events = [*self._lost(), SamplesMissing(message.t, message.until)]
            case LinkUp():
                why = "another board" if self._boot and message.board_id != self._boot[0] else ""
                events = [*self._take_link_up(message), Link(message.t, up=True, why=why)]
            case LinkDown():
                events = [*self._lost(), Link(message.t, up=False, why=message.why)]
            case _:
                events = []
        if isinstance(message, Piezo | Touch):
            events += self._sensors(message.t)
        return sorted(events, key=lambda event: event.t)

    @property
    def faults(self) -> tuple[SensorFault, ...]:
        """The piezo discs and touch strips that are faulty now."""
        discs = self._strikes.faults if self._strikes is not None else {}
        # missing samples are reported as `SamplesMissing`: they are the link's fault, not the disc's
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

    def _sensors(self, t: float) -> list[SensorFaultsChange]:
        """Report the faults if they have changed and stayed the same for `STAYS_S`."""
        if 0.0 <= t - self._looked_at < POLL_S:
            return []
        self._looked_at = t
        faults = self.faults
        if faults != self._wrong:
            self._wrong, self._wrong_since = faults, t
        if faults == self.reported or (t - self._wrong_since < STAYS_S and not self._unheard):
            return []
        self.reported = faults
        return [SensorFaultsChange(t, faults)]

    def _piezo(self, piezo: Piezo) -> list[MatEvent]:
        like = (piezo.rate, piezo.samples.shape[1], piezo.full_scale)
        if self._strikes is None or like != self._like:  # another board, or the first samples
            self._strikes = StrikeDetector(*like, self._settings)
            self._strikes.reporting_enabled = self._armed
            self._like, self._following = like, None
        events: list[MatEvent] = []
        if self._following is not None and piezo.index != self._following:  # a gap without a Gap message
            events += [*self._lost_strokes(), SamplesMissing(min(self._ended, piezo.t), piezo.t)]
        events += self._struck.overdue(self._ended)  # the touch scan for this block may be in the same batch
        self._following = piezo.index + len(piezo.samples)
        self._ended = piezo.t + len(piezo.samples) / piezo.rate
        struck: list[Strike] = self._strikes.feed(piezo)
        if self._scanned is None or self._unheard:
            return [*events, *struck]
        return [*events, *self._struck.hold(struck)]

    def _lost(self) -> list[Strike]:
        """Note that samples are missing from here; return the strokes that were held back."""
        self._following = self._scanned = None
        return self._lost_strokes()

    def _lost_strokes(self) -> list[Strike]:
        """Restart the strike detector; return the strokes that it or the wait for a touch scan held back."""
        return [*self._struck.release_all(), *(self._strikes.take_gap() if self._strikes is not None else ())]

    def _take_link_up(self, up: LinkUp) -> list[Strike]:
        """Request a new bead reading, and reset the detectors that depend on the board if it or its boot changed."""
        held = self._lost()
        board, boots = self._boot or (up.board_id, up.boot_count)
        if up.board_id != board:
            self.beads.forget()
        else:
            self.beads.sense_again()
        if (up.board_id, up.boot_count) != (board, boots):
            self.hands.reset()  # the touch chip has been configured again
        self._boot = (up.board_id, up.boot_count)
        return held
