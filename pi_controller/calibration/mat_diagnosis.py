"""Judge all sensors of an untouched mat: one diagnosis for doctor, the calibration and the exhibit's self-test."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pi_controller.board import wire
from pi_controller.board.messages import Field, Message, Piezo, Touch
from pi_controller.calibration.detectors import Detectors
from pi_controller.host.findings import SENSORS, Finding
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.magnetometer_diagnosis import diagnose_magnetometers
from pi_controller.sensing.piezo_diagnosis import Sensor, diagnose_piezos
from pi_controller.sensing.running_stats import RunningStats
from pi_controller.sensing.strip_diagnosis import diagnose_strips
from pi_controller.text import Sentence

ENOUGH_SCANS = 50
"""Scans after which a strip that never changed is stuck."""
BUS_HINT = Sentence("check SDA, SCL, 3V3 and ground from the board to the first part, and the two pull-up resistors")

Part = Literal["pads", "strips", "magnetometers"]
PARTS: tuple[Part, ...] = ("pads", "strips", "magnetometers")


class Readings:
    """Statistics of each sensor's readings (`add`), until `forget`."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop all readings."""
        maps = pinmap()
        self.samples = self.scans = self.field_scans = 0
        self.piezo, self.touch = RunningStats((PADS,)), RunningStats((PADS, len(maps.touch.strips)))
        self.answered = np.zeros(len(maps.magnetometer_positions()))
        self.field = RunningStats((len(self.answered), 3))
        self._piezo_range, self._touch_range = _Range((PADS,)), _Range(self.touch.mean.shape)

    def add(self, message: Message) -> None:
        """Add a message's readings, if it has any."""
        match message:
            case Piezo():
                self.samples += len(message.samples)
                self.piezo.add(message.counts)
                self._piezo_range.add(message.samples)
            case Touch():
                self.scans += 1
                self.touch.add(message.counts.astype(np.float64))
                self._touch_range.add(message.counts[None])
            case Field():
                self.field_scans += 1
                self.answered += message.ok
                self.field.add(message.ut, message.ok[:, None])
            case _:
                pass

    @property
    def answer_share(self) -> NDArray[np.float64]:
        """The share of the scans (sensors,) that each magnetometer answered."""
        return self.answered / max(self.field_scans, 1)

    @property
    def still_pads(self) -> NDArray[np.bool_]:
        """A mask (pads,) of those that never left one count."""
        return ~self._piezo_range.has_moved

    @property
    def still_strips(self) -> NDArray[np.bool_]:
        """A mask (pads, strips) of those that never left one count although others did."""
        moved = self._touch_range.has_moved
        return ~moved & (self.scans >= ENOUGH_SCANS and bool(moved.any()))


class _Range:
    def __init__(self, shape: tuple[int, ...]) -> None:
        self._low, self._high = np.full(shape, np.inf), np.full(shape, -np.inf)

    def add(self, counts: NDArray[np.int16]) -> None:
        self._low = np.minimum(self._low, counts.min(axis=0))
        self._high = np.maximum(self._high, counts.max(axis=0))

    @property
    def has_moved(self) -> NDArray[np.bool_]:
        return self._high > self._low


def diagnose_mat(
    detectors: Detectors,
    readings: Readings,
    sensor: Sensor = "piezo",
    parts: Collection[Part] = PARTS,
    turned: Mapping[int, str] | None = None,
) -> Iterator[Finding]:
    """Yield one finding per sensor of `parts`, or one for a part of the bus that is silent.

    `sensor` is the kind of strike sensor, `turned` are the turned magnetometer modules (0 first).
    """
    if "pads" in parts:
        yield from _diagnose_pads(detectors, readings, sensor)
    if not readings.scans and detectors.built.any() and not readings.answered.any():
        yield SENSORS.fails("I2C bus", "nothing on it answers: neither the touch chip nor a magnetometer", BUS_HINT)
        return
    if "strips" in parts:
        yield from _diagnose_strips(detectors, readings)
    if "magnetometers" in parts:
        yield from _diagnose_magnetometers(detectors, readings, turned or {})


def _diagnose_pads(detectors: Detectors, readings: Readings, sensor: Sensor) -> Iterator[Finding]:
    if detectors.strikes is None or not readings.samples:
        yield SENSORS.fails(
            Sentence("piezos of pads 1 to {pads}", pads=PADS),
            "no samples arrive",
            "'moccasin-mat mat flash' copies the right firmware to the board",
        )
        return
    steps = {event.part: event.value for event in detectors.find_events("discs")}
    rest, noise, still = readings.piezo.mean, readings.piezo.rms, readings.still_pads
    yield from diagnose_piezos(rest, noise, still, detectors.strikes.faults, steps, sensor)


def _diagnose_strips(detectors: Detectors, readings: Readings) -> Iterator[Finding]:
    rest = readings.touch.mean
    if not readings.scans:
        yield SENSORS.fails(
            Sentence("touch strips 1 to {strips}", strips=rest.size),
            "the touch chip does not answer",
            "check the touch board's four wires and its address 0x5A",
        )
        return
    pf = np.full(rest.shape, np.nan)
    for event in detectors.find_events("strips"):  # the board's last self test counts
        pf[event.part - 1] = wire.strips_pf(event.value)
    pf[pf == 0.0] = np.nan
    yield from diagnose_strips(rest, readings.touch.rms, readings.still_strips, detectors.hands.faults, pf)


def _diagnose_magnetometers(detectors: Detectors, readings: Readings, turned: Mapping[int, str]) -> Iterator[Finding]:
    if detectors.built.any() and not readings.field_scans:
        yield SENSORS.fails(
            Sentence("{count} magnetometers", count=int(detectors.built.sum())),
            "none of them answers",
            "check the multiplexers' wires and their addresses 0x70 to 0x72",
        )
        return
    noise = readings.field.rms.max(axis=1)
    yield from diagnose_magnetometers(readings.answer_share, noise, detectors.built, detectors.beads.faults, turned)
