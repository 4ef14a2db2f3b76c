"""Judge the magnetometers of an untouched mat: whether they answer, how much they jump, and how they are mounted.

A finding never has a reading, because that could reveal a bead.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pi_controller.host.findings import SENSORS, Finding
from pi_controller.pinmap import pinmap
from pi_controller.sensing.baseline import field_scatter
from pi_controller.sensing.magnetometer_faults import MagnetometerFault
from pi_controller.text import Sentence

MIN_ANSWER_SHARE = 0.5
"""Smallest share of the scans that a working magnetometer answers."""
NOISY_MAGNETOMETER_UT = 3.0
"""Noise, rms, of any axis; `MagnetometerMonitor` compares with the others, so it never finds that all are noisy."""
MIN_TURN_LOG_ODDS = 18.0
"""Least gain of a turn in twice the log likelihood: about 4 sigma where chance most easily looks like a turn."""
MAX_TURN_DISTANCE = 16.0
"""Largest squared distance from a turned module's reading, in variances, that fits: one in 1000 is further away."""
FEWEST_SENSORS = 8
"""Fewest sensors from which the common field can be estimated."""
TURNS = {
    Sentence("a quarter to the left"): np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    Sentence("a quarter to the right"): np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    Sentence("a half"): np.diag([-1.0, -1.0, 1.0]),
    Sentence("upside down, its arrow in the right direction"): np.diag([1.0, -1.0, -1.0]),
    Sentence("upside down, its arrow the other way"): np.diag([-1.0, 1.0, -1.0]),
}
"""Wrong orientations of a module, seen from above, and their rotation of a field."""


def diagnose_magnetometers(
    answered: NDArray[np.float64],
    noise: NDArray[np.float64],
    built: NDArray[np.bool_],
    faults: Mapping[int, MagnetometerFault],
    turned: Mapping[int, str],
) -> Iterator[Finding]:
    """Yield the finding for each magnetometer that is `built` (sensors,), or one for a multiplexer that is silent.

    `answered` (sensors,) is the share of the scans with a reading, `noise` (sensors,) the largest rms of an axis,
    microtesla; `faults` are the bead tracker's by number (0 first), `turned` those of `find_turned_sensors`.
    """
    left = built.copy()
    for address, parts in _find_silent_multiplexers(np.flatnonzero(built & (answered == 0.0)).tolist(), built).items():
        yield SENSORS.fails(
            Sentence("multiplexer {address}", address=f"{address:#04x}"),
            "none of its {count} magnetometers answers",
            "check its plug and its four wires, and that its address jumpers differ from the others'",
            count=len(parts),
        )
        left[parts] = False
    for number in np.flatnonzero(left).tolist():
        name, why = magnetometer_name(number), faults.get(number)
        if why == "silent" or answered[number] < MIN_ANSWER_SHARE:
            yield SENSORS.fails(
                name,
                "dead: it does not answer, or is at its rail",
                "check its plug and its channel on the multiplexer; take magnets away from it",
            )
        elif why == "rail":
            yield SENSORS.fails(name, "at its rail", "take magnets and iron away from it")
        elif why == "stuck":
            yield SENSORS.fails(name, "stuck: it repeats one reading", "unplug the board and plug it in again")
        elif why == "noisy" or noise[number] > NOISY_MAGNETOMETER_UT:
            yield SENSORS.fails(name, "noisy", "check its plug; keep cables that carry current away from it")
        elif number in turned:
            yield SENSORS.fails(
                name,
                "seems to be turned: {turn}",
                "mount it like the others, or remove magnets and iron near it",
                turn=turned[number],
            )
        else:
            yield SENSORS.passes(name, "answers {share} % of the time", share=f"{100 * answered[number]:.0f}")


def _find_silent_multiplexers(silent: Sequence[int], built: NDArray[np.bool_]) -> dict[int, list[int]]:
    """Return the addresses of the multiplexers all of whose magnetometers are `silent`, and these, if at least two."""
    numbers = np.flatnonzero(built).tolist()
    found = {address: numbers[8 * n : 8 * n + 8] for n, address in enumerate(pinmap().board.tca9548a_addresses)}
    return {address: parts for address, parts in found.items() if len(parts) > 1 and {*parts} <= {*silent}}


def magnetometer_name(number: int) -> Sentence:
    """Return a magnetometer's name (0 first, in wire order): its number, its pad and its place there.

    Left and right are as the hider sees them.
    """
    offsets = pinmap().magnetometers.offsets_mm
    pad, place = divmod(number, len(offsets))
    x, y = offsets[place]
    side = Sentence("left" if x < 0 else "right" if x > 0 else "middle")
    depth = Sentence("hider" if y < 0 else "hitter" if y > 0 else "middle")
    words = Sentence("magnetometer {number} (pad {pad}, {depth} {side})")
    return Sentence(words, number=number + 1, pad=pad + 1, depth=depth, side=side)


def find_turned_sensors(ut: NDArray[np.float64], there: NDArray[np.bool_]) -> dict[int, str]:
    """Return the turned sensors (0 first) and their orientations, from an empty mat's `ut` (sensors, 3), microtesla."""
    if there.sum() < FEWEST_SENSORS:
        return {}
    spread = field_scatter(ut, there)
    found: dict[int, str] = {}
    for i in np.flatnonzero(there).tolist():
        others = there.copy()
        others[i] = False
        earth = np.median(ut[others], axis=0)
        off = {how: _variances(ut[i] - turn @ earth, spread) for how, turn in TURNS.items()}
        how = min(off, key=off.__getitem__)
        if off[how] < MAX_TURN_DISTANCE and _variances(ut[i] - earth, spread) - off[how] > MIN_TURN_LOG_ODDS:
            found[i] = how
    return found


def _variances(off: NDArray[np.float64], spread: float) -> float:
    return float(off @ off) / spread**2
