"""What simulated people did, as they remember it: they act by it, and tests compare it with the table's journal.

Only a simulation has this record.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from pi_controller.rules.base import Team
from pi_controller.simulation.plans import HidePlan


class TrueHit(msgspec.Struct, frozen=True):
    """A struck pad (the one touched first) for the hit `owed`, and whether the bead was under it."""

    owed: str
    pad: int
    found: bool


class TrueHide(msgspec.Struct):
    """One hide. `hits` contains the first and, if it was owed, the second.

    A neighbour pressed ready after the first `early` of the `passes`, or not at all (0).
    """

    hide: int
    hider: Team
    place: int | None
    passes: tuple[int, ...]
    foul: str | None
    hits: list[TrueHit] = msgspec.field(default_factory=list[TrueHit])
    early: int = 0

    def actions(self) -> Iterator[dict[str, Any]]:
        """Return the game actions that settle this hide, in their expected form."""
        if self.foul is not None:
            yield {"do": "foul", "by": "hider", "kind": self.foul}
            return
        for hit in self.hits:
            yield {"do": "hit", "found": hit.found, "pad": hit.pad}


class Truth(msgspec.Struct):
    """All hides of one table so far."""

    seed: int
    tossed: Team | None = None
    hides: dict[int, TrueHide] = msgspec.field(default_factory=dict[int, TrueHide])

    def record_hide(self, plan: HidePlan, hider: Team, passes: tuple[int, ...] = (), early: int = 0) -> None:
        """Record a hide by `plan`, by default with its `passes`; a restarted hide replaces the earlier record."""
        passes = passes or tuple(p.pad for p in plan.passes)
        self.hides[plan.hide] = TrueHide(plan.hide, hider, plan.place, passes, plan.foul, early=early)

    def record_stroke(self, hide: int, owed: str, pad: int) -> None:
        """Record a stroke for the owed hit; a repeated stroke replaces the earlier one."""
        true = self.hides[hide]
        before = [hit for hit in true.hits if owed == "second" and hit.owed == "first"]
        true.hits = [*before, TrueHit(owed, pad, pad == true.place)]

    def actions(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return (hide, action) in order; the toss belongs to hide 0."""
        if self.tossed is not None:
            yield 0, {"do": "toss", "winner": self.tossed}
        for hide in sorted(self.hides):
            for action in self.hides[hide].actions():
                yield hide, action


class TrueTurn(msgspec.Struct):
    """One hide or throw: the true actions, and the place of the bones or the marked ball, as in a reveal."""

    actions: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    place: int | None = None
    mischief: str = ""
    """The irregularities of the turn, for the record."""


class Turns(msgspec.Struct):
    """All turns of one table so far, by number; number 0 is before the first."""

    seed: int
    turns: dict[int, TrueTurn] = msgspec.field(default_factory=dict[int, TrueTurn])

    def begin(self, number: int, place: int | None = None, mischief: str = "") -> TrueTurn:
        """Start the record of turn `number`, replacing an earlier one."""
        self.turns[number] = TrueTurn(place=place, mischief=mischief)
        return self.turns[number]

    def record_actions(self, number: int, *actions: dict[str, Any]) -> None:
        """Record all actions of turn `number`."""
        self.turns.setdefault(number, TrueTurn()).actions = list(actions)

    def actions(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (turn, action) in order."""
        for number in sorted(self.turns):
            for action in self.turns[number].actions:
                yield number, action
