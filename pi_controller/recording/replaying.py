"""Replays a recording: through the same detectors to the same mat events, and through the referee to the facts.

`felt` needs the recording alone: when a strike counted stands in it. `judged` plays the whole table again; what the
judge said is taken from the journal (`judge_calls`), for no sensor saw it.
"""

from __future__ import annotations

import tempfile
import zlib
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pi_controller.errors import MatError
from pi_controller.games import registry
from pi_controller.link.messages import Gap
from pi_controller.link.source import NoSource
from pi_controller.mat.events import Button
from pi_controller.mats import Mat, Mats, mat_sensors_for
from pi_controller.recording.model import Armed, Batch, Began, Ended, Felt, Lost, RecordingError
from pi_controller.referee.facts import Answer, Commit, Done, Fact, HideAgain, Opened, Reveal, Struck, Undone
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeCall, JudgeHideAgain, JudgeUndo
from pi_controller.referee.referees import referee_for
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_controller.link.messages import Message
    from pi_controller.mat.events import MatEvent
    from pi_controller.mat.strikes import StrikeSettings
    from pi_controller.recording.model import Entry, Header

Records = list[tuple[int, Fact]]
_json = msgspec.json.Encoder().encode


@dataclass
class Feeling:
    """The mat events of a recording. `same` counts the checkpoints at which they were those of the table, and
    `other` those at which they were not: another program or other settings. None are counted after a loss.
    """

    events: list[MatEvent] = field(default_factory=list["MatEvent"])
    lost: list[Lost] = field(default_factory=list[Lost])
    same: int = 0
    other: int = 0


def felt(
    header: Header, entries: Iterable[Entry], strikes: StrikeSettings | None = None, *, always: bool = False
) -> Feeling:
    """Feel a recording again, with its own strike settings or others; `always`: every strike counts, due or not."""
    mat_sensors = mat_sensors_for(header.game, strikes or header.strike_settings())
    out = Feeling()
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
            case Batch(armed=armed) | Armed(armed=armed):
                end_batch()
                mat_sensors.armed = armed or always
            case Began() | Ended():
                end_batch()
            case Button():
                end_batch()
                out.events.append(entry)
            case Felt() if out.lost:  # the table felt what is not here
                end_batch()
            case Felt():
                end_batch()
                same = (entry.count, entry.crc) == (count, crc)
                out.same, out.other = out.same + same, out.other + (not same)
            case Lost():
                end_batch()
                out.lost.append(entry)
                batch.append(Gap(entry.t, entry.until, 0))
            case _:
                batch.append(entry)
    end_batch()
    return out


def judge_calls(records: Records) -> list[JudgeCall]:
    """Return what the judge said, from the facts that followed."""
    calls: list[JudgeCall] = []
    for _, group in groupby(records, key=itemgetter(0)):
        call = _call([fact for _, fact in group])
        if call is not None:
            calls.append(call)
    return calls


def _call(facts: Sequence[Fact]) -> JudgeCall | None:
    for fact in facts:
        match fact:
            case Answer(t=t, answer=answer):
                return JudgeAnswer(t, answer)
            case Undone(t=t, by="judge", reason=reason):
                return JudgeUndo(t, reason)
            case HideAgain(t=t, why=why, by="judge"):
                return JudgeHideAgain(t, why)
            case Done(t=t, action=action, by="judge"):
                return JudgeAction(t, action)
            case _:
                pass
    return None


def begun_at(header: Header, records: Records) -> int:
    """Return how many of a journal's `records` were there before the recorded table was opened.

    Raises `RecordingError` for a journal that cannot be the recording's.
    """
    opened = records[0][1] if records else None
    mine = (header.game, header.version, header.options)
    if not isinstance(opened, Opened) or (opened.game, opened.version, opened.options) != mine:
        raise RecordingError("the journal holds another game than the recording", "name the journal of that table")
    if opened.after and opened.t > header.t:
        raise RecordingError(
            "the journal's game began after the recording did",
            f"name the journal of the game that it begins with; the one before is in {opened.after}",
        )
    if header.seq > len(records):
        raise RecordingError("the journal ends before the recording begins", "name the journal of that table")
    return header.seq


@dataclass
class Judging:
    """What the table concluded: the records of its journal, and the judge's call that no longer fitted, if any."""

    records: Records
    events: list[MatEvent]
    stopped: str = ""


def judged(
    header: Header, entries: Iterable[Entry], records: Records | None = None, strikes: StrikeSettings | None = None
) -> Judging:
    """Play the recorded table again, with the judge's word from its journal's `records`.

    Raises `RecordingError` when the recording begins within a game and no journal tells how that came to be, and the
    errors of a game that there no longer is.
    """
    if not header.game:
        raise RecordingError("no game was played in this recording", "replay it without a journal")
    if header.seq and records is None:
        raise RecordingError("the recording begins in the middle of a game", "name its journal with --journal")
    before = begun_at(header, records) if records else 0
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
        return Judging(list(journal.read()), events, stopped)


def _play(
    table: Table,
    header: Header,
    entries: Iterable[Entry],
    calls: Iterator[JudgeCall],
    strikes: StrikeSettings | None,
    events: list[MatEvent],
) -> str:
    mat = Mat(NoSource(), mat_sensors_for(header.game, strikes or header.strike_settings()))
    mats = Mats(table, [mat])
    batch: list[Message] = []
    call = next(calls, None)
    t = header.t
    for entry in entries:
        if batch and not _is_message(entry):
            events += mats.feed(batch, mat)
            batch.clear()
        match entry:
            case Began():
                t = entry.t
                while call is not None and call.t < t:
                    try:
                        table.judge(call)
                    except MatError as error:
                        return f"at {call.t:.3f} s the judge's word no longer fits: {error.what}"
                    call = next(calls, None)
                mats.look_round(t)
            case Ended():
                table.tick(t)
                mats.look_round(t)
            case Button():
                events.append(entry)
                table.mat_event(entry)
            case Lost():
                return f"nothing was kept from {entry.t:.3f} s: {entry.why}"
            case Batch() | Armed() | Felt():
                pass
            case _:
                batch.append(entry)
    with suppress(MatError):  # said after the last reading: it belongs to a table that goes on elsewhere
        while call is not None:
            table.judge(call)
            call = next(calls, None)
    return ""


def _is_message(entry: Entry) -> bool:
    return not isinstance(entry, Began | Batch | Armed | Ended | Lost | Felt | Button)


def plain(fact: Fact, *, exactly: bool = True) -> Fact:
    """Return the fact without what is random in it, the nonce, its hash and the journal it is bound to.

    Unless `exactly`, also without its time and a strike's margin, which other settings move without meaning anything.
    """
    if not exactly:
        fact = msgspec.structs.replace(fact, t=0.0)
    match fact:
        case Commit():
            return msgspec.structs.replace(fact, hash="")
        case Reveal():
            return msgspec.structs.replace(fact, nonce="", table="", epoch="", event=0)
        case Struck() if not exactly:
            return msgspec.structs.replace(fact, margin_db=None)
        case _:
            return fact
