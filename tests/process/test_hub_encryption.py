"""The hub's pages over TLS: clients know the venue's certificate, and what does not speak TLS costs nobody anything."""

import re
import secrets
import socket
import ssl
import time

import httpx
import pytest
from hub_site import certify
from served_site import ServedSite

from pi_controller.hub.setup import CA, SERVER, format_fingerprint, read_certificate
from pi_controller.web import http_timeouts
from pi_controller.web.connection_limits import ClientSemaphore, ConnectionLimits

PATIENCE_S = 60.0


@pytest.fixture
def site(tmp_path):
    made = ServedSite(certify(tmp_path / "hub"))
    yield made
    made.close()


def web_to(site, ca, address=None):
    origin = site.pages.secure_url.rstrip("/")
    trusted = ssl.create_default_context(cafile=ca)
    line = httpx.HTTPTransport(verify=trusted, local_address=address)
    return httpx.Client(base_url=origin, headers={"origin": origin}, timeout=PATIENCE_S, transport=line)


def line_to(site):
    return socket.create_connection(("127.0.0.1", site.pages._secure.port), PATIENCE_S)


def hear(line):
    """Return the next bytes of a connection, b"" at its end, however it ends."""
    try:
        return line.recv(4096)
    except ConnectionError:
        return b""


def test_sign_in_works_with_venue_ca_alone(site, tmp_path):
    who = site.add_person()
    with web_to(site, site.folder / CA) as web:
        came = web.post("/director/sign-in", json=who)
        assert came.status_code == 200
        assert all("secure" in cookie.lower() for cookie in came.headers.get_list("set-cookie"))
        plan = {"key": secrets.token_hex(8), "fact": {"do": "plan", "title": "Wacipi"}}
        assert web.post("/director/command", json=plan).status_code == 200
        assert "Wacipi" in web.get("/director").text
    assert "Wacipi" in site.web.get("/").text, "the boards need no encryption"
    with web_to(site, certify(tmp_path / "other") / CA) as web, pytest.raises(httpx.ConnectError):
        web.get("/")


@pytest.mark.slow
def test_client_sees_certificate_of_printed_fingerprint(site):
    context = ssl.create_default_context(cafile=site.folder / CA)
    with line_to(site) as line, context.wrap_socket(line, server_hostname="127.0.0.1") as encrypted:
        der = encrypted.getpeercert(binary_form=True)
    written = ssl.PEM_cert_to_DER_cert((site.folder / SERVER).read_text())
    assert der == written
    assert re.fullmatch(r"([0-9A-F]{2}:){31}[0-9A-F]{2}", format_fingerprint(read_certificate(site.folder)))


@pytest.mark.slow
def test_silent_and_plain_connections_are_closed(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(http_timeouts, "HEADER_TIMEOUT_S", 0.3)
    site = ServedSite(certify(tmp_path / "hub"))
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


def test_unfinished_handshakes_delay_no_other_client(site):
    site.pages._secure.http.server_state.handshakes = ClientSemaphore(4, 2)
    idle = [line_to(site) for _ in range(12)]
    try:
        for line in idle:
            line.sendall(b"\x16\x03\x01\x02\x00")
        with web_to(site, site.folder / CA, "127.0.0.2") as web:
            assert web.get("/").status_code == 200
    finally:
        for line in idle:
            line.close()


def test_queued_handshake_keeps_what_was_sent(site):
    site.pages._secure.http.server_state.handshakes = ClientSemaphore(4, 1)
    context = ssl.create_default_context(cafile=site.folder / CA)
    line = line_to(site)
    line.sendall(b"\x16\x03\x01\x02\x00")
    with context.wrap_socket(line_to(site), server_hostname="127.0.0.1", do_handshake_on_connect=False) as queued:
        queued.setblocking(False)
        with pytest.raises(ssl.SSLWantReadError):
            queued.do_handshake()
        with web_to(site, site.folder / CA, "127.0.0.2") as web:
            assert web.get("/").status_code == 200, "the hub had the time to read what was sent"
        line.close()
        queued.settimeout(PATIENCE_S)
        queued.do_handshake()
        assert queued.version()


@pytest.mark.slow
def test_hub_stops_during_tls_handshake(tmp_path):
    site = ServedSite(certify(tmp_path / "hub"))
    with line_to(site) as line:
        with web_to(site, site.folder / CA) as web:
            assert web.get("/").status_code == 200  # it has accepted the idle one before
        site.close()
        assert hear(line) == b""
