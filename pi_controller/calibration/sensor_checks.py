"""Checks each sensor on a few seconds of readings: the detectors' faults, and further statistics.

A magnetometer's line never has a reading, because that could reveal a bead. During a hide (`hidden`) magnetometers are
not checked at all, nor if the table has none (`without` states the reason).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pi_controller.board import wire
from pi_controller.board.messages import BoardEvent, BoardHealth, Field, Gap, LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.calibration.detectors import (
    BUS_HINT,
    MULTIPLEXER_HINT,
    Detectors,
    RunningStats,
    find_silent_multiplexers,
    magnetometer_name,
)
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.beads import ModuleCorrection, field_scatter
from pi_controller.sensing.hands import TouchError
from pi_controller.sensing.module_turns import TURNS
from pi_controller.sensing.strikes import StrikeSettings

# The doctor's report: one line for each part (pass, fail or not here), with a remedy if it fails.


Outcome = Literal["pass", "fail", "not here"]

_FEWEST = 3
"""From this number on, unchecked parts share one line."""
_STYLES = {"pass": "green", "fail": "bold red", "not here": "dim"}


class ReportLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of the table: the finding (`found`), and the remedy (`hint`) if it fails."""

    group: str
    name: str
    outcome: Outcome
    found: str = ""
    hint: str = ""


class Group(NamedTuple):
    """A group of parts, and the lines for its parts."""

    name: str

    def passes(self, part: str, found: str = "") -> ReportLine:
        """Return the line of a part that works."""
        return ReportLine(self.name, part, "pass", found)

    def fails(self, part: str, found: str, hint: str = "") -> ReportLine:
        """Return the line of a part that fails, with the remedy."""
        return ReportLine(self.name, part, "fail", found, hint)

    def absent(self, part: str, why: str) -> ReportLine:
        """Return the line of a part that is not here, or cannot be checked."""
        return ReportLine(self.name, part, "not here", why)


class SensorReport(msgspec.Struct, frozen=True):
    """All lines. `simulated` is true for a simulated mat; `versions` are those of the programs used."""

    lines: tuple[ReportLine, ...]
    versions: dict[str, str]
    simulated: bool = False

    @property
    def ok(self) -> bool:
        """True if no line fails."""
        return not find_failures(self.lines)

    def json(self) -> bytes:
        """Return the report as one JSON object: `ok`, `simulated`, `versions`, `lines`."""
        report = {"ok": self.ok, "simulated": self.simulated, "versions": self.versions, "lines": self.lines}
        return msgspec.json.encode(report)

    def summary(self) -> str:
        """Return the numbers of lines that pass, fail and are not here."""
        counts = {outcome: sum(line.outcome == outcome for line in self.lines) for outcome in _STYLES}
        mat = " (a simulated mat)" if self.simulated else ""
        return f"{counts['pass']} pass, {counts['fail']} fail, {counts['not here']} not here{mat}"

    def text(self) -> str:
        """Return the report as plain text: a line for each part, and its remedy below it."""
        rows: list[str] = []
        group = ""
        for line in self.lines:
            if line.group != group:
                group = line.group
                rows += ["", group]
            rows.append(f"  {line.outcome:<9} {line.name}{': ' if line.found else ''}{line.found}")
            if line.hint:
                rows.append(f"            -> {line.hint}")
        return "\n".join([*rows[1:], "", self.summary(), ""])

    def show(self, console: Console) -> None:
        """Print the report: the parts by group with unchecked ones folded, the summary, and the remedies."""
        group = ""
        table = Table.grid(padding=(0, 2))
        for line in _fold_lines(self.lines):
            if line.group != group:
                group = line.group
                if table.rows:
                    console.print(table)
                table = Table.grid(padding=(0, 2))
                table.add_column(width=8)
                table.add_column(width=38)
                table.add_column(overflow="fold")
                console.print(Text(f"\n{group}", "bold"))
            style = _STYLES[line.outcome]
            found = Text(line.found, "" if line.outcome != "not here" else "dim")
            table.add_row(
                Text(line.outcome, style), Text(line.name, "dim" if line.outcome == "not here" else ""), found
            )
        console.print(table)
        console.print(Text(f"\n{self.summary()}", "bold green" if self.ok else "bold red"))
        for line in find_failures(self.lines):  # last, where the screen ends
            console.print(Text(f"  {line.name}: {line.found}"))
            console.print(Text(f"    > {line.hint}", "yellow"))


