"""Checks each sensor on a few seconds of readings: faults that the detectors name, and statistics of their own.

A magnetometer's line never holds a reading: where a bead may lie is nobody's business. What a hide in progress would
tell is left out altogether (`hidden`), and so are magnetometers that the table is `without`: that is why not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.calibration.detectors import Detectors, Running, magnetometer_name
from pi_controller.doctor.report import Line
from pi_controller.link.messages import BoardEvent, Field, Gap, Health, LinkDown, LinkUp, Piezo, Touch
from pi_controller.mat.bead_baseline import scatter
from pi_controller.mat.hands import TouchError
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from pi_controller.link.messages import Message
    from pi_controller.mat.strikes import StrikeSettings

LISTEN_S = 5.0
"""Longer than any detector takes to name a dead sensor."""
ENOUGH_SCANS = 50
"""Scans from which a strip that never moved is called stuck."""
FULL_SCALE = 2048
"""The counts below are of a converter with this full scale; another's are in proportion."""
NOISY_COUNTS = 40.0
OFF_REST_COUNTS = 300.0
"""A piezo rests in the middle of the converter's range; so far beside it a stroke is cut off."""
FEW = 0.5
"""Share of the scans that a magnetometer answers at least."""
SENSORS = "Sensors"


class Ears:
    """Collects messages for `LISTEN_S` seconds and judges them in `lines`."""

    def __init__(self, strikes: StrikeSettings, *, hidden: bool = False, without: str = "") -> None:
        maps = pinmap()
        self._hidden = hidden
        self.without = without
        self._detectors = Detectors(strikes)
        pads = PADS
        self.piezo, self.touch = Running((pads,)), Running((pads, len(maps.touch.strips)))
        self.up: LinkUp | None = None
        self.ups = self.gaps = self.samples = self.scans = self.field_scans = 0
        self.first_at = self.last_at = 0.0
        self.grid = 0.0
        """Samples a second of each piezo, as the messages state."""
        self.why = ""
        self.health: list[Health] = []
        self.events: list[BoardEvent] = []
        self._answered = np.zeros(len(maps.magnetometer_positions()))
        self._field = Running((len(self._answered), 3))
        self._lowest = np.full(pads, np.inf)
        self._highest = np.full(pads, -np.inf)
        self._touched = (np.full(self.touch.mean.shape, np.inf), np.full(self.touch.mean.shape, -np.inf))

    def take(self, messages: Iterable[Message]) -> None:
        """Take what came."""
        for message in messages:
            match message:
                case LinkUp():
                    self.up, self.ups = message, self.ups + 1
                case LinkDown():
                    self.why = message.why
                case Gap():
                    self.gaps += 1
                case Health():
                    self.health.append(message)
                case BoardEvent():
                    self.events.append(message)
                case Piezo():
                    self._add_samples(message)
                case Touch():
                    counts = message.counts.astype(np.float64)
                    self.touch.add(counts)
                    low, high = self._touched
                    self._touched = (np.minimum(low, counts), np.maximum(high, counts))
                    self.scans += 1
                case Field():
                    self.field_scans += 1
                    self._answered += message.ok
                    self._field.add(message.ut, message.ok[:, None])
            if self._hidden and isinstance(message, Field):
                continue
            self._detectors.feed(message)

    def _add_samples(self, piezo: Piezo) -> None:
        if not self.samples:
            self.first_at = piezo.t
        self.grid = piezo.rate
        self.samples += len(piezo.samples)
        self.last_at = piezo.t + len(piezo.samples) / piezo.rate
        self.piezo.add(piezo.samples.astype(np.float64))
        self._lowest = np.minimum(self._lowest, piezo.samples.min(axis=0))
        self._highest = np.maximum(self._highest, piezo.samples.max(axis=0))

    @property
    def rate(self) -> float:
        """Samples a second of each piezo, as they came."""
        return self.samples / (self.last_at - self.first_at) if self.last_at > self.first_at else 0.0

    @property
    def looks_at_magnetometers(self) -> bool:
        """Whether there are magnetometers, and no bead that they would give away."""
        return not self._hidden and not self.without

    def lines(self) -> Iterator[Line]:
        """Yield one line a sensor; all "not here" when no board has answered."""
        yield from self._piezos()
        yield from self._strips()
        yield from self._magnetometers()

    def _piezos(self) -> Iterator[Line]:
        faults = {} if self._detectors.strikes is None else self._detectors.strikes.faults
        rest, noise = self.piezo.mean, self.piezo.rms
        share = self._detectors.full_scale / FULL_SCALE
        for i in range(len(rest)):
            name, pad = f"piezo of pad {i + 1}", i + 1
            why = faults.get(pad, "")
            if self.up is None:
                yield Line(SENSORS, name, "not here", "no board answers")
            elif not self.samples:
                yield Line(
                    SENSORS,
                    name,
                    "fail",
                    "no samples come",
                    "'moccasin-mat flash' puts the right firmware on the board",
                )
            elif why == "at its rail" or abs(rest[i]) > 0.98 * self._detectors.full_scale:
                todo = "check its plug, its two bias resistors and the clamp diodes: it should rest at half the supply"
                yield Line(SENSORS, name, "fail", "at its rail", todo)
            elif why == "silent":
                todo = "check its cable and the disc; tap the pad and look again"
                yield Line(SENSORS, name, "fail", "silent: nothing moves", todo)
            elif noise[i] > NOISY_COUNTS * share or why == "noisy":
                todo = "check its shield and ground; keep chargers, phones and hands away while the doctor listens"
                yield Line(SENSORS, name, "fail", f"noisy: {noise[i]:.0f} counts", todo)
            elif abs(rest[i]) > OFF_REST_COUNTS * share:
                todo = "check its two bias resistors: it should rest at half the supply"
                yield Line(SENSORS, name, "fail", f"rests {rest[i]:+.0f} counts off the middle", todo)
            else:
                found = f"rests {rest[i]:+.0f} counts off the middle, noise {noise[i]:.1f}"
                if self._lowest[i] == self._highest[i]:
                    found += "; it rests on one count, as a dead disc would: tap the pad and look again"
                yield Line(SENSORS, name, "pass", found)

    def _strips(self) -> Iterator[Line]:
        wrong = self._strip_faults()
        rest, noise = self.touch.mean, self.touch.rms
        low, high = self._touched
        for (pad, strip), mean in np.ndenumerate(rest):
            number = pad * rest.shape[1] + strip
            name = f"touch strip {number + 1} (pad {pad + 1}, {pinmap().touch.strips[strip]})"
            still = self.scans >= ENOUGH_SCANS and low[pad, strip] == high[pad, strip] and bool((high > low).any())
            why = wrong.get((pad + 1, strip), "stuck" if still else "")
            if self.up is None:
                yield Line(SENSORS, name, "not here", "no board answers")
            elif not self.scans:
                todo = "check the touch board's four wires and its address 0x5A"
                yield Line(SENSORS, name, "fail", "the touch board does not answer", todo)
            elif why == "silent":
                yield Line(SENSORS, name, "fail", "dead: it reads nothing", "check its wire and its plug")
            elif why == "stuck":
                yield Line(SENSORS, name, "fail", "stuck at one count", "unplug the board and plug it in again")
            elif why:
                yield Line(SENSORS, name, "fail", f"{why}: it jumps to and fro", "check its wire: it is loose")
            elif mean > 1000:
                yield Line(SENSORS, name, "fail", "no strip at this input", "check its wire and its plug")
            else:
                yield Line(SENSORS, name, "pass", f"{mean:.0f} counts, noise {noise[pad, strip]:.1f}")

    def _strip_faults(self) -> dict[tuple[int, int], str]:
        try:
            return {(fault.pad, fault.strip): fault.wrong for fault in self._detectors.hands.faults}
        except TouchError:
            return {}

    def _magnetometers(self) -> Iterator[Line]:
        faults = self._detectors.beads.faults
        there = self._answered >= FEW * max(self.field_scans, 1)
        there[[number for number, why in faults.items() if why]] = False
        askew = turned(self._field.mean, there) if self.looks_at_magnetometers else {}
        for number in range(len(self._answered)):
            name = magnetometer_name(number)
            why: str = faults.get(number, "")
            answered = self._answered[number] / max(self.field_scans, 1)
            if self.up is None:
                yield Line(SENSORS, name, "not here", "no board answers")
            elif self.without:
                yield Line(SENSORS, name, "not here", self.without)
            elif self._hidden:
                yield Line(SENSORS, name, "not here", "not looked at: a game is under way")
            elif not self.field_scans:
                todo = "check the multiplexers' wires and their addresses 0x70 to 0x72"
                yield Line(SENSORS, name, "fail", "no magnetometer answers", todo)
            elif why == "silent" or answered < FEW:
                todo = "check its plug and its channel on the multiplexer; take magnets away from it"
                yield Line(SENSORS, name, "fail", "dead: it does not answer, or is at its rail", todo)
            elif why == "rail":
                yield Line(SENSORS, name, "fail", "at its rail", "take magnets and iron away from it")
            elif why == "stuck":
                yield Line(
                    SENSORS, name, "fail", "stuck: it repeats one reading", "unplug the board and plug it in again"
                )
            elif why:
                yield Line(
                    SENSORS, name, "fail", "noisy", "check its plug; keep cables that carry current away from it"
                )
            elif number in askew:
                todo = "build it in like the others; or a magnet or iron lies there"
                yield Line(SENSORS, name, "fail", f"seems to be turned: {askew[number]}", todo)
            else:
                yield Line(SENSORS, name, "pass", f"answers {100 * answered:.0f} % of the time")


