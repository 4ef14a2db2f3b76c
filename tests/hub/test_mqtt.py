"""Table and hub over a real Mosquitto: all arrives, the game never waits, and nobody reads or writes for another."""

import asyncio
import ssl
import time

import aiomqtt
import pytest
from brokers import PATIENCE_S, VENUE, RunningHub, needs_mosquitto
from linked_table import Played, client
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from ports import free_port

from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import State, encode, topic
from pi_controller.hub.mqtt import Broker, Will, make_client, until_one_ends
from pi_controller.hub.table_link import TableLink
from pi_controller.sensing.events import Button, HandIn, HandOut, Link

pytestmark = needs_mosquitto


@pytest.fixture
def hub(tmp_path, broker):
    with Inbox(tmp_path / "hub.sqlite") as inbox:
        made = RunningHub(inbox, broker.account("hub"))
        yield made
        made.close()


@pytest.fixture
def table(tmp_path, broker):
    made = Played(tmp_path / "table.sqlite", broker.account("t01"))
    yield made
    made.close()


def test_a_game_is_kept_once_more_record_by_record_and_shown(hub, table):
    table.do("toss A", "found", "missed", "found")
    seq = table.journal.seq
    hub.until(lambda hub: hub.inbox.record_counts().get("t01", {}).get(table.epoch) == seq)
    assert list(hub.inbox.rows("t01", table.epoch)) == table.rows()
    shown = hub.until(lambda hub: (one := hub.shown("t01")) and one.view == table.table.view and one)
    assert (shown.name, shown.state) == ("Table 1", "ready")
    assert hub.inbox.alarms() == []


def test_the_game_goes_on_while_the_broker_is_gone_and_all_of_it_arrives(hub, table, broker):
    table.do("toss A", "found")
    hub.until(lambda hub: hub.inbox.record_counts().get("t01", {}).get(table.epoch))
    broker.kill()
    table.do("found", "missed", "found")
    broker.start()
    seq = table.journal.seq
    hub.until(lambda hub: hub.inbox.record_counts()["t01"][table.epoch] == seq)
    assert list(hub.inbox.rows("t01", table.epoch)) == table.rows()


def test_the_hub_is_told_when_a_table_is_switched_off(hub, table):
    hub.until(lambda hub: (one := hub.shown("t01")) and one.state == "ready")
    table.link.close()
    hub.until(lambda hub: hub.shown("t01").state == "stopped")


def test_the_hub_hears_how_the_tables_machine_is_and_by_how_much_its_clock_is_wrong(hub, broker, table, tmp_path):
    hub.until(lambda hub: (one := hub.shown("t01")) and one.heard)  # by what the broker remembers no clock is compared
    played = Played(tmp_path / "t02.sqlite", broker.account("t02"), wall=lambda: time.time() - 600.0)
    try:
        shown = hub.until(lambda hub: (one := hub.shown("t02")) and one.health and one)
    finally:
        played.close()
    free = shown.health.machine.free_bytes
    assert free is not None
    assert free % 10_000_000 == 0
    assert -600.0 - PATIENCE_S < shown.clock_s <= -600.0


def test_the_hub_notes_when_a_table_was_heard_and_whether_its_mat_is(hub, broker, table):
    shown = hub.until(lambda hub: (one := hub.shown("t01")) and one.heard and one.view and one)
    assert abs(shown.heard - time.time()) < PATIENCE_S
    assert shown.mat is None, "no mat was heard"
    table.feel(Link(table.t, up=True))
    hub.until(lambda hub: hub.shown("t01").mat is True)
    table.feel(Link(table.t, up=False))
    hub.until(lambda hub: hub.shown("t01").mat is False)
    asyncio.run(_lost(broker))
    hub.until(lambda hub: (one := hub.shown("t02")) and one.state == "lost")
    assert hub.shown("t02").heard is None, "a last will is the broker's word"


def test_what_the_broker_remembers_of_a_table_was_not_heard_now(broker, tmp_path):
    async def before():
        async with client(broker, "t01") as table:
            await table.publish(topic(VENUE, "t01", "state"), encode(State("ready", "aa", "Table 1")), 1, retain=True)

    asyncio.run(before())
    with Inbox(tmp_path / "hub.sqlite") as inbox:
        hub = RunningHub(inbox, broker.account("hub"))
        try:
            assert hub.until(lambda hub: (one := hub.shown("t01")) and one.state == "ready" and one).heard is None
        finally:
            hub.close()


async def _lost(broker):
    """Have the broker say that table 2 is gone: it drops a connection that another takes over."""
    lost = Will(topic(VENUE, "t02", "state"), State("lost", "aa", "Table 2"))
    async with make_client(broker.account("t02"), lost), make_client(broker.account("t02"), lost):
        pass


def test_while_something_is_hidden_nothing_of_the_machine_is_sent(hub, table):
    """What is due waits until the hide is over."""
    first = hub.until(lambda hub: (one := hub.shown("t01")) and one.health)
    table.feel(Link(table.t, up=True), Button(table.t, "toss_a"), HandIn(table.t, 2), HandOut(table.t, 2))
    hub.until(lambda hub: hub.shown("t01").view == table.table.view)
    table.link._health_at = 0.0  # it is due
    table.feel(HandIn(table.t, 3), HandOut(table.t, 3))
    table.link.close()
    hub.until(lambda hub: hub.shown("t01").state == "stopped")
    assert hub.shown("t01").health == first


