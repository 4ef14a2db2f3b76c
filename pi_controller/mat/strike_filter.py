"""Front end of the strike detector: samples in, band energy per half millisecond out.

Three steps, all causal and with their state kept, so the stream may be cut into blocks anywhere:

1. a limit on lone jumps: a sample that leaps while those around it stand still, and either comes straight back (a
   spike) or stays (a step), is the converter or a loose contact. A pad that is struck moves for several samples;
2. a steep high-pass and a gentle low-pass: a drum, a song or a hand on the floor shakes the pads below a few hundred
   hertz, a stick on a pad with a piezo also makes several hundred to some thousand;
3. the mean square over a hop of about half a millisecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.mat.recursive_filter import Design, RecursiveFilter, butterworth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

LOOK_AHEAD = 2  # samples seen before a jump is called lone
LONE = 1.75  # times the motion around it


def band(rate: float, low_hz: float, high_hz: float) -> Design:
    """The band (order 4 below, 2 above), to be run on *differences* of samples.

    A difference is what a high-pass begins with, so one of its zeros at 0 Hz is taken out here.
    """
    high_pass = butterworth(4, low_hz, "highpass", rate)
    above = high_pass._replace(zeros=high_pass.zeros[1:])
    return above.then(butterworth(2, high_hz, "lowpass", rate)) if high_hz < 0.45 * rate else above


def share_of_white(design: Design) -> float:
    """What part of white noise's energy passes a `band`."""
    turns = np.exp(-1j * np.pi * (np.arange(512) + 0.5) / 512)
    passed = np.full(len(turns), design.gain)
    for zero in (1.0, *design.zeros):  # 1: the difference's own
        passed *= np.abs(1 - zero * turns)
    for pole in design.poles:
        passed /= np.abs(1 - pole * turns)
    return float(np.mean(passed * passed))


class LoneJumps:
    """Turns samples into moves (differences) with lone jumps limited; what comes out lags by LOOK_AHEAD samples."""

    def __init__(self, pads: int, still: float) -> None:
        """`still`: a jump of this many counts is never called lone."""
        self._still = still
        self._last: NDArray[np.float64] | None = None
        self._moves = np.zeros((pads, 4))

    def feed(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """`x` (pads, n), n > 0; the moves, same shape.

        Each is limited to LONE times the second largest of the two before and the two after it: the second largest,
        for a spike is two great moves side by side.
        """
        n = x.shape[1]
        if self._last is None:
            self._last = x[:, :1]
        moves = np.empty((len(x), n + 4))
        moves[:, :4] = self._moves
        np.subtract(x[:, :1], self._last, out=moves[:, 4:5])
        np.subtract(x[:, 1:], x[:, :-1], out=moves[:, 5:])
        self._moves, self._last = moves[:, n:], x[:, -1:]
        size = np.abs(moves)
        # of each move and the next: the greater and the lesser
        greater, lesser = np.maximum(size[:, :-1], size[:, 1:]), np.minimum(size[:, :-1], size[:, 1:])
        limit = np.minimum(greater[:, :-3], greater[:, 3:])
        np.maximum(limit, lesser[:, :-3], out=limit)
        np.maximum(limit, lesser[:, 3:], out=limit)
        limit *= LONE
        np.maximum(limit, self._still, out=limit)
        np.minimum(limit, size[:, 2:-2], out=limit)
        return np.copysign(limit, moves[:, 2:-2], out=limit)


class StrikeFilter:
    """The filters of all pads, with their state. `feed` returns the hops completed by the samples it is given."""

    def __init__(
        self, rate: float, pads: int, bands: Sequence[tuple[float, float]], still: float, hop_s: float = 0.0005
    ) -> None:
        """`bands` in Hz; `still` as in `LoneJumps`; `hop_s` seconds a hop, to the nearest sample."""
        self.hop = max(1, round(rate * hop_s))
        self._bands = sorted((band(rate, low, high) for low, high in bands), key=lambda d: -len(d.poles))
        self.share_of_white = share_of_white(self._bands[0])  # in the first band
        self._pads = pads
        self._still = still
        self.reset()

    def reset(self) -> None:
        """Reset all state: the next sample is the first of a new stretch."""
        self._jumps = LoneJumps(self._pads, self._still)
        self._filters = RecursiveFilter(self._bands, self._pads)
        self._rest = np.zeros((len(self._bands), self._pads, 0))

    def feed(self, samples: ArrayLike) -> NDArray[np.float64]:
        """`samples` (n, pads), any unit; returns the mean squares (bands, pads, hops), of that unit squared."""
        x = np.ascontiguousarray(np.asarray(samples).T, dtype=np.float64)
        if not x.shape[1]:
            return np.zeros((len(self._bands), self._pads, 0))
        steady = self._jumps.feed(x)
        y = self._filters.feed(steady)
        np.multiply(y, y, out=y)
        if self._rest.shape[2]:
            y = np.concatenate((self._rest, y), axis=2)
        hops = y.shape[2] // self.hop
        self._rest = y[:, :, hops * self.hop :]
        whole = np.reshape(y[:, :, : hops * self.hop], (len(y), self._pads, hops, self.hop))
        return np.add.reduce(whole, axis=3) * (1.0 / self.hop)