def find_failures(lines: Iterable[ReportLine]) -> tuple[ReportLine, ...]:
    """Return the lines of parts that fail."""
    return tuple(line for line in lines if line.outcome == "fail")


def _fold_lines(lines: Sequence[ReportLine]) -> Iterator[ReportLine]:
    """Yield the lines; consecutive parts of a group that were not checked for the same reason become one."""
    for (group, outcome, found), alike in groupby(lines, key=lambda line: (line.group, line.outcome, line.found)):
        parts = list(alike)
        if outcome != "not here" or len(parts) < _FEWEST:
            yield from parts
        else:
            what = group.lower() if group.endswith("s") else "parts"
            yield ReportLine(group, f"{len(parts)} {what}", outcome, f"not checked, {found}")


LISTEN_S = 5.0
"""Longer than any detector needs to detect a dead sensor."""
ENOUGH_SCANS = 50
"""Scans after which a strip that never changed is stuck."""
NOISY_COUNTS = 40.0
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
OPEN_PF = 15.0
"""Less capacitance than this has an input of the touch chip without a strip, with no more than a piece of wire."""
SHORTED = 1.5
"""Two strips that touch each other both have their sum: at least this many times what other pads' strips have."""
ALIKE = 0.1
"""Largest relative difference of their readings."""
MIN_ANSWER_SHARE = 0.5
"""Smallest share of the scans that a working magnetometer answers."""
SENSORS = Group("Sensors")


