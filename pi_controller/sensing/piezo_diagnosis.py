"""Judge the strike sensors of an untouched mat by their rest level, their noise and the answer of their discs.

A channel at digital silence is healthy: a clean converter rests on one count. All counts are those of a converter of 12
bits, from the middle of its range.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pi_controller.board import wire
from pi_controller.host.findings import SENSORS, Finding
from pi_controller.pinmap import pinmap
from pi_controller.sensing.events import HUM
from pi_controller.text import Sentence

NOISY_COUNTS = 40.0
"""Noise, rms, above which soft strokes are lost: 34 dB below the rail."""
MIDDLE_COUNTS = 2048.0
VOLT_PER_COUNT = 3.3 / 4095
OFF_REST_COUNTS = 300.0
"""A piezo rests in the middle of the converter's range; with a larger offset a stroke is clipped."""
MAX_RAIL_COUNTS = 110.0
"""A pad that rests nearer to ground or 3.3 V is shorted, or lacks a bias resistor: its follower reaches no farther."""
MAX_DIODE_COUNTS = 290.0
"""One that rests nearer than this (0.23 V) is held by a clamp diode that is reversed: a Schottky diode's drop."""
MIN_DISC_MS = 1.3
"""With a disc a pad takes at least this long to rise with its bias: 2.1 to 3.4 ms, without one 0.8 ms."""

Sensor = Literal["piezo", "fsr"]
RestFault = Literal["", "rail", "diode", "bias"]
Wrong = tuple[Sentence, Sentence]
"""What is wrong, and the remedy."""


def diagnose_piezos(
    rest: NDArray[np.float64],
    noise: NDArray[np.float64],
    still: NDArray[np.bool_],
    faults: Mapping[int, str],
    steps: Mapping[int, int],
    sensor: Sensor = "piezo",
) -> Iterator[Finding]:
    """Yield the finding for each pad's `sensor` from its mean `rest` and rms `noise`, counts (pads,).

    `still` (pads,) is true for a pad that never left one count; `faults` are the strike detector's by pad, `steps` the
    `wire.DISCS` values by pad, empty if the board has not tested its discs. A force sensor has no disc, and rests
    wherever its plate's weight leaves it.
    """
    for pad, (level, rms) in enumerate(zip(rest.tolist(), noise.tolist(), strict=True), 1):
        name, why = piezo_name(pad), faults.get(pad, "")
        wrong = _explain_force(level, why) if sensor == "fsr" else _explain_piezo(pad, level, why, steps)
        if wrong := wrong or _explain_noise(rms, why):
            yield SENSORS.fails(name, *wrong)
            continue
        found = [
            Sentence("rests {level} counts off the middle, noise {noise}", level=f"{level:+.0f}", noise=f"{rms:.1f}")
        ]
        step = steps.get(pad, 0)
        if step == wire.NOT_SWITCHED:
            found.append(Sentence("bias is not switched: disc not tested"))
        elif step:
            found.append(Sentence("its disc is there: {time} ms", time=f"{wire.disc_ms(step):.1f}"))
        if still[pad - 1] and step in {0, wire.NOT_SWITCHED}:
            found.append(Sentence("it rests on one count, as a dead disc would: tap the pad and run the check again"))
        yield SENSORS.passes(name, Sentence.concat("; ", found))


def piezo_name(pad: int) -> Sentence:
    """Return the name of a pad's strike sensor (pad 1 first)."""
    return Sentence("piezo of pad {pad}", pad=pad)


def _explain_piezo(pad: int, rest: float, why: str, steps: Mapping[int, int]) -> Wrong | None:
    """Return what is wrong with the rest level or the disc, the most telling cause first; None if nothing is."""
    step = explain_step(pad, steps)
    if why in {"silent", "feeling nothing"} and (step is None or steps[pad] == wire.NOT_SWITCHED):
        step = _wrong("silent: no signal", "check its cable and the disc; tap the pad and run the check again")
    return _explain_rest(rest, is_at_rail=why == "at its rail") or step


