"""What a hostile page, a hostile client and a greedy role get from the console: a refusal, and nothing else happens."""

import logging
import re
from contextlib import ExitStack

import pytest
from event_stream import Stream
from judge_house import PIN, ROLES, House, say, sign_in

from pi_controller.referee.facts import CommandIssued
from pi_controller.web import judge_api
from pi_controller.web import sign_in as console
from pi_controller.web.limits import HEADERS

TOSS = {"do": "toss", "winner": "A"}
POSTS = {
    "/judge/sign-in": {"name": "Ann", "pin": PIN},
    "/judge/sign-out": {},
    "/judge/command": {"key": "the-key-1", "expect": None, "call": {"judge": "action", "action": TOSS}},
    "/judge/people": {"do": "add", "name": "Eve", "role": "head"},
}
GETS = ("/judge", "/judge/sign-in", "/judge/state.json", "/judge/hits.json", "/judge/hit/1.svg", "/judge/people")
PAGES = ("/", "/room", "/overlay", "/find", "/check", "/judge", "/judge/sign-in")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("house"))
    yield house
    house.close()


@pytest.fixture(autouse=True)
def later(house):
    """Let time pass before each test, so that it may sign people in."""
    house.ahead += 6


@pytest.fixture(scope="module")
def ann(house):
    with house.signed_in("Ann") as web:
        yield web


def error(answer, status, code):
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text


def unchanged(house, web):
    """Return what no refused request may change; `web` is still signed in."""
    users = house.judges.users.list_users()
    return house.table.journal.seq, users, web.get("/judge/state.json").status_code


FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": None},
    {"origin": "http://127.0.0.1"},
    {"origin": "http://mat.example:1"},
    {"origin": "http://mat.example.evil.example"},
    {"origin": "ftp://mat.example"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_cross_origin_post_is_refused(house, ann, path, headers):
    """Though the browser had sent the cookie along, which `SameSite=Strict` keeps it from."""
    before = unchanged(house, ann)
    request = ann.build_request("POST", path, json=POSTS[path])
    for name, value in headers.items():
        del request.headers[name]
        if value is not None:
            request.headers[name] = value
    error(ann.send(request), 403, "origin")
    assert unchanged(house, ann) == before


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "media_type",
    ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "text/json", ""],
)
def test_a_form_is_not_taken(house, ann, path, media_type):
    before = unchanged(house, ann)
    body = ann.build_request("POST", path, json=POSTS[path]).content
    error(ann.post(path, content=body, headers={"content-type": media_type}), 415, "type")
    assert unchanged(house, ann) == before


@pytest.mark.parametrize("path", ["/judge/state.json", "/judge/events", "/judge/hits.json", "/judge/people"])
def test_cross_site_get_is_refused(ann, path):
    error(ann.get(path, headers={"sec-fetch-site": "cross-site"}), 403, "origin")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "mat.example.evil", "2130706433", "0x7f.1"])
def test_dns_rebinding_host_is_refused(house, ann, host):
    """DNS rebinding: to the browser it is the evil page's own site, cookie or not; the name gives it away."""
    before = unchanged(house, ann)
    there = {"host": host, "origin": f"http://{host}"}
    for path in ("/", "/view.json", "/events", *GETS):
        assert ann.get(path, headers=there).status_code == 400
    for path, body in POSTS.items():
        assert ann.post(path, json=body, headers=there).status_code == 400
    assert unchanged(house, ann) == before


def test_every_answer_has_the_headers(house, ann, monkeypatch):
    """Pages, files, refusals, what is no HTTP at all, and a bug: CSP, no frame, no guessing of types, no caching."""
    with house.browser() as web:
        answers = [client.get(path) for client in (web, ann) for path in (*PAGES, *GETS, "/view.json", "/healthz")]
        answers += [web.post(path, json={}) for path in POSTS]
        answers += [web.get("/static/judge.js"), web.get("/static/../app.py"), web.get("/nothing"), web.put("/judge")]
        answers += [web.get("/", headers={"host": "evil.example"}), web.get("/judge/command"), web.get("/x" * 200)]
        answers += [ann.post("/judge/command", content=b"x" * 20_000, headers={"content-type": "application/json"})]
        answers += [say(ann, "not-now-1", "undo"), ann.post("/judge/sign-in", content=b"{}")]
        answers += [ann.post("/judge/command", json={}, headers={"origin": "null"})]
        assert {answer.status_code for answer in answers} >= {200, 303, 400, 401, 403, 404, 405, 409, 413, 415}
        monkeypatch.setattr(judge_api.JudgeApi, "snapshot", lambda _: 1 / 0)
    for answer in answers:
        expected = dict(HEADERS)
        if answer.request.url.path == "/healthz":
            expected[b"cross-origin-resource-policy"] = b"cross-origin"  # a kiosk's waiting page has no origin
        for name, value in expected.items():
            assert answer.headers.get_list(name.decode()) == [value.decode()], answer.request.url
        assert "server" not in answer.headers
        assert not any(name.startswith("access-control-") for name in answer.headers)
    cookie = f"Cookie: {console.SESSION}={ann.cookies[console.SESSION]}"
    bug = house.server.ask(f"GET /judge/state.json HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n\r\n".encode())
    malformed = house.server.ask(b"\x16\x03\x01 no HTTP\r\n\r\n")
    assert b"division" not in bug
    for status, answer in ((500, bug), (400, malformed)):
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert all(b"%s: %s\r\n" % header in answer.lower() for header in HEADERS)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_anything_inline_or_from_elsewhere(house, ann, path):
    with house.browser() as stranger:
        text = (stranger if path.endswith("sign-in") else ann).get(path).text
    assert text.lower().startswith("<!doctype html>")
    for script in re.findall(r"<script\b[^>]*>[^<]*", text):
        assert re.fullmatch(r'<script\b[^>]* src="/static/[\w.]+"[^>]*>\s*', script), script
    assert not re.search(r"<style\b|<[^>]*\s(?:style|on\w+)\s*=|javascript:", text)
    assert not re.search(r"""<(?:script|link|img|iframe|source)\b[^>]*\s(?:src|href)=["'](?!/)""", text)


