from __future__ import annotations

import socket
import time
from contextlib import ExitStack, closing

import httpx
import msgspec
import pytest
from event_stream import Stream

from pi_controller.errors import MatError
from pi_controller.table.view import View
from pi_controller.web.app import create_app
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebError, WebServer


@pytest.fixture
def web(server):
    with httpx.Client(base_url=server.url, timeout=20, trust_env=False, verify=False) as client:
        yield client


def test_the_page(web):
    answer = web.get("/")
    assert answer.status_code == 200
    assert "First hit: Long Hollow" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_the_view_as_json(web, feed):
    answer = web.get("/view.json")
    assert msgspec.json.decode(answer.content, type=View) == feed.latest.view
    assert answer.headers["content-type"] == "application/json"


def test_health(web, feed, view):
    assert web.get("/healthz").json() == {"ok": True, "seq": 1, "phase": "hit", "link": True, "watchers": 0}
    feed.publish(view(seq=2, phase="halted"))
    answer = web.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["ok"] is False
    assert answer.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]  # a kiosk's own page asks it


@pytest.mark.parametrize(
    ("name", "media_type"), [("style.css", "text/css"), ("live.js", "text/javascript"), ("icon.svg", "image/svg+xml")]
)
def test_static_files(web, name, media_type):
    answer = web.get(f"/static/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].split(";")[0] == media_type


@pytest.mark.parametrize(
    "path", ["/nothing", "/static/", "/static/..%2fapp.py", "/static/../app.py", "/view.json/", "/favicon.ico"]
)
def test_unknown_path_is_404(web, path):
    answer = web.get(path)
    assert answer.status_code == 404
    assert answer.text == "Page not found.\n"


@pytest.mark.parametrize("path", ["/", "/events", "/view.json", "/healthz", "/static/live.js", "/nothing"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_methods_other_than_get_and_head_are_405(web, method, path):
    answer = web.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", "/events", "/view.json", "/healthz", "/static/live.js"])
def test_head_has_no_body(web, path):
    answer = web.head(path)
    assert answer.status_code == 200
    assert answer.content == b""


@pytest.mark.parametrize("path", ["/", "/view.json", "/static/style.css", "/nothing"])
def test_headers(web, path):
    headers = web.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "manifest-src": "'self'",
        "font-src": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8080", "10.0.0.7", "[::1]:80", "mat.local", "MAT.local.:81"])
def test_known_hosts(web, host):
    assert web.get("/healthz", headers={"host": host}).status_code == 200


def test_the_machines_own_name_is_known(web):
    for host in (socket.gethostname(), f"{socket.gethostname()}.local:8080"):
        assert web.get("/healthz", headers={"host": host}).status_code == 200


OTHER_HOSTS = [
    "evil.example", "localhost.evil.example", "", "mat.local.evil", "1.2.3.4.5", "[::1", "::1", "[::1]evil.com",
    "[::1]:80.evil.com", "[::1].evil.com", "[localhost]", "[::1%evil.com]", "localhost:80:evil.com", "localhost:evil",
    "127.0.0.1:", "localhost:80@evil.com", "]", "evil.com[::1]",
]  # fmt: skip


@pytest.mark.parametrize("host", OTHER_HOSTS)
def test_other_hosts_are_refused(web, host):
    answer = web.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "Big Coulee" not in answer.text


def test_no_host_at_all_is_refused(server):
    with closing(socket.create_connection(("127.0.0.1", server.port), 20)) as line:
        line.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert line.recv(200).split(b"\r\n")[0].endswith(b"400 Bad Request")


def test_the_stream_starts_with_the_view_and_follows(web, feed, view):
    with web.stream("GET", "/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = Stream(response)
        first = events.next()
        assert first["id"] == feed.latest.id
        assert msgspec.json.decode(first["data"])["texts"]["long_a"] == "8"
        feed.publish(view(seq=2, long={"A": 12, "B": 0}))
        second = events.next()
        assert second["id"] == feed.latest.id != first["id"]
        body = msgspec.json.decode(second["data"])
        assert body["counts"]["long_a"] == [12, 20]
        assert msgspec.convert(body["view"], View) == feed.latest.view


def test_reconnecting_watcher_gets_no_known_view(web, feed, view):
    first = feed.latest.id
    with web.stream("GET", "/events", headers={"last-event-id": first}) as response:
        events = Stream(response)
        next(events.lines)  # the retry line: the stream stands
        feed.publish(view(seq=2))
        assert events.next()["id"] == feed.latest.id
    for known in (first, "2", "2-another"):  # the last: of another start, whose journal may be another
        with web.stream("GET", "/events", headers={"last-event-id": known}) as response:
            assert Stream(response).next()["id"] == feed.latest.id


def test_answers_do_not_wait_for_the_line(web):
    """Nagle's delay and the other end's late acknowledgement make 40 ms of each second answer."""
    took = []
    for _ in range(20):
        began = time.perf_counter()
        web.get("/healthz")
        took.append(time.perf_counter() - began)
    assert sorted(took)[2] < 0.03


def test_a_watcher_that_leaves_is_forgotten(web, feed):
    with web.stream("GET", "/events") as response:
        events = Stream(response)
        events.next()
        assert feed.watchers == 1
    for _ in range(200):
        if web.get("/healthz").json()["watchers"] == 0:
            break
    assert feed.watchers == 0


def test_non_reading_watcher_gets_no_backlog(web, feed, server, view):
    """400 views go by, a reading watcher follows each; the one that sleeps finds few of them, and the newest last."""
    last = 400
    with socket.socket() as slow, web.stream("GET", "/events") as response:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(20)
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


def test_watcher_limit_drops_oldest_of_the_busiest_address(feed):
    server = WebServer(feed, port=0)
    server.app = create_app(feed, max_watchers=3)
    server.start()
    try:
        with ExitStack() as stack:
            watch = [_watcher(stack, server, address) for address in ("127.0.0.2", "127.0.0.66", "127.0.0.66")]
            late = _watcher(stack, server, "127.0.0.66")
            watch[1].end()
            other = _watcher(stack, server, "127.0.0.3")
            watch[2].end()
            assert feed.watchers == 3
            feed.end_streams()
            for one in (watch[0], late, other):
                one.end()
    finally:
        server.stop()


def _watcher(stack, server, address):
    """Return the events that somebody at `address` is sent, having heard the first."""
    transport = httpx.HTTPTransport(local_address=address)
    web = stack.enter_context(httpx.Client(base_url=server.url, timeout=20, trust_env=False, transport=transport))
    events = Stream(stack.enter_context(web.stream("GET", "/events")))
    events.next()
    return events


def test_before_the_first_view():
    server = WebServer(Feed(), port=0)
    server.start()
    try:
        with httpx.Client(base_url=server.url, timeout=20, trust_env=False) as web:
            assert web.get("/").status_code == 503
            assert 'http-equiv="refresh"' in web.get("/").text
            assert web.get("/view.json").status_code == 503
            assert web.get("/healthz").json()["ok"] is False
    finally:
        server.stop()


def test_stopping_ends_open_streams_and_frees_the_port(feed):
    server = WebServer(feed, port=0)
    server.start()
    port = server.port
    with (
        httpx.Client(base_url=server.url, timeout=20, trust_env=False) as web,
        web.stream("GET", "/events") as response,
    ):
        events = Stream(response)
        events.next()
        server.stop()
        with pytest.raises(EOFError):
            events.next()
    again = WebServer(feed, port=port)
    again.start()
    assert again.port == port
    again.stop()
    again.stop()


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
