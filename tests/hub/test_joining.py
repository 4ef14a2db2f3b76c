"""A table joins by a code: the director's page, the hub's answers, and what may go wrong on the way."""

import asyncio
import io
import logging
import re
import subprocess
import sys
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from http.client import BadStatusLine
from unittest import mock

import msgspec
import pytest
import travel
from hub_site import Site, certify
from visit import visitor

from pi_controller.cli.hub import hub as main
from pi_controller.config import read_settings
from pi_controller.errors import UsageError
from pi_controller.hub import join as joining
from pi_controller.hub import join_table
from pi_controller.hub.join import JoinError, JoinRefused, JoinRequest, new_code, parse_code
from pi_controller.hub.join_server import JoinServer
from pi_controller.hub.join_table import parse_hub_address
from pi_controller.hub.run import HubRun
from pi_controller.hub.settings import HTTPS_PORT, HubSettings
from pi_controller.hub.setup import CA, read_certificate, write_hub_files
from pi_controller.hub.store import StoreError, open_store
from pi_controller.hub.tokens import CODE_LIFETIME_S, FORGET_CODE_S, MAX_OPEN_CODES, JoinServerError, Tokens
from pi_controller.web.server import WebServer

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Line:
    """What `HTTPSConnection` is to a table that joins: the certificate and the answer to a request's body."""

    def __init__(self, certificate, answer):
        self._certificate, self._answer, self.heard = certificate, answer, []

    def __call__(self, host, port, timeout, context):
        return self

    @property
    def sock(self):
        return self

    def connect(self):
        return

    def close(self):
        return

    def getpeercert(self, binary_form):
        return self._certificate

    def request(self, method, path, body, headers):
        self.heard.append(body)

    def getresponse(self):
        return io.BytesIO(self._answer(self.heard[-1]))


@pytest.fixture
def reached(monkeypatch):
    """Return a function that has tables reach this hub: a certificate and its answer."""

    def reach(certificate, answer):
        line = Line(certificate, answer)
        monkeypatch.setattr(join_table, "HTTPSConnection", line)
        return line

    return reach


class House:
    """A hub as `hub run` runs it, without a server; the director is signed in at `web`."""

    def __init__(self, folder):
        self.folder, self.said, self._stack = folder, [], ExitStack()
        self.loop = self._stack.enter_context(travel.travelling())
        self._stack.enter_context(mock.patch.object(WebServer, "start"))
        self.run, self._closing = HubRun(folder, self.said.append, shows=True), asyncio.Event()
        self._running = self.loop.create_task(self.run.run(self._closing))
        self.loop.run(self.run.wait_until_listening())
        self.certificate = read_certificate(folder)
        self.web = self.browser("http")
        name, pin = re.search(r"as '(.+)' with the PIN (\w+)", "\n".join(self.said)).groups()
        assert self.web.post("/director/sign-in", json={"name": name, "pin": pin}).status_code == 200

    def browser(self, scheme):
        origin = f"{scheme}://localhost"
        return visitor(self.run.pages._server.app, self.loop, url=origin, headers={"origin": origin})

    def ask(self, table, do="open", **more):
        return self.web.post("/director/join", json={"do": do, "table": table, **more})

    def opened(self, table, **more):
        found = self.ask(table, **more)
        assert found.status_code == 200, found.text
        return found.json()

    def answer(self, request):
        """Answer what a table sends over TLS."""
        return self.browser("https").post(joining.PATH, content=request).content

    def close(self):
        self._closing.set()
        self.loop.run(self._running)
        self._stack.close()


@pytest.fixture
def files(tmp_path):
    """Return a folder with the files of a hub."""
    folder = tmp_path / "hub"
    write_hub_files(folder, "hall", ["127.0.0.1", "localhost"], NOW)
    return folder


@pytest.fixture
def house(files, reached):
    with closing(House(files)) as made:
        reached(made.certificate, made.answer)
        yield made


@pytest.fixture
def settings(tmp_path):
    """Return the settings file of a table that knows no hub."""
    path = tmp_path / "table" / "table.toml"
    path.parent.mkdir()
    path.write_text('# ours\n[board]\nport = "none"\n')
    return path


def joined(opened, settings):
    """Join as the console says, by the command that the QR code has."""
    _, verb, do, address, code = opened["command"].split()
    assert (verb, do, code) == ("hub", "join", opened["code"])
    return main([do, address, code, "--settings", str(settings)])


def nothing_written(settings):
    return [path.name for path in settings.parent.iterdir()] == [settings.name] and "hub" not in settings.read_text()


