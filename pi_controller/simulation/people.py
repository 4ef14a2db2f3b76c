"""Base class of simulated players: they watch the view, act on schedule, and answer the mat's questions.

They see only the table's public view. A player without a response tries again. This is a simulation: people at a real
mat behave in more ways.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pi_controller.pads import EVERY_PAD
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeCommand, JudgeReplace, JudgeUndo
from pi_controller.rules import registry
from pi_controller.rules.base import Game, Team
from pi_controller.sensing.events import Side
from pi_controller.sensing.mirror import mirror_pad, mirror_side
from pi_controller.simulation.habits import (
    LATE_S,
    SECOND_FALL_S,
    UNTIDY,
    Act,
    Habits,
    plan_between_hides,
    rest,
    seeded_random,
)
from pi_controller.simulation.hand_motion import HandStyle
from pi_controller.simulation.plans import Mischief, PaceName, Stroke
from pi_controller.simulation.truth import Truth, Turns
from pi_controller.simulation.world import World

if TYPE_CHECKING:
    from pi_controller.table.view import QuestionView, View


SEATED_PHASES = ("hide", "check", "hit", "guess")
"""Phases in which the seats follow the view; while the bead is shown, the hiders keep their places."""
RETRY_S = 4.0
"""Time that players wait for the table before they strike or press again."""
JUDGE_S = 1.0
"""Time that a judge takes to answer."""
RESUME_S = 0.3
"""Time that players take to continue after the judge's answer."""
LOUDER_DB = 6.0
LOUDEST_DBFS = -6.0


Step = Callable[[], float]
"""Does a part of an act and returns the seconds until the next part."""


