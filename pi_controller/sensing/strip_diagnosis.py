"""Judge the touch strips of an untouched mat by their counts, their noise and their capacitance."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pi_controller.host.findings import SENSORS, Finding
from pi_controller.pinmap import pinmap
from pi_controller.sensing.strip_faults import StripFault
from pi_controller.text import Sentence

NOISY_STRIP_COUNTS = 4.0
"""Noise, rms: five times as much is more than the highest touch threshold, 14 counts."""
NO_STRIP_COUNTS = 1000.0
"""An input without a strip reads more."""
OPEN_PF = 15.0
"""Less capacitance than this has an input of the touch chip without a strip, with no more than a piece of wire."""
SHORTED = 1.5
"""Two strips that touch each other both have their sum: at least this many times what other pads' strips have."""
ALIKE = 0.1
"""Largest relative difference of their readings."""


def diagnose_strips(
    rest: NDArray[np.float64],
    noise: NDArray[np.float64],
    still: NDArray[np.bool_],
    faults: Sequence[StripFault],
    pf: NDArray[np.float64],
) -> Iterator[Finding]:
    """Yield the finding for each strip from its mean `rest` and rms `noise`, counts (pads, strips).

    `still` (pads, strips) is true for a strip that never left one count while others did; `faults` are the hand
    detector's, `pf` (pads, strips) is the capacitance from the board's self test, NaN if unknown.
    """
    shorted, wrong = find_shorted_strips(pf), {(fault.pad - 1, fault.strip): fault.wrong for fault in faults}
    for number, (at, mean) in enumerate(np.ndenumerate(rest)):
        name, farads, rms = strip_name(number), pf[at], noise[at]
        why = wrong.get((at[0], at[1])) or ("stuck" if still[at] else "")
        if why == "silent":
            yield SENSORS.fails(name, "dead: no reading", "check its wire and its plug")
        elif why == "stuck":
            yield SENSORS.fails(name, "stuck at one count", "unplug the board and plug it in again")
        elif why:
            yield SENSORS.fails(name, "restless: its readings jump", "check its wire: it is loose")
        elif mean > NO_STRIP_COUNTS or farads < OPEN_PF:
            yield SENSORS.fails(
                name,
                "no strip at this input" if np.isnan(farads) else "no strip at this input, only {farads} pF",
                "check its wire and its plug",
                farads=f"{farads:.0f}",
            )
        elif number in shorted:
            yield SENSORS.fails(
                name,
                "touches {other}: {farads} pF, the sum of both",
                "look for copper or solder that joins the two",
                other=strip_name(shorted[number]),
                farads=f"{farads:.0f}",
            )
        elif rms > NOISY_STRIP_COUNTS:
            yield SENSORS.fails(
                name,
                "noisy: {noise} counts",
                "check its wire and its plug; keep hands and chargers away during the test",
                noise=f"{rms:.0f}",
            )
        else:
            yield SENSORS.passes(
                name,
                "{counts} counts, noise {noise}" if np.isnan(farads) else "{counts} counts, noise {noise}, {farads} pF",
                counts=f"{mean:.0f}",
                noise=f"{rms:.1f}",
                farads=f"{farads:.0f}",
            )


def strip_name(number: int) -> Sentence:
    """Return the name of a touch strip (0 first, in wire order)."""
    strips = pinmap().touch.strips
    pad, place = divmod(number, len(strips))
    return Sentence(
        "touch strip {number} (pad {pad}, {place})", number=number + 1, pad=pad + 1, place=Sentence(strips[place])
    )


def find_shorted_strips(pf: NDArray[np.float64]) -> dict[int, int]:
    """Return the strips (0 first) that touch another one, and which.

    `pf` (pads, strips) is their capacitance, NaN if unknown. A strip is compared with those at its place on other pads.
    """
    flat = pf.ravel()
    alike = [np.delete(pf[:, i % pf.shape[1]], i // pf.shape[1]) for i in range(pf.size)]  # at its place on other pads
    usual = [np.median(others[~np.isnan(others)]) if not np.isnan(others).all() else np.nan for others in alike]
    large = np.flatnonzero(flat > SHORTED * np.array(usual))
    found: dict[int, int] = {}
    for i in large.tolist():
        others = large[large != i]
        off = np.abs(flat[others] / flat[i] - 1.0)
        if len(others) and off.min() < ALIKE:
            found[i] = int(others[off.argmin()])
    return found
