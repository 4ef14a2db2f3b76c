"""The service's unit: started with the machine, watched by the game loop, with only the rights a table needs.

The options and the omissions were tested; hardware/INSTALL.md describes how.
"""

from collections.abc import Iterable
from pathlib import Path

from pi_controller.host.place import NAME, Place, SetupError

RUN = Path("/run") / NAME
"""Folder for the reason of a failed start (`host.status`), and for an installation's requests to the machine."""
WATCHDOG_S = 10
"""The loop runs a hundred times a second, but a bad card may block one write of the journal for seconds."""
GROUPS = ("dialout", "gpio", "spi", "i2c", "audio")
"""Groups with access to the board's port, the Pi's pins and buses, and the loudspeaker."""
_HOMES = (("/", "home"), ("/", "root"))
_UNITS = Path(__file__).with_name("units")


def fill_in(template: str, **values: object) -> str:
    """Return a file of the installation: the `template` in the folder `units` with its `{name}`s replaced."""
    return (_UNITS / template).read_text("utf-8").format(**values)


def unit(place: Place, written: Iterable[Path] = (), *, exhibit: bool = False) -> str:
    """Return the unit's text. `written` are additional writable folders that the settings need.

    `exhibit` runs the installation in place of a table.
    """
    beyond = sorted(path for path in set(written) if not path.is_relative_to(place.state))
    at_home = any(path.parts[:2] in _HOMES for path in (place.program, place.settings, *beyond))
    # left out: ProcSubset=pid and PrivateDevices (the drivers read the Pi's model in /proc/device-tree and open
    # devices), PrivateUsers (groups open the devices), PrivateNetwork and IPAddressDeny (the hall sees the page)
    return fill_in(
        "table.service",
        what="an installation" if exhibit else "one table",
        verb="exhibit" if exhibit else "run",
        program=quote_path(place.program),
        settings=quote_path(place.settings),
        state=_plain(place.state),
        watchdog=WATCHDOG_S,
        name=NAME,
        runtime=RUN.name,
        groups=" ".join(GROUPS),
        home="read-only" if at_home else "yes",
        writable="".join(f"ReadWritePaths={quote_path(path)}\n" for path in beyond),
    )


def quote_path(path: Path) -> str:
    """Return `path` as one word of a unit. Raises `SetupError` if that is impossible."""
    return f'"{_plain(path)}"' if " " in str(path) else _plain(path)


def _plain(path: Path) -> str:
    if not str(path).isprintable() or set(str(path)) & set("\"'\\$"):
        raise SetupError(
            f"the path {str(path)!r} cannot be written in a unit", "install it in a folder with a plain name"
        )
    return str(path).replace("%", "%%")
