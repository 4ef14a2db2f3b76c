"""The game of the page for developers, of another package: played on paper and by the judge, and shown everywhere."""

import io
import json
import os
import subprocess
import sys

import pytest
from extend_page import install_page_package
from outside_package import find_packages, install_package
from rich.console import Console as Terminal

from pi_controller.config import read_settings
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.lights import frame
from pi_controller.display.phrases import Phrases
from pi_controller.display.terminal import TerminalTable, render_text
from pi_controller.entry_points import GAMES, PluginError
from pi_controller.errors import UsageError
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import read_journal_record
from pi_controller.pinmap import pinmap
from pi_controller.record.file import read
from pi_controller.record.writing import write
from pi_controller.referee.selection import referee_for
from pi_controller.rules import registry
from pi_controller.runtime.console import execute_line, help_now
from pi_controller.table.mats import mat_sensors_for
from pi_controller.table.table import Table
from pi_controller.web import game_page
from pi_controller.web.console_page import ConsoleWriter, console_regions
from pi_controller.web.frames import frame_page
from pi_controller.web.room_page import strip

GAME = "countdown"
TAKES = ("take 3", "take 1", "take 3", "take 2", "take 1")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a folder in which the package lies as an installer leaves it: what builds it may not be there."""
    folder = tmp_path_factory.mktemp("site")
    install_page_package(folder)
    return folder


@pytest.fixture
def seventh(site):
    with find_packages(site):
        yield registry.game(GAME)


@pytest.fixture
def table(seventh, tmp_path):
    with Journal(tmp_path / "toy.journal") as journal:
        made = Table(journal, seventh, {"A": "Red <b>", "B": "Blue"}, referee_for(seventh, None, bytes))
        yield made


def test_it_is_played_on_paper(site):
    env = os.environ | {"PYTHONPATH": str(site)}
    actions = "".join(json.dumps({"do": "take", "n": int(line[-1])}) + "\n" for line in TAKES)
    command = [sys.executable, "-m", "pi_controller", "score", GAME]
    done = subprocess.run(command, input=actions, capture_output=True, text=True, env=env, check=True)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["calls"] == ["game"]
    assert last["state"]["winner"] == "A"
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, env=env, check=True)
    assert "options of countdown (version 1; made up for this page)" in told.stdout


def test_plugin_game_is_played_at_the_table(table):
    for n, line in enumerate(TAKES, 1):
        check_shown(table)
        assert "take 1" in help_now(table)
        assert execute_line(table, "take 9", float(n)).startswith("take: n cannot be 9")
        assert execute_line(table, line, float(n)) == "entered"
    check_shown(table)
    assert table.view.winner == "A"
    assert Phrases(ENGLISH).sentence(table.view) == "Red <b> wins"
    assert execute_line(table, "undo", 9.0) == "entered"
    assert Phrases(ENGLISH).sentence(table.view) == "Red <b> plays"
    assert execute_line(table, "set pile=4 counters.A=3 counters.B=3 ; spilled", 10.0) == "entered"
    assert table.view.sheet["pile"] == 4


def check_shown(table):
    """Look at the table as everybody does: nothing is missing, and each shows whose turn it is or who has won."""
    view = table.view
    winner, turn = view.sheet["winner"], view.sheet["thrower"]
    html = frame_page(view, ENGLISH, "", 0.0, as_of="12:00:00")
    assert 'data-layout="sheet"' in html
    assert f'<p class="count">{view.sheet["counters"]["A"]}</p>' in html
    assert "Red &lt;b&gt;" in html
    assert "<b>:" not in html
    assert "<h1>Countdown</h1>" in html
    assert "made up for this page" in html
    assert f'data-value="{"won" if winner == "A" else "" if winner or turn == "B" else "turn"}"' in html
    assert str(view.sheet["pile"]) in strip(view, ENGLISH)
    lights = frame(view, 1.0)
    assert len(lights) == pinmap().lights.count
    assert any(any(pixel) for pixel in lights)
    assert "Countdown" in render_text(view, ENGLISH)
    Terminal(file=io.StringIO(), width=40).print(TerminalTable(view, ENGLISH))
    can = game_page.page_of(view, ENGLISH).entry_form(
        view, table.game.legal_actions(table.story.state), options=table.game.settings
    )
    if not winner:
        taken = [button.say["action"] for button in can.buttons]
        assert taken == [*table.game.legal_actions(table.story.state)]
        assert can.buttons[0].label == "Take 1"
    assert [field.path for field in ConsoleWriter(view, ENGLISH).sheet_fields()][:2] == [("thrower",), ("pile",)]
    assert "Blue" in console_regions(view, ENGLISH)["told"]


def test_its_record_is_read_again(table, tmp_path):
    for n, line in enumerate(TAKES, 1):
        execute_line(table, line, float(n))
    text = write(read_journal_record(str(tmp_path / "toy.journal")))
    assert "take 3" in text
    assert read(text.encode()).game == GAME


def test_settings_take_it(seventh, tmp_path):
    file = tmp_path / "table.toml"
    file.write_text(f'[game]\nname = "{GAME}"\n[game.options]\ncounters = "21"\n', "utf-8")
    assert read_settings(file).game.options == {"counters": "21"}
    assert mat_sensors_for(GAME).beads is not None


BROKEN = {
    "toy_missing": ("toy_nowhere:Toy", "No module named 'toy_nowhere'"),
    "toy_crash": ("toy_crash:Toy", "ZeroDivisionError: division by zero"),
    "toy_other": ("our_mat.countdown:Countdown", "its class calls it 'countdown'"),
    "toy_abstract": (
        "toy_half:Toy",
        "Toy lacks is_over, legal_actions, opening, play, scoreboard, sheet, version, source, options",
    ),
    "toy_function": ("our_mat.countdown:TEAMS", "is no subclass"),
    "Toy-Name": ("our_mat.countdown:Countdown", "a game's name has lowercase letters"),
}


def test_broken_game_names_package_and_others_still_load(site, tmp_path):
    (tmp_path / "toy_crash.py").write_text("1 / 0\n", "utf-8")
    (tmp_path / "toy_half.py").write_text(
        "from pi_controller.rules.base import Game\nclass Toy(Game):\n    name = 'toy_abstract'\n", "utf-8"
    )
    points = {name: value for name, (value, _) in BROKEN.items()}
    install_package(tmp_path, "toy-broken", "3.2", {GAMES: points})
    with find_packages(site, tmp_path):
        for name, (_, why) in BROKEN.items():
            with pytest.raises(PluginError) as caught:
                registry.game(name)
            assert f"{name!r} of toy-broken 3.2 cannot be used: " in caught.value.message
            assert why in caught.value.message
        assert registry.game(GAME).name == GAME
        assert registry.game("dakota").name == "dakota"
        assert "Toy-Name" not in registry.names()
        with pytest.raises(UsageError, match="there is no game 'countdwn'; did you mean countdown"):
            registry.game("countdwn")
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{site}"}
    command = [sys.executable, "-m", "pi_controller", "score", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout
    assert "the game 'toy_crash' of toy-broken 3.2 cannot be used" in told
    assert "options of patol" in told


def test_one_name_in_two_packages_is_neither(site, tmp_path):
    install_package(tmp_path, "toy-rival", "1", {GAMES: {GAME: "toy_rival:Toy", "dakota": "toy_rival:Toy"}})
    with find_packages(site, tmp_path):
        with pytest.raises(PluginError, match="has one of that name too"):
            registry.game(GAME)
        assert registry.game("dakota").name == "dakota"
        assert registry.names().count("dakota") == 1
