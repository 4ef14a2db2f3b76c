"""Ground truth of the games that are shown by their score sheet: the actions of each hide or throw, in order.

Kept by the people as they act; a turn played again replaces what was recorded of it. Only a simulation has this record.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.errors import MatError
from pi_controller.referee.facts import Done, Fact, Reveal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_controller.games.base import Action, Game


class Turn(msgspec.Struct):
    """One hide or throw: the true actions, and where the bones or the marked ball lay, as a reveal says it."""

    actions: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    place: int | None = None
    mischief: str = ""
    """What went otherwise than it should, for the record."""


class Turns(msgspec.Struct):
    """All turns of one table so far, by their number; number 0 is what comes before the first."""

    seed: int
    turns: dict[int, Turn] = msgspec.field(default_factory=dict[int, Turn])

    def begin(self, number: int, place: int | None = None, mischief: str = "") -> Turn:
        """Record that turn `number` has begun, perhaps anew."""
        self.turns[number] = Turn(place=place, mischief=mischief)
        return self.turns[number]

    def did(self, number: int, *actions: dict[str, Any]) -> None:
        """Record what is done in turn `number`, all of it."""
        self.turns.setdefault(number, Turn()).actions = list(actions)

    def actions(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (turn, action) in order."""
        for number in sorted(self.turns):
            for action in self.turns[number].actions:
                yield number, action


def compare_turns(truth: Turns, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
    """Return every disagreement between the truth and the journalled facts, one line each: none when they agree.

    Compared are all actions in order, the state they lead to, and for each hide what was revealed with what lay there.
    `facts` are those that count (`referee.history.effective`).
    """
    known = list(facts)
    wrong: list[str] = []
    journalled = [fact.action for fact in known if isinstance(fact, Done)]
    done = list(truth.actions())
    for at, (true, recorded) in enumerate(zip_longest(done, journalled), 1):
        turn, action = true or (None, None)
        if action != recorded:
            wrong.append(f"action {at} (turn {turn}): told {recorded}, truly {action}")
            break  # all that follows would disagree as well
    if not wrong:
        try:
            after = game.sheet(_folded(game, (action for _, action in done)))
            if not after["winner"]:
                wrong.append(f"the true actions lead to no winner: {after}")
        except MatError as error:
            wrong.append(f"the true actions cannot be folded: {error.what}")
    for fact in known:
        if isinstance(fact, Reveal):
            turn = truth.turns.get(fact.hide)
            if turn is None or turn.place != fact.pad:
                wrong.append(f"hide {fact.hide}: revealed {fact.pad}, truly {turn and turn.place}")
    return wrong


def _folded(game: Game[Any], actions: Iterable[Action]) -> Any:
    state = game.opening()
    for action in actions:
        state, _ = game.play(state, action)
    return state