TURNS = {
    "a quarter to the left": np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "a quarter to the right": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "a half": np.diag([-1.0, -1.0, 1.0]),
    "upside down, its arrow as it should be": np.diag([1.0, -1.0, -1.0]),
    "upside down, its arrow the other way": np.diag([-1.0, 1.0, -1.0]),
}
"""How a module lies, seen from above, and what it then reads of a field."""
LIKELIER = 18.0
"""Twice the log of how much likelier the turn must be: some 4 sigma where a turn is easiest mistaken for chance."""
FITS = 16.0
"""Squared distance from what a turned one would read, in variances, up to which it fits: one in 1000 is farther."""
FEWEST_SENSORS = 8
"""With fewer sensors nobody knows what the others read."""


def turned(ut: NDArray[np.float64], there: NDArray[np.bool_]) -> dict[int, str]:
    """Return sensor (0 first) -> how it is turned, from the readings `ut` (sensors, 3) of an empty mat, microtesla."""
    if there.sum() < FEWEST_SENSORS:
        return {}
    spread = scatter(ut, there)
    found: dict[int, str] = {}
    for i in np.flatnonzero(there).tolist():
        others = there.copy()
        others[i] = False
        earth = np.median(ut[others], axis=0)
        off = {how: _variances(ut[i] - turn @ earth, spread) for how, turn in TURNS.items()}
        how = min(off, key=off.__getitem__)
        if off[how] < FITS and _variances(ut[i] - earth, spread) - off[how] > LIKELIER:
            found[i] = how
    return found


def _variances(off: NDArray[np.float64], spread: float) -> float:
    return float(off @ off) / spread**2
