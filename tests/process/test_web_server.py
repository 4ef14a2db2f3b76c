"""The server on real sockets: its port, whom it lets in, and its end, of which nothing is left."""

import asyncio
import gc
import logging
import select
import socket
import threading
import warnings
from collections import Counter
from contextlib import ExitStack, closing

import httpx
import pytest
from event_stream import Stream
from served_house import ServedHouse as House

from pi_controller.display.i18n import ENGLISH
from pi_controller.errors import MatError
from pi_controller.web import http_timeouts
from pi_controller.web.app import create_app
from pi_controller.web.server import WebError, WebServer

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
def _from_warnings_on(caplog, monkeypatch):
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr("pi_controller.web.server._READ_S", 0.1)
    monkeypatch.setattr("pi_controller.web.server._ANSWER_S", 0.2)


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
        inner = create_app(feed, hosts=hosts, tr=ENGLISH)

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
        assert asked.wait(60)
        ends_well(server, caplog)
        line.settimeout(60)
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


def test_stopping_frees_the_port_for_a_new_server(feed):
    port = 0
    for _ in range(2):
        server = WebServer(feed, port=port)
        server.start()
        port = port or server.port
        assert server.port == port
        with (
            httpx.Client(base_url=server.url, timeout=60, trust_env=False) as web,
            web.stream("GET", "/events") as response,
        ):
            events = Stream(response)
            events.next()
            server.stop()
            events.end()
        server.stop()


@pytest.fixture
def web(server):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client


def test_answers_do_not_wait_for_the_line(web, server):
    """Nagle's delay and the other end's late acknowledgement make 40 ms of each second answer."""
    web.get("/healthz")
    (connection,) = server.http.server_state.connections
    line = connection.transport.get_extra_info("socket")
    assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_non_reading_watcher_gets_no_backlog(web, feed, server, view):
    """400 views go by, a reading watcher follows each; the one that sleeps finds few of them, and the newest last."""
    last = 400
    with socket.socket() as slow, web.stream("GET", "/events") as response:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(60)
        slow.connect(("127.0.0.1", server.port))
        slow.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        began = b""
        while b"event: view" not in began:
            began += slow.recv(256)
        events = Stream(response)
        assert events.next()["id"] == feed.latest.id
        for seq in range(2, last + 1):
            feed.publish(view(seq=seq))
            assert events.next()["id"] == feed.latest.id
        heard = b""
        while f"id: {last}-".encode() not in heard:
            heard += slow.recv(65536)
        assert heard.count(b"event: view") < 150, "the send buffers hold more than they should"
        feed.publish(view(seq=last + 1))
        assert events.next()["id"] == feed.latest.id


def test_a_busy_port_is_a_clear_error(server, feed):
    with pytest.raises(WebError, match=str(server.port)) as caught:
        WebServer(feed, port=server.port).start()
    assert isinstance(caught.value, MatError)
    assert isinstance(caught.value, OSError)
    assert "port" in caught.value.hint


@pytest.mark.parametrize(("host", "port"), [("no such host", 0), ("127.0.0.1", 99999), ("192.0.2.1", 0)])
def test_an_address_that_cannot_be_used(feed, host, port):
    with pytest.raises(WebError):
        WebServer(feed, host, port).start()


def test_repr_contains_the_url(server):
    assert repr(server) == f"<WebServer http://127.0.0.1:{server.port}/ serving>"


def callers(address, port, count):
    """Return `count` connections from `address`."""
    return [socket.create_connection(("127.0.0.1", port), 10, (address, 0)) for _ in range(count)]


def test_rush_from_one_address_is_refused_at_accept():
    now = 0.0
    with http_timeouts.LimitedListener(socket.AF_INET, lambda: now) as gate, ExitStack() as stack:
        gate.bind(("127.0.0.1", 0))
        gate.listen(32)
        gate.setblocking(False)
        port, most = gate.getsockname()[1], int(http_timeouts.CONNECTION_BURST)
        for address, count in (("127.0.0.66", 140), ("127.0.0.3", 1), ("127.0.0.66", 80), ("127.0.0.4", 1)):
            for line in callers(address, port, count):
                stack.enter_context(closing(line))
        assert let_in(gate) == {"127.0.0.66": most, "127.0.0.3": 1, "127.0.0.4": 1}
        now += 1.0
        for line in callers("127.0.0.66", port, most):
            stack.enter_context(closing(line))
        assert let_in(gate) == {"127.0.0.66": http_timeouts.CONNECTIONS_A_SECOND}


def test_accept_yields_while_refusing_many_connections():
    with http_timeouts.LimitedListener(socket.AF_INET, lambda: 0.0) as gate, ExitStack() as stack:
        gate.bind(("127.0.0.1", 0))
        gate.listen(32)
        gate.setblocking(False)
        most = int(http_timeouts.CONNECTION_BURST)
        for line in callers("127.0.0.66", gate.getsockname()[1], most + http_timeouts.TURNED_AWAY + 1):
            stack.enter_context(closing(line))
        for _ in range(most):
            gate.accept()[0].close()
        with pytest.raises(BlockingIOError):
            gate.accept()
        assert select.select([gate], [], [], 0)[0], "one waits still"


def let_in(gate):
    """Let in who waits; return how many from where."""
    came, pauses = Counter(), 0
    while pauses < 20:
        try:
            line, address = gate.accept()
        except BlockingIOError:
            pauses += 1
            continue
        line.close()
        came[address[0]] += 1
    return came
