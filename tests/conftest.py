"""Shared by all tests: hypothesis without deadlines, for cores here are slow; views made by hand."""

import gc
import os
import pwd
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from made_views import make_view

pytest_plugins = ("sets", "pytester")
gc.disable()  # what is collected stays: walking it again and again would take a third of the time

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell gives it so to what runs in its background, and programs started from here would never hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


# a machine that keeps no bytecode would compile all modules again for each of the many programs that tests start
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_configure(config: pytest.Config) -> None:
    """Register hypothesis's profiles: the number of examples depends on the set of tests."""
    from cases import cases

    examples = cases(15, 100)
    settings.register_profile("mat", deadline=None, max_examples=examples, derandomize=True, database=None)
    settings.register_profile("chance", deadline=None, max_examples=examples)  # pytest --hypothesis-profile chance
    settings.register_profile(  # mutate.py's: the same cases each time, and a failure is not made smaller
        "mutation", deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
    )
    settings.load_profile(config.getoption("--hypothesis-profile", None) or "mat")


def pytest_xdist_auto_num_workers() -> int:
    """Two workers a core: half of a worker's time goes by in waiting for another program."""
    return 2 * max(1, len(os.sched_getaffinity(0)))


LONG = (
    "process/emulated/", "browser/test_judge", "browser/", "end_to_end/test_games", "calibration/",
    "process/test_first_", "faults/", "process/", "secrecy/", "hub/", "exhibit/",
    "recording/", "web/", "sensing/", "system/", "hardware/", "tournament/",
)  # fmt: skip
"""Beginnings of the longest files' paths: they begin first, so that no worker is left alone with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; within a file nothing is moved."""
    tests, order = Path(__file__).parent, {}
    for path in {item.path for item in items}:
        name = path.relative_to(tests).as_posix() if path.is_relative_to(tests) else ""
        order[path] = next((place for place, begin in enumerate(LONG) if name.startswith(begin)), len(LONG))
    items.sort(key=lambda item: order[item.path])


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def as_nobody() -> Callable[[Callable[[], Any]], Any]:
    """Return what runs a function without root's right to do anything."""

    def run(function: Callable[[], Any]) -> Any:
        if os.geteuid():
            return function()
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
        try:
            return function()
        finally:
            os.seteuid(0)

    return run


@pytest.fixture(autouse=True)
def _no_installed_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the settings of a table that is installed on this machine alone."""
    monkeypatch.setattr("pi_controller.cli.arguments.INSTALLED", Path("/nowhere/table.toml"))


@pytest.fixture(scope="session")
def view() -> Any:
    """Return a maker of views: `view(phase="over", winner="A")`."""
    return make_view


@pytest.fixture
def by_id(tmp_path: Path) -> Callable[..., Path]:
    """Plug boards in: `by_id(*names)` returns the folder where their ports are under these names."""
    folder = tmp_path / "by-id"
    folder.mkdir()

    def plug(*names: str) -> Path:
        for n, name in enumerate(names):
            (tmp_path / f"ttyACM{n}").touch()
            (folder / name).symlink_to(tmp_path / f"ttyACM{n}")
        return folder

    return plug
