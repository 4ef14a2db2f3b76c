"""The settings of one table: a TOML file, strictly read. A section is a class here, a key a field with its unit.

What is not written keeps its default, and the defaults play: no pin is touched until a file says that there are lights
or buttons. An unknown key, a wrong type, a value out of bounds: all are told at once, each with its line.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pi_controller.errors import UsageError
from pi_controller.games import odds
from pi_controller.games.wording import shown
from pi_controller.mat.strike_settings import SENSORS, StrikeSettings
from pi_controller.pinmap import pinmap
from pi_controller.referee.seats import Seats
from pi_controller.referee.settings import Beads, RefereeSettings
from pi_controller.table.settings_file import Fault, faults, read_model

if TYPE_CHECKING:
    from collections.abc import Mapping

_PI = pinmap().pi
_STRIKES = StrikeSettings()
_BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _name(text: str) -> str:
    # line separators and direction overrides would let one name rearrange the rest of the board
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} or char in _BIDI for char in text):
        raise ValueError("a control character stands in this name")
    if not text.strip() or len(text) > 40:
        raise ValueError(f"must be a name of 1 to 40 characters, not {shown(text)}")
    return text


def _port(text: str) -> str:
    if text in {"auto", "none"} or (text.startswith("/") and text.isprintable()):
        return text
    raise ValueError(f'must be "auto", "none" or a path like "/dev/ttyACM0", not {shown(text)}')


def _port_or_pins(text: str) -> str:
    if text == "pins":
        return text
    try:
        return _port(text)
    except ValueError as error:
        raise ValueError(str(error).replace('"none"', '"none", "pins"', 1)) from error


def _profile(text: str) -> str:
    if not text or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", text):
        return text
    raise ValueError(f"must be up to 40 letters, digits, - and _, not {shown(text)}")


def _host(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9.:_-]{1,253}", text):
        return text
    raise ValueError(f"must be an address or a host name, not {shown(text)}")


def _path(value: object) -> object:
    if not isinstance(value, str | Path):
        raise ValueError(f"must be the path of a file, in quotes, not {shown(value)}")  # noqa: TRY004
    text = str(value)
    if not text.strip() or not text.isprintable() or text.endswith("/"):
        raise ValueError(f"must be the path of a file, not {shown(text)}")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"there is no home folder for {shown(text)}") from error


def _nearest(value: object) -> object:
    """Return the pads from the nearest on, as a tuple; each once."""
    pads = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else ("none",)
    if len(set(pads)) != len(pads) or not set(pads) <= {1, 2, 3, 4}:
        raise ValueError("must be a list of pads from 1 to 4, each once")
    return pads


def _options(value: object) -> object:
    """Return the options as text, the way the command line would write them."""
    if not isinstance(value, dict):
        return value
    found: list[Fault] = []
    texts: dict[str, str] = {}
    for key, given in cast("dict[str, object]", value).items():
        match given:
            case bool():
                texts[key] = "true" if given else "false"
            case str() | int() | float():
                texts[key] = str(given)
            case list() if all(isinstance(one, str) for one in cast("list[object]", given)):
                texts[key] = ",".join(cast("list[str]", given))
            case _:
                found.append(Fault((key,), f"must be text, a number, or true or false, not {shown(given)}"))
    if found:
        raise faults(found)
    return texts


def _pin(number: int) -> int:
    if number == 0 or 2 <= number <= 27:
        return number
    raise ValueError(f"must be a BCM number from 2 to 27, or 0 for no button, not {number}")


Pin = Annotated[int, AfterValidator(_pin), Field(json_schema_extra={"takes": "0, or a whole number from 2 to 27"})]
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"takes": "a name of 1 to 40 characters"})]
Foul = Literal["automatic", "ask", "off"]


class Section(BaseModel):
    """What all sections share: no unknown key, no guessing of types, no change afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TableSection(Section):
    """The table itself."""

    name: Name = Field(default="Table 1", description="what this table is called, in the hall and at the tournament")
    journal: Annotated[Path, BeforeValidator(_path)] = Field(
        default=Path("table.sqlite"),
        description="the journal's file; the journal is the game, so keep it on a disk that lasts",
        json_schema_extra={"takes": "the path of a file, in quotes"},
    )


