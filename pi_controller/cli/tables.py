"""`moccasin-mat run`, `exhibit` and `judges`: a table, an unattended installation, and who may sign in there.

With `exhibit --sim` simulated visitors play until a real visitor touches the page; they return when that visitor has
left. `judges` also works while the table runs. It needs no PIN, because access to this shell means access to the table
anyway. PINs are printed once and not stored.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import (
    Parser,
    add_action_parsers,
    add_json,
    add_log_level,
    add_settings,
    load_settings,
    print_json,
    set_log_level,
    settings_path,
)
from pi_controller.errors import MatError
from pi_controller.host.place import make_place
from pi_controller.host.platform import require_linux
from pi_controller.web.roles import HEAD, ROLES

if TYPE_CHECKING:
    from pi_controller.config import Settings
    from pi_controller.display.sound import AplaySound
    from pi_controller.host.findings import Finding
    from pi_controller.web.users import User, Users


def run_parser() -> Parser:
    """Return the parser of `run`."""
    parser = Parser(
        "run",
        "Run a table: the board, the buttons, the strips, the live page. Ctrl-C stops it. At a terminal, with no "
        "settings yet, it first asks the questions of 'moccasin-mat settings new'.",
    )
    add_settings(parser, "the table's settings")
    add_log_level(parser)
    return parser


def run(argv: Sequence[str]) -> int:
    """Run a table until it is stopped; return 0 or raise `MatError`."""
    args = run_parser().parse_args(argv)
    require_linux("run")
    set_log_level(args.log_level)
    path = settings_path(args)
    if path is None and sys.stdin.isatty() and sys.stdout.isatty():
        from pi_controller.cli.settings import offer_setup

        path = offer_setup()
    from pi_controller.host.status import own_channel, report_start_faults
    from pi_controller.runtime.run import run_table

    with report_start_faults(own_channel()):
        again = run_table(load_settings(path), path, partial(_report, path, name="table.txt"))
    if again:  # as a new process, in which nothing of the old settings is left
        sys.stdout.flush()
        named = [] if path is None else ["--settings", str(path)]
        command = [sys.executable, "-m", "pi_controller", "run", *named, "--log-level", args.log_level]
        os.execv(sys.executable, command)  # noqa: S606 - its own command
    return 0


def exhibit_parser() -> Parser:
    """Return the parser of `exhibit`."""
    parser = Parser(
        "exhibit",
        "Run the unattended installation of a cultural centre: visitors play against the mat, against each other, "
        "or learn the game, on the page at the printed address.",
        "0 done, 1 --check found a fault in the host's texts",
    )
    add_settings(parser, "the settings [exhibit] and [web]")
    parser.add_argument(
        "--sim", action="store_true", help="no mat: only the screen, with simulated visitors until the first touch"
    )
    parser.add_argument("--port", metavar="N", type=int, help="the page's port (default: of the settings)")
    parser.add_argument("--seed", metavar="N", type=int, help="random seed of the simulated visitors")
    parser.add_argument(
        "--check",
        metavar="FOLDER",
        nargs="?",
        const="",
        help="check and print the host's texts and pictures, in [exhibit] folder or in another",
    )
    return parser


def exhibit(argv: Sequence[str]) -> int:
    """Run the installation until Ctrl-C; return the exit status."""
    args = exhibit_parser().parse_args(argv)
    require_linux("exhibit")
    from pi_controller.host.status import own_channel, report_start_faults

    path = settings_path(args)
    with report_start_faults(own_channel()):
        settings = load_settings(path)
    if args.check is not None:
        return _check_texts(args.check or settings.exhibit.folder)
    from pi_controller.runtime.run import run_exhibit

    if args.sim:
        settings = _screen_only_settings(settings)
    if args.port is not None:
        settings = settings.model_copy(update={"web": settings.web.model_copy(update={"port": args.port})})
    visitors = []
    if args.sim:
        import random

        from pi_controller.simulation.visitors import Visitors

        visitors = [Visitors(random.Random(args.seed))]  # noqa: S311 - it decides for simulated people alone
    with report_start_faults(own_channel()):
        options = {
            "report": partial(_report, path),
            "examine": partial(_examine, path),
            "file": None if args.sim else path,
        }
        run_exhibit(settings, (path or Path()).parent, visitors, **options)
    return 0


def _examine(path: Path | None, sound: AplaySound) -> Iterator[Finding | None]:
    """Yield the doctor's lines for a running exhibit, whose loudspeaker is `sound`."""
    from pi_controller.tools.doctor import examine_exhibit

    yield from examine_exhibit(path, sound)


