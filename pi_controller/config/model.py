"""The settings of one table as one model: a class for each section, a field with its unit for each key.

A key that the file does not name keeps its default, and the defaults play: no pin is driven before a file names lights
or buttons. Checks of one section are its validators; `Settings.find_conflicts` checks what two sections say together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from pathlib import Path
from typing import Literal, cast, get_args

from pydantic import Field, model_validator

from pi_controller.config import fields
from pi_controller.config.fields import Section, SettingsIssue, is_between, raise_issues
from pi_controller.errors import UsageError
from pi_controller.pinmap import pinmap
from pi_controller.referee import settings as referee
from pi_controller.referee.facts import Seats
from pi_controller.rules import registry
from pi_controller.rules.options import Choice, Option
from pi_controller.sensing.strike_settings import LOCKOUT_S, SETTINGS_BY_SENSOR, THRESHOLD_DB, StrikeSettings
from pi_controller.text import Sentence, did_you_mean, format_value, mark

MINUTES_A_DAY = 24 * 60
MIN_CONTRAST = 4.5
"""Of text on its ground (WCAG 2.2, 1.4.3)."""
MatKind = Literal["screen", "sensors", "eye"]
_STRIKES = StrikeSettings()
MODES = get_args(referee.Mode)


DEFAULT_TABLE_NAME = "Table 1"


def table_name_of(account: str) -> str:
    """Return the name in the hall of a table that has this account at the hub.

    >>> table_name_of("t03"), table_name_of("by-the-door")
    ('Table 3', 'by-the-door')
    """
    return f"Table {int(account[1:])}" if re.fullmatch("t[0-9]{1,4}", account) else account


class TableSection(Section):
    """The table itself."""

    name: fields.Name = Field(
        default=DEFAULT_TABLE_NAME, description="the name of this table in the hall and at the tournament"
    )
    journal: fields.File = Field(
        default=Path("table.sqlite"),
        description="the file of the journal, which stores the game: keep it on a reliable disk",
    )
    damaged: Literal["recover", "stop"] = Field(
        default="recover",
        description='with a damaged journal: "recover" continues with its proven records, "stop" does not start',
    )


class WebSection(Section):
    """The live page."""

    enabled: bool = Field(default=True, description="serve pages")
    host: fields.WebHost = Field(
        default="127.0.0.1", description='"127.0.0.1": this machine only, "0.0.0.0": everyone on the network'
    )
    port: int = Field(default=8080, ge=0, le=65535, description="0: any free port")
    hosts: fields.Hosts = Field(
        default=(), description="additional host names of the pages, besides this machine's own in a local network"
    )
    proxy: fields.IpAddress = Field(
        default="",
        description="address of a TLS proxy: X-Forwarded-For and X-Forwarded-Proto are trusted only from there",
    )
    address: fields.Address = Field(
        default="", description="address of the pages in the QR codes; empty: this machine's own name and address"
    )
    event: fields.Words = Field(default="", description="name of the event, above the scoreboard for the room")
    words: fields.Words = Field(default="", description="a text from the community, below the scoreboard and on /find")
    language: fields.Language = Field(
        default="en", description="language of the sentences; called words stay in the game's own language"
    )
    embed: fields.Origins = Field(
        default=(),
        description="sites that may show the public pages inside their own, and read /view.json; empty: none",
    )
    judges: bool = Field(default=False, description="judges can sign in at /judge on any device and enter what happens")
    idle_min: int = Field(
        default=30, ge=1, le=720, description="minutes without activity until a judge must sign in again"
    )


class MarksSection(Section):
    """The host's own marks, on the public pages and on paper. None by default."""

    name: fields.OptionalName = Field(
        default="", description="who invites: a community, a museum, a club; empty: no marks"
    )
    ground: fields.Colour = Field(default="", description="colour behind the name; empty: the page's own")
    ink: fields.Colour = Field(default="", description="colour of the name; empty: the page's own")
    images: fields.Images = Field(
        default=(),
        description="up to two images (PNG or JPEG) beside the name; show what is a community's only with its consent",
    )

    @model_validator(mode="after")
    def _check_marks(self) -> MarksSection:
        found: list[SettingsIssue] = []
        if (self.ground or self.ink or self.images) and not self.name:
            found.append(SettingsIssue(("name",), "is missing: name the host whose marks these are"))
        if bool(self.ground) != bool(self.ink):
            missing = "ink" if self.ground else "ground"
            found.append(SettingsIssue((missing,), "is missing: name both colours or none"))
        elif self.ground and (ratio := fields.contrast(self.ground, self.ink)) < MIN_CONTRAST:
            words = mark("is hard to read on that background (contrast {ratio}): at least {least} is needed")
            found.append(SettingsIssue(("ink",), words, least=MIN_CONTRAST, ratio=f"{ratio:.1f}"))
        raise_issues(found)
        return self


