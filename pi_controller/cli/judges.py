"""`moccasin-mat judges`: manage the accounts of a table from the machine's own shell, also while the table runs.

It needs no PIN, because access to this shell means access to the table anyway. PINs are printed once and not stored.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path
from pi_controller.errors import UsageError
from pi_controller.web.roles import HEAD, ROLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.web.accounts import User, Users

_ACTIONS = {
    "list": "list the users",
    "new-head": "a head judge, or a new PIN for one, if no user can sign in any more",
    "add": "NAME ROLE: another user",
    "new-pin": "NAME: a new PIN; their sessions end",
    "revoke": "NAME: their sessions end, their devices are forgotten",
    "remove": "NAME: they cannot sign in any more",
}


def parser() -> Parser:
    """Return the parser."""
    actions = "; ".join(f"{word}: {what}" for word, what in _ACTIONS.items())
    parser = Parser("judges", f"Manage the users of the judge's console. {actions}.")
    add_settings(parser, "the table's settings: the users are stored beside its journal")
    parser.add_argument("does", choices=list(_ACTIONS), help="what to do")
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"name of the user (new-head: {HEAD!r} by default)")
    parser.add_argument("role", nargs="?", metavar="ROLE", help=" or ".join(ROLES))
    return parser


def main(argv: Sequence[str]) -> int:
    """Do one action on the accounts of a table; return 0. Raises `UsageError`, `SettingsError` or `UserError`."""
    args = parser().parse_args(argv)
    from pi_controller.web.accounts import Users
    from pi_controller.web.judge_api import users_path

    settings = load_settings(settings_path(args))
    with closing(Users(users_path(settings))) as users:
        for line in _done(users, args.does, args.name, args.role):
            print(line)
    if not settings.web.judges:
        print("note: these settings have no console: [web] judges = true opens it; an installation's /staff needs none")
    return 0


def _done(users: Users, does: str, name: str | None, role: str | None) -> list[str]:
    from pi_controller.web.accounts import PinHasher, Sessions, new_pin
    from pi_controller.web.judge_api import new_head

    if does == "list":
        return [f"{one.name}: {one.role}" for one in users.list_users()] or ["nobody"]
    if does == "new-head":
        return [_pin(*new_head(users, PinHasher(), name or HEAD))]
    if not name:
        raise UsageError(f"judges {does}: the name is missing", "give a name, in quotes if it has spaces")
    if does == "add":
        if not role:
            raise UsageError("judges add: the role is missing", f"give a role: {', '.join(ROLES)}")
        pin = new_pin()
        return [_pin(users.add(name, role, PinHasher().hash(pin)).name, pin)]
    person = _find_user(users, name)
    if does == "new-pin":
        users.give_pin(person.id, PinHasher().hash(pin := new_pin()))
        return [_pin(person.name, pin)]
    if does == "revoke":
        return [f"{person.name}: {Sessions(users).revoke(person.id)} sessions ended"]
    users.remove(person.id)
    return [f"{person.name} is removed"]


def _find_user(users: Users, name: str) -> User:
    from pi_controller.web.accounts import UserError

    found = users.find_by_name(name)
    if found is None:
        raise UserError(f"there is no user {name}", "'moccasin-mat judges list' lists all users")
    return found[0]


def _pin(name: str, pin: str) -> str:
    return f"{name}: {pin} (shown this once)"
