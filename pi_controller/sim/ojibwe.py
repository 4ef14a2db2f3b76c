"""The people of ojibwe at a simulated table: the hider lays four balls, the hunter opens pads and strikes one.

What they do in a hide is decided by `hunts`, what they did is kept in `turns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.sim.hunts import BALLS, MARKED, HuntScript, Lift, hunt_script
from pi_controller.sim.people import AGAIN_S, louder, one_of
from pi_controller.sim.script import toss
from pi_controller.sim.turn_people import TurnPeople

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pi_controller.table.view import Asked, View


class Hunters(TurnPeople):
    """Hider, hunter and judge of one table."""

    _hid = 0
    """The hide whose balls have been laid down in this world."""
    _struck: tuple[int, int] | None = None
    """The hide and the pad of the last stroke."""

    def _turn(self, view: View) -> object:
        return view.phase, view.hide

    def _begin(self, view: View) -> Iterator[float] | None:
        match view.phase:
            case "toss":
                return self._toss()
            case "hide":
                return self._hide(self._script(view))
            case "check":
                return self._nothing_more(view)
            case "hit":
                return self._hunt(self._script(view))
            case "show":
                return self._show(self._script(view))
            case _:
                return None

    def _script(self, view: View) -> HuntScript:
        most = self.game.settings["max_open"]
        assert isinstance(most, int)
        return hunt_script(self.seed, view.hide, most, self.pace, self._allowed(view.hide))

    def _toss(self) -> Iterator[float]:
        yield 0.4
        winner = toss(self.seed)
        self.truth.did(0, {"do": "toss", "winner": winner})
        yield from self._pressing(f"toss_{winner.lower()}")

    # hiding

    def _hide(self, plan: HuntScript) -> Iterator[float]:
        world = self._world
        yield from self._hand_away("hitter")
        yield plan.start_s
        yield from self._take_up(plan, "hider")
        for ball in BALLS:
            world.carry(ball, marked=ball == MARKED)
        self._laid(plan)
        for pad in sorted({drop.pad or 0 for drop in plan.drops}):
            yield world.hand_in(pad, plan.style) - world.t + plan.dwell_s
            for drop in plan.drops:
                if drop.pad == pad:
                    world.drop(drop.bead, drop.place, drop.facing)
            yield world.hand_out(pad) - world.t
        world.hand_home()
        for ball in BALLS:
            if world.lies(ball) is None:
                world.take(ball)
        yield plan.ready_s
        yield from self._pressing("ready")

    def _laid(self, plan: HuntScript) -> None:
        self._hid = plan.hide
        self.truth.begin(plan.hide, plan.ball, plan.mischief)

    def _nothing_more(self, view: View) -> Iterator[float]:
        """Wait for the mat to look; hands stay away. People who come back in the middle of a hide have hidden."""
        self._catch_up(self._script(view))
        for side in ("hider", "hitter"):
            self._world.hand_home(side)
        yield 0.0

    def _catch_up(self, plan: HuntScript) -> None:
        if self._hid != plan.hide:
            self._laid(plan)
            for drop in plan.drops:
                self._world.carry(drop.bead, marked=drop.bead == MARKED)
                self._world.drop(drop.bead, drop.place, drop.facing)

    # hunting

    def _hunt(self, plan: HuntScript) -> Iterator[float]:
        self._catch_up(plan)
        opened = [lift.pad for lift in plan.lifts]
        if plan.ball in opened:
            self._done(plan, opened, None)
        for lift in plan.lifts:
            while lift.pad not in self._opened():
                yield from self._lift(lift)
                if lift.pad not in self._opened():
                    yield AGAIN_S
        if plan.one_more is not None:
            yield from self._lift(plan.one_more)
        if plan.slip is not None:
            yield plan.hit.look_s
            self._struck = None  # the judge knows that it was no hit
            self._world.strike(plan.slip, plan.hit.level_dbfs)
            yield AGAIN_S
        stroke, level = plan.hit, plan.hit.level_dbfs
        yield stroke.look_s
        while True:
            self._struck = plan.hide, stroke.pad
            self._done(plan, opened, stroke.pad)
            self._world.strike(stroke.pad, level, stroke.also, stroke.also_after_s, stroke.after_s)
            yield AGAIN_S
            level = louder(level)

    def _lift(self, lift: Lift) -> Iterator[float]:
        """Open a pad; a hunter may take out the ball that lies there."""
        world = self._world
        yield lift.look_s
        yield world.hand_in(lift.pad, lift.style, "hitter") - world.t + lift.dwell_s
        if lift.takes:
            for ball in BALLS:
                if world.lies(ball) == lift.pad:
                    world.carry(ball, side="hitter")
        yield world.hand_out(lift.pad, "hitter") - world.t
        yield world.hand_home("hitter") - world.t + 0.2

    def _opened(self) -> tuple[int, ...]:
        return self._view.opened if self._view is not None else ()

    def _done(self, plan: HuntScript, opened: list[int], hit: int | None) -> None:
        self.truth.did(plan.hide, {"do": "hunt", "opened": opened, "hit": hit, "ball": plan.ball})

    def _show(self, plan: HuntScript) -> Iterator[float]:
        yield from self._hand_away("hitter")
        yield plan.show_s
        yield from self._take_up(plan, "hitter")
        yield from self._pressing("shown")

    def _hand_away(self, side: Any) -> Iterator[float]:
        """Draw back a hand that may still be under a pad."""
        yield self._world.draw_back(side) - self._world.t
        self._world.hand_home(side)

    def _take_up(self, plan: HuntScript, side: Any) -> Iterator[float]:
        """Gather the balls that lie on the mat, pad by pad, and put them away."""
        world = self._world
        for pad in sorted({pad for ball in BALLS if (pad := world.lies(ball)) is not None}):
            yield world.hand_in(pad, plan.style, side) - world.t + 0.15
            for ball in BALLS:
                if world.lies(ball) == pad:
                    world.carry(ball, side=side)
            yield world.hand_out(pad, side) - world.t
        for ball in BALLS:
            world.take(ball)
        world.hand_home(side)
        yield 0.3

    # the judge

    def _says(self, view: View, asked: Asked) -> str | dict[str, Any]:
        plan = self._script(view)
        match asked.about:
            case "balls" | "no_reading" if plan.amiss is not None and plan.stop:
                return self._over_again(view.hide)
            case "too_many" if plan.stop:
                return self._over_again(view.hide)
            case "ball_moved" | "balls" | "no_reading" | "too_many":
                return "play_on"
            case "opened":
                return "yes" if plan.ball in asked.pads else "no"
            case "ball":
                return str(plan.ball)
            case "two_struck" | "doubtful" | "link_gap" | "opened_pad":
                at = self._struck is not None and self._struck[0] == view.hide
                return one_of(asked.choices, str(plan.hit.pad) if at else "none")
            case _:
                return asked.choices[0]
