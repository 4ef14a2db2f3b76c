"""The heartbeat of an installation at a real receiver."""

import json
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
from exhibit_rig import WELL
from http_receiver import http_receiver, status

from pi_controller.config import read_settings
from pi_controller.exhibit import heartbeat
from pi_controller.exhibit.heartbeat import FIRST_BEAT_S, HeartbeatError, post_state
from pi_controller.hub.setup import load_server_tls, write_certificates
from pi_controller.runtime.assembly import assemble_exhibit

NOW = 1_790_000_000.0
UP = {"status": "up", "msg": "OK"}


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/ping/s3cr3t", UP),
        ("/api/push/s3cr3t?status=up&msg=OK&ping=", {**UP, "ping": ""}),
        ("/ping?id=a%20b", {"id": "a b", **UP}),
    ],
)
@pytest.mark.parametrize("state", [UP, {"status": "down", "msg": "link, heat"}])
def test_receiver_gets_the_state_in_query_and_body(path, query, state):
    with http_receiver(status(200), path) as (address, requests):
        post_state(address, state)
    ((asked, headers, body),) = requests
    parts = urlsplit(asked)
    assert parts.path == path.partition("?")[0]
    assert parse_qsl(parts.query, keep_blank_values=True) == list((query | state).items())
    assert json.loads(body) == state
    assert headers["content-type"] == "application/json"


def test_tls_monitor_needs_a_trusted_certificate(tmp_path, monkeypatch):
    write_certificates(tmp_path, "hall", ["127.0.0.1"], datetime.now(UTC))
    with http_receiver(status(200), "/s3cr3t", load_server_tls(tmp_path)) as (url, requests):
        with pytest.raises(HeartbeatError) as refused:
            post_state(url, UP)
        assert "s3cr3t" not in str(refused.value)
        assert requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.crt"))
        post_state(url, UP)
    assert len(requests) == 1


@pytest.mark.parametrize("code", [302, 307, 400, 404, 500])
def test_non_2xx_status_fails_and_redirect_is_ignored(code):
    with (
        http_receiver(status(200)) as (elsewhere, others),
        http_receiver(status(code, location=elsewhere)) as (url, _),
        pytest.raises(HeartbeatError, match=str(code)),
    ):
        post_state(url, UP)
    assert others == []


def test_silent_or_refused_connection_is_an_error(monkeypatch):
    monkeypatch.setattr(heartbeat, "TIMEOUT_S", 0.2)
    with http_receiver(lambda handler: handler.rfile.read(1)) as (url, _), pytest.raises(HeartbeatError):
        post_state(url, UP)
    with pytest.raises(HeartbeatError, match="refused"):
        post_state("http://127.0.0.1:9/", UP)


def test_installation_steps_on_while_its_monitor_is_silent(tmp_path):
    asked, ended = threading.Event(), threading.Event()

    def never_answer(_):
        asked.set()
        ended.wait()

    with http_receiver(never_answer) as (address, requests), ExitStack() as stack:
        (tmp_path / "table.toml").write_text(f'[web]\nport = 0\n[exhibit]\nheartbeat = "{address}"\n')
        settings = read_settings(tmp_path / "table.toml")
        daemon = assemble_exhibit(settings, tmp_path, lambda: NOW, stack, read=lambda _: WELL)
        try:
            for seconds in (0.0, FIRST_BEAT_S, FIRST_BEAT_S + 1.0):
                daemon.step(NOW + seconds)
            assert asked.wait(20.0)
            daemon.step(NOW + FIRST_BEAT_S + 2.0)
        finally:
            ended.set()
    assert json.loads(requests[0][2]) == UP
