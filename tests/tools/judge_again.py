"""Judge a recorded table again: `python tests/tools/judge_again.py FILE.sensors JOURNAL [--settings OTHER.toml]`.

The recording is replayed through the detectors and the referee, with the judge's calls from the table's journal,
because no sensor records them. With its own settings each fact must come out the same, or the exit status is 1. With
others the program shows which strikes would differ, and the first fact that would.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from pi_controller.board.message_source import NoSource
from pi_controller.board.messages import Message, Piezo
from pi_controller.config import read_settings
from pi_controller.errors import MatError
from pi_controller.journal.journal import Journal
from pi_controller.recording.entries import (
    Batch,
    Checkpoint,
    Entry,
    Header,
    RecordingError,
    RecordingGap,
    ReportingChange,
    StepBegan,
    StepEnded,
    settings_as_json,
)
from pi_controller.recording.replaying import mat_sensors_of, replay_events
from pi_controller.recording.store import Recording
from pi_controller.referee.facts import (
    ActionPlayed,
    Answer,
    Commit,
    Fact,
    GameOpened,
    HideAgain,
    Reveal,
    StrikeFelt,
    Undone,
)
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeCommand, JudgeHideAgain, JudgeUndo
from pi_controller.referee.selection import referee_for
from pi_controller.rules import registry
from pi_controller.sensing.events import Button, MatEvent, Strike
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.table.mats import Mat, Mats
from pi_controller.table.table import Table

Records = list[tuple[int, Fact]]
MAX_SAME_STROKE_S = 0.03
"""Strikes of two replays within this time are the same stroke."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stroke that is judged differently: `before` and `now`; None if it was not detected."""

    t: float
    before: Strike | None
    now: Strike | None


def strikes_of(events: Iterable[MatEvent]) -> list[Strike]:
    """Return the strikes in `events`, in order of time."""
    return sorted((event for event in events if isinstance(event, Strike)), key=lambda strike: strike.t)


def reporting_intervals(entries: Iterable[Entry]) -> list[tuple[float, float]]:
    """Return the intervals (begin, end) in which strikes counted at the table, in the samples' time."""
    out: list[tuple[float, float]] = []
    samples_end, since = float("-inf"), None
    for entry in entries:
        match entry:
            case Piezo():
                samples_end = entry.t + len(entry.samples) / entry.rate
            case Batch(reporting_enabled=armed) | ReportingChange(reporting_enabled=armed) if armed != (
                since is not None
            ):
                if since is not None:
                    out.append((since, samples_end))
                since = samples_end if armed else None
            case _:
                pass
    return out if since is None else [*out, (since, float("inf"))]


def detect_counted(header: Header, entries: Sequence[Entry], settings: StrikeSettings) -> list[Strike]:
    """Detect with `settings` the strikes that began while strikes counted at the table.

    Other settings may detect a strike some milliseconds later, after the hit was settled at the table; it still counts.
    """
    always = [Batch(True) if isinstance(entry, Batch) else entry for entry in entries]
    always = [entry for entry in always if not isinstance(entry, ReportingChange)]
    found = strikes_of(replay_events(with_settings(header, settings), always).events)
    intervals = reporting_intervals(entries)
    return [strike for strike in found if any(since <= strike.t < until for since, until in intervals)]


def with_settings(header: Header, settings: StrikeSettings) -> Header:
    """Return `header` with other strike settings."""
    return msgspec.structs.replace(header, strikes=settings_as_json(settings))


def diff_strikes(before: Sequence[Strike], now: Sequence[Strike]) -> list[Difference]:
    """Return the differences in order of time. A changed margin alone is no difference."""
    rest = list(now)
    out: list[Difference] = []
    for strike in before:
        near = min(rest, key=lambda other: abs(other.t - strike.t), default=None)
        if near is None or abs(near.t - strike.t) > MAX_SAME_STROKE_S:
            out.append(Difference(strike.t, strike, None))
            continue
        rest.remove(near)
        if (near.pads, near.sure) != (strike.pads, strike.sure):
            out.append(Difference(strike.t, strike, near))
    out += [Difference(strike.t, None, strike) for strike in rest]
    return sorted(out, key=lambda difference: difference.t)


