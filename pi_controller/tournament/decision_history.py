"""Decisions of a tournament in order, with undo.

No decision is ever deleted: an undo names the decisions that no longer count, and the state is computed again
without them.
"""

from __future__ import annotations

from collections.abc import Iterable

from pi_controller.errors import MatError
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import decisions as d
from pi_controller.tournament.director import Tournament


class DecisionHistory:
    """All decisions of a tournament, in order. `now` is the state after them. Raises as `Tournament.after`."""

    def __init__(self, decisions: Iterable[d.Decision] = ()) -> None:
        self.decisions: list[d.Decision] = []
        self._after: list[Tournament] = []
        self._gone = frozenset[int]()
        for decision in decisions:
            self.add(decision)

    @property
    def now(self) -> Tournament:
        """The current state of the tournament."""
        return self._after[-1] if self._after else Tournament()

    @property
    def effective_decisions(self) -> list[d.Decision]:
        """The decisions that count, without undos."""
        return [
            one for one in self.decisions if one.seq not in self._gone and not isinstance(one.fact, d.DecisionUndone)
        ]

    def make_decision(self, t: float, actor: str, fact: d.Fact) -> d.Decision:
        """Return `fact` as the next decision, ready for `add`. Raises if it is refused."""
        decision = d.Decision(len(self.decisions) + 1, t, actor, fact)
        self._try_decision(decision)
        return decision

    def add(self, decision: d.Decision) -> Tournament:
        """Apply `decision`, from `make_decision` or read from storage; return the new state."""
        now, gone = self._try_decision(decision)
        self.decisions.append(decision)
        self._after.append(now)
        self._gone = gone
        return now

    def undo(self, reason: str = "") -> d.DecisionUndone:
        """Return the undo of the last decision of a person. Raises `IllegalActionError` if it cannot be undone."""
        target = self.undo_target
        if target is None:
            raise IllegalActionError("there is nothing to undo")
        if isinstance(target.fact, d.Moved):
            raise IllegalActionError(
                "{match} goes on at its new table", "move it back instead", match=target.fact.match
            )
        now, lapsed = Tournament(), list[int]()
        for decision in self.effective_decisions:
            try:
                now = now if decision is target else now.after(decision)
            except MatError:
                if isinstance(decision.fact, d.PLAY_FACTS):
                    raise IllegalActionError(
                        "later matches have been played since",
                        "correct the result instead, and choose the effect on later matches",
                    ) from None
                lapsed.append(decision.seq)
        return d.DecisionUndone((target.seq, *lapsed), reason)

    @property
    def undo_target(self) -> d.Decision | None:
        """The last decision of a person that counts."""
        return next((one for one in reversed(self.effective_decisions) if one.actor != d.HUB), None)

    def tournament_before(self, seq: int) -> Tournament:
        """Return the state when decision `seq` was made."""
        return self._after[seq - 2] if seq > 1 else Tournament()

    def _try_decision(self, decision: d.Decision) -> tuple[Tournament, frozenset[int]]:
        if decision.seq != len(self.decisions) + 1:
            raise InvalidActionError("decision {decisions} is missing", decisions=len(self.decisions) + 1)
        if not isinstance(decision.fact, d.DecisionUndone):
            return self.now.after(decision), self._gone
        taken_back = set(decision.fact.taken_back)
        if not taken_back or not taken_back <= {one.seq for one in self.effective_decisions}:
            raise IllegalActionError("the decision no longer counts")
        now = Tournament()
        for one in self.effective_decisions:
            if one.seq not in taken_back:
                now = now.after(one)
        return now, self._gone | taken_back
