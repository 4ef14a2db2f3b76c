"""Listen to an untouched mat for a few seconds, and ask the diagnosis of each kind of sensor.

During a hide (`hidden`) magnetometers are not checked at all, nor if the table has none (`without` states the reason).
"""

from collections.abc import Iterable, Iterator

from pi_controller.board.messages import BoardEvent, BoardHealth, Field, Gap, LinkUp, Message, Piezo
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.mat_diagnosis import Readings, diagnose_mat
from pi_controller.host.findings import SENSORS, Finding
from pi_controller.pads import EVERY_PAD
from pi_controller.sensing.magnetometer_diagnosis import (
    MIN_ANSWER_SHARE,
    find_turned_sensors,
    magnetometer_name,
)
from pi_controller.sensing.noise_spectrum import NoiseSpectrum
from pi_controller.sensing.piezo_diagnosis import Sensor, piezo_name
from pi_controller.sensing.strip_diagnosis import strip_name
from pi_controller.text import Sentence

LISTEN_S = 5.0
"""Longer than any detector needs to detect a dead sensor."""


class SensorListener:
    """Collects messages for `LISTEN_S` seconds (`take`); `diagnose` judges them.

    `detectors` find the faults that show in the course of readings; `sensor` is the kind of strike sensor. With `noise`
    the lines describe the noise of the strike sensors, too.
    """

    def __init__(
        self,
        detectors: Detectors,
        sensor: Sensor = "piezo",
        *,
        hidden: bool = False,
        without: str = "",
        noise: bool = False,
    ) -> None:
        self._detectors = detectors
        self._sensor: Sensor = sensor
        self._hidden = hidden
        self.without = without
        self.readings = Readings()
        self._noise = NoiseSpectrum() if noise else None
        self.ups = self.gaps = 0
        self.first_at = self.last_at = 0.0
        self.grid = 0.0
        """Samples a second of each piezo, as the messages state."""
        self.health: list[BoardHealth] = []

    def take(self, messages: Iterable[Message]) -> None:
        """Process the messages received."""
        for message in messages:
            match message:
                case LinkUp():
                    self.ups += 1
                case Gap():
                    self.gaps += 1
                case BoardHealth():
                    self.health.append(message)
                case Piezo():
                    if not self.readings.samples:
                        self.first_at = message.t
                    self.grid = message.rate
                    if self._noise is not None:
                        self._noise.add(message.counts, message.rate)
                    self.last_at = message.t + len(message.samples) / message.rate
                case _:
                    pass
            self.readings.add(message)
            if not (self._hidden and isinstance(message, Field)):
                self._detectors.feed(message)

    @property
    def up(self) -> LinkUp | None:
        """The link's last start; None before any."""
        return self._detectors.up

    @property
    def events(self) -> list[BoardEvent]:
        """The board's events."""
        return self._detectors.events

    def find_events(self, kind: str) -> list[BoardEvent]:
        """Return the board's events of a kind since the link came up; none without a link."""
        return self._detectors.find_events(kind)

    @property
    def rate(self) -> float:
        """Measured samples a second of each piezo."""
        return self.readings.samples / (self.last_at - self.first_at) if self.last_at > self.first_at else 0.0

    @property
    def magnetometers(self) -> int:
        """How many the mat has."""
        return int(self._detectors.built.sum())

    @property
    def checks_magnetometers(self) -> bool:
        """True if there are magnetometers and no bead that they could reveal."""
        return not self._hidden and not self.without

    def lines(self) -> Iterator[Finding]:
        """Yield one finding per sensor, or one for a part of the bus that is silent; all "not here" without a board."""
        built = self._detectors.built
        if self.up is None:
            names = [*map(piezo_name, EVERY_PAD), *map(strip_name, range(self.readings.touch.mean.size))]
            names += [magnetometer_name(n) for n in range(len(built)) if built[n] or not self.checks_magnetometers]
            yield from (SENSORS.absent(name, "no board answers") for name in names)
        elif self.checks_magnetometers:
            yield from diagnose_mat(self._detectors, self.readings, self._sensor, turned=self._find_turned())
        else:
            yield from diagnose_mat(self._detectors, self.readings, self._sensor, ("pads", "strips"))
            why = self.without or Sentence("not checked: a game is in progress")
            yield from (SENSORS.absent(magnetometer_name(n), why) for n in range(len(built)))
        if missing := len(built) - self.magnetometers if self.checks_magnetometers else 0:
            yield SENSORS.absent(
                Sentence("{count} more magnetometers", count=missing),
                "not built: [board] magnetometers in the settings",
            )
        yield from self.noise_lines()

    def noise_lines(self) -> Iterator[Finding]:
        """Yield the spectrum of each strike sensor's noise, and what they have in common; nothing without samples."""
        for name, text in self._noise.lines() if self._noise is not None else ():
            yield SENSORS.passes(name, text)

    def _find_turned(self) -> dict[int, str]:
        """Return the turned modules among those that work, and their orientations."""
        there = self.readings.answer_share >= MIN_ANSWER_SHARE
        there[[*self._detectors.beads.faults]] = False
        return find_turned_sensors(self.readings.field.mean, there)
