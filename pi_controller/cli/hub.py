"""`moccasin-mat hub`: set up and run the hub of a tournament, or join a table to one."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller import __version__
from pi_controller.cli.arguments import (
    INSTALLED,
    Parser,
    add_action_parsers,
    add_json,
    add_log_level,
    add_paper,
    print_json,
    set_log_level,
    settings_path,
)
from pi_controller.cli.settings import FILE
from pi_controller.errors import UsageError
from pi_controller.extras import requires_extra

if TYPE_CHECKING:
    import argparse

    from pi_controller.display.i18n import Translator
    from pi_controller.hub.store import Database
    from pi_controller.hub.store_copy import BackupSummary
    from pi_controller.web.host_marks import HostMarks


_EPILOG = """\
'moccasin-mat hub ACTION --help' lists the arguments of an action."""
_ACTIONS = {
    "demo": "Play a tournament on this machine with simulated tables, its boards live, and delete its files.",
    "run": "Take the reports of all tables, run the tournament and serve its pages; also for a trial on one machine.",
    "setup": "Write the venue's certificate and the hub's settings; tables then join by a code.",
    "director": "Make a new PIN for the director, who signs in at /director.",
    "tables": "List the tables that have reported, their journals and open alarms.",
    "accept": "Accept a journal that was refused because the table's card was replaced.",
    "journals": "Write the hub's copy of each table's journal, for replay, export and verify.",
    "publish": "Write bracket, standings, all score sheets and records as a site of files.",
    "print": "Print bracket, start list, results and all score sheets as PDF files.",
    "backup": "Copy the hub's store, also while it runs.",
    "restore": "Restore a copy into an empty folder; tables resend newer records.",
    "join": "At a table: join the hub by the code on the director's console.",
}


def hub_parser() -> Parser:
    """Return the parser of `hub`, with a parser for each action."""
    parser = Parser("hub", "Run a tournament: its tables, its director's console and its boards.", epilog=_EPILOG)
    made = add_action_parsers(parser, _ACTIONS)
    for name, one in made.items():
        if name not in {"demo", "join"}:
            one.add_argument("folder", metavar="FOLDER", type=Path, help="the hub's files")
        add_log_level(one)
    add_json(made["tables"])
    made["accept"].add_argument("table", metavar="TABLE", help="the table's name at the hub")
    for name, metavar, what in (
        ("journals", "OUT", "the folder for the journals"),
        ("publish", "OUT", "the folder for the site"),
        ("print", "OUT", "the folder for the PDF files"),
        ("backup", "FILE", "the new file"),
        ("restore", "FILE", "the copy"),
    ):
        made[name].add_argument("where", metavar=metavar, type=Path, help=what)
    add_paper(made["print"])
    join = made["join"]
    join.add_argument("address", metavar="ADDRESS", help="the hub's address, as on the director's console")
    join.add_argument("code", metavar="CODE", help="the code there")
    join.add_argument("--settings", metavar="FILE", help=f"the table's settings (default: {INSTALLED}, else {FILE})")
    setup = made["setup"]
    setup.add_argument("--venue", default="hall", metavar="NAME", help="a short name of the tournament (hall)")
    setup.add_argument(
        "--host", action="append", metavar="NAME", help="address of this machine for the tables; may be repeated"
    )
    demo = made["demo"]
    demo.add_argument("--once", action="store_true", help="end with the champion")
    demo.add_argument("--teams", type=int, default=16, metavar="N", help="number of teams (16)")
    demo.add_argument("--tables", type=int, default=4, metavar="N", help="number of tables, 1 to 16 (4)")
    demo.add_argument("--points", type=int, default=5, metavar="N", help="points to win a game (5)")
    demo.add_argument("--pace", type=float, default=0.08, metavar="S", help="seconds a hit (0.08)")
    demo.add_argument("--seed", type=int, default=1, metavar="N", help="random seed of the draw and the hits (1)")
    demo.add_argument("--page", type=int, default=8090, metavar="N", help="the boards' port (8090)")
    return parser


def hub(argv: Sequence[str]) -> int:
    """Run the chosen action; return 0 or raise `MatError`."""
    args = hub_parser().parse_args(argv)
    set_log_level(args.log_level)
    verbs = {
        "demo": _demo,
        "run": _run,
        "setup": _set_up,
        "director": _director,
        "tables": _tables,
        "accept": _accept,
        "journals": _journals,
        "publish": _publish,
        "print": _print,
        "backup": _back_up,
        "restore": _restore,
        "join": _join,
    }
    with requires_extra("link", "the link to the hub") if args.action == "join" else requires_extra("hub", "the hub"):
        return verbs[args.action](args)


def _run(args: argparse.Namespace) -> int:
    from pi_controller.hub.run import run_hub

    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    run_hub(args.folder)
    return 0


def _demo(args: argparse.Namespace) -> int:
    from pi_controller.cli.hub_demo import Demo, run_demo

    if not 0.0 <= args.pace <= 60.0 or not 0 <= args.page <= 65535 or not 0 <= args.seed < 2**31:
        raise UsageError("hub demo: a pace of 0 to 60 s, a port of 0 to 65535", "choose other values")
    return run_demo(Demo(args.teams, args.tables, args.points, args.pace, args.seed, args.page, args.once))


def _director(args: argparse.Namespace) -> int:
    from pi_controller.web.judge_setup import new_head
    from pi_controller.web.pin_hash import PinHasher
    from pi_controller.web.users import FILE, Users

    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(Users(args.folder / FILE)) as users:
        name, pin = new_head(users, PinHasher(), "Director")
    print(f"{name}: {pin} (shown this once)")
    return 0


def _store(folder: Path) -> Path | Database:
    """Return the existing store of the hub in `folder`. Raises `MatError` if there is none."""
    from pi_controller.hub.settings import load_hub, store_from_settings

    where = store_from_settings(load_hub(folder), folder)
    if isinstance(where, Path) and not where.is_file():
        raise UsageError(f"there is no hub in {folder}", "name the folder that 'moccasin-mat hub run' was given")
    return where


def _journals(args: argparse.Namespace) -> int:
    from pi_controller.hub.store_copy import write_journals

    for path, records in write_journals(_store(args.folder), args.where).items():
        print(f"{path}: {records} records")
    return 0


def _load_look(folder: Path) -> tuple[HostMarks | None, Translator]:
    """Return the host's marks and the language of the hub in `folder`."""
    from pi_controller.display.i18n import resolve_language, translator
    from pi_controller.hub.settings import load_hub
    from pi_controller.web.host_marks import load_host_marks

    settings = load_hub(folder)
    return load_host_marks(settings.marks), translator(resolve_language(settings.page.language))


