"""`moccasin-mat replay FILE`: replay a journal or a record; with `--sensors` evaluate a sensor recording again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.rules import registry

if TYPE_CHECKING:
    from pi_controller.recording.format import Entry
    from pi_controller.recording.replaying import Records, ReplayedEvents
    from pi_controller.recording.store import Recording
    from pi_controller.sensing.strikes import StrikeSettings


_NAMES = {"HandIn": "hands in", "HandOut": "hands out", "Beads": "looks for beads", "Strike": "strikes",
          "Blind": "gaps", "Button": "presses", "Link": "ups and downs of the link"}  # fmt: skip


def replay_parser() -> Parser:
    """Return the parser of `replay`."""
    parser = Parser(
        "replay",
        "Show a game hide by hide, from a journal or a written record, or evaluate and judge a sensor recording again, "
        "bit for bit. The file is only read.",
        "0 done; 1 a recording gives other results than at the table, with its own settings",
    )
    parser.add_argument("file", metavar="FILE", help="a journal, a record, a score sheet's actions, a sensor recording")
    parser.add_argument("--json", action="store_true", help="each record or mat event as a line of JSON, then the end")
    game = parser.add_argument_group("of a game")
    game.add_argument("--to", metavar="N", type=int, help="stop after record N, the number on the left")
    game.add_argument("--game", metavar="GAME", help=f"game of a score sheet: {', '.join(registry.names())}")
    game.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="game option of a score sheet")
    recording = parser.add_argument_group("of a sensor recording")
    recording.add_argument("--sensors", action="store_true", help="the file is a sensor recording")
    recording.add_argument("--settings", metavar="FILE", help="print the effect of these strike settings")
    recording.add_argument(
        "--journal", metavar="FILE", help="the table's journal: judge again, with the judge's commands"
    )
    return parser


def replay(argv: Sequence[str]) -> int:
    """Print a game, or evaluate a recording again; return the exit status.

    1: with its own settings, the recording gives other mat events or other decisions than at the table.
    """
    reads = replay_parser()
    args = reads.parse_args(argv)
    from pi_controller.recording.store import is_recording

    if args.sensors or is_recording(args.file):
        if args.to is not None or args.game or args.set:
            reads.error("--to, --game and --set are not for a sensor recording")
        return _replay_sensors(args.file, args.settings, args.journal, json=args.json)
    if args.settings or args.journal:
        reads.error("--settings and --journal are for a sensor recording")
    if args.to is not None and args.to < 1:
        raise UsageError("there is no record before the first", "--to takes a number from 1")
    from pi_controller.display.game_display import describe_action
    from pi_controller.rules.options import from_text
    from pi_controller.table.replay import replay

    return replay(
        args.file, args.to, args.game or registry.DEFAULT_GAME, from_text(args.set), describe_action, json=args.json
    )


def _replay_sensors(path: str, settings: str | None, journal: str | None, *, json: bool) -> int:
    import msgspec

    from pi_controller.config import read_settings
    from pi_controller.journal.journal import Journal
    from pi_controller.recording.replaying import replay_events
    from pi_controller.recording.store import Recording

    strikes = read_settings(Path(settings)).strikes.detector_settings() if settings else None
    records: Records | None = None
    if journal:
        with Journal(journal, read_only=True) as kept:
            records = list(kept.read())
    recording = Recording(path)
    entries = list(recording.entries())
    feeling = replay_events(recording.header, entries)
    now = replay_events(recording.header, entries, strikes, always=True) if strikes else feeling
    summary = _summary(recording, entries, feeling)
    summary |= _judge_again(recording, entries, records, strikes)
    if strikes:
        summary["would_differ"] = _differences(feeling, now, entries, records or [], recording.header.t)
    if json:
        for line in (*feeling.events, summary):
            sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    else:
        _print_summary(summary)
    return int(bool(feeling.other or (not strikes and "otherwise" in summary)))


def _summary(recording: Recording, entries: list[Entry], feeling: ReplayedEvents) -> dict[str, Any]:
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
        "damaged_bytes": recording.damaged,
        "events": dict(kinds),
        "checkpoints": feeling.same + feeling.other,
        "as_at_the_table": feeling.same,
        "lost": [
            {"from": round(lost.t - header.t, 3), "until": round(lost.until - header.t, 3), "why": lost.why}
            for lost in feeling.lost
        ],
    }


def _judge_again(
    recording: Recording, entries: list[Entry], records: Records | None, strikes: StrikeSettings | None
) -> dict[str, Any]:
    """Return the referee's decisions; with a journal, also the first difference from it."""
    import msgspec

    from pi_controller.recording.replaying import first_difference, replay_table

    header = recording.header
    if not header.game or (header.seq and records is None):
        return {}
    again = replay_table(header, entries, records, strikes)
    summary: dict[str, Any] = {"facts": len(again.records)}
    if again.stopped:
        summary["stopped"] = again.stopped
    if records is not None:
        differs = first_difference(records, again.records, exactly=strikes is None)
        summary["facts_in_journal"] = len(records)
        if differs:
            was, would = (msgspec.to_builtins(fact) for fact in differs)
            summary["otherwise"] = {"was": was, "would_be": would}
    return summary


