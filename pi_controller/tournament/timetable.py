"""Timetable: when matches will be called, estimated from how long the matches of this tournament have really taken.

The schedule of `director.Tournament` is played forward several times. Each time every match takes another time from the
distribution of the durations, chosen by a hash of the match's id, so that equal states have equal estimates and the
estimates do not jump. Results are not needed: which team wins does not change when a match of a bracket is called.

A duration is the time from the call of a match until its table is free: the way to the table and the director's
confirmation are part of it.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from statistics import median
from types import MappingProxyType

from pi_controller.rules import registry
from pi_controller.tournament import decisions as d
from pi_controller.tournament.director import Tournament
from pi_controller.tournament.schedule import natural_order

DEFAULT_GAME_S = 1_500.0
"""The assumed duration of a game without a time limit, until `MIN_PLAYED` matches are over."""
WAY_S = 300.0
"""Added to the time limit of a game that has one: the way to the table, and the result."""
MIN_PLAYED = 3
MIN_DURATION_S = 120.0
"""A shorter match was not played at the table: its result was entered at once."""
MAX_DURATION_S = 21_600.0
HORIZON_S = 7_200.0
"""Matches that are called later are not estimated."""
MAX_SCENARIOS, MIN_SCENARIOS = 15, 5
SCENARIO_MATCHES = 1_500
"""Matches of a tournament times its scenarios, if that is more than `MIN_SCENARIOS`: it limits the time, too."""
MAX_CALLS = 60
"""Matches played forward in a scenario, which limits the time for an estimate of a large hall."""
_SPREAD = (0.55, 0.75, 0.9, 1.0, 1.1, 1.3, 1.7)
"""Durations in units of the median that are added to the measured ones, which are few at first."""
_TAILS = 0.8, 1.25
"""Shortest and longest possible duration, in units of the shortest and longest known one."""
_OVERRUN = 0.3
"""Largest time still to play of a match that has taken longer than all others, in units of the median."""
_PENDING_S = 120.0
"""Largest time until a pending result is confirmed."""
_LOW, _HIGH = 0.1, 0.9
"""The range has 8 of 10 cases."""


@dataclass(frozen=True)
class Durations:
    """How long the matches of a `game` in a `format` take, s; `played` is how many were measured.

    `is_measured` is False while fewer than `MIN_PLAYED` are over: then the median is the default.
    """

    game: str
    format: str
    played: int
    median_s: float
    points: tuple[float, ...] = field(repr=False)

    @property
    def is_measured(self) -> bool:
        """True if the median is one of matches of this tournament, not the default."""
        return self.played >= MIN_PLAYED

    @property
    def range_s(self) -> tuple[float, float]:
        """The range in which 8 of 10 matches are."""
        return self.at(_LOW), self.at(_HIGH)

    def at(self, share: float) -> float:
        """Return the duration that this `share` of the matches, 0 to 1, does not exceed."""
        return _interpolate(self._curve, share)

    def remaining(self, share: float, elapsed: float) -> float:
        """Return the time to play, which this `share` of the matches that have lasted `elapsed` does not exceed."""
        if elapsed >= self._curve[-1][1]:
            return share * _OVERRUN * self.median_s
        past = _interpolate([(duration, part) for part, duration in self._curve], elapsed)
        return max(0.0, self.at(past + share * (1.0 - past)) - elapsed)

    @cached_property
    def _curve(self) -> list[tuple[float, float]]:
        """The duration by the share of matches that do not exceed it."""
        count = len(self.points)
        inner = [((n + 0.5) / count, duration) for n, duration in enumerate(self.points)]
        return [(0.0, self.points[0] * _TAILS[0]), *inner, (1.0, self.points[-1] * _TAILS[1])]


@dataclass(frozen=True, slots=True)
class ExpectedStart:
    """When a match will be called: s of the clock of the tournament. `table` is "" if several are possible.

    Of 10 cases 8 are between `earliest` and `latest`.
    """

    match: str
    table: str
    earliest: float
    expected: float
    latest: float


@dataclass(frozen=True, slots=True)
class Timetable:
    """The expected starts of the matches that will be called within `HORIZON_S`, by match, the first one first."""

    durations: Durations
    starts: Mapping[str, ExpectedStart]


def measure_durations(now: Tournament) -> Durations:
    """Return the durations of the matches played so far; `now` must have a plan."""
    plan = now.plan
    assert plan is not None
    known = sorted(one for one in now.durations.values() if MIN_DURATION_S <= one <= MAX_DURATION_S)
    middle = median(known) if len(known) >= MIN_PLAYED else _default_match_s(plan)
    extra = known if len(known) >= MIN_PLAYED else []
    points = tuple(sorted([*extra, *(middle * part for part in _SPREAD)]))
    return Durations(plan.game, plan.format, len(known), middle, points)


def estimate_timetable(now: Tournament, tables: Sequence[str], t: float) -> Timetable | None:
    """Return the timetable at `t` (s) if matches are called to `tables`; None without a draw, tables or open matches.

    Matches whose teams are not known yet are included, by their ids.
    """
    usable = {*tables, *(call.table for call in now.calls.values())} - now.unused
    if now.plan is None or not now.ready or not usable:
        return None
    durations = measure_durations(now)
    order = sorted(usable, key=natural_order)
    scenarios = min(MAX_SCENARIOS, max(MIN_SCENARIOS, SCENARIO_MATCHES // len(now.pairings)))
    found: dict[str, list[tuple[float, str]]] = {}
    for number in range(scenarios):
        for match, case in _play_forward(now, order, t, durations, number).items():
            found.setdefault(match, []).append(case)
    starts = [_summarize(match, cases) for match, cases in found.items() if 2 * len(cases) > scenarios]
    starts.sort(key=lambda one: one.expected)
    return Timetable(durations, MappingProxyType({one.match: one for one in starts}))


def _default_match_s(plan: d.Planned) -> float:
    minutes = registry.game(plan.game, plan.options).minutes
    game_s = DEFAULT_GAME_S if minutes is None else 60.0 * minutes + WAY_S
    return game_s * (plan.best_of // 2 + 1)


def _summarize(match: str, cases: list[tuple[float, str]]) -> ExpectedStart:
    times = sorted(start for start, _ in cases)
    names = [table for _, table in cases]
    usual = max(sorted({*names}), key=names.count)
    curve = [(n / max(1, len(times) - 1), one) for n, one in enumerate(times)]
    earliest, expected, latest = (_interpolate(curve, part) for part in (_LOW, 0.5, _HIGH))
    return ExpectedStart(match, usual if 10 * names.count(usual) >= 8 * len(names) else "", earliest, expected, latest)


def _play_forward(
    now: Tournament, tables: Sequence[str], t: float, durations: Durations, scenario: int
) -> dict[str, tuple[float, str]]:
    """Return {match: (time of its call, table)} in one scenario, until `HORIZON_S` after `t`."""
    competition, state = now.competition, now.state
    pending = {report.fact.match for report in now.reports.values()}
    ends: list[tuple[float, str]] = []
    for call in now.calls.values():
        share = _share(scenario, call.match)
        left = share * _PENDING_S if call.match in pending else durations.remaining(share, t - call.t)
        heapq.heappush(ends, (t + left, call.match))
    found: dict[str, tuple[float, str]] = {}
    at, end = t, t + HORIZON_S
    while at <= end and len(found) < MAX_CALLS:
        called, waiting = now.schedule(tables, at)
        calls = dict(now.calls)
        for one in called:
            found[one.match] = at, one.table
            calls[one.match] = d.Call(one.match, one.teams, one.table, one.judge, "", at)
            heapq.heappush(ends, (at + durations.at(_share(scenario, one.match)), one.match))
        until = [one.until for one in waiting if one.until is not None and one.until > at]
        later = min([*until, *(one for one, _ in ends[:1])], default=None)
        if later is None:
            break
        at = max(at, later)
        over = list[d.Call]()
        while ends and ends[0][0] <= at:
            over.append(calls.pop(heapq.heappop(ends)[1]))
        for call in over:
            while competition.winner(state, call.match) is None:
                state = competition.play(state, {"do": "result", "match": call.match, "winner": call.teams[0]})
        now = replace(
            now,
            state=state,
            calls=MappingProxyType(calls),
            ended=MappingProxyType({**now.ended, **{team: at for call in over for team in call.teams}}),
            freed=MappingProxyType({**now.freed, **{call.table: at for call in over}}),
            used=MappingProxyType({**now.used, **{one.table: now.used.get(one.table, 0) + 1 for one in called}}),
        )
    return found


def _share(scenario: int, match: str) -> float:
    """Return the share in the distribution of durations, 0 to 1, that a match has in a scenario."""
    return int.from_bytes(sha256(f"{scenario}/{match}".encode()).digest()[:6]) / 2**48


def _interpolate(curve: Sequence[tuple[float, float]], x: float) -> float:
    """Return the value at `x` on the line through the points `curve`, whose x rise; beyond its ends the end's value."""
    if x <= curve[0][0]:
        return curve[0][1]
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x <= x1:
            return y1 if x1 <= x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return curve[-1][1]