class RecordingSection(Section):
    """Recording of sensor readings. Off by default."""

    hits: bool = Field(
        default=False, description="keep the pads' signals around each hit, for 'moccasin-mat game review JOURNAL'"
    )
    sensors: bool = Field(
        default=False, description="keep every reading of the mat, for 'moccasin-mat game replay FILE --sensors'"
    )
    folder: fields.Folder = Field(default=Path("recordings"), description="where recordings go; about 80 MB an hour")
    keep_days: int = Field(default=30, ge=1, le=3650, description="days until a recording or a game's hits are deleted")
    max_mb: int = Field(
        default=1000,
        ge=10,
        le=1000000,
        description="maximum size in MB of all recordings, and of all hits; the oldest are deleted first",
    )


class BackupSection(Section):
    """A copy of the journal on another disk, such as a USB stick, updated during play. Off by default."""

    folder: fields.OptionalFolder = Field(default="", description="an existing folder for the copy; empty: no copy")
    every_s: float = Field(default=60.0, ge=1.0, le=3600.0, description="minimum seconds between two copies")


class HubSection(Section):
    """The tournament's hub, which keeps a second copy of every table's journal. 'moccasin-mat hub join' writes this."""

    address: fields.HostOrNone = Field(default="", description="address of the hub; empty: no hub")
    port: int = Field(default=8443, ge=1, le=65535, description="the port of its encrypted pages")
    table: fields.ShortName = Field(default="", description="name of this table at the hub")
    token_file: fields.OptionalFile = Field(default="", description="the file with this table's token")
    ca: fields.OptionalFile = Field(default="", description="the venue's certificate")

    @model_validator(mode="after")
    def _check_complete(self) -> HubSection:
        needed = ("table", "token_file", "ca") if self.address else ()
        raise_issues(
            [SettingsIssue((key,), "is missing: join the hub again") for key in needed if not getattr(self, key)]
        )
        return self


class ObserversSection(Section):
    """Other installed packages that get what the pages show. None by default."""

    load: fields.Observers = Field(default=(), description="their names; the pages for developers say how to write one")


class GameSection(Section):
    """The game. [game.options] has the options of its rule set: 'moccasin-mat score GAME --help' lists them."""

    name: str = Field(default=registry.DEFAULT_GAME, description="the rule set")
    options: fields.Options = Field(default_factory=dict[str, str], description="The options of the rule set.")

    def list_options(self, key: str) -> Sequence[Option]:  # noqa: ARG002
        """Return the options of the rule set."""
        return registry.game_class(self.name).options

    @model_validator(mode="after")
    def _check_game(self) -> GameSection:
        raise_issues(_find_game_issues(self.name, self.options))
        return self


def has_single_players(game: str) -> bool:
    """Return whether `game`, a name of the registry, is played by single players, named by an option, not by teams."""
    return any(option.name == "players" for option in registry.game_class(game).options)


class TeamsSection(Section):
    """The teams' names."""

    a: fields.Name = Field(default="A", description="the team at A")
    b: fields.Name = Field(default="B", description="the team at B")


