"""Measure the error of the timetable: 24 teams, double elimination, 4 tables, a day with a lunch break, simulated.

python tests/tools/timetable_error.py [--days 6] [--every 120]

Each match takes another time: its median is not the timetable's default, slow pairs of teams are slow, some matches
take twice as long, and the director confirms late. Every two minutes the timetable is asked; where it says "in about 10
minutes" or "in about 30 minutes" the error is the time until the call that really comes, minus that.
"""

from __future__ import annotations

import argparse
import heapq
import random
from dataclasses import dataclass, field
from statistics import median, quantiles

from pi_controller.tournament import decisions as d
from pi_controller.tournament.decision_history import DecisionHistory
from pi_controller.tournament.timetable import estimate_timetable

TEAMS = 24
TABLES = ("t01", "t02", "t03", "t04")
MORNING, LUNCH, AFTERNOON = 9 * 3600.0, 12 * 3600.0, 13 * 3600.0
MEDIAN_S = 1_200.0
"""The default of the timetable is 1,500 s: the first estimates must be wrong."""
AHEAD_MIN = (10, 30)


@dataclass
class Errors:
    """Seconds by which calls came later than told, by the minutes told; and how many were in the told range."""

    late: dict[int, list[float]] = field(default_factory=lambda: {ahead: [] for ahead in AHEAD_MIN})
    inside: dict[int, int] = field(default_factory=lambda: dict.fromkeys(AHEAD_MIN, 0))
    sure_of_table: int = 0
    right_table: int = 0
    unmeasured: list[float] = field(default_factory=list)
    """Those told 10 minutes ahead by the default, before three matches were played."""

    def summary(self):
        """Return {minutes told: (median, 90 %) of the error in minutes, share of calls in the range}."""
        found = {}
        for ahead, late in self.late.items():
            sizes = [abs(one) / 60 for one in late]
            found[ahead] = median(sizes), quantiles(sizes, n=10)[-1], self.inside[ahead] / len(late)
        return found


def real_duration(rng, slow, teams):
    """Return how long a match takes, s, from its call until its result counts."""
    pace = (slow[teams[0]] * slow[teams[1]]) ** 0.5
    playing = MEDIAN_S * pace * rng.lognormvariate(0.0, 0.25) * (2.0 if rng.random() < 0.05 else 1.0)
    return rng.uniform(60, 240) + playing + rng.expovariate(1 / 60)


def play_day(seed, every_s, errors):
    """Play a day and add the errors of its timetables; return when it ended, s."""
    rng = random.Random(seed)
    history = DecisionHistory()
    names = [f"Team {number}" for number in range(1, TEAMS + 1)]
    slow = {name: rng.lognormvariate(0.0, 0.15) for name in names}

    def do(t, fact):
        history.add(history.make_decision(t, d.HUB, fact))

    do(MORNING, d.Planned("cup", rest_s=600.0))
    do(MORNING, d.Entered(tuple(d.Entry(name) for name in names)))
    do(MORNING, d.BreakPlanned(LUNCH, AFTERNOON, "Lunch"))
    do(MORNING, d.TeamsDrawn(f"{seed}"))
    t, asked = MORNING, MORNING
    ends: list[tuple[float, str]] = []
    told: dict[str, list[tuple[int, float, float, float, str, bool]]] = {}
    while history.now.champion is None:
        while ends and ends[0][0] <= t:
            ended, match = heapq.heappop(ends)
            do(ended, d.Result(match, rng.choice(history.now.calls[match].teams)))
        for one in history.now.schedule(TABLES, t)[0]:
            do(t, d.Assigned(one.match, one.table, f"{one.match}-{len(history.decisions)}"))
            do(t, d.MatchStarted(one.match))
            heapq.heappush(ends, (t + real_duration(rng, slow, one.teams), one.match))
            for ahead, expected, earliest, latest, table, measured in told.pop(one.match, ()):
                errors.late[ahead].append(t - expected)
                errors.inside[ahead] += earliest - 60 <= t <= latest + 60
                errors.sure_of_table += bool(table)
                errors.right_table += table == one.table
                if ahead == AHEAD_MIN[0] and not measured:
                    errors.unmeasured.append(t - expected)
        if t >= asked:
            asked += every_s
            found = estimate_timetable(history.now, TABLES, t)
            for start in found.starts.values() if found is not None else ():
                for ahead in AHEAD_MIN:
                    if abs(start.expected - t - 60 * ahead) <= every_s / 2:
                        line = (
                            ahead,
                            start.expected,
                            start.earliest,
                            start.latest,
                            start.table,
                            found.durations.is_measured,
                        )
                        told.setdefault(start.match, []).append(line)
        t += 15.0
    return t


def measure(days, every_s=60.0, seed=0):
    """Return the errors of the timetables of `days` days."""
    errors = Errors()
    for number in range(days):
        play_day(seed + number, every_s, errors)
    return errors


def main():
    """Print the errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=6)
    parser.add_argument("--every", type=float, default=120.0, help="seconds between two timetables")
    chosen = parser.parse_args()
    errors = measure(chosen.days, chosen.every)
    for ahead, (middle, most, inside) in errors.summary().items():
        late = errors.late[ahead]
        print(
            f"{ahead} minutes told: {len(late)} calls, error {middle:.1f} min (median), {most:.1f} min (90 %), "
            f"{100 * inside:.0f} % in the range, mean {sum(late) / len(late) / 60:+.1f} min"
        )
    sizes = [abs(one) / 60 for one in errors.unmeasured]
    print(f"10 minutes told by the default: {len(sizes)} calls, error {median(sizes):.1f} min (median)")
    print(f"a table told: {errors.sure_of_table}, the right one: {errors.right_table}")


if __name__ == "__main__":
    main()
