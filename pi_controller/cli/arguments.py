"""Common to all verbs: the parser with errors as two plain lines, options that several verbs share, and logging.

Logs go to standard error: with the time of day for people, with a priority for systemd's journal. The levels are those
of `logging`. Level `info` has sign-ins, judges' commands and copies of the journal. Secrets of a hide are never logged.
Rejected: structlog (one more dependency, for lines that people read), systemd-python (compiled).
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from pi_controller.errors import EXIT_STATUSES, UsageError, describe_error
from pi_controller.host.place import SYSTEM_SETTINGS
from pi_controller.output import wrap_words

if TYPE_CHECKING:
    from pi_controller.config import Settings

INSTALLED = SYSTEM_SETTINGS
"""Default settings file, if it exists."""
LOG_LEVELS = ("debug", "info", "warning", "error")
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6), (0, 7))
"""The priority of each level and above, as syslog and sd-daemon(3) number them."""


class _ArgumentHelp(argparse.HelpFormatter):
    """Wraps the help of arguments without breaking a path, an option or a quoted command."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap_words(" ".join(text.split()), width)


class _Help(_ArgumentHelp):
    """Wraps description and epilog in the same way."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(wrap_words(" ".join(text.split()), width, indent, indent))


class _PreformattedHelp(_ArgumentHelp, argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of description and epilog."""


class Parser(argparse.ArgumentParser):
    """`argparse` for one verb. Options must be spelled out; errors are raised as `UsageError` instead of an exit.

    `statuses` describes the verb's own exit statuses; `epilog`, preformatted in lines, is printed before them.
    """

    def __init__(self, verb: str, description: str, statuses: str = "0 done", epilog: str = "") -> None:
        ends = f"Exit status: {statuses}; {EXIT_STATUSES}"
        super().__init__(
            prog=f"moccasin-mat {verb}",
            description=description,
            epilog=f"{epilog}\n\n{ends}" if epilog else ends,
            formatter_class=_PreformattedHelp if epilog else _Help,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` with the message in one line."""
        raise UsageError(
            f"{self.prog.partition(' ')[2]}: {' '.join(message.split())}", f"'{self.prog} --help' lists the arguments"
        )


def add_action_parsers(parser: Parser, purposes: Mapping[str, str]) -> dict[str, Parser]:
    """Add a parser for each action to `parser` and return them; `purposes` are sentences. `args.action` is chosen."""

    def make_parser(prog: str, description: str) -> Parser:
        return Parser(prog.partition(" ")[2], description)

    made_by = cast("type[Parser]", make_parser)  # argparse only calls it
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=made_by)
    return {
        name: actions.add_parser(name, help=purpose[0].lower() + purpose[1:-1], description=purpose)
        for name, purpose in purposes.items()
    }


def add_json(parser: Parser) -> None:
    """Add the option `--json` to `parser`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object, for a program")


def print_json(content: object) -> None:
    """Print `content` as one line of JSON."""
    import msgspec

    print(msgspec.json.encode(content).decode())


def add_settings(parser: Parser, what: str, default: str | None = None) -> None:
    """Add the option `--settings` to `parser`; `what` describes its use."""
    text = f"{what} (default: {INSTALLED}, else the defaults)"
    parser.add_argument("--settings", metavar="FILE", default=default, help=text)


def settings_path(args: argparse.Namespace) -> Path | None:
    """Return the settings file of `args`, or the installed one after printing its name; None for neither."""
    if args.settings is not None:
        return Path(args.settings)
    with suppress(OSError):  # a folder without read permission
        if INSTALLED.is_file():
            print(f"settings: {INSTALLED}", file=sys.stderr)
            return INSTALLED
    return None


def load_settings(path: Path | None) -> Settings:
    """Return the settings in the file `path`, or the defaults for None. Raises `SettingsError`."""
    from pi_controller.config import Settings, read_settings

    return Settings() if path is None else read_settings(path)


def image_folder(verb: str, wanted: str | None) -> Path | None:
    """Return the folder of the image named by `--root`. Raises `UsageError` if it does not exist."""
    if wanted is None:
        return None
    if not Path(wanted).is_dir():
        raise UsageError(f"{verb}: there is no folder {wanted}", "name the folder in which the image's files are")
    return Path(wanted)


def confirm(verb: str, question: str, *, yes: bool) -> None:
    """Ask the user and return if the answer is yes; raises `UsageError` without a terminal, `SystemExit` after a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{verb}: cannot ask for confirmation here", "add --yes")
    if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
        print("No changes were made.")
        raise SystemExit(1)


def add_actions(parser: Parser) -> None:
    """Add the argument FILE for `open_actions` to `parser`."""
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="the actions (default: standard input)")


@contextmanager
def open_actions(name: str) -> Iterator[Iterable[bytes]]:
    """Open the lines of the file `name`, or standard input for "-". Raises `UsageError` if it cannot be read."""
    if name == "-":
        yield _readable(sys.stdin.buffer, "standard input")
        return
    try:
        source = Path(name).open("rb")  # noqa: SIM115 - closed below; only opening may fail here
    except OSError as error:
        raise _unreadable(name, error) from error
    with source:
        yield _readable(source, name)


def _readable(lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    try:
        yield from lines
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError) -> UsageError:
    return UsageError(f"cannot read {name}: {describe_error(error)}", "name a file of actions, one JSON object a line")


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


def add_paper(parser: Parser) -> None:
    """Add the option `--paper` to `parser`: one of `host.pdf.Paper`."""
    parser.add_argument(
        "--paper",
        type=lambda name: "A4" if name.upper() == "A4" else name.lower(),
        choices=("A4", "letter"),
        default="A4",
        help="paper of the printed pages (A4)",
    )


def add_log_level(parser: Parser) -> None:
    """Add the option `--log-level` to `parser`."""
    parser.add_argument(
        "--log-level", choices=LOG_LEVELS, default="info", help="what is written to standard error (default: info)"
    )


def set_log_level(level: str) -> None:
    """Log records of `level` (one of `LOG_LEVELS`) and above to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    if in_systemd_journal(os.environ, 2):
        handler.setFormatter(JournalFormatter("%(message)s"))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, logging.getLogger().level))  # it logs each start
