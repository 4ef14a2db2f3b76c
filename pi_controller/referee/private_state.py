"""The referee's unpublished state: the last bead reading, hands under pads, the sealed bead."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pi_controller.mat.turned import beads_turned, pad_from_afar, side_from_afar

if TYPE_CHECKING:
    from pi_controller.mat.events import Beads, Side
    from pi_controller.referee.sealed import SealedBead
    from pi_controller.referee.story import Story


@dataclass(repr=False)
class PrivateState:
    """One referee's private memory. It is lost when the power goes, and then the mat looks again.

    `reading` is the last field at rest, and None once a hand has moved since. `hands` are the pads with a hand under
    them, true where it counts as a pass when it comes out. `handled` is whether a hand was under a pad since the
    last hide was settled, None where that is not known. `since` is when the referee began to look for what is `awaited`
    at rest, `stopped` since when the clocks stand.
    """

    reading: Beads | None = None
    hands: dict[int, bool] = field(default_factory=dict[int, bool])
    sides: dict[int, Side | None] = field(default_factory=dict[int, "Side | None"])
    sealed: SealedBead | None = None
    link: bool | None = None
    restarted: bool = False
    handled: bool | None = None
    awaited: tuple[str, int, int, int] | None = None
    since: float = 0.0
    stopped: float | None = None

    def copy(self) -> PrivateState:
        """Return the same memory, which forgets and learns apart from this one."""
        return replace(self, hands=dict(self.hands), sides=dict(self.sides))

    @property
    def phase(self) -> str:
        """The phase it looked for something in last; nothing while the judge was asked."""
        return self.awaited[0] if self.awaited else ""

    def holds(self, story: Story) -> SealedBead | None:
        """Return the sealed bead if it is the one the story's commitment speaks of."""
        return self.sealed if self.sealed is not None and self.sealed.commitment == story.hide.commit else None

    def moved(self) -> None:
        """Forget the reading: the bead may lie elsewhere now."""
        self.reading = None

    def lost(self) -> None:
        """Forget what the board said: it is gone."""
        self.handled = None
        self.reading = None
        self.hands.clear()
        self.sides.clear()

    def turn_round(self) -> None:
        """The hiders sit at the other edge from now on: what is remembered is remembered as they see it."""
        self.reading = self.reading and beads_turned(self.reading)
        self.hands = {pad_from_afar(pad): counts for pad, counts in self.hands.items()}
        self.sides = {pad_from_afar(pad): side_from_afar(side) for pad, side in self.sides.items()}

    @property
    def place(self) -> int | None:
        """The pad over the one bead that lies there for sure, or None. For sealing only: it goes nowhere else."""
        reading = self.reading
        return reading.found[0].pad if reading is not None and reading.sure and len(reading.found) == 1 else None

    def wait(self, story: Story, t: float, afresh: bool = False) -> None:
        """Note since when the referee looks for what the story needs next; `afresh`: something moved on the mat."""
        if story.stands and self.stopped is None:
            self.stopped = t
        elif not story.stands and self.stopped is not None:
            self.since += t - self.stopped
            self.stopped = None
        awaited = story.awaited if story.question is None else None
        if awaited and awaited != self.awaited and (awaited[0] == "show" or self.phase == "toss"):
            self.handled = False if story.link.up else None
        if awaited != self.awaited or afresh:
            self.awaited, self.since = awaited, t
            self.stopped = self.stopped and t
