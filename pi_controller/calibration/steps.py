"""Base classes of a calibration step."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Field, Message, Piezo, Touch
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
from pi_controller.sensing.events import BeadsAtRest, HandIn, HandOut, MatEvent, Strike
from pi_controller.sensing.faults import find_swapped_pads
from pi_controller.sensing.hands import HandSettings

# View model of a calibration, shared by the terminal and the page.


BarState = Literal["wait", "now", "good", "bad"]
StepState = Literal["to_come", "now", "passed", "failed", "left_out"]


class Bar(msgspec.Struct, frozen=True):
    """One live bar: `share` (0 to 1) of it is filled; `text` has the value in numbers."""

    label: str
    share: float
    text: str
    state: BarState = "wait"


class Finding(msgspec.Struct, frozen=True):
    """A fault (`what`) and its remedy (`todo`), one line each."""

    what: str
    todo: str


class StepView(msgspec.Struct, frozen=True):
    """One step of the walk: its results (`found`), or its faults (`wrong`)."""

    name: str
    title: str
    state: StepState
    found: tuple[str, ...] = ()
    wrong: tuple[Finding, ...] = ()


class WalkView(msgspec.Struct, frozen=True):
    """The whole walk: `at` is the current step (0 first), `ask` the instruction, `note` the current problem.

    `pad` is the current pad, if the step has one; `spot` is the place on it (0 first), if the step has several.
    """

    steps: tuple[StepView, ...]
    at: int
    ask: str
    note: str = ""
    bars: tuple[Bar, ...] = ()
    pad: int | None = None
    spot: int | None = None
    over: bool = False
    passed: bool = False
    saved: str = ""


PATIENCE_S = 45.0
"""A pad without input for this long is given up."""


class Step(Protocol):
    """A calibration step: takes messages and their events until it is `over`; `found` and `wrong` are the result.

    `name` and `title` identify it, `note` is the current problem, `pad` the current pad, `spot` the place on it.
    """

    name: str
    title: str
    over: bool
    note: str
    pad: int | None
    spot: int | None
    found: list[str]
    wrong: list[Finding]

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        ...

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Process one message and the events that the detectors made of it."""
        ...

    def tick(self, t: float) -> None:
        """Advance to `t`."""
        ...

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        ...

    def bars(self) -> tuple[Bar, ...]:
        """Return the live bars."""
        ...


class PadByPad:
    """A step that goes from pad to pad and gives up on one after a timeout."""

    spot: int | None = None

    def __init__(self, pads: int) -> None:
        self.pads = pads
        self.restart(0.0)

    def restart(self, t: float) -> None:
        """Start over at `t`."""
        self.over = False
        self.note = ""
        self.pad: int | None = 1
        self.found: list[str] = []
        self.wrong: list[Finding] = []
        self.states: list[BarState] = ["wait"] * self.pads
        self.states[0] = "now"
        self.moved = t
        """Time of the last input."""

    def fail(self, what: str, todo: str) -> None:
        """Report a fault of the current pad."""
        assert self.pad is not None
        self.wrong.append(Finding(what, todo))
        self.states[self.pad - 1] = "bad"

    def report_other_pads(self, felt_on: Mapping[int, int], swapped: Finding, missing: Finding) -> None:
        """Report the pads that were felt on another one (`felt_on`): as `swapped` in a circle, else as `missing`.

        {pad} and {other} in the findings become the two pads.
        """
        groups = find_swapped_pads(felt_on)
        for group in groups:
            what = ", ".join(swapped.what.format(pad=pad, other=felt_on[pad]) for pad in group)
            self.wrong.append(Finding(what, swapped.todo))
        for pad, other in felt_on.items():
            if other != pad and not any(pad in group for group in groups):
                self.wrong.append(
                    Finding(*(text.format(pad=pad, other=other) for text in (missing.what, missing.todo)))
                )

    def next_pad(self, t: float) -> None:
        """Continue with the next pad, or finish."""
        assert self.pad is not None
        if self.states[self.pad - 1] == "now":
            self.states[self.pad - 1] = "good"
        self.note, self.moved = "", t
        if self.pad == self.pads:
            self.over, self.pad = True, None
        else:
            self.pad += 1
            self.states[self.pad - 1] = "now"

    def is_timed_out(self, t: float) -> bool:
        """Return True if the current pad's timeout has expired."""
        return not self.over and t - self.moved > PATIENCE_S


