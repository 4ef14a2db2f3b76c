"""`moccasin-mat VERB`: `VERBS` names the module of each verb. Errors are printed as a message and a hint.

The modules only parse and print. Only the smallest parts of the standard library are imported before the verb is known,
and the verb's own imports follow after its arguments are parsed, so that every `--help` is fast.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Sequence

VERBS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "play a game on a simulated mat, from sensor bytes to lights"),
    "exhibit": ("tables", "run the unattended installation for visitors; --sim needs no mat"),
    "setup-table": ("settings", "ask for the game, the players and the pages; write a table's settings"),
    "run": ("tables", "run a table: the board, the buttons, the strips, the live page"),
    "setup": ("installation", "install the table's service on this machine, or remove it"),
    "update": ("installation", "install a signed update from a file or a stick; roll back if it fails"),
    "doctor": ("board", "check every sensor, the link, the disk; report faults and remedies"),
    "watch": ("watch", "print a running table's state as JSON lines, for other programs"),
    "ports": ("board", "list the serial ports, the selected one, and the boards that answer"),
    "flash": ("board", "write the firmware to the mat board, or check that it is there"),
    "judges": ("tables", "manage the accounts of the judge's console, and issue PINs"),
    "voice": ("words", "list the called words and their recordings, or play one"),
    "languages": ("words", "list the languages, how complete each is, and its authority"),
    "calibrate": ("board", "measure the mat step by step and save the results as a profile"),
    "score": ("pipes", "keep score: actions in, states and called words out, a JSON object a line"),
    "bracket": ("pipes", "run a tournament: results in, pairings and standings out, as JSON lines"),
    "hub": ("hub", "back up the journals of all tables of a tournament and show the tables"),
    "referee": ("pipes", "judge mat events: events in, facts out, a JSON object a line"),
    "replay": ("replay", "show a game hide by hide, or evaluate a sensor recording again"),
    "review": ("sensors", "draw the sensor levels around a hit, for the judge"),
    "record-sensors": ("sensors", "record every reading of a mat, without a game"),
    "record": ("journals", "write a game as an open text file, or check one"),
    "export": ("journals", "export a game: record, score sheet, a sheet to print and sign"),
    "verify": ("journals", "check that a journal is complete and unaltered"),
    "recover": ("journals", "write a new journal with the proven records of a damaged one"),
    "strikes": ("sensors", "find the strikes in a WAV file, each channel a pad"),
    "check-settings": ("settings", "check a settings file, or print a commented example"),
}
"""Module and purpose of each verb. The module's function `NAME` runs the verb and `NAME_parser` returns its parser."""


class Verb(NamedTuple):
    """The functions of a verb; `main` returns the exit status or raises `MatError`."""

    parser: Callable[[], ArgumentParser]
    main: Callable[[Sequence[str]], int]


def find_verb(verb: str) -> Verb:
    """Import and return `verb`. Raises `UsageError` for an unknown verb."""
    if verb not in VERBS:
        from difflib import get_close_matches

        from pi_controller.errors import UsageError

        near = get_close_matches(verb, VERBS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the commands are: {', '.join(VERBS)}"
        raise UsageError(f"there is no command {verb!r}", hint)
    module, function = import_module(f"{__name__}.{VERBS[verb][0]}"), verb.replace("-", "_")
    return Verb(getattr(module, f"{function}_parser"), getattr(module, function))


def _all_verbs() -> dict[str, tuple[str, ArgumentParser]]:
    return {name: (purpose, find_verb(name).parser()) for name, (_, purpose) in VERBS.items()}


def usage() -> str:
    """Return the help text."""
    from pi_controller.errors import EXIT_STATUSES

    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{width}}  {what}" for verb, (_, what) in VERBS.items())
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
    _use_utf8()
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

                print(completion(" ".join(shell), _all_verbs()), end="")
                return 0
            case ["--print-manual", *_]:
                from pi_controller.cli.reference import manual

                print(manual(_all_verbs()), end="")
                return 0
            case ["help", verb, *rest]:
                return find_verb(verb).main([*rest, "--help"])
            case _:
                return find_verb(args[0]).main(args[1:])
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


def _use_utf8() -> None:
    """Write UTF-8 to files and pipes, whatever the system's encoding; a terminal escapes letters that it lacks."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _wrap_line(line: str) -> str:
    """Return `line` wrapped at words on a terminal; a line for a file is returned unchanged."""
    from pi_controller.output import line_width, wrap_words

    indent = " " * (len(line) - len(line.lstrip()))
    return "\n".join(wrap_words(line.strip(), line_width(sys.stderr), indent, f"{indent}  "))
