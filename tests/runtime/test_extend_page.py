"""The page for developers, tried literally: its files in an empty folder, installed, and its commands run."""

import os
import sys
from types import SimpleNamespace

import pytest
from extend_page import install_page_package, page_commands, page_files, run_command
from outside_package import find_packages

from pi_controller.board.message_source import NoSource
from pi_controller.config import read_settings
from pi_controller.runtime.assembly import make_strip
from pi_controller.runtime.plugins import WatcherFeed, make_scene, make_watcher


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the page's package, installed."""
    install_page_package(tmp_path)
    monkeypatch.chdir(tmp_path)
    with find_packages(tmp_path):
        yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "our_mat"]:
        del sys.modules[name]


@pytest.mark.slow
def test_commands_of_the_page_run(folder):
    env = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    for piped, line in page_commands():
        done = run_command(piped, line, folder, sys.executable, env)
        assert done.returncode == 0, (line, done.stdout, done.stderr)


def test_page_has_a_file_and_command_of_each_kind():
    assert {*page_files()} >= {"pyproject.toml", "table.toml", "test_strip.py", "our_mat/countdown.py"}
    assert len(page_commands()) == 6


def test_strip_and_scene_of_the_page_light_the_table(folder, view):
    settings = read_settings(folder / "table.toml")
    strip = make_strip(settings, NoSource())
    draw = make_scene(settings.strips.scene, strip.count)
    strip.show(draw(view(), 0.5))
    strip.close()
    dark, lit, off = [line.split() for line in (folder / "lights.log").read_text().splitlines()]
    assert dark == off == ["000000"] * strip.count
    assert [pixel != "000000" for pixel in lit] == [n < 20 for n in range(strip.count)]


def test_observer_of_the_page_counts_a_win(folder, view):
    feed = WatcherFeed("tally", make_watcher("tally", folder), folder / "missing.sqlite")
    for winner in (None, "A", "A", None, "B"):
        table = SimpleNamespace(view=view(winner=winner), journal=SimpleNamespace(meta=SimpleNamespace(epoch="one")))
        feed.on_step(0.0, table, armed=False)
    assert feed.deliver(closing=True)
    assert (folder / "wins.txt").read_text() == "A\nB\n"
