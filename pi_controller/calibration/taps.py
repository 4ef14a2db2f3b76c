"""Step 2, taps: each pad is tapped five times; measures level and margin, and fits the threshold."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from pi_controller.calibration.step import PadByPad
from pi_controller.calibration.view import Bar
from pi_controller.mat.events import Strike
from pi_controller.mat.strike_faults import swapped
from pi_controller.pads import PADS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.calibration.detectors import Detectors
    from pi_controller.link.messages import Message
    from pi_controller.mat.events import MatEvent

TAPS = 5
RING_S = 0.05
"""After a stroke its peak has come by then."""
SPARE_DB = 6.0
"""The threshold is set so that the weakest tap passes by this much..."""
LOWER_DB, RAISE_DB = 4.0, 8.0
"""... but moved by no more than this downward and upward."""
BOTTOM_DBFS = -66.0
"""Where the bars begin."""


class TapStep(PadByPad):
    """Asks for taps, pad by pad."""

    name = "taps"
    title = "Taps on each pad"

    def __init__(self) -> None:
        super().__init__(PADS)

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self.restart(t)
        self._detectors = detectors
        self._felt: list[list[Strike]] = [[] for _ in range(self.pads)]
        self.levels: list[list[float]] = [[] for _ in range(self.pads)]
        self._ringing: Strike | None = None
        self._now = t

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:  # noqa: ARG002 - a step's face
        """Take one message that the senses have been fed."""
        for event in events:
            if isinstance(event, Strike) and self.pad is not None:
                self._settle()
                if len(self._felt[self.pad - 1]) < TAPS:
                    self._felt[self.pad - 1].append(event)
                    self._ringing, self.moved = event, t
                    self.note = "" if event.pads[0] == self.pad else f"That was felt on pad {event.pads[0]}."

    def tick(self, t: float) -> None:
        """Let time pass to `t`: look how high a tap rang, and go on after the last."""
        self._now = t
        if self._ringing is not None and t - self._ringing.t >= RING_S:
            self._settle()
        if self.pad is None:
            return
        if len(self.levels[self.pad - 1]) >= TAPS:
            self._judge(self.pad)
            self.next_pad(t)
        elif self.waited(t):
            felt = len(self._felt[self.pad - 1])
            what = f"pad {self.pad} felt {felt} of {TAPS} taps" if felt else f"pad {self.pad} feels nothing"
            self.fail(what, "check the disc under its plate and its cable, then tap a little harder")
            self.next_pad(t)
        if self.over and not self.wrong:
            self.found = [
                f"taps: {', '.join(f'{-level:.0f}' for level in self.level_dbfs)} dB under the rail",
                f"a threshold of {self.threshold_db:g} dB suits them",
            ]

    def ask(self) -> str:
        """Return what the person is to do now."""
        return f"Tap pad {self.pad} with the stick {TAPS} times, as lightly as should still count."

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar a pad: how loud it is now, and how many taps it has felt."""
        bars: list[Bar] = []
        for pad in range(1, self.pads + 1):
            level = self._detectors.peak_dbfs(pad, self._now - 0.25)
            share = min(max(1.0 - level / BOTTOM_DBFS, 0.0), 1.0)
            count = len(self._felt[pad - 1])
            bars.append(Bar(f"pad {pad}", share, f"{level:.0f} dB, {count} of {TAPS} taps", self.states[pad - 1]))
        return tuple(bars)

    @property
    def level_dbfs(self) -> list[float]:
        """Level of the median tap on each pad, dB full scale."""
        return [round(median(levels), 1) if levels else 0.0 for levels in self.levels]

    @property
    def margin_db(self) -> list[float]:
        """Margin of the weakest tap on each pad over the threshold, dB."""
        return [min((strike.margin_db or 0.0 for strike in felt), default=0.0) for felt in self._felt]

    @property
    def threshold_db(self) -> float:
        """The threshold fitted to the taps: the weakest passes with a margin."""
        usual = self._detectors.settings.peak_db
        more = min(max(min(self.margin_db) - SPARE_DB, -LOWER_DB), RAISE_DB)
        return min(max(round(2 * (usual + more)) / 2, 3.0), 40.0)

    def _settle(self) -> None:
        """Note how high the last tap rang on the pad that felt it."""
        if self._ringing is None:
            return
        at = self.pad
        assert at is not None
        self.levels[at - 1].append(self._detectors.peak_dbfs(self._ringing.pads[0], self._ringing.t))
        self._ringing = None

    def _judge(self, pad: int) -> None:
        felt = [strike.pads[0] for strike in self._felt[pad - 1]]
        if why := swapped([pad] * len(felt), felt).get(pad):
            self.fail(f"a tap on pad {pad} is {why}", "the plugs of these pads are exchanged: put them right")
        elif any(one != pad for one in felt):
            others = sorted({one for one in felt if one != pad})
            self.fail(
                f"some taps on pad {pad} were felt on pad {', '.join(map(str, others))}",
                "check that the plates lie loose and apart, and that the disc of the pad sits tight",
            )
        elif sum(not strike.sure for strike in self._felt[pad - 1]) > 1:
            self.fail(f"taps on pad {pad} are felt unsurely", "tap harder, or check the disc under its plate")
