"""Sets up the judge's console of a table: users beside the journal, command queue, routes, and the first head judge.

No password is there from the start. Where nobody is known yet a head judge's PIN is made and shown where only the host
is: on the terminal that the program runs in, or by `moccasin-mat judges` in the machine's shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_controller.table.command_queue import CommandQueue
from pi_controller.web.judge_api import JudgeApi, judge_routes
from pi_controller.web.signing.authenticator import Authenticator
from pi_controller.web.signing.pins import Pins, new_pin
from pi_controller.web.signing.roles import HEAD
from pi_controller.web.signing.sessions import Sessions
from pi_controller.web.signing.users import FILE, UserError, Users

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.routing import Route

    from pi_controller.table.settings import Settings
    from pi_controller.table.table import Table
    from pi_controller.web.feed import Feed


class Judging(NamedTuple):
    """A table's console: the loop serves `command_queue`, the web `routes`; close `users` at the end."""

    command_queue: CommandQueue
    users: Users
    routes: list[Route]
    authenticator: Authenticator


def users_path(settings: Settings) -> Path:
    """Return the path of a table's user database: beside its journal, so that the next game has it too."""
    return settings.table.journal.parent / FILE


def judging(
    settings: Settings, table: Table, feed: Feed, clock: Callable[[], float], pins: Pins | None = None
) -> Judging:
    """Return the console of `table`; `clock` gives the table's time in seconds. Raises `UserError`."""
    users = Users(users_path(settings))
    authenticator = Authenticator(users, Sessions(users, settings.web.idle_min * 60.0), pins or Pins(), clock)
    command_queue = CommandQueue()
    command_queue.show(table)
    api = JudgeApi(command_queue, feed, authenticator, table.journal.path, settings.web.language)
    return Judging(command_queue, users, judge_routes(api), authenticator)


def new_head(users: Users, pins: Pins, name: str = HEAD) -> tuple[str, str]:
    """Make `name` a head judge, or give the one who is it already a new PIN; return the name as kept, and the PIN.

    Raises `UserError`.
    """
    pin = new_pin()
    found = users.named(name)
    if found is None:
        return users.add(name, "head", pins.hash(pin)).name, pin
    if found[0].role != "head":
        raise UserError(f"{found[0].name} is a {found[0].role}", "choose another name for the head judge")
    users.give_pin(found[0].id, pins.hash(pin))
    return found[0].name, pin


def welcome(judges: Judging, *, shows: bool) -> str:
    """Return what to print at the start: with `shows` (a terminal, no log) the first head judge's PIN."""
    if judges.users.everybody():
        return ""
    if not shows:
        return "nobody can sign in as a judge yet: 'moccasin-mat judges --settings FILE new-head' says how"
    name, pin = new_head(judges.users, judges.authenticator.pins)
    return f"sign in at /judge as {name!r} with the PIN {pin} (shown this once)"