# Step 1, empty mat: measures every sensor's noise, the strips at rest and the magnetometers' baseline.


CALM_S = 6.0
"""How long the mat must stay untouched: longer than detecting any dead sensor takes, except a stuck strip."""
DOUBT_S = 20.0
"""The same if a magnet may be on the mat: time to check, because the mat is then assumed to be empty."""
GIVE_UP_S = 60.0
TRIES = 4
"""Strokes detected on an empty mat that are no accident any more."""
NOISY_COUNTS = 40.0
"""Piezo noise, rms, above which soft strokes are lost: 34 dB below the rail."""
NOISY_TOUCH = 4.0
NOISY_UT = 3.0


class EmptyStep:
    """Measures the mat at rest. Restarts whenever the mat is touched.

    With `magnets_only` the discs and the strips may be missing: they are neither waited for nor judged.
    """

    name = "empty"
    title = "The empty mat"
    pad: int | None = None
    spot: int | None = None

    def __init__(self, *, magnets_only: bool = False) -> None:
        self._magnets_only = magnets_only

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self._detectors = detectors
        self.over = False
        self.note = ""
        self.found: list[str] = []
        self.wrong: list[Finding] = []
        self._began = t
        self._struck: list[int] = []
        self._magnet: int | None = None
        self._doubt = False
        self._restart_measurement(t)

    def _restart_measurement(self, t: float) -> None:
        maps = pinmap()
        self._calm, self._now = t, t
        self._asked = False
        self.piezo = RunningStats((PADS,))
        self.touch = RunningStats((PADS, len(maps.touch.strips)))
        self.field = RunningStats((len(maps.magnetometer_positions()), 3))
        self._received = [0, 0, 0]  # messages of each kind

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Process one message and the events that the detectors made of it."""
        for event in events:
            if self._magnets_only and not isinstance(event, BeadsAtRest):
                continue
            match event:
                case HandIn():
                    self._note_disturbance(t, f"A hand was felt at pad {event.pad}: keep hands away from the mat.")
                case Strike():
                    self._struck.append(event.pads[0])
                    self._note_disturbance(t, f"A hit was felt on pad {event.pads[0]}: do not touch the mat.")
                case BeadsAtRest():
                    self._read(t, event)
                case _:
                    pass
        match message:
            case Piezo():
                self.piezo.add(message.counts)
                self._received[0] += 1
            case Touch():
                self.touch.add(message.counts.astype(np.float64))
                self._received[1] += 1
            case Field():
                self.field.add(message.ut, message.ok[:, None])
                self._received[2] += 1
            case _:
                pass

    def tick(self, t: float) -> None:
        """Advance to `t`: end the step once the mat has been calm for long enough."""
        if self.over:
            return
        self._now = t
        if t - self._began > GIVE_UP_S or len(self._struck) >= TRIES:
            self._judge()
        elif t - self._calm >= (DOUBT_S if self._doubt else CALM_S) and self._magnet is None:
            if not self._asked:
                self._asked = True
                self._detectors.beads.set_empty()
            elif self._detectors.beads.baseline is not None or not self._received[2]:
                self._judge()

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        return "Take the bead off the mat and keep hands, phones and keys away from it."

    def bars(self) -> tuple[Bar, ...]:
        """Return the live bars."""
        noise = self.piezo.rms
        long = DOUBT_S if self._doubt else CALM_S
        quiet = min(self._now - self._calm, long)
        bars = [Bar("still", quiet / long, f"{quiet:.0f} of {long:.0f} s", "now")]
        for pad, rms in enumerate([] if self._magnets_only else noise.tolist(), 1):
            state = "bad" if rms > NOISY_COUNTS else "good" if self.over else "now"
            bars.append(Bar(f"pad {pad}", min(rms / NOISY_COUNTS, 1.0), f"noise {rms:.1f} counts", state))
        rows = [("strips", self.touch, NOISY_TOUCH, "counts"), ("magnets", self.field, NOISY_UT, "\u00b5T")]
        rows = rows[self._magnets_only :] if self._detectors.built.any() else rows[:1]
        for label, readings, most, unit in rows:
            rms = float(readings.rms.max())
            state = "bad" if rms > most else "good" if self.over else "now"
            bars.append(Bar(label, min(rms / most, 1.0), f"noise {rms:.1f} {unit}", state))
        return tuple(bars)

    def _read(self, t: float, beads: BeadsAtRest) -> None:
        """Check the beads for a magnet on the mat; without a baseline the reading is often unsure."""
        pad = (beads.found[0].pad or 0) if beads.found else None
        before = self._doubt or self._magnet is not None
        self._magnet = pad if beads.sure else None
        self._doubt = pad is not None and not beads.sure
        if pad is not None:
            where = f"on pad {pad}" if pad else "beside the pads"
            what = f"A magnet is read {where}" if beads.sure else f"There may be a magnet {where}"
            self._note_disturbance(t, f"{what}: take the bead, phones and keys away from the mat.")
        elif before:
            self._note_disturbance(t, "")  # the measurements so far include the magnet

    def _note_disturbance(self, t: float, note: str) -> None:
        self.note = note
        self._restart_measurement(t)

    def _judge(self) -> None:
        """End the step with its faults or its results."""
        detectors = self._detectors
        self.over, self.note = True, ""
        if not self._magnets_only:
            self._judge_piezo()
        silent = [number for number, why in detectors.beads.faults.items() if why == "silent"]
        groups = find_silent_multiplexers(silent, detectors.built)
        is_all_silent = bool(groups) and len(silent) == int(detectors.built.sum())
        if is_all_silent and not self._received[1]:
            what = "nothing on the I2C bus answers: neither the touch chip nor a magnetometer"
            self.wrong.append(Finding(what, BUS_HINT))
        elif is_all_silent:
            self.wrong.append(Finding("no magnetometer answers, on any multiplexer", MULTIPLEXER_HINT))
        else:
            for address, parts in groups.items():
                what = f"none of the {len(parts)} magnetometers behind multiplexer {address:#04x} answers"
                self.wrong.append(Finding(what, MULTIPLEXER_HINT))
        named = {number for parts in groups.values() for number in parts}
        wrong_strips = {(fault.pad, fault.strip): fault.wrong for fault in detectors.hands.faults}
        for (pad, strip), noise in np.ndenumerate(self.touch.rms):
            why = wrong_strips.get((pad + 1, strip)) or ("noisy" if noise > NOISY_TOUCH else "")
            if why and self._received[1] and not self._magnets_only:
                todo = "check its wire and its plug on the touch board"
                self.wrong.append(Finding(f"{detectors.strip_name(pad + 1, strip)} is {why}", todo))
        faults = detectors.beads.faults
        for number, noise in enumerate(self.field.rms.max(axis=1).tolist()):
            why = faults.get(number) or ("noisy" if noise > NOISY_UT else "")
            if why and self._received[2] and number not in named:
                todo = "check its plug, and its channel on the multiplexer"
                self.wrong.append(Finding(f"{magnetometer_name(number)} is {_reason(why)}", todo))
        has_magnetometers = bool(detectors.built.any())
        due = (not self._magnets_only, not self._magnets_only, has_magnetometers)
        parts = ("the pads", "the touch strips", "the magnetometers")
        for count, is_due, what in zip(self._received, due, parts, strict=True):
            if is_due and not count and not (is_all_silent and what == "the touch strips"):
                self.wrong.append(Finding(f"no data from {what}", "run 'moccasin-mat doctor'"))
        if self._magnet is not None:
            where = f"on pad {self._magnet}" if self._magnet else "beside the pads"
            self.wrong.append(Finding(f"a magnet is read {where} all the time", "look for iron or magnets near there"))
        elif self._now - self._calm < CALM_S and not self.wrong:
            self.wrong.append(Finding("the mat never came to rest", "keep hands away from it, then try again"))
        if not self.wrong:
            if not self._magnets_only:
                noise = ", ".join(f"{rms:.1f}" for rms in self.piezo.rms.tolist())
                self.found = [
                    f"pads: noise {noise} counts",
                    f"touch strips: noise up to {self.touch.rms.max():.1f} counts",
                ]
            if has_magnetometers:
                field = self.field.rms.max()
                self.found.append(f"magnetometers: noise up to {field:.1f} \u00b5T; the empty mat is known")

    def _judge_piezo(self) -> None:
        detector = self._detectors.strikes
        faults = {} if detector is None else detector.faults
        for pad, noise in enumerate(self.piezo.rms.tolist(), 1):
            if why := faults.get(pad):
                todo = (
                    "check its cable and its bias resistors" if why == "at its rail" else "check its cable and its disc"
                )
                self.wrong.append(Finding(f"the piezo of pad {pad} is {_reason(why)}", todo))
            elif noise > NOISY_COUNTS:
                todo = "check its shield and its ground, and keep chargers away"
                self.wrong.append(Finding(f"the piezo of pad {pad} is noisy: {noise:.0f} counts", todo))
        if len(self._struck) >= TRIES:
            pads = ", ".join(str(pad) for pad in sorted(set(self._struck)))
            todo = "reduce vibrations from the floor or drums, or raise [strikes] threshold_db"
            self.wrong.append(Finding(f"strikes detected without a hit: pad {pads}", todo))


def _reason(why: str) -> str:
    return "at its rail" if why == "rail" else f"losing samples ({why})" if why == "samples are missing" else why


# Step 2, taps: asks for five taps on each pad, measures level and margin, and fits the threshold.


TAPS = 5
RING_S = 0.05
"""Time after which a stroke has reached its peak."""
SPARE_DB = 6.0
"""Margin of the weakest tap at the fitted threshold..."""
LOWER_DB, RAISE_DB = 4.0, 8.0
"""... which is lowered and raised by no more than this."""
BOTTOM_DBFS = -66.0
"""Level at the start of the bars."""


class TapStep(PadByPad):
    """Asks for taps, pad by pad."""

    name = "taps"
    title = "Taps on each pad"

    def __init__(self) -> None:
        super().__init__(PADS)

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self.restart(t)
        self._detectors = detectors
        self._felt: list[list[Strike]] = [[] for _ in range(self.pads)]
        self._felt_as: dict[int, int] = {}
        self.levels: list[list[float]] = [[] for _ in range(self.pads)]
        self._ringing: Strike | None = None
        self._now = t

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:  # noqa: ARG002 - required by Step
        """Process one message and the events that the detectors made of it."""
        for event in events:
            if isinstance(event, Strike) and self.pad is not None:
                self._settle()
                if len(self._felt[self.pad - 1]) < TAPS:
                    self._felt[self.pad - 1].append(event)
                    self._ringing, self.moved = event, t
                    self.note = "" if event.pads[0] == self.pad else f"That tap was on pad {event.pads[0]}."

    def tick(self, t: float) -> None:
        """Advance to `t`: note a tap's peak, and go to the next pad after the last tap or a timeout."""
        self._now = t
        if self._ringing is not None and t - self._ringing.t >= RING_S:
            self._settle()
        if self.pad is None:
            return
        if len(self.levels[self.pad - 1]) >= TAPS:
            self._judge(self.pad)
            self.next_pad(t)
        elif self.is_timed_out(t):
            felt = len(self._felt[self.pad - 1])
            what = f"pad {self.pad} felt {felt} of {TAPS} taps" if felt else f"pad {self.pad} feels no taps"
            self.fail(what, "check the disc under its plate and its cable, then tap a little harder")
            self.next_pad(t)
        if self.over:
            self._explain_other_pads()
        if self.over and not self.wrong:
            self.found = [
                f"taps: {', '.join(f'{-level:.0f}' for level in self.level_dbfs)} dB under the rail",
                f"a threshold of {self.threshold_db:g} dB suits them",
            ]

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        return f"Tap pad {self.pad} with the stick {TAPS} times, as lightly as should still count."

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar per pad: its level now, and the number of taps detected."""
        bars: list[Bar] = []
        for pad in range(1, self.pads + 1):
            level = self._detectors.peak_dbfs(pad, self._now - 0.25)
            share = min(max(1.0 - level / BOTTOM_DBFS, 0.0), 1.0)
            count = len(self._felt[pad - 1])
            bars.append(Bar(f"pad {pad}", share, f"{level:.0f} dB, {count} of {TAPS} taps", self.states[pad - 1]))
        return tuple(bars)

    @property
    def level_dbfs(self) -> list[float]:
        """Level of the median tap on each pad, dBFS."""
        return [round(median(levels), 1) if levels else 0.0 for levels in self.levels]

    @property
    def margin_db(self) -> list[float]:
        """Margin of the weakest tap on each pad over the threshold, dB."""
        return [min((strike.margin_db or 0.0 for strike in felt), default=0.0) for felt in self._felt]

    @property
    def threshold_db(self) -> float:
        """The threshold fitted to the taps, dB: the weakest passes with a margin of `SPARE_DB`."""
        usual = self._detectors.settings.peak_db
        more = min(max(min(self.margin_db) - SPARE_DB, -LOWER_DB), RAISE_DB)
        return min(max(round(2 * (usual + more)) / 2, 3.0), 40.0)

    def _settle(self) -> None:
        """Note the last tap's peak on the pad that detected it."""
        if self._ringing is None:
            return
        at = self.pad
        assert at is not None
        self.levels[at - 1].append(self._detectors.peak_dbfs(self._ringing.pads[0], self._ringing.t))
        self._ringing = None

    def _judge(self, pad: int) -> None:
        felt = [strike.pads[0] for strike in self._felt[pad - 1]]
        self._felt_as[pad] = Counter(felt).most_common(1)[0][0]
        if self._felt_as[pad] != pad:
            self.states[pad - 1] = "bad"  # why is known at the end: the other pad may be swapped with this one
        elif any(one != pad for one in felt):
            others = sorted({one for one in felt if one != pad})
            self.fail(
                f"some taps on pad {pad} were felt on pad {', '.join(map(str, others))}",
                "check that the plates are loose and do not touch, and that the pad's disc is glued firmly",
            )
        elif sum(not strike.sure for strike in self._felt[pad - 1]) > 1:
            self.fail(f"taps on pad {pad} are not detected reliably", "tap harder, or check the disc under its plate")

    def _explain_other_pads(self) -> None:
        """Report the pads whose taps were felt on another one: plugs are swapped, or the pad's own disc is missing."""
        self.report_other_pads(
            self._felt_as,
            Finding("a tap on pad {pad} is felt as pad {other}", "the plugs of these pads are swapped: swap them back"),
            Finding(
                "the disc of pad {pad} feels nothing: pad {other} felt its taps through the floor",
                "check the disc under its plate, its plug and its wire",
            ),
        )


