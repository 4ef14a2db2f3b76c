"""Types of the JSON that a table's server sends and accepts; `openapi` describes them.

Requests are Structs, decoded by `requests.decode`. Answers are dictionaries, written in the code as they are sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, Union, get_args

import msgspec
from msgspec import Meta

from pi_controller.referee.judge import JudgeCommand
from pi_controller.referee.story import Protest
from pi_controller.sensing.events import SensorFault
from pi_controller.table.view import View
from pi_controller.text import MAX_NAME_CHARS, strip_controls_deep
from pi_controller.web import console_page, entry_forms, event_log, requests
from pi_controller.web.roles import Role

MAX_PIN_CHARS = 64
if TYPE_CHECKING:
    JudgeCall = JudgeCommand
else:
    _calls = [requests.request_struct(kind, "t") for kind in get_args(JudgeCommand)]
    JudgeCall = Union[tuple(_calls)]  # noqa: UP007 - there is no list to write down
Name = Annotated[str, Meta(min_length=1, max_length=4 * MAX_NAME_CHARS)]
"""A name as it is typed: an accent may be a character of its own. `Users.add` checks its length."""


class EventContent(msgspec.Struct, frozen=True):
    """The data of an event `view`: the public view, and the HTML of the page's regions in the table's language."""

    view: View
    regions: dict[str, str]


class ServerHealth(TypedDict):
    """Whether the table works: `ok` is false before its first view, and while its journal cannot be written."""

    ok: bool
    seq: int | None
    phase: str | None
    link: bool | None
    watchers: int


class SignIn(msgspec.Struct, forbid_unknown_fields=True):
    """A user's name and PIN."""

    name: Name
    pin: Annotated[str, Meta(min_length=1, max_length=MAX_PIN_CHARS)]


class SignOut(msgspec.Struct, forbid_unknown_fields=True):
    """No fields."""


class Me(TypedDict):
    """The signed-in user."""

    name: str
    role: str


class SignedInAnswer(Me):
    """The signed-in user; the session's cookie is sent with it."""

    ok: Literal[True]


class Done(TypedDict):
    """The request succeeded."""

    ok: Literal[True]


class CommandSent(msgspec.Struct, forbid_unknown_fields=True):
    """A call to the table.

    `key` is an idempotency key: repeated requests count once. `expect` is the `revision` of the view for which the call
    was made: if the table has changed since, the call is refused as stale.
    """

    key: requests.CommandKey
    call: JudgeCall
    expect: Annotated[int, Meta(ge=-requests.MAX_NUMBER, le=requests.MAX_NUMBER)] | None = None


def to_judge_command(sent: CommandSent) -> JudgeCommand:
    """Return the call that was sent, without invisible characters, at time 0. Raises `RequestError`."""
    content: dict[str, Any] = strip_controls_deep(msgspec.to_builtins(sent.call))
    return requests.complete(content, JudgeCommand, t=0.0)


class CommandDone(TypedDict):
    """The journal's record `seq` that holds the call, and the table's `revision` after it.

    `repeated` is true if the call had been made before.
    """

    ok: Literal[True]
    seq: int
    repeated: bool
    revision: int


class HealthContent(TypedDict):
    """The state of mat and board: `note` and `board` as text, `faults` are the unreliable sensors."""

    link: bool
    note: str
    faults: tuple[SensorFault, ...]
    sensors: bool
    board: str


class StateContent(TypedDict):
    """All content of the console: the view, the page's regions, possible actions and fouls, and the latest log lines.

    `log` has the newest line last; `now` is the table's clock, s.
    """

    view: View
    regions: dict[str, str]
    console: console_page.Console
    me: Me
    legal: tuple[dict[str, Any], ...]
    fouls: tuple[entry_forms.FoulsOf, ...]
    protest: Protest | None
    rulings: tuple[str, ...]
    log: tuple[event_log.LogLine, ...]
    health: HealthContent
    now: float


class KeptHit(TypedDict):
    """A hit that was recorded: its number `n`, hide, time (`t`, s) and possible pads.

    `margin_db` is how far the loudest pad was above the next, dB.
    """

    n: int
    hide: int
    t: float
    pads: tuple[int, ...]
    margin_db: float | None
    sure: bool


class KeptHits(TypedDict):
    """The recorded hits that this user may see, the newest last."""

    hits: list[KeptHit]


class Person(TypedDict):
    """A user who may sign in, with the number of devices on which they are signed in."""

    id: int
    name: str
    role: str
    sessions: int


class PeopleAnswer(TypedDict):
    """The users who may sign in, and the roles."""

    roles: tuple[Role, ...]
    people: list[Person]


PersonId = Annotated[int, Meta(ge=1, le=requests.MAX_NUMBER)]


class _PeopleChange(msgspec.Struct, forbid_unknown_fields=True, tag_field="do"):
    pass


class AddPerson(_PeopleChange, tag="add"):
    """Add a user."""

    name: Name
    role: Role


class GivePin(_PeopleChange, tag="new_pin"):
    """Give a user a new PIN."""

    id: PersonId


class EndSessions(_PeopleChange, tag="revoke"):
    """End all sessions of a user."""

    id: PersonId


class RemovePerson(_PeopleChange, tag="remove"):
    """Remove a user."""

    id: PersonId


PeopleChange = AddPerson | GivePin | EndSessions | RemovePerson


class PeopleChanged(TypedDict):
    """The change was made. A new `pin` is only in this answer; `ended` is the number of ended sessions."""

    ok: Literal[True]
    id: NotRequired[int]
    name: NotRequired[str]
    role: NotRequired[str]
    pin: NotRequired[str]
    ended: NotRequired[int]
