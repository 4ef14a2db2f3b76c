"""`moccasin-mat VERB`: finds the verb's module and prints errors as one line what is wrong, one line what to do.

Nothing but the standard library's smallest parts is imported before a verb is known, so `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VERBS: dict[str, tuple[str, str]] = {
    "demo": ("pi_controller.cli.demo", "play a game on a simulated mat, from sensor bytes to lights"),
    "run": ("pi_controller.run", "run a table: the board, the buttons, the strips, the live page"),
    "setup": ("pi_controller.cli.setup", "install the table's service on this machine, or take it back"),
    "doctor": (
        "pi_controller.doctor.examination",
        "look at every sensor, the link, the disk: what is wrong, what to do",
    ),
    "ports": ("pi_controller.flash.port_report", "list the serial ports, which one is taken, and who answers there"),
    "flash": ("pi_controller.flash.flash_board", "put the firmware on the mat board, or tell whether it is there"),
    "judges": ("pi_controller.cli.judges", "say who may sign in at the judge's console, and give new PINs"),
    "voice": ("pi_controller.cli.voice", "tell which words called have a recording and how good it is, or play one"),
    "languages": ("pi_controller.cli.languages", "list the languages, how far each is filled, and by whose word"),
    "calibrate": ("pi_controller.calibrate", "measure the mat step by step and keep what was found as a profile"),
    "score": ("pi_controller.games.sheet", "keep score: actions in, states and words called out, one JSON a line"),
    "chances": ("pi_controller.cli.chances", "tell the exact chances of winning, for learning the game"),
    "referee": ("pi_controller.referee.stream", "judge mat events: one JSON a line in, what follows from them out"),
    "replay": ("pi_controller.cli.replay", "show a game hide by hide, or feel its sensors again"),
    "review": ("pi_controller.cli.review", "draw what the pads felt around a hit, for the judge"),
    "record-sensors": ("pi_controller.cli.record_sensors", "keep every reading of a mat, without a game"),
    "score-strikes": ("pi_controller.cli.score_strikes", "tell how well strikes are felt, from a recorded truth"),
    "record": ("pi_controller.table.record", "write a game as an open text file, or check one"),
    "export": ("pi_controller.table.export", "write a game out: record, score sheet, a sheet to print and sign"),
    "verify": ("pi_controller.table.verify", "check that a journal is whole and is what was written"),
    "recover": ("pi_controller.table.recover", "write a new journal from what can be read of a damaged one"),
    "strikes": ("pi_controller.mat.wav", "find the strikes in a WAV file, each channel a pad"),
    "check-settings": ("pi_controller.table.settings_example", "check a settings file, or print a commented example"),
}
_FORMER = {"odds": "chances", "salvage": "recover"}
"""Verbs under the names they once had; the help does not list them."""


def usage() -> str:
    """Return the help text."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{width}}  {what}" for verb, (_, what) in VERBS.items())
    return (
        "usage: moccasin-mat VERB [OPTION]...\n\n"
        f"The controller of an instrumented mat for the Moccasin Game.\n\n{verbs}\n\n"
        "  --version  say which version this is\n"
        "  --help     this text; 'moccasin-mat VERB --help' tells a verb's options\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; return the exit status: 0 done, 2 asked for something wrong, 130 stopped by hand."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        print(usage(), end="")
        return 0 if args else 2
    if args[0] == "--version":
        from pi_controller import __version__  # noqa: PLC0415

        print(f"moccasin-mat {__version__}")
        return 0
    from pi_controller.errors import MatError, UsageError  # noqa: PLC0415

    try:
        name = _FORMER.get(args[0], args[0])
        if name not in VERBS:
            raise UsageError(f"there is no verb {name!r}", _nearest(name))
        verb = cast("Callable[[Sequence[str]], int]", import_module(VERBS[name][0]).main)
        return verb(args[1:])
    except MatError as error:
        from pi_controller.games.wording import printable  # noqa: PLC0415

        lines = f"moccasin-mat: {error.what}" + (f"\n  {error.todo}" if error.todo else "")
        print("\n".join(map(printable, lines.split("\n"))), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader went away (`| head`): nothing more to say, and no second complaint when Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _nearest(verb: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(verb, VERBS, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the verbs are: {', '.join(VERBS)}"
