"""`moccasin-mat run` as people start it: a process of its own, the wall's clock, a board that comes, a signal."""

import json
import os
import pty
import signal
import subprocess
import sys
import urllib.request

import pytest
from patience import LIMIT_S, until
from pty_mat import PtyMat

from pi_controller.cli import main

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
    assert process.wait(LIMIT_S) == 0


def test_it_finds_the_board_and_lets_it_go(start):
    with PtyMat(1) as mat:
        process, url = start(mat.device)
        until(lambda: mat.advance(0.008) is not None and seen(url)["link"])  # the board lives while we look
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 0


def test_typed_game_resumes_after_kill(start):
    judge, terminal = pty.openpty()
    try:
        process, url = start("none", SLAHAL, terminal)
        os.write(judge, b"duo A yes B no\nguess left right\nguess upwards\n")
        before = wait_for(url, seq=3)
        clocks = {"since": None, "ends": None, "head": ""}
        assert (before["calls"], before["sheet"]["sticks"]) == (["miss"], {"A": 8, "B": 3})
        process.kill()
        process.wait(LIMIT_S)
        process, url = start("none", SLAHAL, terminal)
        # one record more, on which the head depends: how long the table was away, for which its clocks stood
        assert seen(url) | clocks == before | clocks | {"seq": 4}
        os.write(judge, b"undo misread\nguess left inside\ntime\n")
        view = wait_for(url, phase="over")
        assert (view["seq"], view["winner"], view["sheet"]["sticks"]) == (7, "A", {"A": 7, "B": 4})
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
    finally:
        os.close(judge)
        os.close(terminal)


MORE = "[recording]\nhits = true\n[backup]\nfolder = '{stick}'\nevery_s = 1.0\n"


def test_next_game_begins_without_restart_and_survives_kill(start, tmp_path, capsys):
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
        process.wait(LIMIT_S)
        process, url = start("none", MORE.format(stick=stick), terminal)
        assert seen(url)["sheet"] == before["sheet"]
        assert seen(url)["teams"] == view["teams"]
        until(lambda: len(list(stick.glob("*.sqlite"))) == 2)  # both games are copied
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
    finally:
        os.close(judge)
        os.close(terminal)
    (kept,) = tmp_path.glob("j-*.sqlite")
    for verb, *more, said in (
        ("verify", "Upper"),
        ("replay", "winner A, finish forfeit"),
        ("record", "forfeit"),
        ("export", "-o", str(tmp_path / "kept"), ""),
    ):
        assert main(["game", verb, str(kept), *more]) == 0
        assert said in capsys.readouterr().out


def wait_for(url, **told):
    return until(lambda: (view := seen(url)) and told.items() <= view.items() and view)