def report(house, token, table="t09"):
    """Post a report as `table` does; return the status."""
    headers = {"authorization": f"Bearer {token}"}
    return (
        house.browser("https")
        .post(f"/api/tables/{table}/records", content=b'{"since":"a"}', headers=headers)
        .status_code
    )


def test_joined_table_reports_and_secrets_stay(house, settings, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    opened = house.opened("t09")
    assert 'data-joining="t09"' in house.web.get("/director").text
    assert joined(opened, settings) == 0
    assert "data-joining" not in house.web.get("/director").text
    told = capsys.readouterr().out
    assert "This table is t09 of hall" in told
    assert "Now start the table again: moccasin-mat run --settings" in told
    hub = read_settings(settings).hub
    assert (hub.address, hub.port, hub.table) == ("127.0.0.1", house.run.pages.secure_port, "t09")
    assert settings.read_text().startswith('# ours\n[board]\nport = "none"\n')
    token = (settings.parent / "hub.token").read_text().strip()
    assert report(house, token) == 200
    shown = house.web.get("/director").text + house.web.get("/").text
    for secret in (token, opened["code"], opened["code"].replace("-", "")[:7]):
        assert secret not in shown + caplog.text + told
    assert token.encode() not in b"".join(path.read_bytes() for path in house.folder.glob("hub.sqlite*"))


def test_reports_come_by_the_name_given_to_setup(files, reached):
    write_hub_files(files, "hall", ["hub.example", "127.0.0.1"], NOW)
    with closing(House(files)) as house:
        token = house.run.tokens.issue("t09")
        headers = {"authorization": f"Bearer {token}", "host": "hub.example:8443"}
        path = "/api/tables/t09/records"
        with house.browser("https") as web:
            assert web.post(path, content=b'{"since":"a"}', headers=headers).status_code == 200
            assert (
                web.post(path, content=b'{"since":"a"}', headers=headers | {"host": "evil.example"}).status_code == 400
            )


def test_reports_need_encryption(house, settings):
    joined(house.opened("t09"), settings)
    headers = {"authorization": f"Bearer {(settings.parent / 'hub.token').read_text().strip()}"}
    assert house.web.post("/api/tables/t09/records", content=b'{"since":"a"}', headers=headers).status_code == 404


def test_removed_table_must_join_again(house, settings, tmp_path):
    joined(house.opened("t09"), settings)
    token = (settings.parent / "hub.token").read_text().strip()
    assert house.ask("t09", do="remove").status_code == 200
    assert report(house, token) == 401
    second = fresh(tmp_path)
    joined(house.opened("t09", anew=True), second)
    assert report(house, (second.parent / "hub.token").read_text().strip()) == 200


def test_code_is_valid_once_and_for_one_table(house, settings, tmp_path):
    opened, other = house.opened("t09"), house.opened("t10")
    joined(opened, settings)
    second = fresh(tmp_path)
    with pytest.raises(JoinError, match="was used"):
        joined(opened, second)
    assert nothing_written(second)
    refused = house.ask("t09")
    assert refused.status_code == 409
    assert "there is a table t09 already" in refused.json()["error"]["message"]
    before = (settings.parent / "hub.token").read_text()
    assert house.ask("t10", do="shut").status_code == 200
    with pytest.raises(JoinError, match="revoked"):
        joined(other, second)
    joined(house.opened("t09", anew=True), second)
    assert (second.parent / "hub.token").read_text() != before


def test_join_needs_encryption(house, settings):
    opened = house.opened("t09")
    request = msgspec.json.encode(JoinRequest(joining.VERSION, parse_code(opened["code"]).secret))
    assert house.web.post(joining.PATH, content=request).status_code == 404
    assert joined(opened, settings) == 0, "the code is not used up"


def test_unreachable_hub_opens_no_code(tmp_path):
    async def open_code(host, address, certificate=b""):
        given = {"page": {"host": host}, "venue": {"address": address}}
        with Tokens(tmp_path / "hub.sqlite") as tokens:
            given = HubSettings.model_validate(given)
            return await JoinServer(tmp_path, given, tokens, tuple, print, HTTPS_PORT, certificate).open("t09")

    with pytest.raises(JoinServerError, match="only this machine"):
        travel.run(open_code("127.0.0.1", "192.0.2.7"))
    with pytest.raises(JoinServerError, match="no certificate"):
        travel.run(open_code("0.0.0.0", "192.0.2.7"))
    issued = travel.run(open_code("0.0.0.0", "192.0.2.7", b"of the hub"))
    assert issued.command == f"moccasin-mat hub join 192.0.2.7 {issued.code}"


def test_newer_program_is_noted_on_joining(house, settings, monkeypatch, capsys):
    for module in ("hub.join_table", "cli.hub"):
        monkeypatch.setattr(f"pi_controller.{module}.__version__", "99.0")
    joined(house.opened("t09"), settings)
    assert "program (99.0) is newer than the hub's" in capsys.readouterr().out
    assert "99.0" in house.run.director.notes["program of t09"]


def fresh(folder):
    path = folder / "fresh" / "table.toml"
    path.parent.mkdir()
    path.write_text("")
    return path


def test_director_alone_opens_codes_for_valid_names(house):
    for name in ("Table 1", "t/1", "+"):
        assert house.ask(name).status_code == 409, name
    body = {"do": "open", "table": "t09"}
    assert house.web.post("/director/join", json=body, headers={"origin": "http://evil.example"}).status_code == 403
    assert house.browser("http").post("/director/join", json=body).status_code == 401


@pytest.mark.parametrize("role", ["judge", "committee", "scorekeeper"])
def test_other_roles_let_no_table_join(tmp_path, role):
    body = {"do": "open", "table": "t09"}
    with closing(Site(tmp_path)) as site:
        site.sign_in(role)
        assert site.web.post("/director/join", json=body).status_code == 403
        site.sign_in("head", "Bea")
        found = site.web.post("/director/join", json=body)
        assert (found.status_code, found.json()["error"]["code"]) == (503, "busy")


def test_wrong_codes_are_throttled_like_wrong_pins(files):
    with Tokens(files / "hub.sqlite") as tokens:
        server = JoinServer(files, HubSettings(), tokens, tuple, lambda *_: None, HTTPS_PORT, b"", lambda: 1.0)
        tokens.open_code("t09", "0000000", 0.0)

        def answer(secret, address="192.0.2.7"):
            body = msgspec.json.encode(JoinRequest(joining.VERSION, secret))
            return travel.run(server.answer(body, address))

        waits = ["too many" in answer(f"000000{n + 1}").message for n in range(8)]
        assert waits == [False] * 3 + [True] * 5
        assert "too many" in answer("0000000").message
        assert answer("0000000", "192.0.2.8").table == "t09", "elsewhere nobody is held up"


def test_code_expires_and_is_replaced(where):
    with Tokens(where) as tokens:
        tokens.open_code("t09", "first", 0.0)
        tokens.open_code("t09", "second", 10.0)
        with pytest.raises(JoinServerError, match="revoked"):
            tokens.redeem("first", 11.0)
        assert [one.table for one in tokens.waiting(9.0 + CODE_LIFETIME_S)] == ["t09"]
        with pytest.raises(JoinServerError, match="run out"):
            tokens.redeem("second", 10.0 + CODE_LIFETIME_S)
        assert tokens.waiting(10.0 + CODE_LIFETIME_S) == ()
        tokens.open_code("t10", "third", 20.0 + CODE_LIFETIME_S + FORGET_CODE_S)
        with pytest.raises(JoinServerError, match="does not know"):
            tokens.redeem("second", 20.0 + CODE_LIFETIME_S + FORGET_CODE_S)


def test_codes_are_limited_and_full_store_changes_none(where):
    with Tokens(where) as tokens:
        for n in range(MAX_OPEN_CODES):
            tokens.open_code(f"t{n}", f"{n}", 0.0)
        with pytest.raises(JoinServerError, match="64 codes are open"):
            tokens.open_code("more", "more", 1.0)
        tokens.open_code("t0", "replaced", 1.0)
        assert len(tokens.waiting(1.0)) == MAX_OPEN_CODES
        tokens.open_code("more", "more", CODE_LIFETIME_S)


def test_failed_join_leaves_code_valid(where):
    with Tokens(where) as tokens, closing(open_store(where)) as other:
        tokens.open_code("t09", "once", 0.0)
        other.execute("ALTER TABLE tokens RENAME TO away")
        with pytest.raises(StoreError):
            tokens.redeem("once", 1.0)
        other.execute("ALTER TABLE away RENAME TO tokens")
        assert tokens.redeem("once", 1.0)[0] == "t09"


def test_typed_code_is_parsed_and_mistyped_one_refused():
    certificate = b"of the hub"
    code = new_code(certificate)
    typed = str(code)
    assert parse_code(typed.lower().replace("-", " ")) == code
    assert parse_code(typed.replace("0", "o").replace("1", "l")) == code
    assert code.matches_certificate(certificate)
    assert not code.matches_certificate(b"of another")
    for at, sign in enumerate(typed):
        if sign == "-":
            continue
        for other in joining.ALPHABET.replace(sign, ""):
            with pytest.raises(UsageError, match="mistyped"):
                parse_code(typed[:at] + other + typed[at + 1 :])
    for wrong in ("", typed[:-1], typed + "0", "?" * 20):
        with pytest.raises(UsageError, match="20 letters"):
            parse_code(wrong)


@pytest.fixture
def venue(tmp_path):
    """Return a hub's certificate (DER), and its CA's (PEM)."""
    folder = certify(tmp_path / "hub")
    return read_certificate(folder), (folder / CA).read_text()


def test_join_sends_no_bytes_to_other_certificate(reached, settings):
    line = reached(b"of another", lambda _: b"")
    with pytest.raises(JoinError, match="not the hub") as told:
        main(["join", "127.0.0.1", str(new_code(b"of the hub")), "--settings", str(settings)])
    assert "nothing was sent" in told.value.message
    assert line.heard == []
    assert nothing_written(settings)


def account(table="t09", ca="no certificate"):
    return msgspec.json.encode(joining.Account("192.0.2.7", 8443, "hall", table, "secret", ca))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b'{"type":"joined","version":4,"something":"else"}',
        account('t"9\n'),
        account(),
        account(ca="x" * 20_000),
        BadStatusLine("not HTTP"),
    ],
)
def test_unreadable_answer_leaves_settings_unchanged(reached, venue, settings, answer):
    reached(venue[0], mock.Mock(side_effect=[answer]))
    with pytest.raises(JoinError) as told:
        main(["join", "127.0.0.1", str(new_code(venue[0])), "--settings", str(settings)])
    assert "same version" in told.value.hint
    assert "secret" not in str(told.value)
    assert nothing_written(settings)


