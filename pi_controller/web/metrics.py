"""The table in figures, for Prometheus: what the public view shows, and how many watch.

Nothing of the process is in it: how long the program worked over a hide is no figure for everybody. Processor and
memory are for the machine's own exporter.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.routing import Route

from pi_controller import __version__
from pi_controller.table.view import ShownPhase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client.core import Metric
    from starlette.requests import Request

    from pi_controller.table.view import View
    from pi_controller.web.feed import Feed

PREFIX = "moccasin_mat"
SENSORS = ("disc", "strip")
"""Of which the view says when they cannot be believed."""


class TableCollector(Collector):
    """Makes the figures of the newest view whenever they are asked for."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def collect(self) -> Iterable[Metric]:
        """Yield the figures; before the first view only those that need none."""
        latest = self._feed.latest
        view = latest.view if latest else None
        yield _gauge("up", "Whether the table plays on: it has a view, and its journal can be written.", _well(view))
        yield _gauge("watchers", "Event streams that are open.", self._feed.watchers)
        if view is not None:
            yield from _of(view)


def metrics_route(feed: Feed) -> Route:
    """Return the route `/metrics`."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(TableCollector(feed))

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), headers={"content-type": CONTENT_TYPE_LATEST})

    return Route("/metrics", metrics)


def _well(view: View | None) -> bool:
    return view is not None and view.phase != "halted"


def _of(view: View) -> Iterator[Metric]:
    info = InfoMetricFamily(PREFIX, "The program and the game that is played.")
    info.add_metric([], {"version": __version__, "game": view.game, "rules": view.version})
    yield info
    phases = GaugeMetricFamily(f"{PREFIX}_phase", "1 for the phase that the table is in.", labels=["phase"])
    for phase in get_args(ShownPhase):
        phases.add_metric([phase], view.phase == phase)
    yield phases
    yield _gauge("journal_records", "Records in the journal; another game begins anew.", view.seq)
    yield _gauge("hide", "Number of the hide or turn, 0 before the first.", view.hide)
    sticks = GaugeMetricFamily(f"{PREFIX}_sticks", "Sticks, by kind and by whose they are.", labels=["kind", "team"])
    for kind, held in (("long", view.long), ("short", view.short), ("middle", {"": view.middle} if view.long else {})):
        for team, count in held.items():
            sticks.add_metric([kind, team], count)
    yield sticks
    yield _gauge("question_open", "Whether the mat has asked the judge something.", view.question is not None)
    yield _gauge("protest_open", "Whether a protest is not decided.", bool(view.protest))
    yield _gauge("paused", "Whether a judge stopped the clocks.", view.paused is not None)
    yield _gauge("board_connected", "Whether the mat's board answers.", view.link)
    yield _gauge("sensors_used", "Whether play goes by what the mat feels.", view.sensors)
    faults = GaugeMetricFamily(
        f"{PREFIX}_sensor_faults", "Discs and strips that cannot be believed.", labels=["sensor"]
    )
    counted = Counter(fault.sensor for fault in view.faults)
    for sensor in SENSORS:
        faults.add_metric([sensor], counted[sensor])
    yield faults


def _gauge(name: str, what: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{PREFIX}_{name}", what, value)
