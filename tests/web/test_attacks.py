"""Malformed HTTP and JSON, and guessed PINs, sent to a table that plays.

Nine of ten malformed requests come without a session: after them the journal is as it was. The others bring a judge's
cookie: then there is one record of a command for each answer of yes.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from typing import NamedTuple

import msgspec
from judge_house import House, say

from pi_controller.referee.facts import CommandIssued
from pi_controller.web.sign_in import SESSION

SIGNED_EVERY = 10
"""One request in so many has a judge's cookie."""
A_REQUEST_S = 0.1
"""What the table's clock gains with each request, so that not every sign-in and command comes too early."""
POSTS = ("/judge/sign-in", "/judge/sign-out", "/judge/command", "/judge/people")
PATHS = (
    "/", "/events", "/openapi.json", "/view.json",
    "/healthz", "/static/judge.js", "/room", "/overlay", "/find", "/check", "/rules", "/games", "/judge",
    "/judge/state.json", "/judge/events", "/judge/hits.json", "/judge/hit/1.svg", *POSTS,
)  # fmt: skip
METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "PÖST", "G E T", "", "A" * 300)
CALLS = (
    {"judge": "action", "action": {"do": "hit", "found": False}}, {"judge": "undo"}, {"judge": "hidden"},
    {"judge": "answer", "answer": "yes"}, {"judge": "hide_again"}, {"judge": "sensors", "on": True},
    {"judge": "protest", "by": "A", "text": "x"}, {"judge": "ruling", "ruling": "denied", "reason": "x"},
    {"judge": "clock", "running": False}, {"judge": "set", "sheet": {"long": {"A": 1}}, "reason": "x"},
    {"judge": "replace", "action": {"do": "hit", "found": True}},
)  # fmt: skip
TEXTS = (
    "",
    "\x00",
    "x" * 2000,
    "🪶",
    "\u202e",
    "'; DROP TABLE people; --",
    "../../etc",
    "A",
    "head",
    "\r\nX: y",
)
NUMBERS = (0, -1, 2**31, 2**53, 2**53 + 1, 2**64, 10**40, 1e308, -0.0, 0.1, 1e-320)
UGLY = (
    b"", b"{", b"nul", b"NaN", b"1e999", b'"\\ud800"', b'{"a":1,"a":2}', b'\xff\xfe{"a":1}', b"\xef\xbb\xbf{}",
    b"[" * 8000, b'{"a":' * 2500, b"{}{}", b'{"pin":"\x00"}', b"[]", b'{"key":"\\u0000aaaaaaaa"}', b"\x00" * 100,
    b"9" * 5000,
)  # fmt: skip


class Request(NamedTuple):
    """Bytes to send, and what kind they are of."""

    kind: str
    data: bytes


def request(seed: int, number: int, port: int, cookie: str = "") -> Request:
    """Return request `number` of `seed`, with a session's `cookie` where there is one."""
    rng = random.Random(f"{seed}/{number}")
    makers = (_noise, _broken, _odd, _odd, _json, _json, _command, _command)
    maker = rng.choice(makers[1:] if not cookie else makers[4:])
    maker = _noise if not cookie and rng.random() < 0.1 else maker
    return Request(maker.__name__.strip("_"), maker(rng, port, cookie))


def _noise(rng: random.Random, port: int, cookie: str) -> bytes:
    """Bytes by chance; a line end so that an answer is due."""
    return rng.randbytes(rng.randrange(1, 600)) + b"\r\n\r\n"