def test_request_of_another_version_is_refused(house):
    once = parse_code(house.opened("t09")["code"]).secret
    first, second = (
        msgspec.json.decode(house.answer(body), type=JoinRefused)
        for body in (msgspec.json.encode(JoinRequest(99, once)), b"\xff\xfe")
    )
    assert "version 3, and this is 99" in first.message
    assert "same version" in second.hint
    assert house.browser("https").post(joining.PATH, content=b"x" * 200_000).status_code == 413


def test_unwritable_settings_use_no_code(tmp_path, settings, monkeypatch):
    code = str(new_code(b"of the hub"))
    for text, what in (("[hub]\n", "has a \\[hub\\]"), ('[table]\njournal = "away/x"\n', "no folder")):
        settings.write_text(text)
        with pytest.raises(UsageError, match=what):
            main(["join", "127.0.0.1:9", code, "--settings", str(settings)])
    with pytest.raises(UsageError, match="no settings file"):
        main(["join", "127.0.0.1:9", code, "--settings", str(tmp_path / "none.toml")])
    settings.write_text("")
    monkeypatch.setattr(join_table, "HTTPSConnection", mock.Mock(side_effect=ConnectionRefusedError))
    with pytest.raises(JoinError, match="does not answer"):
        main(["join", "127.0.0.1:9", code, "--settings", str(settings)])
    assert nothing_written(settings)


