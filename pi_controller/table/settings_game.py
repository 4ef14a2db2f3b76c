"""Settings of the game: rule set, teams, chances, fouls, unanswered questions, referee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic import Field, create_model, model_validator

from pi_controller.errors import UsageError
from pi_controller.games import chances
from pi_controller.games.registry import DEFAULT
from pi_controller.games.wording import listed, shown
from pi_controller.referee.settings import (
    ANSWER_WITHIN_S,
    CHECK_TIMEOUT_S,
    PRESETS,
    SENSED,
    UNASKED,
    WAIT,
    Beads,
    Mode,
    Preset,
    possible_answers,
    preset_answers,
    preset_modes,
)
from pi_controller.table.settings_fields import Name, Options, Pads, Section
from pi_controller.table.settings_file import Fault, faults

if TYPE_CHECKING:
    from collections.abc import Mapping


class GameSection(Section):
    """What is played. [game.options] holds the rule set's own options: 'moccasin-mat score GAME --help' lists them."""

    name: str = Field(default=DEFAULT, description="the rule set")
    options: Options = Field(default_factory=dict[str, str], json_schema_extra={"takes": "a section"})

    @model_validator(mode="after")
    def _known(self) -> GameSection:
        if found := _game_faults(self.name, self.options):
            raise faults(found)
        return self


def named_by_players(game: str) -> bool:
    """Return whether in `game`, one of the registry's, nobody is in a team: an option of it names the players."""
    from pi_controller.games.registry import kind  # noqa: PLC0415 - the games load only where one is named

    return any(option.name == "players" for option in kind(game).options)


class TeamsSection(Section):
    """The teams' names."""

    a: Name = Field(default="A", description="the team at A")
    b: Name = Field(default="B", description="the team at B")


class ChancesSection(Section):
    """How often a hit finds in the Dakota game, for the chances of winning. The defaults are luck alone."""

    first: float = Field(
        default=chances.FIRST, ge=0.01, le=0.99, description="the first hit of a hide finds with this chance"
    )
    second: float = Field(
        default=round(chances.SECOND, 4), ge=0.01, le=0.99, description="after a miss, the second one"
    )


def _section(name: str, fields: dict[str, Any]) -> type[Section]:
    """Return a section with a key for each of `fields`, a type and its `Field`."""
    return create_model(name, __base__=Section, **fields)


_Fouls = _section(
    "_Fouls", {kind: (Mode, Field(default=foul.home, description=foul.about)) for kind, foul in SENSED.items()}
)


class FoulsSection(_Fouls):
    """What follows a foul that was sensed: it is called, the judge is asked, or it is left to the judge's own eyes."""


def _unasked(about: str) -> Any:
    return Field(
        default=WAIT,
        description=UNASKED[about].about,
        json_schema_extra={"takes": " or ".join(f'"{answer}"' for answer in possible_answers(about))},
    )


_Answers = _section("_Answers", {about: (str, _unasked(about)) for about in UNASKED})


class AnswersSection(_Answers):
    """What follows where nobody answers a question in time: it waits, or is answered by itself."""

    @model_validator(mode="after")
    def _possible(self) -> AnswersSection:
        found = [
            Fault((about,), f"must be one of {listed(possible_answers(about))}, not {shown(answer)}")
            for about, answer in self
            if answer not in possible_answers(about)
        ]
        if found:
            raise faults(found)
        return self


class RefereeSection(Section):
    """How the hide is watched."""

    check_timeout_s: float = Field(
        default=3.0,
        ge=CHECK_TIMEOUT_S[0],
        le=CHECK_TIMEOUT_S[1],
        description="a bead not seen at rest for this long after ready is a question to the judge",
    )
    beads: Beads = Field(
        default="mat",
        description='"mat" looks where the bead lies, "judge" confirms what a hit finds; always so with port = "pins"',
    )
    nearest: Pads = Field(
        default=(),
        description="of pads struck at once the first named here counts; empty: the judge says",
        json_schema_extra={"takes": "a list of pads, nearest first: [2, 3, 1, 4]"},
    )
    preset: Preset = Field(
        default="home",
        description="decides what is not written in [referee.fouls] and [referee.answers]",
    )
    answer_within_s: float = Field(
        default=20.0,
        ge=ANSWER_WITHIN_S[0],
        le=ANSWER_WITHIN_S[1],
        description="how long a question waits before [referee.answers] answers it",
    )
    fouls: FoulsSection = Field(default_factory=FoulsSection)
    answers: AnswersSection = Field(default_factory=AnswersSection)

    @model_validator(mode="before")
    @classmethod
    def _by_preset(cls, data: object) -> object:
        """Fill in what the preset says of fouls and answers that the file does not name."""
        if not isinstance(data, dict):
            return data  # pyright: ignore[reportUnknownVariableType]
        section = cast("dict[str, object]", data)
        preset = section.get("preset")
        if not isinstance(preset, str) or preset not in PRESETS:
            return section
        chosen: dict[str, Mapping[str, str]] = {
            "fouls": preset_modes(cast("Preset", preset)),
            "answers": preset_answers(cast("Preset", preset)),
        }
        for name, by_preset in chosen.items():
            named = section.get(name, {})
            if isinstance(named, dict):
                section = section | {name: {**by_preset, **cast("dict[str, object]", named)}}
        return section


def _game_faults(name: str, options: dict[str, str]) -> list[Fault]:
    """Return what is wrong with a game's name and options: each option by itself, then all together."""
    from pi_controller.games.registry import game  # noqa: PLC0415 - the games load only where one is named

    def refused(key: Fault, chosen: dict[str, str]) -> list[Fault]:
        try:
            game(name, chosen)
        except UsageError as error:
            return [Fault(key.keys, f"{error.what}; {error.todo}" if error.todo else error.what)]
        return []

    if unknown := refused(Fault(("name",), ""), {}):
        return unknown
    found = [fault for key, text in options.items() for fault in refused(Fault(("options", key), ""), {key: text})]
    return found or refused(Fault(("options",), ""), options)
