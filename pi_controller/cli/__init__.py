"""`moccasin-mat VERB`: one module for each verb, with the same name. Errors are printed as a message and a hint.

The modules only parse and print. Only the smallest parts of the standard library are imported before the verb is known,
and the verb's own imports follow after its arguments are parsed, so that every `--help` is fast.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

VERBS: dict[str, str] = {
    "demo": "play a game on a simulated mat, from sensor bytes to lights",
    "exhibit": "run the unattended installation for visitors; --sim needs no mat",
    "setup-table": "ask for the game, the players and the pages; write a table's settings",
    "run": "run a table: the board, the buttons, the strips, the live page",
    "setup": "install the table's service on this machine, or remove it",
    "update": "install a signed update from a file or a stick; roll back if it fails",
    "reset": "reset an installation to its first start, by hand or for the staff page",
    "doctor": "check every sensor, the link, the disk; report faults and remedies",
    "watch": "print a running table's state as JSON lines, for other programs",
    "ports": "list the serial ports, the selected one, and the boards that answer",
    "flash": "write the firmware to the mat board, or check that it is there",
    "judges": "manage the accounts of the judge's console, and issue PINs",
    "voice": "list the called words with the quality of their recordings, or play one",
    "languages": "list the languages, how complete each is, and its authority",
    "calibrate": "measure the mat step by step and save the results as a profile",
    "score": "keep score: actions in, states and called words out, a JSON object a line",
    "bracket": "run a tournament: results in, pairings and standings out, as JSON lines",
    "hub": "back up the journals of all tables of a tournament and show the tables",
    "chances": "print the exact chances of winning, for learning the game",
    "referee": "judge mat events: events in, facts out, a JSON object a line",
    "replay": "show a game hide by hide, or evaluate a sensor recording again",
    "review": "plot the sensor levels around a hit, for the judge",
    "record-sensors": "record every reading of a mat, without a game",
    "score-strikes": "measure how well strikes are detected, against the true ones",
    "record": "write a game as an open text file, or check one",
    "export": "export a game: record, score sheet, a sheet to print and sign",
    "verify": "check that a journal is complete and unaltered",
    "recover": "write a new journal from the readable parts of a damaged one",
    "strikes": "find the strikes in a WAV file, each channel a pad",
    "check-settings": "check a settings file, or print a commented example",
}
"""Purpose of each verb; its module here has the same name, with `parser()` and `main(argv)`."""
EXIT_STATUSES = "2 invalid arguments or impossible; 130 interrupted."
"""Exit statuses common to all verbs."""
_OLD_NAMES = {"odds": "chances", "salvage": "recover"}
"""Former names of verbs, accepted but not listed in the help."""


class Verb(Protocol):
    """The module of a verb. Slow imports happen only after its arguments are parsed."""

    def parser(self) -> ArgumentParser:
        """Return the verb's parser."""
        ...

    def main(self, argv: Sequence[str], /) -> int:
        """Run the verb; return the exit status or raise `MatError`."""
        ...


def module(verb: str) -> Verb:
    """Return the module of `verb`, which may be a former name. Raises `UsageError` for an unknown verb."""
    name = _OLD_NAMES.get(verb, verb)
    if name not in VERBS:
        from pi_controller.errors import UsageError

        raise UsageError(f"there is no command {name!r}", _nearest(name))
    return cast("Verb", import_module(f"{__name__}.{name.replace('-', '_')}"))


def usage() -> str:
    """Return the help text."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{width}}  {what}" for verb, what in VERBS.items())
    return (
        "usage: moccasin-mat VERB [OPTION]...\n\n"
        f"The controller of an instrumented mat for the Moccasin Game.\n\n{verbs}\n\n"
        "  -V, --version  show the version\n"
        "  -h, --help     this text; 'moccasin-mat help VERB' or 'VERB --help' shows a verb's options\n"
        "  --print-completion SHELL  print the completion script for bash, zsh or tcsh\n"
        "  --print-manual            the manual page, for man\n\n"
        f"Exit status: 0 done; {EXIT_STATUSES} The help of a verb lists its other exit statuses.\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; return the exit status: 0 done, 2 invalid arguments or impossible, 130 interrupted."""
    from pi_controller.errors import MatError

    args = list(sys.argv[1:] if argv is None else argv)
    try:
        match args:
            case [] | ["-h" | "--help" | "help"]:
                print(usage(), end="")
                return 0 if args else 2
            case ["-V" | "--version", *_]:
                from pi_controller import __version__

                print(f"moccasin-mat {__version__}")
                return 0
            case ["--print-completion", *shell]:
                from pi_controller.cli.reference import completion

                print(completion(" ".join(shell)), end="")
                return 0
            case ["--print-manual", *_]:
                from pi_controller.cli.reference import manual

                print(manual(), end="")
                return 0
            case ["help", verb, *rest]:
                return module(verb).main([*rest, "--help"])
            case _:
                return module(args[0]).main(args[1:])
    except MatError as error:
        from pi_controller.text import strip_controls

        lines = f"moccasin-mat: {error.message}" + (f"\n  {error.hint}" if error.hint else "")
        print("\n".join(map(_wrap_line, map(strip_controls, lines.split("\n")))), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader has closed the pipe (`| head`): stop, and avoid a second error when Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _wrap_line(line: str) -> str:
    """Return `line` wrapped at words on a terminal; a line for a file is returned unchanged."""
    from shutil import get_terminal_size
    from textwrap import fill

    if not sys.stderr.isatty():
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    width = get_terminal_size().columns
    return fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _nearest(verb: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(verb, VERBS, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the commands are: {', '.join(VERBS)}"