class GameSection(Section):
    """What is played. [game.options] holds the rule set's own options: 'moccasin-mat score GAME --help' lists them."""

    name: str = Field(default="dakota", description="the rule set")
    options: Annotated[dict[str, str], BeforeValidator(_options)] = Field(
        default_factory=dict[str, str], json_schema_extra={"takes": "a section"}
    )

    @model_validator(mode="after")
    def _known(self) -> GameSection:
        if found := game_faults(self.name, self.options):
            raise faults(found)
        return self


class TeamsSection(Section):
    """The teams' names."""

    a: Name = Field(default="A", description="the team at A")
    b: Name = Field(default="B", description="the team at B")


class BoardSection(Section):
    """The mat board on USB, or the sensors on the Pi's own pins."""

    # one key, so that no two can contradict each other: "none" was said here already
    port: Annotated[str, AfterValidator(_port_or_pins)] = Field(
        default="auto",
        description='"auto" finds the board, "pins" are the Pi\'s own, "none": the judge\'s console',
        json_schema_extra={"takes": '"auto" or "none" or "pins" or a path like "/dev/ttyACM0"'},
    )
    profile: Annotated[str, AfterValidator(_profile)] = Field(
        default="",
        description="the mat's profile by 'moccasin-mat calibrate', in this file's folder; empty: without one",
        json_schema_extra={"takes": "the name of a profile, in quotes"},
    )
    write_timeout_s: float = Field(
        default=0.5, ge=0.05, le=5.0, description="a board that takes nothing for this long is lost"
    )


class SecondBoardSection(BoardSection):
    """The board of the mat before B, where each team has one."""

    port: Annotated[str, AfterValidator(_port)] = Field(
        default="none",
        description="where two boards are plugged in, both are named: 'moccasin-mat ports' lists them",
        json_schema_extra={"takes": '"none" or a path like "/dev/ttyACM1"'},
    )


class MatSection(Section):
    """Where the mat lies: between the teams, or one before each, [board] the one of A and [board_b] that of B."""

    seats: Seats = Field(
        default="turn",
        description='"turn": A at the near edge, B at the far one; "stay": hiders at the near edge; "each": two mats',
        json_schema_extra={"takes": "one of these, in quotes"},
    )


class StripsSection(Section):
    """The light strips."""

    kind: Literal["pi", "board", "memory", "none"] = Field(
        default="none",
        description='WS2812 pixels on a pin of the "pi" or of the mat\'s "board"; "memory" keeps the lights unseen',
    )
    pin: int = Field(default=_PI.strip_pin, ge=2, le=27, description="BCM number; 10 needs no root")
    brightness: float = Field(default=0.5, ge=0.0, le=1.0, description="1.0 is all the pixels can")
    current_cap_ma: float = Field(
        default=2000.0,
        ge=100.0,
        le=20000.0,
        description="all pixels together draw no more; stay below the supply and the fuse",
    )


class ButtonPins(Section):
    """BCM numbers; each button goes from its pin to ground. The guesses of slahal may be left out: 0 is no button."""

    ready: int = Field(default=_PI.buttons["ready"], ge=2, le=27, description="the hider: the bead is hidden")
    shown: int = Field(default=_PI.buttons["shown"], ge=2, le=27, description="the hider: the bead was shown")
    toss_a: int = Field(default=_PI.buttons["toss_a"], ge=2, le=27, description="the judge: A won the toss")
    toss_b: int = Field(default=_PI.buttons["toss_b"], ge=2, le=27, description="the judge: B won the toss")
    left: Pin = Field(default=0, description="slahal, the guesser's left")
    right: Pin = Field(default=0, description="slahal, the guesser's right")
    inside: Pin = Field(default=0, description="slahal, the inside hands")
    outside: Pin = Field(default=0, description="slahal, the outside hands")

    @model_validator(mode="after")
    def _different(self) -> ButtonPins:
        first: dict[int, str] = {}
        found: list[Fault] = []
        for key in type(self).model_fields:
            pin = getattr(self, key)
            if pin == 0:
                continue
            if pin in first:
                found.append(Fault((key,), f"pin {pin} is taken by {first[pin]}"))
            first.setdefault(pin, key)
        if found:
            raise faults(found)
        return self


class ButtonsSection(Section):
    """The buttons at the mat."""

    kind: Literal["pi", "none"] = Field(default="none", description='"pi" reads buttons on pins')
    settle_ms: float = Field(
        default=20.0, ge=1.0, le=500.0, description="released this long, a button can be pressed again"
    )
    pins: ButtonPins = Field(default_factory=ButtonPins)


