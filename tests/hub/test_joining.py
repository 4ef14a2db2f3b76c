"""A table joins by a code: with a real Mosquitto that is not started again, and with what may go wrong on the way."""

import asyncio
import contextlib
import logging
import re
import socket
import ssl
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime

import aiomqtt
import httpx
import msgspec
import pytest
from brokers import PATIENCE_S, VENUE, Mosquitto, RunningHub, account, needs_mosquitto, run_to_its_end
from hub_site import Site
from linked_table import Played, client

from pi_controller.cli.hub import hub as main
from pi_controller.config import read_settings
from pi_controller.errors import UsageError
from pi_controller.hub import join as joining
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.join import (
    JoinCode,
    JoinError,
    JoinRefused,
    JoinRequest,
    new_code,
    parse_code,
    parse_hub_address,
)
from pi_controller.hub.join_server import (
    CODE_LIFETIME_S,
    JoinCodes,
    JoinServer,
    JoinServerError,
)
from pi_controller.hub.mqtt import can_sign_in
from pi_controller.hub.run import HubRun
from pi_controller.hub.settings import HTTPS_PORT, HubSettings
from pi_controller.hub.setup import (
    CA,
    PID,
    SERVER,
    SERVER_KEY,
    TABLES,
    reload_broker,
    write_certificates,
)
from pi_controller.hub.table_link import make_table_link

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class House:
    """A hub as `hub run` runs it, at a broker; its pages, where the director is signed in."""

    def __init__(self, broker):
        self.account = broker.account
        self.folder, self.said = broker.folder, []
        with (self.folder / "hub.toml").open("a") as settings:
            settings.write("[page]\nport = 0\nhttps = 0\n")
        self.run = HubRun(self.folder, self.said.append, shows=True)
        self._closing, self._loop = asyncio.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=run_to_its_end, args=(self._loop, self.run.run(self._closing)))
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.run.wait_until_listening(), self._loop).result(PATIENCE_S)
        origin = self.run.url.rstrip("/")
        self.web = httpx.Client(base_url=origin, headers={"origin": origin}, timeout=PATIENCE_S, verify=False)
        name, self.pin = re.search(r"as '(.+)' with the PIN (\w+)", "\n".join(self.said)).groups()
        assert self.web.post("/director/sign-in", json={"name": name, "pin": self.pin}).status_code == 200

    def ask(self, table, do="open", **more):
        return self.web.post("/director/join", json={"do": do, "table": table, **more})

    def opened(self, table, **more):
        found = self.ask(table, **more)
        assert found.status_code == 200, found.text
        return found.json()

    def close(self):
        self.web.close()
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(PATIENCE_S)


@pytest.fixture
def broker(tmp_path):
    made = Mosquitto(tmp_path / "hub", ["t01", "t02"]).start()
    yield made
    made.kill()


@pytest.fixture
def house(broker):
    made = House(broker)
    yield made
    made.close()


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


