"""Step 4 of the calibration, the bead: checks that one marked bead is read where it lies, and finds what disturbs that.

The marked bead is asked for at three places of each pad. The readings give its strength, and tell of steel under the
mat (the bead has an image dipole in it) and of modules that contradict the others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Field, Message
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.steps import Bar, PadByPad, describe_place, make_fault
from pi_controller.host.findings import Finding
from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_fit import FittedBead
from pi_controller.sensing.bead_solver import ANY_STRENGTH, BEAD_HEIGHT_MM, MARKED_AM2, Refiner, Steel
from pi_controller.sensing.beads import FLOOR_UT
from pi_controller.sensing.events import BeadsAtRest, MatEvent
from pi_controller.sensing.magnetometer_diagnosis import magnetometer_name
from pi_controller.text import Sentence, join_words

Array = NDArray[np.float64]

SPOTS = (
    (Sentence("Lay the marked bead in the middle of pad {pad} and take the hand away."), (0.0, 0.0)),
    (
        Sentence("Lay the marked bead near the left corner of pad {pad} at the hider's edge and take the hand away."),
        (-80.0, -100.0),
    ),
    (
        Sentence("Lay the marked bead near the right corner of pad {pad} at the hitter's edge and take the hand away."),
        (80.0, 100.0),
    ),
)
"""Where the bead is asked for on each pad: left and right as the hider sees them, and mm from its centre."""
HINT_S = 1.5
"""Delay before a wrong reading is reported: the hand may still be moving the bead."""
UNSURE_S = 4.0
"""Time at rest after which a reading is kept although it is not that of one bead: modules may be wrong."""
WRONG_PAD_S = 8.0
"""The same if one bead is read elsewhere: time to put it right."""
MIN_BEAD_UT = 6.0
"""Smallest field of a marked bead on a pad at the closest module, 14 cm away on a mat of eight."""
SAME_UT = 4.0
"""A bead has not been moved if no module's field has changed by more."""
WEAK = 0.6
"""A bead below this share of a marked bead's strength cannot be reliably distinguished from an unmarked ball."""
MAX_DEPTH_ERROR_MM = 8.0
"""The magnetometers of a mat that is built well lie as near to the depth that the settings say."""
READING_NOISE_UT = 0.5
"""Noise of a reading averaged over the last scans, in the search for steel."""
MAX_MISFIT = 6.0
"""A reading that is more sigmas than this above noise is not that of one bead."""
STARTS_MM = np.array([(0.0, 0.0, 0.0), *((30.0 * x, 30.0 * y, 0.0) for x in (-1, 1) for y in (-1, 1))])
"""Where a fit of the bead starts, from the place that it was asked for at."""
MAX_LEFT_OUT = 2
"""Modules that may contradict the others while the bead is on one pad."""
MAX_NAMED = 4
"""More modules than this that contradict the others are no fault of a module."""
NO_STEEL: Mapping[int, Steel] = {}
STEEL_HINT = Sentence("move the mat, or put wood under it, and calibrate again")


class Reading(NamedTuple):
    """The bead at rest: on which `pad` (1 first) and at which of `SPOTS` it was asked for.

    `ut` (sensors, 3) microtesla without the empty mat's field, `ok` (sensors,), `noise` one sigma of an axis.
    """

    pad: int
    spot: int
    ut: Array
    ok: NDArray[np.bool_]
    noise: float


class Doubt(NamedTuple):
    """Why a reading is not accepted at once, and after which time at rest it is kept all the same."""

    message: Sentence
    hint: Sentence
    wait_s: float


