"""Bead detector: waits until the field is at rest, then reports the beads on the mat once.

While the field is unchanged a scan costs a handful of array operations. A change, visible in one scan or in the average
of several, opens a window; it closes when the field has been still for `settle_s`, and the mean of the window is
fitted. A uniform change (the earth's field, a door, a lift) is ignored. The reading of the empty mat is learned, and
updated whenever the mat is empty (`Baseline`).
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Field
from pi_controller.pinmap import pinmap
from pi_controller.sensing.baseline import (
    CERTAIN_LOG_ODDS,
    DOUBT_LOG_ODDS,
    UNDECIDED_LOG_ODDS,
    Baseline,
    field_scatter,
    learn_baseline,
    subtract_uniform_field,
)
from pi_controller.sensing.bead_fit import HIGHEST_MM, BeadFit, BeadFitter, FittedBead, shipped_fitter
from pi_controller.sensing.bead_solver import MARKED_AM2
from pi_controller.sensing.events import Bead, BeadsAtRest
from pi_controller.sensing.magnetometer_faults import TOWARDS_RAIL, MagnetometerFault, MagnetometerMonitor

Array = NDArray[np.float64]

FLOOR_UT = 0.25
"""Error of an averaged reading (one sigma)."""
TURN_ERROR = 0.012
"""Further error as a share of the uniform field's change: sensors differ in gain and alignment."""
MOVED_SIGMAS = 5.5
"""A change by more sigmas than this in any of 72 readings is no noise."""
SAME_MM = 0.5
"""A bead whose position changed by less has not moved."""
BY_OTHERS_MM = 12.0
"""The same after sensors have failed or recovered, so that other sensors measured the position."""
SECOND_READING_SCANS = 25
"""Scans at rest after which an unsure reading is repeated."""
MIN_SCANS = 4
"""Smallest number of scans in a settled reading."""
AFTER_HAND_S = 0.45
"""Shortest time from a hand leaving to the report of the beads.

By then a bead that the hand left has been read. Without this wait, the time from a hider's quick ready to the seal
would reveal whether the last hand or an earlier one left the bead.
"""


