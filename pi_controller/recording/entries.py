"""Entries of a sensor recording, and blocks of them: MessagePack compressed by zlib, lossless to the last bit."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, cast, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Message
from pi_controller.errors import MatError
from pi_controller.referee.facts import Seats
from pi_controller.referee.settings import RefereeSettings
from pi_controller.sensing.events import Button, Strike
from pi_controller.sensing.strikes import StrikeSettings


class RecordingError(MatError, ValueError):
    """A sensor recording or a stored hit cannot be read or written, or it does not fit the journal beside it."""

    code = "recording"


class Header(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="recording"):
    """The table's setup at the time of recording, sufficient for a replay except for the judge's calls.

    `t` is when the table was opened (host seconds), `seq` the journal's last record before that. `strikes` and
    `referee` are the settings used, `seats` is the seating. `game` is empty if no game was played. `magnetometers`
    is the number that the mat has, `depth_mm` their depth below its surface, and `profile` its calibration; they are
    None if no game was played, and `profile` on a mat without one. `hide` is None except in a stored hit.
    """

    t: float
    program: str = ""
    table: str = ""
    journal: str = ""
    seq: int = 0
    game: str = ""
    version: str = ""
    options: dict[str, Any] = {}
    teams: dict[str, str] = {}
    referee: dict[str, Any] = {}
    strikes: dict[str, Any] = {}
    seats: Seats = "stay"
    magnetometers: int | None = None
    depth_mm: float | None = None
    profile: dict[str, Any] | None = None
    hide: int | None = None

    def strike_settings(self) -> StrikeSettings:
        """Return the strike detector's settings. Raises `RecordingError` if this program does not support them."""
        try:
            return msgspec.convert(self.strikes, StrikeSettings)
        except (msgspec.ValidationError, TypeError, MatError) as error:
            raise RecordingError(
                f"the strike settings of the recording cannot be used: {error}", "replay it with its own version"
            ) from error

    def referee_settings(self) -> RefereeSettings:
        """Return the referee's settings. Raises `RecordingError` if this program does not support them."""
        try:
            return RefereeSettings(**self.referee)
        except (TypeError, MatError) as error:
            raise RecordingError(
                f"the referee's settings in the recording cannot be used: {error}", "replay it with its own version"
            ) from error


def settings_as_json(settings: StrikeSettings | RefereeSettings) -> dict[str, Any]:
    """Return settings as stored in the header."""
    return asdict(settings)


class StepBegan(msgspec.Struct, frozen=True, tag_field="event", tag="step"):
    """The controller began a step at `t`; the judge's calls with earlier times precede it."""

    t: float


class Batch(msgspec.Struct, frozen=True, tag_field="event", tag="batch"):
    """The messages up to the next entry were processed together; strikes counted if `reporting_enabled`."""

    reporting_enabled: bool


class ReportingChange(msgspec.Struct, frozen=True, tag_field="event", tag="reporting"):
    """From here on strikes count if `reporting_enabled`."""

    reporting_enabled: bool


class StepEnded(msgspec.Struct, frozen=True, tag_field="event", tag="step_end"):
    """The current step ended and advanced the table to its `t`."""


class RecordingGap(msgspec.Struct, frozen=True, tag_field="event", tag="gap"):
    """The readings from `t` to `until` were not kept; `why` states the reason in one line."""

    t: float
    until: float
    why: str


class Checkpoint(msgspec.Struct, frozen=True, tag_field="event", tag="checkpoint"):
    """A checkpoint: the number `count` of mat events so far, and the CRC-32 `crc` of their concatenated JSON."""

    count: int
    crc: int


Mark = StepBegan | Batch | ReportingChange | StepEnded | RecordingGap | Checkpoint | Button
Entry = Mark | Message
Part = Header | Strike | Entry
"""What a block is made of: a header begins a recording, and a strike belongs to a stored hit."""

ZLIB_LEVEL = 3
"""Level 6 saves 2 % more and takes three times the processor."""
MAX_BLOCK_BYTES = 1 << 26
"""Largest size of an unpacked block, so that a damaged or hostile file cannot fill the memory."""
_ARRAY = 1
"""MessagePack extension of an array: its dtype, its shape, and its bytes column by column, which zlib packs better."""
_MESSAGES: dict[str, type[Message]] = {kind.__name__: kind for kind in get_args(Message)}


def pack(entries: Iterable[Part]) -> bytes:
    """Encode `entries` as a block: `[name, values...]` for each message, a map for each other entry."""
    plain = _ENCODER.encode([_message_values(entry) if isinstance(entry, Message) else entry for entry in entries])
    return zlib.compress(plain, ZLIB_LEVEL)


def unpack(data: bytes) -> list[Part]:
    """Decode the entries of a block. Raises `RecordingError` if it is damaged, too large, or of another version."""
    try:
        parts = _DECODER.decode(_decompress(data))
        return [_MESSAGES[part[0]](*part[1:]) if isinstance(part, list) else part for part in parts]
    except (zlib.error, msgspec.MsgspecError, ValueError, TypeError, LookupError, RuntimeError) as error:
        raise RecordingError("the block is damaged or too large", "copy the file again, if it is a copy") from error


def _decompress(data: bytes) -> bytes:
    unzip = zlib.decompressobj()
    plain = unzip.decompress(data, MAX_BLOCK_BYTES)
    if not unzip.eof:
        raise ValueError("cut short or too large")
    return plain


def _message_values(message: Message) -> list[Any]:
    return [type(message).__name__, *(getattr(message, name) for name in message.__match_args__)]


def _encode_array(value: object) -> msgspec.msgpack.Ext:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__} cannot be recorded")
    array = cast("NDArray[Any]", value)
    return msgspec.msgpack.Ext(_ARRAY, _ENCODER.encode((array.dtype.str, array.shape, array.tobytes("F"))))


def _decode_array(code: int, data: memoryview) -> NDArray[Any]:
    if code != _ARRAY:
        raise ValueError(f"there is no extension {code}")
    dtype, shape, content = _ARRAY_DECODER.decode(data)
    return np.ascontiguousarray(np.frombuffer(content, dtype).reshape(shape, order="F"))


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_encode_array)
_DECODER = msgspec.msgpack.Decoder(list[Header | Strike | Mark | list[Any]], ext_hook=_decode_array)
_ARRAY_DECODER = msgspec.msgpack.Decoder(tuple[str, tuple[int, ...], bytes])
