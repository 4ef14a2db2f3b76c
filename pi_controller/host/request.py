"""Requests: a file is the only thing by which the service may ask the machine, and a unit watches for it.

The service can write anything to the file. Rejected: a polkit rule for the service's user (one more daemon, and it
could start and stop at will), a timer that polls the page every minute (one more process each minute, for an event
once in months).
"""

import os
from pathlib import Path
from typing import NamedTuple

from pi_controller.host.place import NAME, SET_CLOCK_REQUEST, SYSTEM_UNITS
from pi_controller.host.status import SCREEN_ON, SCREEN_RESTART


class Request(NamedTuple):
    """A request: the name of its units, its file in the service's run folder, and its purpose."""

    units: str
    file: str
    purpose: str

    @property
    def service(self) -> Path:
        """The unit that fulfils the request and deletes the file."""
        return SYSTEM_UNITS / f"{NAME}-{self.units}.service"

    @property
    def path(self) -> Path:
        """The unit that watches for the file."""
        return self.service.with_suffix(".path")


def read_request_file(path: Path, most: int) -> bytes:
    """Return the first `most` bytes of the request at `path`. Raises `OSError` if it is no plain file.

    The service's user can put anything there, also a link or a pipe.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return os.read(file, most)
    finally:
        os.close(file)


RESTART = Request("kiosk-restart", SCREEN_RESTART, "the visitors' page does not ask any more")


OFF = Request("kiosk-off", "switch-off-kiosk", "the installation is closed")


ON = Request("kiosk-on", SCREEN_ON, "the installation opens soon")


CLOCK = Request("clock", SET_CLOCK_REQUEST, "the staff sets the clock")


def restart_request_path(folder: str) -> Path | None:
    """Return the path of the request file; `folder` is the service's run folder from systemd, "" for none."""
    return Path(folder) / RESTART.file if folder else None


KIOSK = f"{NAME}-kiosk"


RUNNING = Path("/run") / KIOSK
"""Exists while the screen's unit runs."""