class BeadTracker:
    """Turns magnetometer scans into `BeadsAtRest` events.

    `smallest` (A m^2) is the weakest bead in play; the default, the marked bead, suits games without unmarked balls.
    `most` is the largest number of beads distinguished; if that many are found, none is missing. Magnets up to
    `highest_mm` above the mat raise no doubt, for fists that hold them may rest on it; a `fitter` passed in brings its
    own limit. `in_play` is the number of beads in play if known: once all are found, none is part of the baseline.
    `settle_s` is how long the field must be still to count as at rest. `baseline` is a stored one; without it, it is
    learned. `magnetometers` is how many the mat has (`PinMap.magnetometers_built`), `depth_mm` how deep they lie.
    """

    def __init__(
        self,
        fitter: BeadFitter | None = None,
        *,
        smallest: float = MARKED_AM2,
        most: int = 4,
        highest_mm: float = HIGHEST_MM,
        in_play: int | None = None,
        settle_s: float = 0.25,
        baseline: Baseline | None = None,
        magnetometers: int | None = None,
        depth_mm: float | None = None,
    ) -> None:
        self.fitter = fitter or shipped_fitter(highest_mm, depth_mm)
        self._smallest = smallest
        self._most = most
        self._in_play = in_play
        self._settle_s = settle_s
        self.baseline = baseline
        self._shape = self.fitter.sensors_mm.shape
        self._noise = 1.0
        self._noise_scans = 0
        self._assume_empty = False
        self._built = np.array(pinmap().magnetometers_built(magnetometers))
        self._watch = MagnetometerMonitor(self._shape[0], built=self._built)
        self._range = pinmap().magnetometers.range_ut
        self._start_over()

    @property
    def faults(self) -> dict[int, MagnetometerFault]:
        """The excluded magnetometers: number (0 first, in wire order) -> fault."""
        return self._watch.faults

    @property
    def last_report(self) -> BeadsAtRest | None:
        """The last report; None while a new reading is pending."""
        return self._reported

    def _start_over(self) -> None:
        self._reported: BeadsAtRest | None = None
        self._fitted: tuple[FittedBead, ...] = ()
        self._again_since: float | None = None
        self._quiet: Array | None = None  # the reading at rest, None while something moves
        self._before: Array | None = None  # the reading at rest before that
        self._before_scans = 1
        self._scans = 0
        self._sum = np.zeros(self._shape)
        self._seen = np.zeros(self._shape[0])
        self._ramp = np.zeros(self._shape)  # the scans of the window, each times its number
        self._since = 0.0
        self._t = float("-inf")
        self._average = np.zeros(self._shape)
        self._last: Array | None = None
        self._use = np.ones(self._shape[0], dtype=np.bool_)
        self._out = self._watch.excluded
        self._same_mm = SAME_MM

    def sense_again(self) -> None:
        """Discard the last report, so that the next reading at rest is reported (after the link was down)."""
        self._start_over()

    def request_report(self, t: float) -> None:
        """Report the next reading at rest even if the field is unchanged, because a hand left at `t`.

        The report waits until the field has been still for `settle_s` since then, so it includes a bead the hand left;
        and for at least `AFTER_HAND_S`, so that its time does not reveal whether this hand left a bead.
        """
        self._again_since = t

    def forget(self) -> None:
        """Discard the report and the baseline, for another board."""
        self.baseline = None
        self._noise, self._noise_scans = 1.0, 0
        self._watch = MagnetometerMonitor(self._shape[0], built=self._built)
        self._start_over()

    def set_empty(self) -> None:
        """Make the present field the baseline, because a person confirmed that no bead is near.

        Uses the current reading at rest; while the field changes, or before the first reading, the next one.
        """
        if self._quiet is None:
            self.baseline = None
            self._assume_empty = True
        else:
            self.baseline = learn_baseline(self._quiet, self._use, self._scans, firm=True)
        self._reported = None
        self._before = None

    def feed(self, field: Field) -> list[BeadsAtRest]:
        """Process one scan; return a `BeadsAtRest` event if it completes a reading at rest, else an empty list."""
        beads = self._feed(field)
        if self._again_since is None:
            return beads
        # wait separately, because the hand may have moved the bead too little to be noticed yet
        wait_s = max(AFTER_HAND_S, self._settle_s)
        if field.t - self._again_since < wait_s - 1e-6 or self._quiet is None or self._reported is None:
            return []
        self._again_since = None
        return beads or [msgspec.structs.replace(self._reported, t=field.t)]

    def _feed(self, field: Field) -> list[BeadsAtRest]:
        ok, ut = self._watch.feed(field.ut, field.ok), field.ut
        if not np.logical_and.reduce(ok):
            ut = np.where(ok[:, None], ut, 0.0)
        if not 0.0 <= field.t - self._t < 1.0:
            self._move()
        self._update_excluded(self._watch.excluded)
        self._t = field.t
        if self._quiet is not None:
            ok = ok & self._use
            off = _subtract_mean(ut - self._quiet, ok)
            self._average += 0.2 * (off - self._average)
            noise = self._noise
            if _peak(off) < MOVED_SIGMAS * noise and _peak(self._average) < 0.45 * MOVED_SIGMAS * noise:
                self._rest(off, ok)
                return self._second_look(field.t) if self._scans == SECOND_READING_SCANS else []
            self._move()
        return self._settle(field.t, ut, ok)

    def _update_excluded(self, out: NDArray[np.bool_]) -> None:
        """Change the set of excluded sensors to `out`, and start a new reading, because the report used other sensors.

        A sure reading is kept if sensors only recovered: the time of their recovery reveals how close the bead came to
        them, and a new reading would delay the seal.
        """
        if not np.logical_or.reduce(out != self._out):
            return
        lost, back = out & ~self._out, self._out & ~out
        self._out = out
        if lost.any() or (back.any() and (self._quiet is None or self._reported is None or not self._reported.sure)):
            self._move()
            self._before, self._same_mm = None, BY_OTHERS_MM

    def _rest(self, off: Array, ok: NDArray[np.bool_]) -> None:
        """Update the noise and, slowly, the empty mat's baseline from an unchanged scan."""
        self._noise += 0.02 * (max(0.1, float(np.add.reduce(off * off, axis=None) / off.size) ** 0.5) - self._noise)
        self._scans += 1
        if self._quiet is None:
            return
        if self._scans < 40:
            self._quiet += off / self._scans
        elif (
            self._scans % 40 == 0
            and self.baseline
            and self._reported
            and self._reported.sure
            and not self._reported.found
        ):
            scans = 36.0 if self._scans == 40 and self.baseline.scans < 36.0 else 3.0
            self.baseline.follow(self._quiet + self._average, ok & self._use, scans)

    def _second_look(self, t: float) -> list[BeadsAtRest]:
        """Repeat an unsure reading, now with more scans and none from before the rest."""
        if self._quiet is None or self._reported is None or self._reported.sure:
            return []
        self._quiet = self._quiet + self._average
        self._average = np.zeros(self._shape)
        return self._emit(t, self._quiet, self._use)

    def _move(self) -> None:
        """Start waiting for a changing field to settle."""
        if self._quiet is not None:
            self._before, self._before_scans = self._quiet, min(self._scans, 40)
        self._quiet = None
        self._scans = 0

    def _settle(self, t: float, ut: Array, ok: NDArray[np.bool_]) -> list[BeadsAtRest]:
        if self._last is not None:
            step = _median(np.abs(ut - self._last)[ok]) / 0.954 if np.logical_or.reduce(ok) else 1.0
            self._noise_scans += 1
            share = max(0.05, 1.0 / self._noise_scans)
            self._noise += share * (min(max(step, 0.1), 10.0) - self._noise)
        self._last = ut
        n = self._scans
        if n:
            seen = ok & (self._seen > 0)
            off = _subtract_mean(ut - self._sum / np.maximum(self._seen, 1.0)[:, None], seen)
            if _peak(off) > MOVED_SIGMAS * self._noise * (1.0 + 1.0 / n) ** 0.5:
                n = 0
        if not n:
            self._sum, self._ramp, self._seen = np.zeros(self._shape), np.zeros(self._shape), np.zeros(self._shape[0])
            self._since = t
        self._ramp = self._ramp + n * ut
        self._sum = self._sum + ut
        self._seen = self._seen + ok
        self._scans = n + 1
        if t - self._since < self._settle_s - 1e-6 or self._scans < MIN_SCANS:
            return []
        if self._is_drifting():
            self._scans = 0
            return []
        mean = self._sum / np.maximum(self._seen, 1.0)[:, None]
        use = self._seen >= 0.5 * self._scans
        return self._at_rest(t, mean, use)

    def _is_drifting(self) -> bool:
        """Return True if the window has a slope, too small in each reading but significant in all together."""
        n = self._scans
        whole = self._seen == n
        slope = _subtract_mean(self._ramp - (n - 1) / 2 * self._sum, whole)
        spread = self._noise**2 * n * (n * n - 1) / 12
        count = 3 * int(whole.sum())
        return float((slope * slope).sum()) / spread > count + 5.0 * (2.0 * max(count, 1)) ** 0.5

    def _at_rest(self, t: float, mean: Array, use: NDArray[np.bool_]) -> list[BeadsAtRest]:
        """Read the settled field unless it equals the one before."""
        before, self._quiet, self._use = self._before, mean, use
        self._average = np.zeros(self._shape)
        if before is not None and self._reported is not None:
            noise = self._noise * (1.0 / self._scans + 1.0 / self._before_scans) ** 0.5
            if np.abs(_subtract_mean(mean - before, use)).max() < MOVED_SIGMAS * noise:
                self._quiet, self._scans = before, self._before_scans  # keep measuring slow changes from it
                return []
        return self._emit(t, mean, use)

    def _emit(self, t: float, mean: Array, use: NDArray[np.bool_]) -> list[BeadsAtRest]:
        reading = self._read(t, mean, use)
        within, self._same_mm = self._same_mm, SAME_MM
        if self._reported is not None and _is_same_reading(reading, self._reported, within):
            return []
        self._reported = reading
        return [reading]

    def _read(self, t: float, mean: Array, use: NDArray[np.bool_]) -> BeadsAtRest:
        """Fit a reading at rest, and update the baseline with it if the mat is empty."""
        if self._assume_empty:
            self._assume_empty = False
            self.baseline = learn_baseline(mean, use, self._scans, firm=True)
        base = self.baseline
        if base is None:
            return self._first(t, mean, use)
        floor = float(np.hypot(FLOOR_UT, TURN_ERROR * base.field_change_ut(mean, use)))
        noise = float(np.hypot(floor, self._noise * (1.0 / self._scans + 1.0 / base.scans) ** 0.5))
        fit = self._fit(mean - base.offsets, use & base.known, noise)
        beads: list[Bead] = []
        sure, least = fit.sure, float("inf")
        for found in fit.beads:
            field = found.field_at(self.fitter.sensors_mm)
            ratio = base.bead_log_odds(field) if sure else CERTAIN_LOG_ODDS
            if ratio < 0.0:
                base.offsets = subtract_uniform_field(base.offsets + field, base.known)
            else:
                beads.append(found.bead())
            least = min(least, abs(ratio))
            sure = sure and least > UNDECIDED_LOG_ODDS
        # two magnets close together share the field between them, ghost or bead: only a single one is conclusive, or
        # all beads in play, for then none is left that could be part of the baseline
        alone = sure and len(fit.beads) == 1
        base.firm = base.firm or (alone and least > CERTAIN_LOG_ODDS) or (sure and len(beads) == self._in_play)
        if sure and not fit.beads:
            base.follow(mean, use, self._scans)
        # while a bead may be part of the baseline, its ghost may be one of several: then the judge is asked
        return BeadsAtRest(t, tuple(beads), sure and (base.firm or (alone and least > DOUBT_LOG_ODDS)))

    def _first(self, t: float, mean: Array, use: NDArray[np.bool_]) -> BeadsAtRest:
        """Fit a reading without a baseline, with the sensors' scatter as the noise."""
        scatter = field_scatter(mean, use)
        fit = self._fit(subtract_uniform_field(mean, use), use, scatter)
        if not fit.beads and fit.residual < 3.0 and use.sum() >= 6:
            self.baseline = learn_baseline(mean, use, self._scans, firm=fit.sure)
        return BeadsAtRest(t, tuple(found.bead() for found in fit.beads), fit.sure)

    def _fit(self, ut: Array, use: NDArray[np.bool_], noise: float) -> BeadFit:
        fit = self.fitter.fit(
            ut,
            use,
            noise=noise,
            most=self._most,
            smallest=self._smallest,
            start=self._fitted,
            steel=self.baseline.steel if self.baseline else None,
        )
        self._fitted = fit.beads
        close = np.zeros(self._shape)
        for bead in fit.beads:
            close += bead.field_at(self.fitter.sensors_mm)
        self._watch.explained = np.abs(close).max(axis=1) > TOWARDS_RAIL * self._range
        return fit


