"""What is no message is refused with its reason, and every message comes back as it was sent."""

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
    MessageError,
    SentGame,
    SentRecord,
    State,
    decode,
    encode,
    parse_topic,
    topic,
)

EPOCH, HASH = "ab" * 16, "cd" * 32
RECORD = SentRecord(1, 1, 2.5, "ready", "{}", HASH)


@pytest.mark.parametrize(
    "message",
    [
        Hello("s-1", (SentGame(EPOCH, 0), SentGame("cd" * 16, 12)), "0.1.0"),
        Events(EPOCH, (RECORD, SentRecord(2, 2, 3.0, "shown", '{"t":3}', HASH))),
        Ack(EPOCH, 64, "s-1", "replaced"),
        State("lost", "s", "Table 1"),
        Health(2.5, MachineHealth(50.0, False, True, 10_000_000, 0), link=True),
        Health(2.5, MachineHealth()),
    ],
)
def test_every_message_comes_back(message):
    assert decode(encode(message), type(message)) == message


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Hello, b""),
        (Hello, b"{"),
        (Hello, b"\xff\xfe"),
        (Hello, b'{"ask": "a", "games": []}'),
        (Hello, b'{"ask": "a", "games": [["short", 1]]}'),
        (Ack, b'{"epoch": "%s", "seq": -1}' % EPOCH.encode()),
        (Ack, b'{"epoch": "%s", "seq": true}' % EPOCH.encode()),
        (Ack, b'{"epoch": "%s", "seq": 1, "more": 1}' % EPOCH.encode()),
        (Ack, b'{"epoch": "%s", "seq": 1, "refused": "never"}' % EPOCH.encode()),
        (Health, b'{"t": 1.0, "machine": {"temperature_c": "hot"}}'),
        (Health, b'{"t": 1.0, "machine": {"host": "pi"}}'),
        (State, b'{"state": "ready", "since": "a", "name": "%s"}' % (b"n" * 10_000)),
        (Events, msgspec.json.encode({"epoch": EPOCH, "records": [msgspec.to_builtins(RECORD)] * (MAX_RECORDS + 1)})),
        (Events, b" " * (MAX_MESSAGE_BYTES + 1)),
    ],
)
def test_invalid_message_is_refused_with_reason(kind, data):
    with pytest.raises(MessageError, match=f"invalid {kind.__name__.lower()} message: ."):
        decode(data, kind)


def test_too_long_message_is_not_sent():
    with pytest.raises(MessageError, match="too long"):
        encode(Events(EPOCH, (msgspec.structs.replace(RECORD, body="x" * MAX_MESSAGE_BYTES),)))


def test_topics_are_read_as_they_are_written():
    assert parse_topic(topic("hall", "t01", "ev")) == ("hall", "t01", "ev")
    assert parse_topic(topic("hall", "", "state")) == ("hall", "", "state")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mat/v1/hall",
        "mat/v1/hall/t/T 1/ev",
        "mat/v1/hall/t/t01/other",
        "mat/v1/hall/hub/ev",
        "x/t/t01/ev",
        "mat/v1/hall/t/t01/report",
        "mat/v1/hall/t/t01/cmd/other",
        "mat/v1/hall/t/t01/cmd/match/more",
    ],
)
def test_other_topics_are_refused(text):
    with pytest.raises(MessageError):
        parse_topic(text)
