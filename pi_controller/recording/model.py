"""Data model of a sensor recording: a header, then every input of the table in order."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from pi_controller.errors import MatError
from pi_controller.link.messages import Message
from pi_controller.mat.events import Button
from pi_controller.mat.strikes import StrikeSettings
from pi_controller.referee.seating import Seats
from pi_controller.referee.settings import RefereeSettings

FORMAT = 1


class RecordingError(MatError, ValueError):
    """A sensor recording that cannot be read, or a truth that does not fit it."""

    code = "recording"


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the recording was made with; enough to replay it without anything else but the judge's word.

    `t` is when the table was opened (host seconds), `seq` the journal's last record before that. `strikes` and
    `referee` are the settings that held, `seats` who sat where. `game` is empty where no game was played.
    """

    t: float
    format: int = FORMAT
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

    def strike_settings(self) -> StrikeSettings:
        """Return the strike detector's settings. Raises `RecordingError` where this program has no such settings."""
        try:
            return msgspec.convert(self.strikes, StrikeSettings)
        except (msgspec.ValidationError, TypeError, MatError) as error:
            raise RecordingError(
                f"the strike settings of the recording cannot be used: {error}", "give others with --settings"
            ) from error

    def referee_settings(self) -> RefereeSettings:
        """Return the referee's settings. Raises `RecordingError` as `strike_settings` does."""
        try:
            return RefereeSettings(**self.referee)
        except (TypeError, MatError) as error:
            raise RecordingError(
                f"the referee's settings in the recording cannot be used: {error}", "replay it with what wrote it"
            ) from error


def settings_as_json(settings: StrikeSettings | RefereeSettings) -> dict[str, Any]:
    """Return settings as the header keeps them."""
    return asdict(settings)


@dataclass(frozen=True, slots=True)
class Began:
    """A step of the controller began at `t`; the judge's calls before `t` came before it."""

    t: float


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages up to the next entry were taken in together; a strike counted if `armed` then."""

    armed: bool


@dataclass(frozen=True, slots=True)
class Armed:
    """From here on a strike counts, or no longer."""

    armed: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """The step that began last let time pass to its `t`."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Nothing was kept from `t` to `until`; `why` in one line."""

    t: float
    until: float
    why: str


@dataclass(frozen=True, slots=True)
class Felt:
    """A checkpoint: `count` mat events so far; `crc` is the CRC-32 of them all, as JSON one after another."""

    count: int
    crc: int


Entry = Began | Batch | Armed | Ended | Lost | Felt | Button | Message