@needs_mosquitto
def test_a_table_joins_by_a_code_and_nobodys_connection_is_lost(house, broker, settings, tmp_path, capsys, caplog):
    caplog.set_level(logging.DEBUG)

    async def while_connected():
        async with client(broker, "t01") as other:
            opened = await asyncio.to_thread(house.opened, "t09")
            assert await asyncio.to_thread(joined, opened, settings) == 0
            assert await can_sign_in(account(house.folder, broker.port, "t09"))
            await other.publish(f"mat/v1/{VENUE}/t/t01/hello", b"x", 1)  # answered: it is the connection of before
            return opened

    opened = asyncio.run(while_connected())
    told = capsys.readouterr().out
    assert "This table is t09 of hall" in told
    assert "Now start the table again: moccasin-mat run --settings" in told
    hub = read_settings(settings).hub
    assert (hub.address, hub.port, hub.venue, hub.table) == ("127.0.0.1", broker.port, VENUE, "t09")
    assert settings.read_text().startswith('# ours\n[board]\nport = "none"\n')
    link = make_table_link(read_settings(settings))
    assert asyncio.run(can_sign_in(link._broker)), "what stands in the settings is all that a table needs"
    link.close()
    password = (settings.parent / "hub.password").read_text().strip()
    assert password == (house.folder / TABLES / "t09" / "password").read_text().strip()
    assert (settings.parent / "hub.crt").read_bytes() == (house.folder / "ca.crt").read_bytes()
    for name in ("hub.password", "hub.crt"):
        assert stat.S_IMODE((settings.parent / name).stat().st_mode) == 0o600
    shown = house.web.get("/director").text + house.web.get("/").text
    for secret in (password, opened["code"], opened["code"].replace("-", "")[:7]):
        assert secret not in shown + caplog.text + told
    assert password not in (house.folder / "passwords").read_text()
    with Inbox(tmp_path / "other.sqlite") as inbox:  # and it plays there
        other = RunningHub(inbox, broker.account("hub"))
        table = Played(tmp_path / "t09.sqlite", account(house.folder, broker.port, "t09"))
        try:
            other.until(lambda hub: hub.inbox.record_counts().get("t09"))
        finally:
            table.close()
            other.close()


@needs_mosquitto
def test_a_code_is_good_once_and_a_name_is_one_tables(house, settings, tmp_path):
    opened = house.opened("t09")
    other = house.opened("t10")
    joined(opened, settings)
    second = tmp_path / "second" / "table.toml"
    second.parent.mkdir()
    second.write_text("")
    with pytest.raises(JoinError, match="was used"):
        joined(opened, second)
    assert nothing_written(second)
    refused = house.ask("t09")
    assert refused.status_code == 409
    assert "there is a table t09 already" in refused.json()["error"]["what"]
    before = (settings.parent / "hub.password").read_text()

    async def while_the_old_card_is_there():
        async with client(house, "t09") as old:
            await old.publish(f"mat/v1/{VENUE}/t/t09/hello", b"x", 1)
            await asyncio.to_thread(lambda: joined(house.opened("t09", anew=True), second))
            async with asyncio.timeout(PATIENCE_S):
                with pytest.raises(aiomqtt.MqttError):
                    await anext(aiter(old.messages))

    asyncio.run(while_the_old_card_is_there())
    assert (second.parent / "hub.password").read_text() != before
    broker = account(house.folder, read_settings(second).hub.port, "t09")
    assert not asyncio.run(can_sign_in(broker._replace(password=before.strip())))
    assert house.ask("t10", do="shut").status_code == 200
    with pytest.raises(JoinError, match="revoked"):
        joined(other, fresh(tmp_path))


def idle(opened, count, *, tls, addresses=("127.0.0.1",)):
    """Return open connections to the joining port that say nothing, from these addresses in turn."""
    host, port = parse_hub_address(opened["command"].split()[3])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    made = []
    for n in range(count):
        one = socket.create_connection((host, port), PATIENCE_S, source_address=(addresses[n % len(addresses)], 0))
        made.append(context.wrap_socket(one) if tls else one)
    return made


@needs_mosquitto
@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("addresses", [("127.0.0.1",), tuple(f"127.0.0.{n}" for n in range(2, 90))])
def test_table_joins_beside_idle_connections(house, settings, tls, addresses):
    opened = house.opened("t09")
    waiting = idle(opened, 96, tls=tls, addresses=addresses)
    try:
        assert joined(opened, settings) == 0
    finally:
        for one in waiting:
            one.close()


@needs_mosquitto
def test_a_code_fits_the_certificate_in_use_after_another_setup(house, settings):
    assert main(["setup", str(house.folder), "--tables", "3", "--host", "127.0.0.1"]) == 0
    assert joined(house.opened("t09"), settings) == 0


