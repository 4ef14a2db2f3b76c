"""Simulated players of Hampa Apena: hider, hitter and judge.

Their plan for a hide comes from `script`, their true actions are recorded in `truth`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pi_controller.referee.facts import Fact
from pi_controller.rules.base import Game, Team
from pi_controller.simulation.people import RETRY_S, People, choose_answer, raise_level
from pi_controller.simulation.truth import HidePlan, Stroke, Truth, compare, hide_plan, toss
from pi_controller.table.view import QuestionView, View

ABOUT_A_PAD = ("two_struck", "several_struck", "doubtful", "beside_dead", "link_gap", "same_pad")
ABOUT_THE_BEAD = ("bead_moved", "sealed_again", "no_reading")


class Players(People):
    """Hider, hitter and judge of one table."""

    truth_class = Truth
    _hid = -1
    """The hide whose bead was placed in this world."""
    _passes = _wiped = 0
    _last_stroke: tuple[int, str, int] | None = None

    def compare(self, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
        """Return every disagreement between the truth and `facts`: see `truth.compare`."""
        return compare(self.truth, facts, game)

    # turns of the game

    def _turn_key(self, view: View) -> object:
        """Return the phase, the hide, the owed hit, and the number of cancelled hide passes."""
        self._wiped += view.phase == "hide" and view.passes < self._passes
        self._passes = view.passes
        return view.phase, view.hide, view.owed if view.phase == "hit" else None, self._wiped

    def _begin(self, view: View) -> Iterator[float] | None:
        match view.phase:
            case "toss":
                return self._toss()
            case "hide":
                return self._hide(self.plan_of(view), view.hider)
            case "check":
                self._catch_up(view)
                return self._nothing_more()
            case "hit":
                self._catch_up(view)
                return self._hit(self.plan_of(view), view.owed or "first")
            case "show":
                self._catch_up(view)
                return self._show(self.plan_of(view), view)
            case _:
                return None

    def plan_of(self, view: View) -> HidePlan:
        """Return the plan of the current hide."""
        return hide_plan(self.seed, view.hide, self.pace, self.mischief)

    def _toss(self) -> Iterator[float]:
        yield 0.4
        winner = toss(self.seed)
        self.truth.tossed = winner
        yield from self._press_until_taken("toss_a" if winner == "A" else "toss_b")

    def _hide(self, plan: HidePlan, hider: str | None) -> Iterator[float]:
        world = self._world
        world.hand_home("hitter")
        yield plan.start_s
        if self._hid == plan.hide:
            yield from self._fetch(plan)
        for bead in ("bead", "second bead"):
            world.take(bead)
        for drop in (drop for each in plan.passes for drop in each.drops):
            world.carry(drop.bead)
        self._hid = plan.hide
        self.truth.record_hide(plan, _team(hider))
        for each in plan.passes:
            yield world.hand_in(each.pad, each.style) - world.t + each.dwell_s
            for drop in each.drops:
                if drop.pad is not None:
                    world.drop(drop.bead, drop.place, drop.facing)
            yield world.hand_out(each.pad) - world.t
            for drop in each.drops:
                if drop.pad is None:
                    world.drop(drop.bead, drop.place, drop.facing)
            yield each.gap_s
        world.hand_home()
        yield plan.ready_s
        yield from self._press_until_taken("ready")

    def _nothing_more(self) -> Iterator[float]:
        """Wait for the mat to sense the bead; hands stay away."""
        for side in ("hider", "hitter"):
            self._world.hand_home(side)
        yield 0.0

    def _hit(self, plan: HidePlan, owed: str) -> Iterator[float]:
        stroke = plan.first if owed == "first" else plan.second
        yield stroke.look_s
        level = stroke.level_dbfs
        while True:
            self.strike(plan.hide, owed, stroke, level)
            yield RETRY_S
            level = raise_level(level)

    def strike(self, hide: int, owed: str, stroke: Stroke, level: float) -> None:
        """Strike the pads of `stroke` at `level` dBFS, and record it in the truth."""
        self.truth.record_stroke(hide, owed, stroke.pad)
        self._last_stroke = (hide, owed, stroke.pad)
        self._world.strike(stroke.pad, level, stroke.also, stroke.also_after_s, stroke.after_s)

    def _show(self, plan: HidePlan, view: View) -> Iterator[float]:
        yield plan.show_s
        side = "hitter" if view.foul is None and any(hit.found for hit in view.hits) else "hider"
        world = self._world
        for bead in ("bead", "second bead"):
            pad = world.pad_of_bead(bead)
            if pad is not None:
                style = plan.passes[0].style
                yield world.hand_in(pad, style, side) - world.t + 0.15
                world.carry(bead, side=side)
                yield world.hand_out(pad, side) - world.t
            world.take(bead)
        world.hand_home(side)
        yield 0.3
        yield from self._press_until_taken("shown")

    def _fetch(self, plan: HidePlan) -> Iterator[float]:
        """Take the bead to hide it again."""
        world = self._world
        pad = world.pad_of_bead("bead")
        if pad is not None:
            yield world.hand_in(pad, plan.passes[0].style) - world.t + 0.1
            world.carry("bead")
            yield world.hand_out(pad) - world.t + 0.1

    def _catch_up(self, view: View) -> None:
        """Place the beads if these players return in the middle of a hide: they have hidden already."""
        if self._hid == view.hide:
            return
        plan = self.plan_of(view)
        self._hid = view.hide
        if view.hide not in self.truth.hides:
            self.truth.record_hide(plan, _team(view.hider))
        for drop in (drop for each in plan.passes for drop in each.drops):
            self._world.drop(drop.bead, drop.place, drop.facing)

    # the judge

    def answer_to(self, view: View, asked: QuestionView) -> str | dict[str, Any]:
        """Return the judge\'s true answer, or the action that the judge enters instead."""
        foul = self.truth.hides[view.hide].foul if view.hide in self.truth.hides else None
        if asked.about == "no_reading" and foul is not None:
            return {"do": "foul", "by": "hider", "kind": foul}
        return self._verdict(view, asked, foul)

    def _verdict(self, view: View, asked: QuestionView, foul: str | None) -> str:
        """Return the true answer, as one of the choices."""
        struck = self._last_stroke
        pad = struck[2] if struck is not None and struck[:2] == (view.hide, view.owed) else None
        if asked.about in ABOUT_A_PAD:
            answer = "none" if pad is None else str(pad)
        elif asked.about == "found":
            answer = "found" if pad is not None and pad == self.truth.hides[view.hide].place else "missed"
        elif asked.about == "disc_dead":
            answer = "play_on" if pad is None else str(pad)
        elif asked.about in ABOUT_THE_BEAD:
            answer = "play_on"
        elif asked.about == "passes_unsure":
            answer = "hide_again"
        elif asked.about == "foul":
            answer = "foul" if foul == asked.foul else "play_on"
        else:
            answer = ""
        return choose_answer(asked.choices, answer, "none" if asked.about in ABOUT_A_PAD else "")


def _team(name: str | None) -> Team:
    return "B" if name == "B" else "A"


PEOPLE = Players
