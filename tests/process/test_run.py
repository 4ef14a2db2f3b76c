"""`moccasin-mat run` as people start it: a process of its own, the wall's clock, a board that comes, a signal."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import urllib.request
from itertools import pairwise
from types import SimpleNamespace

import pytest

from pi_controller.config import Settings
from pi_controller.runtime.assembly import open_table
from pi_controller.runtime.console import execute_line
from pi_controller.runtime.run import READ_INTERVAL_S, run_loop
from pi_controller.simulation.mat import SimMat
from pi_controller.system.status import Notifier

SETTINGS = """
[table]
journal = "{folder}/j.sqlite"
[teams]
a = "Upper"
b = "Lower"
[board]
port = "{device}"
[web]
port = 0
"""

SLAHAL = "[game]\nname = 'slahal'\n"


@pytest.fixture
def start(tmp_path):
    running = []

    def start_it(device, game="", stdin=subprocess.DEVNULL):
        settings = tmp_path / "table.toml"
        settings.write_text(SETTINGS.format(folder=tmp_path, device=device) + game, "utf-8")
        command = [sys.executable, "-m", "pi_controller", "run", "--settings", str(settings)]
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True)
        running.append(process)
        return process, process.stdout.readline().split()[-1]

    yield start_it
    for process in running:
        process.kill()
        process.communicate()


def seen(url):
    with urllib.request.urlopen(url + "view.json", timeout=60) as answer:
        return json.load(answer)


def test_it_starts_with_no_board_and_says_so(start, tmp_path):
    process, url = start(tmp_path / "no-board")
    view = seen(url)
    assert view["teams"] == {"A": "Upper", "B": "Lower"}
    assert (view["phase"], view["link"]) == ("toss", False)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_it_finds_the_board_and_lets_it_go(start):
    with SimMat(1) as mat:
        process, url = start(mat.device)
        wait = threading.Event().wait
        for _ in range(1500):  # the board lives while we look, at about the wall's pace
            mat.advance(0.008)
            wait(0.004)
            if seen(url)["link"]:
                break
        assert seen(url)["link"] is True
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_second_table_on_same_journal_is_refused(start, tmp_path):
    start(tmp_path / "no-board")
    again = subprocess.run(
        [sys.executable, "-m", "pi_controller", "run", "--settings", str(tmp_path / "table.toml")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert again.returncode == 2
    assert again.stderr == (
        "moccasin-mat: journal j.sqlite: another table is writing it\n  stop the other one, or choose another file\n"
    )


@pytest.mark.parametrize("device", ["none", "/dev/no-such-board"])
def test_slahal_table_runs_without_board_link(start, device):
    process, url = start(device, SLAHAL)
    view = seen(url)
    assert (view["game"], view["phase"], view["link"], view["hider"]) == ("slahal", "toss", False, None)
    assert view["teams"] == {"A": "Upper", "B": "Lower"}
    assert view["sheet"]["phase"] == "duo"
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_typed_game_resumes_after_kill(start):
    judge, terminal = pty.openpty()
    try:
        process, url = start("none", SLAHAL, terminal)
        os.write(judge, b"duo A yes B no\nguess left right\nguess upwards\n")
        before = wait_for(url, seq=3)
        clocks = {"since": None, "ends": None, "head": ""}
        assert (before["calls"], before["sheet"]["sticks"]) == (["miss"], {"A": 8, "B": 3})
        process.kill()
        process.wait(20)
        process, url = start("none", SLAHAL, terminal)
        # one record more, on which the head depends: how long the table was away, for which its clocks stood
        assert seen(url) | clocks == before | clocks | {"seq": 4}
        os.write(judge, b"undo misread\nguess left inside\ntime\n")
        view = wait_for(url, phase="over")
        assert (view["seq"], view["winner"], view["sheet"]["sticks"]) == (7, "A", {"A": 7, "B": 4})
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        os.close(judge)
        os.close(terminal)


MORE = "[recording]\nhits = true\n[backup]\nfolder = '{stick}'\nevery_s = 1.0\n"


def test_next_game_begins_without_restart_and_survives_kill(start, tmp_path):
    stick = tmp_path / "stick"
    stick.mkdir()
    judge, terminal = pty.openpty()
    try:
        process, url = start("none", MORE.format(stick=stick), terminal)
        os.write(judge, b"new\nclose B no_show called three times\n")
        wait_for(url, phase="over")
        os.write(judge, b"new swapped\n")
        view = wait_for(url, phase="toss")
        assert view["teams"] == {"A": "Lower", "B": "Upper"}
        os.write(judge, b"toss B\nfound\n")
        before = wait_for(url, phase="show")
        process.kill()
        process.wait(20)
        process, url = start("none", MORE.format(stick=stick), terminal)
        assert seen(url)["long"] == before["long"]
        assert seen(url)["teams"] == view["teams"]
        wait = threading.Event().wait
        assert any(len(list(stick.glob("*.sqlite"))) == 2 or wait(0.02) for _ in range(1000)), "both games are copied"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        os.close(judge)
        os.close(terminal)
    (kept,) = tmp_path.glob("j-*.sqlite")
    for verb, *more, said in (
        ("verify", "Upper"),
        ("replay", "Upper has won by forfeit"),
        ("record", "forfeit"),
        ("export", "-o", str(tmp_path / "kept"), ""),
    ):
        command = [sys.executable, "-m", "pi_controller", verb, str(kept), *more]
        assert said in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def wait_for(url, **told):
    wait = threading.Event().wait
    for _ in range(1000):
        view = seen(url)
        if told.items() <= view.items():
            return view
        wait(0.01)
    raise AssertionError(f"{told} never came: {view}")


def test_players_in_game_options_replace_team_names(tmp_path):
    settings = Settings.model_validate(
        {
            "table": {"journal": tmp_path / "j.sqlite"},
            "game": {"name": "patol", "options": {"players": "Kate,Zoë"}},
            "teams": {"a": "Upper", "b": "Lower"},
        }
    )
    table = open_table(settings, 0.0)
    assert table.view.teams == {"A": "A", "B": "B"}
    assert [horse["player"] for horse in table.view.sheet["horses"]] == ["Kate", "Zoë"]
    assert execute_line(table, "start Kate north clockwise", 1.0) == "entered"
    table.journal.close()
    again = open_table(settings, 2.0)
    assert again.view.sheet["horses"][0]["river"] == "north"
    again.journal.close()


class Loop:
    """A daemon, its clock and its stop flag: `times` has the times of the steps that read the board."""

    def __init__(self, strike_from):
        self.t, self.times, self.steps = 0.0, [], 0
        self.strike_from = strike_from
        self.source = SimpleNamespace(port=self)

    @property
    def idle(self):
        return self.t < self.strike_from

    @property
    def requested(self):
        return self.t >= 2.0

    def clock(self):
        return self.t

    def wait(self, seconds):
        self.t += seconds

    def step(self, t, read=True):
        self.steps += 1
        if read:
            self.times.append(t)


def test_board_reads_are_slow_until_strikes_are_possible():
    loop = Loop(strike_from=1.0)
    run_loop(loop, loop.clock, loop, Notifier())
    before = [t for t in loop.times if t < 1.0]
    after = [t for t in loop.times if t >= 1.0]
    assert all(b - a >= READ_INTERVAL_S for a, b in pairwise(before))
    assert after[0] < 1.0 + READ_INTERVAL_S / 2
    assert all(b - a < READ_INTERVAL_S / 2 for a, b in pairwise(after))
    assert loop.steps > len(loop.times)