@needs_mosquitto
def test_nobody_joins_without_encryption(house, settings):
    opened = house.opened("t09")
    request = msgspec.json.encode(JoinRequest(joining.VERSION, parse_code(opened["code"]).secret))
    assert house.web.post(joining.PATH, content=request).status_code == 404
    assert joined(opened, settings) == 0, "the code is not used up"


def test_tables_are_not_let_in_where_they_cannot_reach_the_hub(tmp_path):
    async def open_code(host, broker, certificate=b""):
        given = {"page": {"host": host}, "broker": {"address": broker}}
        server = JoinServer(tmp_path, HubSettings.model_validate(given), None, tuple, print, HTTPS_PORT, certificate)
        return await server.open("t09")

    with pytest.raises(JoinServerError, match="only this machine"):
        asyncio.run(open_code("127.0.0.1", "192.0.2.7"))
    with pytest.raises(JoinServerError, match="no certificate"):
        asyncio.run(open_code("0.0.0.0", "192.0.2.7"))
    issued = asyncio.run(open_code("0.0.0.0", "192.0.2.7", b"of the hub"))
    assert issued.command == f"moccasin-mat hub join 192.0.2.7 {issued.code}"


@needs_mosquitto
def test_newer_table_is_told_on_joining(house, settings, monkeypatch, capsys):
    for module in ("hub.join", "cli.hub"):
        monkeypatch.setattr(f"pi_controller.{module}.__version__", "99.0")
    joined(house.opened("t09"), settings)
    assert "program (99.0) is newer than the hub's" in capsys.readouterr().out
    assert "99.0" in house.run.director.notes["program of t09"]


def fresh(folder):
    path = folder / "fresh" / "table.toml"
    path.parent.mkdir()
    path.write_text("")
    return path


@needs_mosquitto
def test_an_account_that_setup_has_made_is_given_as_it_is(house, settings):
    before = (house.folder / "passwords").read_bytes()
    joined(house.opened("t02"), settings)
    assert (house.folder / "passwords").read_bytes() == before
    assert read_settings(settings).hub.table == "t02"


@needs_mosquitto
def test_where_the_broker_is_not_to_be_found_the_code_stays_good(house, settings):
    opened, pid = house.opened("t09"), house.folder / PID
    number = pid.read_text()
    pid.write_text("1")  # what was recycled is never sent a signal
    with pytest.raises(JoinError, match="cannot reload its accounts") as told:
        joined(opened, settings)
    assert "hub setup" in told.value.hint
    assert nothing_written(settings)
    pid.write_text(number)
    assert joined(opened, settings) == 0


@needs_mosquitto
def test_only_the_director_opens_codes_and_only_for_names_that_can_be(house):
    for name in ("hub", "home", "Table 1", "t/1", "+"):
        assert house.ask(name).status_code == 409, name
    assert house.web.post("/director/join", json={"do": "open", "table": "t09"}, headers={"origin": "http://evil.example"}).status_code == 403  # fmt: skip  # noqa: E501
    with httpx.Client(base_url=house.web.base_url, headers=house.web.headers) as stranger:
        assert stranger.post("/director/join", json={"do": "open", "table": "t09"}).status_code == 401


@needs_mosquitto
@pytest.mark.chromium
def test_the_console_shows_a_code_until_it_is_used(house, settings, chromium):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    origin = house.run.url.rstrip("/")
    page.context.add_cookies([{"name": k, "value": v, "url": origin} for k, v in house.web.cookies.items()])
    page.goto(f"{origin}/director")
    page.locator("[data-join] [name=table]").fill("t09")
    page.get_by_role("button", name="Show a code").click()
    command = page.locator(".join-code code").inner_text()
    assert command in page.locator(".join-code svg").get_attribute("aria-label")
    page.locator("[data-joining=t09]").wait_for()
    joined({"command": command, "code": command.split()[-1]}, settings)
    page.locator(".join-code").wait_for(state="detached")
    assert command.split()[-1] not in page.content()
    page.context.close()


