"""Base class of simulated players: they watch the view, act on schedule, and answer the mat's questions.

They know nothing of the table's inside: only its public view. A person who gets no answer tries again. This is a
simulation: people at a real mat do more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pi_controller.referee.judge import JudgeAction, JudgeAnswer
from pi_controller.sim.plans import Mischief, PaceName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from pi_controller.games.base import Game
    from pi_controller.referee.facts import Fact
    from pi_controller.referee.judge import JudgeCall
    from pi_controller.sim.world import World
    from pi_controller.table.view import Asked, View

PLAYED = ("hide", "check", "hit", "guess")
"""While a bead is shown those who hid it still sit where they sat."""
AGAIN_S = 4.0
"""So long people wait for the table before they strike or press once more."""
JUDGE_S = 1.0
"""So long a judge takes to answer."""
RESUME_S = 0.3
"""So long people take to go on after the judge has spoken."""
LOUDER_DB = 6.0
LOUDEST_DBFS = -6.0


class People(ABC):
    """Players and judge of one table. Call `watch` with every view and `act` with every tick's time."""

    def __init__(
        self,
        seed: int,
        world: World,
        press: Callable[[str], None],
        judge: Callable[[JudgeCall], None],
        *,
        pace: PaceName = "brisk",
        mischief: Mischief | None = None,
    ) -> None:
        self.seed = seed
        self.pace: PaceName = pace
        self.mischief = mischief or Mischief()
        self.questions = 0
        """How many questions the judge has answered."""
        self._world = world
        self._press = press
        self._judge = judge
        self._t = 0.0
        self._view: View | None = None
        self._seen: object = None
        self._plan: Iterator[float] | None = None
        self._due: float | None = None
        self._asked: Asked | None = None
        self._answer_at: float | None = None

    def watch(self, view: View) -> None:
        """Look at what the table shows; a new turn of the game makes people do something else.

        At a table that is halted everyone waits, and goes on where they were.
        """
        self._view = view
        if view.phase in PLAYED:
            self._world.sit(view.sheet.get("hider") or view.sheet.get("hiding"))
        if view.phase != "halted":
            seen = self._turn(view)
            if seen != self._seen:
                self._plan, self._due = self._begin(view), None
            self._seen = seen
        if view.question != self._asked:
            self._asked, self._answer_at = view.question, None

    def act(self, t: float) -> None:
        """Do what is due at time `t` (seconds, on the table's clock)."""
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
    def compare(self, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
        """Return every disagreement between what happened and the journalled `facts` that count, one line each."""

    @abstractmethod
    def _turn(self, view: View) -> object:
        """Return what is the same as long as people go on with what they do."""

    @abstractmethod
    def _begin(self, view: View) -> Iterator[float] | None:
        """Return what people do now: they act each time this is advanced, and it yields how long it takes."""

    @abstractmethod
    def answer_to(self, view: View, asked: Asked) -> str | dict[str, Any]:
        """Return the judge's true answer, or the action that the judge enters instead."""

    def _answer(self, view: View, asked: Asked, t: float) -> None:
        if self._answer_at is None:
            self._answer_at = t + JUDGE_S
        if t < self._answer_at:
            return
        self._answer_at = t + AGAIN_S
        self.questions += 1
        answer = self.answer_to(view, asked)
        self._judge(JudgeAnswer(t, answer) if isinstance(answer, str) else JudgeAction(t, answer))

    def _enter(self, action: dict[str, Any]) -> None:
        """The judge enters an action."""
        self._judge(JudgeAction(self._t, action))

    def _pressing(self, name: str) -> Iterator[float]:
        """Press a button until something comes of it."""
        while True:
            self._press(name)
            yield AGAIN_S


def louder(level_dbfs: float) -> float:
    """Return how hard somebody strikes whose stroke was not felt."""
    return max(level_dbfs, min(level_dbfs + LOUDER_DB, LOUDEST_DBFS))


def one_of(choices: tuple[str, ...], answer: str, otherwise: str = "none") -> str:
    """Return `answer` where the table takes it, else `otherwise`, else the first answer it takes."""
    if answer in choices or not choices:
        return answer
    return otherwise if otherwise in choices else choices[0]
