"""Netlists for ngspice, made from the values of the circuits: what is drawn is what is simulated.

Every netlist ends where the converter reads, at node `adc`. Nodes: `disc` the piezo's hot end, `node` the clamped one,
`plus` the amplifier's input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pi_controller.pads import PADS

if TYPE_CHECKING:
    from values import Values

Input = Literal["passive", "amplifier"]
INPUTS: tuple[Input, ...] = ("passive", "amplifier")
START_S = 1e-3
"""When a stroke begins."""
BIAS_OFF_S = 0.024
"""How long the firmware switches the bias off in its self-test."""


def ring(v: Values, volt: float) -> str:
    """Return the source of a stroke: a ringing that dies away, `volt` high at first, open circuit."""
    disc = v.model["disc"]
    return f"SIN(0 {volt:g} {disc['ring_hz']:g} {START_S:g} {1 / disc['ring_decay_s']:g})"


def slap(v: Values, volt: float) -> str:
    """Return the source of a slap: one half wave."""
    width = v.model["disc"]["slap_s"]
    points = ((0.0, 0.0), (0.15, 0.45), (0.3, 0.81), (0.5, 1.0), (0.7, 0.81), (0.85, 0.45), (1.0, 0.0))
    return "PWL(" + " ".join(f"{START_S + width * t:g} {volt * y:g}" for t, y in points) + ")"


def piezo(v: Values, kind: Input, source: str = "", leaky: bool = False, bias: str = "") -> list[str]:
    """Return a pad's piezo input; `source` drives the disc, `leaky` takes every leak and offset at its worst.

    `bias` drives the pin of the bias, which else is high.
    """
    p, disc, adc = v.piezo, v.model["disc"], v.model["adc"]
    lines = [
        f"Vdd vdd 0 {v.supply_volt:g}",
        f"Vdisc force 0 DC 0 AC 1 {source}",
        f"Cdisc force disc {disc['farad']:g}",
        f"Rseries disc node {p['series_ohm']:g}",
        f"Csmooth node 0 {p['smooth_farad']:g}",
        "Dup node up SCHOTTKY",
        "Vup up vdd 0",  # an ammeter
        "Ddown 0 node SCHOTTKY",
        _schottky(v),
    ]
    if leaky:
        lines += [f"Ileak node 0 {v.model['schottky']['leak_amp']:g}"]
    q = v.passive
    offset = v.model["op_amp"]["offset_volt"] if leaky else 0.0
    if leaky:
        lines += [f"Ipin adc 0 {adc['leak_amp']:g}", f"Rpin adc 0 {adc['input_ohm']:g}"]
    return [
        *lines,
        f"Vgpio gpio 0 {bias or f'{v.supply_volt:g}'}",
        f"Rgpio gpio bias {PADS * v.model['gpio']['output_ohm']:g}",  # the other pads take as much current
        f"Rhigh bias disc {q['bias_high_ohm']:g}",
        f"Rlow disc 0 {q['bias_low_ohm']:g}",
        f"Rpole node plus {q['pole_ohm']:g}",
        f"Cpole plus 0 {q['pole_farad']:g}",
        f"Voff shifted plus {-offset:g}",
        *(amplifier(v) if kind == "amplifier" else op_amp(v, "f", "shifted", "adc", "adc")),
    ]


FAULTS: dict[str, dict[str, str]] = {
    "disc or wire shorted to ground": {"Rshort": "Rshort disc 0 1"},
    "disc or wire shorted to 3.3 V": {"Rshort": "Rshort disc vdd 1"},
    "no R1": {"Rhigh": ""},
    "no R3": {"Rlow": ""},
    "D1 reversed": {"Dup": "Dup up node SCHOTTKY"},
    "D2 reversed": {"Ddown": "Ddown node 0 SCHOTTKY"},
    "R1 10 kΩ": {"Rhigh": "Rhigh bias disc 10k"},
    "R3 10 kΩ": {"Rlow": "Rlow disc 0 10k"},
    "R1 33 kΩ": {"Rhigh": "Rhigh bias disc 33k"},
    "R3 33 kΩ": {"Rlow": "Rlow disc 0 33k"},
    "R1 330 kΩ": {"Rhigh": "Rhigh bias disc 330k"},
    "R3 330 kΩ": {"Rlow": "Rlow disc 0 330k"},
}
"""Wiring faults of an input: its elements by name, with what they become; "" is missing."""


def bias_step(v: Values, kind: Input, farad: float) -> list[str]:
    """Return a piezo input with a disc of `farad` (0 for none), its bias off from START_S on for BIAS_OFF_S."""
    on = START_S + BIAS_OFF_S
    high = f"{v.supply_volt:g}"
    source = f"PWL(0 {high} {START_S:g} {high} {START_S + 1e-6:g} 0 {on:g} 0 {on + 1e-6:g} {high})"
    found = [line for line in piezo(v, kind, bias=source) if not line.startswith("Cdisc")]
    return [*found, f"Cdisc force disc {farad:g}"] if farad else found


def bias_start(v: Values, kind: Input) -> list[str]:
    """Return a piezo input whose bias is off, as before the firmware starts, and on from START_S."""
    return piezo(v, kind, bias=f"PWL(0 0 {START_S:g} 0 {START_S + 1e-6:g} {v.supply_volt:g})")


def faulty_piezo(v: Values, kind: Input, fault: str, leaky: bool = False) -> list[str]:
    """Return a piezo input with one of `FAULTS`."""
    wrong = FAULTS[fault]
    sound = [line for line in piezo(v, kind, leaky=leaky) if line.split()[0] not in wrong]
    return sound + [line for line in wrong.values() if line]


def amplifier(v: Values) -> list[str]:
    """Return the amplifier between `shifted` and `adc`: its gain for strokes, 1 for the rest, which `hold` keeps."""
    a = v.amplifier
    return [
        f"Rgain minus hold {a['gain_ohm']:g}",
        f"Chold hold 0 {a['hold_farad']:g}",
        f"Rback adc minus {a['feedback_ohm']:g}",
        f"Cback adc minus {a['feedback_farad']:g}",
        *op_amp(v, "a", "shifted", "minus", "adc"),
    ]


def op_amp(v: Values, name: str, plus: str, minus: str, out: str) -> list[str]:
    """Return an operational amplifier with its bandwidth, slew rate and rails, from `plus` and `minus` to `out`."""
    m = v.model["op_amp"]
    farad = 1e-9
    gm, most = 2 * 3.141592653589793 * m["bandwidth_hz"] * farad, m["slew_volt_s"] * farad
    room = m["headroom_volt"]
    return [
        f"B{name} 0 x{name} I={most:g}*tanh({gm:g}*(V({plus})-V({minus}))/{most:g})",
        f"C{name} x{name} 0 {farad:g}",
        f"R{name} x{name} 0 {m['gain'] / gm:g}",
        f"Dh{name} x{name} h{name} LIMIT{name}",
        f"Dl{name} l{name} x{name} LIMIT{name}",
        f"Vh{name} vdd h{name} {0.1:g}",  # the diodes keep it from winding up beyond the rails
        f"Vl{name} l{name} 0 {0.1:g}",
        f"Bo{name} {out} 0 V=min(max(V(x{name}), {room:g}), V(vdd)-{room:g})",
        f".model LIMIT{name} D(IS=1e-12 N=0.1)",
    ]


def fsr(v: Values, ohm: float, then_ohm: float) -> list[str]:
    """Return the force sensor's divider; the sensor goes from `ohm` to `then_ohm` at START_S."""
    p = v.fsr
    force = f"(time < {START_S:g} ? {ohm:g} : {then_ohm:g})"
    return [
        f"Vdd vdd 0 {v.supply_volt:g}",
        f"Bfsr vdd adc I=V(vdd,adc)/{force}",
        f"Rdivider adc 0 {p['divider_ohm']:g}",
        f"Csmooth adc 0 {p['smooth_farad']:g}",
    ]


def bus(v: Values, pullup_ohm: float, farad: float) -> list[str]:
    """Return one line of the I2C bus, let go at START_S."""
    m = v.model["bus"]
    return [
        f"Vdd vdd 0 {v.supply_volt:g}",
        f"Rpull vdd adc {pullup_ohm:g}",
        f"Cline adc 0 {farad:g}",
        f"Bpin adc 0 I=time < {START_S:g} ? V(adc)*{m['sink_amp'] / m['low_volt']:g} : 0",
    ]


def _schottky(v: Values) -> str:
    m = v.model["schottky"]
    return (
        f".model SCHOTTKY D(IS={m['saturation_amp']:g} N={m['emission']:g} RS={m['series_ohm']:g} CJO={m['farad']:g})"
    )
