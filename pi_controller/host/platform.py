"""Differences between operating systems: locks, users, disks, signals.

Windows has no fcntl, pwd, resource and termios, so they are imported inside the functions here, and the rest of the
package asks this module. A table (`run`, `exhibit`, `service`, `mat check`) needs Linux; games on paper, the
hub and everything that reads journals also run on Windows and macOS.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

from pi_controller.errors import UsageError

try:
    from termios import error as TerminalError  # noqa: N812 - an exception's name
except ImportError:  # Windows
    TerminalError = OSError

DEFAULT_OPEN_FILES = 1024
"""Assumed limit of open files on a system that has no such limit to ask for."""
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def require_linux(verb: str) -> None:
    """Raise `UsageError` on another system than Linux."""
    if sys.platform != "linux":
        raise UsageError(f"{verb} needs Linux", "use a Raspberry Pi or another Linux machine for the table itself")


def lock_file(file: IO[bytes]) -> None:
    """Lock `file` for this program until it is closed. Raises `BlockingIOError` if another program has locked it."""
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:
        import msvcrt  # noqa: PLC0415

        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
        except OSError as error:
            raise BlockingIOError(*error.args) from error
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_root() -> bool:
    """Return whether this is the superuser of a Unix system."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def user_name(number: int) -> str:
    """Return the name of the user `number`; "user NUMBER" if it has none."""
    try:
        import pwd  # noqa: PLC0415

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError):
        return f"user {number}"


def own_name() -> str:
    """Return the name of the user who runs this program."""
    if hasattr(os, "geteuid"):
        return user_name(os.geteuid())
    import getpass  # noqa: PLC0415

    return getpass.getuser()


def home_folder() -> Path:
    """Return the home folder of this user; `/nonexistent`, Debian's name for none, if the system knows no such user."""
    found = expand_home("~")
    return found if found.is_absolute() else Path("/nonexistent")


def expand_home(path: str | Path) -> Path:
    """Return `path` with a leading `~` or `~NAME` replaced by that user's home folder, if the system knows it."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib's raises RuntimeError for an unknown user


def exists(path: Path) -> bool:
    """Return whether this user can see `path`; False in a folder that the user may not enter."""
    try:
        return path.exists()
    except PermissionError:
        return False


def can_write(path: Path) -> bool:
    """Return whether this user may read and write `path`."""
    return os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def is_read_only(path: Path) -> bool:
    """Return whether the disk with `path` is mounted read-only; False on a system that does not tell."""
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def may_run(process: int) -> bool:
    """Return False if no process has this id; True if this system does not tell."""
    return not Path("/proc/self").exists() or Path("/proc", str(process)).exists()


def set_mode(file: IO[bytes], mode: int) -> None:
    """Set the permissions of an open file, if the system has them. Raises `OSError`."""
    if hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), mode)


def sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk. Raises `OSError`. Windows syncs the names itself."""
    unix = os.name != "nt"
    if not unix and path.is_dir():
        return
    file = os.open(path, os.O_RDONLY if unix else os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def max_open_files() -> int:
    """Return how many files and connections this process may have open."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return DEFAULT_OPEN_FILES
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def call_at_stop_signals(stop: Callable[[], object]) -> None:
    """Call `stop` in the running event loop at SIGINT and SIGTERM. Call this in the main thread."""
    import asyncio  # noqa: PLC0415

    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
