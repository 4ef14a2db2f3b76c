"""Simulated players of ojibwe: the hider places four balls, the shooter opens pads and strikes one.

Their plan for a hide is an `OjibweScript`, a function of (seed, hide) only, so that a repeated hide ends the same.
Their true actions are recorded in `turns`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pi_controller.pads import EVERY_PAD
from pi_controller.sensing.events import Side
from pi_controller.simulation import plans
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.hand_motion import HandStyle
from pi_controller.simulation.people import RETRY_S, TurnPeople, choose_answer, raise_level
from pi_controller.table.view import QuestionView, View

MARKED = "marked ball"
BALLS = (MARKED, "ball 2", "ball 3", "ball 4")
HiderMistake = Literal["ball_out", "two_under_one"]


@dataclass(frozen=True, slots=True)
class Lift:
    """The shooter opens `pad`, waits for `dwell_s` and takes the ball out if `takes` is set."""

    pad: int
    style: HandStyle
    look_s: float
    dwell_s: float
    takes: bool


@dataclass(frozen=True, slots=True)
class OjibweScript:
    """Plan of one hide.

    `ball` is the pad over the marked ball, None if it was left out. `lifts` are the pads to open, `slip` an opened pad
    touched by mistake before the stroke, `one_more` a pad opened beyond the limit. `amiss` is the hider's mistake,
    `stop` is True if the judge restarts the hide for it (or for `one_more`).
    """

    hide: int
    start_s: float
    drops: tuple[plans.Drop, ...]
    style: HandStyle
    dwell_s: float
    ready_s: float
    ball: int | None
    lifts: tuple[Lift, ...]
    hit: plans.Stroke
    slip: int | None
    one_more: Lift | None
    amiss: HiderMistake | None
    stop: bool
    show_s: float

    @property
    def mischief(self) -> str:
        """The irregularities of the hide, for the record."""
        slips = ("opened_pad" if self.slip else None, "too_many" if self.one_more else None)
        return ", ".join(kind for kind in (self.amiss, *slips) if kind)


def ojibwe_script(
    seed: int, hide: int, max_open: int, pace: plans.PaceName = "brisk", mischief: plans.Mischief | None = None
) -> OjibweScript:
    """Return the plan of hide number `hide` of the table with this seed: always the same."""
    chances, times = mischief or plans.Mischief(), plans.PACES[pace]
    # mischief is drawn separately, so that a restarted hide without it is otherwise the same
    random, whim = rng(seed, Stream.SCRIPT, hide), rng(seed, Stream.SCRIPT, hide, 1)
    pads: list[int] = [*EVERY_PAD]
    laid = [int(pad) for pad in random.permutation(pads)]  # the marked ball's pad first
    drops = [plans.place_under(random, name, pad) for name, pad in zip(BALLS, laid, strict=True)]
    order = [int(pad) for pad in random.permutation(pads)]
    count = int(random.choice((0, 0, 1, 1, 2, max_open)))
    lifts = tuple(_lift(random, times, pad) for pad in order[:count])
    amiss = _amiss(whim, drops) if whim.random() < chances.fouls else None
    ball = next((drop.pad for drop in drops if drop.bead == MARKED), None)
    onto = next((i for i, lift in enumerate(lifts) if lift.pad == ball), None)
    hit = plans.stroke(random, times, order[count], doubt=bool(whim.random() < chances.doubts))
    slip = lifts[0].pad if lifts and onto is None and whim.random() < chances.doubts else None
    wrong = [pad for pad in order[count:] if pad != ball]
    beyond = count == max_open and onto is None and bool(wrong) and whim.random() < chances.doubts
    return OjibweScript(
        hide=hide,
        start_s=plans.span(random, times.start),
        drops=tuple(sorted(drops, key=lambda drop: drop.pad or 0)),
        style=plans.style(random, times),
        dwell_s=plans.span(random, times.dwell),
        ready_s=plans.span(random, times.ready),
        ball=ball,
        lifts=lifts if onto is None else lifts[: onto + 1],
        hit=hit,
        slip=slip,
        one_more=replace(_lift(whim, times, wrong[-1]), takes=False) if beyond else None,
        amiss=amiss,
        stop=bool(ball is None or whim.random() < 0.5),
        show_s=plans.span(random, times.show),
    )


def _amiss(whim: np.random.Generator, drops: list[plans.Drop]) -> HiderMistake:
    """Change `drops` for a hider who forgets a ball, or puts two under one pad."""
    out = whim.random() < 0.5
    which = int(whim.integers(len(drops)))
    spare = drops.pop(which)
    if out:
        return "ball_out"
    drops.insert(which, plans.place_under(whim, spare.bead, int(whim.choice([drop.pad for drop in drops if drop.pad]))))
    return "two_under_one"


def _lift(random: np.random.Generator, times: plans.Pace, pad: int) -> Lift:
    look, dwell = plans.span(random, times.look), 0.1 + plans.span(random, times.dwell)
    return Lift(pad, plans.style(random, times), look, dwell, bool(random.random() < 0.4))


class OjibwePeople(TurnPeople):
    """Hider, shooter and judge of one table."""

    _hid = 0
    """The hide whose balls were placed in this world."""
    _struck: tuple[int, int] | None = None
    """The hide and the pad of the last stroke."""

    def _turn_key(self, view: View) -> object:
        return view.phase, view.hide

    def _begin(self, view: View) -> Iterator[float] | None:
        match view.phase:
            case "toss":
                return self._toss()
            case "hide":
                return self._hide(self.plan_of(view))
            case "check":
                return self._nothing_more(view)
            case "hit":
                return self._shoot(self.plan_of(view))
            case "show":
                return self._show(self.plan_of(view), view)
            case _:
                return None

    def plan_of(self, view: View) -> OjibweScript:
        """Return the plan of the current hide."""
        most = self.game.whole_setting("max_open")
        return ojibwe_script(self.seed, view.hide, most, self.pace, self._mischief_for(view.hide))

    def _toss(self) -> Iterator[float]:
        yield 0.4
        winner = plans.toss(self.seed)
        self.truth.record_actions(0, {"do": "toss", "winner": winner})
        yield from self._hold_toss(f"toss_{winner.lower()}", HandStyle())

    # hiding

    def _hide(self, plan: OjibweScript) -> Iterator[float]:
        if self._hid == plan.hide:
            self._steps.clear()  # the hide starts over
        yield from self._finish_steps()
        yield from self._hand_away("hitter")
        yield plan.start_s
        self._add_lift("hider", plan.style, 0.15)
        yield from self._finish_steps()
        for ball in BALLS:
            self._world.carry(ball, marked=ball == MARKED)
        self._laid(plan)
        self._add_laying(plan)
        yield from self._finish_steps()
        yield plan.ready_s
        yield from self._press_until_taken("ready")

    def _add_laying(self, plan: OjibweScript) -> None:
        """Add the steps that lay the balls; a neighbour may press ready in the middle of it."""
        chance, pads = self._habit_random("neighbour", plan.hide), sorted({drop.pad or 0 for drop in plan.drops})
        neighbour = plan.hide not in self._over and chance.random() < self.habits.neighbour
        early = chance.choice(pads[1:]) if neighbour else None
        for pad in pads:
            if pad == early:
                self._add_press("ready")
            self._add_hand(pad, plan.style, plan.dwell_s, under=self._layer(plan, pad))
        self._steps.append(self._away_with_the_rest)

    def _layer(self, plan: OjibweScript, pad: int) -> Callable[[Side], object]:
        def lay(_side: Side) -> None:
            for drop in plan.drops:
                if drop.pad == pad:
                    self._world.drop(drop.bead, drop.place, drop.facing)

        return lay

    def _away_with_the_rest(self) -> float:
        self._world.hand_home()
        for ball in BALLS:
            if self._world.pad_of_bead(ball) is None:
                self._world.take(ball)
        return 0.0

    def _laid(self, plan: OjibweScript) -> None:
        self._hid = plan.hide
        self.truth.begin(plan.hide, plan.ball, plan.mischief)

    def _nothing_more(self, view: View) -> Iterator[float]:
        """Wait for the mat to sense the balls; hands stay away. If ready was too early, the hider goes on.

        Players who return in the middle of a hide have hidden.
        """
        yield from self._finish_steps()
        self._catch_up(self.plan_of(view))
        for side in ("hider", "hitter"):
            self._world.hand_home(side)
        yield 0.0

    def _catch_up(self, plan: OjibweScript) -> None:
        if self._hid != plan.hide:
            self._laid(plan)
            for drop in plan.drops:
                self._world.carry(drop.bead, marked=drop.bead == MARKED)
                self._world.drop(drop.bead, drop.place, drop.facing)

    # shooting

    def _shoot(self, plan: OjibweScript) -> Iterator[float]:
        self._catch_up(plan)
        opened = [lift.pad for lift in plan.lifts]
        if plan.ball in opened:
            self._record_shot(plan, opened, None)
        for lift in plan.lifts:
            while lift.pad not in self._opened_pads():
                yield from self._lift(lift)
                if lift.pad not in self._opened_pads():
                    yield RETRY_S
        if plan.one_more is not None:
            yield from self._lift(plan.one_more)
        if plan.slip is not None:
            yield plan.hit.look_s
            self._struck = None  # the judge knows that it was not a hit
            self._world.strike(plan.slip, plan.hit.level_dbfs)
            yield RETRY_S
        stroke, level, chance = plan.hit, plan.hit.level_dbfs, self._habit_random("hit", plan.hide)
        yield stroke.look_s
        if chance.random() < self.habits.point:
            yield self._world.point(stroke.pad, "hitter") - self._world.t + 0.3
            yield self._world.hand_home("hitter") - self._world.t
        bounce = chance.random() < self.habits.bounce
        while True:
            self._struck = plan.hide, stroke.pad
            self._record_shot(plan, opened, stroke.pad)
            self._world.strike(stroke.pad, level, stroke.also, stroke.also_after_s, stroke.after_s)
            if bounce:
                self._bounce(stroke, chance)
            yield RETRY_S
            level = raise_level(level)

    def _lift(self, lift: Lift) -> Iterator[float]:
        """Open a pad; the shooter may take out its ball."""
        world = self._world
        yield lift.look_s
        yield world.hand_in(lift.pad, lift.style, "hitter") - world.t + lift.dwell_s
        if lift.takes:
            for ball in BALLS:
                if world.pad_of_bead(ball) == lift.pad:
                    world.carry(ball, side="hitter")
        yield world.hand_out(lift.pad, "hitter") - world.t
        yield world.hand_home("hitter") - world.t + 0.2

    def _opened_pads(self) -> tuple[int, ...]:
        return self._view.opened if self._view is not None else ()

    def _record_shot(self, plan: OjibweScript, opened: list[int], hit: int | None) -> None:
        self.truth.record_actions(plan.hide, {"do": "shoot", "opened": opened, "hit": hit, "ball": plan.ball})

    def _show(self, plan: OjibweScript, view: View) -> Iterator[float]:
        yield from self._hand_away("hitter")
        yield plan.show_s
        shot = self.truth.turns[view.hide].actions[-1]
        struck = [shot["hit"]] if shot["hit"] else []
        wrong = [pad for pad in EVERY_PAD if pad != shot["ball"] and pad not in shot["opened"]]
        if struck and wrong:
            self._replace_and_take_back(plan.hide, {**shot, "ball": wrong[0]})
        self._add_tidying(plan.hide, struck, "hitter", plan.style)
        yield from self._finish_steps()
        yield RETRY_S
        yield from self._press_until_taken("shown")

    def _hand_away(self, side: Any) -> Iterator[float]:
        yield self._world.draw_back(side) - self._world.t
        self._world.hand_home(side)

    def _add_lift(self, side: Side, style: HandStyle, dwell_s: float) -> None:
        """Add the steps that gather the balls on the mat, pad by pad, and put them away."""
        for pad in sorted({pad for ball in BALLS if (pad := self._world.pad_of_bead(ball)) is not None}):
            balls = [ball for ball in BALLS if self._world.pad_of_bead(ball) == pad]
            self._add_hand(pad, style, dwell_s, side, self._taker(balls))
        self._steps.append(self._away_with_all)

    def _taker(self, balls: list[str]) -> Callable[[Side], object]:
        return lambda side: [self._world.carry(ball, side=side) for ball in balls]

    def _away_with_all(self) -> float:
        for ball in BALLS:
            self._world.take(ball)
        return self._hands_home()

    # the judge

    def answer_to(self, view: View, asked: QuestionView) -> str | dict[str, Any]:
        """Return the judge\'s true answer, or the action that the judge enters instead."""
        plan = self.plan_of(view)
        match asked.about:
            case "balls" | "no_reading" if self._steps:
                return self._over_again(view.hide)  # a neighbour pressed ready too early
            case "balls" | "no_reading" if plan.amiss is not None and plan.stop:
                return self._over_again(view.hide)
            case "too_many" if plan.stop:
                return self._over_again(view.hide)
            case "ball_moved" | "sealed_again" | "balls" | "no_reading" | "too_many":
                return "play_on"
            case "opened":
                return "yes" if plan.ball in asked.pads else "no"
            case "ball":
                return str(plan.ball)
            case "two_struck" | "doubtful" | "link_gap" | "opened_pad" | "several_struck" | "beside_dead" | "disc_dead":
                at = self._struck is not None and self._struck[0] == view.hide
                return choose_answer(asked.choices, str(plan.hit.pad) if at else "none", "play_on")
            case _:
                return asked.choices[0]


PEOPLE = OjibwePeople
