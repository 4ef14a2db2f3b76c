"""Streaming IIR filters (Butterworth) in numpy alone; the stream may be cut into blocks anywhere.

scipy.signal would do, but a table that starts would take a second of processor and tens of megabytes for it.

A filter with the poles p and as many residues r answers an impulse by the sum of r p^n, so its output is the sum of
r p^n times the running sum of p^-n x. Running sums come one after the other whatever the block, and each product and
each sum of two is rounded by itself, so the output is the same to the last bit however the stream is cut. p^-n grows;
it starts afresh at each *frame* of samples, which are counted from the first ever fed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LONGEST_FRAME = 256
GREATEST = 200.0  # p^-n stays below ten to this


class Design(NamedTuple):
    """A filter by the zeros, poles and gain of its transfer function; poles in pairs, none twice."""

    zeros: NDArray[np.complex128]
    poles: NDArray[np.complex128]
    gain: float

    def then(self, other: Design) -> Design:
        """This filter and `other` after it."""
        return Design(np.r_[self.zeros, other.zeros], np.r_[self.poles, other.poles], self.gain * other.gain)


def butterworth(order: int, hz: float, kind: Literal["highpass", "lowpass"], rate: float) -> Design:
    """The Butterworth filter of an even `order` with its edge (-3 dB) at `hz`, at `rate` samples a second.

    The poles of the analogue one lie on a circle (S. Butterworth, 1930); the bilinear transform brings them here.
    """
    if order < 2 or order % 2 or not 0 < hz < rate / 2:
        raise ValueError(f"no Butterworth filter of order {order} at {hz:g} of {rate:g} Hz")
    circle = np.exp(1j * np.pi * (2 * np.arange(order) + order + 1) / (2 * order))
    edge = 2 * rate * np.tan(np.pi * hz / rate)
    poles = edge * circle if kind == "lowpass" else edge / circle
    factors = (edge if kind == "lowpass" else 2 * rate) / np.abs(2 * rate - poles)  # of pairs, so without a phase
    zeros = np.full(order, -1.0 if kind == "lowpass" else 1.0, dtype=np.complex128)
    return Design(zeros, (2 * rate + poles) / (2 * rate - poles), math.prod(factors.tolist()))


class RecursiveFilter:
    """Several filters side by side, run on the same channels, with their state."""

    def __init__(self, designs: Sequence[Design], channels: int) -> None:
        """`designs` from the one of most poles to that of fewest."""
        upper = [d.poles[d.poles.imag > 0] for d in designs]  # of each pair one says all
        if any(2 * len(u) != len(d.poles) for u, d in zip(upper, designs, strict=True)):
            raise ValueError("a recursive filter's poles must come in pairs")
        if sorted(map(len, upper), reverse=True) != [len(u) for u in upper]:
            raise ValueError("the filter of most poles comes first")
        # the first pole of each design, then the second of each that has one, and so on
        self._having = [sum(len(u) > j for u in upper) for j in range(len(upper[0]))]
        order = [(i, j) for j, having in enumerate(self._having) for i in range(having)]
        poles: NDArray[np.complex128] = np.array([[upper[i][j]] for i, j in order])
        residues: NDArray[np.complex128] = np.array([[_residue(designs[i], upper[i][j])] for i, j in order])
        self._frame = int(min(LONGEST_FRAME, GREATEST / -np.log10(np.abs(poles).min())))
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
        """`x` (channels, n), n > 0; returns (designs, channels, n)."""
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
        # products are of reals: those of complex numbers may be rounded otherwise in the last few of a block
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


def _residue(design: Design, pole: np.complex128) -> np.complex128:
    others = design.poles[design.poles != pole]
    return np.complex128(design.gain * np.prod(1 - design.zeros / pole) / np.prod(1 - others / pole))


def _direct(design: Design) -> float:
    """What of the input stands in the output at once, beside the poles' part."""
    if len(design.zeros) < len(design.poles):
        return 0.0
    return float((design.gain * np.prod(design.zeros) / np.prod(design.poles)).real)