def test_full_disk_leaves_settings_and_folder_unchanged(reached, venue, settings, monkeypatch):
    before = settings.read_text()

    def full(path, content, mode=None):
        if content != before.encode():
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(join_table, "atomic_write", full)
    reached(venue[0], lambda _: account(ca=venue[1]))
    with pytest.raises(JoinError, match="cannot be stored here") as told:
        main(["join", "127.0.0.1", str(new_code(venue[0])), "--settings", str(settings)])
    assert "secret" not in str(told.value)
    assert nothing_written(settings)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hub.local", ("hub.local", 8443)),
        ("192.0.2.7:99", ("192.0.2.7", 99)),
        ("[2001:db8::7]:99", ("2001:db8::7", 99)),
        ("2001:db8::7", ("2001:db8::7", 8443)),
        ("[2001:db8::7]", ("2001:db8::7", 8443)),
    ],
)
def test_hub_address_is_parsed(text, found):
    assert parse_hub_address(text) == found


@pytest.mark.parametrize("text", ["", "hub:0", "hub:x", "http://hub/", "hub:99999"])
def test_invalid_hub_address_is_refused(text):
    with pytest.raises(UsageError, match="not an address"):
        parse_hub_address(text)


def test_table_joins_without_packages_of_the_hub():
    program = """
import sys
for name in ("cryptography", "psycopg"):
    sys.modules[name] = None
import pi_controller.hub.join_table
"""
    subprocess.run([sys.executable, "-c", program], check=True)