class People(ABC):
    """Players and judge of one table. Call `watch` with every view and `act` with every tick's time."""

    truth_class: ClassVar[type[Truth | Turns]]

    def __init__(
        self,
        seed: int,
        world: World,
        press: Callable[[str], None],
        judge: Callable[[JudgeCommand], None],
        *,
        game: Game[Any] | None = None,
        pace: PaceName = "brisk",
        mischief: Mischief | None = None,
        habits: Habits = UNTIDY,
        truth: Truth | Turns | None = None,
    ) -> None:
        self.seed = seed
        self.game = game or registry.game(registry.DEFAULT_GAME)
        self.truth: Any = truth or self.truth_class(seed)
        """The true actions. Pass the earlier record when the players of a killed table return."""
        self.pace: PaceName = pace
        self.mischief = mischief or Mischief()
        self.habits = habits
        self.questions = 0
        """Number of questions answered by the judge."""
        self._world = world
        self._press = press
        self._judge = judge
        self._t = 0.0
        self._view: View | None = None
        self._seen: object = None
        self._plan: Iterator[float] | None = None
        self._due: float | None = None
        self._asked: QuestionView | None = None
        self._answer_at: float | None = None
        self._steps = deque[Step]()
        self._free_at = 0.0
        self._replaced = 0  # the last hide whose result the judge replaced
        self._tidied = False
        self.doubtful = set[int]()
        """The hides whose hands leave the mat in doubt: the hider paused in mid-round after tidying the pads."""

    def watch(self, view: View) -> None:
        """Process a new view; a new turn of the game changes the players' plan.

        While the table is halted everybody waits, and continues afterwards.
        """
        self._view = view
        if view.phase in SEATED_PHASES:
            self._world.sit(cast("Team | None", view.scoreboard.turn))
        if view.phase != "halted":
            seen = self._turn_key(view)
            if seen != self._seen:
                self._plan, self._due = self._begin(view), None
            self._seen = seen
        if view.question != self._asked:
            self._asked, self._answer_at = view.question, None

    def act(self, t: float) -> None:
        """Do the actions due at time `t` (seconds, on the table's clock)."""
        self._t = t
        view = self._view
        if view is None:
            return
        if view.question is not None:
            self._answer(view, view.question, t)
        if view.question is not None or view.phase == "halted":
            self._due = max(self._due or t, t + RESUME_S)
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

    @abstractmethod
    def _turn_key(self, view: View) -> object:
        """Return a value that is equal as long as the players continue their plan."""

    @abstractmethod
    def _begin(self, view: View) -> Iterator[float] | None:
        """Return the players' next plan: each step does an action and yields the time until the next step."""

    @abstractmethod
    def answer_to(self, view: View, asked: QuestionView) -> str | dict[str, Any]:
        """Return the judge's true answer, or the action that the judge enters instead."""

    def _answer(self, view: View, asked: QuestionView, t: float) -> None:
        if self._answer_at is None:
            chance = self._habit_random("judge", self.questions)
            late = chance.random() < self.habits.late
            self._answer_at = t + (chance.uniform(*LATE_S) if late else JUDGE_S)
        if t < self._answer_at:
            return
        self._answer_at = t + RETRY_S
        self.questions += 1
        answer = self.answer_to(view, asked)
        self._judge(JudgeAnswer(t, answer) if isinstance(answer, str) else JudgeAction(t, answer))

    def _enter(self, action: dict[str, Any]) -> None:
        self._judge(JudgeAction(self._t, action))

    def _press_until_taken(self, name: str) -> Iterator[float]:
        while True:
            self._press(name)
            yield RETRY_S

    # acts that people finish whatever the table makes of them

    def _habit_random(self, purpose: str, number: int) -> Random:
        return seeded_random(self.seed, purpose, number)

    def _finish_steps(self) -> Iterator[float]:
        """Do the steps that are left of a plan, also of one that the table's view has interrupted."""
        if self._steps:
            yield max(0.0, self._free_at - self._world.t)
        while self._steps:
            seconds = self._steps.popleft()()
            self._free_at = self._world.t + seconds
            yield seconds

    def _add_wait(self, seconds: float) -> None:
        self._steps.append(lambda: seconds)

    def _add_press(self, name: str) -> None:
        def press() -> float:
            self._press(name)
            return 0.1

        self._steps.append(press)

    def _add_hand(
        self,
        pad: int,
        style: HandStyle,
        dwell_s: float,
        side: Side = "hider",
        under: Callable[[Side], object] | None = None,
    ) -> None:
        """Add a hand under `pad`, as it is numbered now; `under` is called, with the hand's side, before it leaves."""
        world, turned = self._world, self._world.turned

        def seated() -> tuple[int, Side]:  # the teams may have changed roles meanwhile
            return (pad, side) if world.turned == turned else (mirror_pad(pad), mirror_side(side) or side)

        def go_in() -> float:
            at, hand = seated()
            return world.hand_in(at, style, hand) - world.t + dwell_s

        def go_out() -> float:
            at, hand = seated()
            if under is not None:
                under(hand)
            return world.hand_out(at, hand) - world.t

        self._steps += (go_in, go_out)

    def _habits_before(self, hide: int) -> Habits:
        """Return the habits of the people before hide number `hide`."""
        del hide
        return self.habits

    def _add_tidying(self, number: int, struck: Sequence[int], side: Side, style: HandStyle) -> None:
        """Add what the next hiders, who sit at `side` now, do after hide `number` until they are ready to hide."""
        habits = self._habits_before(number + 1)
        acts = plan_between_hides(self._habit_random("tidy", number), habits, struck, side, side)
        self._tidied = any(act.do == "hand" for act in acts)
        for act in acts:
            self._add_wait(act.after_s)
            self._add_act(act, style)
        self._steps.append(self._hands_home)

    def _add_act(self, act: Act, style: HandStyle) -> None:
        match act.do:
            case "hand":
                self._add_hand(act.pad, style, act.dwell_s, act.side)
            case "lift":
                self._add_lift(act.side, style, act.dwell_s)
            case "shown":
                self._add_press("shown")
            case "wait":
                pass

    def _add_lift(self, side: Side, style: HandStyle, dwell_s: float) -> None:
        """Add the steps that take up what lies on the mat; there are none in games without beads."""
        del side, style, dwell_s

    def _hands_home(self) -> float:
        for side in ("hider", "hitter"):
            self._world.hand_home(side)
        return 0.3

    def _hold_toss(self, button: str, style: HandStyle) -> Iterator[float]:
        """Press the `button` of the toss; somebody's hand may be under a pad."""
        chance = self._habit_random("toss", 0)
        if chance.random() < self._habits_before(1).toss_hand:
            self._tidied = True
            self._add_hand(chance.choice(EVERY_PAD), style, 0.6, under=lambda _: self._press(button))
            self._add_wait(rest(chance).after_s)
            self._steps.append(self._hands_home)
        yield from self._finish_steps()
        yield from self._press_until_taken(button)

    def _bounce(self, stroke: Stroke, chance: Random) -> None:
        """The stick of `stroke` bounces and falls on another pad."""
        other = chance.choice([pad for pad in EVERY_PAD if pad != stroke.pad])
        self._world.strike(other, stroke.level_dbfs, after_s=stroke.after_s + chance.uniform(*SECOND_FALL_S))

    def _replace_and_take_back(self, hide: int, action: dict[str, Any]) -> None:
        """The judge replaces the last action of `hide` by the wrong `action`, sees it and takes that back."""
        if hide > self._replaced and self._habit_random("undo", hide).random() < self.habits.undo_twice:
            self._replaced = hide
            self._judge(JudgeReplace(self._t, action))
            self._judge(JudgeUndo(self._t))


def raise_level(level_dbfs: float) -> float:
    """Return the strength of a repeated stroke after one that was not detected."""
    return max(level_dbfs, min(level_dbfs + LOUDER_DB, LOUDEST_DBFS))


def choose_answer(choices: tuple[str, ...], answer: str, otherwise: str = "none") -> str:
    """Return `answer` if it is allowed, else `otherwise`, else the first allowed answer."""
    if answer in choices or not choices:
        return answer
    return otherwise if otherwise in choices else choices[0]


class TurnPeople(People):
    """The players of a game with a score sheet; a restarted turn does not repeat its foul."""

    truth_class = Turns

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._over: set[int] = set()  # the hides that the judge restarted

    def _mischief_for(self, hide: int) -> Mischief:
        """Return the foul to simulate in this hide; none after a restart."""
        return Mischief() if hide in self._over else self.mischief

    def _over_again(self, hide: int) -> str:
        """Restart the hide without mischief; return the judge's answer."""
        self._over.add(hide)
        return "hide_again"
