"""Distinguishes strokes from hands that bump a pad: holds each stroke until the touch scan after it.

A hand that goes under a pad shakes it like a light stroke, a tenth of a second before it is detected as in. By then
it covers the strip at its own edge: a pad whose strips lose no counts in the first scan after the stroke was struck
by a stick, and the stroke is reported at once. If a strip is touched, the stroke waits until a hand is detected or
the strip is free again. The outcome depends on the times of samples and scans alone, never on a bead's position.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from pi_controller.sensing.events import HandIn, HandOut, Strike, StrokeHand
from pi_controller.sensing.hands import HandDetector

AFTER_S = 0.005
"""The deciding scan is the first one at least this long after the stroke: in simulated games with cheap chips, hands
that bumped a pad had taken at least 7.4 counts by then, and 3.4 in the very first scan."""
HAND_S = 0.2
"""A touch that is no detected hand after this long is none: the slowest was detected 0.16 s after it bumped the pad."""
LEFT_S = 0.15
"""How long a hand shakes the pad that it leaves."""
UNHEARD_S = 0.06
"""Three scans: the longest wait for strips that send no scans."""
WORST_FIRST: tuple[StrokeHand, ...] = ("hider", "unclear", "hitter")


class StrikeLabeller:
    """Holds strokes back and labels each with the hand at its pad."""

    def __init__(self, hands: HandDetector) -> None:
        self._hands = hands
        self._held: list[Strike] = []
        self._left: dict[int, tuple[float, StrokeHand]] = {}
        self._scanned_at = float("-inf")

    def hold(self, strikes: Iterable[Strike]) -> list[Strike]:
        """Hold `strikes`; return those that the last scan has already decided."""
        self._held += strikes
        return self._release_decided()

    def take_scan(self, t: float, events: Iterable[HandIn | HandOut]) -> list[Strike]:
        """Return the strokes decided by the scan at `t`; `events` are the hand events of that scan."""
        self._scanned_at = t
        self._left |= {event.pad: (t, event.side or "unclear") for event in events if isinstance(event, HandOut)}
        return self._release_decided()

    def overdue(self, t: float) -> list[Strike]:
        """Return the strokes whose touch scan is overdue at `t`."""
        return self._given_up([each for each in self._held if t > max(each.t + AFTER_S, self._scanned_at) + UNHEARD_S])

    def release_all(self) -> list[Strike]:
        """Release all held strokes, because the board is gone."""
        return self._given_up(self._held)

    def forget(self) -> None:
        """Drop the held strokes, because the game expects no hit any more."""
        self._held.clear()

    def _release_decided(self) -> list[Strike]:
        decided: list[Strike] = []
        for strike in [each for each in self._held if self._scanned_at >= each.t + AFTER_S]:
            hand = self._hand(strike)
            if hand is not None or not self._stirs(strike) or self._scanned_at >= strike.t + HAND_S:
                self._held.remove(strike)
                decided.append(strike if hand is None else replace(strike, hand=hand))
        return decided

    def _given_up(self, strikes: list[Strike]) -> list[Strike]:
        """Release `strikes` undecided; those with a touched pad become unsure."""
        strokes = [replace(each, sure=False) if self._stirs(each) else each for each in strikes]
        self._held = [each for each in self._held if each not in strikes]
        return strokes

    def _stirs(self, strike: Strike) -> bool:
        return any(self._hands.is_touched(pad) for pad in strike.pads)

    def _hand(self, strike: Strike) -> StrokeHand | None:
        """Return the side of the hand at a pad of `strike`; of several, the hider's first, then an unclear one."""
        found: set[StrokeHand] = set()
        for pad in strike.pads:
            left = self._left.get(pad)
            if pad in self._hands.occupied_pads:
                found.add(self._hands.side(pad) or "unclear")
            if left is not None and left[0] >= strike.t - LEFT_S:
                found.add(left[1])
        return next((hand for hand in WORST_FIRST if hand in found), None)