def without_times(records: Records) -> Records:
    """Return `records` without their times and the strikes' margins, which vary with the settings."""
    return [(batch, _without_time(fact)) for batch, fact in records]


def _without_time(fact: Fact) -> Fact:
    fact = msgspec.structs.replace(fact, t=0.0)
    return msgspec.structs.replace(fact, margin_db=None) if isinstance(fact, StrikeFelt) else fact


def hide_at(records: Records, t: float) -> int | None:
    """Return the number of the last hide sealed before `t`; None if there is none."""
    hides = [fact.hide for _, fact in records if isinstance(fact, Commit) and fact.t <= t]
    return hides[-1] if hides else None


def _describe(strike: Strike | None) -> str:
    if strike is None:
        return "nothing"
    return f"pad {' and '.join(map(str, strike.pads))}{'' if strike.sure else ' in doubt'}"


def judge_calls(records: Records) -> list[JudgeCommand]:
    """Return the judge's calls, reconstructed from the facts they caused."""
    calls: list[JudgeCommand] = []
    for _, group in groupby(records, key=itemgetter(0)):
        call = _call([fact for _, fact in group])
        if call is not None:
            calls.append(call)
    return calls


def _call(facts: Sequence[Fact]) -> JudgeCommand | None:
    for fact in facts:
        match fact:
            case Answer(t=t, answer=answer):
                return JudgeAnswer(t, answer)
            case Undone(t=t, by="judge", reason=reason):
                return JudgeUndo(t, reason)
            case HideAgain(t=t, why=why, by="judge"):
                return JudgeHideAgain(t, why)
            case ActionPlayed(t=t, action=action, by="judge"):
                return JudgeAction(t, action)
            case _:
                pass
    return None


def count_records_before(header: Header, records: Records) -> int:
    """Return how many of a journal's `records` precede the opening of the recorded table.

    Raises `RecordingError` if the journal does not belong to the recording.
    """
    opened = records[0][1] if records else None
    mine = (header.game, header.version, header.options)
    if not isinstance(opened, GameOpened) or (opened.game, opened.version, opened.options) != mine:
        raise RecordingError("the journal and the recording are of different games", "name the journal of that table")
    if opened.after and opened.t > header.t:
        raise RecordingError(
            "the journal's game began after the recording did",
            f"name the journal of the recording's first game; the one before it is in {opened.after}",
        )
    if header.seq > len(records):
        raise RecordingError("the journal ends before the recording begins", "name the journal of that table")
    return header.seq


@dataclass
class ReplayedTable:
    """Result of replaying a table: its journal's records, its mat events, and why it stopped early, if it did."""

    records: Records
    events: list[MatEvent]
    stopped: str = ""


def replay_table(header: Header, entries: Iterable[Entry], records: Records | None = None) -> ReplayedTable:
    """Replay the recorded table, with the judge's calls from its journal's `records`.

    Raises `RecordingError` if there is no game, or if the recording begins in mid-game and no journal is given, and
    passes on the error of a game that no longer exists.
    """
    if not header.game:
        raise RecordingError("no game was played in this recording", "replay it without a journal")
    if header.seq and records is None:
        raise RecordingError("the recording begins in the middle of a game", "name its journal")
    before = count_records_before(header, records) if records else 0
    calls = iter(judge_calls(records[before:]) if records else [])
    game = registry.game(header.game, header.options)
    events: list[MatEvent] = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="moccasin-mat-replay-"))
        journal = stack.enter_context(Journal(Path(folder) / "again.sqlite"))
        for _, batch in groupby(records[:before] if records else [], key=itemgetter(0)):
            journal.append([fact for _, fact in batch])
        referee = referee_for(game, header.referee_settings(), bytes)
        table = Table(journal, game, header.teams, referee, header.t, header.seats)
        stopped = _play(table, header, entries, calls, events)
        return ReplayedTable(list(journal.read()), events, stopped)