@pytest.mark.parametrize("role", ["judge", "committee", "scorekeeper"])
def test_other_roles_let_no_table_join(tmp_path, role):
    site = Site(tmp_path)
    try:
        site.sign_in(role)
        assert site.web.post("/director/join", json={"do": "open", "table": "t09"}).status_code == 403
        site.sign_in("head", "Bea")
        found = site.web.post("/director/join", json={"do": "open", "table": "t09"})
        assert (found.status_code, "a trial hub on one machine" in found.text) == (409, True)
    finally:
        site.close()


def test_a_wrong_code_waits_as_a_wrong_pin_does():
    codes = JoinCodes()
    code = JoinCode("0000000", "0" * 12)
    codes.open("t09", code, 0.0, anew=False)
    waits = []
    for n in range(8):
        with pytest.raises(JoinServerError) as told:
            codes.redeem(f"000000{n + 1}", "192.0.2.7", 1.0)
        waits.append("too many" in told.value.message)
    assert waits == [False] * 3 + [True] * 5
    with pytest.raises(JoinServerError, match="too many"):
        codes.redeem(code.secret, "192.0.2.7", 1.0)
    assert codes.redeem(code.secret, "192.0.2.8", 1.0).table == "t09"  # elsewhere nobody is held up


def test_a_code_runs_out_is_taken_back_and_replaced():
    codes = JoinCodes()
    first, second = JoinCode("0000001", "0" * 12), JoinCode("0000002", "0" * 12)
    codes.open("t09", first, 0.0, anew=False)
    codes.open("t09", second, 10.0, anew=False)
    with pytest.raises(JoinServerError, match="revoked"):
        codes.redeem(first.secret, "192.0.2.7", 11.0)
    assert [one.table for one in codes.waiting(9.0 + CODE_LIFETIME_S)] == ["t09"]
    with pytest.raises(JoinServerError, match="run out"):
        codes.redeem(second.secret, "192.0.2.7", 10.0 + CODE_LIFETIME_S)
    assert codes.waiting(10.0 + CODE_LIFETIME_S) == []


def test_a_code_is_read_as_people_type_it_and_a_wrong_sign_is_told():
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


def read_request(line):
    """Return a whole request, b"" if none comes: to close with unread bytes would take the answer back."""
    data = b""
    while part := line.recv(4096):
        data += part
        head, end, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if end and length and len(body) >= int(length[1]):
            break
    return data


@contextlib.contextmanager
def somebody(made, answer=b""):
    """Listen with a certificate of one's own; yield the port and what was heard."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*made)
    heard = []

    def serve():
        line = listener.accept()[0]
        with contextlib.suppress(OSError), context.wrap_socket(line, server_side=True) as line:
            heard.append(read_request(line))
            line.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], heard
        thread.join(PATIENCE_S)


@pytest.fixture
def certificate(tmp_path):
    """Return a hub's certificate (DER), and the files of it and of its key."""
    (tmp_path / "hub").mkdir()
    write_certificates(tmp_path / "hub", VENUE, ["127.0.0.1"], NOW)
    paths = tmp_path / "hub" / SERVER, tmp_path / "hub" / SERVER_KEY
    return ssl.PEM_cert_to_DER_cert(paths[0].read_text()), paths


def http(content):
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(content), content)


