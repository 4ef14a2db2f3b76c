"""Step 3, hands: a hand goes under each pad from the hider's side and out; measures what the strips lose to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.calibration.step import PadByPad
from pi_controller.calibration.view import Bar
from pi_controller.link.messages import Touch
from pi_controller.mat.events import HandIn, HandOut
from pi_controller.mat.hands import HandSettings
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pi_controller.calibration.detectors import Detectors
    from pi_controller.link.messages import Message
    from pi_controller.mat.events import MatEvent

SHARE = 0.225
"""The threshold of touch is this share of what the weakest middle strip lost: 9 of 40 counts."""
NOISES = 5.0
"""And stands so many sigmas of a strip's noise above it."""
LEAST, MOST = 5.0, 14.0
FULL_COUNTS = 60.0
"""Where the bars end."""


class SlideStep(PadByPad):
    """Asks for a hand under each pad. `rest` and `noise` (pads, strips) counts are what the empty mat read."""

    name = "hands"
    title = "A hand under each pad"

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

    def resting(self, rest: NDArray[np.float64], noise: NDArray[np.float64]) -> None:
        """Set what the strips read on the empty mat (pads, strips), counts, and their noise."""
        self.rest, self.noise = rest, noise

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Take one message that the senses have been fed."""
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
                    self.note = f"A hand was felt at pad {event.pad}; it is asked for under pad {self.pad}."
            elif isinstance(event, HandIn):
                self._in, self.moved, self.note = event, t, ""
            elif isinstance(event, HandOut) and self._in is not None:
                self._judge(self._in, event)
                self._leave(t)

    def tick(self, t: float) -> None:
        """Let time pass to `t`."""
        if self.pad is not None and self.waited(t):
            if self._in is not None:
                what, todo = f"the hand never came out of pad {self.pad}", "draw the hand back beyond the edge"
            elif self._elsewhere:
                felt = ", ".join(str(pad) for pad in sorted(self._elsewhere))
                what = f"a hand under pad {self.pad} is felt at pad {felt}"
                todo = "the plugs of these pads' touch strips are exchanged: put them right"
            else:
                what = f"no hand is felt under pad {self.pad}"
                todo = "check the strips' plug, or slide the hand in as far as the wrist"
            self.fail(what, todo)
            self._leave(t)
        if self.over and not self.wrong:
            lost = ", ".join(f"{counts:.0f}" for counts in self.middle.tolist())
            self.found = [
                f"a hand takes {lost} counts from the middle strips",
                f"a threshold of {self.settings().touch:g} counts suits that",
            ]

    def ask(self) -> str:
        """Return what the person is to do now."""
        if self._in is not None:
            return f"Draw the hand out from under pad {self.pad} again."
        return f"From the hider's side, slide a hand flat under pad {self.pad}, wait a moment, and draw it out."

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar a strip of the pad that is asked for: counts lost now."""
        pad = self.pad or self.pads
        bars: list[Bar] = []
        threshold = HandSettings().touch
        for strip, name in enumerate(pinmap().touch.strips):
            lost = float(self._now[pad - 1, strip])
            share = min(max(lost / FULL_COUNTS, 0.0), 1.0)
            state = "now" if lost >= threshold else "wait"
            bars.append(Bar(f"pad {pad} {name}", share, f"{max(lost, 0.0):.0f} counts lost", state))
        for number, state in enumerate(self.states, 1):
            labels = {
                "wait": "to come",
                "now": "hand in" if self._in else "asked for",
                "good": "in and out",
                "bad": "not right",
            }
            done = 1.0 if state == "good" else 0.5 if state == "now" and self._in else 0.0
            bars.append(Bar(f"pad {number}", done, labels[state], state))
        return tuple(bars)

    @property
    def middle(self) -> NDArray[np.float64]:
        """What the middle strip of each pad lost to the hand, counts."""
        return self.lost[:, self._detectors.strip_count // 2]

    def settings(self) -> HandSettings:
        """Return the thresholds that suit these hands."""
        usual = HandSettings()
        touch = max(SHARE * float(self.middle.min()), NOISES * float(self.noise.max()), LEAST)
        touch = round(2 * min(touch, MOST)) / 2
        share = touch / usual.touch
        return HandSettings(touch=touch, clear=round(usual.clear * share, 1), brushed=round(usual.brushed * share, 1))

    def _leave(self, t: float) -> None:
        self._in, self._elsewhere = None, set()
        self.next_pad(t)

    def _judge(self, came: HandIn, left: HandOut) -> None:
        middle = float(self.lost[came.pad - 1, self._detectors.strip_count // 2])
        if came.side == "hitter":
            self.fail(
                f"a hand from the hider's side is felt from the hitter's at pad {came.pad}",
                "the strips of this pad are connected the wrong way round, or the mat is",
            )
        elif not (came.sure and left.sure):
            self.fail(
                f"the hand at pad {came.pad} is felt unsurely", "slide it in farther, and do not linger at the edge"
            )
        elif middle < 1.5 * max(NOISES * float(self.noise.max()), LEAST):
            self.fail(
                f"a hand takes only {middle:.0f} counts from the middle strip of pad {came.pad}",
                "check its plug, and that the cloth over the strips is thin and dry",
            )
