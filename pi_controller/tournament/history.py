"""The decisions of a tournament in order, with undo.

Nothing is ever deleted: an undo names the decisions that no longer count, and everything is told again without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.errors import MatError
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.tournament.decisions import HUB, PLAYED, Decision, Fact, Undone
from pi_controller.tournament.director import Tournament

if TYPE_CHECKING:
    from collections.abc import Iterable


class History:
    """All decisions of a tournament, in order. `now` is what they make of it. Raises as `Tournament.after`."""

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self.decisions: list[Decision] = []
        self._after: list[Tournament] = []
        self._gone = frozenset[int]()
        for decision in decisions:
            self._take(decision)

    @property
    def now(self) -> Tournament:
        """The tournament as it stands."""
        return self._after[-1] if self._after else Tournament()

    @property
    def effective(self) -> list[Decision]:
        """The decisions that count, undos left out."""
        return [one for one in self.decisions if one.seq not in self._gone and not isinstance(one.fact, Undone)]

    def next(self, t: float, actor: str, fact: Fact) -> Decision:
        """Return what `fact` would be as the next decision; it can be added. Raises where it cannot be."""
        decision = Decision(len(self.decisions) + 1, t, actor, fact)
        self._applied(decision)
        return decision

    def add(self, decision: Decision) -> Tournament:
        """Take `decision`, of `next` or read from where it was kept; return what it makes of the tournament."""
        self._take(decision)
        return self.now

    def undo(self, reason: str = "") -> Undone:
        """Return the undo of the last decision that somebody made. Raises `IllegalActionError` where it cannot be."""
        target = self.undoable
        if target is None:
            raise IllegalActionError("there is nothing to take back")
        now, lapsed = self._before(target.seq), list[int]()
        for decision in self.effective:
            if decision.seq > target.seq:
                try:
                    now = now.after(decision)
                except MatError:
                    if isinstance(decision.fact, PLAYED):
                        raise IllegalActionError(
                            "people have played on by it", "correct the result, and say what then"
                        ) from None
                    lapsed.append(decision.seq)
        return Undone((target.seq, *lapsed), reason)

    @property
    def undoable(self) -> Decision | None:
        """The last decision that somebody made and that counts."""
        return next((one for one in reversed(self.effective) if one.actor != HUB), None)

    def _before(self, seq: int) -> Tournament:
        """Return the tournament of what now counts of the decisions before `seq`."""
        now = Tournament()
        for decision in self.effective:
            if decision.seq < seq:
                now = now.after(decision)
        return now

    def _take(self, decision: Decision) -> None:
        now, gone = self._applied(decision)
        self.decisions.append(decision)
        self._after.append(now)
        self._gone = gone

    def _applied(self, decision: Decision) -> tuple[Tournament, frozenset[int]]:
        if decision.seq != len(self.decisions) + 1:
            raise InvalidActionError(f"decision {len(self.decisions) + 1} is missing")
        if not isinstance(decision.fact, Undone):
            return self.now.after(decision), self._gone
        taken_back = set(decision.fact.taken_back)
        known = {one.seq for one in self.effective}
        if not taken_back or not taken_back <= known:
            raise IllegalActionError("what is to be taken back does not count any more")
        now = self._before(min(taken_back))
        for one in self.effective:
            if one.seq > min(taken_back) and one.seq not in taken_back:
                now = now.after(one)
        return now, self._gone | taken_back
