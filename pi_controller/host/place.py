"""Paths of an installation: its service, settings and state; below another root for images and tests."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from pi_controller.errors import MatError

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

    program: Path
    root: Path = Path("/")

    @property
    def live(self) -> bool:
        """True for this machine, where services can be started; False for an image."""
        return self.root == Path("/")

    @property
    def settings_folder(self) -> Path:
        """Folder of the settings and the mat's profiles. The service cannot write it, because root trusts it."""
        return SYSTEM_SETTINGS.parent

    @property
    def settings(self) -> Path:
        """The settings file of the table."""
        return SYSTEM_SETTINGS

    @property
    def state(self) -> Path:
        """Folder of the journal and the recordings."""
        return Path("/var/lib") / NAME

    @property
    def unit(self) -> Path:
        """The unit's file."""
        return SYSTEM_UNITS / UNIT

    def on_disk(self, path: Path) -> Path:
        """Return the path below `root` for `path`."""
        return self.root / path.relative_to("/")


def make_place(root: Path | None = None) -> Place:
    """Return the place of this program. Raises `SetupError` if the command is not installed."""
    program = Path(sys.executable).with_name(NAME)
    if not os.access(program, os.X_OK):
        raise SetupError(f"there is no command {program} to start", "install the package with pip, in a venv")
    return Place(program, root.resolve() if root else Path("/"))
