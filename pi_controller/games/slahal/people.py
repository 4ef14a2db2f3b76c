"""Simulated players of slahal: two bone holders with four fists, a guesser, and the judge.

Their plan for a hide (`BonesPlan`) is a function of (seed, hide) only, so that a repeated hide ends the same; their
true actions are recorded in `turns`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pi_controller.games.slahal.display import SHOW
from pi_controller.games.slahal.rules import Signal
from pi_controller.pads import EVERY_PAD
from pi_controller.rules.base import Team
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.hand_motion import HandStyle
from pi_controller.simulation.people import RETRY_S, TurnPeople, choose_answer
from pi_controller.simulation.plans import PACES, Mischief, PaceName, span
from pi_controller.table.view import QuestionView, View

PADS_OF: dict[Signal, tuple[int, int]] = {"right": (1, 3), "left": (2, 4), "inside": (2, 3), "outside": (1, 4)}
"""The fists that a signal points at: the guesser sits opposite with pad 4 on the left (Lahal sheet, Guesses)."""
CONTRARY: dict[Signal, Signal] = {"left": "right", "right": "left", "inside": "outside", "outside": "inside"}
HOLDERS = ((1, 2), (3, 4))
"""The pads of each bone holder's two fists."""


@dataclass(frozen=True, slots=True)
class Fist:
    """One fist: its style, its offset from the pad's middle, and the height of the object in it."""

    style: HandStyle
    off_mm: float
    high_mm: float


@dataclass(frozen=True, slots=True)
class BonesPlan:
    """Plan of one hide. `bones` are the pads of the two unmarked bones, `stays` the holder who plays on with one pair.

    `signal` is the guess, with `block` and `mirror`. `by_hand`: the judge enters it. `switch`: a holder moves the bone
    to the other fist before the guess. `late`: the bones are not out in time. `king`: this team's player takes the king
    stick too early.
    """

    hide: int
    start_s: float
    bones: tuple[int, int]
    fists: tuple[Fist, ...]
    swap_s: float
    stays: int
    look_s: float
    signal: Signal
    one_signal: Signal
    by_hand: bool
    block: bool
    mirror: bool
    switch: bool
    late: bool
    king: Team | None
    show_s: float

    @property
    def mischief(self) -> str:
        """The irregularities of the hide, for the record."""
        kinds = ("rehide" if self.switch else "", "hide_time" if self.late else "", "king_moved" if self.king else "")
        return ", ".join(filter(None, kinds))


def duos(seed: int) -> tuple[tuple[bool, bool], ...]:
    """Return whether the first guessers of A and B succeed, for each duo until exactly one does."""
    random = rng(seed, Stream.TOSS)
    rounds: list[tuple[bool, bool]] = []
    while not rounds or rounds[-1][0] == rounds[-1][1]:
        rounds.append((bool(random.random() < 0.5), bool(random.random() < 0.5)))
    return tuple(rounds)


def bones_plan(seed: int, hide: int, pace: PaceName = "brisk", mischief: Mischief | None = None) -> BonesPlan:
    """Return the plan of hide number `hide` of the table with this seed: always the same."""
    mischief, times = mischief or Mischief(), PACES[pace]
    random, whim = rng(seed, Stream.SCRIPT, hide), rng(seed, Stream.SCRIPT, hide, 1)
    signals: list[Signal] = ["left", "right", "inside", "outside"]
    fouls, doubts = mischief.fouls, mischief.doubts
    return BonesPlan(
        hide=hide,
        start_s=span(random, times.start),
        bones=(int(random.integers(1, 3)), int(random.integers(3, 5))),
        fists=tuple(_fist(random, span(random, times.move)) for _ in range(4)),
        swap_s=span(random, times.dwell) * 3.0,
        stays=int(random.integers(2)),
        look_s=span(random, times.look),
        signal=signals[int(random.integers(4))],
        one_signal=signals[int(random.integers(2))],
        by_hand=bool(random.random() < 0.25),
        block=bool(random.random() < 0.3),
        mirror=bool(random.random() < 0.3),
        switch=bool(whim.random() < fouls),
        late=bool(whim.random() < doubts),
        king=("A" if whim.random() < 0.5 else "B") if whim.random() < fouls / 10.0 else None,
        show_s=span(random, times.show),
    )