class RefereeSection(Section):
    """How the mat watches a hide."""

    check_timeout_s: float = Field(
        default=3.0,
        ge=referee.CHECK_TIMEOUT_RANGE_S[0],
        le=referee.CHECK_TIMEOUT_RANGE_S[1],
        description="seconds after ready until a bead that was not found at rest becomes a question to the judge",
    )
    round_pause_s: float = Field(
        default=2.0,
        ge=referee.ROUND_PAUSE_RANGE_S[0],
        le=referee.ROUND_PAUSE_RANGE_S[1],
        description="seconds without a hand under a pad after which the hiders' next hand begins a new round",
    )
    beads: referee.BeadSource = Field(
        default="mat",
        description='"mat": the mat locates the bead, "judge": the judge confirms each hit (always with port = "pins")',
    )
    nearest: fields.Pads = Field(
        default=(),
        description="if several pads are struck at once, the first in this list counts; empty: the judge decides",
    )
    singer: referee.Singer = Field(
        default="off",
        description='"reminder": remind the judge before the toss to ask for each team\'s singer (chapter 12)',
    )
    preset: referee.Preset = Field(default="home", description="defaults for [referee.fouls] and [referee.answers]")
    answer_within_s: float = Field(
        default=20.0,
        ge=referee.ANSWER_WITHIN_RANGE_S[0],
        le=referee.ANSWER_WITHIN_RANGE_S[1],
        description="seconds until [referee.answers] answers an open question",
    )
    fouls: fields.Exceptions = Field(
        default_factory=dict[str, str],
        description="What happens at a foul that the mat can feel, if the preset does not fit: call it (automatic), "
        "ask the judge (ask), or ignore it (off).",
    )
    answers: fields.Exceptions = Field(
        default_factory=dict[str, str],
        description="The answer that counts if nobody answers a question in time, if the preset does not fit; "
        '"wait" keeps the question open.',
    )

    def list_options(self, key: str) -> Sequence[Choice]:
        """Return the fouls or the questions, with the preset's choice as the default."""
        if key == "fouls":
            modes = referee.preset_modes(self.preset)
            return [Choice(kind, modes[kind], foul.about, MODES) for kind, foul in referee.FOUL_TREATMENTS.items()]
        answers = referee.preset_answers(self.preset)
        return [
            Choice(about, answers[about], question.about, referee.possible_answers(about))
            for about, question in referee.QUESTION_DEFAULTS.items()
        ]

    @model_validator(mode="after")
    def _check_exceptions(self) -> RefereeSection:
        raise_issues(
            issue
            for key, chosen in (("fouls", self.fouls), ("answers", self.answers))
            for issue in _find_exception_issues(key, chosen, {one.name: one for one in self.list_options(key)})
        )
        return self


def _find_exception_issues(key: str, chosen: Mapping[str, str], known: Mapping[str, Choice]) -> Iterator[SettingsIssue]:
    for name, value in chosen.items():
        if name not in known:
            yield SettingsIssue((key, name), "there is no such key{near}", near=did_you_mean(name, known))
            continue
        if value not in known[name].choices:
            near = did_you_mean(str(value), known[name].choices)
            yield SettingsIssue(
                (key, name),
                "must be {allowed}, not {value}{near}",
                allowed=known[name].allowed,
                value=format_value(value),
                near=near,
            )


def _find_game_issues(name: str, options: dict[str, str]) -> list[SettingsIssue]:
    """Return the issues of a game's name and options: each option alone, then all together."""

    def try_options(keys: fields.Keys, chosen: dict[str, str]) -> list[SettingsIssue]:
        try:
            registry.game(name, chosen)
        except UsageError as error:
            return [SettingsIssue(keys, Sentence.concat("; ", filter(None, error.sentences)))]
        return []

    if unknown := try_options(("name",), {}):
        return unknown
    found = [issue for key, text in options.items() for issue in try_options(("options", key), {key: text})]
    return found or try_options(("options",), options)