def _broken(rng: random.Random, port: int, cookie: str) -> bytes:
    """A request that is right but for one thing that HTTP forbids, or almost."""
    path, host = rng.choice(PATHS), f"Host: localhost:{port}\r\n"
    first, body = f"POST {path} HTTP/1.1\r\n", '{"name":"Ann"}'
    origin = f"Origin: http://localhost:{port}\r\nContent-Type: application/json\r\n"
    return rng.choice(
        [
            f"{first}\r\n",
            f"{first}{host}{host}\r\n",
            f"{first}{host}Content-Length: -5\r\n\r\n",
            f"{first}{host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
            f"{first}{host}{origin}Content-Length: 14\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{body}",
            f"{first}{host}{origin}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
            f"{first}{host}{origin}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            f"{first}{host}{origin}Transfer-Encoding: gzip\r\n\r\n{body}",
            f"{first}{host}{origin}Content-Length: 500\r\n\r\n{body}",
            f"{first}{host}{origin}Content-Length: 99999999999999999999\r\n\r\n{body}",
            f"{first}{host}{origin}Expect: 100-continue\r\nContent-Length: 14\r\n\r\n{body}",
            f"{first}{host} folded: yes\r\n\r\n",
            f"{first}{host}No-Colon\r\n\r\n",
            f"{first}{host}X: {'y' * 20_000}\r\n\r\n",
            f"{first}{host}X: y\r\n" + "A: b\r\n" * 900 + "\r\n",
            f"{first}{host}X: \x00\x01\r\n\r\n",
            f"{first}{host}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            f"{first}{host}Connection: close, close, \r\n\r\n",
            f"POST {path} HTTP/{rng.choice(['0.9', '1.0', '2.0', '9.9', '1.1.1', 'x'])}\r\n{host}\r\n",
            f"POST {path}\r\n{host}\r\n",
            f"POST {path} HTTP/1.1 extra\r\n{host}\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            f"GET {path} HTTP/1.1\n{host}\n\n",
            f"GET {path} HTTP/1.1\r\n{host}\r\nGET {path} HTTP/1.1\r\n{host}\r\n",
            f"GET {path} HTT",
        ]
    ).encode("latin-1")


