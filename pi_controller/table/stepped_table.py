"""Interface of what a daemon steps: a table, or an exhibit's installation, which has a table for each session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_controller.referee.facts import Seats
    from pi_controller.sensing.events import MatEvent
    from pi_controller.table.view import View


class SteppedTable(ABC):
    """A table that a `Daemon` steps; the hiders stay at the mat's near edge unless it says otherwise.

    All times are seconds of one clock.
    """

    seats: Seats = "stay"
    mirrored = False
    """Whether the hiders sit on B's side: at the far edge of the mat, or before the other mat."""
    _on_mat_change: Callable[[float], None] | None = None

    @property
    @abstractmethod
    def view(self) -> View | None:
        """The public view, the same object until something changes; None without a game."""

    @property
    @abstractmethod
    def strike_reporting(self) -> bool:
        """Whether strikes should be reported."""

    @property
    def showing(self) -> bool:
        """True while the bead of the last hide is revealed on the mat."""
        return False

    @abstractmethod
    def mat_event(self, event: MatEvent) -> object:
        """Process a mat event or a button press."""

    @abstractmethod
    def tick(self, t: float) -> object:
        """Advance to time `t`."""

    @abstractmethod
    def maintain(self, t: float) -> object:
        """Do what may wait until the changes of the step at `t` were shown."""

    def subscribe_mat(self, update: Callable[[float], None]) -> None:
        """Call `update` with the time if `mirrored`, `showing` or `strike_reporting` may have changed by an input."""
        self._on_mat_change = update

    def _mat_changed(self, t: float) -> None:
        if self._on_mat_change is not None:
            self._on_mat_change(t)
