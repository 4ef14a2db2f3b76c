"""`moccasin-mat game replay FILE`: replay a journal or a record; with `--sensors` evaluate a sensor recording again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.output import show_progress

if TYPE_CHECKING:
    from pi_controller.recording.entries import Entry
    from pi_controller.recording.replaying import ReplayedEvents
    from pi_controller.recording.store import Recording


_NAMES = {"HandIn": "hands in", "HandOut": "hands out", "BeadsAtRest": "looks for beads", "Strike": "strikes",
          "SamplesMissing": "gaps", "Button": "presses", "Link": "ups and downs of the link"}  # fmt: skip


def game_replay_parser() -> Parser:
    """Return the parser of `game replay`."""
    parser = Parser(
        "game replay",
        "Show a game hide by hide, from a journal or a written record, or evaluate a sensor recording again, "
        "bit for bit. The file is only read.",
        "0 done; 1 a recording gives other results than at the table, or is damaged",
    )
    parser.add_argument("file", metavar="FILE", help="a journal, a record, a sensor recording")
    parser.add_argument("--json", action="store_true", help="each entry or mat event as a line of JSON, then the end")
    parser.add_argument("--to", metavar="N", type=int, help="of a game: stop after entry N, the number on the left")
    parser.add_argument("--sensors", action="store_true", help="the file is a sensor recording")
    return parser


def game_replay(argv: Sequence[str]) -> int:
    """Print a game, or evaluate a recording again; return the exit status. Raises `MatError`.

    1: the recording gives other mat events than at the table, or is damaged. 2: a written record has faults.
    """
    reads = game_replay_parser()
    args = reads.parse_args(argv)
    from pi_controller.recording.store import is_recording

    if args.sensors or is_recording(args.file):
        if args.to is not None:
            reads.error("--to is not for a sensor recording")
        return _replay_sensors(args.file, json=args.json)
    if args.to is not None and args.to < 1:
        raise UsageError("there is no entry before the first", "--to takes a number from 1")
    return _replay_game(args.file, args.to, json=args.json)


def _replay_game(path: str, to: int | None, *, json: bool) -> int:
    from pi_controller.journal import rendering
    from pi_controller.journal.read_record import is_journal, read_journal_record, read_record_file
    from pi_controller.record.model import RecordError
    from pi_controller.text import strip_controls

    with show_progress(f"reading {path}"):
        record = read_journal_record(path, private=True) if is_journal(path) else read_record_file(path)
    if not record.game:
        raise RecordError(f"{path} is neither a journal nor a record", "a record says 'Game: dakota' at its top")
    for fault in record.faults:
        print(f"moccasin-mat: line {fault.line}: {strip_controls(fault.message)}", file=sys.stderr)
    (rendering.as_json if json else rendering.as_text)(record, sys.stdout, to)
    return 2 if record.faults else 0


def _replay_sensors(path: str, *, json: bool) -> int:
    import msgspec

    from pi_controller.recording.entries import RecordingError
    from pi_controller.recording.replaying import replay_events
    from pi_controller.recording.store import Recording

    recording = Recording(path)
    entries: list[Entry] = []
    damage = ""
    try:
        for entry in recording.entries():
            entries.append(entry)  # noqa: PERF402 - what was read before the damage is wanted
    except RecordingError as error:
        damage = error.message
    replayed = replay_events(recording.header, entries)
    summary = _summary(recording, entries, replayed, damage)
    if json:
        for line in (*replayed.events, summary):
            sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    else:
        _print_summary(summary)
    return int(bool(replayed.other or damage))


def _summary(recording: Recording, entries: list[Entry], feeling: ReplayedEvents, damage: str) -> dict[str, Any]:
    from pi_controller.board.messages import Field, Piezo, Touch

    header = recording.header
    kinds = Counter(type(event).__name__ for event in feeling.events)
    times = [entry.t for entry in entries if isinstance(entry, Piezo | Touch | Field)]
    return {
        "recording": recording.path.name,
        "game": header.game,
        "seconds": round(times[-1] - times[0], 3) if times else 0.0,
        "samples": sum(entry.samples.size for entry in entries if isinstance(entry, Piezo)),
        "bytes": recording.path.stat().st_size,
        "damage": damage,
        "events": dict(kinds),
        "checkpoints": feeling.same + feeling.other,
        "as_at_the_table": feeling.same,
        "lost": [
            {"from": round(lost.t - header.t, 3), "until": round(lost.until - header.t, 3), "why": lost.why}
            for lost in feeling.lost
        ],
    }


def _print_summary(summary: dict[str, Any]) -> None:
    each = summary["bytes"] / summary["samples"] if summary["samples"] else 0.0
    print(
        f"{summary['recording']}: {summary['game'] or 'no game'}, {summary['seconds']:.1f} s, {summary['bytes']} bytes"
    )
    print(f"{summary['samples']} strike samples; {each:.2f} bytes for each, with all other readings")
    print(", ".join(f"{n} {_NAMES.get(kind, kind)}" for kind, n in summary["events"].items()) or "no events")
    if summary["damage"]:
        print(f"the rest is left out: {summary['damage']}")
    for lost in summary["lost"]:
        print(f"not kept from {lost['from']:.1f} s to {lost['until']:.1f} s: {lost['why']}")
    if summary["checkpoints"]:
        same, of = summary["as_at_the_table"], summary["checkpoints"]
        print(f"same strikes as at the table: {'yes' if same == of else 'NO'}, {same} of {of} checkpoints")