# Step 3, hands: asks for a hand under each pad from the hider's side, and measures the counts the strips lose.


SHARE = 0.225
"""The touch threshold is this share of the counts lost by the weakest middle strip: 9 of 40 counts."""
NOISES = 5.0
"""It is also at least this many sigmas of a strip's noise."""
MIN_TOUCH_COUNTS, MAX_TOUCH_COUNTS = 5.0, 14.0
FULL_COUNTS = 60.0
"""Counts at the end of the bars."""


class SlideStep(PadByPad):
    """Asks for a hand under each pad. `rest` and `noise` (pads, strips) are the empty mat's counts and their noise."""

    name = "hands"
    title = "A hand under each pad"

    def __init__(self) -> None:
        super().__init__(PADS)

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self.restart(t)
        self._detectors = detectors
        shape = (self.pads, detectors.strip_count)
        self.rest: NDArray[np.float64] | None = None
        self.noise = np.zeros(shape)
        self.lost = np.zeros(shape)
        self._now = np.zeros(shape)
        self._before = np.zeros(shape)
        self._in: HandIn | None = None
        self._elsewhere: set[int] = set()
        self._felt_at: dict[int, int] = {}

    def set_rest(self, rest: NDArray[np.float64], noise: NDArray[np.float64]) -> None:
        """Set the strips' counts on the empty mat (pads, strips) and their noise."""
        self.rest, self.noise = rest, noise

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Process one message and the events that the detectors made of it."""
        if isinstance(message, Touch):
            counts = message.counts.astype(np.float64)
            if self.rest is None:
                self.rest = counts
            self._before, self._now = self._now, self.rest - counts
            if self.pad is not None:
                lost = np.minimum(self._before, self._now)[self.pad - 1]
                self.lost[self.pad - 1] = np.maximum(self.lost[self.pad - 1], lost)
        for event in events:
            if self.pad is None:
                continue
            if isinstance(event, HandIn | HandOut) and event.pad != self.pad:
                if isinstance(event, HandIn):
                    self._elsewhere.add(event.pad)
                    self.note = f"A hand was felt at pad {event.pad}; please use pad {self.pad}."
            elif isinstance(event, HandIn):
                self._in, self.moved, self.note = event, t, ""
            elif isinstance(event, HandOut) and self._in is not None:
                self._judge(self._in, event)
                self._leave(t)

    def tick(self, t: float) -> None:
        """Advance to `t`: give up the pad after a timeout, and set the results at the end."""
        if self.pad is not None and self.is_timed_out(t):
            if self._in is not None:
                self.fail(f"the hand never came out of pad {self.pad}", "draw the hand back beyond the edge")
            elif len(self._elsewhere) == 1:
                (self._felt_at[self.pad],) = self._elsewhere
                self.states[self.pad - 1] = "bad"  # why is known at the end: the other pad may be swapped with this one
            else:
                felt = ", ".join(str(pad) for pad in sorted(self._elsewhere))
                what = f"no hand is felt under pad {self.pad}"
                self.fail(
                    f"{what}, but at pads {felt}" if felt else what,
                    "check the strips' plug, or slide the hand in as far as the wrist",
                )
            self._leave(t)
        if self.over and not self.wrong:
            lost = ", ".join(f"{counts:.0f}" for counts in self.middle.tolist())
            self.found = [
                f"a hand takes {lost} counts from the middle strips",
                f"a threshold of {self.settings().touch:g} counts suits that",
            ]

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        if self._in is not None:
            return f"Draw the hand out from under pad {self.pad} again."
        return f"From the hider's side, slide a hand flat under pad {self.pad}, wait a moment, and draw it out."

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar per strip of the current pad with the counts lost now, and one per pad."""
        pad = self.pad or self.pads
        bars: list[Bar] = []
        threshold = HandSettings().touch
        for strip, name in enumerate(pinmap().touch.strips):
            lost = float(self._now[pad - 1, strip])
            share = min(max(lost / FULL_COUNTS, 0.0), 1.0)
            state = "now" if lost >= threshold else "wait"
            bars.append(Bar(f"pad {pad} {name}", share, f"{max(lost, 0.0):.0f} counts lost", state))
        for number, state in enumerate(self.states, 1):
            labels = {
                "wait": "to come",
                "now": "hand in" if self._in else "asked for",
                "good": "in and out",
                "bad": "not right",
            }
            done = 1.0 if state == "good" else 0.5 if state == "now" and self._in else 0.0
            bars.append(Bar(f"pad {number}", done, labels[state], state))
        return tuple(bars)

    @property
    def middle(self) -> NDArray[np.float64]:
        """Counts that the middle strip of each pad lost to the hand."""
        return self.lost[:, self._detectors.strip_count // 2]

    def settings(self) -> HandSettings:
        """Return the thresholds that suit these hands."""
        usual = HandSettings()
        touch = max(SHARE * float(self.middle.min()), NOISES * float(self.noise.max()), MIN_TOUCH_COUNTS)
        touch = round(2 * min(touch, MAX_TOUCH_COUNTS)) / 2
        share = touch / usual.touch
        return HandSettings(touch=touch, clear=round(usual.clear * share, 1), brushed=round(usual.brushed * share, 1))

    def _leave(self, t: float) -> None:
        self._in, self._elsewhere = None, set()
        self.next_pad(t)
        if self.over:
            self._explain_other_pads()

    def _explain_other_pads(self) -> None:
        """Report the pads whose hands were felt at another one: plugs are swapped, or the pad's strips are off."""
        self.report_other_pads(
            self._felt_at,
            Finding(
                "a hand under pad {pad} is felt at pad {other}",
                "the plugs of these pads' touch strips are swapped: swap them back",
            ),
            Finding(
                "the strips of pad {pad} feel no hand: pad {other} felt one",
                "check the strips' plug of pad {pad}, and slide the hand under it",
            ),
        )

    def _judge(self, came: HandIn, left: HandOut) -> None:
        middle = float(self.lost[came.pad - 1, self._detectors.strip_count // 2])
        if came.side == "hitter":
            self.fail(
                f"a hand from the hider's side is felt from the hitter's at pad {came.pad}",
                "the strips of this pad are connected the wrong way round, or the mat is",
            )
        elif not (came.sure and left.sure):
            self.fail(
                f"the hand at pad {came.pad} is not detected reliably",
                "slide it in farther, without stopping at the edge",
            )
        elif middle < 1.5 * max(NOISES * float(self.noise.max()), MIN_TOUCH_COUNTS):
            self.fail(
                f"a hand takes only {middle:.0f} counts from the middle strip of pad {came.pad}",
                "check its plug, and that the cloth over the strips is thin and dry",
            )
