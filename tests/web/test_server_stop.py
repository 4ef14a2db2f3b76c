"""The server's end: nothing of it is left, whatever its watchers do."""

import asyncio
import gc
import logging
import socket
import threading
import warnings
from contextlib import ExitStack, closing

import pytest
from served_house import ServedHouse as House

from pi_controller.web.app import create_app
from pi_controller.web.server import WebServer

WATCHERS = 5
ASK = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"POST /judge/sign-in HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
HALF += b"Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{"


def caller(stack, server):
    """Return a line to `server` that takes in little."""
    line = stack.enter_context(closing(socket.socket()))
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    line.connect(("127.0.0.1", server.port))
    return line


def ends_well(server, caplog):
    """Stop `server`; assert that it left no thread, no socket and no complaint."""
    thread = server.thread
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always", ResourceWarning)
        server.stop()
        gc.collect()
    assert [str(one.message) for one in left] == []
    complaints = [record for record in caplog.records if not record.name.startswith("pi_controller")]
    assert [record.getMessage() for record in complaints] == []
    assert not thread.is_alive()


@pytest.fixture(autouse=True)
def _from_warnings_on(caplog):
    caplog.set_level(logging.WARNING)


def test_non_reading_watchers_do_not_delay_stop(feed, view, caplog):
    with ExitStack() as stack:
        server = WebServer(feed, port=0)
        server.start()
        for _ in range(WATCHERS):
            caller(stack, server).sendall(ASK)
        seq = 1
        while sum(line.flow.write_paused for line in list(server.http.server_state.connections)) < WATCHERS:
            feed.publish(view(seq=(seq := seq + 1)))
        ends_well(server, caplog)
    assert feed.watchers == 0


def test_stream_requested_just_before_stop_ends_too(feed, caplog, monkeypatch):
    """The request is in; its stream begins when all others have been ended."""
    asked, hung_up = threading.Event(), asyncio.Event()
    hang_up = feed.end_streams

    def app(hosts):
        inner = create_app(feed, hosts=hosts)

        async def late(scope, receive, send):
            asked.set()
            await hung_up.wait()
            await inner(scope, receive, send)

        return late

    monkeypatch.setattr(feed, "end_streams", lambda: (hang_up(), hung_up.set()))
    with ExitStack() as stack:
        server = WebServer(feed, port=0, app=app)
        server.start()
        line = caller(stack, server)
        line.sendall(ASK)
        assert asked.wait(20)
        ends_well(server, caplog)
        line.settimeout(20)
        assert b"".join(iter(lambda: line.recv(4096), b"")).endswith(b"\r\n0\r\n\r\n"), "it was told the end"
    assert feed.watchers == 0


def test_incomplete_request_ends_at_stop(tmp_path, caplog):
    house = House(tmp_path)
    with ExitStack() as stack:
        line = caller(stack, house.server)
        line.sendall(HALF)
        while not house.server.http.server_state.tasks:
            pass
        ends_well(house.server, caplog)
    house.close()


def test_ended_feed_is_served_by_a_new_server(feed):
    for _ in range(2):
        server = WebServer(feed, port=0)
        server.start()
        with ExitStack() as stack:
            line = caller(stack, server)
            line.settimeout(20)
            line.sendall(ASK)
            heard = b""
            while b"event: view" not in heard:
                more = line.recv(4096)
                assert more, "the stream ended"
                heard += more
        server.stop()
