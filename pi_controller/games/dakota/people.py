"""Simulated players of Hampa Apena: hider, hitter and judge.

Their plan for a hide comes from `plans`, what they did is recorded in `truth`.
"""

from collections.abc import Callable, Iterator
from typing import Any

from pi_controller.referee.settings import PASS_FOULS
from pi_controller.rules.base import Team
from pi_controller.sensing.events import Side
from pi_controller.simulation.habits import SECOND_FALL_S, TIDY, Habits, plan_neighbour, plan_round, seeded_random
from pi_controller.simulation.hand_motion import HandStyle
from pi_controller.simulation.people import RETRY_S, People, choose_answer, raise_level
from pi_controller.simulation.plans import HidePlan, PadPass, Stroke, hide_plan, toss
from pi_controller.simulation.truth import Truth
from pi_controller.table.view import QuestionView, View

OF_A_STROKE = (
    "two_struck",
    "several_struck",
    "doubtful",
    "beside_dead",
    "link_gap",
    "same_pad",
    "struck_meanwhile",
    "one_stroke",
)
"""The questions that are answered by the pad that was struck."""
BEADS = ("bead", "second bead")
BETWEEN_STROKES_S = SECOND_FALL_S[1] + 0.2
"""Hitters leave so long between two strokes: a second hit sooner may be the same stroke."""


def round_order(seed: int, plan: HidePlan, habits: Habits) -> tuple[tuple[int, float], ...]:
    """Return the order of the passes of `plan` with the seconds of a pause before each: see `plan_round`.

    A hider who skips a pad, or takes one twice, does so in one round.
    """
    habits = TIDY if plan.foul in PASS_FOULS else habits
    return plan_round(seeded_random(seed, "round", plan.hide), habits, len(plan.passes))


def early_ready(seed: int, plan: HidePlan, habits: Habits) -> int:
    """Return the number of passes of `plan` after which a neighbour presses ready, 0 if none does."""
    return plan_neighbour(seeded_random(seed, "neighbour", plan.hide), habits, round_order(seed, plan, habits)) or 0


