"""Interface of a watcher: what an observer of another package sees of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pi_controller.table.view import View

if TYPE_CHECKING:
    from pi_controller.referee.facts import Fact


class TableWatcher:
    """What a package's observer overrides. All methods are called in one thread, in order.

    `View` is what the live page shows. A `Fact` is a record of the journal; those of a hide come when it is over.
    """

    def on_view(self, view: View) -> None:
        """Called with each new view; with the newest ones only if the observer is slow."""

    def on_facts(self, facts: Sequence[tuple[int, Fact]]) -> None:
        """Called with new records (their `seq` and the fact), between two hides."""

    def close(self) -> None:
        """Called once, when the table stops."""