ALL_MAGNETOMETERS = 24
MIN_DEPTH_OF_FEW_MM = 28.0
"""With fewer than all in a flatter mat, a bead between them is not read on its pad."""


class BoardSection(Section):
    """The mat board on USB, or the sensors on the Pi's own pins."""

    # one key, so that no two can contradict each other: "none" was said here already
    port: fields.BoardPort = Field(
        default="auto", description='"auto" finds the board, "pins" are the Pi\'s own, "none": the judge\'s console'
    )
    profile: fields.Profile = Field(
        default="",
        description="the mat's profile by 'moccasin-mat mat calibrate', in this file's folder; empty: without one",
    )
    magnetometers: Literal[24, 16, 12, 8] = Field(
        default=24, description="how many the mat has; with 12 or 8 a second or moved bead is always a question"
    )
    depth_mm: float = Field(
        default_factory=lambda: pinmap().magnetometers.depth_mm,
        ge=10.0,
        le=40.0,
        description="how deep its magnetometers lie below the cover's top; 18 in a flat mat",
    )
    write_timeout_s: float = Field(
        default=0.5, ge=0.05, le=5.0, description="seconds until a board that accepts no data counts as lost"
    )


class SecondBoardSection(BoardSection):
    """The board of the mat in front of B, if each team has one."""

    port: fields.Port = Field(
        default="none", description="with two boards plugged in, name both: 'moccasin-mat mat ports' lists them"
    )


class MatSection(Section):
    """The place of the mat: one between the teams, or one in front of each team ([board] for A, [board_b] for B)."""

    seats: Seats = Field(
        default="turn",
        description='"turn": A at the near edge, B at the far one; "stay": hiders at the near edge; "each": two mats',
        json_schema_extra={"takes": "one of these, in quotes"},
    )


class StripsSection(Section):
    """The light strips."""

    kind: fields.StripDriver = Field(
        default="none",
        description="pixels on a pin, on the mat's board, of a WLED controller, or in memory only",
    )
    pin: fields.Pin = Field(
        default_factory=lambda: pinmap().pi.strip_pin,
        description="BCM number; up to the Pi 4 all except 10 need root, which the service does not have",
    )
    address: fields.HostOrNone = Field(
        default="", description='the controller\'s name or number in the network, with kind = "wled"'
    )
    brightness: float = Field(default=0.5, ge=0.0, le=1.0, description="1.0 is full brightness")
    current_cap_ma: float = Field(
        default=2000.0,
        ge=100.0,
        le=20000.0,
        description="maximum current of all pixels in mA; stay below the supply and the fuse",
    )
    scene: fields.Scene = Field(
        default="", description="what the strips show: the scene of an installed package; empty: the sticks"
    )

    @model_validator(mode="after")
    def _check_address(self) -> StripsSection:
        missing = self.kind == "wled" and not self.address
        raise_issues([SettingsIssue(("address",), "is missing: name the WLED controller")] if missing else [])
        return self


def _mapped_pin(button: str) -> Callable[[], int]:
    """Return a function that reads the button's pin from the pin map."""
    return lambda: pinmap().pi.buttons[button]


