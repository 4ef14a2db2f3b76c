"""Step 2, taps: asks for five taps on each pad, measures level and margin, and fits the threshold."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from pi_controller.board.messages import Message
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.steps import Bar, PadByPad, make_fault
from pi_controller.pads import PADS
from pi_controller.sensing.events import MatEvent, Strike
from pi_controller.text import Sentence, join_words

TAPS = 5
RING_S = 0.05
"""Time after which a stroke has reached its peak."""
SPARE_DB = 6.0
"""Margin of the weakest tap at the fitted threshold..."""
LOWER_DB, RAISE_DB = 4.0, 8.0
"""... which is lowered and raised by no more than this."""
BOTTOM_DBFS = -66.0
"""Level at the start of the bars."""


class TapStep(PadByPad):
    """Asks for taps, pad by pad."""

    name = "taps"
    title = Sentence("Taps on each pad")

    def __init__(self) -> None:
        super().__init__(PADS)

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self.restart(t)
        self._detectors = detectors
        self._felt: list[list[Strike]] = [[] for _ in range(self.pads)]
        self._felt_as: dict[int, int] = {}
        self.levels: list[list[float]] = [[] for _ in range(self.pads)]
        self._ringing: Strike | None = None
        self._now = t

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:  # noqa: ARG002 - required by Step
        """Process one message and the events that the detectors made of it."""
        for event in events:
            if isinstance(event, Strike) and self.pad is not None:
                self._settle()
                if len(self._felt[self.pad - 1]) < TAPS:
                    self._felt[self.pad - 1].append(event)
                    self._ringing, self.moved = event, t
                    other = event.pads[0]
                    self.note = "" if other == self.pad else Sentence("That tap was on pad {pad}.", pad=other)

    def tick(self, t: float) -> None:
        """Advance to `t`: note a tap's peak, and go to the next pad after the last tap or a timeout."""
        self._now = t
        if self._ringing is not None and t - self._ringing.t >= RING_S:
            self._settle()
        if self.pad is None:
            return
        if len(self.levels[self.pad - 1]) >= TAPS:
            self._judge(self.pad)
            self.next_pad(t)
        elif self.is_timed_out(t):
            felt = len(self._felt[self.pad - 1])
            self.fail(
                "pad {pad} felt {felt} of {taps} taps" if felt else "pad {pad} feels no taps",
                "check the disc under its plate and its cable, then tap a little harder",
                felt=felt,
                taps=TAPS,
            )
            self.next_pad(t)
        if self.over:
            self._explain_other_pads()
        if self.over and not self.wrong:
            self.found = [
                Sentence(
                    "taps: {levels} dB under the rail", levels=join_words(f"{-level:.0f}" for level in self.level_dbfs)
                ),
                Sentence("a threshold of {threshold} dB suits them", threshold=f"{self.threshold_db:g}"),
            ]

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        words = Sentence("Tap pad {pad} with the stick {taps} times, as lightly as should still count.")
        return Sentence(words, pad=self.pad, taps=TAPS)

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar per pad: its level now, and the number of taps detected."""
        bars: list[Bar] = []
        for pad in range(1, self.pads + 1):
            level = self._detectors.peak_dbfs(pad, self._now - 0.25)
            share = min(max(1.0 - level / BOTTOM_DBFS, 0.0), 1.0)
            count = len(self._felt[pad - 1])
            text = Sentence("{level} dB, {n} of {taps} taps", level=f"{level:.0f}", n=count, taps=TAPS)
            bars.append(Bar(Sentence("pad {pad}", pad=pad), share, text, self.states[pad - 1]))
        return tuple(bars)

    @property
    def level_dbfs(self) -> list[float]:
        """Level of the median tap on each pad, dBFS."""
        return [round(median(levels), 1) if levels else 0.0 for levels in self.levels]

    @property
    def margin_db(self) -> list[float]:
        """Margin of the weakest tap on each pad over the threshold, dB."""
        return [min((strike.margin_db or 0.0 for strike in felt), default=0.0) for felt in self._felt]

    @property
    def threshold_db(self) -> float:
        """The threshold fitted to the taps, dB: the weakest passes with a margin of `SPARE_DB`."""
        usual = self._detectors.settings.peak_db
        more = min(max(min(self.margin_db) - SPARE_DB, -LOWER_DB), RAISE_DB)
        return min(max(round(2 * (usual + more)) / 2, 3.0), 40.0)

    def _settle(self) -> None:
        """Note the last tap's peak on the pad that detected it."""
        if self._ringing is None:
            return
        at = self.pad
        assert at is not None
        self.levels[at - 1].append(self._detectors.peak_dbfs(self._ringing.pads[0], self._ringing.t))
        self._ringing = None

    def _judge(self, pad: int) -> None:
        felt = [strike.pads[0] for strike in self._felt[pad - 1]]
        self._felt_as[pad] = Counter(felt).most_common(1)[0][0]
        if self._felt_as[pad] != pad:
            self.states[pad - 1] = "bad"  # why is known at the end: the other pad may be swapped with this one
        elif any(one != pad for one in felt):
            others = sorted({one for one in felt if one != pad})
            self.fail(
                "some taps on pad {pad} were felt on pad {others}",
                "check that the plates are loose and do not touch, and that the pad's disc is glued firmly",
                others=join_words(map(str, others)),
            )
        elif sum(not strike.sure for strike in self._felt[pad - 1]) > 1:
            self.fail("taps on pad {pad} are not detected reliably", "tap harder, or check the disc under its plate")

    def _explain_other_pads(self) -> None:
        """Report the pads whose taps were felt on another one: plugs are swapped, or the pad's own disc is missing."""
        self.report_other_pads(
            self._felt_as,
            make_fault(
                "a tap on pad {pad} is felt as pad {other}", "the plugs of these pads are swapped: swap them back"
            ),
            make_fault(
                "the disc of pad {pad} feels nothing: pad {other} felt its taps through the floor",
                "check the disc under its plate, its plug and its wire",
            ),
        )