def cookies(answer):
    """Return each cookie's value and attributes."""
    found = {}
    for line in answer.headers.get_list("set-cookie"):
        (first, *rest) = [part.strip() for part in line.split(";")]
        name, _, value = first.partition("=")
        found[name] = (value, {part.lower() for part in rest})
    return found


def test_cookies(house):
    with house.browser() as web:
        given = cookies(sign_in(web, "Jo"))
        assert set(given) == {console.SESSION, console.DEVICE}
        for value, attributes in given.values():
            assert len(value) >= 43
            assert {"httponly", "samesite=strict", "path=/judge"} <= attributes
            assert not any(one.startswith("domain") for one in attributes)
        assert not any(one.startswith(("max-age", "expires")) for one in given[console.SESSION][1])
        ended = cookies(web.post("/judge/sign-out", json={}))[console.SESSION]
        assert ended[0].strip('"') == ""
        assert "max-age=0" in ended[1]
        assert not any(cookies(web.get(path)) for path in ("/", "/view.json", "/judge"))
    with house.browser("127.0.0.9") as web:
        assert not cookies(sign_in(web, "Jo", "000000"))


def test_planted_session_cookie_is_replaced_at_sign_in(house):
    planted = "A" * 43
    with house.browser() as web, house.browser() as thief:
        web.cookies.set(console.SESSION, planted, path="/judge")
        web.cookies.set(console.DEVICE, planted, path="/judge")
        given = cookies(sign_in(web, "Jo"))
        assert planted not in [value for value, _ in given.values()]
        thief.cookies.set(console.SESSION, planted, path="/judge")
        error(thief.get("/judge/state.json"), 401, "signed_out")
        # nor does a session of one's own that was planted on somebody else go on, or become theirs
        thief.cookies.clear()
        sign_in(thief, "Sam")
        mine = thief.cookies[console.SESSION]
        with house.browser() as other:
            other.cookies.set(console.SESSION, mine, path="/judge")
            sign_in(other, "Ann")
        error(thief.get("/judge/state.json"), 401, "signed_out")


def test_signing_out_ends_the_sessions_own_streams(house):
    with house.signed_in("Jo") as web, house.signed_in("Jo") as other:
        with web.stream("GET", "/judge/events") as mine, other.stream("GET", "/judge/events") as its:
            ending, staying = Stream(mine), Stream(its)
            ending.next("judge")
            staying.next("judge")
            began = house.loop.time()
            assert web.post("/judge/sign-out", json={}).status_code == 200
            with pytest.raises(EOFError):
                ending.next("judge")
            assert house.loop.time() - began < judge_api.SESSION_CHECK_S + 3
            assert say(other, "still-in-1", "protest", by="A", text="on").status_code == 200
            assert "judge" in staying.next("judge")["event"]
        assert say(other, "still-in-2", "ruling", ruling="denied", reason="on").status_code == 200


CALLS = {
    "action": {"action": {"do": "hit", "found": False}}, "answer": {"answer": "yes"}, "hidden": {}, "undo": {},
    "hide_again": {}, "replace": {"action": TOSS}, "sensors": {"on": True}, "protest": {"by": "A"},
    "ruling": {"ruling": "denied", "reason": "seen by all"}, "clock": {"running": False},
    "set": {"sheet": {}, "reason": "the sticks fell"},
}  # fmt: skip
MAY = {
    "Sam": {"action", "answer", "hidden", "undo"},
    "Jo": {"action", "answer", "hidden", "undo", "hide_again", "replace", "sensors", "protest", "ruling", "clock"},
    "Ann": set(CALLS),
    None: set(),
}
"""What each may say; None: who is not signed in. Written out here once more on purpose."""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", MAY)
def test_role_may_send_its_own_commands_alone(house, name, call):
    with ExitStack() as stack:
        web = stack.enter_context(house.signed_in(name) if name else house.browser())
        before, called = house.table.journal.seq, len(house.facts(CommandIssued))
        answer = say(web, f"{name}-{call:_<10}", call, **CALLS[call])
        if call in MAY[name]:
            assert answer.status_code in {200, 400, 409}
            new = house.facts(CommandIssued)[called:]
            assert all((one.actor, one.role, one.call) == (name, ROLES[name], call) for one in new)
            assert len(new) == (answer.status_code == 200)
        else:
            error(answer, 403 if name else 401, "role" if name else "signed_out")
            assert house.table.journal.seq == before


