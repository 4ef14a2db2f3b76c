"""Set up the judge's console of a table: users beside the journal, command queue, routes, and the first head judge.

There is no default password. If there are no users yet, a head judge's PIN is generated and shown only to the host:
in the terminal in which the program runs, or by `moccasin-mat judges`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from starlette.routing import Route

from pi_controller.config import Settings
from pi_controller.display.i18n import translator
from pi_controller.table.table import Table
from pi_controller.table.table_queue import TableQueue
from pi_controller.table.view import View
from pi_controller.web import roles
from pi_controller.web.accounts import Authenticator
from pi_controller.web.feed import Feed
from pi_controller.web.judge_api import JudgeApi, judge_routes
from pi_controller.web.pin_hash import PinHasher, new_pin
from pi_controller.web.sessions import Sessions
from pi_controller.web.users import FILE, UserError, Users


class JudgeConsole(NamedTuple):
    """A table's console: the main loop serves `command_queue`, the web server `routes`; close `users` at the end."""

    command_queue: TableQueue
    users: Users
    routes: list[Route]
    authenticator: Authenticator
    api: JudgeApi


def users_path(settings: Settings) -> Path:
    """Return the path of a table's user database: beside its journal, so that it survives the next game."""
    return settings.table.journal.parent / FILE


def make_judge_console(
    settings: Settings, table: Table, feed: Feed[View], clock: Callable[[], float], pins: PinHasher | None = None
) -> JudgeConsole:
    """Return the console of `table`; `clock` returns the table's time in seconds. Raises `UserError`."""
    users = Users(users_path(settings))
    authenticator = Authenticator(users, Sessions(users, settings.web.idle_min * 60.0), pins or PinHasher(), clock)
    command_queue = TableQueue()
    command_queue.update_picture(table)
    singer = settings.referee.singer == "reminder"
    judge = JudgeApi(
        command_queue, feed, authenticator, table.journal.path, translator(settings.web.language), singer=singer
    )
    return JudgeConsole(command_queue, users, judge_routes(judge), authenticator, judge)


def new_head(users: Users, pins: PinHasher, name: str = roles.HEAD) -> tuple[str, str]:
    """Make `name` a head judge, or give the existing one a new PIN; return the stored name and the PIN.

    Raises `UserError`.
    """
    pin = new_pin()
    found = users.find_by_name(name)
    if found is None:
        return users.add(name, "head", pins.hash(pin)).name, pin
    if found[0].role != "head":
        raise UserError(
            "{name} is a {role}", "choose another name for the head judge", name=found[0].name, role=found[0].role
        )
    users.give_pin(found[0].id, pins.hash(pin))
    return found[0].name, pin


def welcome(judges: JudgeConsole, *, shows: bool) -> str:
    """Return the start-up message about the first sign-in; with `shows` (a terminal, not a log) it has a PIN."""
    if judges.users.list_users():
        return ""
    if not shows:
        return "nobody can sign in as a judge yet: 'moccasin-mat judges --settings FILE new-head' says how"
    name, pin = new_head(judges.users, judges.authenticator.pins)
    return f"sign in at /judge as {name!r} with the PIN {pin} (shown this once)"
