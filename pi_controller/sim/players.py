"""The people at a simulated table: they see what the table shows, move their hands, strike, press and judge.

They know nothing of the table's inside: only its public view. What they do in a hide is decided by `script`, what they
did is kept in `truth`. A person who gets no answer tries again. This is a simulation: people at a real mat do more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.referee.judge import JudgeAction, JudgeAnswer
from pi_controller.sim.script import HideScript, Mischief, PaceName, Stroke, script, toss
from pi_controller.sim.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_controller.games.base import Team
    from pi_controller.referee.judge import JudgeCall
    from pi_controller.sim.world import World
    from pi_controller.table.view import Asked, View


AGAIN_S = 4.0
"""So long people wait for the table before they strike or press once more."""
JUDGE_S = 1.0
"""So long a judge takes to answer."""
HEAR_S = 0.3
"""So long people take to go on after the judge has spoken."""
LOUDER_DB = 6.0
LOUDEST_DBFS = -6.0

ABOUT_A_PAD = ("two_struck", "doubtful", "link_gap", "same_pad")
ABOUT_THE_BEAD = ("bead_moved", "no_reading")


class Players:
    """Hider, hitter and judge of one table. Call `watch` with every view and `act` with every tick's time."""

    def __init__(
        self,
        seed: int,
        world: World,
        press: Callable[[str], None],
        judge: Callable[[JudgeCall], None],
        *,
        pace: PaceName = "brisk",
        mischief: Mischief | None = None,
        truth: Truth | None = None,
    ) -> None:
        self.seed = seed
        self.pace: PaceName = pace
        self.mischief = mischief or Mischief()
        self.truth = truth or Truth(seed)
        """What really happened. Give the old one when a killed table's people come back."""
        self.questions = 0
        """How many questions the judge has answered."""
        self._world = world
        self._press = press
        self._judge = judge
        self._view: View | None = None
        self._seen: tuple[object, ...] = ()
        self._plan: Iterator[float] | None = None
        self._due: float | None = None
        self._hid = -1  # the hide whose bead has been laid down in this world
        self._passes = 0
        self._last_stroke: tuple[int, str, int] | None = None
        self._asked: Asked | None = None
        self._answer_at: float | None = None

    def watch(self, view: View) -> None:
        """Look at what the table shows; a new turn of the game makes people do something else.

        At a table that is halted everyone waits, and goes on where they were.
        """
        self._view = view
        if view.phase != "halted":
            seen = (view.phase, view.hide, view.owed if view.phase == "hit" else None)
            wiped = view.phase == "hide" and view.passes < self._passes
            if seen != self._seen or wiped:
                self._plan, self._due = self._begin(view), None
            self._seen, self._passes = seen, view.passes
        if view.question != self._asked:
            self._asked, self._answer_at = view.question, None

    def act(self, t: float) -> None:
        """Do what is due at time `t` (seconds, on the table's clock)."""
        view = self._view
        if view is None:
            return
        if view.question is not None:
            self._answer(view, view.question, t)
        if view.question is not None or view.phase == "halted":
            self._due = max(self._due or t, t + HEAR_S)
            return
        if self._plan is None:
            return
        if self._due is None:
            self._due = t
        while self._plan is not None and t >= self._due:
            try:
                self._due += next(self._plan)
            except StopIteration:
                self._plan = None

    # turns of the game

    def _begin(self, view: View) -> Iterator[float] | None:
        match view.phase:
            case "toss":
                return self._toss()
            case "hide":
                return self._hide(self._script(view), view.hider)
            case "check":
                self._catch_up(view)
                return self._nothing_more()
            case "hit":
                self._catch_up(view)
                return self._hit(self._script(view), view.owed or "first")
            case "show":
                self._catch_up(view)
                return self._show(self._script(view), view)
            case _:
                return None

    def _script(self, view: View) -> HideScript:
        return script(self.seed, view.hide, self.pace, self.mischief)

    def _toss(self) -> Iterator[float]:
        yield 0.4
        winner = toss(self.seed)
        self.truth.tossed = winner
        while True:
            self._press("toss_a" if winner == "A" else "toss_b")
            yield AGAIN_S

    def _hide(self, plan: HideScript, hider: str | None) -> Iterator[float]:
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
        self.truth.hidden(plan, _team(hider))
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
        while True:
            self._press("ready")
            yield AGAIN_S

    def _nothing_more(self) -> Iterator[float]:
        """Wait for the mat to look; hands stay away."""
        for side in ("hider", "hitter"):
            self._world.hand_home(side)
        yield 0.0

    def _hit(self, plan: HideScript, owed: str) -> Iterator[float]:
        stroke = plan.first if owed == "first" else plan.second
        yield stroke.look_s
        level = stroke.level_dbfs
        while True:
            self._strike(plan.hide, owed, stroke, level)
            yield AGAIN_S
            level = max(level, min(level + LOUDER_DB, LOUDEST_DBFS))

    def _strike(self, hide: int, owed: str, stroke: Stroke, level: float) -> None:
        self.truth.struck(hide, owed, stroke.pad)
        self._last_stroke = (hide, owed, stroke.pad)
        self._world.strike(stroke.pad, level, stroke.also, stroke.also_after_s, stroke.after_s)

    def _show(self, plan: HideScript, view: View) -> Iterator[float]:
        yield plan.show_s
        side = "hitter" if view.foul is None and any(hit.found for hit in view.hits) else "hider"
        world = self._world
        for bead in ("bead", "second bead"):
            pad = world.lies(bead)
            if pad is not None:
                style = plan.passes[0].style
                yield world.hand_in(pad, style, side) - world.t + 0.15
                world.carry(bead, side=side)
                yield world.hand_out(pad, side) - world.t
            world.take(bead)
        world.hand_home(side)
        yield 0.3
        while True:
            self._press("shown")
            yield AGAIN_S

    def _fetch(self, plan: HideScript) -> Iterator[float]:
        """Reach for the bead, to hide it anew."""
        world = self._world
        pad = world.lies("bead")
        if pad is not None:
            yield world.hand_in(pad, plan.passes[0].style) - world.t + 0.1
            world.carry("bead")
            yield world.hand_out(pad) - world.t + 0.1

    def _catch_up(self, view: View) -> None:
        """People who come back to a table in the middle of a hide have hidden already: the beads lie there."""
        if self._hid == view.hide:
            return
        plan = self._script(view)
        self._hid = view.hide
        if view.hide not in self.truth.hides:
            self.truth.hidden(plan, _team(view.hider))
        for drop in (drop for each in plan.passes for drop in each.drops):
            self._world.drop(drop.bead, drop.place, drop.facing)

    # the judge

    def _answer(self, view: View, asked: Asked, t: float) -> None:
        if self._answer_at is None:
            self._answer_at = t + JUDGE_S
        if t < self._answer_at:
            return
        self._answer_at = t + AGAIN_S
        self.questions += 1
        foul = self.truth.hides[view.hide].foul if view.hide in self.truth.hides else None
        if asked.about == "no_reading" and foul is not None:
            self._judge(JudgeAction(t, {"do": "foul", "by": "hider", "kind": foul}))
        else:
            self._judge(JudgeAnswer(t, self._verdict(view, asked, foul)))

    def _verdict(self, view: View, asked: Asked, foul: str | None) -> str:
        """Return the true answer, as one of the choices."""
        struck = self._last_stroke
        pad = struck[2] if struck is not None and struck[:2] == (view.hide, view.owed) else None
        if asked.about in ABOUT_A_PAD:
            answer = "none" if pad is None else str(pad)
        elif asked.about == "found":
            answer = "found" if pad is not None and pad == self.truth.hides[view.hide].place else "missed"
        elif asked.about in ABOUT_THE_BEAD:
            answer = "play_on"
        elif asked.about == "passes_unsure":
            answer = "hide_again"
        elif asked.about == "foul":
            answer = "foul" if foul == asked.foul else "play_on"
        else:
            answer = ""
        if answer in asked.choices or not asked.choices:
            return answer
        return "none" if asked.about in ABOUT_A_PAD and "none" in asked.choices else asked.choices[0]


def _team(name: str | None) -> Team:
    return "B" if name == "B" else "A"
