"""Model of the pads' bias, which the board's self-test switches off and on: a disc's capacitance delays the level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pi_controller.pads import PADS
from pi_controller.simulation.conditions import Stream, rng

DISC_FARAD = 20e-9
"""Capacitance of a disc, within 30 %."""
BIAS_OHM, SERIES_OHM, SMOOTH_FARAD, POLE_OHM, POLE_FARAD = 100e3, 33e3, 3.3e-9, 33e3, 1e-9
"""The parts of a pad's input, as in `hardware/circuits.toml`: a test compares them."""


class Bias:
    """Level of each pad between ground (0) and its rest (1) after its bias is switched. `farads` (pads,) of the discs.

    Three capacitors in a row: the disc's, and those of the two filter poles.
    """

    def __init__(self, seed: int) -> None:
        fixed = rng(seed, Stream.MAT, 4)
        self.farads: NDArray[np.float64] = DISC_FARAD * fixed.uniform(0.7, 1.3, PADS)
        self._on = 1.0
        self._from: NDArray[np.float64] = np.ones((PADS, 3))  # the three capacitors when it was switched
        self._since = 0.0

    def switch(self, *, on: bool, t: float) -> None:
        """Switch the bias at time `t`."""
        self._from = self._levels(np.array([t]))[0]
        self._on, self._since = float(on), t

    def levels(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the levels (times, pads) at the times `t`; before the last switch they are those of that moment."""
        return self._levels(t)[:, :, 2]

    def _levels(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        after = np.maximum(t - self._since, 0.0)
        source, series, pole = 2.0 / BIAS_OHM, 1.0 / SERIES_OHM, 1.0 / POLE_OHM
        flow = np.array(
            [[-source - series, series, 0.0], [series, -series - pole, pole], [0.0, pole, -pole]]
        )  # amperes into each capacitor for a volt at each
        found = np.empty((len(t), PADS, 3))
        for pad, farad in enumerate(self.farads.tolist()):
            farads = np.array([[max(farad, 1e-12)], [SMOOTH_FARAD], [POLE_FARAD]])
            rate, modes = map(np.real, np.linalg.eig(flow / farads))  # complex since numpy 2.5
            share = np.linalg.solve(modes, self._from[pad] - self._on)
            found[:, pad] = self._on + (np.exp(after[:, None] * rate) * share) @ modes.T
        return found
