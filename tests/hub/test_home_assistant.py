"""What Home Assistant sees at a real broker: that tables are there and how their machines are, and nothing else."""

import asyncio
import inspect

import msgspec
import pytest
from brokers import PATIENCE_S, VENUE, Mosquitto, RunningHub, needs_mosquitto
from linked_table import Played, client

from pi_controller.errors import UsageError
from pi_controller.hub.home_assistant import PREFIX, discovery
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import ROOT, State, encode, topic
from pi_controller.hub.settings import load_hub
from pi_controller.hub.setup import write_hub_files

pytestmark = needs_mosquitto


@pytest.fixture
def broker(tmp_path):
    made = Mosquitto(tmp_path / "broker", ["t01"], home=True).start()
    yield made
    made.kill()


async def heard(broker, until):
    """Return all that Home Assistant's account is sent until topics hold `until`."""
    async with client(broker, "home") as home:
        await home.subscribe("#", 1)
        found = {}
        async with asyncio.timeout(PATIENCE_S):
            while not until(found):
                message = await anext(aiter(home.messages))
                found[message.topic.value] = message.payload
        return found


def test_each_table_is_announced_and_of_a_game_nothing_is_read(tmp_path, broker):
    read = {topic(VENUE, "t01", "state"), topic(VENUE, "t01", "health"), topic(VENUE, "", "state")}
    wanted = {*discovery(VENUE, "t01", ""), *read}
    with Inbox(tmp_path / "hub.sqlite") as inbox:
        hub = RunningHub(inbox, broker.account("hub"), home=True)
        table = Played(tmp_path / "t01.sqlite", broker.account("t01"))
        try:
            table.do("toss A", "found")
            hub.until(lambda hub: hub.inbox.record_counts().get("t01", {}).get(table.epoch) == table.journal.seq)
            found = asyncio.run(heard(broker, lambda found: wanted <= set(found)))
        finally:
            table.close()
            hub.close()
    assert set(found) == wanted  # retained views are there, and it may not read them
    device = msgspec.json.decode(found[f"{PREFIX}/binary_sensor/moccasin_mat_hall_t01/connected/config"])
    assert device["device"]["name"] == "Table 1"
    assert device["state_topic"] == topic(VENUE, "t01", "state")
    for text in (b"command_topic", b"Big Coulee"):
        assert not any(text in payload for payload in found.values())


def retained(broker):
    """Return the topics that Home Assistant's account is told at once."""
    last = topic(VENUE, "t01", "state")

    async def look():
        async with client(broker, "home") as home:
            await home.subscribe(f"{PREFIX}/#", 1)
            await home.subscribe(last, 1)
            found = set()
            async with asyncio.timeout(PATIENCE_S):
                while (message := await anext(aiter(home.messages))).topic.value != last:
                    found.add(message.topic.value)
            return found

    return asyncio.run(look())


def test_what_was_announced_is_taken_back_by_a_hub_that_announces_nothing(tmp_path, broker):
    mine = discovery(VENUE, "t01", "Table 1")
    others = {
        **discovery("other", "t01", "Table 1"),
        f"{PREFIX}/sensor/kettle/heat/config": b'{"name": "kettle"}',
        f"{PREFIX}/sensor/moccasin_mat_hall_t01/odd/config": b"no JSON",
    }
    gone = discovery(VENUE, "t09", "a table that nobody knows")

    async def before():
        async with client(broker, "hub") as hub:
            await hub.publish(topic(VENUE, "t01", "state"), encode(State("ready", "s", "Table 1")), 1, retain=True)
            for where, payload in {**mine, **others, **gone}.items():
                await hub.publish(where, payload, 1, retain=True)

    asyncio.run(before())
    for home, expected in ((True, {*mine, *others}), (False, {*others})):
        with Inbox(tmp_path / f"{home}.sqlite") as inbox:
            hub = RunningHub(inbox, broker.account("hub"), home=home)
            try:
                hub.until(lambda hub: hub.shown("t01"))
                hub.until(lambda hub, expected=expected: retained(broker) == expected)
            finally:
                hub.close()


def test_a_setup_without_it_lets_the_hub_take_back_what_was_announced(tmp_path):
    from datetime import UTC, datetime

    for home in (True, False):
        write_hub_files(tmp_path, VENUE, ["t01"], ["localhost"], 8883, datetime.now(UTC), home=home)
    acl = (tmp_path / "acl").read_text()
    assert f"topic readwrite {PREFIX}/#" in acl
    assert "user home" not in acl
    assert "home:" not in (tmp_path / "passwords").read_text()


def test_what_is_announced_is_made_of_names_alone():
    """No view, game or record goes in, so nothing of a hide comes out."""
    assert list(inspect.signature(discovery).parameters) == ["venue", "table", "name"]
    topics = {msgspec.json.decode(payload)["state_topic"] for payload in discovery(VENUE, "t01", "x").values()}
    assert topics == {f"{ROOT}/{VENUE}/t/t01/state", f"{ROOT}/{VENUE}/t/t01/health"}


def test_its_account_is_no_table_and_a_hub_that_was_not_asked_announces_nothing(tmp_path, broker):
    async def pose():
        async with client(broker, "home") as home:
            await home.publish(topic(VENUE, "home", "state"), encode(State("ready", "s", "n")), 1)

    async def look():
        async with client(broker, "hub") as other:
            await other.subscribe(f"{PREFIX}/#", 1)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await anext(aiter(other.messages))

    with Inbox(tmp_path / "hub.sqlite") as inbox:
        hub = RunningHub(inbox, broker.account("hub"))
        table = Played(tmp_path / "t01.sqlite", broker.account("t01"))
        hub.until(lambda hub: hub.shown("t01"))  # it hears what comes from now on
        asyncio.run(pose())
        hub.until(lambda hub: topic(VENUE, "home", "state") in hub.hub._known)
        table.close()
        hub.close()
        assert hub.shown("home") is None
        asyncio.run(look())


def test_it_is_off_unless_setup_was_asked_for_it(tmp_path):
    from datetime import UTC, datetime

    write_hub_files(tmp_path, VENUE, ["t01"], ["localhost"], 8883, datetime.now(UTC))
    assert not load_hub(tmp_path).home_assistant.discovery
    assert not (tmp_path / "home.password").exists()
    assert PREFIX not in (tmp_path / "acl").read_text()
    write_hub_files(tmp_path, VENUE, ["t01"], ["localhost"], 8883, datetime.now(UTC), home=True)
    assert load_hub(tmp_path).home_assistant.discovery
    with pytest.raises(UsageError):
        write_hub_files(tmp_path, VENUE, ["home"], ["localhost"], 8883, datetime.now(UTC))
