from __future__ import annotations

import asyncio

import msgspec
from travel import run

from pi_controller.display.i18n import ENGLISH
from pi_controller.web.event_stream import BLOCK, event, retry_ms, stream
from pi_controller.web.feed import MAX_WOKEN_AT_ONCE, PAUSE_S, Feed

LONG = 30.0


def write(snapshot):
    return event(snapshot, ENGLISH)


def test_a_new_watcher_gets_the_newest_at_once(view):
    async def watch():
        feed = Feed()
        feed.publish(view(seq=1))
        feed.publish(view(seq=2))
        watcher = feed.subscribe()
        return (await watcher.next(LONG)).content.seq, await watcher.next(0.01)

    assert run(watch()) == (2, None)


def test_a_slow_watcher_skips_to_the_newest(view):
    async def watch():
        feed = Feed()
        watcher = feed.subscribe()
        for seq in range(1, 1001):
            feed.publish(view(seq=seq))
        seen = [(await watcher.next(LONG)).content.seq]
        feed.publish(view(seq=1001))
        seen.append((await watcher.next(LONG)).content.seq)
        return seen, await watcher.next(0.01)

    assert run(watch()) == ([1000, 1001], None)


def test_the_same_view_again_is_no_news(view):
    feed = Feed()
    feed.publish(view())
    feed.publish(view())
    assert feed.latest.number == 1


def test_known_event_id_waits_amended_view_is_sent(view):
    async def watch(last_id, *views):
        feed = Feed(start="now")
        for one in views:
            feed.publish(one)
        return await feed.subscribe(last_id).next(0.01)

    assert run(watch("5-now", view(seq=5))) is None
    assert run(watch("4-now", view(seq=5))).content.seq == 5
    assert run(watch("5-before", view(seq=5))).content.seq == 5, "a new journal starts again from 1"
    assert run(watch("5", view(seq=5))).content.seq == 5
    assert run(watch("rubbish", view(seq=5))).content.seq == 5
    halted = view(seq=5, phase="halted")
    assert run(watch("5-now", view(seq=5), halted)).content == halted


def test_the_next_game_has_ids_of_its_own(view):
    feed = Feed(start="now")
    ids = []
    for seq in (1, 2, 3, 1, 2, 3, 1, 2):
        feed.publish(view(seq=seq))
        ids.append(feed.latest.id)
    assert len(set(ids)) == len(ids)


def test_no_two_feeds_have_the_same_ids(view):
    feeds = [Feed() for _ in range(20)]
    for feed in feeds:
        feed.publish(view(seq=5))
    assert len({feed.latest.id for feed in feeds}) == 20


def test_end_streams_ends_current_and_later_until_reopen(view):
    async def watch():
        feed = Feed()
        feed.publish(view())
        got = []

        async def read():
            async for chunk in stream(feed, write, None, 0):
                got.append(chunk)
                if len(got) == 2:
                    feed.end_streams()

        await read()
        late = feed.subscribe()
        assert late.ended
        assert await late.next(LONG) is None
        late.close()
        feed.reopen()
        return feed.watchers, len(got), (await feed.subscribe().next(LONG)).content.seq

    assert run(watch()) == (0, 2, 1)


def test_publishing_outlives_a_closed_loop(view):
    feed = Feed()

    async def leave_without_closing():
        feed.subscribe()

    run(leave_without_closing())
    feed.publish(view())
    assert feed.latest.content.seq == 1


def test_a_quiet_stream_beats(view):
    async def watch():
        feed = Feed()
        chunks = stream(feed, write, None, 3)
        got = [await anext(chunks) for _ in range(3)]
        await chunks.aclose()
        return got, feed.watchers

    (retry, *beats), watchers = run(watch())
    assert retry == b"retry: %d\n\n" % retry_ms(3)
    assert all(beat.startswith(b": heartbeat\n") for beat in beats)
    assert watchers == 0


def test_retries_are_spread():
    waits = [retry_ms(number) for number in range(200)]
    assert all(1000 <= wait < 4000 for wait in waits)
    assert len(set(waits)) > 150


def fields(data):
    lines = data.decode().split("\n")  # the stream knows no other line end than CR and LF
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith(":"))


def test_an_event_is_one_padded_frame(view):
    feed = Feed(start="now")
    feed.publish(view(seq=12, teams={"A": "line\nbreak\r\n\ndata: x", "B": "\u2028"}))
    data = event(feed.latest, ENGLISH)
    assert data.endswith(b"\n\n")
    assert data.count(b"\n\n") == 1
    assert len(data) % BLOCK == 0
    told = fields(data)
    assert told["id"] == "12-now"
    assert told["event"] == "view"
    body = msgspec.json.decode(told["data"])
    assert body["view"]["seq"] == 12
    assert ">First hit: Team B</p>" in body["regions"]["play"]
    assert body["view"]["scoreboard"]["sides"][0]["counts"][1] == {"unit": "sticks", "n": 8, "of": 20}


def test_events_of_a_sealed_hide_have_one_size(view):
    """Whatever is sealed, the frame is as long: only the commitment differs, and that has a fixed length."""
    sizes = set()
    for byte in range(16):
        feed = Feed()
        feed.publish(view(seq=40, commit=f"{byte:02x}" * 32, passes=4))
        sizes.add(len(event(feed.latest, ENGLISH)))
    assert len(sizes) == 1


def test_a_full_hall_costs_the_publisher_one_call(view):
    async def scenario():
        feed = Feed()
        watchers = [feed.subscribe() for _ in range(50)]
        loop, calls = asyncio.get_running_loop(), []
        call = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *what: calls.append(what) or call(*what)
        waiting = [asyncio.create_task(watcher.next(20)) for watcher in watchers]
        await asyncio.sleep(0)
        feed.publish(view(seq=1))
        feed.publish(view(seq=2))
        assert len(calls) == 1
        assert {(await one).content.seq for one in waiting} == {2}
        feed.publish(view(seq=3))
        assert len(calls) == 2
        assert {(await watcher.next(20)).content.seq for watcher in watchers} == {3}

    run(scenario())


def test_watchers_are_woken_in_batches(loop, view):
    """So that what sends to all of them leaves the table's thread its turns."""
    feed = Feed()

    async def follow():
        return (await feed.subscribe().next(LONG)).content.seq

    waiting = [loop.create_task(follow()) for _ in range(2 * MAX_WOKEN_AT_ONCE + 5)]
    loop.settle()
    feed.publish(view(seq=7))
    told = []
    for _ in range(3):
        loop.settle()
        told.append(sum(task.done() for task in waiting))
        loop.advance(PAUSE_S)
    assert told == [MAX_WOKEN_AT_ONCE, 2 * MAX_WOKEN_AT_ONCE, 2 * MAX_WOKEN_AT_ONCE + 5]
    assert {task.result() for task in waiting} == {7}