class WebSection(Section):
    """The live page."""

    enabled: bool = Field(default=True, description="serve pages")
    host: Annotated[str, AfterValidator(_host)] = Field(
        default="127.0.0.1",
        description='"127.0.0.1" serves this machine only, "0.0.0.0" everyone on the network',
        json_schema_extra={"takes": "an address or a host name"},
    )
    port: int = Field(default=8080, ge=0, le=65535, description="0 takes any free one")
    odds: bool = Field(
        default=False,
        description="show each side's chance of winning, on the page and in the terminal; a learning aid",
    )


class OddsSection(Section):
    """How often a hit finds in the Dakota game, for the chances of winning. The defaults are luck alone."""

    first: float = Field(
        default=odds.FIRST, ge=0.01, le=0.99, description="the first hit of a hide finds with this chance"
    )
    second: float = Field(default=round(odds.SECOND, 4), ge=0.01, le=0.99, description="after a miss, the second one")


class StrikesSection(Section):
    """What counts as a strike. The defaults are the detector's own."""

    sensor: Literal["piezo", "fsr"] = Field(
        default="piezo", description="what the pads feel with: piezo discs, or force-sensing resistors"
    )
    threshold_db: float = Field(
        default=_STRIKES.peak_db, ge=3.0, le=40.0, description="how far a strike stands above the pad's own noise"
    )
    dominance_db: float = Field(
        default=_STRIKES.dominance_db, ge=0.0, le=40.0, description="how far it stands above what other pads feel"
    )
    lockout_ms: float = Field(
        default=_STRIKES.lockout_s * 1000, ge=20.0, le=5000.0, description="no second strike is felt for this long"
    )

    def detector(self) -> StrikeSettings:
        """Return what the detector is given: a higher threshold asks as much more of each comparison in time."""
        own, more = SENSORS[self.sensor], self.threshold_db - _STRIKES.peak_db
        return replace(
            own,
            peak_db=own.peak_db + more,
            mean_db=own.mean_db + more,
            rise_db=own.rise_db + more,
            stand_db=own.stand_db + more,
            dominance_db=own.dominance_db + self.dominance_db - _STRIKES.dominance_db,
            lockout_s=self.lockout_ms / 1000,
        )


class RecordingSection(Section):
    """What is kept of the sensors' readings. Nothing is unless a file says so."""

    hits: bool = Field(
        default=False, description="keep what the pads felt around each hit, for 'moccasin-mat review JOURNAL'"
    )
    sensors: bool = Field(
        default=False, description="keep every reading of the mat, for 'moccasin-mat replay FILE --sensors'"
    )
    folder: Annotated[Path, BeforeValidator(_path)] = Field(
        default=Path("recordings"),
        description="where; about 32 MB an hour",
        json_schema_extra={"takes": "the path of a folder, in quotes"},
    )
    keep_days: int = Field(default=30, ge=1, le=3650, description="recordings older than this go")
    max_mb: int = Field(default=1000, ge=10, le=1000000, description="the oldest go when they take more than this")


class FoulsSection(Section):
    """What follows a foul that was sensed: it is called, the judge is asked, or it is left to the judge's own eyes."""

    pad_skipped: Foul = Field(default="automatic", description="the hider's hand was not under every pad")
    pad_twice: Foul = Field(default="automatic", description="the hider's hand was under one pad again")
    no_bead: Foul = Field(default="automatic", description="no bead lies under any pad")
    two_beads: Foul = Field(default="automatic", description="more than one bead lies on the mat")
    bead_off_mat: Foul = Field(default="automatic", description="the bead lies beside the pads")
    time: Foul = Field(
        default="automatic", description="the game's hit_seconds ran out before the hit; in slahal, the game's minutes"
    )
    rehide: Foul = Field(default="automatic", description="slahal: a bone moved after the hands were out")
    double_tap: Foul = Field(default="automatic", description="bageswin: the bowl was tapped twice in a turn")
    no_throw: Foul = Field(default="ask", description="the plum stone game: the bowl was tapped twice in a turn")


class RefereeSection(Section):
    """How the hide is watched."""

    check_timeout_s: float = Field(
        default=3.0,
        ge=0.2,
        le=60.0,
        description="a bead not seen at rest for this long after ready is a question to the judge",
    )
    beads: Beads = Field(
        default="mat",
        description='"mat" looks where the bead lies, "judge" confirms what a hit finds; always so with port = "pins"',
    )
    nearest: Annotated[tuple[int, ...], BeforeValidator(_nearest)] = Field(
        default=(),
        description="of pads struck at once the first named here counts; empty: the judge says",
        json_schema_extra={"takes": "a list of pads, nearest first: [2, 3, 1, 4]"},
    )
    fouls: FoulsSection = Field(default_factory=FoulsSection)


