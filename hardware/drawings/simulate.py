"""`python hardware/drawings/simulate.py`: what the circuits do by ngspice, beside what they must do.

The limits are those of `hardware/circuits.toml`. A simulation of models, most of them from data sheets as remembered:
it finds a wrong value, it does not prove a right one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bus
import fsr_mat as fsr_model
import netlists
import numpy as np
from netlists import INPUTS, START_S, Input
from values import Values, values

from pi_controller.errors import MatError
from pi_controller.pinmap import pinmap
from pi_controller.sensing.piezo_diagnosis import OFF_REST_COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Curve = NDArray[np.float64]

TOP = 2 ** pinmap().board.adc_bits - 1
NEAR_COUNTS = 5.0
"""A pad has recovered when it is as near to its rest, times its gain."""
REFERENCE_HZ = 800.0
UNITS = {"volt": "V", "hz": "Hz", "milliamp": "mA", "db": "dB", "ohm": "Ω", "picofarad": "pF"}
BANDS_HZ = (100, 400, 1500, 2500, 3000, 3600)
FIRST = "v(plus)"
"""The first pin of a chip that a blow arrives at."""


class SimulationError(MatError, RuntimeError):
    """ngspice is missing, or could not make sense of a netlist."""

    code = "simulation"


@dataclass(frozen=True, slots=True)
class Figure:
    """What a circuit does and what it must do: `low` to `high`."""

    circuit: str
    name: str
    value: float
    low: float
    high: float

    @property
    def right(self) -> bool:
        """Whether the value lies within its limits."""
        return self.low <= self.value <= self.high


def available() -> bool:
    """Return whether there is an ngspice on this machine."""
    return shutil.which("ngspice") is not None


def run(netlist: list[str], analysis: str, *asked: str) -> tuple[Curve, ...]:
    """Return the axis of an analysis ("tran 5u 60m", "ac dec 40 10 40k") and the curves asked for ("v(adc)").

    Raises `SimulationError` when ngspice is missing or fails.
    """
    if not available():
        raise SimulationError("there is no ngspice on the path", "apt install ngspice")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "curves"
        text = ["* mat", *netlist, ".control", analysis, f"wrdata {out} {' '.join(asked)}", "quit", ".endc", ".end"]
        (Path(folder) / "mat.cir").write_text("\n".join(text) + "\n", "ascii")
        told = subprocess.run(
            ["ngspice", "-b", str(Path(folder) / "mat.cir")], capture_output=True, text=True, check=False, timeout=60
        )
        found = out.with_suffix(".data") if out.with_suffix(".data").exists() else out
        if not found.exists():
            raise SimulationError("ngspice could not run a netlist", (told.stderr or told.stdout).strip()[-400:])
        table: Any = np.loadtxt(found, ndmin=2)
    return (table[:, 0], *(table[:, 2 * i + 1] for i in range(len(asked))))


def counts(v: Values, volt: Any) -> Any:
    """Return what the converter shows for a voltage, unrounded."""
    return volt * TOP / v.supply_volt


def _stroke(v: Values, kind: Input, source: str, *asked: str) -> tuple[Curve, ...]:
    return run(netlists.piezo(v, kind, source), "tran 5u 100m 0 20u", "v(adc)", *asked)


def piezo_figures(v: Values, kind: Input) -> Iterator[tuple[str, float]]:
    """Yield what a pad's piezo input does."""
    disc = v.model["disc"]
    t, feather = _stroke(v, kind, netlists.ring(v, disc["feather_volt"]))
    rest = float(feather[0])
    heard = np.abs(feather - rest)
    yield "rest_counts", counts(v, rest)
    leaky = run(netlists.piezo(v, kind, leaky=True), "tran 5u 1m", "v(adc)")[1]
    yield "rest_worst_counts", counts(v, float(leaky[0]))
    yield "feather_counts", counts(v, float(heard.max()))
    yield "half_peak_ms", 1e3 * (float(t[int(np.argmax(heard >= heard.max() / 2))]) - START_S)
    for name in ("blow", "slam"):
        _, adc, first, clamp = _stroke(v, kind, netlists.ring(v, disc[f"{name}_volt"]), FIRST, "i(Vup)")
        yield f"{name}_low_volt", float(min(adc.min(), first.min()))
        yield f"{name}_high_volt", float(max(adc.max(), first.max()))
        if name == "slam":
            yield "clamp_milliamp", 1e3 * float(np.abs(clamp).max())
    swing = float(heard.max()) / disc["feather_volt"]
    yield "whole_volt", (min(rest, v.supply_volt - rest) - v.model["op_amp"]["headroom_volt"]) / swing
    t, adc = _stroke(v, kind, netlists.slap(v, disc["blow_volt"]))
    gain = 1.0 + v.amplifier["feedback_ohm"] / v.amplifier["gain_ohm"] if kind == "amplifier" else 1.0
    off = np.flatnonzero(np.abs(counts(v, adc - rest)) > gain * NEAR_COUNTS)
    yield "recovery_ms", 1e3 * (float(t[off[-1]]) - START_S - disc["slap_s"])
    yield from bias_figures(v, kind)
    hz, gain = run(netlists.piezo(v, kind), "ac dec 100 10 40k", "vm(adc)")
    level = 20 * np.log10(gain / np.interp(REFERENCE_HZ, hz, gain))
    yield "corner_hz", float(hz[np.flatnonzero(level > -3.0)[-1]])
    for at in BANDS_HZ:
        yield f"at_{at}_hz_db", float(np.interp(at, hz, level))