def test_of_a_hide_in_progress_the_hub_gets_no_record(hub, table):
    """A hand under a pad is in the journal, and not in the public view: it waits until the hide is over."""
    table.feel(Link(table.t, up=True), Button(table.t, "toss_a"))
    before = table.journal.seq
    hub.until(lambda hub: hub.inbox.record_counts().get("t01", {}).get(table.epoch) == before)
    for pad in (2, 3):
        table.feel(HandIn(table.t, pad), HandOut(table.t, pad))
    assert table.journal.seq > before
    hub.until(lambda hub: hub.shown("t01").view == table.table.view)
    table.link.close()  # sends what may be sent, in order: the goodbye comes last
    hub.until(lambda hub: hub.shown("t01").state == "stopped")
    assert hub.inbox.record_counts()["t01"][table.epoch] == before


def test_the_next_game_is_no_alarm_and_both_are_whole(hub, table):
    table.do("toss A", "found")
    first, epoch = table.journal.seq, table.epoch
    hub.until(lambda hub: hub.inbox.record_counts().get("t01", {}).get(epoch) == first)
    table.do("close A forfeit gone")
    kept = table.journal.archive_path()
    table.do("new", "toss B")
    assert table.epoch != epoch, "another game has begun"
    seq = table.journal.seq
    hub.until(lambda hub: hub.inbox.record_counts()["t01"].get(table.epoch) == seq)
    assert list(hub.inbox.rows("t01", epoch)) == table.rows(kept)
    assert hub.inbox.alarms() == []


def test_games_from_before_there_was_a_hub_stay_with_the_host(tmp_path, hub, broker):
    before = Played(tmp_path / "table.sqlite", Broker("127.0.0.1", free_port(), "t01"))
    before.link.close()
    (tmp_path / "table.sqlite.hub").unlink(missing_ok=True)
    before.do("toss A", "close A forfeit gone")
    epoch = before.epoch
    before.do("new", "toss B")
    assert before.epoch != epoch
    before.link = TableLink(broker.account("t01"), VENUE, "Table 1", before.path)
    before.step()
    hub.until(lambda hub: hub.inbox.record_counts().get("t01", {}).get(before.epoch) == before.journal.seq)
    assert epoch not in hub.inbox.record_counts()["t01"]
    before.close()


def test_another_card_in_the_table_is_told_and_not_merged(tmp_path, hub, table, broker):
    table.do("toss A", "found")
    hub.until(lambda hub: hub.inbox.record_counts().get("t01", {}).get(table.epoch) == table.journal.seq)
    table.close()
    other = Played(tmp_path / "other.sqlite", broker.account("t01"))
    hub.until(lambda hub: hub.shown("t01").alarm == "replaced")
    assert hub.inbox.record_counts()["t01"][other.epoch] == 0
    other.close()


async def received(one, last):
    """Return the topics of all that comes to the client up to the message under `last`."""
    topics = []
    async with asyncio.timeout(60):
        async for message in one.messages:
            topics.append(message.topic.value)
            if topics[-1] == last:
                break
    return topics


def test_a_table_reads_nothing_of_others_and_nothing_else(broker):
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


def test_a_table_writes_nothing_of_others(broker):
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


def test_a_cancellation_that_is_dropped_is_repeated():
    """As by `asyncio.wait_for` of Python 3.11, where what it waits for comes in the same turn of the loop."""
    dropped = []

    async def busy():
        while True:
            try:
                await asyncio.sleep(3600.0)
            except asyncio.CancelledError:
                if dropped:
                    raise
                dropped.append("once")

    async def ends():
        await asyncio.sleep(0.0)

    asyncio.run(asyncio.wait_for(until_one_ends(busy(), ends()), PATIENCE_S))
    assert dropped == ["once"]


def test_what_one_of_them_raises_ends_the_others_and_is_raised():
    ended = []

    async def busy():
        try:
            await asyncio.sleep(3600.0)
        finally:
            ended.append("busy")

    async def fails():
        raise aiomqtt.MqttError("gone")

    with pytest.raises(BaseExceptionGroup) as caught:
        asyncio.run(until_one_ends(fails(), busy()))
    assert caught.group_contains(aiomqtt.MqttError, match="gone")
    assert ended == ["busy"]


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


@pytest.mark.parametrize("password", [None, "wrong"])
def test_nobody_comes_in_without_the_accounts_password(broker, password):
    async def look():
        account = broker.account("t01")._replace(password=password)
        will = Will(topic(VENUE, "t01", "state"), State("lost", "x"))
        async with make_client(account, will):
            pass

    with pytest.raises(aiomqtt.MqttError):
        asyncio.run(look())


def test_what_is_no_message_is_passed_over(hub, table, broker):
    async def send():
        async with client(broker, "t02") as other:
            for kind in ("hello", "ev", "state", "view"):
                await other.publish(topic(VENUE, "t02", kind), b"\xff{", 1)
            await other.publish(topic(VENUE, "t02", "state"), encode(State("ready", "s", "n")), 1)

    def kept(hub):
        return hub.inbox.record_counts().get("t01", {}).get(table.epoch) == table.journal.seq

    table.do("toss A")
    hub.until(kept)  # from here on the hub hears every topic
    asyncio.run(send())
    hub.until(lambda hub: (one := hub.shown("t02")) and one.state == "ready")
    table.do("found")
    hub.until(kept)