class SensorListener:
    """Collects messages for `LISTEN_S` seconds and judges them in `lines`.

    `correction` is the profile's for wrong modules: a module that it turns back is not reported as turned.
    """

    def __init__(
        self,
        strikes: StrikeSettings,
        magnetometers: int | None = None,
        *,
        hidden: bool = False,
        without: str = "",
        correction: ModuleCorrection | None = None,
    ) -> None:
        maps = pinmap()
        self._hidden = hidden
        self._correction = correction
        self.without = without
        self._detectors = Detectors(strikes, magnetometers)
        pads = PADS
        self.piezo, self.touch = RunningStats((pads,)), RunningStats((pads, len(maps.touch.strips)))
        self.up: LinkUp | None = None
        self.ups = self.gaps = self.samples = self.scans = self.field_scans = 0
        self.first_at = self.last_at = 0.0
        self.grid = 0.0
        """Samples a second of each piezo, as the messages state."""
        self.why = ""
        self.health: list[BoardHealth] = []
        self.events: list[BoardEvent] = []
        self._answered = np.zeros(len(maps.magnetometer_positions()))
        self._field = RunningStats((len(self._answered), 3))
        self._lowest = np.full(pads, np.inf)
        self._highest = np.full(pads, -np.inf)
        self._touched = (np.full(self.touch.mean.shape, np.inf), np.full(self.touch.mean.shape, -np.inf))

    def take(self, messages: Iterable[Message]) -> None:
        """Process the messages received."""
        for message in messages:
            match message:
                case LinkUp():
                    self.up, self.ups = message, self.ups + 1
                case LinkDown():
                    self.why = message.why
                case Gap():
                    self.gaps += 1
                case BoardHealth():
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
        self.piezo.add(piezo.counts)
        self._lowest = np.minimum(self._lowest, piezo.samples.min(axis=0))
        self._highest = np.maximum(self._highest, piezo.samples.max(axis=0))

    @property
    def rate(self) -> float:
        """Measured samples a second of each piezo."""
        return self.samples / (self.last_at - self.first_at) if self.last_at > self.first_at else 0.0

    @property
    def magnetometers(self) -> int:
        """How many the mat has."""
        return int(self._detectors.built.sum())

    @property
    def checks_magnetometers(self) -> bool:
        """True if there are magnetometers and no bead that they could reveal."""
        return not self._hidden and not self.without

    def lines(self) -> Iterator[ReportLine]:
        """Yield one line per sensor, or one for a part of the bus that is silent; all "not here" without a board."""
        yield from self._piezos()
        if self.up is not None and not self.scans and self.magnetometers and not self._answered.any():
            what = "nothing on it answers: neither the touch chip nor a magnetometer"
            yield SENSORS.fails("I2C bus", what, BUS_HINT)
            return
        yield from self._strips()
        yield from self._magnetometers()

    def _piezos(self) -> Iterator[ReportLine]:
        faults = {} if self._detectors.strikes is None else self._detectors.strikes.faults
        rest, noise = self.piezo.mean, self.piezo.rms
        steps = self._disc_steps()
        for i in range(len(rest)):
            name, pad = f"piezo of pad {i + 1}", i + 1
            why = faults.get(pad, "")
            if self.up is None:
                yield SENSORS.absent(name, "no board answers")
            elif not self.samples:
                yield SENSORS.fails(
                    name, "no samples arrive", "'moccasin-mat flash' copies the right firmware to the board"
                )
            elif wrong := _explain_piezo(pad, why, float(rest[i]), float(noise[i]), steps):
                yield SENSORS.fails(name, *wrong)
            else:
                found = f"rests {rest[i]:+.0f} counts off the middle, noise {noise[i]:.1f}"
                step = steps.get(pad, 0)
                if step == wire.NOT_SWITCHED:
                    found += "; bias is not switched: disc not tested"
                elif step:
                    found += f"; its disc is there: {wire.disc_ms(step):.1f} ms"
                if self._lowest[i] == self._highest[i] and step in {0, wire.NOT_SWITCHED}:
                    found += "; it rests on one count, as a dead disc would: tap the pad and run the doctor again"
                yield SENSORS.passes(name, found)

    def _strips(self) -> Iterator[ReportLine]:
        wrong = self._strip_faults()
        rest, noise = self.touch.mean, self.touch.rms
        low, high = self._touched
        if self.up is not None and not self.scans:
            hint = "check the touch board's four wires and its address 0x5A"
            yield SENSORS.fails(f"touch strips 1 to {rest.size}", "the touch chip does not answer", hint)
            return
        pf = self._strip_pf()
        shorted = find_shorted_strips(pf)
        for (pad, strip), mean in np.ndenumerate(rest):
            number = pad * rest.shape[1] + strip
            name = _strip_name(number)
            farads = pf[pad, strip]
            still = self.scans >= ENOUGH_SCANS and low[pad, strip] == high[pad, strip] and bool((high > low).any())
            why = wrong.get((pad + 1, strip), "stuck" if still else "")
            if self.up is None:
                yield SENSORS.absent(name, "no board answers")
            elif why == "silent":
                yield SENSORS.fails(name, "dead: no reading", "check its wire and its plug")
            elif why == "stuck":
                yield SENSORS.fails(name, "stuck at one count", "unplug the board and plug it in again")
            elif why:
                yield SENSORS.fails(name, f"{why}: its readings jump", "check its wire: it is loose")
            elif mean > 1000 or farads < OPEN_PF:
                only = "" if np.isnan(farads) else f", only {farads:.0f} pF"
                yield SENSORS.fails(name, f"no strip at this input{only}", "check its wire and its plug")
            elif number in shorted:
                found = f"touches {_strip_name(shorted[number])}: {farads:.0f} pF, the sum of both"
                yield SENSORS.fails(name, found, "look for copper or solder that joins the two")
            else:
                found = f"{mean:.0f} counts, noise {noise[pad, strip]:.1f}"
                yield SENSORS.passes(name, found if np.isnan(farads) else f"{found}, {farads:.0f} pF")

    def find_events(self, kind: str) -> list[BoardEvent]:
        """Return the board's events of a kind since the link came up; none without a link."""
        return [event for event in self.events if event.kind == kind and self.up is not None and event.t >= self.up.t]

    def _disc_steps(self) -> dict[int, int]:
        """Return by pad the last `wire.DISCS` value; empty if the board has not tested its discs."""
        return {event.part: event.value for event in self.find_events("discs")}

    def _strip_pf(self) -> NDArray[np.float64]:
        """Return the capacitance of each strip (pads, strips), pF, as the last self test found it; NaN if unknown."""
        pf = np.full(self.touch.mean.shape, np.nan)
        for event in self.find_events("strips"):
            pf[event.part - 1] = wire.strips_pf(event.value)
        pf[pf == 0.0] = np.nan
        return pf

    def _strip_faults(self) -> dict[tuple[int, int], str]:
        try:
            return {(fault.pad, fault.strip): fault.wrong for fault in self._detectors.hands.faults}
        except TouchError:
            return {}

    def _find_turned(self, there: NDArray[np.bool_]) -> dict[int, str]:
        """Return the turned modules among those that are `there`, and their orientations."""
        if self._correction is None:
            return find_turned_sensors(self._field.mean, there)
        order = self._correction.order
        found = find_turned_sensors(self._correction.apply(self._field.mean), there[order])
        return {int(order[place]): how for place, how in found.items()}

    def _magnetometers(self) -> Iterator[ReportLine]:
        faults = self._detectors.beads.faults
        there = self._answered >= MIN_ANSWER_SHARE * max(self.field_scans, 1)
        there[[number for number, why in faults.items() if why]] = False
        askew = self._find_turned(there) if self.checks_magnetometers else {}
        built = self._detectors.built.copy() if self.checks_magnetometers else np.ones(len(self._answered), np.bool_)
        silent = np.flatnonzero(built & (self._answered == 0)).tolist()
        groups = find_silent_multiplexers(silent, built) if self.field_scans and self.checks_magnetometers else {}
        for address, parts in groups.items():
            found = f"none of its {len(parts)} magnetometers answers"
            yield SENSORS.fails(f"multiplexer {address:#04x}", found, MULTIPLEXER_HINT)
            built[parts] = False
        for number in np.flatnonzero(built).tolist():
            name = magnetometer_name(number)
            why: str = faults.get(number, "")
            answered = self._answered[number] / max(self.field_scans, 1)
            if self.up is None:
                yield SENSORS.absent(name, "no board answers")
            elif self.without:
                yield SENSORS.absent(name, self.without)
            elif self._hidden:
                yield SENSORS.absent(name, "not checked: a game is in progress")
            elif not self.field_scans:
                hint = "check the multiplexers' wires and their addresses 0x70 to 0x72"
                yield SENSORS.fails(name, "no magnetometer answers", hint)
            elif why == "silent" or answered < MIN_ANSWER_SHARE:
                hint = "check its plug and its channel on the multiplexer; take magnets away from it"
                yield SENSORS.fails(name, "dead: it does not answer, or is at its rail", hint)
            elif why == "rail":
                yield SENSORS.fails(name, "at its rail", "take magnets and iron away from it")
            elif why == "stuck":
                yield SENSORS.fails(name, "stuck: it repeats one reading", "unplug the board and plug it in again")
            elif why:
                yield SENSORS.fails(name, "noisy", "check its plug; keep cables that carry current away from it")
            elif number in askew:
                hint = "mount it like the others, or remove magnets and iron near it"
                yield SENSORS.fails(name, f"seems to be turned: {askew[number]}", hint)
            else:
                yield SENSORS.passes(name, f"answers {100 * answered:.0f} % of the time")
        if missing := len(built) - self.magnetometers if self.checks_magnetometers else 0:
            yield SENSORS.absent(f"{missing} more magnetometers", "not built: [board] magnetometers in the settings")


