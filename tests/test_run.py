"""`moccasin-mat run` as people start it: a process of its own, the wall's clock, a board that comes, a signal."""

import json
import signal
import subprocess
import sys
import threading
import urllib.request

import pytest

from pi_controller.sim.mat import SimMat

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


@pytest.fixture
def start(tmp_path):
    running = []

    def start_it(device):
        settings = tmp_path / "table.toml"
        settings.write_text(SETTINGS.format(folder=tmp_path, device=device), "utf-8")
        command = [sys.executable, "-m", "pi_controller", "run", "--settings", str(settings)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        running.append(process)
        return process, process.stdout.readline().split()[-1]

    yield start_it
    for process in running:
        process.kill()
        process.communicate()


def seen(url):
    with urllib.request.urlopen(url + "view.json", timeout=10) as answer:
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


def test_a_second_table_on_the_same_journal_is_told(start, tmp_path):
    start(tmp_path / "no-board")
    again = subprocess.run(
        [sys.executable, "-m", "pi_controller", "run", "--settings", str(tmp_path / "table.toml")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert again.returncode == 2
    assert again.stderr == (
        "moccasin-mat: journal j.sqlite: another table is writing it\n  stop the other one, or choose another file\n"
    )
