"""Distinguishes strokes from hands that bump a pad: a stroke is held until the touch scan after it.

A hand that goes under a pad shakes it as a light stroke does, a tenth of a second before it is known to be in. By then
it lies over the strip of its own edge: a pad whose strips lose nothing in the first scan after the stroke was struck by
a stick, and the stroke is reported at once. Where something is at the pad, the stroke waits until that is known for a
hand, or is gone again. What comes of it depends on the times of samples and scans alone, never on where a bead lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from pi_controller.mat.events import HandOut

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.mat.events import HandIn, Strike, StrokeHand
    from pi_controller.mat.hands import HandDetector

AFTER_S = 0.005
"""The scan that decides is the first so long after the touch: in simulated games with cheap chips, hands that bumped a
pad had lost 7.4 counts by then at least, and 3.4 in the first scan of all."""
HAND_S = 0.2
"""What is at a pad and no hand after so long is none: the slowest was known 0.16 s after it bumped the pad."""
LEFT_S = 0.15
"""A hand shakes the pad it leaves for so long."""
UNHEARD_S = 0.06
"""Three scans: a stroke waits no longer for strips that send nothing."""
WORST_FIRST: tuple[StrokeHand, ...] = ("hider", "unclear", "hitter")


class StrokeHands:
    """Holds strokes back and labels each with the hand that was at its pad."""

    def __init__(self, hands: HandDetector) -> None:
        self._hands = hands
        self._held: list[Strike] = []
        self._left: dict[int, tuple[float, StrokeHand]] = {}
        self._scanned_at = float("-inf")

    def hold(self, strikes: Iterable[Strike]) -> list[Strike]:
        """Hold `strikes` back; return those that the last scan has decided already."""
        self._held += strikes
        return self._decided()

    def scanned(self, t: float, events: Iterable[HandIn | HandOut]) -> list[Strike]:
        """Return the strokes that the scan at `t` has decided; `events` are what the detector made of that scan."""
        self._scanned_at = t
        self._left |= {event.pad: (t, event.side or "unclear") for event in events if isinstance(event, HandOut)}
        return self._decided()

    def overdue(self, t: float) -> list[Strike]:
        """Return the strokes whose touch scan is overdue at `t`."""
        return self._given_up([each for each in self._held if t > max(each.t + AFTER_S, self._scanned_at) + UNHEARD_S])

    def lost(self) -> list[Strike]:
        """Return what is held back: the board is gone."""
        return self._given_up(self._held)

    def forget(self) -> None:
        """Drop the strokes held back: none is due any more."""
        self._held.clear()

    def _decided(self) -> list[Strike]:
        decided: list[Strike] = []
        for strike in [each for each in self._held if self._scanned_at >= each.t + AFTER_S]:
            hand = self._hand(strike)
            if hand is not None or not self._stirs(strike) or self._scanned_at >= strike.t + HAND_S:
                self._held.remove(strike)
                decided.append(strike if hand is None else replace(strike, hand=hand))
        return decided

    def _given_up(self, strikes: list[Strike]) -> list[Strike]:
        """Report `strikes` with what is known: where something was at the pad, that is a doubt."""
        strokes = [replace(each, sure=False) if self._stirs(each) else each for each in strikes]
        self._held = [each for each in self._held if each not in strikes]
        return strokes

    def _stirs(self, strike: Strike) -> bool:
        return any(self._hands.stirs(pad) for pad in strike.pads)

    def _hand(self, strike: Strike) -> StrokeHand | None:
        """Return whose hand was at a pad of `strike`; of several the hiders', or one that cannot be told."""
        found: set[StrokeHand] = set()
        for pad in strike.pads:
            left = self._left.get(pad)
            if pad in self._hands.inside:
                found.add(self._hands.side(pad) or "unclear")
            if left is not None and left[0] >= strike.t - LEFT_S:
                found.add(left[1])
        return next((hand for hand in WORST_FIRST if hand in found), None)
