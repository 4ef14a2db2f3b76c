"""Base parser of all verbs: errors as two plain lines, exit statuses in the help, the settings file."""

from __future__ import annotations

import argparse
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pi_controller.cli import ENDS
from pi_controller.errors import UsageError
from pi_controller.setup.place import SYSTEM_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_controller.table.settings import Settings

INSTALLED = SYSTEM_SETTINGS
"""The settings that are used where `--settings` names none, if they are there."""


class Parser(argparse.ArgumentParser):
    """`argparse` for one verb. Options must be spelled out; a fault is a `UsageError` instead of an exit.

    `statuses` says what the verb's own exit statuses mean; `epilog`, written in lines, stands before them.
    """

    def __init__(self, verb: str, description: str, statuses: str = "0 done", epilog: str = "") -> None:
        ends = f"Exit status: {statuses}; {ENDS}"
        super().__init__(
            prog=f"moccasin-mat {verb}",
            description=description,
            epilog=f"{epilog}\n\n{ends}" if epilog else ends,
            formatter_class=argparse.RawDescriptionHelpFormatter if epilog else argparse.HelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, in one line."""
        raise UsageError(
            f"{self.prog.split()[-1]}: {' '.join(message.split())}", f"'{self.prog} --help' tells what it takes"
        )


def add_settings(parser: Parser, what: str) -> None:
    """Give `parser` the option `--settings`; `what` says what is taken from them."""
    parser.add_argument("--settings", metavar="FILE", help=f"{what} (default: {INSTALLED}, else the defaults)")


def settings_path(args: argparse.Namespace) -> Path | None:
    """Return the settings file of `args`, or the installed one, which is said; None where there is neither."""
    if args.settings is not None:
        return Path(args.settings)
    with suppress(OSError):  # a folder that may not be looked into
        if INSTALLED.is_file():
            print(f"settings: {INSTALLED}", file=sys.stderr)
            return INSTALLED
    return None


def load_settings(path: Path | None) -> Settings:
    """Return the settings in the file `path`, for None the defaults. Raises `SettingsError`."""
    from pi_controller.table.settings import Settings, load

    return Settings() if path is None else load(path)


def image_folder(verb: str, wanted: str | None) -> Path | None:
    """Return the folder of the image that `--root` names. Raises `UsageError` where there is none."""
    if wanted is None:
        return None
    if not Path(wanted).is_dir():
        raise UsageError(f"{verb}: there is no folder {wanted}", "name the folder in which the image's files are")
    return Path(wanted)


def confirm(verb: str, question: str, *, yes: bool) -> None:
    """Return when the answer is yes; raises `UsageError` where nobody can answer, `SystemExit` after a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{verb}: nobody is here to say yes", "add --yes")
    if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
        print("Nothing was done.")
        raise SystemExit(1)


def add_actions(parser: Parser) -> None:
    """Give `parser` the argument FILE, whose lines `open_actions` reads."""
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="the actions (default: standard input)")


@contextmanager
def open_actions(name: str) -> Iterator[Iterable[bytes]]:
    """Give the lines of the file `name`, of standard input for "-". Raises `UsageError` where it cannot be read."""
    if name == "-":
        yield _readable(sys.stdin.buffer, "standard input")
        return
    try:
        source = Path(name).open("rb")  # noqa: SIM115 - closed below; here only opening it may fail
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
    return UsageError(
        f"cannot read {name}: {error.strerror or error}", "name a file of actions, one JSON object a line"
    )
