"""Step 3, hands: asks for a hand under each pad from the hider's side, and measures the counts the strips lose."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Message, Touch
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.steps import Bar, PadByPad, make_fault
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.events import HandIn, HandOut, MatEvent
from pi_controller.sensing.hands import HandSettings
from pi_controller.text import Sentence, join_words

SHARE = 0.225
"""The touch threshold is this share of the counts lost by the weakest middle strip: 9 of 40 counts."""
NOISES = 5.0
"""It is also at least this many sigmas of a strip's noise."""
MIN_TOUCH_COUNTS, MAX_TOUCH_COUNTS = 5.0, 14.0
FULL_COUNTS = 60.0
"""Counts at the end of the bars."""


class SlideStep(PadByPad):
    """Asks for a hand under each pad. `rest` and `noise` (pads, strips) are the empty mat's counts and their noise."""

    name = "hands"
    title = Sentence("A hand under each pad")

    def __init__(self) -> None:
        super().__init__(PADS)

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self.restart(t)
        self._detectors = detectors
        shape = (self.pads, detectors.strip_count)
        self.rest: NDArray[np.float64] | None = None
        self.noise = np.zeros(shape)
        self.lost = np.zeros(shape)
        self._now = np.zeros(shape)
        self._before = np.zeros(shape)
        self._in: HandIn | None = None
        self._elsewhere: set[int] = set()
        self._felt_at: dict[int, int] = {}

    def set_rest(self, rest: NDArray[np.float64], noise: NDArray[np.float64]) -> None:
        """Set the strips' counts on the empty mat (pads, strips) and their noise."""
        self.rest, self.noise = rest, noise

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Process one message and the events that the detectors made of it."""
        if isinstance(message, Touch):
            counts = message.counts.astype(np.float64)
            if self.rest is None:
                self.rest = counts
            self._before, self._now = self._now, self.rest - counts
            if self.pad is not None:
                lost = np.minimum(self._before, self._now)[self.pad - 1]
                self.lost[self.pad - 1] = np.maximum(self.lost[self.pad - 1], lost)
        for event in events:
            if self.pad is None:
                continue
            if isinstance(event, HandIn | HandOut) and event.pad != self.pad:
                if isinstance(event, HandIn):
                    self._elsewhere.add(event.pad)
                    words = Sentence("A hand was felt at pad {other}; please use pad {pad}.")
                    self.note = Sentence(words, other=event.pad, pad=self.pad)
            elif isinstance(event, HandIn):
                self._in, self.moved, self.note = event, t, ""
            elif isinstance(event, HandOut) and self._in is not None:
                self._judge(self._in, event)
                self._leave(t)

    def tick(self, t: float) -> None:
        """Advance to `t`: give up the pad after a timeout, and set the results at the end."""
        if self.pad is not None and self.is_timed_out(t):
            if self._in is not None:
                self.fail("the hand never came out of pad {pad}", "draw the hand back beyond the edge")
            elif len(self._elsewhere) == 1:
                (self._felt_at[self.pad],) = self._elsewhere
                self.states[self.pad - 1] = "bad"  # why is known at the end: the other pad may be swapped with this one
            else:
                self.fail(
                    "no hand is felt under pad {pad}, but at pads {felt}"
                    if self._elsewhere
                    else "no hand is felt under pad {pad}",
                    "check the strips' plug, or slide the hand in as far as the wrist",
                    felt=join_words(str(pad) for pad in sorted(self._elsewhere)),
                )
            self._leave(t)
        if self.over and not self.wrong:
            lost = join_words(f"{counts:.0f}" for counts in self.middle.tolist())
            self.found = [
                Sentence("a hand takes {lost} counts from the middle strips", lost=lost),
                Sentence("a threshold of {threshold} counts suits that", threshold=f"{self.settings().touch:g}"),
            ]

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        if self._in is not None:
            return Sentence("Draw the hand out from under pad {pad} again.", pad=self.pad)
        words = Sentence("From the hider's side, slide a hand flat under pad {pad}, wait a moment, and draw it out.")
        return Sentence(words, pad=self.pad)

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar per strip of the current pad with the counts lost now, and one per pad."""
        pad = self.pad or self.pads
        bars: list[Bar] = []
        threshold = HandSettings().touch
        for strip, name in enumerate(pinmap().touch.strips):
            lost = float(self._now[pad - 1, strip])
            share = min(max(lost / FULL_COUNTS, 0.0), 1.0)
            state = "now" if lost >= threshold else "wait"
            label = Sentence("pad {pad} {place}", pad=pad, place=Sentence(name))
            bars.append(Bar(label, share, Sentence("{n} counts lost", n=f"{max(lost, 0.0):.0f}"), state))
        for number, state in enumerate(self.states, 1):
            labels = {
                "wait": Sentence("later"),
                "now": Sentence("hand in") if self._in else Sentence("now"),
                "good": Sentence("in and out"),
                "bad": Sentence("wrong"),
            }
            done = 1.0 if state == "good" else 0.5 if state == "now" and self._in else 0.0
            bars.append(Bar(Sentence("pad {pad}", pad=number), done, labels[state], state))
        return tuple(bars)

    @property
    def middle(self) -> NDArray[np.float64]:
        """Counts that the middle strip of each pad lost to the hand."""
        return self.lost[:, self._detectors.strip_count // 2]

    def settings(self) -> HandSettings:
        """Return the thresholds that suit these hands."""
        usual = HandSettings()
        touch = max(SHARE * float(self.middle.min()), NOISES * float(self.noise.max()), MIN_TOUCH_COUNTS)
        touch = round(2 * min(touch, MAX_TOUCH_COUNTS)) / 2
        share = touch / usual.touch
        return HandSettings(touch=touch, clear=round(usual.clear * share, 1), brushed=round(usual.brushed * share, 1))

    def _leave(self, t: float) -> None:
        self._in, self._elsewhere = None, set()
        self.next_pad(t)
        if self.over:
            self._explain_other_pads()

    def _explain_other_pads(self) -> None:
        """Report the pads whose hands were felt at another one: plugs are swapped, or the pad's strips are off."""
        self.report_other_pads(
            self._felt_at,
            make_fault(
                "a hand under pad {pad} is felt at pad {other}",
                "the plugs of these pads' touch strips are swapped: swap them back",
            ),
            make_fault(
                "the strips of pad {pad} feel no hand: pad {other} felt one",
                "check the strips' plug of pad {pad}, and slide the hand under it",
            ),
        )

    def _judge(self, came: HandIn, left: HandOut) -> None:
        middle = float(self.lost[came.pad - 1, self._detectors.strip_count // 2])
        if came.side == "hitter":
            self.fail(
                "a hand from the hider's side is felt from the hitter's at pad {pad}",
                "the strips of this pad are connected the wrong way round, or the mat is",
            )
        elif not (came.sure and left.sure):
            self.fail(
                "the hand at pad {pad} is not detected reliably",
                "slide it in farther, without stopping at the edge",
            )
        elif middle < 1.5 * max(NOISES * float(self.noise.max()), MIN_TOUCH_COUNTS):
            self.fail(
                "a hand takes only {counts} counts from the middle strip of pad {pad}",
                "check its plug, and that the cloth over the strips is thin and dry",
                counts=f"{middle:.0f}",
            )