class Players(People):
    """Hider, hitter and judge of one table."""

    truth_class = Truth
    _hid = -1
    """The hide whose bead was placed in this world, or is being placed."""
    _passes = _wiped = 0
    _last_stroke: tuple[int, str, int] | None = None
    _struck_at = float("-inf")

    # turns of the game

    def _turn_key(self, view: View) -> object:
        """Return the phase, the hide, the owed hit, and the number of cancelled hide passes."""
        if view.phase == "hide" and view.hide == self._hid and view.passes == 0 < self._passes:
            self._wiped += 1
            self._steps.clear()
        self._passes = view.passes
        return view.phase, view.hide, view.sheet["owed"] if view.phase == "hit" else None, self._wiped

    def _begin(self, view: View) -> Iterator[float] | None:
        match view.phase:
            case "toss":
                return self._toss()
            case "hide":
                return self._hide(self.plan_of(view.hide), view)
            case "check":
                self._catch_up(view)
                return self._nothing_more()
            case "hit":
                self._catch_up(view)
                return self._hit(self.plan_of(view.hide), view.sheet["owed"] or "first")
            case "show":
                self._catch_up(view)
                return self._show(self.plan_of(view.hide), view)
            case _:
                return None

    def plan_of(self, hide: int) -> HidePlan:
        """Return the plan of hide number `hide`."""
        return hide_plan(self.seed, hide, self.pace, self.mischief)

    def _toss(self) -> Iterator[float]:
        yield 0.4
        winner = toss(self.seed)
        self.truth.tossed = winner
        style = hide_plan(self.seed, 1, self.pace).passes[0].style
        yield from self._hold_toss("toss_a" if winner == "A" else "toss_b", style)

    def _hide(self, plan: HidePlan, view: View) -> Iterator[float]:
        if self._starts_over(view):
            self._add_fetching(plan)
        elif self._hid == plan.hide:  # ready was withdrawn, or a neighbour had pressed it
            yield from self._be_ready(plan)
        yield from self._finish_steps()
        self._world.hand_home("hitter")
        yield plan.start_s
        for bead in BEADS:
            self._world.take(bead)
        for drop in (drop for each in plan.passes for drop in each.drops):
            self._world.carry(drop.bead)
        self._hid = plan.hide
        self._add_round(plan, view.sheet["hider"])
        yield from self._be_ready(plan)

    def _starts_over(self, view: View) -> bool:
        """Return whether this hide was hidden already, and the table has forgotten its passes."""
        return self._hid == view.hide and not self._steps and not view.passes

    def _add_round(self, plan: HidePlan, hider: str | None) -> None:
        """Add a round of hiding; a neighbour may press ready in the middle of it."""
        order = round_order(self.seed, plan, self.habits)
        early = early_ready(self.seed, plan, self.habits)
        if self._tidied and any(pause_s for _, pause_s in order):
            self.doubtful.add(plan.hide)
        last = {number: n for n, (number, _) in enumerate(order)}
        self.truth.record_hide(plan, _team(hider), tuple(plan.passes[number].pad for number, _ in order), early)
        for n, (number, pause_s) in enumerate(order):
            if n and n == early:
                self._add_press("ready")
            else:
                self._add_wait(pause_s)
            self._add_pass(plan.passes[number], lays=last[number] == n)

    def _add_pass(self, each: PadPass, *, lays: bool) -> None:
        """Add a hand under a pad, which leaves its beads there if it `lays` them."""
        drops, world = each.drops if lays else (), self._world

        def leave(*, under: bool) -> float:
            for drop in drops:
                if (drop.pad is not None) == under:
                    world.drop(drop.bead, drop.place, drop.facing)
            return 0.0

        self._add_hand(each.pad, each.style, each.dwell_s, under=lambda _: leave(under=True))
        self._steps.append(lambda: leave(under=False))
        self._add_wait(each.gap_s)

    def _be_ready(self, plan: HidePlan) -> Iterator[float]:
        yield from self._finish_steps()
        self._world.hand_home()
        yield plan.ready_s
        yield from self._press_until_taken("ready")

    def _nothing_more(self) -> Iterator[float]:
        """Wait for the mat to sense the bead; hands stay away. If ready was too early, the hider goes on."""
        yield from self._finish_steps()
        for side in ("hider", "hitter"):
            self._world.hand_home(side)
        yield 0.0

    def _hit(self, plan: HidePlan, owed: str) -> Iterator[float]:
        stroke = plan.first if owed == "first" else plan.second
        chance = self._habit_random(owed, plan.hide)
        yield max(stroke.look_s, BETWEEN_STROKES_S - (self._t - self._struck_at))
        if chance.random() < self.habits.point:
            yield self._world.point(stroke.pad, "hitter") - self._world.t + 0.3
            yield self._world.hand_home("hitter") - self._world.t
        level, bounces = stroke.level_dbfs, chance.random() < self.habits.bounce
        while True:
            self.strike(plan.hide, owed, stroke, level)
            if bounces:
                self._bounce(stroke, chance)
            yield RETRY_S
            level, bounces = raise_level(level), False

    def strike(self, hide: int, owed: str, stroke: Stroke, level: float) -> None:
        """Strike the pads of `stroke` at `level` dBFS, and record it in the truth."""
        self.truth.record_stroke(hide, owed, stroke.pad)
        self._last_stroke, self._struck_at = (hide, owed, stroke.pad), self._t
        self._world.strike(stroke.pad, level, stroke.also, stroke.also_after_s, stroke.after_s)

    def _show(self, plan: HidePlan, view: View) -> Iterator[float]:
        yield plan.show_s
        if view.hits and view.foul is None:
            hit = view.hits[-1]
            self._replace_and_take_back(plan.hide, {"do": "hit", "found": not hit.found, "pad": hit.pad})
        stay = self._world.seats != "turn" or self.truth.hides[plan.hide].hider == view.sheet["hider"]
        struck = [hit.pad for hit in view.hits if hit.pad is not None]
        self._add_tidying(plan.hide, struck, "hider" if stay else "hitter", plan.passes[0].style)
        yield from self._finish_steps()
        yield RETRY_S
        yield from self._press_until_taken("shown")

    def _habits_before(self, hide: int) -> Habits:
        """Return the habits before `hide`: other hands would cover for a pad that is skipped, and no mat could tell."""
        return self.habits.without_tidying() if self.plan_of(hide).foul in PASS_FOULS else self.habits

    def _add_lift(self, side: Side, style: HandStyle, dwell_s: float) -> None:
        for bead in BEADS:
            pad = self._world.pad_of_bead(bead)
            if pad is not None:
                self._add_hand(pad, style, dwell_s, side, self._taker(bead))
            self._steps.append(lambda bead=bead: self._world.take(bead) or 0.0)

    def _taker(self, bead: str) -> Callable[[Side], object]:
        return lambda side: self._world.carry(bead, side=side)

    def _add_fetching(self, plan: HidePlan) -> None:
        """Add the hand that takes the bead to hide it again."""
        pad = self._world.pad_of_bead("bead")
        if pad is not None:
            self._add_hand(pad, plan.passes[0].style, 0.1, under=self._taker("bead"))
            self._add_wait(0.1)

    def _catch_up(self, view: View) -> None:
        """Place the beads if these players return in the middle of a hide: they have hidden already."""
        if self._hid == view.hide:
            return
        plan = self.plan_of(view.hide)
        self._hid = view.hide
        if view.hide not in self.truth.hides:
            self.truth.record_hide(plan, _team(view.sheet["hider"]))
        for drop in (drop for each in plan.passes for drop in each.drops):
            self._world.drop(drop.bead, drop.place, drop.facing)

    # the judge

    def answer_to(self, view: View, asked: QuestionView) -> str | dict[str, Any]:
        """Return the judge\'s true answer, or the action that the judge enters instead."""
        foul = self.truth.hides[view.hide].foul if view.hide in self.truth.hides else None
        other = foul in PASS_FOULS and asked.foul in PASS_FOULS and foul != asked.foul
        if foul is not None and (asked.about == "no_reading" or other):
            return {"do": "foul", "by": "hider", "kind": foul}
        return self._verdict(view, asked, foul)

    def _verdict(self, view: View, asked: QuestionView, foul: str | None) -> str:
        """Return the true answer, as one of the choices."""
        struck = self._last_stroke
        pad = struck[2] if struck is not None and struck[:2] == (view.hide, view.sheet["owed"]) else None
        of_a_stroke = asked.about in OF_A_STROKE
        if of_a_stroke:
            answer = "none" if pad is None else str(pad)
        elif asked.about == "found":
            answer = "found" if pad is not None and pad == self.truth.hides[view.hide].place else "missed"
        elif asked.about == "disc_dead":
            answer = "play_on" if pad is None else str(pad)
        else:
            answer = "foul" if foul is not None and foul == asked.foul else "play_on"
        return choose_answer(asked.choices, answer, "none" if of_a_stroke else "")


def _team(name: str | None) -> Team:
    return "B" if name == "B" else "A"


PEOPLE = Players