def _explain_piezo(pad: int, why: str, rest: float, noise: float, steps: Mapping[int, int]) -> tuple[str, str] | None:
    """Return what is wrong with a pad's piezo, the most telling cause first, and the remedy; None if nothing is.

    `why` is the detector's fault, `rest` and `noise` are in counts, `steps` has the `wire.DISCS` values by pad.
    """
    silent = "silent: no signal", "check its cable and the disc; tap the pad and run the doctor again"
    step = explain_step(pad, steps)
    if why == "silent" and (step is None or steps[pad] == wire.NOT_SWITCHED):
        step = silent
    if wrong := _explain_rest(rest, is_at_rail=why == "at its rail") or step:
        return wrong
    if noise > NOISY_COUNTS or why == "noisy":
        hint = "check its shield and ground; keep chargers, phones and hands away during the test"
        return f"noisy: {noise:.0f} counts", hint
    return None


RestFault = Literal["", "rail", "diode", "bias"]


def classify_rest(counts: float) -> RestFault:
    """Return which fault lets a pad rest `counts` off the middle; `circuits.py --simulate` prints its level."""
    from_rail = MIDDLE_COUNTS - abs(counts)
    if from_rail <= MAX_RAIL_COUNTS:
        return "rail"
    if from_rail <= MAX_DIODE_COUNTS:
        return "diode"
    return "bias" if abs(counts) > OFF_REST_COUNTS else ""


