"""`moccasin-mat judges`: manages who may sign in, from the machine's own shell, also while the table runs.

Whoever has this shell has the table anyway; it needs no PIN. What it prints is shown once and kept nowhere.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path
from pi_controller.errors import UsageError
from pi_controller.web.signing.roles import HEAD, ROLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.web.signing.users import User, Users

_DOES = {
    "list": "who may sign in",
    "new-head": "a head judge, or a new PIN for one: when nobody can sign in any more",
    "add": "NAME ROLE: somebody else",
    "new-pin": "NAME: a new PIN; their sessions end",
    "revoke": "NAME: their sessions end, their devices are forgotten",
    "remove": "NAME: they cannot sign in any more",
}


def parser() -> Parser:
    """Return the parser."""
    actions = "; ".join(f"{word}: {what}" for word, what in _DOES.items())
    parser = Parser("judges", f"Say who may sign in at the judge's console. {actions}.")
    add_settings(parser, "the table's settings: the people are beside its journal")
    parser.add_argument("does", choices=list(_DOES), help="what to do")
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"whom (new-head: {HEAD!r} if not said)")
    parser.add_argument("role", nargs="?", metavar="ROLE", help=" or ".join(ROLES))
    return parser


def main(argv: Sequence[str]) -> int:
    """Do one thing to the people of a table; return 0. Raises `UsageError`, `SettingsError` or `UserError`."""
    args = parser().parse_args(argv)
    from pi_controller.web.judging import users_path
    from pi_controller.web.signing.users import Users

    settings = load_settings(settings_path(args))
    with closing(Users(users_path(settings))) as users:
        for line in _done(users, args.does, args.name, args.role):
            print(line)
    if not settings.web.judges:
        print("note: these settings have no console: [web] judges = true opens it; an installation's /staff needs none")
    return 0


def _done(users: Users, does: str, name: str | None, role: str | None) -> list[str]:
    from pi_controller.web.judging import new_head
    from pi_controller.web.signing.pins import Pins, new_pin
    from pi_controller.web.signing.sessions import Sessions

    if does == "list":
        return [f"{one.name}: {one.role}" for one in users.everybody()] or ["nobody"]
    if does == "new-head":
        return [_pin(*new_head(users, Pins(), name or HEAD))]
    if not name:
        raise UsageError(f"judges {does}: whom?", "give a name, in quotes if it has spaces")
    if does == "add":
        if not role:
            raise UsageError("judges add: as what?", f"give a role: {', '.join(ROLES)}")
        pin = new_pin()
        return [_pin(users.add(name, role, Pins().hash(pin)).name, pin)]
    person = _named(users, name)
    if does == "new-pin":
        users.give_pin(person.id, Pins().hash(pin := new_pin()))
        return [_pin(person.name, pin)]
    if does == "revoke":
        return [f"{person.name}: {Sessions(users).revoke(person.id)} sessions ended"]
    users.remove(person.id)
    return [f"{person.name} is removed"]


def _named(users: Users, name: str) -> User:
    from pi_controller.web.signing.users import UserError

    found = users.named(name)
    if found is None:
        raise UserError(f"nobody is called {name}", "'moccasin-mat judges list' names everybody")
    return found[0]


def _pin(name: str, pin: str) -> str:
    return f"{name}: {pin} (shown this once)"
