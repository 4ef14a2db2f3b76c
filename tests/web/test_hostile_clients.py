"""Clients that send too much, too slowly, too often or to strange places: bounded, and nobody else is held up."""

import pytest
from judge_house import House, say

from pi_controller.web import http_timeouts, requests
from pi_controller.web import sign_in as console

POSTS = ("/judge/sign-in", "/judge/sign-out", "/judge/command", "/judge/people")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("house"))
    yield house
    house.close()


@pytest.fixture(scope="module")
def ann(house):
    with house.signed_in("Ann") as web:
        yield web


WAYS_OUT = [
    "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/%2e%2e%2fapp.py",
    "/static//etc/passwd", "/static/..\\app.py", "/static/%5c..%5capp.py", "/static/judge.js%00.css", "/static/",
    "/static/.", "/static/JUDGE.JS", "/judge/hit/../state.json", "/judge/hit/..%2f..%2fview.json",
    "/judge/hit/-1.svg", "/judge/hit/1e3.svg", "/judge/hit/%00.svg", "/judge/hit/1.svg/", "/judge/hit/1%0a.svg",
    "/judge/hit/0x1.svg", "/judge/hit/999999999999999999999.svg", f"/judge/hit/{'9' * 5000}.svg", "/judge/hit/１.svg",
    "/judge%0a", "/judge/state.json%0a", "/judge/", "//judge", "/judge/../judge", "/JUDGE", "http://evil.example/judge",
]  # fmt: skip


@pytest.mark.parametrize("path", WAYS_OUT, ids=lambda path: path[:40])
def test_no_path_leads_anywhere_else(house, ann, path):
    cookie = f"{console.SESSION}={ann.cookies[console.SESSION]}"
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
    answer = house.server.ask(head.encode())
    assert answer.split(b" ")[1] in {b"404", b"400"}
    assert b"import" not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize("method", ["post", "Post", "POST\t"])
def test_a_method_is_as_it_is_written(house, method):
    head = f"{method} /judge/sign-out HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}"
    assert house.server.ask(head.encode()).split(b" ")[1] in {b"400", b"405"}


@pytest.mark.parametrize("path", POSTS)
def test_oversized_body_is_refused_by_its_content_length(house, ann, path):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n"
    head += f"Cookie: {console.SESSION}={ann.cookies[console.SESSION]}\r\nContent-Length: 99999999\r\n\r\n"
    answer = house.server.ask(head.encode())
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_body_without_end_is_cut_off(house):
    """In chunks, of no said length: refused after 16 KiB."""
    head = b"POST /judge/sign-in HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
    head += b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = house.server.ask(head + (b"1000\r\n" + b" " * 4096 + b"\r\n") * 5)
    assert answer.startswith(b"HTTP/1.1 413 ")


SLOW_BODY = (
    b"POST /judge/sign-in HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{"
)


@pytest.mark.parametrize(
    ("data", "end"),
    [(b"GET / HTTP/1.1\r\nHo", b""), (b"", b""), (SLOW_BODY, b"HTTP/1.1 408 ")],
    ids=["head", "silent", "body"],
)
def test_slow_clients_do_not_delay_others(house, ann, data, end):
    slow, began = [house.server.open(data, "127.0.0.3") for _ in range(100)], house.loop.time()
    for n in range(10):
        for call, more in (("protest", {"by": "A", "text": "x"}), ("ruling", {"ruling": "denied", "reason": "x"})):
            assert say(ann, f"meanwhile-{len(data)}-{n}-{call}", call, **more).status_code == 200
    assert house.loop.time() - began < 0.1
    assert not any(line.closed for line in slow)
    house.loop.advance(max(http_timeouts.HEADER_TIMEOUT_S, requests.BODY_S) + 1)
    assert all(line.closed and line.heard.startswith(end) and bool(line.heard) == bool(end) for line in slow)


GET = "GET {} HTTP/1.1\r\nHost: localhost\r\nCookie: {}={}\r\n\r\n"


def get(line, path, cookie=""):
    """Ask for a page on `line`, which stays open; return the status, None if the server has hung up."""
    line.heard = b""
    line.send(GET.format(path, console.SESSION, cookie).encode())
    line.settle()
    return None if line.closed else int(line.heard.split(b" ")[1])


@pytest.fixture
def few(tmp_path, monkeypatch):
    """Return a house that lets in 40 connections, and one more for who is signed in."""
    monkeypatch.setattr(http_timeouts, "MAX_CONNECTIONS", 40)
    monkeypatch.setattr(http_timeouts, "MAX_KEPT_CONNECTIONS", 1)
    house = House(tmp_path)
    yield house
    house.close()


def test_greedy_address_displaces_its_own_connections(few):
    honest = few.server.open(peer="127.0.0.5")
    greedy = [few.server.open(peer="127.0.0.3") for _ in range(60)]
    assert get(few.server.open(peer="127.0.0.4"), "/healthz") == 200
    assert get(honest, "/healthz") == 200
    assert [line.closed for line in greedy] == [True] * 22 + [False] * 38, "its oldest"
    assert len(few.server.state.connections) == 40


def test_signed_in_connection_survives_flood_from_same_address(few):
    with few.signed_in("Jo") as web:
        cookie = web.cookies[console.SESSION]
    mine = few.server.open(peer="127.0.0.3")
    assert get(mine, "/judge/state.json", cookie) == 200
    for _ in range(60):
        few.server.open(peer="127.0.0.3")
    assert get(few.server.open(peer="127.0.0.4"), "/healthz") == 200
    assert get(mine, "/judge/state.json", cookie) == 200


@pytest.mark.parametrize(
    ("descriptors", "most"),
    [(1024, 1024 - http_timeouts.SPARE - http_timeouts.MAX_KEPT_CONNECTIONS), (20_000, http_timeouts.MAX_CONNECTIONS)],
)
def test_the_server_leaves_descriptors_to_the_table(descriptors, most):
    shares = http_timeouts.LimitedServerState(descriptors).shares
    given_up = []
    for n in range(most + 1):
        shares.take(f"{n}", lambda n=n: given_up.append(n))
    assert given_up == [0]