def _fist(random: np.random.Generator, move_s: float) -> Fist:
    how = HandStyle(move_s, float(random.uniform(25.0, 60.0)))
    return Fist(how, float(random.uniform(-60.0, 60.0)), float(random.uniform(12.0, 45.0)))


BONES = ("bone 1", "bone 2")
"""The unmarked bones; marked bones contain no magnet, so the mat cannot sense them."""
REPORT_DELAY_S = 0.1
"""Longest delay of the table's report after people's actions."""
LAST_START_S = 1.0
"""People begin no action this shortly before the game's time limit."""
MAX_LATE_LIMIT_S = 20.0
"""Holders are late only if the time to hide is at most this, to keep the simulation short."""


class BoneHolders(TurnPeople):
    """Bone holders, guesser and judge of one table."""

    _ends: float | None = None

    def watch(self, view: View) -> None:
        """Process a new view, and record the end of the game by its time limit."""
        super().watch(view)
        self._ends = view.ends or self._ends
        if (
            view.phase == "over"
            and SHOW.sheet(view)["finish"] == "time"
            and self._ends
            and self._t > self._ends - REPORT_DELAY_S
        ):
            self.truth.record_actions(view.hide, {"do": "time"})

    def _turn_key(self, view: View) -> object:
        return view.phase, view.hide

    def _begin(self, view: View) -> Iterator[float] | None:
        plan = self.plan_of(view)
        match view.phase:
            case "toss":
                return self._duo()
            case "hide":
                return self._hide(plan, self._pairs_out(view, plan))
            case "check":
                return self._finish_steps()  # a neighbour pressed ready too early
            case "guess":
                return self._guess(plan, self._pairs_out(view, plan))
            case "over":
                return self._open_hands()
            case _:
                return None

    def plan_of(self, view: View) -> BonesPlan:
        """Return the plan of the current hide."""
        return bones_plan(self.seed, view.hide, self.pace, self._mischief_for(view.hide))

    def _pairs_out(self, view: View, plan: BonesPlan) -> tuple[int, ...]:
        """Return the bone holders whose pairs are out (0 and 1): after a split only the one who was not caught."""
        if SHOW.sheet(view)["pairs_out"] != 1:
            return (0, 1)
        for number in range(view.hide - 1, 0, -1):
            for action in reversed(self.truth.turns[number].actions if number in self.truth.turns else []):
                if action["do"] == "guess" and action["actual"] in PADS_OF:
                    caught = {*PADS_OF[action["signal"]]} & {*PADS_OF[action["actual"]]}
                    if len(str(self.truth.turns[number].place)) == 2 and len(caught) == 1:
                        return (1,) if caught & {*HOLDERS[0]} else (0,)
        return (plan.stays,)

    def _duo(self) -> Iterator[float]:
        rounds = duos(self.seed)
        self.truth.record_actions(0, *({"do": "duo", "A": a, "B": b} for a, b in rounds))
        for a, b in rounds[:-1]:
            yield 0.6
            self._enter({"do": "duo", "A": a, "B": b})
        yield 0.6
        yield from self._hold_toss("toss_a" if rounds[-1][0] else "toss_b", HandStyle())

    # hiding

    def _hide(self, plan: BonesPlan, out: tuple[int, ...]) -> Iterator[float]:
        world = self._world
        if plan.hide in self.truth.turns:
            self._steps.clear()  # the hide starts over
        yield from self._finish_steps()
        yield from self._open_hands()
        self._take_wrong_result_back(plan.hide - 1)
        yield plan.start_s
        pads = [plan.bones[holder] for holder in out]
        self.truth.begin(plan.hide, _digits(pads), plan.mischief)
        for holder in range(len(HOLDERS)):
            if holder in out:
                world.carry(BONES[holder], marked=False, side=plan.bones[holder])
            else:
                world.take(BONES[holder])
        limit = self.game.whole_setting("hide_seconds")
        self._add_wait(plan.swap_s + (limit + 0.5 if plan.late and limit <= MAX_LATE_LIMIT_S else 0.0))
        neighbour = (
            plan.hide not in self._over and self._habit_random("neighbour", plan.hide).random() < self.habits.neighbour
        )
        if neighbour:
            self._add_press("ready")
        self._steps.append(lambda: self._rest_fists(plan, out))
        yield from self._finish_steps()
        yield from self._press_until_taken("ready")

    def _rest_fists(self, plan: BonesPlan, out: tuple[int, ...]) -> float:
        for pad in (pad for holder in out for pad in HOLDERS[holder]):
            fist = plan.fists[pad - 1]
            self._world.rest(pad, fist.off_mm, fist.style, fist.high_mm)
        return RETRY_S

    def _take_wrong_result_back(self, hide: int) -> None:
        actions = self.truth.turns[hide].actions if hide in self.truth.turns else []
        if actions and actions[-1]["do"] == "guess":
            self._replace_and_take_back(hide, {**actions[-1], "actual": CONTRARY[actions[-1]["actual"]]})

    def _open_hands(self) -> Iterator[float]:
        yield 0.3
        for pad in EVERY_PAD:
            self._world.hand_home(pad)
        yield 0.5

    # guessing

    def _guess(self, plan: BonesPlan, out: tuple[int, ...]) -> Iterator[float]:
        number = plan.hide
        yield plan.look_s
        if plan.king is not None:
            self.truth.record_actions(number, {"do": "king_moved", "by": plan.king})
            self._enter({"do": "king_moved", "by": plan.king})
            yield RETRY_S
        if plan.switch:
            yield from self._switch(plan, out)
        while self._ends is not None and self._t > self._ends - LAST_START_S:
            yield RETRY_S
        signal = plan.signal if len(out) == 2 else plan.one_signal
        guess: dict[str, Any] = {"do": "guess", "signal": signal}
        by_hand = plan.by_hand or plan.block or (plan.mirror and len(out) == 1)
        if plan.block:
            guess["block"] = True
        if plan.mirror and len(out) == 1:
            guess["mirror"] = True
        done = {**guess, "actual": _actual(plan, out)}
        self.truth.record_actions(number, done)
        while True:
            if by_hand:  # if the mat has not sensed the bones, the judge enters their place, too
                self._enter(guess if self._has_commitment() else done)
            else:
                self._press(signal)
            yield RETRY_S

    def _switch(self, plan: BonesPlan, out: tuple[int, ...]) -> Iterator[float]:
        """Move a holder's bone to the other fist; if the mat cannot see it, the judge does."""
        holder = out[0]
        left, right = HOLDERS[holder]
        there = right if plan.bones[holder] == left else left
        self.truth.record_actions(plan.hide, {"do": "rehide"})
        self._world.carry(BONES[holder], marked=False, side=there)
        if not self._has_commitment():
            pads = sorted({*(plan.bones[other] for other in out), there} - {plan.bones[holder]})
            self.truth.turns[plan.hide].place = _digits(pads)
        yield RETRY_S
        while True:
            self._enter({"do": "rehide"})
            yield RETRY_S

    def _has_commitment(self) -> bool:
        return self._view is not None and self._view.commit is not None

    # the judge

    def answer_to(self, view: View, asked: QuestionView) -> str | dict[str, Any]:
        """Return the judge\'s true answer, or the action that the judge enters instead."""
        plan = self.plan_of(view)
        match asked.about:
            case "actual":
                return _actual(plan, self._pairs_out(view, plan))
            case "bones" | "no_reading" if self._steps:
                return self._over_again(view.hide)  # a neighbour pressed ready too early
            case "foul":
                return choose_answer(asked.choices, "foul" if plan.switch else "play_on")
            case "time" if self._ends and self._t > self._ends - REPORT_DELAY_S:
                return "time"
            case _:
                return choose_answer(asked.choices, "play_on")


def _actual(plan: BonesPlan, out: tuple[int, ...]) -> Signal:
    """Return the signal that would catch the unmarked bones that are out."""
    pads = {plan.bones[holder] for holder in out}
    return next(signal for signal in PADS_OF if pads <= {*PADS_OF[signal]})


def _digits(pads: list[int]) -> int:
    """Return pads as the number in a reveal: a digit for each."""
    return int("".join(map(str, pads)))


PEOPLE = BoneHolders