def _play(
    table: Table,
    header: Header,
    entries: Iterable[Entry],
    calls: Iterator[JudgeCommand],
    events: list[MatEvent],
) -> str:
    mat = Mat(NoSource(), mat_sensors_of(header))
    mats = Mats(table, [mat])
    batch: list[Message] = []
    call = next(calls, None)
    t = header.t
    for entry in entries:
        if batch and not _is_message(entry):
            events += mats.feed(batch, mat)
            batch.clear()
        match entry:
            case StepBegan():
                t = entry.t
                while call is not None and call.t < t:
                    try:
                        table.judge(call)
                    except MatError as error:
                        return f"at {call.t:.3f} s the judge's word no longer fits: {error.message}"
                    call = next(calls, None)
            case StepEnded():
                table.tick(t)
            case Button():
                events.append(entry)
                table.mat_event(entry)
            case RecordingGap():
                return f"nothing was kept from {entry.t:.3f} s: {entry.why}"
            case Batch() | ReportingChange() | Checkpoint():
                pass
            case _:
                batch.append(entry)
    with suppress(MatError):  # a call after the last reading belongs to a table that continued elsewhere
        while call is not None:
            table.judge(call)
            call = next(calls, None)
    return ""


def _is_message(entry: Entry) -> bool:
    return not isinstance(entry, StepBegan | Batch | ReportingChange | StepEnded | RecordingGap | Checkpoint | Button)


def strip_random(fact: Fact) -> Fact:
    """Return the fact without its random parts: the nonce, its hash and the journal it is bound to."""
    match fact:
        case Commit():
            return msgspec.structs.replace(fact, hash="")
        case Reveal():
            return msgspec.structs.replace(fact, nonce="", table="", epoch="", event=0)
        case _:
            return fact


def first_difference(before: Records, now: Records) -> tuple[Fact, Fact] | None:
    """Return the first fact that differs apart from random nonces, as (before, now); None if there is none.

    The comparison ends with the shorter list: a recording may end before its journal does.
    """
    for (_, was), (_, would) in zip(before, now, strict=False):
        if strip_random(was) != strip_random(would):
            return was, would
    return None


def main(argv: Sequence[str]) -> int:
    """Print the differences; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", metavar="FILE.sensors", type=Path)
    parser.add_argument("journal", metavar="JOURNAL", help="the table's journal")
    parser.add_argument("--settings", metavar="OTHER.toml", type=Path, help="other strike settings")
    args = parser.parse_args(argv)
    with Journal(args.journal, read_only=True) as journal:
        records = list(journal.read())
    recording = Recording(args.recording)
    header, entries = recording.header, list(recording.entries())
    if args.settings:
        other = read_settings(args.settings).strikes.detector_settings()
        _print_strikes(header, entries, other, records)
        header = with_settings(header, other)
    again = replay_table(header, entries, records)
    if again.stopped:
        print(f"judging stopped: {again.stopped}")
    before, now = (without_times(records), without_times(again.records)) if args.settings else (records, again.records)
    differs = first_difference(before, now)
    if not differs:
        print(f"judged as in the journal: {len(now)} of its {len(records)} facts")
        return 0
    was, would = (msgspec.json.encode(fact).decode() for fact in differs)
    print(f"judged otherwise, first at:\n  was       {was}\n  would be  {would}")
    return 0 if args.settings else 1


def _print_strikes(header: Header, entries: list[Entry], settings: StrikeSettings, records: Records) -> None:
    before = strikes_of(replay_events(header, entries).events)
    differing = diff_strikes(before, detect_counted(header, entries, settings))
    print(f"{len(before)} strikes at the table; {len(differing)} would differ")
    for one in differing:
        hide = hide_at(records, one.t)
        where = f"hide {hide}, " if hide else ""
        print(f"  {where}{one.t - header.t:.3f} s: {_describe(one.before)} -> {_describe(one.now)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