def _explain_rest(counts: float, *, is_at_rail: bool) -> tuple[str, str] | None:
    """Return what is wrong with a pad that rests `counts` off the middle, and the remedy; None if nothing is.

    R1, R3, D1 and D2 are the names in the drawing of the piezo input.
    """
    fault: RestFault = "rail" if is_at_rail else classify_rest(counts)
    rail, resistor, diode = ("ground", "R1", "D2") if counts < 0 else ("3.3 V", "R3", "D1")
    if fault == "rail":
        hint = f"look for a short of its disc or wire to {rail}, and check its bias resistor {resistor}"
        return f"at its rail: it rests at {rail}", hint
    if fault == "diode":
        volt = VOLT_PER_COUNT * (MIDDLE_COUNTS - abs(counts))
        hint = f"turn {diode} round (D1's band to 3V3, D2's to R2); else check its bias resistors R1 and R3"
        return f"rests {volt:.2f} V from {rail}, as if its clamp diode {diode} were reversed", hint
    if fault == "bias":
        hint = "one of its bias resistors R1 and R3 has a wrong value: with two alike it rests at half the supply"
        return f"rests {counts:+.0f} counts off the middle", hint
    return None


def explain_step(pad: int, steps: Mapping[int, int]) -> tuple[str, str] | None:
    """Return what the pad's `wire.DISCS` value in `steps` (by pad) says is wrong, and the remedy; None if nothing is.

    A mat whose bias resistors are all on 3.3 V cannot be tested; that is no fault.
    """
    step = steps.get(pad, wire.NOT_SWITCHED)
    if step == wire.NOT_SWITCHED:
        if not any(0 < other < wire.NOT_SWITCHED for other in steps.values()):
            return None
        hint = f"connect its bias resistor R1 to GPIO{pinmap().board.bias_pin} as the others', and look for a short"
        return "its level does not follow the bias pin, as the other pads' do", hint
    if not step:
        return "short: its level does not rise to its rest", "look for a short of its disc or wire to ground"
    if wire.disc_ms(step) < MIN_DISC_MS:
        found = f"no disc: it rises in {wire.disc_ms(step):.1f} ms, as an open input does"
        return found, "check its plug, its wire and the solder joints on the disc"
    return None


def _strip_name(number: int) -> str:
    """Return the name of a touch strip (0 first, in wire order)."""
    strips = pinmap().touch.strips
    return f"touch strip {number + 1} (pad {number // len(strips) + 1}, {strips[number % len(strips)]})"


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


MIN_TURN_LOG_ODDS = 18.0
"""Least gain of a turn in twice the log likelihood: about 4 sigma where chance most easily looks like a turn."""
MAX_TURN_DISTANCE = 16.0
"""Largest squared distance from a turned module's reading, in variances, that fits: one in 1000 is further away."""
FEWEST_SENSORS = 8
"""Fewest sensors from which the common field can be estimated."""


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