def bias_figures(v: Values, kind: Input) -> Iterator[tuple[str, float]]:
    """Yield what the board's pin that feeds the bias does: the step of the self-test, and what its resistance costs."""
    disc, q, ohm = v.model["disc"], v.passive, v.model["gpio"]["output_ohm"]
    for name, farad in (("open", 0.0), ("small", disc["small_farad"]), ("large", disc["large_farad"])):
        yield f"rise_{name}_ms", 1e3 * rise_s(v, kind, farad)
    adc = _step(v, kind, disc["farad"])[1]
    yield "rise_off_counts", counts(v, float(adc[-1] - adc[0]))
    yield "start_ms", start_ms(v, kind)
    sound = _rest(v, netlists.piezo(v, kind))
    ideal = [line for line in netlists.piezo(v, kind) if not line.startswith("Rgpio")] + ["Rgpio gpio bias 1m"]
    yield "bias_drop_counts", _rest(v, ideal) - sound
    # a pad's volts send a current through its R1 and the pin, and the other pads' R1 and R3 halve what that makes
    share = q["bias_low_ohm"] / (q["bias_high_ohm"] + q["bias_low_ohm"])
    yield "bias_crosstalk_db", 20 * float(np.log10(share * ohm / (q["bias_high_ohm"] + ohm)))


def _step(v: Values, kind: Input, farad: float) -> tuple[Curve, Curve]:
    """Return time and level of a pad with a disc of `farad` from before the self-test to its end."""
    t, adc = run(netlists.bias_step(v, kind, farad), "tran 5u 60m 0 5u", "v(adc)")
    return t, adc


def rise_s(v: Values, kind: Input, farad: float) -> float:
    """Return how long a pad with a disc of `farad` rises, from a tenth to nine tenths of its rest, with its bias."""
    t, adc = _step(v, kind, farad)
    low, high = 0.1 * adc[0], 0.9 * adc[0]
    begins = int(np.searchsorted(t, START_S + netlists.BIAS_OFF_S))
    ends = begins + int(np.argmax(adc[begins:] >= high)) + 1
    began, ended = np.interp([low, high], adc[begins:ends], t[begins:ends])
    return float(ended - began)


def start_ms(v: Values, kind: Input) -> float:
    """Return how long after the firmware's start a pad is not yet where the doctor passes it."""
    t, adc = run(netlists.bias_start(v, kind), "tran 1m 12 0 1m", "v(adc)")
    off = np.flatnonzero(np.abs(counts(v, adc - adc[-1])) > OFF_REST_COUNTS)
    return 1e3 * (float(t[off[-1]]) - START_S)


def fault_rests(v: Values, kind: Input = "passive") -> dict[str, tuple[float, float]]:
    """Return where a pad with each of `netlists.FAULTS` rests, counts: usually, and with every leak at its worst."""
    return {
        fault: (
            _rest(v, netlists.faulty_piezo(v, kind, fault)),
            _rest(v, netlists.faulty_piezo(v, kind, fault, leaky=True)),
        )
        for fault in netlists.FAULTS
    }


def _rest(v: Values, netlist: list[str]) -> float:
    return float(counts(v, run(netlist, "tran 5u 1m", "v(adc)")[1][-1]))


