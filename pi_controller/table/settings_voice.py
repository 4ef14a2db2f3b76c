"""Settings of the voice."""

from __future__ import annotations

import re
from datetime import time
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from pi_controller.games.wording import shown
from pi_controller.table.settings_fields import Folder, Section
from pi_controller.table.settings_file import Fault, faults

HOUR = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


def _hour(text: str) -> str:
    if not text or HOUR.fullmatch(text):
        return text
    raise ValueError(f'must be a time of day like "21:30", or empty, not {shown(text)}')


def _device(text: str) -> str:
    if re.match("(hw|dmix|dsnoop):", text):  # these play a recording of another rate too high or too low, or not at all
        raise ValueError(f'takes no sound but its own kind: write it as "plughw:...", not {shown(text)}')
    if text and text.isprintable() and not text.startswith("-") and len(text) <= 200:
        return text
    raise ValueError(f"must be a loudspeaker as 'aplay -L' lists it, not {shown(text)}")


Hour = Annotated[str, AfterValidator(_hour), Field(json_schema_extra={"takes": 'a time of day like "21:30", or empty'})]


def within(now: time, begins: time, ends: time) -> bool:
    """Return whether `now` lies between `begins` and `ends`, which may lie beyond midnight."""
    return begins <= now < ends if begins <= ends else now >= begins or now < ends


class VoiceSection(Section):
    """What is heard: recordings of the words called at the table. Nothing is unless a file says so."""

    folder: Folder = Field(
        default="",
        description="holds the recordings, such as dakota/paguga.wav; empty: none; 'moccasin-mat voice' lists them",
        json_schema_extra={"takes": "the path of a folder, in quotes"},
    )
    english: bool = Field(
        default=False,
        description="speak the score and plain sentences, in English only (apt install espeak-ng)",
    )
    device: Annotated[str, AfterValidator(_device)] = Field(
        default="default",
        description="the loudspeaker, as 'aplay -L' lists it",
        json_schema_extra={"takes": "the name of a loudspeaker, in quotes"},
    )
    volume: float = Field(default=0.8, ge=0.0, le=1.0, description="1.0 plays recordings as loud as they are")
    quiet_volume: float = Field(default=0.3, ge=0.0, le=1.0, description="no louder than this in the quiet hours")
    quiet_from: Hour = Field(default="", description="the quiet hours begin; empty: there are none")
    quiet_to: Hour = Field(default="", description="the quiet hours end; over midnight is fine")

    @model_validator(mode="after")
    def _hours(self) -> VoiceSection:
        if bool(self.quiet_from) != bool(self.quiet_to):
            missing = "quiet_to" if self.quiet_from else "quiet_from"
            raise faults([Fault((missing,), "is missing: the quiet hours have a beginning and an end")])
        return self

    @property
    def heard(self) -> bool:
        """Whether anything is to be heard at all."""
        return bool(self.folder or self.english)

    def gain(self, now: time) -> float:
        """Return how loud to be at `now` (0 to 1), local time."""
        if not self.quiet_from:
            return self.volume
        quiet = within(now, time.fromisoformat(self.quiet_from), time.fromisoformat(self.quiet_to))
        return min(self.volume, self.quiet_volume) if quiet else self.volume
