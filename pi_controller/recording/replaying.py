"""Replays a recording through the detectors to mat events; the recording includes when strikes counted."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from pi_controller.board.messages import Gap, Message
from pi_controller.calibration.profile import Profile
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
)
from pi_controller.sensing.events import Button, MatEvent
from pi_controller.sensing.sensors import MatSensors
from pi_controller.table.mats import mat_sensors_for

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


def replay_events(header: Header, entries: Iterable[Entry]) -> ReplayedEvents:
    """Replay the detectors with the settings in `header`."""
    mat_sensors = mat_sensors_of(header)
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
                mat_sensors.reporting_enabled = armed
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


def mat_sensors_of(header: Header) -> MatSensors:
    """Return the detectors of the recorded mat, with its calibration. Raises `RecordingError`."""
    try:
        profile = None if header.profile is None else msgspec.convert(header.profile, Profile)
    except msgspec.ValidationError as error:
        raise RecordingError(
            f"the calibration profile of the recording cannot be used: {error}", "replay it with its own version"
        ) from error
    return mat_sensors_for(
        header.game,
        header.strike_settings(),
        profile,
        magnetometers=header.magnetometers,
        depth_mm=header.depth_mm,
    )
