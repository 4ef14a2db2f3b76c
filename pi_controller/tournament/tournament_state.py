"""A tournament as it stands, and what can be asked of it: the matches that are ready, the schedule, a round's clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pi_controller.games import registry
from pi_controller.games.base import IllegalActionError, InvalidActionError, Roster
from pi_controller.games.wording import nearest, shown
from pi_controller.tournament.competition import Competition, Pairing, State
from pi_controller.tournament.decisions import Call, Planned, Protest, Report, RoundClock, Source, competition_of
from pi_controller.tournament.registration import Registration
from pi_controller.tournament.schedule import Assignment, Hall, Waiting, assign, natural_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TournamentState:
    """What is planned, who is entered, what is played where. `t` of calls and results are s since 1970."""

    plan: Planned | None = None
    entered: tuple[str, ...] = ()
    registration: Registration = field(default_factory=lambda: Registration(Roster()))
    seed: str = ""
    state: State = field(default_factory=State)
    calls: Mapping[str, Call] = field(default_factory=lambda: _NOTHING)
    reports: Mapping[str, Report] = field(default_factory=lambda: _NOTHING)
    settled: frozenset[str] = frozenset()
    """Orders whose games count, or were rejected."""
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=lambda: _NOTHING)
    """By match, where each of its games was played."""
    ended: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    freed: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """By table, since when no match has been at it, where one was before."""
    unused: frozenset[str] = frozenset()
    protests: tuple[Protest, ...] = ()
    announcement: str = ""
    stream: str = ""
    clock: RoundClock | None = None
    """That of the round whose clock was set last."""

    @property
    def competition(self) -> Competition:
        """The kind of tournament. Raises `IllegalActionError` before there is a plan."""
        return competition_of(self._planned())

    @property
    def champion(self) -> str | None:
        """Who has won."""
        return self.competition.champion(self.state) if self.state.teams else None

    @property
    def ready(self) -> tuple[Pairing, ...]:
        """The matches that can be played or are being played."""
        return self.competition.ready(self.state) if self.state.teams else ()

    @property
    def open_protests(self) -> tuple[Protest, ...]:
        """The protests that the committee has to decide."""
        return tuple(protest for protest in self.protests if not protest.ruling)

    def order(self, call: Call) -> str:
        """Return the name of the game of a match that is to be played now: of several, each has its own."""
        return f"{call.order}-{sum(order.startswith(f'{call.order}-') for order in self.settled) + 1}"

    def schedule(self, tables: Sequence[str], now: float) -> tuple[tuple[Assignment, ...], tuple[Waiting, ...]]:
        """Return what can be called to which of `tables` at `now`, and what waits for what, the next one first.

        The table that has been free the longest comes first, and of those that had no match yet the first by its name.
        """
        plan = self._planned()
        playing = tuple(Assignment(call.match, call.teams, call.table, call.judge) for call in self.calls.values())
        judged: dict[str, int] = {}
        for sources in self.sources.values():
            for source in sources:
                judged[source.judge] = judged.get(source.judge, 0) + 1
        usable = tuple(
            sorted(
                (table for table in tables if table not in self.unused),
                key=lambda table: (self.freed.get(table, 0.0), natural_order(table)),
            )
        )
        hall = Hall(usable, playing, self.ended, judged, plan.rest_s, plan.judges == "tables")
        ready = self.ready
        if plan.clock == "round":  # who is through with a round waits for the others
            ready = tuple(pairing for pairing in ready if pairing.round == self.round)
        return assign(hall, self.registration, ready, now)

    @property
    def round(self) -> int:
        """The round that is being played: the first with a match that is not decided; 0 for none."""
        return min((pairing.round for pairing in self.ready), default=0)

    @property
    def minutes(self) -> int | None:
        """How long a round's clock runs; None where each game has its own time."""
        plan = self.plan
        if plan is None or plan.clock != "round":
            return None
        return registry.game(plan.game, plan.options).minutes

    @property
    def round_clock(self) -> RoundClock | None:
        """The clock of the round that is being played; None where there is none."""
        return self.clock_of(self.round) if self.round else None

    def clock_of(self, number: int) -> RoundClock | None:
        """Return the clock of a round, full and standing before it is started; None where rounds have none."""
        minutes = self.minutes
        if minutes is None:
            return None
        known = self.clock
        return known if known is not None and known.round == number else RoundClock(number, 60.0 * minutes)

    def pairing(self, match: str) -> Pairing:
        """Return the match called so. Raises `InvalidActionError`."""
        pairings = (
            {pairing.id: pairing for pairing in self.competition.pairings(self.state)} if self.state.teams else {}
        )
        if match not in pairings:
            raise InvalidActionError(f"there is no match {shown(match)}{nearest(match, pairings)}")
        return pairings[match]

    def _planned(self) -> Planned:
        if self.plan is None:
            raise IllegalActionError("nothing is planned yet", "say first what is played, and how")
        return self.plan