def _print(args: argparse.Namespace) -> int:
    from pi_controller.hub.publish import print_store

    for path in print_store(_store(args.folder), args.where, time.time, args.paper, *_load_look(args.folder)):
        print(path)
    return 0


def _publish(args: argparse.Namespace) -> int:
    from pi_controller.hub.publish import publish_store

    out = args.where
    games = publish_store(_store(args.folder), out, time.time, *_load_look(args.folder))
    print(f"{out / 'index.html'}: the results with {games} score sheets. Open it, upload the folder, or hand it over.")
    return 0


def _back_up(args: argparse.Namespace) -> int:
    from pi_controller.hub.store_copy import back_up

    print(f"{args.where}: {_describe_backup(back_up(_store(args.folder), args.where))}")
    return 0


def _restore(args: argparse.Namespace) -> int:
    from pi_controller.hub.settings import load_hub, store_from_settings
    from pi_controller.hub.store_copy import restore

    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = restore(args.where, store_from_settings(load_hub(args.folder), args.folder))
    print(f"restored: {_describe_backup(kept)}")
    print("Later decisions are not in it. Tables send again the records that they still have, and results")
    print("of that time wait for the director.")
    return 0


def _describe_backup(kept: BackupSummary) -> str:
    def describe_count(count: int, what: str, t: float | None) -> str:
        last = f", the last of {datetime.fromtimestamp(t, UTC):%Y-%m-%d %H:%M:%S} UTC" if t is not None else ""
        return f"{count} {what}{last}"

    return "; ".join(
        (
            describe_count(kept.records, "records", kept.record_t),
            describe_count(kept.decisions, "decisions", kept.decision_t),
        )
    )


def _tables(args: argparse.Namespace) -> int:
    from pi_controller.hub.inbox import Inbox

    with Inbox(_store(args.folder)) as inbox:
        tables, alarms = inbox.record_counts(), [alarm for alarm in inbox.alarms() if alarm.open]
    if args.json:
        print_json({"tables": tables, "alarms": [alarm._asdict() for alarm in alarms]})
        return 0
    for table, journals in tables.items():
        print(f"{table}: {sum(journals.values())} records in {len(journals)} journals")
    print("".join(f"{alarm.table}: refused, {alarm.message}\n" for alarm in alarms), end="")
    return 0


def _accept(args: argparse.Namespace) -> int:
    from pi_controller.hub.inbox import Inbox

    with Inbox(_store(args.folder)) as inbox:
        accepted = inbox.accept(args.table)
    result = "accepted; the hub uses it within half a minute" if accepted else "there is no refused journal"
    print(f"{args.table}: {result}")
    return 0


def _join(args: argparse.Namespace) -> int:
    from pi_controller.config import read_settings
    from pi_controller.hub.join import is_newer_version, parse_code
    from pi_controller.hub.join_table import join

    code = parse_code(args.code)
    path = settings_path(args) or FILE
    if not path.is_file():
        raise UsageError(
            f"there is no settings file {path}", "create one with 'moccasin-mat settings new', then try again"
        )
    done = join(args.address, code, path)
    account = done.account
    print(f"This table is {account.table} of {account.venue}, at the hub {account.host} port {account.port}.")
    print(f"Written: {done.token} and {done.ca} (private to this user), and [hub] in {done.settings}.")
    print(f"In the hall it is called {read_settings(done.settings).table.name!r} ([table] name).")
    again = "sudo systemctl restart moccasin-mat" if path == INSTALLED else f"moccasin-mat run --settings {path}"
    print(f"Now start the table again: {again}")
    print("The boards show it as connected then.")
    if is_newer_version(__version__, account.program):
        print(f"This table's program ({__version__}) is newer than the hub's ({account.program}): update the hub.")
    return 0


def _set_up(args: argparse.Namespace) -> int:
    from pi_controller.config.fields import is_short_name
    from pi_controller.hub.setup import write_hub_files

    if not is_short_name(args.venue):
        raise UsageError("hub setup: a venue's name is up to 31 small letters, digits, - and _", "choose another")
    hosts = args.host or [f"{socket.gethostname().split('.')[0]}.local", socket.gethostname()]
    write_hub_files(args.folder, args.venue, [*dict.fromkeys([*hosts, "127.0.0.1"])], datetime.now(UTC))
    print(f"Written to {args.folder}. Start the hub:\n  moccasin-mat hub run {args.folder}")
    print("Sign in at its /director; 'Add a table' there shows the code with which a table joins.")
    return 0
