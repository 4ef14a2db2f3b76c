"""Observers and light scenes of other packages: they get what the pages show, and nothing they do disturbs the game."""

from types import SimpleNamespace

import msgspec
import pytest
from outside_package import find_packages, install_package

from pi_controller.display.lights import frame
from pi_controller.entry_points import PluginError, load_function
from pi_controller.referee.facts import GameOpened
from pi_controller.rules import registry
from pi_controller.runtime import plugins
from pi_controller.runtime.plugins import WatcherFeed, make_scene, make_watcher
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation
from pi_controller.table.view import View, is_between_hides
from pi_controller.table.watcher import TableWatcher

SOURCE = """
from pi_controller.errors import MatError
from pi_controller.table.watcher import TableWatcher
number = 7
def make(folder): return TableWatcher()
def fail(folder): raise RuntimeError("no such printer")
def red(view, t, pixels): return [(200, 0, 0)] * pixels
def short(view, t, pixels): return [(200, 0, 0)]
def bright(view, t, pixels): return [(300, 0, 0)] * pixels
def broken(view, t, pixels): return view.nothing
"""
POINTS = {
    plugins.OBSERVERS: {"quiet": "seen:make", "fails": "seen:fail", "number": "seen:number", "gone": "seen:gone"},
    plugins.SCENES: {"red": "seen:red", "short": "seen:short", "bright": "seen:bright", "broken": "seen:broken"},
}


@pytest.fixture
def installed(tmp_path):
    """Install a package with `POINTS`."""
    install_package(tmp_path, "seen", "1.2", POINTS, seen=SOURCE)
    with find_packages(tmp_path):
        yield


class Kept(TableWatcher):
    """Keeps everything, and spoils what it was given."""

    def __init__(self):
        self.views, self.facts, self.closed = [], [], 0

    def on_view(self, view):
        self.views.append(msgspec.convert(msgspec.to_builtins(view), View))
        view.teams["A"] = "nobody"
        view.teams.clear()

    def on_facts(self, facts):
        self.facts.append((self.views[-1], list(facts)))

    def close(self):
        self.closed += 1


def play(path, watcher, steps=600, late=False):
    """Play, and tell the watcher after each step, or `late` at the end alone; return the views and the records."""
    shown, well = [], True
    with Simulation(3, path, registry.game("dakota", {"points": "1"}), mischief=Mischief(0, 0)) as simulation:
        feed = WatcherFeed("kept", watcher, path)
        simulation.daemon.observers.append(feed)
        for _ in range(steps):
            simulation.tick()
            well = well and (late or feed.deliver())
            view = simulation.daemon.table.view
            if not shown or view is not shown[-1]:
                shown.append(view)
        well = well and feed.deliver(closing=True)
        records = list(simulation.daemon.table.journal.records())
    return shown, records


def test_observer_gets_every_view_and_finished_hide_records(tmp_path):
    watcher = Kept()
    shown, records = play(tmp_path / "j.sqlite", watcher)
    assert watcher.views == shown
    assert all(view.teams for view in shown), "it spoils its own copy only"
    assert watcher.closed == 1
    told = [one for _, facts in watcher.facts for one in facts]
    released = max(view.seq for view in shown if is_between_hides(view))
    assert told == [(seq, fact) for seq, _, fact in records if seq <= released]
    assert isinstance(told[0][1], GameOpened)
    assert all(is_between_hides(view) for view, _ in watcher.facts)
    assert len(watcher.facts) > 3


def test_unreadable_journal_does_not_end_the_observer(tmp_path, view):
    watcher = Kept()
    feed = WatcherFeed("kept", watcher, tmp_path / "missing.sqlite")
    table = SimpleNamespace(view=view(phase="over"), journal=SimpleNamespace(meta=SimpleNamespace(epoch="one")))
    assert is_between_hides(table.view)
    feed.on_step(0.0, table, armed=False)
    assert feed.deliver(closing=True)
    assert len(watcher.views) == 1
    assert watcher.facts == []
    assert watcher.closed == 1


def test_failing_observer_is_stopped_and_game_continues(tmp_path, caplog):
    class Fails(Kept):
        def on_view(self, view):
            super().on_view(view)
            raise RuntimeError("paper jam")

    watcher = Fails()
    shown, _ = play(tmp_path / "j.sqlite", watcher)
    assert len(watcher.views) == 1
    assert len(shown) > 10
    assert "paper jam" in caplog.text


def test_slow_observer_gets_the_newest_views(tmp_path, monkeypatch):
    monkeypatch.setattr(plugins, "MAX_WAITING", 5)
    watcher = Kept()
    shown, _ = play(tmp_path / "j.sqlite", watcher, late=True)
    assert len(shown) > 10
    assert [view.seq for view in watcher.views] == [view.seq for view in shown[-5:]]
    assert watcher.closed == 1


@pytest.mark.usefixtures("installed")
def test_an_observer_is_found_by_its_name(tmp_path):
    assert isinstance(make_watcher("quiet", tmp_path), TableWatcher)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "says"),
    [("quite", "quiet"), ("number", "no function"), ("gone", "AttributeError"), ("fails", "no such printer")],
)
def test_unusable_observer_is_a_plugin_error_with_hint(tmp_path, name, says):
    with pytest.raises(PluginError, match=says) as error:
        make_watcher(name, tmp_path)
    assert error.value.hint


def test_without_packages_there_is_none():
    with pytest.raises(PluginError, match="no scene"):
        load_function(plugins.SCENES, "red")


@pytest.mark.usefixtures("installed")
def test_faulty_light_scene_falls_back_to_usual_frame(tmp_path, caplog):
    with Simulation(3, tmp_path / "j.sqlite", registry.game("dakota"), mischief=Mischief(0, 0)) as simulation:
        view = simulation.daemon.table.view
    usual = frame(view, 1.0)
    assert make_scene("red", len(usual))(view, 1.0) == [(200, 0, 0)] * len(usual)
    for name in ("short", "bright", "broken"):
        caplog.clear()
        draw = make_scene(name, len(usual))
        assert [draw(view, 1.0), draw(view, 1.0)] == [usual, usual]
        assert caplog.text.count(f"the light scene {name}") == 1
