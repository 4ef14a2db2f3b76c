from __future__ import annotations

import platform
from contextlib import ExitStack

import msgspec
import pytest
from event_stream import Stream

from pi_controller.display.i18n import ENGLISH
from pi_controller.table.view import View
from pi_controller.web.app import create_app
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer


def test_the_page(web):
    answer = web.get("/")
    assert answer.status_code == 200
    assert "First hit: Long Hollow" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_the_view_as_json(web, feed):
    answer = web.get("/view.json")
    assert msgspec.json.decode(answer.content, type=View) == feed.latest.content
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
    page = web.get(path, headers={"accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 404
    assert "<h1>Page not found.</h1>" in page.text


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
    name = platform.node().partition(".")[0]
    for host in (platform.node(), name.upper(), *(f"{name}{end}:8080" for end in (".local", "-2.local", ".home.arpa"))):
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
    assert "[web] hosts" in answer.text


def test_names_like_the_own_one_are_refused(web):
    name = platform.node().partition(".")[0]
    for host in (f"{name}.example", f"{name}-2.local.example", f"{name}-1234.local", f"{name}.local.evil", f"x{name}"):
        assert web.get("/", headers={"host": host}).status_code == 400, host


def test_no_host_at_all_is_refused(web):
    request = web.build_request("GET", "/")
    del request.headers["host"]
    assert web.send(request).status_code == 400


def test_the_stream_starts_with_the_view_and_follows(web, feed, view):
    with web.stream("GET", "/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = Stream(response)
        first = events.next()
        assert first["id"] == feed.latest.id
        assert '<p class="count">8</p>' in msgspec.json.decode(first["data"])["regions"]["play"]
        feed.publish(view(seq=2, long={"A": 12, "B": 0}))
        second = events.next()
        assert second["id"] == feed.latest.id != first["id"]
        body = msgspec.json.decode(second["data"])
        assert '<p class="count">12</p>' in body["regions"]["play"]
        assert msgspec.convert(body["view"], View) == feed.latest.content


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


def test_a_watcher_that_leaves_is_forgotten(web, feed):
    with web.stream("GET", "/events") as response:
        events = Stream(response)
        events.next()
        assert feed.watchers == 1
    assert web.get("/healthz").json()["watchers"] == 0


def test_watcher_limit_drops_oldest_of_the_busiest_address(feed, visit):
    server = WebServer(feed)
    server.app = create_app(feed, max_watchers=3, tr=ENGLISH)

    def watch(address):
        events = Stream(stack.enter_context(visit(server, peer=address).stream("GET", "/events")))
        events.next()
        return events

    with ExitStack() as stack:
        first, second, third, late = map(watch, ("127.0.0.2", "127.0.0.66", "127.0.0.66", "127.0.0.66"))
        second.end()
        other = watch("127.0.0.3")
        third.end()
        assert feed.watchers == 3
        feed.end_streams()
        for one in (first, late, other):
            one.end()


def test_before_the_first_view(visit):
    web = visit(WebServer(Feed()))
    assert web.get("/").status_code == 503
    assert 'http-equiv="refresh"' in web.get("/").text
    assert web.get("/view.json").status_code == 503
    assert web.get("/healthz").json()["ok"] is False
