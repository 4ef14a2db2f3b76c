"""Model of the force-sensing resistor under each pad: sticks through cloth, hands, palms, knees, floor drums.

A simulation from physics, not checked against a real mat: it is never evidence about one. The pad is a stiff plate that
rests with its weight and some preload on one Interlink FSR 406; a stroke is a mass that meets cloth and foam.

* Stick: effective mass 50 g, contact stiffness of cloth and foam 7.2 kN/m (halved to doubled from stroke to stroke), so
  a half sine of 6 to 12 ms and 19 N for each m/s. A drumstick stays 3 to 6 ms on a drum's skin (A. Wagner, Analysis of
  Drumbeat, master's thesis, KTH Stockholm 2006, abstract); cloth over foam is softer.
* FSR 406 (Interlink data sheet): acts from 0.1 N, 0.1 to 10 N, parts differ by 6 %, no force 10 megohm. Between, its
  resistance falls about as a power of the force; 6 kilohm at 1 N and the power 0.85 were chosen here after the sheet's
  typical curve. It reads against 3.3 kilohm on a 12-bit converter with one count of noise.
* Plate: 0.15 kg, 80 Hz on its foam, damping 0.25 (chosen). Its mass times the floor's acceleration is the force that a
  drum makes: 75 mN at 0.5 m/s^2.
* A voluntary push is a smooth ramp (minimum jerk; T. Flash and N. Hogan, 1985). Flesh that meets the plate does so with
  a force as the 1.5th power of its indentation (Hertz): 0.3 kg on 2 kN/m, 30 to 50 ms, at up to 0.15 m/s (chosen). A
  slap is a blow and is not here.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pi_controller.pads import PADS
from pi_controller.sensing.recursive_filter import FilterDesign, RecursiveFilter

FsrHand = Literal["slow", "quick", "touch", "palm", "knee"]
HANDS: tuple[FsrHand, ...] = ("slow", "quick", "touch", "palm", "knee")

RATE = 4000.0
FSR_TOP = 4095
STICK_KG, CONTACT_N_M = 0.05, 7200.0
PLATE_HZ, PLATE_DAMPING = 80.0, 0.25
ACTS_N, IDLE_OHM, OHM_AT_1N, POWER = 0.1, 10e6, 6000.0, 0.85
NOISE_LSB = 1.0


class Pad(NamedTuple):
    """What lies on a force sensor, and the resistor that it reads against."""

    plate_kg: float
    preload_n: float
    divider_ohm: float

    @property
    def rest_n(self) -> float:
        """The force on the sensor at rest."""
        return self.plate_kg * 9.81 + self.preload_n


PLATE = Pad(0.15, 0.5, 3300.0)
"""Of the light mat: a stiff plate, pressed down by its cover."""
CORK = Pad(0.12, 0.3, 3300.0)
"""Of the school mat: a tile of cork, 30 x 30 x 0.5 cm, and the cloth on it."""


def counts(
    force_n: NDArray[np.float64], part: float | NDArray[np.float64] = 1.0, divider_ohm: float = PLATE.divider_ohm
) -> NDArray[np.float64]:
    """Return the divider's reading for a force (N), as unrounded 12-bit counts; `part` is this sensor's deviation."""
    force = np.maximum(force_n, 1e-6)
    ohm = part * OHM_AT_1N * force**-POWER
    ohm = np.where(force < ACTS_N, IDLE_OHM, np.minimum(ohm, IDLE_OHM))
    return FSR_TOP * divider_ohm / (divider_ohm + ohm)


def contact_s(stiffness: float = CONTACT_N_M) -> float:
    """Return how long the stick stays on the cloth, seconds."""
    return float(np.pi * np.sqrt(STICK_KG / stiffness))


def plate_on_foam(rate: float) -> FilterDesign:
    """Return the filter from the force on the plate to that under it: (2dws + w^2) / (s^2 + 2dws + w^2), bilinear."""
    w, double = 2 * np.pi * PLATE_HZ, 2 * rate
    upper = w * complex(-PLATE_DAMPING, np.sqrt(1 - PLATE_DAMPING**2))
    zero = -w / (2 * PLATE_DAMPING)
    poles: NDArray[np.complex128] = np.array([upper, upper.conjugate()])
    gain = 2 * PLATE_DAMPING * w * (double - zero) / abs(double - upper) ** 2
    zeros = np.array([(double + zero) / (double - zero), -1.0], dtype=np.complex128)
    return FilterDesign(zeros, (double + poles) / (double - poles), gain)


class FsrMat:
    """Some seconds of a mat with events on it; `samples()` returns the converter's readings."""

    def __init__(self, seed: int, seconds: float, pads: int = PADS, rate: float = RATE, pad: Pad = PLATE) -> None:
        self.rng = np.random.default_rng(seed)
        self.pad = pad
        self.rate, self.pads = rate, pads
        self.force = np.zeros((round(seconds * rate), pads))  # on the plates, N
        self.floor = np.zeros(self.force.shape)  # acceleration under them, m/s^2

    def strike(self, t: float, pad: int, speed: float) -> None:
        """Strike `pad` with the stick at `speed` m/s, off its middle: at least half of the force reaches the FSR."""
        stiffness = CONTACT_N_M * 2.0 ** self.rng.uniform(-1.0, 1.0)
        peak = speed * np.sqrt(stiffness * STICK_KG) * self.rng.uniform(0.5, 1.0)
        long = contact_s(stiffness)
        for other in range(1, self.pads + 1):
            far = abs(other - pad)
            down = 0.0 if far == 0 else min(45.0, self.rng.uniform(22.0, 38.0) + 3.5 * (far - 1))
            late = 0.0 if far == 0 else self.rng.uniform(0.4e-3, 5e-3) + 1.3e-3 * (far - 1)
            phase = (self._since(t + late)) / (long * (1.0 + 0.5 * (far > 0)))
            pulse = np.where((phase > 0) & (phase < 1), np.sin(np.pi * np.clip(phase, 0, 1)), 0.0)
            self.force[:, other - 1] += peak * 10.0 ** (-down / 20.0) * pulse

    def hand(self, t: float, pad: int, kind: FsrHand) -> None:
        """Press on `pad` with a hand or a knee from `t` on for up to about two seconds."""
        rng = self.rng
        if kind == "touch":  # flesh set down on the plate
            speed, mass, stiffness = rng.uniform(0.02, 0.15), 0.3, 2000.0 * 2.0 ** rng.uniform(-0.5, 0.5)
            phase = self._since(t) / (np.pi * np.sqrt(mass / stiffness))
            peak = speed * np.sqrt(mass * stiffness)
            pulse = np.where((phase > 0) & (phase < 1), np.sin(np.pi * np.clip(phase, 0, 1)), 0.0) ** 1.5
            self.force[:, pad - 1] += peak * pulse
            return
        rise, force, stay = {
            "slow": (rng.uniform(0.3, 1.0), rng.uniform(2.0, 30.0), rng.uniform(0.2, 0.8)),
            "quick": (rng.uniform(0.06, 0.2), rng.uniform(2.0, 20.0), rng.uniform(0.02, 0.3)),
            "palm": (rng.uniform(0.1, 0.3), rng.uniform(5.0, 40.0), rng.uniform(0.1, 0.8)),
            "knee": (rng.uniform(0.2, 0.6), rng.uniform(10.0, 60.0), rng.uniform(0.3, 1.0)),
        }[kind]
        after = self._since(t)
        push = _ramp(after / rise) - _ramp((after - rise - stay) / (rise * rng.uniform(0.8, 1.5)))
        push *= 1.0 + 0.02 * np.sin(2 * np.pi * rng.uniform(8.0, 12.0) * after + rng.uniform(0, 6))  # tremor
        if kind == "knee":
            push *= 1.0 + 0.2 * np.sin(2 * np.pi * rng.uniform(0.5, 2.0) * after)
        self.force[:, pad - 1] += force * push
        if kind in {"palm", "knee"}:  # broad: the next pad bears some of it
            other = pad + 1 if pad < self.pads else pad - 1
            self.force[:, other - 1] += force * rng.uniform(0.0, 0.3) * push

    def drums(self, peak: float, first: float = 0.0, beats_hz: float = 3.0) -> None:
        """Add drum beats through the floor from `first` s on, each about `peak` m/s^2, nearly equal on all pads."""
        if peak <= 0:
            return
        rng = self.rng
        gain, late = 10.0 ** (rng.normal(0.0, 1.0, self.pads) / 20.0), rng.uniform(0.0, 1.5e-3, self.pads)
        low, high = rng.uniform(18.0, 60.0, 3), rng.uniform(60.0, 140.0, 3)
        span = np.arange(round(0.6 * self.rate)) / self.rate
        t = first
        while t < len(self.force) / self.rate - 0.7:
            loud = 10.0 ** (rng.normal(0.0, 2.0) / 20.0)
            phase = rng.uniform(0.0, 2 * np.pi, 6)
            for pad in range(self.pads):
                after = np.maximum(span - late[pad], 0.0)
                wave = sum(np.sin(2 * np.pi * f * after + p) for f, p in zip(low, phase, strict=False))
                wave = wave * np.exp(-after / 0.12) + 0.7 * np.exp(-after / 0.05) * sum(
                    np.sin(2 * np.pi * f * after + p) for f, p in zip(high, phase[3:], strict=True)
                )
                wave *= 1.0 - np.exp(-after / 6e-3)
                start = round(t * self.rate)
                self.floor[start : start + len(wave), pad] += peak * loud * gain[pad] * wave / np.abs(wave).max()
            t += (1.0 + abs(rng.normal(0.0, 0.03))) / beats_hz

    def forces(self) -> NDArray[np.float64]:
        """Return (n, pads) the forces on the sensors, N."""
        plate = RecursiveFilter([plate_on_foam(self.rate)], self.pads)
        return plate.feed((self.force - self.pad.plate_kg * self.floor).T)[0].T + self.pad.rest_n

    def samples(self, hz: float = RATE, bits: int = 12) -> NDArray[np.int16]:
        """Return (n, pads) counts around mid-scale, in the form of the link's samples: `hz` of `bits`."""
        felt = self.forces()
        part = 1.0 + self.rng.uniform(-0.06, 0.06, self.pads)
        x = counts(felt, part, self.pad.divider_ohm) + self.rng.normal(0.0, NOISE_LSB, felt.shape)
        x = x[(np.arange(int(len(x) * hz / self.rate)) * (self.rate / hz)).astype(int)]
        whole = np.clip(np.rint(x), 0, FSR_TOP).astype(np.int16) >> 12 - bits
        return whole - np.int16(1 << bits - 1)

    def _since(self, t: float) -> NDArray[np.float64]:
        return np.arange(len(self.force)) / self.rate - t


def _ramp(s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a minimum-jerk ramp from 0 to 1 while `s` goes from 0 to 1."""
    s = np.clip(s, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