def _differences(
    before: ReplayedEvents, now: ReplayedEvents, entries: list[Entry], records: Records, t: float
) -> list[dict[str, Any]]:
    from pi_controller.recording import replaying

    before_strikes = replaying.strikes_of(before.events)
    now_strikes = replaying.select_reported(replaying.strikes_of(now.events), replaying.reporting_intervals(entries))
    return [
        {
            "t": round(one.t - t, 4),
            "hide": replaying.hide_at(records, one.t),
            "was": one.before and {"pads": one.before.pads, "sure": one.before.sure},
            "would_be": one.now and {"pads": one.now.pads, "sure": one.now.sure},
        }
        for one in replaying.diff_strikes(before_strikes, now_strikes)
    ]


def _print_summary(summary: dict[str, Any]) -> None:
    each = summary["bytes"] / summary["samples"] if summary["samples"] else 0.0
    print(
        f"{summary['recording']}: {summary['game'] or 'no game'}, {summary['seconds']:.1f} s, {summary['bytes']} bytes"
    )
    print(f"{summary['samples']} strike samples; {each:.2f} bytes for each, with all other readings")
    print(", ".join(f"{n} {_NAMES.get(kind, kind)}" for kind, n in summary["events"].items()) or "no events")
    if summary["damaged_bytes"]:
        print(f"{summary['damaged_bytes']} bytes are damaged and were left out")
    for lost in summary["lost"]:
        print(f"not kept from {lost['from']:.1f} s to {lost['until']:.1f} s: {lost['why']}")
    if summary["checkpoints"]:
        same, of = summary["as_at_the_table"], summary["checkpoints"]
        print(f"same strikes as at the table: {'yes' if same == of else 'NO'}, {same} of {of} checkpoints")
    if "facts_in_journal" in summary:
        other = summary.get("otherwise")
        if not other:
            print(f"judged as in the journal: {summary['facts']} of its {summary['facts_in_journal']} facts")
        else:
            print(f"judged otherwise, first at:\n  was       {_fact(other['was'])}")
            print(f"  would be  {_fact(other['would_be'])}")
    elif "facts" in summary:
        print(f"judged without the judge's commands: {summary['facts']} facts")
    if summary.get("stopped"):
        print(f"judging stopped: {summary['stopped']}")
    if "would_differ" in summary:
        differing = summary["would_differ"]
        print(f"\nWith these settings {len(differing)} strikes would differ{':' if differing else '.'}")
        for one in differing:
            hide = f"hide {one['hide']}, " if one["hide"] else ""
            print(f"  {hide}{one['t']:.3f} s: {_strike(one['was'])} -> {_strike(one['would_be'])}")


def _strike(strike: dict[str, Any] | None) -> str:
    if strike is None:
        return "nothing"
    return f"pad {' and '.join(map(str, strike['pads']))}{'' if strike['sure'] else ' in doubt'}"


def _fact(fact: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in fact.items() if key not in ("nonce", "hash"))
