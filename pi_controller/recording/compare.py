"""Diffs two replays of one recording: strikes detected with other settings, facts concluded otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_controller.link.messages import Piezo
from pi_controller.mat.events import Strike
from pi_controller.recording.model import Armed, Batch
from pi_controller.recording.replaying import plain
from pi_controller.referee.facts import Commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_controller.mat.events import MatEvent
    from pi_controller.recording.model import Entry
    from pi_controller.recording.replaying import Records
    from pi_controller.referee.facts import Fact

SAME_S = 0.03
"""Strikes no further apart are one stroke, felt twice."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stroke that would be judged otherwise: `before` as it was, `now` as it would be; None where it is not felt."""

    t: float
    before: Strike | None
    now: Strike | None


def strikes_of(events: Iterable[MatEvent]) -> list[Strike]:
    """Return the strikes among events, in order of time."""
    return sorted((event for event in events if isinstance(event, Strike)), key=lambda strike: strike.t)


def stretches_due(entries: Iterable[Entry]) -> list[tuple[float, float]]:
    """Return from when to when a strike counted at the table, in the time of the samples."""
    out: list[tuple[float, float]] = []
    samples_end, since = float("-inf"), None
    for entry in entries:
        match entry:
            case Piezo():
                samples_end = entry.t + len(entry.samples) / entry.rate
            case Batch(armed=armed) | Armed(armed=armed) if armed != (since is not None):
                if since is not None:
                    out.append((since, samples_end))
                since = samples_end if armed else None
            case _:
                pass
    return out if since is None else [*out, (since, float("inf"))]


def due(strikes: Iterable[Strike], stretches: Sequence[tuple[float, float]]) -> list[Strike]:
    """Return the strikes that began while one counted.

    Other settings may know a strike some milliseconds later, when at the table the hit was long settled: it is due all
    the same.
    """
    return [strike for strike in strikes if any(since <= strike.t < until for since, until in stretches)]


def strikes_differ(before: Sequence[Strike], now: Sequence[Strike]) -> list[Difference]:
    """Return what differs, in order of time. A margin that changed and nothing else is no difference."""
    rest = list(now)
    out: list[Difference] = []
    for strike in before:
        near = min(rest, key=lambda other: abs(other.t - strike.t), default=None)
        if near is None or abs(near.t - strike.t) > SAME_S:
            out.append(Difference(strike.t, strike, None))
            continue
        rest.remove(near)
        if (near.pads, near.sure) != (strike.pads, strike.sure):
            out.append(Difference(strike.t, strike, near))
    out += [Difference(strike.t, None, strike) for strike in rest]
    return sorted(out, key=lambda difference: difference.t)


def first_otherwise(before: Records, now: Records, *, exactly: bool = True) -> tuple[Fact | None, Fact | None] | None:
    """Return the first fact concluded otherwise, as it was and as it would be; None where there is none.

    Only as far as both go: a recording may end before its journal does. Nonces are random and do not count; unless
    `exactly`, times and margins do not either.
    """
    for (_, was), (_, would) in zip(before, now, strict=False):
        if plain(was, exactly=exactly) != plain(would, exactly=exactly):
            return was, would
    return None


def hide_at(records: Records, t: float) -> int | None:
    """Return the hide that was sealed last before `t`; None where none was."""
    hides = [fact.hide for _, fact in records if isinstance(fact, Commit) and fact.t <= t]
    return hides[-1] if hides else None
