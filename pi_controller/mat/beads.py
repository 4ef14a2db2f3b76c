"""Bead detector: waits until the field is at rest, then reports once what lies on the mat.

While nothing changes a scan costs a handful of array operations. A change - in one scan, or too small for one but
there in the average of several - opens a window; it closes when the field has kept still for `settle_s`, and then the
mean of the window is fitted. A uniform change (the earth's field, a door, a lift) is no change. What the sensors read
with no bead near is learned and followed as the mat is seen empty (`bead_baseline.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from pi_controller.mat import bead_baseline
from pi_controller.mat.bead_faults import TOWARDS_RAIL, SensorFaults
from pi_controller.mat.bead_fit import HIGHEST_MM, BeadFit, BeadFitter, FittedBead, shipped_fitter
from pi_controller.mat.bead_refine import MARKED_AM2
from pi_controller.mat.events import Bead, Beads
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pi_controller.link.messages import Field
    from pi_controller.mat.bead_baseline import Baseline
    from pi_controller.mat.bead_faults import Wrong

    Array = NDArray[np.float64]

FLOOR_UT = 0.25
"""What the sensors are off by even when averaged (one sigma)."""
TURNED = 0.012
"""And by this share of how much the uniform field has changed: sensors differ in gain and in how straight they sit."""
FAR = 5.5
"""Sigmas by which the largest of 72 readings leaves the noise."""
SAME_MM = 0.5
"""A bead that seems to have moved by less has not."""
BY_OTHERS_MM = 12.0
"""Nor has one that other sensors, after some have failed or come back, see this near."""
SECOND_LOOK = 25
"""After so many scans at rest a reading that did not decide is made again."""
FEWEST = 4
"""Scans that a settled reading averages at least."""
AFTER_HAND_S = 0.45
"""So long after a hand has gone at the soonest is reported what lies here.

