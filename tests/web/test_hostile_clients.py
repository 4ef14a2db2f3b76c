"""Clients that send too much, too slowly, too often or to strange places: bounded, and nobody else is held up."""

import select
import socket
import time
from collections import Counter
from contextlib import ExitStack, closing

import pytest
from judge_house import say, sign_in
from served_house import ServedHouse as House
from served_house import raw

from pi_controller.web import limits, requests
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
    answer = raw(house.server.port, head.encode())
    assert answer.split(b" ")[1] in {b"404", b"400"}
    assert b"import" not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize("method", ["post", "Post", "POST\t"])
def test_a_method_is_as_it_is_written(house, method):
    head = f"{method} /judge/sign-out HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}"
    assert raw(house.server.port, head.encode()).split(b" ")[1] in {b"400", b"405"}


@pytest.mark.parametrize("path", POSTS)
def test_oversized_body_is_refused_by_its_content_length(house, ann, path):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n"
    head += f"Cookie: {console.SESSION}={ann.cookies[console.SESSION]}\r\nContent-Length: 99999999\r\n\r\n"
    answer = raw(house.server.port, head.encode())
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_body_without_end_is_cut_off(house):
    """In chunks, of no said length: refused after 16 KiB, and soon nobody listens any more."""
    head = b"POST /judge/sign-in HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
    head += b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    with closing(socket.create_connection(("127.0.0.1", house.server.port), 10)) as line:
        line.sendall(head)
        line.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
        line.sendall((b"1000\r\n" + b" " * 4096 + b"\r\n") * 4)
        assert line.recv(100).startswith(b"HTTP/1.1 413 ")


class Lines:
    """Lines that are open and say little, from one address."""

    def __init__(self, house, data, count, address="127.0.0.3"):
        self.open = []
        for _ in range(count):
            line = socket.socket()
            self.open.append(line)
            line.settimeout(10)
            line.bind((address, 0))
            line.connect(("127.0.0.1", house.server.port))
            line.sendall(data)

    def heard(self):
        """Return what each heard until it was hung up on."""
        found = []
        for line in self.open:
            with closing(line):
                got = b""
                try:
                    while more := line.recv(4096):
                        got += more
                except ConnectionError:
                    pass
                found.append(got)
        return found


SLOW_BODY = (
    b"POST /judge/sign-in HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{"
)


@pytest.mark.parametrize(
    ("data", "end"),
    [(b"GET / HTTP/1.1\r\nHo", b""), (b"", b""), (SLOW_BODY, b"HTTP/1.1 408 ")],
    ids=["head", "silent", "body"],
)
@pytest.mark.slow
def test_slow_clients_do_not_delay_others(house, ann, monkeypatch, data, end):
    monkeypatch.setattr(limits, "HEADER_TIMEOUT_S", 2.0)
    monkeypatch.setattr(requests, "BODY_S", 2.0)
    slow = Lines(house, data, 100)
    took = []
    for n in range(20):
        began = time.monotonic()
        answer = say(ann, f"meanwhile-{len(data)}-{n}", "protest" if n % 2 == 0 else "ruling", **(
            {"by": "A", "text": "x"} if n % 2 == 0 else {"ruling": "denied", "reason": "x"}
        ))  # fmt: skip
        assert answer.status_code == 200
        took.append(time.monotonic() - began)
    assert sorted(took)[10] < 0.5
    began = time.monotonic()
    heard = slow.heard()
    assert time.monotonic() - began < 8
    assert all(one.startswith(end) and (bool(one) == bool(end)) for one in heard)


def cut(line):
    """Return whether somebody has hung up."""
    line.settimeout(0.2)
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@pytest.fixture
def few(tmp_path, monkeypatch):
    """Return a house that lets in 40 connections, and one more for who is signed in; it waits long for a head."""
    monkeypatch.setattr(limits, "MAX_CONNECTIONS", 40)
    monkeypatch.setattr(limits, "MAX_KEPT_CONNECTIONS", 1)
    house = House(tmp_path)
    yield house
    house.close()