class ButtonPins(Section):
    """BCM numbers; connect each button between its pin and ground. 0 means no button, if allowed."""

    ready: fields.PinOrNone = Field(
        default_factory=_mapped_pin("ready"), description="the hider: the bead is hidden; 0: no button"
    )
    ready_a: fields.PinOrNone = Field(default=0, description="ready for team A only: a tournament's default")
    ready_b: fields.PinOrNone = Field(default=0, description="ready for team B only: a tournament's default")
    shown: fields.Pin = Field(default_factory=_mapped_pin("shown"), description="the hider: the bead was shown")
    toss_a: fields.Pin = Field(default_factory=_mapped_pin("toss_a"), description="the judge: A won the toss")
    toss_b: fields.Pin = Field(default_factory=_mapped_pin("toss_b"), description="the judge: B won the toss")
    left: fields.PinOrNone = Field(default=0, description="slahal, the guesser's left")
    right: fields.PinOrNone = Field(default=0, description="slahal, the guesser's right")
    inside: fields.PinOrNone = Field(default=0, description="slahal, the inside hands")
    outside: fields.PinOrNone = Field(default=0, description="slahal, the outside hands")

    def list_connected(self, *, each_team_ready: bool) -> dict[str, int]:
        """Return the pins in use by name; `each_team_ready`: each team has a ready button, if no pin of one is set."""
        pins = dict(self)
        if each_team_ready and not self.model_fields_set & {"ready", "ready_a", "ready_b"}:
            pins |= {"ready": 0} | pinmap().pi.team_buttons
        return {name: pin for name, pin in pins.items() if pin}

    @model_validator(mode="after")
    def _check_pins_differ(self) -> ButtonPins:
        first: dict[int, str] = {}
        found: list[SettingsIssue] = []
        for key in type(self).model_fields:
            pin = getattr(self, key)
            if pin == 0:
                continue
            if pin in first:
                found.append(SettingsIssue((key,), "pin {pin} is taken by {first}", pin=pin, first=first[pin]))
            first.setdefault(pin, key)
        raise_issues(found)
        return self


class ButtonsSection(Section):
    """The buttons at the mat."""

    kind: fields.ButtonDriver = Field(default="none", description='"pi" reads buttons on pins')
    settle_ms: float = Field(
        default=20.0, ge=1.0, le=500.0, description="milliseconds after its release until a button can be pressed again"
    )
    pins: ButtonPins = Field(default_factory=ButtonPins)


class StrikesSection(Section):
    """Strike detection. The defaults are the detector's own."""

    sensor: Literal["piezo", "fsr"] = Field(
        default="piezo", description="the hit sensors: piezo discs, or force-sensing resistors"
    )
    threshold_db: float = Field(
        default=_STRIKES.peak_db,
        ge=THRESHOLD_DB[0],
        le=THRESHOLD_DB[1],
        description="minimum level of a strike above the pad's noise, in dB",
    )
    dominance_db: float = Field(
        default=_STRIKES.dominance_db,
        ge=0.0,
        le=40.0,
        description="minimum level of a strike above the other pads, in dB",
    )
    lockout_ms: float = Field(
        default=_STRIKES.lockout_s * 1000,
        ge=LOCKOUT_S[0] * 1000,
        le=LOCKOUT_S[1] * 1000,
        description="milliseconds after a strike in which no other strike counts",
    )

    def detector_settings(self) -> StrikeSettings:
        """Return the detector's settings: a higher threshold raises each comparison in time by as much."""
        own, more = SETTINGS_BY_SENSOR[self.sensor], self.threshold_db - _STRIKES.peak_db
        return replace(
            own,
            peak_db=own.peak_db + more,
            mean_db=own.mean_db + more,
            rise_db=own.rise_db + more,
            stand_db=own.stand_db + more,
            dominance_db=own.dominance_db + self.dominance_db - _STRIKES.dominance_db,
            lockout_s=self.lockout_ms / 1000,
        )


def _find_range_issues(section: Section, begins: str, ends: str) -> list[SettingsIssue]:
    """Return the issues of a range by its keys: it has both ends or none, and two times of day differ."""
    first, last = getattr(section, begins), getattr(section, ends)
    if bool(first) != bool(last):
        key, other = (ends, begins) if first else (begins, ends)
        return [SettingsIssue((key,), "is missing: it is required with {key}", key=other)]
    if first and first == last and ":" in first:
        return [SettingsIssue((ends,), "is the same time as {key}: leave out both, or give two times", key=begins)]
    return []


