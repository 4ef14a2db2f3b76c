"""Messages between a table and the hub: strict JSON, each field and each message bounded.

A table sends `Hello` and `Events`, the hub answers both with `Ack`; `State` is whether somebody is there. The public
view (`table.view.View`) is sent as it is on the live page. The hub gives a table an `Order` to play a match, and the
table says in a `Reply` what became of it. `Health` is how the table's machine is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from pi_controller.errors import MatError
from pi_controller.machine_health import MachineHealth
from pi_controller.table.chain import EPOCH_BYTES, Row
from pi_controller.table.settings_fields import is_topic_name
from pi_controller.table.view import View

ROOT = "mat/v1"
MOST_BYTES = 1 << 20
"""Of a message; the broker is set up to take no longer one."""
MOST_RECORDS = 64
MOST_GAMES = 1024
ORDER = "cmd/match"
"""What the hub gives a table to play."""

_Hex = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_Epoch = Annotated[str, Meta(pattern=f"^[0-9a-f]{{{2 * EPOCH_BYTES}}}$")]
_Count = Annotated[int, Meta(ge=0, lt=2**53)]
_Word = Annotated[str, Meta(max_length=80)]
_Name = Annotated[str, Meta(min_length=1, max_length=40)]
_ROOT = ROOT.split("/")

Refusal = Literal["", "replaced", "tampered"]
Presence = Literal["ready", "stopped", "lost"]


class MessageError(MatError, ValueError):
    """What came over the network is no message of this kind."""

    code = "message"


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """A record of a journal, as `table.chain.Row`."""

    seq: Annotated[int, Meta(ge=1, lt=2**53)]
    batch: Annotated[int, Meta(ge=1, lt=2**53)]
    t: float
    kind: _Word
    body: Annotated[str, Meta(max_length=MOST_BYTES)]
    hash: _Hex

    def row(self) -> Row:
        """Return it as the journal and its chain have it."""
        return Row(self.seq, self.batch, self.t, self.kind, self.body, self.hash)


class Game(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """A journal at the table: its epoch (hex), and its last record's number."""

    epoch: _Epoch
    seq: _Count


class Hello(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table is there and asks where to go on. `games` are its journals, the one that is played last.

    `ask` comes back in the answer, which is so told from every other. `program` is the version of the program.
    """

    ask: _Word
    games: Annotated[tuple[Game, ...], Meta(min_length=1, max_length=MOST_GAMES)]
    program: _Word = ""


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Records of the journal with this epoch, in order and without a gap."""

    epoch: _Epoch
    records: Annotated[tuple[Record, ...], Meta(min_length=1, max_length=MOST_RECORDS)]


class Ack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The hub has every record of `epoch` up to `seq` on its disk. `ask` is that of the hello it answers, "" of events.

    `refused`: it takes nothing of it; "replaced" is a journal that does not follow any the hub has of this table,
    "tampered" one that is not what it was.
    """

    epoch: _Epoch
    seq: _Count
    ask: _Word = ""
    refused: Refusal = ""


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether a table or the hub is there; "lost" is its last will. `since` tells one start of the program from others.

    `name` is what people call it.
    """

    state: Presence
    since: _Word
    name: _Word = ""


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The match that the table is to play, retained; `order` names this giving of it and is "" for none.

    `options` are the organiser's choices of the game's own options, for all tables the same. Where the round has one
    clock it ends the game at `ends` (s of the hub's clock), or stands with `left_s` to go; `sent` is when this was
    sent, by the hub's clock, which is not the table's.
    """

    order: _Word = ""
    tournament: _Word = ""
    match: _Word = ""
    game: _Word = ""
    version: _Word = ""
    options: Annotated[dict[_Word, Any], Meta(max_length=64)] = {}
    teams: Annotated[dict[Literal["A", "B"], _Name], Meta(max_length=2)] = {}
    ends: float | None = None
    left_s: Annotated[float, Meta(ge=0, le=86_400)] | None = None
    sent: float | None = None


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of `order` at the table, retained: it was taken (once, whatever comes again), or `why` it was not."""

    order: _Word
    taken: bool
    why: Annotated[str, Meta(max_length=400)] = ""


class Health(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the table's machine is, retained; `t` is its clock (seconds since 1970), `link` whether its mat is heard."""

    t: float
    machine: MachineHealth
    link: bool = False


Message = Hello | Events | Ack | State | View | Order | Reply | Health
_KINDS: dict[str, Any] = {
    "hello": Hello, "ev": Events, "ack": Ack, "state": State, "view": View, ORDER: Order, "match": Reply,
    "health": Health,
}  # fmt: skip
_Kind = TypeVar("_Kind", Hello, Events, Ack, State, View, Order, Reply, Health)


class Address(NamedTuple):
    """Where a message came: `table` is "" for the hub's own; `kind` the topic's last word, or with `cmd/` before it."""

    venue: str
    table: str
    kind: str


def topic(venue: str, table: str, kind: str) -> str:
    """Return the topic of a table's messages of this kind; with `table` "" of the hub's, "+" of all tables'.

    >>> topic("hall", "t01", "ev"), topic("hall", "", "state")
    ('mat/v1/hall/t/t01/ev', 'mat/v1/hall/hub/state')
    """
    return f"{ROOT}/{venue}/t/{table}/{kind}" if table else f"{ROOT}/{venue}/hub/{kind}"


def address(text: str) -> Address:
    """Return what the topic `text` says. Raises `MessageError`."""
    match text.split("/"):
        case [*root, venue, "t", table, "cmd", "match"] if (
            root == _ROOT and is_topic_name(venue) and is_topic_name(table)
        ):
            return Address(venue, table, ORDER)
        case [*root, venue, "t", table, kind] if (
            root == _ROOT and is_topic_name(venue) and is_topic_name(table) and kind in _KINDS
        ):
            return Address(venue, table, kind)
        case [*root, venue, "hub", "state"] if root == _ROOT and is_topic_name(venue):
            return Address(venue, "", "state")
        case _:
            raise MessageError("a message came under an unknown topic", "look at who else uses this broker")


def encode(message: Message) -> bytes:
    """Return `message` as it is sent. Raises `MessageError` where it is longer than any may be."""
    data = msgspec.json.encode(message)
    if len(data) > MOST_BYTES:
        raise MessageError(f"a message of {len(data)} bytes is not sent: {MOST_BYTES} are the most")
    return data


def decode(data: bytes, kind: type[_Kind]) -> _Kind:
    """Return the message of this kind in `data`. Raises `MessageError`, which says what is wrong with it."""
    name = kind.__name__.lower()
    if len(data) > MOST_BYTES:
        raise MessageError(f"no {name}: {len(data)} bytes, {MOST_BYTES} are the most")
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise MessageError(f"no {name}: {error}", "see that table and hub have the same version") from error
