"""`moccasin-mat VERB`: one module a verb, of its name. Errors are printed as what is wrong and what to do.

Here is parsing and printing only. Nothing but the smallest parts of the standard library is imported before a verb is
known, and nothing of a verb before its arguments are read, so that every `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.cli.arguments import Parser

VERBS: dict[str, str] = {
    "demo": "play a game on a simulated mat, from sensor bytes to lights",
    "exhibit": "run the installation that visitors use by themselves; --sim needs no mat",
    "setup-table": "ask which game, who plays and who may see; write a table's settings",
    "run": "run a table: the board, the buttons, the strips, the live page",
    "setup": "install the table's service on this machine, or take it back",
    "update": "take a signed update from a file or a stick, and go back where it fails",
    "reset": "reset an installation to its first start, by hand or on a signed order",
    "doctor": "look at every sensor, the link, the disk: what is wrong, what to do",
    "watch": "print what a running table shows as JSON lines, for other programs",
    "ports": "list the serial ports, which one is taken, and who answers there",
    "flash": "put the firmware on the mat board, or tell whether it is there",
    "judges": "say who may sign in at the judge's console, and give new PINs",
    "voice": "tell which words called have a recording and how good it is, or play one",
    "languages": "list the languages, how far each is filled, and by whose word",
    "calibrate": "measure the mat step by step and keep what was found as a profile",
    "score": "keep score: actions in, states and words called out, one JSON a line",
    "bracket": "run a tournament: results in, who plays and who is out a line out, all JSON",
    "hub": "keep every table's journal once more and show all tables of a tournament",
    "chances": "tell the exact chances of winning, for learning the game",
    "referee": "judge mat events: one JSON a line in, what follows from them out",
    "replay": "show a game hide by hide, or feel its sensors again",
    "review": "draw what the pads felt around a hit, for the judge",
    "record-sensors": "keep every reading of a mat, without a game",
    "score-strikes": "tell how well strikes are felt, from a recorded truth",
    "record": "write a game as an open text file, or check one",
    "export": "write a game out: record, score sheet, a sheet to print and sign",
    "verify": "check that a journal is whole and is what was written",
    "recover": "write a new journal from what can be read of a damaged one",
    "strikes": "find the strikes in a WAV file, each channel a pad",
    "check-settings": "check a settings file, or print a commented example",
}
"""What each verb is for; its module here has its name, with `parser()` and `main(argv)`."""
ENDS = "2 called wrongly or not possible; 130 stopped by hand."
"""What the exit statuses mean that all verbs have."""
_FORMER = {"odds": "chances", "salvage": "recover"}
"""Verbs under the names they once had; the help does not list them."""


class Verb(Protocol):
    """The module of a verb. Nothing that takes time is imported before its arguments are read."""

    def parser(self) -> Parser:
        """Return the parser of its arguments."""
        ...

    def main(self, argv: Sequence[str], /) -> int:
        """Run it; return the exit status or raise `MatError`."""
        ...


def module(verb: str) -> Verb:
    """Return the module of `verb`, which may have its former name; raises `UsageError` where there is none."""
    name = _FORMER.get(verb, verb)
    if name not in VERBS:
        from pi_controller.errors import UsageError

        raise UsageError(f"there is no verb {name!r}", _nearest(name))
    return cast("Verb", import_module(f"{__name__}.{name.replace('-', '_')}"))


def usage() -> str:
    """Return the help text."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{width}}  {what}" for verb, what in VERBS.items())
    return (
        "usage: moccasin-mat VERB [OPTION]...\n\n"
        f"The controller of an instrumented mat for the Moccasin Game.\n\n{verbs}\n\n"
        "  -V, --version  say which version this is\n"
        "  -h, --help     this text; 'moccasin-mat help VERB' or 'VERB --help' tells a verb's options\n"
        "  --print-completion SHELL  the script by which bash, zsh or tcsh completes verbs and options\n"
        "  --print-manual            the manual page, for man\n\n"
        f"Exit status: 0 done; {ENDS} A verb's own help says what else it returns.\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; return the exit status: 0 done, 2 asked for something wrong, 130 stopped by hand."""
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
        from pi_controller.games.wording import printable

        lines = f"moccasin-mat: {error.what}" + (f"\n  {error.todo}" if error.todo else "")
        print("\n".join(map(_wrapped, map(printable, lines.split("\n")))), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader went away (`| head`): nothing more to say, and no second complaint when Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _wrapped(line: str) -> str:
    """Return `line` broken at words where a terminal is too narrow for it; a file has it whole."""
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
    return f"did you mean {near[0]!r}?" if near else f"the verbs are: {', '.join(VERBS)}"
