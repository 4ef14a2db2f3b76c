"""Replays a recording through the detectors to mat events, and through the referee to facts.

`replay_events` needs only the recording, which includes when strikes counted. `replay_table` replays the whole table;
it takes the judge's calls from the journal (`judge_calls`), because no sensor records them.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from pi_controller.board.message_source import NoSource
from pi_controller.board.messages import Gap, Message, Piezo
from pi_controller.calibration.profile import Profile
from pi_controller.errors import MatError
from pi_controller.journal.journal import Journal
from pi_controller.recording.format import (
    Batch,
    Checkpoint,
    Entry,
    Header,
    RecordingError,
    RecordingGap,
    ReportingChange,
    StepBegan,
    StepEnded,
)
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
from pi_controller.sensing.sensors import MatSensors
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.table.mats import Mat, Mats, mat_sensors_for
from pi_controller.table.table import Table

Records = list[tuple[int, Fact]]
_json = msgspec.json.Encoder().encode


@dataclass
class ReplayedEvents:
    """The mat events of a replay.

    `same` counts the checkpoints at which they equal the table's events, `other` those at which they
    differ because of another program version or other settings. Checkpoints after a loss are not counted.
    """

    events: list[MatEvent] = field(default_factory=list["MatEvent"])
    lost: list[RecordingGap] = field(default_factory=list[RecordingGap])
    same: int = 0
    other: int = 0


def replay_events(
    header: Header, entries: Iterable[Entry], strikes: StrikeSettings | None = None, *, always: bool = False
) -> ReplayedEvents:
    """Replay the detectors with the recording's strike settings, or `strikes`; with `always`, report every
    strike.
    """
    mat_sensors = _mat_sensors(header, strikes)
    out = ReplayedEvents()
    batch: list[Message] = []
    count = crc = 0

    def end_batch() -> None:
        nonlocal count, crc
        events = [event for message in batch for event in mat_sensors.feed(message)]
        batch.clear()
        for event in sorted(events, key=lambda event: event.t):
            out.events.append(event)
            count, crc = count + 1, zlib.crc32(_json(event), crc)

    for entry in entries:
        match entry:
            case Batch(reporting_enabled=armed) | ReportingChange(reporting_enabled=armed):
                end_batch()
                mat_sensors.reporting_enabled = armed or always
            case StepBegan() | StepEnded():
                end_batch()
            case Button():
                end_batch()
                out.events.append(entry)
            case Checkpoint() if out.lost:  # the table's events include readings that were lost
                end_batch()
            case Checkpoint():
                end_batch()
                same = (entry.count, entry.crc) == (count, crc)
                out.same, out.other = out.same + same, out.other + (not same)
            case RecordingGap():
                end_batch()
                out.lost.append(entry)
                batch.append(Gap(entry.t, entry.until, 0))
            case _:
                batch.append(entry)
    end_batch()
    return out


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


def _mat_sensors(header: Header, strikes: StrikeSettings | None) -> MatSensors:
    """Return the detectors of the recorded mat, with its calibration."""
    try:
        profile = None if header.profile is None else msgspec.convert(header.profile, Profile)
    except msgspec.ValidationError as error:
        raise RecordingError(
            f"the calibration profile of the recording cannot be used: {error}", "replay it with its own version"
        ) from error
    return mat_sensors_for(
        header.game,
        strikes or header.strike_settings(),
        profile,
        magnetometers=header.magnetometers,
        depth_mm=header.depth_mm,
    )


@dataclass
class ReplayedTable:
    """Result of replaying a table: its journal's records, its mat events, and why it stopped early, if it did."""

    records: Records
    events: list[MatEvent]
    stopped: str = ""


def replay_table(
    header: Header, entries: Iterable[Entry], records: Records | None = None, strikes: StrikeSettings | None = None
) -> ReplayedTable:
    """Replay the recorded table, with the judge's calls from its journal's `records`.

    Raises `RecordingError` if there is no game, or if the recording begins in mid-game and no journal is given, and
    passes on the error of a game that no longer exists.
    """
    if not header.game:
        raise RecordingError("no game was played in this recording", "replay it without a journal")
    if header.seq and records is None:
        raise RecordingError("the recording begins in the middle of a game", "name its journal with --journal")
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
        stopped = _play(table, header, entries, calls, strikes, events)
        return ReplayedTable(list(journal.read()), events, stopped)


def _play(
    table: Table,
    header: Header,
    entries: Iterable[Entry],
    calls: Iterator[JudgeCommand],
    strikes: StrikeSettings | None,
    events: list[MatEvent],
) -> str:
    mat = Mat(NoSource(), _mat_sensors(header, strikes))
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


def strip_random(fact: Fact, *, exactly: bool = True) -> Fact:
    """Return the fact without its random parts: the nonce, its hash and the journal it is bound to.

    Unless `exactly` is set, also without its time and a strike's margin, which vary with the settings.
    """
    if not exactly:
        fact = msgspec.structs.replace(fact, t=0.0)
    match fact:
        case Commit():
            return msgspec.structs.replace(fact, hash="")
        case Reveal():
            return msgspec.structs.replace(fact, nonce="", table="", epoch="", event=0)
        case StrikeFelt() if not exactly:
            return msgspec.structs.replace(fact, margin_db=None)
        case _:
            return fact


# Compares two replays of one recording: their strikes and the facts concluded from them.


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


def select_reported(strikes: Iterable[Strike], stretches: Sequence[tuple[float, float]]) -> list[Strike]:
    """Return the strikes that began within `stretches`, the intervals in which strikes counted.

    Other settings may detect a strike some milliseconds later, after the hit was settled at the table; it still counts.
    """
    return [strike for strike in strikes if any(since <= strike.t < until for since, until in stretches)]


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


def first_difference(before: Records, now: Records, *, exactly: bool = True) -> tuple[Fact | None, Fact | None] | None:
    """Return the first fact that differs, as (before, now); None if there is none.

    The comparison ends with the shorter list: a recording may end before its journal does. Random nonces are ignored,
    and unless `exactly` is set, times and margins too.
    """
    for (_, was), (_, would) in zip(before, now, strict=False):
        if strip_random(was, exactly=exactly) != strip_random(would, exactly=exactly):
            return was, would
    return None


def hide_at(records: Records, t: float) -> int | None:
    """Return the number of the last hide sealed before `t`; None if there is none."""
    hides = [fact.hide for _, fact in records if isinstance(fact, Commit) and fact.t <= t]
    return hides[-1] if hides else None
