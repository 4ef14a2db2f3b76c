"""The hub's pages with encryption: who signs in where, and what does not speak TLS costs nobody else anything."""

import asyncio
import re
import secrets
import socket
import ssl
import time
from datetime import UTC, datetime

import httpx
import pytest
from hub_site import Site

from pi_controller.hub.setup import (
    CA,
    SERVER,
    HubSetupError,
    format_fingerprint,
    load_server_tls,
    read_certificate,
    write_certificates,
)
from pi_controller.web import limits
from pi_controller.web.limits import ConnectionLimits, is_loopback

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PATIENCE_S = 30.0


def certified(folder):
    folder.mkdir(exist_ok=True)
    write_certificates(folder, "hall", ["127.0.0.1", "localhost"], NOW)
    return folder


@pytest.fixture
def site(tmp_path):
    made = Site(certified(tmp_path / "hub"))
    yield made
    made.close()


def web_to(site, ca):
    origin = site.pages.secure_url.rstrip("/")
    trusted = ssl.create_default_context(cafile=ca)
    return httpx.Client(base_url=origin, headers={"origin": origin}, timeout=PATIENCE_S, verify=trusted)


def line_to(site):
    return socket.create_connection(("127.0.0.1", site.pages._secure.port), PATIENCE_S)


def hear(line):
    """Return the next bytes of a connection, b"" at its end, however it ends."""
    try:
        return line.recv(4096)
    except ConnectionError:
        return b""


def new_user(site):
    pin = f"{secrets.randbelow(10**8):08d}"
    site.pages.users.add("Ann", "head", site.pages._signing.authenticator.pins.hash(pin))
    return {"name": "Ann", "pin": pin}


def answers(site, requests, address, scheme="http"):
    """Return the answers of `site` to a client at `address`."""

    async def ask():
        origin = f"{scheme}://127.0.0.1"
        transport = httpx.ASGITransport(site.pages._app(["localhost"]), client=(address, 5000))
        async with httpx.AsyncClient(transport=transport, base_url=origin, headers={"origin": origin}) as web:
            return [await web.request(method, path, json=body) for method, path, body in requests]

    return asyncio.run(ask())


def test_sign_in_works_with_venue_ca_alone(site, tmp_path):
    who = new_user(site)
    with web_to(site, site.folder / CA) as web:
        came = web.post("/director/sign-in", json=who)
        assert came.status_code == 200
        assert all("secure" in cookie.lower() for cookie in came.headers.get_list("set-cookie"))
        plan = {"key": secrets.token_hex(8), "fact": {"do": "plan", "title": "Wacipi"}}
        assert web.post("/director/command", json=plan).status_code == 200
        assert "Wacipi" in web.get("/director").text
    assert "Wacipi" in site.web.get("/").text, "the boards need no encryption"
    with web_to(site, certified(tmp_path / "other") / CA) as web, pytest.raises(httpx.ConnectError):
        web.get("/")


def test_client_sees_certificate_of_printed_fingerprint(site):
    context = ssl.create_default_context(cafile=site.folder / CA)
    with line_to(site) as line, context.wrap_socket(line, server_hostname="127.0.0.1") as encrypted:
        der = encrypted.getpeercert(binary_form=True)
    written = ssl.PEM_cert_to_DER_cert((site.folder / SERVER).read_text())
    assert der == written
    assert re.fullmatch(r"([0-9A-F]{2}:){31}[0-9A-F]{2}", format_fingerprint(read_certificate(site.folder)))