def test_who_stands_between_hears_nothing(certificate, settings):
    code = new_code(b"of the hub")  # this one is another
    with somebody(certificate[1]) as (port, heard), pytest.raises(JoinError, match="not the hub") as told:
        main(["join", f"127.0.0.1:{port}", str(code), "--settings", str(settings)])
    assert "nothing was sent" in told.value.message
    assert heard in ([], [b""])
    assert nothing_written(settings)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n",
        http(b'{"type":"joined","version":3,"something":"else"}'),
        http(msgspec.json.encode(joining.Account("192.0.2.7", 8883, "hall", 't"9\n', "secret", "no certificate"))),
        http(msgspec.json.encode(joining.Account("192.0.2.7", 8883, "hall", "t09", "secret", "no certificate"))),
        http(msgspec.json.encode(joining.Account("192.0.2.7", 8883, "hall", "t09", "secret", "x" * 20_000))),
    ],
)
def test_what_another_version_says_is_told_and_writes_nothing(certificate, settings, answer):
    der, paths = certificate
    with somebody(paths, answer) as (port, _), pytest.raises(JoinError) as told:
        main(["join", f"127.0.0.1:{port}", str(new_code(der)), "--settings", str(settings)])
    assert "same version" in told.value.hint
    assert "secret" not in str(told.value)
    assert nothing_written(settings)


@needs_mosquitto
def test_a_table_of_another_version_is_told(house):
    opened = house.opened("t09")
    host, port = parse_hub_address(opened["command"].split()[3])
    bodies = msgspec.json.encode(JoinRequest(99, parse_code(opened["code"]).secret)), b"\xff\xfe", b"x" * 200_000
    with httpx.Client(base_url=f"https://{host}:{port}", timeout=PATIENCE_S, verify=False) as web:
        first, second, third = (web.post(joining.PATH, content=body) for body in bodies)
    assert "version 2, and this is 99" in msgspec.json.decode(first.content, type=JoinRefused).what
    assert "same version" in msgspec.json.decode(second.content, type=JoinRefused).todo
    assert third.status_code == 413


def test_what_this_machine_cannot_keep_uses_no_code_up(tmp_path, settings):
    code = str(new_code(b"of the hub"))
    for text, what in (("[hub]\n", "has a \\[hub\\]"), ('[table]\njournal = "away/x"\n', "no folder")):
        settings.write_text(text)
        with pytest.raises(UsageError, match=what):
            main(["join", "127.0.0.1:9", code, "--settings", str(settings)])
    with pytest.raises(UsageError, match="no settings file"):
        main(["join", "127.0.0.1:9", code, "--settings", str(tmp_path / "none.toml")])
    settings.write_text("")
    with pytest.raises(JoinError, match="does not answer"):
        main(["join", "127.0.0.1:9", code, "--settings", str(settings)])
    assert nothing_written(settings)


def test_a_disk_that_is_full_leaves_all_as_it_was(certificate, settings, monkeypatch):
    from pi_controller.hub import join

    der, paths = certificate
    ca = (paths[0].parent / CA).read_text()
    before = settings.read_text()

    def full(path, content, mode=None):
        if content != before.encode():
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(join, "atomic_write", full)
    answer = http(msgspec.json.encode(joining.Account("192.0.2.7", 8883, "hall", "t09", "secret", ca)))
    with somebody(paths, answer) as (port, _), pytest.raises(JoinError, match="cannot be stored here") as told:
        main(["join", f"127.0.0.1:{port}", str(new_code(der)), "--settings", str(settings)])
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
def test_an_address_is_read(text, found):
    assert parse_hub_address(text) == found


@pytest.mark.parametrize("text", ["", "hub:0", "hub:x", "http://hub/", "hub:99999"])
def test_what_is_no_address_is_told(text):
    with pytest.raises(UsageError, match="not an address"):
        parse_hub_address(text)


def test_a_signal_goes_to_no_other_program(tmp_path):
    for text in ("", "x", "99999999", "1"):
        (tmp_path / PID).write_text(text)
        with pytest.raises(OSError, match="cannot reload"):
            reload_broker(tmp_path)


def test_a_table_joins_without_a_hubs_packages():
    program = """
import sys
for name in ("cryptography", "amqtt", "psycopg"):
    sys.modules[name] = None
import pi_controller.hub.join
"""
    subprocess.run([sys.executable, "-c", program], check=True)
