"""The schedule: which match goes to which table, with which judge, and who waits for what. Pure; time is passed in.

Matches go to tables as these come free, the earliest round first and among those the teams that have waited longest.
No team and no judge is at two tables. A judge is of neither team and does not play at that time (Hampa Apena, chapter
12); who has judged least comes first, but nobody whose own team could be called, while there is another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_controller.tournament.competition import Pairing
    from pi_controller.tournament.registration import Registration


@dataclass(frozen=True, slots=True)
class Assignment:
    """A match at a table, with its judge, "" where the table sees to that."""

    match: str
    teams: tuple[str, str]
    table: str
    judge: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A match that is ready and has to wait; `why` is a team, a rest until a time (s), a table or a judge.

    `until` is the time the last of its teams has rested, for `why` rest; else None.
    """

    match: str
    teams: tuple[str, str]
    why: str
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Hall:
    """What goes on in the hall: its tables, the matches at them, when each team last ended, how often each judged."""

    tables: tuple[str, ...]
    playing: tuple[Assignment, ...] = ()
    ended: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    judged: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    rest: float = 0.0
    """s between two matches of a team."""
    own_judges: bool = False
    """Whether each table sees to its judge: then none is given to a match."""

    @property
    def free(self) -> tuple[str, ...]:
        """The tables at which nobody plays, in their order."""
        taken = {assignment.table for assignment in self.playing}
        return tuple(table for table in self.tables if table not in taken)


def natural_order(name: str) -> tuple[tuple[str, int], ...]:
    """Return what names are sorted by so that numbers in them count as numbers.

    >>> sorted(["t10", "t2", "t1", "door"], key=natural_order)
    ['door', 't1', 't2', 't10']
    """
    parts = re.findall(r"([^0-9]*)([0-9]*)", name)
    return tuple((word, int(number or -1)) for word, number in parts if word or number)


def may_judge(registration: Registration, judge: str, teams: Sequence[str], playing: Sequence[str]) -> bool:
    """Return whether `judge` may judge a match of `teams`, while the teams `playing` are at tables."""
    team = registration.team_of(judge)
    return (
        judge in registration.judges
        and registration.out.get(judge) != "disqualified"
        and (team is None or (team not in teams and team not in playing))
    )


def assign(
    hall: Hall, registration: Registration, ready: Sequence[Pairing], now: float
) -> tuple[tuple[Assignment, ...], tuple[Waiting, ...]]:
    """Return the matches that go to tables now, and those that wait, in the order in which they will be called.

    `ready` are matches of a competition that can be played, those at tables among them or not. `now` and what `hall`
    holds are s of one clock.
    """
    tables = list(hall.free)
    at_table = {assignment.match for assignment in hall.playing}
    busy = {team for assignment in hall.playing for team in assignment.teams}
    judging = {assignment.judge for assignment in hall.playing}
    busy |= {team for judge in judging if (team := registration.team_of(judge)) is not None}  # who judges plays not
    coming = {team for pairing in ready for team in pairing.teams}
    called: list[Assignment] = []
    waiting: list[Waiting] = []

    def since(pairing: Pairing) -> float:
        return max(hall.ended.get(team, 0.0) for team in pairing.teams if team is not None)

    for pairing in sorted(ready, key=lambda pairing: (pairing.round, since(pairing))):
        if pairing.id in at_table:
            continue
        teams = cast("tuple[str, str]", pairing.teams)
        rested = max((hall.ended[team] + hall.rest for team in teams if team in hall.ended), default=now)
        judges = [
            judge
            for judge in registration.judges
            if judge not in judging and may_judge(registration, judge, teams, [*busy])
        ]
        if busy & set(teams):
            waiting.append(Waiting(pairing.id, teams, "team"))
        elif rested > now:
            waiting.append(Waiting(pairing.id, teams, "rest", rested))
        elif not tables:
            waiting.append(Waiting(pairing.id, teams, "table"))
        elif hall.own_judges:
            called.append(Assignment(pairing.id, teams, tables.pop(0), ""))
            busy |= {*teams}
        elif not judges:
            waiting.append(Waiting(pairing.id, teams, "judge"))
        else:
            judge = min(judges, key=lambda judge: (registration.team_of(judge) in coming, hall.judged.get(judge, 0)))
            called.append(Assignment(pairing.id, teams, tables.pop(0), judge))
            judging.add(judge)
            busy |= {*teams, *filter(None, [registration.team_of(judge)])}
    return tuple(called), tuple(waiting)
