"""Paths of an installation: a system service or a user's own; below another root for images and tests."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pi_controller.errors import MatError

NAME = "moccasin-mat"
"""Of the service, its user, its folders."""
UNIT = f"{NAME}.service"
SYSTEM_UNITS = Path("/etc/systemd/system")
SETTINGS = "table.toml"
SYSTEM_SETTINGS = Path("/etc") / NAME / SETTINGS
"""The settings of the machine's own table, which the verbs look for."""
PROGRAMS = Path("/var/lib") / f"{NAME}-program"
"""Versions that came as signed updates."""
SIGNERS = Path("/etc") / NAME / "update_signers"
"""The keys that may sign updates and resets."""
RESETS = Path("/etc") / NAME / "reset"
"""What is known of resets: the number of the next one, one that was accepted, what came of the last."""
SET_ASIDE = "set-aside"
"""In there: the digest of the boot partition's settings that are not taken any more."""
FIRST_SETTINGS = Path("/usr/local/share") / NAME / "first-table.toml"
"""The settings of the first start, where they are not those that `setup` writes."""

ResetPart = Literal["settings", "texts", "people", "usage", "journals", "calibration"]
RESET_PARTS: tuple[ResetPart, ...] = get_args(ResetPart)
USUALLY_RESET = RESET_PARTS[:-1]
"""What is reset where nothing else is said: the calibration belongs to the mat, not to whoever has it."""


class SetupError(MatError, RuntimeError):
    """The installation cannot be made, or not be taken back."""

    code = "setup"


@dataclass(frozen=True)
class Place:
    """The paths of an installation as the running machine will see them; `on_disk` puts them below `root`.

    `program` is the command of this installation of the package.
    """

    system: bool
    program: Path
    home: Path
    root: Path = Path("/")

    @property
    def live(self) -> bool:
        """Whether it is this very machine, where services can be started, and no image."""
        return self.root == Path("/")

    @property
    def settings_folder(self) -> Path:
        """Where the settings, the mat's profiles and the list of what was written are kept."""
        return SYSTEM_SETTINGS.parent if self.system else self.home / ".config" / NAME

    @property
    def settings(self) -> Path:
        """The table's settings."""
        return self.settings_folder / SETTINGS

    @property
    def manifest(self) -> Path:
        """The list of what was written. The service may not write it: root goes by it."""
        return self.settings_folder / "setup.json"

    @property
    def state(self) -> Path:
        """Where the journal and the recordings are kept."""
        return Path("/var/lib") / NAME if self.system else self.home / ".local/share" / NAME

    @property
    def units(self) -> Path:
        """The folder of the unit."""
        return SYSTEM_UNITS if self.system else self.home / ".config/systemd/user"

    @property
    def unit(self) -> Path:
        """The unit's file."""
        return self.units / UNIT

    @property
    def wanted(self) -> Path:
        """The link by which the service starts with the machine."""
        return self.units / f"{'multi-user' if self.system else 'default'}.target.wants" / UNIT

    def on_disk(self, path: Path) -> Path:
        """Return where `path` is written."""
        return self.root / path.relative_to("/")


def place(*, system: bool, root: Path | None = None) -> Place:
    """Return the place for this program; `SetupError` where it was not installed as a command."""
    program = Path(sys.executable).with_name(NAME)
    if not os.access(program, os.X_OK):
        raise SetupError(f"there is no command {program} to start", "install the package with pip, in a venv")
    return Place(system, program, Path.home(), root.resolve() if root else Path("/"))
