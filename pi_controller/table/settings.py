"""The settings of one table: a TOML file, strictly read. A section is a class here, a key a field with its unit.

What is not written keeps its default, and the defaults play: no pin is touched until a file says that there are lights
or buttons. An unknown key, a wrong type, a value out of bounds: all are told at once, each with its line. Relative
paths are counted from the file's own folder, wherever the program is that reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from pi_controller.errors import SettingsError
from pi_controller.languages import is_file
from pi_controller.pinmap import pinmap
from pi_controller.referee.settings import TOURNAMENT, RefereeSettings
from pi_controller.table.settings_exhibit import ExhibitSection
from pi_controller.table.settings_fields import Section
from pi_controller.table.settings_file import Fault, read_model
from pi_controller.table.settings_game import (
    ChancesSection,
    GameSection,
    RefereeSection,
    TeamsSection,
    named_by_players,
)
from pi_controller.table.settings_hardware import (
    BoardSection,
    ButtonsSection,
    MatSection,
    SecondBoardSection,
    StrikesSection,
    StripsSection,
)
from pi_controller.table.settings_table import BackupSection, HubSection, RecordingSection, TableSection, WebSection
from pi_controller.table.settings_voice import VoiceSection

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMER = {("web", "odds"): "chances", ("odds",): "chances"}
"""Keys and sections by the names they once had."""


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
    voice: VoiceSection = Field(default_factory=VoiceSection)
    chances: ChancesSection = Field(default_factory=ChancesSection)
    strikes: StrikesSection = Field(default_factory=StrikesSection)
    recording: RecordingSection = Field(default_factory=RecordingSection)
    backup: BackupSection = Field(default_factory=BackupSection)
    referee: RefereeSection = Field(default_factory=RefereeSection)
    hub: HubSection = Field(default_factory=HubSection)
    exhibit: ExhibitSection = Field(default_factory=ExhibitSection)

    @property
    def before_b(self) -> Settings:
        """These settings for the mat before B, where each team has one: its board is [board] there."""
        return self.model_copy(update={"board": self.board_b})

    def in_folder(self, folder: Path) -> Settings:
        """Return these settings with their relative paths counted from `folder`."""

        def there(path: str) -> str:
            return str(folder / Path(path).expanduser()) if path else path

        web, language, hub, exhibit = self.web, self.web.language, self.hub, self.exhibit
        languages = tuple(there(one) if is_file(one) else one for one in exhibit.languages)
        return self.model_copy(
            update={
                "table": self.table.model_copy(update={"journal": folder / self.table.journal}),
                "recording": self.recording.model_copy(update={"folder": folder / self.recording.folder}),
                "backup": self.backup.model_copy(update={"folder": there(self.backup.folder)}),
                "voice": self.voice.model_copy(update={"folder": there(self.voice.folder)}),
                "hub": hub.model_copy(update={"password_file": there(hub.password_file), "ca": there(hub.ca)}),
                "exhibit": exhibit.model_copy(update={"folder": there(exhibit.folder), "languages": languages}),
                "web": web.model_copy(update={"language": there(language) if is_file(language) else language}),
            }
        )

    def referee_settings(self, options: Mapping[str, object]) -> RefereeSettings:
        """Return what the referee is given. The time for a hit is one of the game's `options` (`Game.settings`)."""
        seconds = options.get("hit_seconds")
        return RefereeSettings(
            fouls=self.referee.fouls.model_dump(),
            preset=self.referee.preset,
            check_timeout_s=self.referee.check_timeout_s,
            hit_seconds=float(seconds) if isinstance(seconds, int | float) else None,
            nearest=self.referee.nearest,
            answers=self.referee.answers.model_dump(),
            answer_within_s=self.referee.answer_within_s,
            beads="judge" if self.board.port == "pins" else self.referee.beads,  # those pins have no magnetometers
        )


def load(path: Path | str) -> Settings:
    """Return the settings in the TOML file `path`, with their paths as this program finds them.

    `SettingsError` lists every fault with its line, or names a journal that would no longer be found: paths were once
    counted from the current folder.
    """
    path = Path(path)
    written = read_model(path, Settings, also=clashes, former=_FORMER)
    settings = written.in_folder(path.parent)
    journal, former = settings.table.journal, written.table.journal
    if not journal.exists() and former.exists() and not former.is_absolute():
        raise SettingsError(
            f"{path}: there is no journal {journal}, but one in the current folder: {former.absolute()}",
            "relative paths are counted from the settings' own folder: move it there, or write [table] journal in full",
        )
    return settings


def clashes(data: dict[str, Any]) -> list[Fault]:
    """Return what is amiss between the sections of the file `data`."""
    return [*_pin_clashes(data), *_mat_clashes(data), *_chances_at_a_tournament(data), *_teams_of_players(data)]


def _chances_at_a_tournament(data: dict[str, Any]) -> list[Fault]:
    """Return a fault where chances of winning, a learning aid, would be shown at a tournament."""
    try:
        web = WebSection.model_validate(data.get("web", {}))
        referee = RefereeSection.model_validate(data.get("referee", {}))
    except ValidationError:
        return []
    if not web.chances or referee.preset not in TOURNAMENT:
        return []
    return [Fault(("web", "chances"), f'must be false where [referee] preset is "{referee.preset}"')]


def _teams_of_players(data: dict[str, Any]) -> list[Fault]:
    """Return a fault for each team that is named where players play, each alone: nobody would ever read it."""
    try:
        name = GameSection.model_validate(data.get("game", {})).name
        teams = TeamsSection.model_validate(data.get("teams", {}))
    except ValidationError:
        return []
    if not named_by_players(name):
        return []
    usual = TeamsSection()
    return [
        Fault(("teams", key), f'is of no use in {name}: name the players, [game.options] players = "Ann, Bo"')
        for key, named in teams
        if named != getattr(usual, key)
    ]


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
        pi = pinmap().pi
        taken |= dict.fromkeys(pi.mcp3008.pins, "the MCP3008") | dict.fromkeys(pi.mpr121.pins, "the MPR121")
    if strips.kind == "pi":
        if strips.pin in taken:
            todo = "18 is free, but needs root on a Pi up to 4"
            found.append(Fault(("strips", "pin"), f"pin {strips.pin} is taken by {taken[strips.pin]}; {todo}"))
        taken.setdefault(strips.pin, "the light strips")
    if buttons.kind == "pi":
        found += [
            Fault(("buttons", "pins", key), f"pin {pin} is taken by {taken[pin]}")
            for key, pin in buttons.pins
            if pin in taken
        ]
    return found
