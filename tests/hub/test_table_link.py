"""A table's link to the hub: all arrives, the game never waits, and nothing hidden is sent."""

import asyncio
from contextlib import closing

import aiomqtt
import pytest
import travel
from hub_hall import HubHall

from pi_controller.hub.messages import State, encode
from pi_controller.hub.mqtt import until_one_ends
from pi_controller.journal import file
from pi_controller.sensing.events import Button, HandIn, HandOut, Link


@pytest.fixture
def table(hall):
    return hall.table("t01", name="Table 1")


def stored(path):
    """Return the records of a journal."""
    with closing(file.open_read_only(path)) as db:
        return list(file.rows(db))


def touch(table, *pads):
    for pad in pads:
        table.feel(HandIn(table.clock(), pad), HandOut(table.clock(), pad))


def begin_hide(hall, table):
    """Begin a hide, and wait until the hub has all of before and shows its begin."""
    table.feel(Link(table.clock(), up=True), Button(table.clock(), "toss_a"))
    hall.await_records(table)


def test_hub_stores_and_shows_the_whole_game(hall, table):
    table.do("toss A", "found", "missed", "found")
    hall.await_records(table)
    assert list(hall.inbox.rows("t01", table.epoch)) == stored(table.path)
    hall.until(lambda: hall.shown("t01").view == table.table.view)
    assert (hall.shown("t01").name, hall.shown("t01").state) == ("Table 1", "ready")
    assert hall.inbox.alarms() == []


def test_game_arrives_after_the_broker_was_away(hall, table):
    table.do("toss A", "found")
    hall.await_records(table)
    hall.broker.kill()
    table.do("found", "missed", "found")
    hall.pass_time(60.0)
    hall.broker.start()
    hall.await_records(table)
    assert list(hall.inbox.rows("t01", table.epoch)) == stored(table.path)


def test_hub_tells_stopped_from_lost_tables(hall, table):
    hall.until(lambda: (one := hall.shown("t01")) and one.state == "ready")
    hall.broker.drop("t01")
    hall.loop.settle()
    assert hall.shown("t01").state == "lost"
    hall.until(lambda: hall.shown("t01").state == "ready")
    table.disconnect()
    hall.until(lambda: hall.shown("t01").state == "stopped")


def test_health_has_rounded_disk_space_and_clock_error(hall):
    hall.table("t01", slow=600.0)
    shown = hall.until(lambda: (one := hall.shown("t01")) and one.health and one)
    free = shown.health.machine.free_bytes
    assert free is not None
    assert free % 10_000_000 == 0
    assert shown.clock_s == pytest.approx(-600.0, abs=1.0)


def test_hub_notes_last_contact_and_mat(hall, table):
    shown = hall.until(lambda: (one := hall.shown("t01")) and one.heard and one.view and one)
    assert shown.heard == pytest.approx(hall.clock(), abs=1.0)
    assert shown.mat is None, "no mat was heard"
    for up in (True, False):
        table.feel(Link(table.clock(), up=up))
        hall.until(lambda up=up: hall.shown("t01").mat is up)


def test_retained_state_and_last_will_are_no_contact(tmp_path):
    hall = HubHall(tmp_path)
    hall.send("t01", "state", encode(State("ready", "aa", "Table 1")), retain=True)
    hall.pass_time(1.0)
    hall.send("t02", "state", encode(State("lost", "aa", "Table 2")), retain=True)
    hall.pass_time(1.0)
    assert [(one.state, one.heard) for one in hall.statuses] == [("ready", None), ("lost", None)]
    hall.close()


def test_due_health_waits_for_end_of_hide(hall, table):
    begin_hide(hall, table)
    first = hall.until(lambda: hall.shown("t01").health)
    touch(table, 2)
    table.link._health_at = 0.0  # it is due
    touch(table, 3)
    hall.pass_time(5.0)
    assert hall.shown("t01").health == first
    table.disconnect()
    hall.until(lambda: hall.shown("t01").state == "stopped")
    assert hall.shown("t01").health == first


def test_records_of_a_hide_stay_at_the_table(hall, table):
    """A hand under a pad is in the journal, and not in the public view."""
    begin_hide(hall, table)
    before = table.journal.seq
    touch(table, 2, 3)
    assert table.journal.seq > before
    hall.until(lambda: hall.shown("t01").view == table.table.view)
    table.disconnect()  # sends what may be sent
    hall.until(lambda: hall.shown("t01").state == "stopped")
    assert hall.count_records(table) == before


def test_next_game_raises_no_alarm(hall, table):
    table.do("toss A", "found")
    epoch = table.epoch
    hall.await_records(table)
    table.do("close A forfeit gone")
    archived = table.journal.archive_path()
    table.do("new", "toss B")
    assert table.epoch != epoch, "another game has begun"
    hall.await_records(table)
    assert list(hall.inbox.rows("t01", epoch)) == stored(archived)
    assert hall.inbox.alarms() == []


def test_games_before_the_first_hub_are_not_sent(hall, table):
    table.disconnect()
    hall.stop()
    for path in hall.folder.glob("hub.sqlite*"):
        path.unlink()
    (hall.folder / "t01.sqlite.hub").unlink(missing_ok=True)
    table.do("toss A", "close A forfeit gone")
    epoch = table.epoch
    table.do("new", "toss B")
    assert table.epoch != epoch
    hall.start()
    table.connect()
    hall.await_records(table)
    assert epoch not in hall.inbox.record_counts()["t01"]


def test_another_card_is_refused_and_not_merged(hall, table):
    table.do("toss A", "found")
    hall.await_records(table)
    table.close()
    other = hall.tables["t01"] = hall.linked(hall.folder / "other.sqlite", "t01")
    hall.until(lambda: hall.shown("t01").alarm == "replaced")
    assert hall.count_records(other) == 0


def test_unreadable_messages_are_ignored(hall, table):
    hall.pass_time(1.0)
    for kind in ("hello", "ev", "state", "view"):
        hall.send("t02", kind, b"\xff{")
    hall.send("t02", "state", encode(State("ready", "s", "n")))
    hall.until(lambda: (one := hall.shown("t02")) and one.state == "ready")
    table.do("found")
    hall.await_records(table)


def test_ignored_cancellation_is_repeated():
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

    travel.run(until_one_ends(busy(), ends()))
    assert dropped == ["once"]


def test_error_of_one_task_ends_the_others():
    ended = []

    async def busy():
        try:
            await asyncio.sleep(3600.0)
        finally:
            ended.append("busy")

    async def fails():
        raise aiomqtt.MqttError("gone")

    with pytest.raises(BaseExceptionGroup) as caught:
        travel.run(until_one_ends(fails(), busy()))
    assert caught.group_contains(aiomqtt.MqttError, match="gone")
    assert ended == ["busy"]
