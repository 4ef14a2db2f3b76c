"""`moccasin-mat strikes FILE.wav`: the strikes in a recording, one JSON line each, as soon as it is known."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.mat.strike_settings import SENSORS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.mat.strike_settings import StrikeSettings
    from pi_controller.mat.wav import WavReader


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "strikes",
        "Find the strikes in a WAV file of 1 to 8 channels, each a pad. One JSON a line.",
        "0 done; with --knocked 2 where pads are swapped",
    )
    parser.add_argument("file", metavar="FILE.wav", help="the recording, or - for standard input")
    parser.add_argument("--sensor", choices=sorted(SENSORS), default="piezo", help="what the pads feel with")
    parser.add_argument("--reference", action="store_true", help="the last channel is a disc on the frame, and no pad")
    parser.add_argument("--knocked", metavar="1,2,...", help="these pads were knocked on in turn: tell swapped ones")
    return parser


def main(argv: Sequence[str]) -> int:
    """Prints `{"pad", "t", "decided", "margin_db", "pads", "onsets", "sure"}` for each strike in the file named; 0.

    `t` is when the stroke began and `onsets` when each of its `pads` was touched; `decided` is how many seconds of the
    stream had gone by when it was known: cut there, the file gives the same line. With `--knocked` 2 is returned when
    pads are swapped. Raises `UsageError` for arguments or a file that will not do.
    """
    args = parser().parse_args(argv)
    name: str = args.file
    knocked = _knocked(args.knocked) if args.knocked is not None else None
    settings = replace(SENSORS[args.sensor], reference=args.reference)
    from pi_controller.mat.strike_faults import swapped
    from pi_controller.mat.wav import WavReader

    printed: set[str] = set()

    def warn(line: str) -> None:
        if line not in printed:
            printed.add(line)
            print(line, file=sys.stderr)

    def read(file: BinaryIO, name: str) -> int:
        felt = _print(WavReader(file, name, warn), settings, warn)
        faults = swapped(knocked, felt) if knocked is not None else {}
        for pad, why in faults.items():
            warn(f"{name}: pad {pad}: {why}.")
        return 2 if faults else 0

    if name == "-":
        return read(sys.stdin.buffer, "standard input")
    try:
        file = Path(name).open("rb")  # noqa: SIM115 - only its opening is tried
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: {why}.", "Name a WAV file that can be read.") from error
    with file:
        return read(file, name)


def _knocked(text: str) -> list[int]:
    try:
        pads = [int(pad) for pad in text.split(",")]
    except ValueError:
        pads = [0]
    if not all(1 <= pad <= 8 for pad in pads):
        raise UsageError(f"--knocked {text}: these are no pads.", "Name them in turn: --knocked 1,2,3,4.")
    return pads


def _print(reader: WavReader, settings: StrikeSettings, warn: Callable[[str], None]) -> list[int]:
    """Print the strikes; return the pads struck first."""
    from pi_controller.mat.wav import strikes

    felt: list[int] = []
    for d, onsets, decided in strikes(reader, settings, warn):
        line = {
            "pad": d.pad,
            "t": round(onsets[0], 6),
            "decided": round(decided, 6),
            "margin_db": round(d.margin_db, 1),
            "pads": list(d.pads),
            "onsets": [round(t, 6) for t in onsets],
            "sure": d.sure,
        }
        print(json.dumps(line), flush=True)
        felt.append(d.pad)
    return felt
