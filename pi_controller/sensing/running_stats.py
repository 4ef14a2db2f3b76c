"""Compute means and standard deviations of readings as they come."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RunningStats:
    """Running mean and standard deviation of each value of readings of `shape`, without missing readings."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._n = np.zeros(shape)
        self._sum = np.zeros(shape)
        self._squares = np.zeros(shape)
        self._first: Array | None = None

    def add(self, readings: Array, there: NDArray[np.bool_] | None = None) -> None:
        """Add readings of `shape`, or with one more leading axis; `there` is false for missing values."""
        rows = readings.reshape(-1, *self._n.shape)
        first = self._first
        if first is None:
            first = self._first = rows[0].copy()  # keeps the squares small
        off = rows - first
        if there is not None:
            off = off * there
        self._n += len(rows) if there is None else there * len(rows)
        self._sum += off.sum(axis=0)
        self._squares += (off * off).sum(axis=0)

    @property
    def mean(self) -> Array:
        """The means."""
        return (0.0 if self._first is None else self._first) + self._sum / np.maximum(self._n, 1.0)

    @property
    def rms(self) -> Array:
        """The standard deviation of the readings."""
        n = np.maximum(self._n, 1.0)
        return np.sqrt(np.maximum(self._squares / n - (self._sum / n) ** 2, 0.0))
