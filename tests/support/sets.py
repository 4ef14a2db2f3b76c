"""Choose the day's set of tests or all of them (`--all`), and keep the day's set quick: a plug-in of pytest."""

import os
import time
from collections.abc import Generator

import pytest

MAX_S = 2.0
"""Processor time of a test without the mark `slow`, in seconds of a machine that does `_measure_s` in `YARDSTICK_S`."""
YARDSTICK_S = 0.03
BUSY = 2.0
"""So much longer numeric work takes beside other programs, which the yardstick does not feel: no test fails by that."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--all`."""
    parser.addoption("--all", action="store_true", help="run the slow tests as well, and all cases of the others")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Tell the test modules, and xdist's workers, which set runs (`cases.py`)."""
    if config.getoption("all"):
        os.environ["MOCCASIN_ALL"] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests by day."""
    if not _is_all():
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a dear test of the day's set; its time is compared with that of a known sum on the same busy machine."""
    began = _processor_s()
    result = yield
    took = _processor_s() - began
    if took > MAX_S and not _is_all():
        took /= max(1.0, _measure_s() / YARDSTICK_S)
        assert took <= MAX_S * BUSY, f"{took:.1f} s of the processor: make it quicker, or mark it slow"
    return result


def _is_all() -> bool:
    return os.environ.get("MOCCASIN_ALL") == "1"


def _processor_s() -> float:
    return sum(os.times()[:4])


def _measure_s() -> float:
    began = time.thread_time()
    sum(range(2_500_000))
    return time.thread_time() - began