class Settings(Section):
    """All settings of a table. `Settings()` are the defaults."""

    table: TableSection = Field(default_factory=TableSection)
    game: GameSection = Field(default_factory=GameSection)
    teams: TeamsSection = Field(default_factory=TeamsSection)
    mat: MatSection = Field(default_factory=MatSection)
    board: BoardSection = Field(default_factory=BoardSection)
    board_b: SecondBoardSection = Field(default_factory=SecondBoardSection)
    strips: StripsSection = Field(default_factory=StripsSection)
    buttons: ButtonsSection = Field(default_factory=ButtonsSection)
    web: WebSection = Field(default_factory=WebSection)
    odds: OddsSection = Field(default_factory=OddsSection)
    strikes: StrikesSection = Field(default_factory=StrikesSection)
    recording: RecordingSection = Field(default_factory=RecordingSection)
    referee: RefereeSection = Field(default_factory=RefereeSection)

    def referee_settings(self, options: Mapping[str, object]) -> RefereeSettings:
        """Return what the referee is given. The time for a hit is one of the game's `options` (`Game.settings`)."""
        seconds = options.get("hit_seconds")
        return RefereeSettings(
            fouls=self.referee.fouls.model_dump(),
            check_timeout_s=self.referee.check_timeout_s,
            hit_seconds=float(seconds) if isinstance(seconds, int | float) else None,
            nearest=self.referee.nearest,
            beads="judge" if self.board.port == "pins" else self.referee.beads,  # those pins have no magnetometers
        )


def load(path: Path | str) -> Settings:
    """Return the settings in the TOML file `path`; `SettingsError` lists every fault with its line."""
    return read_model(Path(path), Settings, also=_clashes)


def game_faults(name: str, options: dict[str, str]) -> list[Fault]:
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


def _clashes(data: dict[str, Any]) -> list[Fault]:
    return [*_pin_clashes(data), *_mat_clashes(data)]


def _mat_clashes(data: dict[str, Any]) -> list[Fault]:
    """Return what is amiss between the mats and their boards. A section's own faults are told by itself."""
    try:
        seats = MatSection.model_validate(data.get("mat", {})).seats
        a = BoardSection.model_validate(data.get("board", {}))
        b = SecondBoardSection.model_validate(data.get("board_b", {}))
        recording = RecordingSection.model_validate(data.get("recording", {}))
    except ValidationError:
        return []
    if seats != "each":
        return [] if b.port == "none" else [Fault(("board_b", "port"), 'is read only where [mat] seats = "each"')]
    found = [
        Fault((name, "port"), 'must be "none" or the path of one board: there are two')
        for name, one in (("board", a), ("board_b", b))
        if one.port == "auto"
    ]
    if a.port == b.port != "none" and not found:
        found.append(Fault(("board_b", "port"), "is the board of [board]"))
    kept = (key for key in ("hits", "sensors") if getattr(recording, key))
    return found + [Fault(("recording", key), "cannot be kept of two mats yet: leave it false") for key in kept]


def _pin_clashes(data: dict[str, Any]) -> list[Fault]:
    """Return the pins that two things would drive. A section's own faults are told by itself."""
    try:
        strips = StripsSection.model_validate(data.get("strips", {}))
        buttons = ButtonsSection.model_validate(data.get("buttons", {}))
        board = BoardSection.model_validate(data.get("board", {}))
    except ValidationError:
        return []
    found: list[Fault] = []
    taken: dict[int, str] = {}
    if strips.kind == "board" and board.port in {"none", "pins"}:
        found.append(Fault(("strips", "kind"), f'is the board\'s, but [board] port is "{board.port}"'))
    if board.port == "pins":
        taken |= dict.fromkeys(_PI.mcp3008.pins, "the MCP3008") | dict.fromkeys(_PI.mpr121.pins, "the MPR121")
    if strips.kind == "pi":
        if strips.pin in taken:
            found.append(Fault(("strips", "pin"), f"pin {strips.pin} is taken by {taken[strips.pin]}; 18 is free"))
        taken.setdefault(strips.pin, "the light strips")
    if buttons.kind == "pi":
        found += [
            Fault(("buttons", "pins", key), f"pin {pin} is taken by {taken[pin]}")
            for key, pin in buttons.pins
            if pin in taken
        ]
    return found
