"""What tables and hub say to each other: strict JSON with limits."""

import sys
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from pi_controller.host.machine_health import MachineHealth
from pi_controller.hub.messages import (
    MAX_MESSAGE_BYTES,
    MAX_RECORDS,
    Ack,
    Events,
    Health,
    Hello,
    HubAnswer,
    MessageError,
    Order,
    Reply,
    SentGame,
    SentRecord,
    TableReport,
    decode,
    encode,
)
from pi_controller.json_decoders import json_decoder

EPOCH, HASH = "ab" * 16, "cd" * 32
RECORD = SentRecord(1, 1, 2.5, "ready", "{}", HASH)
EVENTS = Events(EPOCH, (RECORD, SentRecord(2, 2, 3.0, "shown", '{"t":3}', HASH)))


@pytest.mark.parametrize(
    "message",
    [
        TableReport("a", "Table 1"),
        TableReport("a", records=Hello((SentGame(EPOCH, 0), SentGame("cd" * 16, 12)), "0.1.0")),
        TableReport("a", "Table 1", "stopped", "b-7", EVENTS, msgspec.Raw(b'{"seq":1}'), reply=Reply("c" * 16, True)),
        TableReport("a", health=Health(2.5, MachineHealth(50.0, False, True, 10_000_000, 0), link=True)),
        HubAnswer("b", 12.5),
        HubAnswer("b", 12.5, Ack(EPOCH, 64, "replaced"), "b-7", Order("c" * 16, ends=99.0)),
    ],
)
def test_every_message_comes_back(message):
    assert decode(encode(message), type(message)) == message


def with_records(**records):
    return msgspec.json.encode({"since": "a", "records": records})


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (TableReport, b""),
        (TableReport, b"{"),
        (TableReport, b"\xff\xfe"),
        (TableReport, b"{}"),
        (TableReport, b'{"since": "a", "more": 1}'),
        (TableReport, b'{"since": "a", "state": "lost"}'),
        (TableReport, b'{"since": "a", "name": "%s"}' % (b"n" * 10_000)),
        (TableReport, b'{"since": "a", "view": NaN}'),
        (TableReport, b" " * (MAX_MESSAGE_BYTES + 1)),
        (TableReport, with_records(kind="hello", ask="a", games=[])),
        (TableReport, with_records(kind="hello", ask="a", games=[["short", 1]])),
        (
            TableReport,
            with_records(kind="events", epoch=EPOCH, records=[msgspec.to_builtins(RECORD)] * (MAX_RECORDS + 1)),
        ),
        (TableReport, with_records(kind="later", epoch=EPOCH)),
        (TableReport, b'{"since": "a", "health": {"t": 1.0, "machine": {"temperature_c": "hot"}}}'),
        (TableReport, b'{"since": "a", "health": {"t": 1.0, "machine": {"host": "pi"}}}'),
        (HubAnswer, b'{"hub": "b", "now": 1, "ack": {"epoch": "%s", "seq": -1}}' % EPOCH.encode()),
        (HubAnswer, b'{"hub": "b", "now": 1, "ack": {"epoch": "%s", "seq": true}}' % EPOCH.encode()),
        (HubAnswer, b'{"hub": "b", "now": 1, "ack": {"epoch": "%s", "seq": 1, "refused": "never"}}' % EPOCH.encode()),
    ],
)
def test_invalid_message_is_refused_with_reason(kind, data):
    with pytest.raises(MessageError, match=r"invalid (report|answer) message: ."):
        decode(data, kind)


def test_too_long_message_is_not_sent():
    with pytest.raises(MessageError, match="too long"):
        encode(
            TableReport("a", records=Events(EPOCH, (msgspec.structs.replace(RECORD, body="x" * MAX_MESSAGE_BYTES),)))
        )


def test_threads_make_one_decoder_at_a_time(monkeypatch):
    """Two that made theirs of the same Structs at once would end the process."""
    making, most = [], []

    def make(kind):
        making.append(kind)
        most.append(max(len(making) for _ in range(5_000)))
        making.remove(kind)
        return kind

    def make_some(n):
        for kind in range(n * 1000, n * 1000 + 20):
            json_decoder.__wrapped__(kind)

    before = sys.getswitchinterval()
    monkeypatch.setattr(msgspec.json, "Decoder", make)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(make_some, range(8)))
    finally:
        sys.setswitchinterval(before)
    assert (max(most), len(most)) == (1, 160)
