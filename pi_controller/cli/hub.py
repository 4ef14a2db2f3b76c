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
from pi_controller.cli.arguments import INSTALLED, Parser, add_log_level, set_log_level, settings_path
from pi_controller.cli.settings import FILE
from pi_controller.errors import UsageError
from pi_controller.extras import requires_extra
from pi_controller.text import join_words

if TYPE_CHECKING:
    import argparse

    from pi_controller.hub.store import Database
    from pi_controller.hub.store_copy import BackupSummary


MAX_TABLES = 64
_ACTIONS_WITH_ARGUMENT = ("accept", "journals", "publish", "backup", "restore", "join")
_EPILOG = """\
  hub --demo                 a tournament of 16 teams on four simulated tables, its boards live
  hub run FOLDER             receive from all tables and serve their page; enough for a trial on one machine
  hub setup FOLDER           write Mosquitto's configuration, certificates, and an account for each table
  hub director FOLDER        a new PIN for the director, who signs in at /director
  hub accept FOLDER TABLE    accept a journal that was refused because the table's card was replaced
  hub journals FOLDER OUT    write the hub's copy of each table's journal, for replay, export and verify
  hub publish FOLDER OUT     write bracket, standings, all score sheets and records as a site of files
  hub backup FOLDER FILE     copy the hub's store, also while it runs
  hub restore FOLDER FILE    restore it into an empty folder; tables resend newer records
  hub join ADDRESS CODE      at a table: get its account from the hub by the code on the director's console"""


def hub_parser() -> Parser:
    """Return the parser of `hub`."""
    parser = Parser(
        "hub", "Back up the journals of all tables of a tournament, and show the tables on one page.", epilog=_EPILOG
    )
    parser.add_argument(
        "do", nargs="?", choices=("run", "setup", "director", *_ACTIONS_WITH_ARGUMENT), help="what to do"
    )
    parser.add_argument("folder", nargs="?", metavar="FOLDER", type=Path, help="the hub's files; join: its address")
    parser.add_argument(
        "what",
        metavar="TABLE|FILE|CODE",
        nargs="?",
        help="accept: the table's account; journals, publish, backup, restore: where; join: the code",
    )
    parser.add_argument(
        "--settings", metavar="FILE", help=f"join: the table's settings (default: {INSTALLED}, else {FILE})"
    )
    parser.add_argument(
        "--demo", action="store_true", help="play a whole tournament on this machine, and delete its files"
    )
    parser.add_argument("--once", action="store_true", help="demo: end with the champion")
    parser.add_argument("--teams", type=int, default=16, metavar="N", help="demo: number of teams (default 16)")
    parser.add_argument("--points", type=int, default=5, metavar="N", help="demo: points to win a game (5)")
    parser.add_argument("--pace", type=float, default=0.08, metavar="S", help="demo: seconds a hit (default 0.08)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="demo: random seed of the draw and the hits (default 1)"
    )
    parser.add_argument("--page", type=int, default=8090, metavar="N", help="demo: the boards' port (default 8090)")
    parser.add_argument(
        "--tables", type=int, default=4, metavar="N", help="setup and demo: number of tables, 1 to 64 (default 4)"
    )
    parser.add_argument("--venue", default="hall", metavar="NAME", help="setup: a short name of the tournament")
    parser.add_argument(
        "--host", action="append", metavar="NAME", help="setup: address of this machine for the tables; may be repeated"
    )
    parser.add_argument("--port", type=int, default=8883, help="setup: the broker's port (default 8883)")
    add_log_level(parser)
    return parser


def hub(argv: Sequence[str]) -> int:
    """Run the chosen action; return 0 or raise `MatError`."""
    args = hub_parser().parse_args(argv)
    set_log_level(args.log_level)
    if args.demo:
        return _demo(args)
    if args.do is None or args.folder is None:
        raise UsageError(
            "hub: an action and a folder are missing", "'moccasin-mat hub --help' lists them; --demo needs neither"
        )
    if (args.do in _ACTIONS_WITH_ARGUMENT) != (args.what is not None):
        raise UsageError(
            f"hub: only {join_words(_ACTIONS_WITH_ARGUMENT)} take a TABLE, a FILE or a CODE, and need one",
            "see 'moccasin-mat hub --help'",
        )
    verbs = {
        "run": _run,
        "setup": _set_up,
        "director": _director,
        "accept": _accept,
        "journals": _journals,
        "publish": _publish,
        "backup": _back_up,
        "restore": _restore,
        "join": _join,
    }
    with requires_extra("mqtt", "the link to the hub") if args.do == "join" else requires_extra("hub", "the hub"):
        return verbs[args.do](args)


def _run(args: argparse.Namespace) -> int:
    from pi_controller.hub.run import run_hub

    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    run_hub(args.folder)
    return 0


