"""Schedule: assigns matches to tables and judges, and explains why others wait. Pure; time is passed in.

Matches go to tables as these become free, the earliest round first, and within it the teams that have waited longest.
Among free tables the one with the fewest matches so far is used first, so that all are used equally. No team and no
judge is at two tables. A judge is of neither team and does not play at that time (Hampa Apena, chapter 12); the one who
has judged least comes first, but judges whose own team could be called come last.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from pi_controller.tournament.competition import Pairing
from pi_controller.tournament.teams import Registration


@dataclass(frozen=True, slots=True)
class Assignment:
    """A match at a table, with its judge; "" if the table finds one."""

    match: str
    teams: tuple[str, str]
    table: str
    judge: str


@dataclass(frozen=True, slots=True)
class Break:
    """A time in which no match is called, from `begins` to `ends` (s), for the reason `why`, which may be "".

    Matches at tables go on, and the director can still call one by hand. Breaks are numbered from 1.
    """

    number: int
    begins: float
    ends: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A match that is ready but has to wait; `why` is break, protest, team, rest, table or judge.

    `until` is when the break ends or its teams have rested (s), if `why` is break or rest; else None.
    """

    match: str
    teams: tuple[str, str]
    why: str
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Hall:
    """State of the hall: its tables, their matches, when each team's last match ended, how often each judge judged."""

    tables: tuple[str, ...]
    playing: tuple[Assignment, ...] = ()
    ended: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    judged: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    used: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Number of matches begun, by table."""
    freed: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Time since which the table has been free, by table, if it had a match before (s)."""
    rest: float = 0.0
    """Time between two matches of a team, s."""
    sitting: frozenset[str] = frozenset()
    """Teams still at a game that no longer counts."""
    held: frozenset[str] = frozenset()
    """Teams of a protest that is not decided."""
    own_judges: bool = False
    """Whether each table finds its own judge, so that none is assigned."""
    breaks: tuple[Break, ...] = ()

    @property
    def free(self) -> tuple[str, ...]:
        """The tables without a match: those used least first, then those free the longest, then by name."""
        taken = {assignment.table for assignment in self.playing}
        return tuple(
            sorted(
                (table for table in self.tables if table not in taken),
                key=lambda table: (self.used.get(table, 0), self.freed.get(table, 0.0), natural_order(table)),
            )
        )


def break_end(breaks: Sequence[Break], now: float) -> float | None:
    """Return when the break at `now` ends (s), with those that follow without a pause; None if there is no break.

    >>> break_end((Break(1, 0.0, 60.0), Break(2, 60.0, 90.0)), 30.0), break_end((), 30.0)
    (90.0, None)
    """
    end = now
    while later := [one.ends for one in breaks if one.begins <= end < one.ends]:
        end = max(later)
    return end if end > now else None


def end_without_breaks(breaks: Sequence[Break], start: float, duration: float) -> float:
    """Return when `duration` from `start` is over if it stops during breaks (s).

    >>> end_without_breaks((Break(1, 60.0, 100.0), Break(2, 90.0, 120.0)), 30.0, 40.0)
    130.0
    """
    t, left = start, duration
    for one in sorted(breaks, key=lambda one: one.begins):
        if one.begins - t >= left:
            break
        left -= max(0.0, one.begins - t)
        t = max(t, one.ends)
    return t + left


def natural_order(name: str) -> tuple[tuple[str, int], ...]:
    """Return a sort key for names that compares numbers in them as numbers.

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
    """Return the matches to call to tables now, and those that wait, in the order in which they will be called.

    `ready` are playable matches of a competition, with or without those at tables. `now` and the times of `hall` are s
    of one clock.
    """
    tables = list(hall.free)
    at_table = {assignment.match for assignment in hall.playing}
    busy = {team for assignment in hall.playing for team in assignment.teams}
    busy |= hall.sitting
    judging = {assignment.judge for assignment in hall.playing}
    busy |= {team for judge in judging if (team := registration.team_of(judge)) is not None}  # a judge does not play
    coming = {team for pairing in ready for team in pairing.teams}
    called: list[Assignment] = []
    waiting: list[Waiting] = []
    closed = break_end(hall.breaks, now)

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
        if closed is not None:
            waiting.append(Waiting(pairing.id, teams, "break", closed))
        elif hall.held & set(teams):
            waiting.append(Waiting(pairing.id, teams, "protest"))
        elif busy & set(teams):
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
