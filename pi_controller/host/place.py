"""Paths of an installation: a system service or a user's own; below another root for images and tests."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from pi_controller.errors import MatError
from pi_controller.host.platform import home_folder

NAME = "moccasin-mat"
"""Name of the service, its user and its folders."""
LOCAL_TABLE = "http://127.0.0.1:8080"
"""Address of a table's pages on its own machine, by default."""
UNIT = f"{NAME}.service"
HUB_UNIT = f"{NAME}-hub.service"
"""On a card: the hub of a tournament."""
SYSTEM_UNITS = Path("/etc/systemd/system")
SETTINGS = "table.toml"
SYSTEM_SETTINGS = Path("/etc") / NAME / SETTINGS
"""Settings of the machine's own table; the default settings of the verbs."""
PROGRAMS = Path("/var/lib") / f"{NAME}-program"
"""Folder of versions installed by signed updates."""
SIGNERS = Path("/etc") / NAME / "update_signers"
"""Public keys that may sign updates."""
SET_CLOCK_REQUEST = "set-clock"
"""File in the service's run folder with the time to set, seconds since 1970."""
KEYS_CHANGED = "The keys on the card have changed."
"""Fault message of a card with changed keys, for a screen without a staff page."""
KEY_CHANGES = Path("/run") / f"{NAME}-card" / "key-changes"
"""On a card: changes of the keys that may log in or sign updates, a line each."""


class SetupError(MatError, RuntimeError):
    """The installation cannot be made or undone."""

    code = "setup"


class Place(NamedTuple):
    """Paths of an installation as the running machine will see them; `on_disk` puts them below `root`.

    `program` is the path of this package's command.
    """

    system: bool
    program: Path
    home: Path
    root: Path = Path("/")

    @property
    def live(self) -> bool:
        """True for this machine, where services can be started; False for an image."""
        return self.root == Path("/")

    @property
    def settings_folder(self) -> Path:
        """Folder of the settings, the mat's profiles and the manifest."""
        return SYSTEM_SETTINGS.parent if self.system else self.home / ".config" / NAME

    @property
    def settings(self) -> Path:
        """The settings file of the table."""
        return self.settings_folder / SETTINGS

    @property
    def manifest(self) -> Path:
        """The manifest. It is not writable by the service, because root trusts it."""
        return self.settings_folder / "setup.json"

    @property
    def state(self) -> Path:
        """Folder of the journal and the recordings."""
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
        """The symlink that starts the service with the machine."""
        return self.units / f"{'multi-user' if self.system else 'default'}.target.wants" / UNIT

    def on_disk(self, path: Path) -> Path:
        """Return the path below `root` for `path`."""
        return self.root / path.relative_to("/")


def make_place(*, system: bool, root: Path | None = None) -> Place:
    """Return the place of this program. Raises `SetupError` if the command is not installed."""
    program = Path(sys.executable).with_name(NAME)
    if not os.access(program, os.X_OK):
        raise SetupError(f"there is no command {program} to start", "install the package with pip, in a venv")
    return Place(system, program, home_folder(), root.resolve() if root else Path("/"))