def _demo(args: argparse.Namespace) -> int:
    with requires_extra("hub", "the hub"):
        import amqtt.broker  # noqa: F401 - missing packages are reported before the tournament is set up

        from pi_controller.cli.hub_demo import Demo, run_demo
    if args.do is not None:
        raise UsageError("hub --demo takes no action", "leave out the action")
    if not 0.0 <= args.pace <= 60.0 or not 0 <= args.page <= 65535 or not 0 <= args.seed < 2**31:
        raise UsageError("hub --demo: a pace of 0 to 60 s, a port of 0 to 65535", "choose other values")
    return run_demo(Demo(args.teams, args.tables, args.points, args.pace, args.seed, args.page, args.once))


def _director(args: argparse.Namespace) -> int:
    from pi_controller.web.accounts import FILE, PinHasher, Users
    from pi_controller.web.judge_setup import new_head

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

    for path, records in write_journals(_store(args.folder), Path(args.what)).items():
        print(f"{path}: {records} records")
    return 0


def _publish(args: argparse.Namespace) -> int:
    from pi_controller.hub.publish import publish_store
    from pi_controller.hub.settings import load_hub
    from pi_controller.web.host_marks import load_host_marks

    out = Path(args.what)
    host = load_host_marks(load_hub(args.folder).marks)
    games = publish_store(_store(args.folder), out, time.time, host)
    print(f"{out / 'index.html'}: the results with {games} score sheets. Open it, upload the folder, or hand it over.")
    return 0


def _back_up(args: argparse.Namespace) -> int:
    from pi_controller.hub.store_copy import back_up

    print(f"{args.what}: {_describe_backup(back_up(_store(args.folder), Path(args.what)))}")
    return 0


def _restore(args: argparse.Namespace) -> int:
    from pi_controller.hub.settings import load_hub, store_from_settings
    from pi_controller.hub.store_copy import restore

    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = restore(Path(args.what), store_from_settings(load_hub(args.folder), args.folder))
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


def _accept(args: argparse.Namespace) -> int:
    from pi_controller.hub.inbox import Inbox

    with Inbox(_store(args.folder)) as inbox:
        accepted = inbox.accept(args.what)
    result = "accepted; the hub uses it within half a minute" if accepted else "there is no refused journal"
    print(f"{args.what}: {result}")
    return 0


def _join(args: argparse.Namespace) -> int:
    from pi_controller.config import read_settings
    from pi_controller.hub.join import is_newer_version, join, parse_code

    code = parse_code(args.what)
    path = settings_path(args) or FILE
    if not path.is_file():
        raise UsageError(
            f"there is no settings file {path}", "create one with 'moccasin-mat setup-table', then try again"
        )
    done = join(str(args.folder), code, path)
    account = done.account
    print(f"This table is {account.table} of {account.venue}, at the hub's broker {account.host} port {account.port}.")
    print(f"Written: {done.password} and {done.ca} (private to this user), and [hub] in {done.settings}.")
    print(f"In the hall it is called {read_settings(done.settings).table.name!r} ([table] name).")
    again = "sudo systemctl restart moccasin-mat" if path == INSTALLED else f"moccasin-mat run --settings {path}"
    print(f"Now start the table again: {again}")
    print("The boards show it as connected then.")
    if is_newer_version(__version__, account.program):
        print(f"This table's program ({__version__}) is newer than the hub's ({account.program}): update the hub.")
    return 0


def _set_up(args: argparse.Namespace) -> int:
    from pi_controller.config.fields import is_topic_name

    if not 1 <= args.tables <= MAX_TABLES or not 1 <= args.port <= 65535:
        raise UsageError(f"hub setup: 1 to {MAX_TABLES} tables, ports 1 to 65535", "choose other values")
    if not is_topic_name(args.venue):
        raise UsageError("hub setup: a venue's name is up to 31 small letters, digits, - and _", "choose another")
    from pi_controller.hub import setup

    hosts = args.host or [f"{socket.gethostname().split('.')[0]}.local", socket.gethostname()]
    tables = sorted({*setup.list_table_accounts(args.folder), *(f"t{n:02d}" for n in range(1, args.tables + 1))})
    folder, hosts = args.folder, [*dict.fromkeys([*hosts, "127.0.0.1"])]
    setup.write_hub_files(folder, args.venue, tables, hosts, args.port, datetime.now(UTC))
    print(f"Written to {folder}. The broker, then the hub:\n  /usr/sbin/mosquitto -c {folder}/{setup.CONF}")
    print(f"  moccasin-mat hub run {folder}")
    print(f"Each table gets the files of its folder, {folder}/{setup.TABLES}/{tables[0]} and so on, beside its")
    print("settings (keep them secret: they authenticate that table), and in its settings the contents of")
    print(f"{setup.FILE} there, whose [table] name replaces an earlier one. For {tables[0]}:\n")
    print((folder / setup.TABLES / tables[0] / setup.FILE).read_text("utf-8"), end="")
    print("\nOr without copying files: the director's console shows a join code for a table ('moccasin-mat hub join').")
    return 0
