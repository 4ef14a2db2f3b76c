"""The webhook's messages at a real HTTP server."""

import asyncio
import json
import socket
import threading
from datetime import UTC, datetime

import pytest
from http_receiver import http_receiver, status

from pi_controller.hub.setup import load_server_tls, write_certificates
from pi_controller.web.webhook import (
    WebhookError,
    post_json,
    post_to,
)

KEY = b"correct horse battery"
ALL = ("turn", "over", "question", "fault")
SECRET = "s3cr3t-p4th"
PATH = f"/{SECRET}?k={SECRET}"


def test_answer_that_is_no_http_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with server.accept()[0] as line:
                line.recv(65536)
                line.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(WebhookError, match="not HTTP"):
            post_to(f"http://127.0.0.1:{server.getsockname()[1]}/")(b"{}", "")
        thread.join(60)


def test_refused_connection_is_no_other_error():
    with pytest.raises(WebhookError, match="refused"):
        post_to("http://127.0.0.1:9/")(b"{}", "")


@pytest.mark.parametrize("code", [200, 204, 299])
def test_a_real_receiver_gets_the_json(code):
    with http_receiver(status(code), PATH) as (url, bodies):
        asyncio.run(post_json(url, b'{"id": "abc-3"}', headers={"X-More": "yes"}))
    path, headers, body = bodies[0]
    assert path == PATH
    assert (headers["content-type"], headers["x-more"]) == ("application/json", "yes")
    assert json.loads(body)["id"] == "abc-3"


def test_tls_receiver_needs_a_trusted_certificate(tmp_path, monkeypatch):
    write_certificates(tmp_path, "hall", ["127.0.0.1"], datetime.now(UTC))
    with http_receiver(status(200), PATH, load_server_tls(tmp_path)) as (url, requests):
        with pytest.raises(WebhookError, match="certificate") as refused:
            asyncio.run(post_json(url, b"{}"))
        assert SECRET not in str(refused.value)
        assert requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.crt"))
        asyncio.run(post_json(url, b"{}"))
    assert len(requests) == 1


@pytest.mark.parametrize("code", [302, 307, 400, 404, 500])
def test_non_2xx_status_fails_and_redirect_is_ignored(code):
    with (
        http_receiver(status(200), PATH) as (elsewhere, others),
        http_receiver(status(code, location=elsewhere)) as (url, _),
        pytest.raises(WebhookError) as refused,
    ):
        asyncio.run(post_json(url, b"{}"))
    assert str(code) in refused.value.message
    assert others == []


def write_forever(handler):
    try:
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        pass


def never_answer(handler):
    handler.rfile.read(1)


def drip(handler):
    """Send a byte from time to time, so that no single read times out."""
    try:
        while not handler.server._BaseServer__shutdown_request:
            handler.wfile.write(b"H")
            handler.wfile.flush()
            threading.Event().wait(0.02)
    except OSError:
        pass


@pytest.mark.parametrize("answer", [never_answer, drip], ids=lambda one: one.__name__)
def test_silent_or_dripping_answer_exceeds_timeout(answer):
    with http_receiver(answer, PATH) as (url, _), pytest.raises(WebhookError, match=r"within 0\.5 s"):
        asyncio.run(post_json(url, b"{}", timeout_s=0.5))


def test_an_answer_without_end_is_not_read():
    with http_receiver(write_forever, PATH) as (url, _), pytest.raises(WebhookError, match="not HTTP"):
        asyncio.run(post_json(url, b"{}"))