class BeadStep(PadByPad):
    """Asks for the bead on each pad. A wrong reading may be corrected until it is kept.

    `steel` is the steel found under all pads, which the profile keeps. Steel under some pads only is reported.
    """

    name = "bead"
    title = Sentence("The bead on each pad")

    def __init__(self, pads: int) -> None:
        super().__init__(pads)

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self.restart(t)
        self._detectors = detectors
        self.spot = 0
        self.moments = [0.0] * self.pads
        self.steel: Steel | None = None
        self._steel_at: dict[int, Steel] = {}
        self._readings: list[Reading] = []
        self._doubts: dict[int, Doubt] = {}
        self._kept: Array | None = None  # the last reading kept: the bead still lies there
        self._still: Reading | None = None  # the reading that has not changed since `_since`
        self._since = t

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Process one message and the events that the detectors made of it."""
        if self.pad is None or self.spot is None:
            return
        if isinstance(message, Field):
            # not left to the tracker: it takes no notice of a module that contradicts the others
            reading = self._measure(self.pad, self.spot)
            still = self._still
            if reading is None or still is None or np.abs(reading.ut - still.ut).max() > SAME_UT:
                self._still, self._since = reading, t
        for event in events:
            if isinstance(event, BeadsAtRest) and event.sure and [bead.pad for bead in event.found] == [self.pad]:
                if self._is_new():
                    self._keep(t)
                return

    def tick(self, t: float) -> None:
        """Advance to `t`: show hints, keep a reading that stays, and give up the pad after a timeout."""
        self.note = ""
        if self.pad is not None and self._is_new():
            doubt = self._find_doubt(self.pad)
            if t - self._since > doubt.wait_s:
                self._doubts.setdefault(self.pad, doubt)
                self._keep(t)
            elif t - self._since > HINT_S:
                self.note = Sentence.concat(": ", (doubt.message, doubt.hint))
        if self.pad is not None and self.is_timed_out(t):
            what, hint = (self._find_doubt(self.pad) if self._is_new() else self._no_bead(self.pad))[:2]
            self.fail(what, hint)
            self.spot = 0
            self.next_pad(t)
        if self.over:
            self.spot = None
            self._judge()

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        return Sentence(SPOTS[self.spot or 0][0], pad=self.pad)

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar per pad: how many of the places the bead was read at."""
        bars: list[Bar] = []
        for pad, state in enumerate(self.states, 1):
            done = sum(reading.pad == pad for reading in self._readings)
            text = {"now": Sentence("now"), "bad": Sentence("wrong")}.get(state, Sentence("later"))
            if done:
                text = Sentence("{n} of {all} places", n=done, all=len(SPOTS))
            bars.append(Bar(Sentence("pad {pad}", pad=pad), done / len(SPOTS), text, state))
        return tuple(bars)

    @staticmethod
    def _no_bead(pad: int) -> tuple[str, str]:
        hint = Sentence("check that it holds its magnet; 'moccasin-mat mat check' names dead magnetometers")
        return Sentence("the mat finds no bead on pad {pad}", pad=pad), hint

    # one reading

    def _measure(self, pad: int, spot: int) -> Reading | None:
        """Return the present reading; None without a baseline."""
        base, scans = self._detectors.beads.baseline, self._detectors.scans
        if base is None or not scans:
            return None
        ut, ok = self._detectors.field()
        ok = ok & base.known
        spread = np.var([scan.ut[ok] for scan in scans], axis=0, ddof=1) if len(scans) > 1 and ok.any() else np.ones(1)
        noise = (FLOOR_UT**2 + float(spread.mean()) / len(scans)) ** 0.5
        return Reading(pad, spot, np.where(ok[:, None], ut - base.offsets - base.level, 0.0), ok, noise)

    def _is_new(self) -> bool:
        """Return True if a bead is there, and not where the last reading was kept."""
        if self._still is None:
            return False
        ut, ok = self._still.ut, self._still.ok
        if not ok.any() or np.abs(ut[ok] - np.median(ut[ok], axis=0)).max() < MIN_BEAD_UT:
            return False
        return self._kept is None or bool(np.abs(self._still.ut - self._kept).max() > SAME_UT)

    def _find_doubt(self, pad: int) -> Doubt:
        """Return why the reading at rest is not accepted at once."""
        report = self._detectors.beads.last_report
        found = () if report is None else report.found
        if report is not None and report.sure and len(found) == 1 and found[0].pad != pad:
            where = describe_place(found[0].pad)
            what = Sentence("the bead should be on pad {pad}, but the mat finds it {where}", pad=pad, where=where)
            return Doubt(what, Sentence("put it on pad {pad}", pad=pad), WRONG_PAD_S)
        if len(found) > 1:
            what = Sentence("the mat finds {n} magnets, but only one bead lies on pad {pad}", n=len(found), pad=pad)
            return Doubt(what, Sentence("take other magnets away"), UNSURE_S)
        what = Sentence("the bead on pad {pad} is not located reliably", pad=pad)
        return Doubt(what, Sentence("take phones and keys away from the mat"), UNSURE_S)

    def _keep(self, t: float) -> None:
        """Keep the reading at rest, and ask for the bead at the next place."""
        assert self.pad is not None
        reading = self._measure(self.pad, self.spot or 0)
        if reading is None:
            return
        self._readings.append(reading)
        self._kept = reading.ut
        if reading.spot + 1 < len(SPOTS):
            self.spot, self.moved = reading.spot + 1, t
        else:
            self.spot = 0
            self._find_steel(reading.pad)
            self.next_pad(t)

    # all readings

    def _find_steel(self, pad: int) -> None:
        """Look for steel under `pad` in its readings."""
        readings = [(reading.ut, reading.ok) for reading in self._readings if reading.pad == pad]
        steel = self._detectors.beads.fitter.find_steel(readings, READING_NOISE_UT)
        if steel is not None and all(self._fit_bead(*each, steel).pad == pad for each in readings):
            self._steel_at[pad] = steel

    def _fit_bead(self, ut: Array, ok: NDArray[np.bool_], steel: Steel | None) -> FittedBead:
        """Return the one bead of a reading over `steel`."""
        found = self._detectors.beads.fitter.fit(ut, ok, noise=1.0, most=1, steel=steel).beads
        return found[0] if found else FittedBead(0.0, 0.0, 0.0, (0.0, 0.0, 0.0), marked=True, pad=None, sd_mm=0.0)

    def _judge(self) -> None:
        """End the step with its faults or its results."""
        if not self._readings:
            return
        if self._are_explained():
            self._judge_beads()
        elif exchanged := self._find_exchanged_pads():
            what = Sentence("the magnetometers of pads {first} and {second} are exchanged")
            self.wrong.append(make_fault(what, "exchange their plugs", first=exchanged[0], second=exchanged[1]))
        elif not (contradicting := self._find_contradicting()) and self._are_explained(self._steel_at):
            self._judge_beads()
        else:
            self._report_contradiction(contradicting)
        if not self.wrong:
            strong = join_words(f"{1000 * moment:.0f}" for moment in self.moments)
            words = Sentence("the mat finds one marked bead, on the right pad; strength {strong} mA m\u00b2")
            self.found = [Sentence(words, strong=strong)]
            if self._steel_at:
                nearest = min(self._steel_at.values(), key=lambda steel: steel.depth_mm)
                what = _describe_steel(nearest, self._chip_mm, list(self._steel_at))
                self.found.append(Sentence("{what}: better {hint}", what=what, hint=Sentence(STEEL_HINT)))

    def _are_explained(self, steel_at: Mapping[int, Steel] = NO_STEEL) -> bool:
        """Return True if one bead explains each reading, over the steel at its pad."""
        for reading in self._readings:
            steel = steel_at.get(reading.pad)
            noise = 1.0 if steel else reading.noise  # steel with an end is never fitted to the noise
            fit = self._detectors.beads.fitter.fit(reading.ut, reading.ok, noise=noise, most=1, steel=steel)
            if fit.residual > 1.0 + MAX_MISFIT * (2.0 / _freedom(reading.ok)) ** 0.5:
                return False
        return True

    def _misfit(self, reading: Reading, without: Collection[int]) -> float:
        """Return how far chi squared of a bead near the place asked for is above its mean in noise, sigmas.

        The modules in `without` (0 first) are left out.
        """
        ok = reading.ok.copy()
        ok[[*without]] = False
        refiner = Refiner(self._detectors.beads.fitter.sensors_mm, reading.ut, ok, reading.noise)
        middle, spot = pinmap().pads.centre(reading.pad), SPOTS[reading.spot][1]
        starts = np.array([*np.add(middle, spot), BEAD_HEIGHT_MM[0]]) + STARTS_MM
        moments = np.array([refiner.moment_at(start, reading.ut, ok.astype(np.float64)) for start in starts])
        kinds = np.full((len(starts), 1), MARKED_AM2)
        best = refiner.refine(starts[:, None], moments[:, None], kinds, spread=ANY_STRENGTH)[0]
        freedom = _freedom(ok)
        return (best.chi2 - freedom) / (2.0 * freedom) ** 0.5

    def _worst_misfit(self, readings: Iterable[Reading], without: Collection[int]) -> float:
        """Return the largest misfit of `readings`, infinite as soon as one is not that of a bead."""
        worst = float("-inf")
        for reading in readings:
            worst = max(worst, self._misfit(reading, without))
            if worst > MAX_MISFIT:
                return float("inf")
        return worst

    def _find_exchanged_pads(self) -> tuple[int, int] | None:
        """Return the two pads whose magnetometers explain each reading if they are exchanged."""
        places = len(pinmap().magnetometers.offsets_mm)
        for a, b in combinations(range(self.pads), 2):
            order = np.arange(self.pads * places).reshape(self.pads, places)
            order[[a, b]] = order[[b, a]]
            here = order.ravel()
            exchanged = (reading._replace(ut=reading.ut[here], ok=reading.ok[here]) for reading in self._readings)
            if self._worst_misfit(exchanged, ()) <= MAX_MISFIT:
                return a + 1, b + 1
        return None

    def _find_contradicting(self) -> list[int]:
        """Return the modules (0 first) without which one bead explains each reading; [] if no few modules do that."""
        found: list[int] = []
        built = np.flatnonzero(self._detectors.built).tolist()
        for pad in range(1, self.pads + 1):
            readings = [reading for reading in self._readings if reading.pad == pad]
            for count in range(MAX_LEFT_OUT + 1):
                misfits = {self._worst_misfit(readings, (*found, *some)): some for some in combinations(built, count)}
                if (least := min(misfits, default=float("inf"))) <= MAX_MISFIT:
                    found += misfits[least]
                    break
        return found if self._worst_misfit(self._readings, found) <= MAX_MISFIT else []

    def _judge_beads(self) -> None:
        """Report beads of the wrong kind or on the wrong pad; note their strength, and steel under all pads."""
        if len(self._steel_at) == self.pads:
            readings = [(reading.ut, reading.ok) for reading in self._readings]
            self.steel = self._detectors.beads.fitter.find_steel(readings, READING_NOISE_UT)
        beads_on: dict[int, list[FittedBead]] = {}
        for reading in self._readings:
            bead = self._fit_bead(reading.ut, reading.ok, self._steel_at.get(reading.pad))
            beads_on.setdefault(reading.pad, []).append(bead)
        off_mm = float(np.median([bead.z_mm for beads in beads_on.values() for bead in beads])) - BEAD_HEIGHT_MM[0]
        if abs(off_mm) > MAX_DEPTH_ERROR_MM:
            for pad in beads_on:
                self.states[pad - 1] = "bad"
            self.wrong.append(
                make_fault(
                    "the magnetometers lie about {depth} mm deep, not {right}",
                    "set [board] depth_mm: 30, or 18 for a flat mat",
                    depth=f"{off_mm - self._chip_mm:.0f}",
                    right=f"{-self._chip_mm:.0f}",
                )
            )
            return
        for pad, beads in beads_on.items():
            self.moments[pad - 1] = float(np.mean([np.linalg.norm(bead.moment) for bead in beads]))
            elsewhere = [bead.pad for bead in beads if bead.pad != pad]
            if elsewhere:
                what = Sentence("the bead should be on pad {pad}, but the mat finds it {where}")
                hint = "put it on the pad that the step names"
                self._fail_pad(pad, make_fault(what, hint, pad=pad, where=describe_place(elsewhere[0])))
            elif not all(bead.marked for bead in beads):
                what = Sentence("the mat takes the bead on pad {pad} for an unmarked ball")
                self._fail_pad(pad, make_fault(what, "use the bead with the strong magnet", pad=pad))
            elif self.moments[pad - 1] < WEAK * MARKED_AM2:
                what = Sentence("the bead on pad {pad} is weak")
                self._fail_pad(pad, make_fault(what, "use a bead with a magnet of 6 x 6 mm, N42", pad=pad))

    @property
    def _chip_mm(self) -> float:
        return float(self._detectors.beads.fitter.sensors_mm[0, 2])

    def _report_contradiction(self, contradicting: Sequence[int]) -> None:
        """Report that no bead explains the readings, and the modules that contradict the others."""
        names = [magnetometer_name(number) for number in contradicting]
        if 0 < len(names) <= MAX_NAMED:
            self.wrong.append(
                make_fault(
                    "{names} contradicts the other magnetometers"
                    if len(names) == 1
                    else "{names} contradict the other magnetometers",
                    "take other magnets away; if there are none, check how each is mounted, its plug and its chip",
                    names=join_words(names),
                )
            )
        elif self._steel_at:
            pads = list(self._steel_at)
            steel = _describe_steel(self._steel_at[pads[0]], self._chip_mm, pads)
            self._fail_pad(pads[0], make_fault(steel, STEEL_HINT))
        else:
            for pad, doubt in self._doubts.items():
                self._fail_pad(pad, make_fault(doubt.message, doubt.hint))
            if not self._doubts:
                hint = "take other magnets away; if there are none, check the plugs of the multiplexers"
                self.wrong.append(make_fault("no single bead explains the readings", hint))

    def _fail_pad(self, pad: int, fault: Finding) -> None:
        self.wrong.append(fault)
        self.states[pad - 1] = "bad"


def _freedom(ok: NDArray[np.bool_]) -> int:
    """Return the degrees of freedom of a fit of one bead to the modules in `ok`."""
    return max(3 * int(ok.sum()) - 8, 1)


def _describe_steel(steel: Steel, chip_mm: float, pads: Sequence[int]) -> Sentence:
    """Return a sentence that says how deep the steel lies under `pads`. `chip_mm` is the magnetometers' z, below 0."""
    return Sentence(
        "iron or steel lies about {depth} mm under the mat at pad {pads}"
        if len(pads) == 1
        else "iron or steel lies about {depth} mm under the mat at pads {pads}",
        depth=5 * round((steel.depth_mm + chip_mm) / 5),
        pads=join_words(map(str, pads)),
    )
