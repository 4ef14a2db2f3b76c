"""Logging to standard error: with the time of day for people, with a priority for systemd's journal.

The levels are those of `logging`. Level `info` has sign-ins, judges' commands and copies of the journal. Secrets of a
hide are never logged. Rejected: structlog (one more dependency, for lines that people read), systemd-python (compiled).
"""

import logging
import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping

LEVELS = ("debug", "info", "warning", "error")
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6), (0, 7))
"""The priority of each level and above, as syslog and sd-daemon(3) number them."""


class JournalFormatter(logging.Formatter):
    """Format each line with its priority in front, as systemd's journal reads it; the journal adds the time."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of `record`."""
        priority = next(number for level, number in _PRIORITIES if record.levelno >= level)
        return "\n".join(f"<{priority}>{line}" for line in super().format(record).splitlines())


def in_systemd_journal(environment: Mapping[str, str], descriptor: int) -> bool:
    """Return whether `descriptor` is connected to systemd's journal, by JOURNAL_STREAM (systemd.exec(5))."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    return environment.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def add_option(parser: ArgumentParser) -> None:
    """Add the option `--log-level` to `parser`."""
    parser.add_argument(
        "--log-level", choices=LEVELS, default="info", help="what is written to standard error (default: info)"
    )


def configure(level: str) -> None:
    """Log records of `level` (one of `LEVELS`) and above to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    if in_systemd_journal(os.environ, 2):
        handler.setFormatter(JournalFormatter("%(message)s"))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, logging.getLogger().level))  # it logs each start
