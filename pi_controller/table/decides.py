"""The referee as the table knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pi_controller.mat.events import MatEvent
    from pi_controller.referee.facts import Fact
    from pi_controller.referee.judge import JudgeCall, Ruling
    from pi_controller.referee.seating import Seats
    from pi_controller.referee.story import Story


class Decides(Protocol):
    """The referee as the table knows it; see `referee.Referee`."""

    def decide(self, story: Story, event: MatEvent | JudgeCall) -> list[Fact]:
        """Return what follows from an event or a call."""
        ...

    def tick(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from time passing."""
        ...

    def resume(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from a restart."""
        ...

    def sense(self, event: MatEvent) -> None:
        """Remember, and conclude nothing."""
        ...

    def strike_reporting(self, story: Story) -> bool:
        """Return whether a stroke is to be felt now."""
        ...

    def unanswered(self, story: Story) -> tuple[float, str] | None:
        """Return when the open question is answered unless somebody answers it, and how."""
        ...

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """What can be ruled on a protest here."""
        ...

    def change_sides(self, seats: Seats) -> None:
        """The other team hides from now on, and sits as `seats` say."""
        ...

    def catch_up(self, story: Story, t: float, why: str) -> list[Fact]:
        """Return what follows from having stood still."""
        ...
