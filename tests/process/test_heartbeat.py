"""The heartbeat of an installation at a real receiver."""

import json
import threading
from contextlib import ExitStack
from urllib.parse import parse_qsl, urlsplit

import pytest
from exhibit_rig import WELL
from http_receiver import http_receiver, status

from pi_controller.config import read_settings
from pi_controller.exhibit.heartbeat import FIRST_BEAT_S, post_state
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
