"""What tables and hub say to each other: strict JSON with limits."""

import msgspec
import pytest

from pi_controller.host.machine_health import MachineHealth
from pi_controller.hub.messages import (
    MAX_MESSAGE_BYTES,
    MAX_RECORDS,
    Ack,
    Answer,
    Events,
    Health,
    Hello,
    MessageError,
    Order,
    Reply,
    Report,
    SentGame,
    SentRecord,
    decode,
    encode,
)

EPOCH, HASH = "ab" * 16, "cd" * 32
RECORD = SentRecord(1, 1, 2.5, "ready", "{}", HASH)
EVENTS = Events(EPOCH, (RECORD, SentRecord(2, 2, 3.0, "shown", '{"t":3}', HASH)))


@pytest.mark.parametrize(
    "message",
    [
        Report("a", "Table 1"),
        Report("a", records=Hello("s-1", (SentGame(EPOCH, 0), SentGame("cd" * 16, 12)), "0.1.0")),
        Report("a", "Table 1", "stopped", "b-7", EVENTS, msgspec.Raw(b'{"seq":1}'), reply=Reply("c" * 16, True)),
        Report("a", health=Health(2.5, MachineHealth(50.0, False, True, 10_000_000, 0), link=True)),
        Answer("b", 12.5),
        Answer("b", 12.5, Ack(EPOCH, 64, "s-1", "replaced"), "b-7", Order("c" * 16, ends=99.0)),
    ],
)
def test_every_message_comes_back(message):
    assert decode(encode(message), type(message)) == message


def with_records(**records):
    return msgspec.json.encode({"since": "a", "records": records})


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Report, b""),
        (Report, b"{"),
        (Report, b"\xff\xfe"),
        (Report, b"{}"),
        (Report, b'{"since": "a", "more": 1}'),
        (Report, b'{"since": "a", "state": "lost"}'),
        (Report, b'{"since": "a", "name": "%s"}' % (b"n" * 10_000)),
        (Report, b'{"since": "a", "view": NaN}'),
        (Report, b" " * (MAX_MESSAGE_BYTES + 1)),
        (Report, with_records(kind="hello", ask="a", games=[])),
        (Report, with_records(kind="hello", ask="a", games=[["short", 1]])),
        (Report, with_records(kind="events", epoch=EPOCH, records=[msgspec.to_builtins(RECORD)] * (MAX_RECORDS + 1))),
        (Report, with_records(kind="later", epoch=EPOCH)),
        (Report, b'{"since": "a", "health": {"t": 1.0, "machine": {"temperature_c": "hot"}}}'),
        (Report, b'{"since": "a", "health": {"t": 1.0, "machine": {"host": "pi"}}}'),
        (Answer, b'{"hub": "b", "now": 1, "ack": {"epoch": "%s", "seq": -1}}' % EPOCH.encode()),
        (Answer, b'{"hub": "b", "now": 1, "ack": {"epoch": "%s", "seq": true}}' % EPOCH.encode()),
        (Answer, b'{"hub": "b", "now": 1, "ack": {"epoch": "%s", "seq": 1, "refused": "never"}}' % EPOCH.encode()),
    ],
)
def test_invalid_message_is_refused_with_reason(kind, data):
    with pytest.raises(MessageError, match=f"invalid {kind.__name__.lower()} message: ."):
        decode(data, kind)


def test_too_long_message_is_not_sent():
    with pytest.raises(MessageError, match="too long"):
        encode(Report("a", records=Events(EPOCH, (msgspec.structs.replace(RECORD, body="x" * MAX_MESSAGE_BYTES),))))