A bead that the hand laid down as it left has been read by then. Without this wait the time from a hider's quick ready
to the seal would tell whether the bead was laid down by the last hand or before.
"""


class BeadTracker:
    """Turns scans of the magnetometers into `Beads`.

    `smallest` (A m^2) is the weakest bead in play: the default, the marked bead, will do where there are no unmarked
    balls. At `most` so many beads are told apart; when so many are seen, none is missing. Magnets up to `highest_mm`
    above the mat are no doubt there: fists that hold them may rest on it; with a `fitter` of one's own, that says how
    high. `in_play` is how many there are in all, where that is known: once all are seen, none hides in the baseline.
    `settle_s` is how long the field keeps still before it counts as at rest. `baseline` is one kept from before,
    else it is learned.
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
    ) -> None:
        self._fitter = fitter or shipped_fitter(highest_mm)
        self._smallest = smallest
        self._most = most
        self._in_play = in_play
        self._settle_s = settle_s
        self.baseline = baseline
        self._shape = self._fitter.sensors_mm.shape
        self._noise = 1.0
        self._noise_scans = 0
        self._assume_empty = False
        self._watch = SensorFaults(self._shape[0])
        self._range = pinmap().magnetometers.range_ut
        self._start_over()

    @property
    def faults(self) -> dict[int, Wrong]:
        """The magnetometers that are left out: number (0 first, in wire order) -> why."""
        return self._watch.wrong

    @property
    def present(self) -> Beads | None:
        """The beads last reported; None while a new reading is awaited."""
        return self._reported

    def _start_over(self) -> None:
        self._reported: Beads | None = None
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
        self._out = self._watch.left_out
        self._same_mm = SAME_MM

    def sense_again(self) -> None:
        """Discard the last report: the next reading at rest is emitted again (the link was down)."""
        self._start_over()

    def emit_again(self, t: float) -> None:
        """Emit the next reading at rest even if nothing has changed: a hand has gone at `t`.

        It is reported when the field has kept still for `settle_s` since, so it holds for what the hand left behind;
        and not before `AFTER_HAND_S`, so that the time of it does not tell whether this hand left anything.
        """
        self._again_since = t

    def forget(self) -> None:
        """Discard report and baseline: another board."""
        self.baseline = None
        self._noise, self._noise_scans = 1.0, 0
        self._watch = SensorFaults(self._shape[0])
        self._start_over()

    def known_empty(self) -> None:
        """Take the present field as the baseline: somebody who can see it says that no bead is near.

        Takes the reading at rest; while something moves, or before the first reading, the next one.
        """
        if self._quiet is None:
            self.baseline = None
            self._assume_empty = True
        else:
            self.baseline = bead_baseline.learn(self._quiet, self._use, self._scans, firm=True)
        self._reported = None
        self._before = None

    def feed(self, field: Field) -> list[Beads]:
        """Take one scan; return what has come to rest with it: one `Beads` or none."""
        beads = self._feed(field)
        if self._again_since is None:
            return beads
        # a wait of its own, for the hand may have moved the bead too little to be noticed yet
        wait_s = max(AFTER_HAND_S, self._settle_s)
        if field.t - self._again_since < wait_s - 1e-6 or self._quiet is None or self._reported is None:
            return []
        self._again_since = None
        return beads or [msgspec.structs.replace(self._reported, t=field.t)]

    def _feed(self, field: Field) -> list[Beads]:
        ok, ut = self._watch.feed(field.ut, field.ok), field.ut
        if not ok.all():
            ut = np.where(ok[:, None], ut, 0.0)
        if not 0.0 <= field.t - self._t < 1.0:
            self._move()
        self._changed(self._watch.left_out)
        self._t = field.t
        if self._quiet is not None:
            ok = ok & self._use
            off = _uneven(ut - self._quiet, ok)
            self._average += 0.2 * (off - self._average)
            noise = self._noise
            if np.abs(off).max() < FAR * noise and np.abs(self._average).max() < 0.45 * FAR * noise:
                self._rest(off, ok)
                return self._second_look(field.t) if self._scans == SECOND_LOOK else []
            self._move()
        return self._settle(field.t, ut, ok)

    def _changed(self, out: NDArray[np.bool_]) -> None:
        """Other sensors are left `out` from now on: what was reported went by others, so read again.

        Not where a sure reading does without one that is believed again: how soon that is tells how near it the bead
        came, and to read again would hold up the seal.
        """
        lost, back = out & ~self._out, self._out & ~out
        self._out = out
        if lost.any() or (back.any() and (self._quiet is None or self._reported is None or not self._reported.sure)):
            self._move()
            self._before, self._same_mm = None, BY_OTHERS_MM

    def _rest(self, off: Array, ok: NDArray[np.bool_]) -> None:
        """Nothing has changed: sharpen the picture of the noise and, slowly, of the empty mat."""
        self._noise += 0.02 * (max(0.1, float((off * off).mean()) ** 0.5) - self._noise)
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

    def _second_look(self, t: float) -> list[Beads]:
        """Read again where the first reading did not decide, now with more scans and none from before the rest."""
        if self._quiet is None or self._reported is None or self._reported.sure:
            return []
        self._quiet = self._quiet + self._average
        self._average = np.zeros(self._shape)
        return self._emit(t, self._quiet, self._use)

    def _move(self) -> None:
        """Something changes: wait for it to settle."""
        if self._quiet is not None:
            self._before, self._before_scans = self._quiet, min(self._scans, 40)
        self._quiet = None
        self._scans = 0

    def _settle(self, t: float, ut: Array, ok: NDArray[np.bool_]) -> list[Beads]:
        if self._last is not None:
            step = float(np.median(np.abs(ut - self._last)[ok])) / 0.954 if ok.any() else 1.0
            self._noise_scans += 1
            share = max(0.05, 1.0 / self._noise_scans)
            self._noise += share * (min(max(step, 0.1), 10.0) - self._noise)
        self._last = ut
        n = self._scans
        if n:
            seen = ok & (self._seen > 0)
            off = _uneven(ut - self._sum / np.maximum(self._seen, 1.0)[:, None], seen)
            if np.abs(off).max() > FAR * self._noise * (1.0 + 1.0 / n) ** 0.5:
                n = 0
        if not n:
            self._sum, self._ramp, self._seen = np.zeros(self._shape), np.zeros(self._shape), np.zeros(self._shape[0])
            self._since = t
        self._ramp = self._ramp + n * ut
        self._sum = self._sum + ut
        self._seen = self._seen + ok
        self._scans = n + 1
        if t - self._since < self._settle_s - 1e-6 or self._scans < FEWEST:
            return []
        if self._creeping():
            self._scans = 0
            return []
        mean = self._sum / np.maximum(self._seen, 1.0)[:, None]
        use = self._seen >= 0.5 * self._scans
        return self._at_rest(t, mean, use)

    def _creeping(self) -> bool:
        """Return whether the window has a slope, too little in any one reading but too much in all together."""
        n = self._scans
        whole = self._seen == n
        slope = _uneven(self._ramp - (n - 1) / 2 * self._sum, whole)
        spread = self._noise**2 * n * (n * n - 1) / 12
        count = 3 * int(whole.sum())
        return float((slope * slope).sum()) / spread > count + 5.0 * (2.0 * max(count, 1)) ** 0.5

    def _at_rest(self, t: float, mean: Array, use: NDArray[np.bool_]) -> list[Beads]:
        """The field keeps still: read it if it is not what it was before."""
        before, self._quiet, self._use = self._before, mean, use
        self._average = np.zeros(self._shape)
        if before is not None and self._reported is not None:
            noise = self._noise * (1.0 / self._scans + 1.0 / self._before_scans) ** 0.5
            if np.abs(_uneven(mean - before, use)).max() < FAR * noise:
                self._quiet, self._scans = before, self._before_scans  # so that creeping is measured from the reading
                return []
        return self._emit(t, mean, use)

    def _emit(self, t: float, mean: Array, use: NDArray[np.bool_]) -> list[Beads]:
        reading = self._read(t, mean, use)
        within, self._same_mm = self._same_mm, SAME_MM
        if self._reported is not None and _same(reading, self._reported, within):
            return []
        self._reported = reading
        return [reading]

    def _read(self, t: float, mean: Array, use: NDArray[np.bool_]) -> Beads:
        """Fit a reading at rest and learn from it what the sensors read when the mat is empty."""
        if self._assume_empty:
            self._assume_empty = False
            self.baseline = bead_baseline.learn(mean, use, self._scans, firm=True)
        base = self.baseline
        if base is None:
            return self._first(t, mean, use)
        floor = float(np.hypot(FLOOR_UT, TURNED * base.turned(mean, use)))
        noise = float(np.hypot(floor, self._noise * (1.0 / self._scans + 1.0 / base.scans) ** 0.5))
        fit = self._fit(mean - base.offsets, use & base.known, noise)
        beads: list[Bead] = []
        sure, least = fit.sure, float("inf")
        for found in fit.beads:
            field = found.field_at(self._fitter.sensors_mm)
            ratio = base.in_favour(field) if sure else bead_baseline.FIRM
            if ratio < 0.0:
                base.offsets = bead_baseline.even(base.offsets + field, base.known)
            else:
                beads.append(found.bead())
            least = min(least, abs(ratio))
            sure = sure and least > bead_baseline.OPEN
        # two that lie near share the field out between them, a ghost as well as a bead: only one alone settles it, or
        # all there are, for then none is left that could hide
        alone = sure and len(fit.beads) == 1
        base.firm = base.firm or (alone and least > bead_baseline.FIRM) or (sure and len(beads) == self._in_play)
        if sure and not fit.beads:
            base.follow(mean, use, self._scans)
        # while a bead may hide in the baseline, its ghost may be one of several: then the judge is asked
        return Beads(t, tuple(beads), sure and (base.firm or (alone and least > bead_baseline.DOUBT)))

    def _first(self, t: float, mean: Array, use: NDArray[np.bool_]) -> Beads:
        """Read without a baseline: the sensors' own scatter is all there is to go by."""
        scatter = bead_baseline.scatter(mean, use)
        fit = self._fit(bead_baseline.even(mean, use), use, scatter)
        if not fit.beads and fit.residual < 3.0 and use.sum() >= 6:
            self.baseline = bead_baseline.learn(mean, use, self._scans, firm=fit.sure)
        return Beads(t, tuple(found.bead() for found in fit.beads), fit.sure)

    def _fit(self, ut: Array, use: NDArray[np.bool_], noise: float) -> BeadFit:
        fit = self._fitter.fit(ut, use, noise=noise, most=self._most, smallest=self._smallest, start=self._fitted)
        self._fitted = fit.beads
        close = np.zeros(self._shape)
        for bead in fit.beads:
            close += bead.field_at(self._fitter.sensors_mm)
        self._watch.explained = np.abs(close).max(axis=1) > TOWARDS_RAIL * self._range
        return fit


def _uneven(off: Array, ok: NDArray[np.bool_]) -> Array:
    """Return `off` (sensors, 3) less its mean over the sensors that are `ok`; zero for the others."""
    if ok.all():
        return off - off.mean(axis=0)
    return np.where(ok[:, None], off - off[ok].mean(axis=0), 0.0) if ok.any() else np.zeros_like(off)


def _same(a: Beads, b: Beads, within_mm: float) -> bool:
    """Return whether two readings say the same, but for what noise does to places."""
    if a.sure != b.sure or len(a.found) != len(b.found):
        return False
    return all(
        p.pad == q.pad
        and p.marked == q.marked
        and abs((p.x_mm or 0.0) - (q.x_mm or 0.0)) < within_mm
        and abs((p.y_mm or 0.0) - (q.y_mm or 0.0)) < within_mm
        for p, q in zip(a.found, b.found, strict=True)
    )
