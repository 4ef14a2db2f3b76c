"""`moccasin-mat hub`: sets up the hub of a tournament, runs it, accepts a table whose journal is another."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller import logging_setup
from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

MOST_TABLES = 64
_EPILOG = """\
  hub run FOLDER             receive from all tables and serve a page of them; on one machine nothing else is needed
  hub setup FOLDER           write Mosquitto's configuration, certificates, and an account for each table
  hub accept FOLDER TABLE    take a journal that was refused as another's: the card was changed on purpose"""


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "hub", "Keep every table's journal once more, and show all tables of a tournament on one page.", epilog=_EPILOG
    )
    parser.add_argument("do", choices=("run", "setup", "accept"), help="what to do")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the hub's files")
    parser.add_argument("table", metavar="TABLE", nargs="?", help="accept: the table's account")
    parser.add_argument("--tables", type=int, default=4, metavar="N", help="setup: t01 to so many, 1 to 64 (default 4)")
    parser.add_argument("--venue", default="hall", metavar="NAME", help="setup: a short name of the tournament")
    parser.add_argument(
        "--host", action="append", metavar="NAME", help="setup: where tables find this machine; may be given again"
    )
    parser.add_argument("--port", type=int, default=8883, help="setup: the broker's port (default 8883)")
    logging_setup.add_option(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Do it; return 0 or raise `MatError`."""
    args = parser().parse_args(argv)
    if (args.do == "accept") != (args.table is not None):
        raise UsageError("hub: only accept takes a TABLE, and needs one", "'moccasin-mat hub --help' tells more")
    logging_setup.configure(args.log_level)
    return {"run": _run, "setup": _set_up, "accept": _accept}[args.do](args)


def _run(args: argparse.Namespace) -> int:
    from pi_controller.fleet.hub_run import run_hub

    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    run_hub(args.folder)
    return 0


def _accept(args: argparse.Namespace) -> int:
    from pi_controller.fleet.hub_run import INBOX
    from pi_controller.fleet.inbox import Inbox

    if not (path := args.folder / INBOX).is_file():
        raise UsageError(f"there is no hub in {args.folder}", "name the folder that 'moccasin-mat hub run' was given")
    with Inbox(path) as inbox:
        accepted = inbox.accept(args.table)
    print(f"{args.table}: {'accepted; it is taken within half a minute' if accepted else 'nothing was refused'}")
    return 0


def _set_up(args: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from pi_controller.table.settings_fields import is_topic_name

    if not 1 <= args.tables <= MOST_TABLES or not 1 <= args.port <= 65535:
        raise UsageError(f"hub setup: 1 to {MOST_TABLES} tables, ports 1 to 65535", "choose others")
    if not is_topic_name(args.venue):
        raise UsageError("hub setup: a venue's name is up to 31 small letters, digits, - and _", "choose another")
    try:
        from pi_controller.fleet import hub_setup
    except ImportError as error:
        raise UsageError("hub setup needs more packages", "pip install '.[hub]' in the clone") from error

    hosts = args.host or [f"{socket.gethostname().split('.')[0]}.local", socket.gethostname()]
    tables = sorted({*hub_setup.known_tables(args.folder), *(f"t{n:02d}" for n in range(1, args.tables + 1))})
    folder, hosts = args.folder, [*dict.fromkeys([*hosts, "127.0.0.1"])]
    hub_setup.set_up(folder, args.venue, tables, hosts, args.port, datetime.now(UTC))
    print(f"Written to {folder}. The broker, then the hub:\n  mosquitto -c {folder}/{hub_setup.CONF}")
    print(f"  moccasin-mat hub run {folder}")
    print(f"Each table gets the files of its folder, {folder}/{hub_setup.TABLES}/{tables[0]} and so on, beside its")
    print("settings (keep them secret: who has them speaks for that table), and in its settings what stands in")
    print(f"{hub_setup.FILE} there, so for {tables[0]}:\n")
    print((folder / hub_setup.TABLES / tables[0] / hub_setup.FILE).read_text("utf-8"), end="")
    return 0