@pytest.mark.parametrize("name", MAY)
def test_people_are_managed_by_head_judge_alone(house, name):
    with ExitStack() as stack:
        web = stack.enter_context(house.signed_in(name) if name else house.browser())
        before = house.judges.users.list_users()
        told = [{"do": "add", "name": "Eve", "role": "head"}]
        told += [{"do": do, "id": before[2].id} for do in ("new_pin", "revoke", "remove")]
        if name == "Ann":
            assert web.get("/judge/people").status_code == 200
            return
        status, code = (403, "role") if name else (401, "signed_out")
        error(web.get("/judge/people"), status, code)
        for one in told:
            error(web.post("/judge/people", json=one), status, code)
        assert house.judges.users.list_users() == before


@pytest.mark.parametrize("more", [{"actor": "Ann"}, {"role": "head"}, {"t": 0.0}])
def test_identity_fields_in_request_body_are_refused(house, more):
    with house.signed_in("Sam") as web:
        body = {"key": "as-another", "expect": None, "call": {"judge": "undo"}}
        error(web.post("/judge/command", json=body | more), 400, "invalid")
        error(web.post("/judge/command", json=body | {"call": body["call"] | more}), 400, "invalid")
        assert web.post("/judge/sign-in", json={"name": "Sam", "pin": PIN} | more).status_code == 400


def test_no_method_means_another(house, ann):
    before = unchanged(house, ann)
    for path in (*POSTS, *GETS, "/judge/events"):
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "X" * 50):
            answer = ann.request(method, path, json=POSTS.get(path, {}))
            assert answer.status_code == 405, (method, path)
            assert "GET" in answer.headers["allow"]
            assert ("POST" in answer.headers["allow"]) == (path in POSTS)
    for path in ("/judge", "/judge/state.json", "/judge/events", "/judge/hits.json", "/judge/hit/1.svg", "/view.json"):
        assert ann.post(path, json={}).status_code == 405
    for path in ("/judge/sign-out", "/judge/command"):
        for method in ("GET", "HEAD"):
            there = {"x-http-method-override": "POST", "x-method-override": "POST"}
            answer = ann.request(method, f"{path}?_method=POST", json=POSTS[path], headers=there)
            assert answer.status_code == 405
            assert answer.headers["allow"] == "POST"
    assert unchanged(house, ann) == before


def test_answers_and_logs_contain_no_secrets(house, caplog):
    """Neither an answer nor a log line has a PIN, a cookie or a hash in it, but where it is given to its owner.

    That none tells where the bead is, is proved in `tests/secrecy`.
    """
    caplog.set_level(logging.DEBUG)
    with house.browser("127.0.0.9") as web, house.browser() as other:
        answers = [sign_in(web, "Ann", "424242"), sign_in(web, "535353", PIN)]
        given = cookies(sign_in(web, "Ann"))
        made = web.post("/judge/people", json={"do": "add", "name": "Kit", "role": "judge"}).json()
        anew = web.post("/judge/people", json={"do": "new_pin", "id": made["id"]}).json()
        answers += [sign_in(other, "Kit", made["pin"]), sign_in(other, "Kit", anew["pin"])]
        web.cookies.set("other", "646464", path="/judge")
        answers += [client.get(path) for client in (web, other) for path in (*GETS, "/", "/view.json", "/healthz")]
        answers += [say(web, "a-key-123", "crown"), web.post("/judge/command", json={"pin": "757575"})]
        with web.stream("GET", "/judge/events") as response:
            answers.append(response)
            shown = str(Stream(response).next("judge"))
        answers.append(web.post("/judge/people", json={"do": "remove", "id": made["id"]}))
    secrets = [PIN, made["pin"], anew["pin"], "424242", "535353", "646464", "757575", "argon2"]
    secrets += [value for value, _ in given.values()] + [web.cookies[console.DEVICE]]
    bodies = [answer.text for answer in answers if not answer.is_stream_consumed or "json" in str(answer.headers)]
    logged = [one for one in caplog.records if not one.name.startswith("http")]  # the browser's own say what it does
    text = "\n".join([*(one.getMessage() for one in logged), shown, *bodies, *(str(answer.url) for answer in answers)])
    assert text.count("sign-in refused") == 3
    assert len(text) > 10_000
    assert [secret for secret in secrets if secret in text] == []