def _report(path: Path | None, told: str, name: str = "installation.txt") -> bytes:
    """Return the diagnostic report as a ZIP; `told`, the page's text, is its file `name`."""
    from pi_controller.host import warning_log
    from pi_controller.tools import support_bundle
    from pi_controller.tools.doctor import examine_without_mat

    warnings = warning_log.read_log(make_place().state / warning_log.FILE)
    more = {name: told, warning_log.FILE: warnings}
    # the service's full log contains the names of signed-in staff
    return support_bundle.pack_bundle(
        *examine_without_mat(path), f"only warnings are in this report, in {warning_log.FILE}\n", more
    )


def _screen_only_settings(settings: Settings) -> Settings:
    """Return the settings of an installation without a mat, at a free port unless the file names one."""
    web = settings.web if "port" in settings.web.model_fields_set else settings.web.model_copy(update={"port": 0})
    exhibit = settings.exhibit.model_copy(update={"mat": "screen", "opens": "", "closes": ""})
    return settings.model_copy(update={"web": web, "exhibit": exhibit})


def _check_texts(folder: str) -> int:
    from pi_controller.exhibit.host_files import TEXTS, read_host_texts
    from pi_controller.exhibit.pages import host_lines

    if not folder:
        print("[exhibit] folder is empty: visitors see the default texts")
        return 0
    try:
        texts, pictures = read_host_texts(Path(folder))
    except MatError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(host_lines(texts)) or f"{TEXTS} is empty: visitors see the default texts")
    print("".join(f"picture: {name}, {len(content)} bytes\n" for name, (content, _) in pictures.items()), end="")
    return 0


_JUDGE_ACTIONS = {
    "list": "List the users.",
    "new-head": "Make a head judge, or a new PIN for one, if no user can sign in any more.",
    "add": "Add another user.",
    "new-pin": "Make a new PIN for a user; their sessions end.",
    "revoke": "End a user's sessions and forget their devices.",
    "remove": "Remove a user.",
}


def judges_parser() -> Parser:
    """Return the parser of `judges`, with a parser for each action."""
    parser = Parser("judges", "Manage the users of the judge's console.")
    what = "the table's settings: the users are stored beside its journal"
    add_settings(parser, what)
    made = add_action_parsers(parser, _JUDGE_ACTIONS)
    for name, action in made.items():
        add_settings(action, what, default=argparse.SUPPRESS)  # keeps what stands before the action
        if name == "new-head":
            action.add_argument("name", nargs="?", metavar="NAME", default=HEAD, help=f"name of the user ({HEAD})")
        elif name != "list":
            action.add_argument("name", metavar="NAME", help="name of the user, in quotes if it has spaces")
    add_json(made["list"])
    made["add"].add_argument("role", choices=ROLES, metavar="ROLE", help=" or ".join(ROLES))
    return parser


def judges(argv: Sequence[str]) -> int:
    """Do one action on the accounts of a table; return 0. Raises `UsageError`, `SettingsError` or `UserError`."""
    args = judges_parser().parse_args(argv)
    from pi_controller.web.judge_setup import users_path
    from pi_controller.web.users import Users

    path = settings_path(args)
    settings = load_settings(path)
    with closing(Users(users_path(settings))) as users:
        if args.action == "list":
            _list_judges(users, json=args.json)
        else:
            print(_change_users(users, args))
    if path is None and not settings.web.judges:
        print("note: without --settings FILE these are the defaults, which have no console", file=sys.stderr)
    elif not settings.web.judges:
        print(
            "note: these settings have no console: [web] judges = true opens it; an installation's /staff needs none",
            file=sys.stderr,
        )
    return 0


def _list_judges(users: Users, *, json: bool) -> None:
    listed = [{"name": user.name, "role": user.role} for user in users.list_users()]
    if json:
        print_json(listed)
    else:
        print("\n".join(f"{user['name']}: {user['role']}" for user in listed) or "nobody")


def _change_users(users: Users, args: argparse.Namespace) -> str:
    from pi_controller.web.judge_setup import new_head
    from pi_controller.web.pin_hash import PinHasher, new_pin
    from pi_controller.web.sessions import Sessions

    if args.action == "new-head":
        return _format_pin(*new_head(users, PinHasher(), args.name))
    pin = new_pin()
    if args.action == "add":
        return _format_pin(users.add(args.name, args.role, PinHasher().hash(pin)).name, pin)
    person = _find_user(users, args.name)
    if args.action == "new-pin":
        users.give_pin(person.id, PinHasher().hash(pin))
        return _format_pin(person.name, pin)
    if args.action == "revoke":
        return f"{person.name}: {Sessions(users).revoke(person.id)} sessions ended"
    users.remove(person.id)
    return f"{person.name} is removed"


def _find_user(users: Users, name: str) -> User:
    from pi_controller.web.users import UserError

    found = users.find_by_name(name)
    if found is None:
        raise UserError(f"there is no user {name}", "'moccasin-mat judges list' lists all users")
    return found[0]


def _format_pin(name: str, pin: str) -> str:
    return f"{name}: {pin} (shown this once)"
