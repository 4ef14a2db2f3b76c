"""Settings of the exhibit: the installation that a cultural centre leaves running."""

from __future__ import annotations

import re
from datetime import time
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pi_controller.games.wording import shown
from pi_controller.table.settings_fields import Folder, Language, Section
from pi_controller.table.settings_file import Fault, faults
from pi_controller.table.settings_voice import HOUR, Hour, within

if TYPE_CHECKING:
    from datetime import date

MINUTES = 24 * 60
MatKind = Literal["screen", "sensors", "eye"]


def _day(text: str) -> str:
    match = re.fullmatch(r"(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", text)
    if not text or match:
        return text
    raise ValueError(f'must be a month and a day like "11-01", or empty, not {shown(text)}')


_Day = Annotated[
    str, AfterValidator(_day), Field(json_schema_extra={"takes": 'a month and a day like "11-01", or empty'})
]


def _test_hour(text: str) -> str:
    if text == "off" or not text or HOUR.fullmatch(text):
        return text
    raise ValueError(f'must be a time of day like "03:00", "off", or empty, not {shown(text)}')


def _tuple(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _languages(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or len(set(value)) != len(value):
        raise ValueError("must name at least one language, each once")
    return value


class ExhibitSection(Section):
    """The installation that visitors use by themselves: 'moccasin-mat exhibit'."""

    mat: MatKind = Field(
        default="screen",
        description='"screen" plays on the touch screen alone, "sensors" on the mat, "eye" on cloths without sensors',
    )
    points: int = Field(default=1, ge=1, le=5, description="short sticks that end a session's game")
    hides: int = Field(default=12, ge=1, le=60, description="a session's game ends after so many hides at the latest")
    opponent: Literal["habits", "random"] = Field(
        default="habits", description="how the mat guesses: by this visitor's habits, which it forgets, or by chance"
    )
    languages: Annotated[tuple[Language, ...], BeforeValidator(_tuple), AfterValidator(_languages)] = Field(
        default=("en",),
        description="offered on every screen, the first one to begin with",
        json_schema_extra={"takes": 'a list of languages: ["en", "/srv/dak.po"]'},
    )
    touch: Literal["here", "network"] = Field(
        default="here", description='"here" lets only a browser on this machine play, "network" any that sees the page'
    )
    folder: Folder = Field(
        default="",
        description="the host's texts.toml and pictures; empty: none; 'moccasin-mat exhibit --check' looks at them",
        json_schema_extra={"takes": "the path of a folder, in quotes"},
    )
    approve_texts: bool = Field(
        default=False, description="changed texts wait until the staff has looked at them on the staff page"
    )
    answer_s: float = Field(default=30.0, ge=5, le=600, description="a choice nobody makes in so long is made for them")
    ask_after_s: float = Field(default=40.0, ge=5, le=600, description="nobody did anything for so long: still there?")
    leave_after_s: float = Field(default=20.0, ge=5, le=600, description="and back to the beginning so long after that")
    longest_min: float = Field(
        default=15.0, ge=1, le=240, description="no session is longer, so that others have a turn"
    )
    opens: Hour = Field(default="", description="opening hours begin; empty: always open")
    closes: Hour = Field(default="", description="opening hours end; over midnight is fine")
    dim_from: Hour = Field(default="", description="lights and page are dimmed from this hour; empty: never")
    dim_to: Hour = Field(default="", description="until this one; over midnight is fine")
    dim_lights: float = Field(default=0.3, ge=0.0, le=1.0, description="the light strips are no brighter then")
    dim_page: float = Field(default=0.6, ge=0.1, le=1.0, description="what is left of the page's brightness then")
    self_test: Annotated[str, AfterValidator(_test_hour)] = Field(
        default="",
        description='the hour of the nightly self-test; empty: in the middle of the closed hours; "off": never',
        json_schema_extra={"takes": 'a time of day like "03:00", "off", or empty'},
    )
    season_from: _Day = Field(default="", description="the first day of the season in which the game is played here")
    season_to: _Day = Field(default="", description="the last day of that season; empty: all year")
    record: bool = Field(default=False, description="keep each session's game beside the table's journal; else nowhere")
    keep_days: int = Field(default=30, ge=1, le=3650, description="games so kept are removed after so many days")
    keep_mb: int = Field(default=200, ge=1, le=100_000, description="and the oldest of them where all are larger")
    usage: bool = Field(default=False, description="count sessions and how long they last, on this machine alone")

    @model_validator(mode="after")
    def _pairs(self) -> ExhibitSection:
        pairs = (("opens", "closes"), ("dim_from", "dim_to"), ("season_from", "season_to"))
        missing = [
            Fault((b if getattr(self, a) else a,), f"is missing: it belongs to {a if getattr(self, a) else b}")
            for a, b in pairs
            if bool(getattr(self, a)) != bool(getattr(self, b))
        ]
        if missing:
            raise faults(missing)
        return self

    def open_at(self, now: time) -> bool:
        """Return whether `now`, local time, lies in the opening hours."""
        return not self.opens or within(now, time.fromisoformat(self.opens), time.fromisoformat(self.closes))

    def dimmed_at(self, now: time) -> bool:
        """Return whether lights and page are dimmed at `now`, local time."""
        begins = self.dim_from
        return bool(begins) and within(now, time.fromisoformat(begins), time.fromisoformat(self.dim_to))

    @property
    def self_test_hour(self) -> time | None:
        """When the nightly self-test is due, local time; None for never."""
        if self.self_test == "off" or not (self.self_test or self.opens):
            return None
        if self.self_test:
            return time.fromisoformat(self.self_test)
        closes, opens = (60 * one.hour + one.minute for one in map(time.fromisoformat, (self.closes, self.opens)))
        middle = (closes + (opens - closes) % MINUTES // 2) % MINUTES
        return time(middle // 60, middle % 60)

    def in_season(self, day: date) -> bool:
        """Return whether the game is played on `day`."""
        if not self.season_from:
            return True
        today = f"{day:%m-%d}"
        if self.season_from <= self.season_to:
            return self.season_from <= today <= self.season_to
        return today >= self.season_from or today <= self.season_to