@pytest.mark.slow
def test_greedy_address_displaces_its_own_connections(few):
    with few.signed_in("Jo") as jo, few.browser("127.0.0.5") as honest:
        assert honest.get("/healthz").status_code == 200
        greedy = Lines(few, b"", 60)
        with few.browser("127.0.0.4") as web:
            assert web.get("/healthz").status_code == 200
        assert say(jo, "key-00001", "protest", by="A", text="x").status_code == 200
        assert honest.get("/healthz").status_code == 200
        assert [cut(line) for line in greedy.open[:20]] == [True] * 20, "its oldest"
        assert [cut(line) for line in greedy.open[-30:]] == [False] * 30, "not its newest"
        assert len(few.server.http.server_state.connections) <= 41
    for line in greedy.open:
        line.close()


def test_signed_in_connection_survives_flood_from_same_address(few):
    with few.browser("127.0.0.3") as web:
        assert sign_in(web, "Jo").status_code == 200
        assert web.get("/judge/state.json").status_code == 200
        (mine,) = few.server.http.server_state.connections
        greedy = Lines(few, b"", 60)
        with few.browser("127.0.0.4") as other:
            assert other.get("/healthz").status_code == 200
        assert mine in few.server.http.server_state.connections
        assert web.get("/judge/state.json").status_code == 200
    for line in greedy.open:
        line.close()


@pytest.mark.parametrize(
    ("descriptors", "most"),
    [(1024, 1024 - limits.SPARE - limits.MAX_KEPT_CONNECTIONS), (20_000, limits.MAX_CONNECTIONS)],
)
def test_the_server_leaves_descriptors_to_the_table(descriptors, most):
    shares = limits.LimitedServerState(descriptors).shares
    given_up = []
    for n in range(most + 1):
        shares.take(f"{n}", lambda n=n: given_up.append(n))
    assert given_up == [0]


def callers(address, port, count):
    """Return `count` connections from `address`."""
    return [socket.create_connection(("127.0.0.1", port), 10, (address, 0)) for _ in range(count)]


def test_rush_from_one_address_is_refused_at_accept():
    """Nobody looks while they come, as when more come than can be let in."""
    with limits.LimitedListener(socket.AF_INET) as gate, ExitStack() as stack:
        gate.bind(("127.0.0.1", 0))
        gate.listen(32)
        gate.setblocking(False)
        port = gate.getsockname()[1]
        for address, count in (("127.0.0.66", 140), ("127.0.0.3", 1), ("127.0.0.66", 80), ("127.0.0.4", 1)):
            for line in callers(address, port, count):
                stack.enter_context(closing(line))
        came = let_in(gate)
        assert came == {"127.0.0.66": limits.RECENT_EACH, "127.0.0.3": 1, "127.0.0.4": 1}
        for line in callers("127.0.0.66", port, 1):
            stack.enter_context(closing(line))
        assert let_in(gate) == {"127.0.0.66": 1}, "nobody waited meanwhile: it is let in again"


def test_rush_count_resets_after_last_accept():
    """asyncio lets in so many in a row: where that is all of them, it does not ask again before the next rush."""
    with limits.LimitedListener(socket.AF_INET) as gate, ExitStack() as stack:
        gate.bind(("127.0.0.1", 0))
        gate.listen(32)
        gate.setblocking(False)
        for count in (64, 100):
            for line in callers("127.0.0.66", gate.getsockname()[1], count):
                stack.enter_context(closing(line))
            for _ in range(count):
                gate.accept()[0].close()


def test_accept_yields_while_refusing_many_connections():
    with limits.LimitedListener(socket.AF_INET) as gate, ExitStack() as stack:
        gate.bind(("127.0.0.1", 0))
        gate.listen(32)
        gate.setblocking(False)
        count = limits.RECENT_EACH + limits.TURNED_AWAY + 1
        for line in callers("127.0.0.66", gate.getsockname()[1], count):
            stack.enter_context(closing(line))
        for _ in range(limits.RECENT_EACH):
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
