"""Prometheus metrics of the table: the public view in numbers, and the number of watchers.

Metrics of the process are left out: CPU time during a hide could leak its position. Use the machine's own exporter.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pi_controller import __version__
from pi_controller.table.view import ShownPhase, View
from pi_controller.web.feed import Feed

PREFIX = "moccasin_mat"
SENSORS = ("disc", "strip")
"""The sensors whose faults are in the view."""


class TableCollector(Collector):
    """Collects the metrics of the newest view at each scrape."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics; before the first view, only those that do not need one."""
        latest = self._feed.latest
        view = latest.view if latest else None
        yield _gauge("up", "1 if the table can play: it has a view, and its journal can be written.", _is_playing(view))
        yield _gauge("watchers", "Open event streams.", self._feed.watchers)
        if view is not None:
            yield from _of(view)


def metrics_route(feed: Feed) -> Route:
    """Return the route `/metrics`."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(TableCollector(feed))

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), headers={"content-type": CONTENT_TYPE_LATEST})

    return Route("/metrics", metrics)


def _is_playing(view: View | None) -> bool:
    return view is not None and view.phase != "halted"


def _of(view: View) -> Iterator[Metric]:
    info = InfoMetricFamily(PREFIX, "Version of the program, and the current game.")
    info.add_metric([], {"version": __version__, "game": view.game, "rules": view.version})
    yield info
    phases = GaugeMetricFamily(f"{PREFIX}_phase", "1 for the current phase of the table.", labels=["phase"])
    for phase in get_args(ShownPhase):
        phases.add_metric([phase], view.phase == phase)
    yield phases
    yield _gauge("journal_records", "Records in the journal; a new game starts again.", view.seq)
    yield _gauge("hide", "Number of the current hide or turn, 0 before the first.", view.hide)
    sticks = GaugeMetricFamily(f"{PREFIX}_sticks", "Sticks, by kind and owner.", labels=["kind", "team"])
    for kind, held in (("long", view.long), ("short", view.short), ("middle", {"": view.middle} if view.long else {})):
        for team, count in held.items():
            sticks.add_metric([kind, team], count)
    yield sticks
    yield _gauge("question_open", "1 if a question to the judge is open.", view.question is not None)
    yield _gauge("protest_open", "1 if a protest is not decided.", bool(view.protest))
    yield _gauge("paused", "1 if a judge stopped the clocks.", view.paused is not None)
    yield _gauge("board_connected", "1 if the mat's board is connected.", view.link)
    yield _gauge("sensors_used", "1 if the sensors are in use.", view.sensors)
    faults = GaugeMetricFamily(f"{PREFIX}_sensor_faults", "Faulty discs and strips.", labels=["sensor"])
    counted = Counter(fault.sensor for fault in view.faults)
    for sensor in SENSORS:
        faults.add_metric([sensor], counted[sensor])
    yield faults


def _gauge(name: str, what: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{PREFIX}_{name}", what, value)