def _subtract_mean(off: Array, ok: NDArray[np.bool_]) -> Array:
    """Return `off` (sensors, 3) minus its mean over the sensors that are `ok`; zero for the others."""
    if np.logical_and.reduce(ok):
        return off - np.add.reduce(off, axis=0) / len(off)
    return np.where(ok[:, None], off - off[ok].mean(axis=0), 0.0) if ok.any() else np.zeros_like(off)


# ufuncs' own `reduce`, because the methods and functions of numpy take several times as long for so few numbers
def _peak(off: Array) -> float:
    """Return the greatest absolute value."""
    return float(np.maximum.reduce(np.abs(off), axis=None))


def _median(values: Array) -> float:
    """Return the median, at least one value."""
    half = values.size // 2, (values.size - 1) // 2
    ordered = np.partition(values, half, axis=None)
    return float(0.5 * (ordered[half[0]] + ordered[half[1]]))


def _is_same_reading(a: BeadsAtRest, b: BeadsAtRest, within_mm: float) -> bool:
    """Return True if two readings agree, with positions within `within_mm`."""
    if a.sure != b.sure or len(a.found) != len(b.found):
        return False
    return all(
        p.pad == q.pad
        and p.marked == q.marked
        and abs((p.x_mm or 0.0) - (q.x_mm or 0.0)) < within_mm
        and abs((p.y_mm or 0.0) - (q.y_mm or 0.0)) < within_mm
        for p, q in zip(a.found, b.found, strict=True)
    )