@pytest.mark.parametrize(
    ("address", "scheme", "allowed", "plain"),
    [
        ("192.0.2.7", "http", False, False),
        ("2001:db8::7", "http", False, False),
        ("192.0.2.7", "https", False, True),
        ("192.0.2.7", "http", True, True),
        ("127.0.0.1", "http", False, True),
        ("::ffff:127.0.0.1", "http", False, True),
        ("::1", "http", False, True),
    ],
)
def test_plain_sign_in_is_refused_unless_allowed(tmp_path, address, scheme, allowed, plain):
    site = Site(certified(tmp_path / "hub"), plain_sign_in=allowed)
    try:
        who, pins = new_user(site), site.pages._signing.authenticator.pins
        looked_at = pins.hashed
        asked = [("GET", "/director", None), ("POST", "/director/sign-in", who)]
        shown, came = answers(site, asked, address, scheme)
        assert ('id="pin"' in shown.text) is plain
        assert (f"https://127.0.0.1:{site.pages._secure.port}/director" in shown.text) is not plain
        assert ("others in this network can read the PIN" in shown.text) is allowed
        assert came.status_code == (200 if plain else 403)
        assert (pins.hashed > looked_at) is plain, "a PIN that came in the clear is not even compared"
    finally:
        site.close()


def test_page_without_certificate_names_hub_setup(tmp_path):
    site = Site(tmp_path)
    try:
        assert site.pages.secure_url == ""
        for shown in answers(site, [("GET", "/director", None), ("GET", "/director/sign-in", None)], "192.0.2.7"):
            assert "hub setup" in shown.text
    finally:
        site.close()


@pytest.mark.parametrize("content", [b"", b"not a certificate"])
def test_damaged_certificate_is_a_setup_error(tmp_path, content):
    (certified(tmp_path) / SERVER).write_bytes(content)
    with pytest.raises(HubSetupError, match="certificate"):
        load_server_tls(tmp_path)


def test_silent_and_plain_connections_are_closed(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(limits, "HEADER_TIMEOUT_S", 0.3)
    site = Site(certified(tmp_path / "hub"))
    lines = [line_to(site) for _ in range(6)]
    try:
        for line in lines[3:]:
            line.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        for line in lines:
            heard = b"".join(iter(lambda line=line: hear(line), b""))
            assert b"HTTP" not in heard
        monkeypatch.undo()  # whoever speaks TLS has more time, on a slow machine too
        with web_to(site, site.folder / CA) as web:
            assert web.get("/").status_code == 200
        shares, ends = site.pages._secure.http.server_state.shares, time.monotonic() + PATIENCE_S
        while len(shares) and time.monotonic() < ends:
            time.sleep(0.01)
        assert len(shares) == 0, "their slots are free again"
    finally:
        for line in lines:
            line.close()
        site.close()
    assert [one.getMessage() for one in caplog.records if one.levelname in ("WARNING", "ERROR")] == []


def test_connections_count_before_their_handshake(site):
    shares = site.pages._secure.http.server_state.shares = ConnectionLimits(4)
    idle = [line_to(site) for _ in range(12)]
    try:
        assert [hear(line) for line in idle[:8]] == [b""] * 8, "the oldest ones make room"
        with web_to(site, site.folder / CA) as web:
            assert web.get("/").status_code == 200
        assert len(shares) <= 4
    finally:
        for line in idle:
            line.close()


def test_hub_stops_during_tls_handshake(tmp_path):
    site = Site(certified(tmp_path / "hub"))
    with line_to(site) as line:
        with web_to(site, site.folder / CA) as web:
            assert web.get("/").status_code == 200  # it has accepted the idle one before
        site.close()
        assert hear(line) == b""


@pytest.mark.chromium
def test_the_console_works_over_https_in_a_browser(site, chromium):
    who = new_user(site)
    context = chromium.new_context(ignore_https_errors=True, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{site.pages.secure_url}director")
    page.fill("#name", who["name"])
    page.fill("#pin", who["pin"])
    page.click("[type=submit]")
    page.fill("[name=title]", "Wacipi")
    page.click("[data-do=plan] button")
    page.locator("h2", has_text="Teams (0)").wait_for()
    context.close()


@pytest.mark.parametrize(
    ("address", "own"),
    [
        *[(one, True) for one in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")],
        *[(one, False) for one in ("::2", "192.0.2.7", "::ffff:192.0.2.7", "nowhere", "")],
    ],
)
def test_addresses_of_this_machine(address, own):
    assert is_loopback(address) is own
