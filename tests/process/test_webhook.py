"""The webhook: signed messages to a real HTTP server, sent again until they are accepted, and to nobody else."""

import asyncio
import hashlib
import hmac
import json
import socket
import threading
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace

import msgspec
import pytest
from http_receiver import http_receiver, status
from phases import PHASES

from pi_controller.hub.setup import load_server_tls, write_certificates
from pi_controller.runtime.webhook import (
    ATTEMPTS,
    SIGNATURE,
    Webhook,
    WebhookError,
    post_json,
    post_to,
)

KEY = b"correct horse battery"
ALL = ("turn", "over", "question", "fault")
SECRET = "s3cr3t-p4th"
PATH = f"/{SECRET}?k={SECRET}"


@pytest.fixture
def receiver():
    """Return a server that keeps what it is sent; `answers` are its next statuses, then 204."""

    made = SimpleNamespace(came=[], answers=[])

    def answer(handler):
        path, headers, body = requests[-1]
        made.came.append((path, headers[SIGNATURE], body))
        code = made.answers.pop(0) if made.answers else 204
        status(code, **({"Location": f"{made.url}/elsewhere"} if code == 302 else {}))(handler)

    with http_receiver(answer, path="") as (made.url, requests):
        yield made


def tell(receiver, *phases, wanted=ALL):
    """Send the views of `phases` one after the other; return for how long it waited before each further attempt."""
    waited = []
    hook = Webhook("Table 2", KEY, wanted, post_to(f"{receiver.url}/hook"), waited.append, lambda: 1764230400.25)
    for phase in phases:
        hook.on_view(PHASES[phase])
    return waited


def test_message_is_signed_and_has_public_view(receiver):
    assert tell(receiver, "hit", "over") == []
    ((path, signature, body),) = receiver.came
    message = json.loads(body)
    assert path == "/hook"
    assert signature == "sha256=" + hmac.new(KEY, body, hashlib.sha256).hexdigest()
    assert (message["event"], message["table"], message["sent"]) == ("over", "Table 2", 1764230400.25)
    assert message["view"] == json.loads(msgspec.json.encode(PHASES["over"]))


def test_unwanted_events_are_not_sent(receiver):
    tell(receiver, "hit", "over", wanted=("question",))
    assert receiver.came == []


def test_refused_message_is_retried_then_dropped(receiver, caplog):
    receiver.answers = [500, 404]
    assert tell(receiver, "hit", "over") == [1.0, 2.0]
    assert len({body for _, _, body in receiver.came}) == 1
    assert len(receiver.came) == 3
    receiver.answers = [503] * ATTEMPTS
    assert len(tell(receiver, "hit", "over")) == ATTEMPTS - 1
    assert "webhook" in caplog.text


def test_it_follows_no_redirect(receiver):
    receiver.answers = [302]
    tell(receiver, "hit", "over")
    assert [path for path, _, _ in receiver.came] == ["/hook", "/hook"]


def test_non_http_answer_counts_as_failed_attempt():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            for _ in range(ATTEMPTS):
                line = server.accept()[0]
                with line:
                    line.recv(65536)
                    line.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        waited = []
        hook = Webhook("T", KEY, ALL, post_to(f"http://127.0.0.1:{server.getsockname()[1]}/"), waited.append)
        for phase in ("hit", "over"):
            hook.on_view(PHASES[phase])
        thread.join(30)
    assert waited == [2.0**n for n in range(ATTEMPTS - 1)]


def test_dripping_receiver_times_out_at_each_attempt(monkeypatch):
    monkeypatch.setattr("pi_controller.runtime.webhook.post_json", partial(post_json, timeout_s=0.2))
    waited = []
    with http_receiver(drip) as (url, _):
        hook = Webhook("T", KEY, ALL, post_to(url), waited.append)
        for phase in ("hit", "over"):
            hook.on_view(PHASES[phase])
    assert len(waited) == ATTEMPTS - 1


def test_refused_connection_is_retried_without_error(receiver):
    waited = []
    hook = Webhook("T", KEY, ALL, post_to("http://127.0.0.1:9/"), waited.append)
    for phase in ("hit", "over"):
        hook.on_view(PHASES[phase])
    assert len(waited) == ATTEMPTS - 1


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