def _explain_force(rest: float, why: str) -> Wrong | None:
    if why == "at its rail" or classify_rest(rest) == "rail":
        rail = Sentence("ground") if rest < 0 else "3.3 V"
        return _wrong("at its rail: it rests at {rail}", "check its plug, its wire and its resistor", rail=rail)
    if why in {"silent", "feeling nothing"}:
        return _wrong("silent: no signal", "check its cable; tap the pad and run the check again")
    return None


def _explain_noise(noise: float, why: str) -> Wrong | None:
    if why == HUM:
        return _wrong(
            "hum of the mains: {noise} counts",
            "move chargers and mains cables away, check its shield and ground, and try another supply",
            noise=f"{noise:.0f}",
        )
    if noise > NOISY_COUNTS or why in {"noisy", "drowned by hum or noise"}:
        return _wrong(
            "noisy: {noise} counts",
            "check its shield and ground; keep chargers, phones and hands away during the test",
            noise=f"{noise:.0f}",
        )
    return None


def classify_rest(counts: float) -> RestFault:
    """Return which fault lets a pad rest `counts` off the middle; `circuits.py --simulate` prints its level."""
    from_rail = MIDDLE_COUNTS - abs(counts)
    if from_rail <= MAX_RAIL_COUNTS:
        return "rail"
    if from_rail <= MAX_DIODE_COUNTS:
        return "diode"
    return "bias" if abs(counts) > OFF_REST_COUNTS else ""


def _explain_rest(counts: float, *, is_at_rail: bool) -> Wrong | None:
    """Return what is wrong with a pad that rests `counts` off the middle, and the remedy; None if nothing is.

    R1, R3, D1 and D2 are the names in the drawing of the piezo input.
    """
    fault: RestFault = "rail" if is_at_rail else classify_rest(counts)
    rail, resistor, diode = (Sentence("ground"), "R1", "D2") if counts < 0 else ("3.3 V", "R3", "D1")
    if fault == "rail":
        return _wrong(
            "at its rail: it rests at {rail}",
            "look for a short of its disc or wire to {rail}, and check its bias resistor {resistor}",
            rail=rail,
            resistor=resistor,
        )
    if fault == "diode":
        return _wrong(
            "rests {volt} V from {rail}, as if its clamp diode {diode} were reversed",
            "turn {diode} round (D1's band to 3V3, D2's to R2); else check its bias resistors R1 and R3",
            volt=f"{VOLT_PER_COUNT * (MIDDLE_COUNTS - abs(counts)):.2f}",
            rail=rail,
            diode=diode,
        )
    if fault == "bias":
        return _wrong(
            "rests {level} counts off the middle",
            "one of its bias resistors R1 and R3 has a wrong value: with two alike it rests at half the supply",
            level=f"{counts:+.0f}",
        )
    return None


def _wrong(message: str, hint: str, **values: object) -> Wrong:
    return Sentence(message, **values), Sentence(hint, **values)


def explain_step(pad: int, steps: Mapping[int, int]) -> Wrong | None:
    """Return what the pad's `wire.DISCS` value in `steps` (by pad) says is wrong, and the remedy; None if nothing is.

    A mat whose bias resistors are all on 3.3 V cannot be tested; that is no fault.
    """
    step = steps.get(pad, wire.NOT_SWITCHED)
    if step == wire.NOT_SWITCHED:
        if not any(0 < other < wire.NOT_SWITCHED for other in steps.values()):
            return None
        return _wrong(
            "its level does not follow the bias pin, as the other pads' do",
            "connect its bias resistor R1 to GPIO{pin} as the others', and look for a short",
            pin=pinmap().board.bias_pin,
        )
    if not step:
        return _wrong("short: its level does not rise to its rest", "look for a short of its disc or wire to ground")
    if wire.disc_ms(step) < MIN_DISC_MS:
        return _wrong(
            "no disc: it rises in {time} ms, as an open input does",
            "check its plug, its wire and the solder joints on the disc",
            time=f"{wire.disc_ms(step):.1f}",
        )
    return None
