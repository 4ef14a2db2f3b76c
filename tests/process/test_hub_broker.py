"""Table and hub over a real Mosquitto: all arrives, and nobody reads or writes for another."""

import asyncio
import ssl
import time
from contextlib import closing

import aiomqtt
import pytest
from brokers import PATIENCE_S, VENUE, Mosquitto, client
from linked_table import LinkedTable
from mosquitto import needs_mosquitto
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from pi_controller.hub.mqtt import can_sign_in
from ports import free_port
from real_hub import RealHub

from pi_controller.hub.messages import topic
from pi_controller.hub.run import embedded_broker
from pi_controller.journal import file

pytestmark = needs_mosquitto


@pytest.fixture
def broker(tmp_path):
    made = Mosquitto(tmp_path / "broker", ["t01", "t02"]).start()
    yield made
    made.kill()


def test_game_arrives_after_the_broker_was_killed(tmp_path, broker):
    broker.hub_settings()
    table = LinkedTable(tmp_path / "table.sqlite", broker.account("t01"))
    with closing(RealHub(broker.folder)) as hub, closing(table):
        inbox = hub.run.director._inbox

        def await_records():
            end = time.monotonic() + PATIENCE_S
            while inbox.record_counts().get("t01", {}).get(table.epoch) != table.journal.seq:
                assert time.monotonic() < end
                time.sleep(0.05)

        table.do("toss A", "found")
        await_records()
        broker.kill()
        table.do("found", "missed", "found")
        broker.start()
        await_records()
        with closing(file.open_read_only(table.path)) as db:
            assert list(inbox.rows("t01", table.epoch)) == list(file.rows(db))


async def received(one, last):
    """Return the topics of all that comes to the client up to the message under `last`."""
    topics = []
    async with asyncio.timeout(60):
        async for message in one.messages:
            topics.append(message.topic.value)
            if topics[-1] == last:
                break
    return topics


def test_account_reads_its_own_topics_alone(broker):
    async def look():
        async with client(broker, "hub") as hub, client(broker, "t02") as other:
            for retained in (topic(VENUE, "t01", "view"), topic(VENUE, "t02", "view")):
                await hub.publish(retained, b"x", 1, retain=True)
            one, two = (topic(VENUE, table, "cmd") + "/+" for table in ("t01", "t02"))
            acks = [topic(VENUE, table, "ack") for table in ("t01", "t02")]
            for wanted in ("#", "mat/v1/#", "$SYS/#", topic(VENUE, "+", "ev"), one, two, *acks):
                await other.subscribe(wanted, 1)
            for table in ("t01", "t02"):
                for kind in ("hello", "ev", "view", "state", "cmd/1", "ack"):
                    await hub.publish(topic(VENUE, table, kind), b"x", 1)
            return await received(other, topic(VENUE, "t02", "ack"))

    assert set(asyncio.run(look())) == {topic(VENUE, "t02", "cmd/1"), topic(VENUE, "t02", "ack")}


def test_account_writes_its_own_topics_alone(broker):
    async def look():
        async with client(broker, "hub") as hub, client(broker, "t02") as other:
            await hub.subscribe("mat/v1/#", 1)
            for kind in ("hello", "ev", "state", "view", "health", "ack", "cmd/1"):
                await other.publish(topic(VENUE, "t01", kind), b"forged", 1)
            await other.publish(topic(VENUE, "", "state"), b"forged", 1)
            await other.publish(topic(VENUE, "t02", "ack"), b"forged", 1)
            await other.publish(topic(VENUE, "t02", "cmd/1"), b"forged", 1)
            await other.publish(topic("elsewhere", "t02", "ev"), b"forged", 1)
            await other.publish(topic(VENUE, "t02", "ev"), b"its own", 1)
            return await received(hub, topic(VENUE, "t02", "ev"))

    assert asyncio.run(look()) == [topic(VENUE, "t02", "ev")]


def named(broker, account, identifier, session_s=0):
    """Return a connection of `account` that calls itself `identifier`; its session outlasts it by `session_s`."""
    found = broker.account(account)
    lasting = Properties(PacketTypes.CONNECT)
    lasting.SessionExpiryInterval = session_s
    return aiomqtt.Client(
        found.host,
        found.port,
        identifier=identifier,
        username=found.user,
        password=found.password,
        protocol=aiomqtt.ProtocolVersion.V5,
        clean_start=not session_s,
        properties=lasting,
        tls_context=ssl.create_default_context(cafile=str(found.ca)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["t02", "hub"])
def test_account_cannot_take_the_session_of_another(broker, victim):
    """Neither its subscriptions nor what waits for it."""
    last = topic(VENUE, "t01", "ack")
    waits = topic(VENUE, "t02", "ack" if victim == "t02" else "ev")

    async def attack():
        async with named(broker, victim, victim, session_s=600) as owner:
            await owner.subscribe(waits, 1)
        async with client(broker, "hub" if victim == "t02" else "t02") as other:
            await other.publish(waits, b"secret", 1)
        async with named(broker, "t01", victim, session_s=600) as thief:
            await thief.subscribe(last, 1)
            async with client(broker, "hub" if victim == "t02" else "t02") as other:
                await other.publish(waits, b"secret", 1)
            async with client(broker, "hub") as hub:
                await hub.publish(last, b"own", 1)
            return await received(thief, last)

    assert asyncio.run(attack()) == [last]


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["t02", "hub"])
def test_account_cannot_disconnect_another(broker, victim):
    waits = topic(VENUE, "t02", "ack" if victim == "t02" else "ev")

    async def attack():
        async with named(broker, victim, victim) as owner:
            await owner.subscribe(waits, 1)
            async with named(broker, "t01", victim):
                await owner.publish(topic(VENUE, "t02", "hello"), b"still there", 1)
                async with client(broker, "hub" if victim == "t02" else "t02") as other:
                    await other.publish(waits, b"own", 1)
                async with asyncio.timeout(PATIENCE_S):
                    return (await anext(aiter(owner.messages))).topic.value

    assert asyncio.run(attack()) == waits


def test_broker_refuses_a_wrong_or_missing_password(broker):
    for password in (None, "wrong"):
        assert not asyncio.run(can_sign_in(broker.account("t01")._replace(password=password)))
    assert asyncio.run(can_sign_in(broker.account("t01")))


@pytest.mark.slow
def test_embedded_broker_serves_subscribes_during_other_connects():
    async def stay(port, number, came, all_came):
        async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V311) as client:
            came.set()
            await client.subscribe(f"t/{number}/+")
            await client.publish(f"t/{number}/state", b"ready", 1, retain=True)
            await all_came.wait()

    async def connect_many(count):
        port, all_came, clients = free_port(), asyncio.Event(), []
        async with embedded_broker(port):
            for number in range(count):
                came = asyncio.Event()
                clients.append(asyncio.create_task(stay(port, number, came, all_came)))
                await came.wait()
            all_came.set()
            await asyncio.gather(*clients)

    asyncio.run(connect_many(20))
