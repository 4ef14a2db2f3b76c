"""What a table posts to the hub, and the answer: strict JSON with a limit for each field and each message.

A table posts a `TableReport` (POST `/api/tables/{table}/records`) whenever it has news, and every `REPORT_S` without;
the `HubAnswer` has the acknowledgement, the order in force and the hub's clock. A report carries at most one question
(`Hello`) or part of a journal (`Events`), the newest public view as on the live page, the machine's health, and the
reply to an order. Reports may be repeated: records are known by table, epoch, number and hash.
"""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.errors import MatError
from pi_controller.host.machine_health import MachineHealth
from pi_controller.journal.chain import EPOCH_BYTES, JournalRow
from pi_controller.json_decoders import json_decoder
from pi_controller.table.view import View
from pi_controller.text import MAX_NAME_CHARS

RECORDS_PATH = "/api/tables/{table}/records"
"""Where a table posts its reports."""
REPORT_S, LOST_S = 1.0, 5.0
"""How often a table without news reports, and how long without a report it counts as connected, s."""
MAX_MESSAGE_BYTES = 1 << 20
"""Maximum length of a report or an answer."""
MAX_RECORDS = 64
MAX_GAMES = 1024


_Hex = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_Epoch = Annotated[str, Meta(pattern=f"^[0-9a-f]{{{2 * EPOCH_BYTES}}}$")]
_Count = Annotated[int, Meta(ge=0, lt=2**53)]
_Word = Annotated[str, Meta(max_length=80)]
_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]

RefusalReason = Literal["", "replaced", "tampered"]
Presence = Literal["ready", "stopped", "lost"]


class MessageError(MatError, ValueError):
    """Received data is not a valid message of this kind."""

    code = "message"


class SentRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """A record of a journal, as `journal.chain.JournalRow`."""

    seq: Annotated[int, Meta(ge=1, lt=2**53)]
    batch: Annotated[int, Meta(ge=1, lt=2**53)]
    t: float
    kind: _Word
    body: Annotated[str, Meta(max_length=MAX_MESSAGE_BYTES)]
    hash: _Hex

    def row(self) -> JournalRow:
        """Convert it to a row of the journal's hash chain."""
        return JournalRow(self.seq, self.batch, self.t, self.kind, self.body, self.hash)


class SentGame(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """A journal at the table: its epoch (hex) and the number of its last record."""

    epoch: _Epoch
    seq: _Count


class Hello(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="hello"):
    """A table is connected and asks where to continue. `games` are its journals, the current one last.

    `program` is the version of the program.
    """

    games: Annotated[tuple[SentGame, ...], Meta(min_length=1, max_length=MAX_GAMES)]
    program: _Word = ""


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="events"):
    """Consecutive records of the journal with this epoch."""

    epoch: _Epoch
    records: Annotated[tuple[SentRecord, ...], Meta(min_length=1, max_length=MAX_RECORDS)]


class Ack(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The hub has stored every record of `epoch` up to `seq`.

    `program` is the hub's version if the table's is newer, else "". `refused`: the hub rejects this journal;
    "replaced" if it does not follow any that the hub has of this table, "tampered" if a record was changed.
    """

    epoch: _Epoch
    seq: _Count
    refused: RefusalReason = ""
    program: _Word = ""


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The match that the table is to play. `order` is the unique id of this order, "" for none.

    `options` are the organiser's choices for the game, the same for all tables. If the round has a common clock, it
    ends the game at `ends` (s of the hub's clock), or is stopped with `left_s` to go. `sheet` is the score sheet from
    which the game goes on, if the match was moved here. `void` is the order of a game at this table whose match no
    longer counts, and `why` is the reason (`judge.VoidReason`).
    """

    order: _Word = ""
    tournament: _Word = ""
    match: _Word = ""
    game: _Word = ""
    version: _Word = ""
    options: Annotated[dict[_Word, Any], Meta(max_length=64)] = {}
    teams: Annotated[dict[Literal["A", "B"], _Name], Meta(max_length=2)] = {}
    sheet: Annotated[dict[_Word, Any], Meta(max_length=64)] = {}
    ends: float | None = None
    left_s: Annotated[float, Meta(ge=0, le=86_400)] | None = None
    void: _Word = ""
    why: _Word = ""


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table's answer to `order`: it was `taken` (once, even if the order is repeated), or `why` not."""

    order: _Word
    taken: bool
    why: Annotated[str, Meta(max_length=400)] = ""


class Health(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The table's machine; `t` is its clock (s since 1970), `link` is true if its mat is connected."""

    t: float
    machine: MachineHealth
    link: bool = False


StoredMessage = Hello | Events
"""A table's message that the inbox answers."""


NO_VIEW = msgspec.Raw()


class TableReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything new at a table. `since` is a random id of this program start, `name` the table's display name.

    `mark` is that of the newest order the table has. A `view` is decoded apart (`decode_view`), so that one the hub
    cannot draw holds up no record.
    """

    since: _Word
    name: _Word = ""
    state: Literal["ready", "stopped"] = "ready"
    mark: _Word = ""
    records: StoredMessage | None = None
    view: msgspec.Raw = NO_VIEW
    health: Health | None = None
    reply: Reply | None = None


class HubAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The hub's answer. `hub` is a random id of its program start, `now` its clock in seconds.

    `order` is the order in force with its `mark`, None if that is the report's.
    """

    hub: _Word
    now: float
    ack: Ack | None = None
    mark: _Word = ""
    order: Order | None = None


_Kind = TypeVar("_Kind", TableReport, HubAnswer, View)


def encode(message: TableReport | HubAnswer) -> bytes:
    """Encode `message` as JSON. Raises `MessageError` if it is too long."""
    data = msgspec.json.encode(message)
    if len(data) > MAX_MESSAGE_BYTES:
        raise MessageError(f"a message of {len(data)} bytes is too long: the maximum is {MAX_MESSAGE_BYTES}")
    return data


def decode(data: bytes, kind: type[_Kind]) -> _Kind:
    """Decode a message of this kind from `data`. Raises `MessageError` with the reason."""
    name = kind.__name__.removeprefix("Table").removeprefix("Hub").lower()
    if len(data) > MAX_MESSAGE_BYTES:
        raise MessageError(f"invalid {name} message: {len(data)} bytes, the maximum is {MAX_MESSAGE_BYTES}")
    try:
        return json_decoder(kind).decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MessageError(
            f"invalid {name} message: {error}", "check that table and hub have the same version"
        ) from error


def decode_view(data: bytes) -> View:
    """Return a table's view that every page can draw. Raises `MessageError`."""
    view = decode(data, View)
    try:
        Phrases(ENGLISH).sentence(view)
        get_show(view.game, ENGLISH).pads(view)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise MessageError("the score sheet of this view is not one of its game") from error
    return view
