"""A first evening without a manual: questions that make the settings, a terminal of 80 by 24, a phone that judges."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cases import ALL_CASES
from small_terminal import COLUMNS, ROWS, SmallTerminal

from pi_controller.rules import registry

PROGRAM = [sys.executable, "-m", "pi_controller"]
PAGE = Path(__file__).parents[2] / "pi_controller" / "help" / "pages" / "play" / "first-evening.md"


@pytest.fixture
def terminal(tmp_path):
    started = []

    def start(*argv):
        started.append(SmallTerminal([*PROGRAM, *argv], tmp_path))
        return started[-1]

    yield start
    for one in started:
        one.close()


def test_ctrl_c_during_questions_writes_no_file(terminal, tmp_path):
    for argv in (["settings", "new"], ["run"]):
        screen = terminal(*argv)
        screen.until("Which game?")
        screen.type("1")
        screen.until("The names of the two teams")
        assert screen.interrupt() == 130
        assert list(tmp_path.iterdir()) == []


def test_the_offer_of_questions_can_be_left_aside(terminal, tmp_path):
    screen = terminal("run")
    screen.until("There are no settings yet. Type 'skip'")
    screen.type("skip")
    while not re.search("live page: |port 8080", "\n".join(screen.lines())):  # another program may have it
        screen.more()
    screen.interrupt()
    assert not (tmp_path / "table.toml").exists()


def transcript():
    """Return what is typed by the page: (what stands before it, what is typed)."""
    text = PAGE.read_text("utf-8").split("\n## From a clone", 1)[1]
    lines = re.findall(r"^    (\S.*)$", text.split("\n## ", 1)[0], re.MULTILINE)
    return [tuple(line.split(" < ")) for line in lines if " < " in line]


def test_from_a_clone_to_ones_own_first_game(terminal, tmp_path):
    """What the page says is typed, and what it says for the phone and the room, over real HTTP."""
    (shell, command), *answers = transcript()
    answers, elsewhere = [one for one in answers if one[0].endswith(":")], [one for one in answers if one[0][-1] != ":"]
    typed = [what for _, what in [(shell, command), *answers, *elsewhere] if what != "Enter"]
    assert len(typed) <= 6, typed
    assert command.endswith(" && .venv/bin/moccasin-mat run"), "the rest of it installs"
    screen = terminal("run")
    for question, answer in answers:
        screen.until(question)
        screen.type("" if answer == "Enter" else answer)
    screen.until("PIN ")
    lines = screen.lines()
    assert sum("█" in line or "▀" in line for line in lines) > 10, "the code is on the screen with the PIN"
    ((name, pin),) = re.findall(r"sign in at /judge as '(.+)' with the PIN (\d{6})", "\n".join(lines))
    (url,) = re.findall(r"live page: (http://\S+)/", "\n".join(lines))
    assert [what for where, what in elsewhere if where == "phone"] == [name, "PIN"]
    (room,) = [what for where, what in elsewhere if where == "room"]
    with httpx.Client(base_url=url, timeout=60, headers={"Origin": url}) as phone:
        assert phone.post("/judge/sign-in", json={"name": name, "pin": pin}).status_code == 200
        revision = phone.get("/judge/state.json").json()["view"]["revision"]
        call = {"judge": "action", "action": {"do": "toss", "winner": "A"}}
        done = phone.post("/judge/command", json={"key": "first-toss", "expect": revision, "call": call})
        assert done.status_code == 200, done.text
        view = httpx.get(f"{url}/view.json", timeout=60).json()
        assert (view["phase"], view["sheet"]["hider"]) == ("hide", "A")
        assert (
            ", ".join(view["teams"].values())
            == dict(answers)["The names of the two teams, separated by a comma (A, B):"]
        )
        page = httpx.get(url + room[room.index("/") :], timeout=60).text
        assert all(team in page for team in view["teams"].values())
    screen.until("hides the bead")
    screen.type("missed 2")
    screen.until("Second hit")
    assert "[2] first hit: not found" in "\n".join(screen.lines())
    screen.press("\x03")
    assert screen.ended() == 0
    assert "middle" in "\n".join(screen.lines()), "the picture of the sticks stands last"
    again = terminal("run")
    again.until("Run the table of table.toml? (y):")
    again.type("")
    again.until("Second hit")


@pytest.mark.parametrize("game", registry.names() if ALL_CASES else ["slahal"])
def test_each_demo_fits_an_80_by_24_terminal(game, terminal):
    screen = terminal("demo", "--game", game)
    screen.until("Ctrl-C ends the demo")
    lines = screen.lines()
    assert len(lines) <= ROWS
    assert max(map(len, lines)) <= COLUMNS
    head = next(i for i, line in enumerate(lines) if set(line) == {"─"})
    assert lines[head - 1], "the name of the game is on the screen with the address"
    screen.press("\x03")
    assert screen.ended() == 130


@pytest.mark.slow
def test_demo_page_stays_up_until_ctrl_c(terminal):
    screen = terminal("demo", "--set", "points=1", "--speed", "max")
    screen.until("The page stays up until Ctrl-C.")
    (url,) = re.findall(r"live page: (http://\S+)", "\n".join(screen.lines()))
    assert httpx.get(f"{url}view.json", timeout=60).json()["winner"] in {"A", "B"}
    screen.press("\x03")
    assert screen.ended() == 0


@pytest.mark.slow
def test_the_demo_plays_one_game_after_another(tmp_path):
    command = [*PROGRAM, "demo", "--set", "points=1", "--speed", "max", "--no-web", "--loop"]
    loop = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        seeds = []
        for line in loop.stdout:
            seeds += re.findall(r"simulated minutes, seed (\d+)", line)
            if len(seeds) == 2:
                break
        assert seeds == ["1", "2"]
        os.kill(loop.pid, signal.SIGINT)
        loop.stdout.read()
        assert loop.wait(60) == 130
    finally:
        loop.kill()
        loop.communicate()