def _odd(rng: random.Random, port: int, cookie: str) -> bytes:
    """Right HTTP to an odd place, with odd headers."""
    path = rng.choice(PATHS)
    cut = rng.randrange(len(path) + 1)
    extra = rng.choice(
        ["", "/", "/..", "%2e%2e/", "%00", "%0a", "%ff", "%", "//", "?page=x", "?x=" + "y" * 3000, "#", ";"]
    )
    path = rng.choice([path, path[:cut] + extra + path[cut:], f"/judge/hit/{'9' * rng.choice([3, 30, 5000])}.svg", "*"])
    host = rng.choice([f"localhost:{port}", "evil.example", "[::1", "[::1]", "", "a" * 300, "127.0.0.1:99999", "\xe9"])
    lines = [f"{rng.choice(METHODS)} {path} HTTP/1.1", f"Host: {host if rng.random() < 0.5 else 'localhost'}"]
    lines += rng.sample(
        [
            f"Cookie: {SESSION}={rng.choice(['', 'x' * 43, 'é' * 20, 'y' * 5000, chr(34), 'a=b=c; ;;='])}",
            f"Origin: {rng.choice(['null', 'http://evil.example', '://', 'http://localhost', 'file://'])}",
            f"Last-Event-ID: {rng.choice(['-1', 'x' * 3000, '5-', '1' * 400])}",
            f"Content-Type: {rng.choice(['application/json', 'text/plain', '', ';;;', 'x' * 3000])}",
            "Sec-Fetch-Site: cross-site", "Range: bytes=0-0,-1", "Accept-Encoding: gzip", "X-Forwarded-For: 1.2.3.4",
            "X-HTTP-Method-Override: POST", "If-None-Match: *", "Authorization: Basic QW5uOjEzNTc5MA==",
        ],
        rng.randrange(6),
    )  # fmt: skip
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _posted(path: str, body: bytes, port: int, cookie: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n"
    head += f"Cookie: {SESSION}={cookie}\r\n" if cookie else ""
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def _json(rng: random.Random, port: int, cookie: str) -> bytes:
    """The console's own way to send, with any JSON or almost."""
    path = rng.choice([path for path in POSTS if path != "/judge/sign-out"])
    if rng.random() < 0.4:
        body = rng.choice(UGLY)
    else:
        keys = rng.sample(["key", "expect", "call", "name", "pin", "do", "id", "role", "judge"], rng.randrange(1, 6))
        body = msgspec.json.encode({key: _value(rng, 4) for key in keys})
    return _posted(path, body, port, cookie)


def _command(rng: random.Random, port: int, cookie: str) -> bytes:
    """A command, a sign-in or a change of the people that is right, or wrong in one place."""
    body: dict[str, object] = {"key": f"{rng.getrandbits(64):016x}", "expect": None, "call": rng.choice(CALLS)}
    path = "/judge/command"
    if rng.random() < 0.3:
        # a PIN that begins with 9 is nobody's
        sign_in: dict[str, object] = {"name": rng.choice(["Ann", "Jo", *TEXTS]), "pin": f"9{rng.randrange(100_000):05}"}
        people: dict[str, object] = {
            "do": rng.choice(["add", "revoke", "dance"]),
            "name": rng.choice(TEXTS),
            "role": "king",
        }
        path, body = rng.choice([("/judge/sign-in", sign_in), ("/judge/people", people)])
    if rng.random() < 0.4:
        spot = rng.choice(sorted(body))
        body = body | {spot: _value(rng, 3)}
    if isinstance(call := body.get("call"), dict) and rng.random() < 0.3:
        body["call"] = call | {rng.choice([*call, "t", "actor", "reason"]): _value(rng, 3)}
    return _posted(path, msgspec.json.encode(body), port, cookie)


def _value(rng: random.Random, depth: int) -> object:
    kind = rng.randrange(6 if depth else 4)
    if kind < 2:
        return rng.choice(TEXTS)
    if kind == 2:
        return rng.choice(NUMBERS)
    if kind == 3:
        return rng.choice([None, True, False])
    inner = [_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return inner if kind == 4 else {f"{rng.choice(TEXTS)}{n}": one for n, one in enumerate(inner)}


class Faults(logging.Handler):
    """What is logged as an error: nothing should be."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.told.append(
            f"{record.name}: {record.getMessage()} {record.exc_info[1]!r}" if record.exc_info else str(record.msg)
        )


class Found(NamedTuple):
    """What came of it: answers by kind and status, and what must not be."""

    answers: Counter[tuple[str, str]]
    wrong: list[str]


def status(answer: bytes) -> str:
    """Return the status of an answer, `cut` where the line was cut, `odd` for what is no answer."""
    if not answer:
        return "cut"
    first = answer.split(b"\r\n", 1)[0].split(b" ")
    return first[1].decode("latin-1") if first[0] == b"HTTP/1.1" and len(first) > 1 else "odd"


def fuzz(house: House, requests: int, seed: int) -> Found:
    """Send `requests` of `seed` to the table in `house`."""
    faults, wrong = Faults(), list[str]()
    logging.getLogger().addHandler(faults)
    answers: Counter[tuple[str, str]] = Counter()
    with house.signed_in("Ann") as web:
        assert say(web, "the-toss", "action", action={"do": "toss", "winner": "A"}).status_code == 200
        before, done = house.facts(object), 0
        for strangers in (True, False):
            numbers = [n for n in range(requests) if (n % SIGNED_EVERY != 0) is strangers]
            for n, number in enumerate(numbers):
                house.ahead += A_REQUEST_S
                one = request(seed, number, 8080, "" if strangers else web.cookies[SESSION])
                kind = one.kind if strangers else f"{one.kind}, signed in"
                found = status(answer := house.server.ask(one.data))
                answers[kind, found] += 1
                done += b'"repeated":false' in answer
                if n % 500 == 0 and web.get("/judge/hits.json").status_code != 200:
                    wrong.append(f"{kind}: the judge was not answered meanwhile")
                if found == "odd" or (found.startswith("5") and found != "503"):
                    wrong.append(f"{kind}: {found} {answer[:200]!r}")
            if strangers and house.facts(object) != before:
                wrong.append("somebody who is not signed in changed the journal")
        said = len(house.facts(CommandIssued)) - 1
        if said != done:
            wrong.append(f"{said} commands are in the journal, {done} were answered with yes")
        if web.get("/judge/state.json").status_code != 200 or web.get("/healthz").json()["ok"] is not True:
            wrong.append("the table does not answer as before")
    logging.getLogger().removeHandler(faults)
    return Found(answers, wrong + faults.told)


def test_malformed_requests(house):
    found = fuzz(house, 300, seed=7)
    assert found.wrong == []
    assert found.answers.total() == 300
    assert {status for _, status in found.answers} >= {"200", "400", "401", "404", "405"}