class VoiceSection(Section):
    """Sound: recordings of the words called at the table. Off by default."""

    folder: fields.OptionalFolder = Field(
        default="",
        description="folder of recordings, as dakota/paguga.wav; empty: none; 'moccasin-mat words list' lists them",
    )
    english: bool = Field(
        default=False, description="speak the score and plain sentences, in English only (apt install espeak-ng)"
    )
    device: fields.SoundDevice = Field(default="default", description="the loudspeaker, as 'aplay -L' lists it")
    volume: float = Field(default=0.8, ge=0.0, le=1.0, description="the largest plays recordings at their own volume")
    quiet_volume: float = Field(default=0.3, ge=0.0, le=1.0, description="maximum volume in the quiet hours")
    quiet_from: fields.Hour = Field(default="", description="start of the quiet hours; empty: none")
    quiet_to: fields.Hour = Field(default="", description="end of the quiet hours; may be after midnight")

    @model_validator(mode="after")
    def _check_quiet_hours(self) -> VoiceSection:
        raise_issues(_find_range_issues(self, "quiet_from", "quiet_to"))
        return self

    @property
    def is_audible(self) -> bool:
        """True if recordings or English sentences are played."""
        return bool(self.folder or self.english)

    def volume_at(self, now: time) -> float:
        """Return the volume (0 to 1) at the local time `now`."""
        if not self.quiet_from:
            return self.volume
        quiet = is_between(now, time.fromisoformat(self.quiet_from), time.fromisoformat(self.quiet_to))
        return min(self.volume, self.quiet_volume) if quiet else self.volume


