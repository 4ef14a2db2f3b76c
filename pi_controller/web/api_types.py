"""Types of what the server sends and takes as JSON: its answers are made as these, and `openapi` describes them.

They are dictionaries, so that each answer stands in the code as it is sent.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from pi_controller.mat.events import SensorFault
from pi_controller.referee.judge import JudgeCall
from pi_controller.table.view import View
from pi_controller.web.console_page import Console
from pi_controller.web.console_play import FoulsOf
from pi_controller.web.event_log import Line
from pi_controller.web.judge_command import KEY, MOST_NUMBER
from pi_controller.web.judge_people import LONGEST_NAME, LONGEST_PIN
from pi_controller.web.signing.roles import Role

Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]


class BoardContent(TypedDict):
    """What a page shows of a view, by the keys of its elements: `texts` in the table's language, `marks` by which they
    are styled, `counts` of sticks (lit, of how many); `table` is HTML, escaped."""

    texts: dict[str, str]
    marks: dict[str, str]
    counts: dict[str, tuple[int, int]]
    layout: str
    table: str


class EventContent(BoardContent):
    """The data of an event `view`: the public view, and what the page shows of it."""

    view: View


class Health(TypedDict):
    """Whether the table plays on: `ok` is false before its first view, and while its journal cannot be written."""

    ok: bool
    seq: int | None
    phase: str | None
    link: bool | None
    watchers: int


class NoView(TypedDict):
    """There is no view yet."""

    error: str


class Fault(TypedDict):
    """Why a request was refused: `code` for programs, `what` is wrong and what `todo` for people. Where it helps to
    wait, `wait_s` says how long, s."""

    code: str
    what: str
    todo: str
    wait_s: NotRequired[float]


class Refusal(TypedDict):
    """A request that was refused, and changed nothing."""

    error: Fault


class SignIn(TypedDict):
    """Somebody's name and PIN."""

    name: Name
    pin: Annotated[str, Meta(min_length=1, max_length=LONGEST_PIN)]


class Me(TypedDict):
    """Who is signed in."""

    name: str
    role: str


class SignedIn(Me):
    """The cookie of the session comes with it."""

    ok: Literal[True]


class Done(TypedDict):
    """It is done."""

    ok: Literal[True]


class CommandSent(TypedDict):
    """A call to the table. With the same `key` it counts once, however often it is sent. `expect` is the `revision` of
    the view it was given on: when the table has moved on it is refused as stale and changes nothing."""

    key: Annotated[str, Meta(pattern=f"^{KEY}$")]
    expect: NotRequired[Annotated[int, Meta(ge=-MOST_NUMBER, le=MOST_NUMBER)] | None]
    call: JudgeCall


class CommandDone(TypedDict):
    """The journal's record `seq` that holds the call, and the table's `revision` after it; `repeated` where it was
    done before."""

    ok: Literal[True]
    seq: int
    repeated: bool
    revision: int


class ProtestContent(TypedDict):
    """A protest that is not decided; with `play_on` play goes on before it is."""

    by: str
    text: str
    play_on: bool


class Side(TypedDict):
    """A team or a player, and what they are called."""

    value: str
    label: str


class HealthContent(TypedDict):
    """How mat and board are: `note` and `board` in words, `faults` the sensors that cannot be believed."""

    link: bool
    note: str
    faults: tuple[SensorFault, ...]
    sensors: bool
    board: str


class StateContent(TypedDict):
    """All that the console shows: the public view with the page's texts, what can be entered, fouls that can be
    called, the end of the journal in words, newest last. `now` is the table's clock, s."""

    view: View
    board: BoardContent
    console: Console
    me: Me
    legal: tuple[dict[str, Any], ...]
    fouls: tuple[FoulsOf, ...]
    protest: ProtestContent | None
    rulings: tuple[str, ...]
    sides: list[Side]
    log: tuple[Line, ...]
    health: HealthContent
    now: float


class KeptHit(TypedDict):
    """A hit that can be looked at: its number `n`, the hide, when (`t`, s), the pads it may have been on, and how far
    the loudest was above the next, dB."""

    n: int
    hide: int
    t: float
    pads: tuple[int, ...]
    margin_db: float | None
    sure: bool


class KeptHits(TypedDict):
    """The hits that whoever asks may look at, the newest last."""

    hits: list[KeptHit]


class SessionContent(TypedDict):
    """A device that is signed in: since when, and when it was last seen, s on the table's clock."""

    id: str
    began: float
    seen: float


class Person(TypedDict):
    """Somebody who may sign in."""

    id: int
    name: str
    role: str
    sessions: list[SessionContent]


class People(TypedDict):
    """Who may sign in, and the roles there are."""

    roles: tuple[Role, ...]
    people: list[Person]


class AddPerson(TypedDict):
    """Let somebody sign in."""

    do: Literal["add"]
    name: Name
    role: Role


class ChangePerson(TypedDict):
    """Make a new PIN for somebody, end all their sessions, or let them sign in no more."""

    do: Literal["new_pin", "revoke", "remove"]
    id: int


class PeopleChanged(TypedDict):
    """It is done. A new `pin` stands here and nowhere else; `ended` counts the sessions that were."""

    ok: Literal[True]
    id: NotRequired[int]
    name: NotRequired[str]
    role: NotRequired[str]
    pin: NotRequired[str]
    ended: NotRequired[int]
