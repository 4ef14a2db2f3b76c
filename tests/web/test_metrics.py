"""`/metrics`: off until the host switches it on, in Prometheus's format, nothing the public view does not say."""

import gc

import httpx
import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from pi_controller.config import Settings
from pi_controller.sensing.events import SensorFault
from pi_controller.web.feed import Feed
from pi_controller.web.metrics import metrics_route
from pi_controller.web.server import WebServer


@pytest.fixture
def figures():
    """Return a feed, and a function that asks for its figures: by name and labels."""
    feed = Feed()
    server = WebServer(feed, port=0, more=[metrics_route(feed)])
    server.start()

    def ask():
        answer = httpx.get(f"{server.url}metrics", trust_env=False, timeout=20)
        assert answer.headers["content-type"].startswith("text/plain; version=")
        return {
            (sample.name.removeprefix("moccasin_mat_"), *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    yield feed, ask
    server.stop()
    gc.collect()


def test_a_table_in_figures(figures, view):
    feed, ask = figures
    assert ask() == {("up",): 0, ("watchers",): 0}
    shown = replace(
        view(seq=12), faults=(SensorFault("disc", 2, "dead"), SensorFault("disc", 3, "dead")), phase="hit", hide=4
    )
    feed.publish(shown)
    found = ask()
    assert found["up",] == 1
    assert found["phase", "hit"] == 1
    assert sum(value for key, value in found.items() if key[0] == "phase") == 1
    assert found["journal_records",] == 12
    assert found["hide",] == 4
    assert [found["sticks", "long", team] for team in "AB"] == [shown.long[team] for team in "AB"]
    assert found["sticks", "middle", ""] == shown.middle
    assert (found["sensor_faults", "disc"], found["sensor_faults", "strip"]) == (2, 0)
    feed.publish(view(seq=13, phase="halted"))
    assert (ask()["up",], ask()["phase", "halted"]) == (0, 1)


def test_metrics_omit_process_figures(figures, view):
    feed, ask = figures
    feed.publish(view())
    assert not [key for key in ask() if key[0].startswith(("process", "python"))]
    assert ask() == ask()


def test_off_until_it_is_switched_on(server):
    assert Settings().web.metrics is False
    assert Settings().web.announce is False
    assert httpx.get(f"{server.url}metrics", trust_env=False).status_code == 404