class ExhibitSection(Section):
    """The unattended installation for visitors: 'moccasin-mat exhibit'."""

    mat: MatKind = Field(
        default="screen",
        description='"screen": touch screen only, "sensors": on the mat, "eye": on cloths without sensors',
    )
    points: int = Field(default=1, ge=1, le=5, description="short sticks that end a session's game")
    hides: int = Field(default=12, ge=1, le=60, description="maximum number of hides in a session's game")
    opponent: Literal["habits", "random"] = Field(
        default="habits", description="how the mat guesses: by this visitor's habits, which it forgets, or by chance"
    )
    languages: fields.Languages = Field(
        default=("en",), description="offered on every screen; the first one is the default"
    )
    touch: Literal["here", "network"] = Field(
        default="here",
        description='"here": only a browser on this machine can play, "network": any browser that opens the page',
    )
    four_buttons: bool = Field(
        default=False,
        description="toss_a, toss_b, ready and shown of [buttons.pins] are four large buttons that choose 1 to 4",
    )
    folder: fields.OptionalFolder = Field(
        default="",
        description="the host's texts.toml and pictures; empty: none; 'moccasin-mat exhibit --check' checks them",
    )
    answer_s: float = Field(
        default=30.0, ge=5, le=600, description="seconds until an open choice is made automatically"
    )
    ask_after_s: float = Field(
        default=40.0,
        ge=5,
        le=600,
        description="seconds without a touch until visitors are asked if they are still there",
    )
    leave_after_s: float = Field(
        default=20.0, ge=5, le=600, description="seconds after that until the installation returns to the start"
    )
    longest_min: float = Field(
        default=15.0, ge=1, le=240, description="maximum minutes of a session, so that others have a turn"
    )
    opens: fields.Hour = Field(default="", description="start of the opening hours; empty: always open")
    closes: fields.Hour = Field(default="", description="end of the opening hours; may be after midnight")
    dim_from: fields.Hour = Field(default="", description="start of dimmed lights and page; empty: never")
    dim_to: fields.Hour = Field(default="", description="end of dimmed lights and page; may be after midnight")
    dim_lights: float = Field(
        default=0.3, ge=0.0, le=1.0, description="maximum brightness of the light strips while dimmed"
    )
    dim_page: float = Field(default=0.6, ge=0.1, le=1.0, description="brightness of the page while dimmed")
    self_test: fields.TestHour = Field(
        default="", description='time of the nightly self-test; empty: in the middle of the closed hours; "off": never'
    )
    season_from: fields.Day = Field(
        default="", description="the first day of the season in which the game is played here"
    )
    season_to: fields.Day = Field(default="", description="the last day of that season; empty: all year")
    record: bool = Field(default=False, description="keep each session's game beside the table's journal")
    keep_days: int = Field(default=30, ge=1, le=3650, description="days until a recorded game is removed")
    keep_mb: int = Field(
        default=200,
        ge=1,
        le=100_000,
        description="maximum size of all recorded games in MB; the oldest are removed first",
    )
    usage: bool = Field(default=False, description="count sessions and their length, on this machine only")
    heartbeat: fields.Url = Field(
        default="", description="an uptime monitor, called with the state every five minutes; empty: none"
    )

    @model_validator(mode="after")
    def _check_pairs(self) -> ExhibitSection:
        pairs = (("opens", "closes"), ("dim_from", "dim_to"), ("season_from", "season_to"))
        raise_issues(issue for pair in pairs for issue in _find_range_issues(self, *pair))
        return self

    def is_open_at(self, now: time) -> bool:
        """Return whether the local time `now` is in the opening hours."""
        return not self.opens or is_between(now, time.fromisoformat(self.opens), time.fromisoformat(self.closes))

    def is_dimmed_at(self, now: time) -> bool:
        """Return whether lights and page are dimmed at the local time `now`."""
        begins = self.dim_from
        return bool(begins) and is_between(now, time.fromisoformat(begins), time.fromisoformat(self.dim_to))

    @property
    def self_test_hour(self) -> time | None:
        """Local time of the nightly self-test; None for never."""
        if self.self_test == "off" or not (self.self_test or self.opens):
            return None
        if self.self_test:
            return time.fromisoformat(self.self_test)
        closes, opens = (60 * one.hour + one.minute for one in map(time.fromisoformat, (self.closes, self.opens)))
        middle = (closes + (opens - closes) % MINUTES_A_DAY // 2) % MINUTES_A_DAY
        return time(middle // 60, middle % 60)

    def is_in_season(self, day: date) -> bool:
        """Return whether the game is played on `day`."""
        if not self.season_from:
            return True
        today = f"{day:%m-%d}"
        if self.season_from <= self.season_to:
            return self.season_from <= today <= self.season_to
        return today >= self.season_from or today <= self.season_to


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
    marks: MarksSection = Field(default_factory=MarksSection)
    voice: VoiceSection = Field(default_factory=VoiceSection)
    strikes: StrikesSection = Field(default_factory=StrikesSection)
    recording: RecordingSection = Field(default_factory=RecordingSection)
    backup: BackupSection = Field(default_factory=BackupSection)
    referee: RefereeSection = Field(default_factory=RefereeSection)
    hub: HubSection = Field(default_factory=HubSection)
    observers: ObserversSection = Field(default_factory=ObserversSection)
    exhibit: ExhibitSection = Field(default_factory=ExhibitSection)

    @property
    def for_mat_b(self) -> Settings:
        """These settings for the mat in front of B, if each team has one: [board_b] takes the place of [board]."""
        return self.model_copy(update={"board": self.board_b})

    @property
    def magnetometers(self) -> int:
        """The number of magnetometers that confirm the bead; 0 if the judge does, or the mat has no board."""
        return 0 if self.referee.beads == "judge" or self.board.port == "pins" else self.board.magnetometers

    @property
    def button_pins(self) -> dict[str, int]:
        """The pins of the buttons that are there, by name."""
        return self.buttons.pins.list_connected(each_team_ready=self.referee.preset in referee.TEAM_READY_PRESETS)

    def referee_settings(self, options: Mapping[str, object]) -> referee.RefereeSettings:
        """Return the referee's settings. The time for a hit is one of the game's `options` (`Game.settings`)."""
        seconds = options.get("hit_seconds")
        return referee.RefereeSettings(
            fouls=cast("Mapping[str, referee.Mode]", self.referee.fouls),  # checked by `_check_exceptions`
            magnetometers=self.board.magnetometers,
            preset=self.referee.preset,
            check_timeout_s=self.referee.check_timeout_s,
            round_pause_s=self.referee.round_pause_s,
            hit_seconds=float(seconds) if isinstance(seconds, int | float) else None,
            nearest=self.referee.nearest,
            answers=self.referee.answers,
            answer_within_s=self.referee.answer_within_s,
            beads="judge" if self.board.port == "pins" else self.referee.beads,  # those pins have no magnetometers
        )

    def find_conflicts(self, faulty: Collection[str] = ()) -> list[SettingsIssue]:
        """Return the conflicts between sections. Sections in `faulty` are not checked."""
        checks = (
            (_find_pin_conflicts, {"strips", "buttons", "board", "referee"}),
            (_find_mat_conflicts, {"mat", "board", "board_b", "recording"}),
            (_find_team_conflicts, {"game", "teams"}),
        )
        return [issue for find, sections in checks if sections.isdisjoint(faulty) for issue in find(self)]


def _find_pin_conflicts(settings: Settings) -> Iterator[SettingsIssue]:
    strips, buttons, board = settings.strips, settings.buttons, settings.board
    taken: dict[int, str] = {}
    if strips.kind == "board" and board.port in {"none", "pins"}:
        yield SettingsIssue(("strips", "kind"), 'is the board\'s, but [board] port is "{port}"', port=board.port)
    if board.port == "pins":
        pi = pinmap().pi
        taken |= dict.fromkeys(pi.mcp3008.pins, "the MCP3008") | dict.fromkeys(pi.mpr121.pins, "the MPR121")
    if strips.kind == "pi":
        if strips.pin in taken:
            words = mark("pin {pin} is taken by {taken}; 18 is free, but needs root on a Pi up to 4")
            yield SettingsIssue(("strips", "pin"), words, pin=strips.pin, taken=taken[strips.pin])
        taken.setdefault(strips.pin, Sentence("the light strips"))
    if buttons.kind == "pi":
        for key, pin in settings.button_pins.items():
            if pin in taken:
                yield SettingsIssue(
                    ("buttons", "pins", key), "pin {pin} is taken by {taken}", pin=pin, taken=taken[pin]
                )


def _find_mat_conflicts(settings: Settings) -> Iterator[SettingsIssue]:
    """Yield boards and recordings that do not fit the number of mats."""
    boards = (("board", settings.board), ("board_b", settings.board_b))
    for name, board in boards:
        if board.depth_mm < MIN_DEPTH_OF_FEW_MM and board.magnetometers < ALL_MAGNETOMETERS:
            words = mark("must be at least {least} with fewer than {all} magnetometers")
            yield SettingsIssue((name, "depth_mm"), words, least=f"{MIN_DEPTH_OF_FEW_MM:g}", all=ALL_MAGNETOMETERS)
    if settings.mat.seats != "each":
        if settings.board_b.port != "none":
            yield SettingsIssue(("board_b", "port"), 'is used only if [mat] seats = "each"')
        return
    searched = [name for name, board in boards if board.port == "auto"]
    for name in searched:
        yield SettingsIssue((name, "port"), 'must be "none" or the path of one board: there are two')
    if settings.board.port == settings.board_b.port != "none" and not searched:
        yield SettingsIssue(("board_b", "port"), "is already the board in [board]")
    for key in ("hits", "sensors"):
        if getattr(settings.recording, key):
            yield SettingsIssue(("recording", key), "is not possible with two mats yet: leave it false")


def _find_team_conflicts(settings: Settings) -> Iterator[SettingsIssue]:
    """Yield an issue for each team name in a game without teams."""
    game = settings.game.name
    if not has_single_players(game):
        return
    default = TeamsSection()
    for key, name in settings.teams:
        if name != getattr(default, key):
            words = mark('has no effect in {game}: name the players, [game.options] players = "Ann, Bo"')
            yield SettingsIssue(("teams", key), words, game=game)
