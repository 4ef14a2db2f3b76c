"""Streaming IIR filters (Butterworth) in numpy alone; the stream may be cut into blocks anywhere.

scipy.signal is not used: it makes an installation 150 MB larger, and importing it costs a second of CPU time.

A filter with poles p and residues r has the impulse response sum of r p^n, so its output is the sum of r p^n times the
running sum of p^-n x. Running sums are sequential in any block, and each product and each sum of two is rounded by
itself, so the output is the same to the last bit however the stream is cut. p^-n grows; it restarts at each *frame* of
samples, counted from the first ever fed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_FRAME_SAMPLES = 256
MAX_GROWTH_DECADES = 200.0  # p^-n stays below ten to the power of this


class FilterDesign(NamedTuple):
    """A filter by the zeros, poles and gain of its transfer function; poles in pairs, none twice."""

    zeros: NDArray[np.complex128]
    poles: NDArray[np.complex128]
    gain: float

    def cascade(self, other: FilterDesign) -> FilterDesign:
        """Return this filter followed by `other`."""
        return FilterDesign(np.r_[self.zeros, other.zeros], np.r_[self.poles, other.poles], self.gain * other.gain)


def butterworth(order: int, hz: float, kind: Literal["highpass", "lowpass"], rate: float) -> FilterDesign:
    """Design a Butterworth filter of an even `order` with its edge (-3 dB) at `hz`, at `rate` samples a second.

    The poles of the analogue filter are on a circle (S. Butterworth, 1930); the bilinear transform maps them.
    Raises `ValueError` for an odd order or an edge outside 0 to half the rate.
    """
    if order < 2 or order % 2 or not 0 < hz < rate / 2:
        raise ValueError(f"no Butterworth filter of order {order} at {hz:g} of {rate:g} Hz")
    circle = np.exp(1j * np.pi * (2 * np.arange(order) + order + 1) / (2 * order))
    edge = 2 * rate * np.tan(np.pi * hz / rate)
    poles = edge * circle if kind == "lowpass" else edge / circle
    factors = (edge if kind == "lowpass" else 2 * rate) / np.abs(2 * rate - poles)  # pairs: the product is real
    zeros = np.full(order, -1.0 if kind == "lowpass" else 1.0, dtype=np.complex128)
    return FilterDesign(zeros, (2 * rate + poles) / (2 * rate - poles), math.prod(factors.tolist()))


class RecursiveFilter:
    """Runs several filters in parallel on the same channels, and keeps their state."""

    def __init__(self, designs: Sequence[FilterDesign], channels: int) -> None:
        """Take `designs`, the one with the most poles first."""
        upper = [d.poles[d.poles.imag > 0] for d in designs]  # one of each conjugate pair
        if any(2 * len(u) != len(d.poles) for u, d in zip(upper, designs, strict=True)):
            raise ValueError("a recursive filter's poles must come in pairs")
        if sorted(map(len, upper), reverse=True) != [len(u) for u in upper]:
            raise ValueError("the filter of most poles comes first")
        # the first pole of each design, then the second of each that has one, and so on
        self._having = [sum(len(u) > j for u in upper) for j in range(len(upper[0]))]
        order = [(i, j) for j, having in enumerate(self._having) for i in range(having)]
        poles: NDArray[np.complex128] = np.array([[upper[i][j]] for i, j in order])
        residues: NDArray[np.complex128] = np.array([[_residue(designs[i], upper[i][j])] for i, j in order])
        self._frame = int(min(MAX_FRAME_SAMPLES, MAX_GROWTH_DECADES / -np.log10(np.abs(poles).min())))
        n = np.arange(self._frame)
        # real and imaginary parts in turn
        self._grow = (poles**-n).view(np.float64)[:, None]
        self._fall = np.conj(2.0 * residues * poles**n).view(np.float64)[:, None]
        turn: NDArray[np.complex128] = poles**self._frame
        self._turn = turn.real, turn.imag
        direct = [_direct(d) for d in designs]
        self._direct = np.array(direct)[:, None, None] if any(direct) else None
        self._sums = np.zeros((len(poles), channels), dtype=np.complex128)
        self._at = 0

    def feed(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Filter `x` (channels, n), n > 0; return (designs, channels, n)."""
        n = x.shape[1]
        if n <= self._frame - self._at:
            return self._within_frame(x)
        parts: list[NDArray[np.float64]] = []
        start = 0
        while start < n:
            if self._at == self._frame:
                self._next_frame()
            end = min(n, start + self._frame - self._at)
            parts.append(self._within_frame(x[:, start:end]))
            start = end
        return np.concatenate(parts, axis=2)

    def _next_frame(self) -> None:
        (real, imag), sums = self._turn, self._sums
        turned = np.empty_like(sums)
        turned.real = real * sums.real - imag * sums.imag
        turned.imag = real * sums.imag + imag * sums.real
        self._sums, self._at = turned, 0

    def _within_frame(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # products are of reals: those of complex numbers may be rounded differently in the last few of a block
        span = slice(2 * self._at, 2 * (self._at + x.shape[1]))
        parts = self._grow[:, :, span] * np.repeat(x, 2, axis=1)
        sums = parts.view(np.complex128)
        sums[:, :, 0] += self._sums
        np.add.accumulate(sums, axis=2, out=sums)
        self._sums = sums[:, :, -1].copy()
        self._at += x.shape[1]
        parts *= self._fall[:, :, span]
        at = self._having[0]
        total = parts[:at]
        for having in self._having[1:]:
            total[:having] += parts[at : at + having]
            at += having
        y = total[:, :, ::2] + total[:, :, 1::2]
        if self._direct is not None:
            y += self._direct * x
        return y


def _residue(design: FilterDesign, pole: np.complex128) -> np.complex128:
    others = design.poles[design.poles != pole]
    return np.complex128(design.gain * np.prod(1 - design.zeros / pole) / np.prod(1 - others / pole))


def _direct(design: FilterDesign) -> float:
    """Return the filter's direct feedthrough, the input's part in the output besides the poles'."""
    if len(design.zeros) < len(design.poles):
        return 0.0
    return float((design.gain * np.prod(design.zeros) / np.prod(design.poles)).real)