def bare_rest_counts(v: Values, input_ohm: float | None = None) -> float:
    """Return where a pad would rest without its follower, on a converter whose pin has `input_ohm` to ground.

    By default the least that its data sheet promises.
    """
    q, pin = v.passive, v.model["adc"]["input_ohm"] if input_ohm is None else input_ohm
    high, low = q["bias_high_ohm"], q["bias_low_ohm"]
    source = 1.0 / (1.0 / high + 1.0 / low) + v.piezo["series_ohm"] + q["pole_ohm"]
    return TOP * low / (high + low) * pin / (pin + source)


def fsr_ohm(newton: float) -> float:
    """Return the force sensor's resistance as the simulated mat has it."""
    model = fsr_model
    return float(model.OHM_AT_1N * newton**-model.POWER) if newton >= model.ACTS_N else model.IDLE_OHM


def fsr_figures(v: Values) -> Iterator[tuple[str, float]]:
    """Yield what the force sensor's divider does."""
    rest = fsr_ohm(fsr_model.PLATE.rest_n)
    t, adc = run(netlists.fsr(v, rest, fsr_ohm(10.0)), "tran 5u 12m", "v(adc)")
    light = run(netlists.fsr(v, fsr_ohm(fsr_model.ACTS_N), fsr_ohm(fsr_model.ACTS_N)), "tran 5u 1m", "v(adc)")[1]
    yield "rest_counts", counts(v, float(adc[0]))
    yield "light_counts", counts(v, float(light[-1]))
    yield "firm_counts", counts(v, float(adc[-1]))
    share = (adc - adc[0]) / (adc[-1] - adc[0])
    yield "rise_ms", 1e3 * float(t[int(np.argmax(share >= 0.9))] - t[int(np.argmax(share >= 0.1))])


def bus_figures(v: Values) -> Iterator[tuple[str, float]]:
    """Yield what the slowest state of the I2C bus does, by arithmetic and by ngspice."""
    found = bus.lines(v)
    slow = max(found, key=lambda line: line.rise_s)
    yield "rise_ns", 1e9 * slow.rise_s
    end = START_S * 1e3
    t, adc = run(netlists.bus(v, slow.ohm, slow.farad), f"tran 2n {end + 0.004:g}m {end - 0.001:g}m 2n", "v(adc)")
    low, high = (int(np.argmax(adc > part * v.supply_volt)) for part in (0.3, 0.7))
    yield "simulated_rise_ns", 1e9 * float(t[high] - t[low])
    yield "pullup_ohm", min(line.ohm for line in found)
    yield "capacitance_picofarad", 1e12 * max(line.farad for line in found)
    yield "light_rise_ns", 1e9 * bus.light_line(v).rise_s
    yield "light_bare_rise_ns", 1e9 * bus.light_line(v, bare=True).rise_s
    yield "spare_m", bus.spare_m(v)


def figures(v: Values) -> list[Figure]:
    """Return every figure of the circuits with its limits; raises `SimulationError` without ngspice."""
    told = {name: list(piezo_figures(v, name)) for name in INPUTS}
    told |= {"fsr": list(fsr_figures(v)), "bus": list(bus_figures(v))}
    return [
        Figure(circuit, name, value, *v.limits_of(circuit)[name])
        for circuit, pairs in told.items()
        for name, value in pairs
    ]


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(found: list[Figure]) -> str:
    """Return the figures as a Markdown table."""
    rows = ["| circuit | figure | is | must be | |", "| --- | --- | ---: | --- | --- |"]
    for one in found:
        name, unit = one.name.replace("_hz_", " Hz_").rsplit("_", 1)
        what = f"{name.replace('_', ' ')}, {UNITS.get(unit, unit)}"
        verdict = "" if one.right else "**no**"
        rows.append(f"| {one.circuit} | {what} | {_short(one.value)} | {one.low:g} to {one.high:g} | {verdict} |")
    return "\n".join(rows)


def rest_table(found: dict[str, tuple[float, float]]) -> str:
    """Return the usual rest levels of `fault_rests` as a Markdown table."""
    rows = ["| fault | rests at, counts |", "| --- | ---: |"]
    rows += [f"| {fault} | {usual:.0f} |" for fault, (usual, _) in found.items()]
    return "\n".join(rows)


def main() -> int:
    """Print the tables; the exit status is 1 when a figure is out of its limits, 2 without ngspice."""
    try:
        found, rests = figures(values()), fault_rests(values())
    except SimulationError as error:
        print(error, file=sys.stderr)
        return 2
    print(table(found), rest_table(rests), sep="\n\n")
    return 0 if all(one.right for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
