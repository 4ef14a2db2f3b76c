"""A first evening without a manual: questions that make the settings, a terminal of 80 by 24, a phone that judges."""

from __future__ import annotations

import io
import re
import shlex
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from pi_controller.cli import main
from pi_controller.config import read_settings

PROGRAM = [sys.executable, "-m", "pi_controller"]
USUAL = '[board]\nport = "none"\n\n[web]\nhost = "0.0.0.0"\njudges = true\n'
"""The file that the answers in brackets make: phones open the pages, a judge signs in with a PIN."""


def written(path):
    """Return the file without the port that is there where another program has the usual one."""
    return re.sub(r"(\n\[web\])?\nport = 80[89]\d(?=\n)", lambda found: "", path.read_text("utf-8"), count=1)


@pytest.fixture
def asked(monkeypatch, capsys):
    """Return a function that answers the questions of `settings new` in this process."""

    def ask(folder, answers, *more):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        status = main(["settings", "new", *more])
        return subprocess.CompletedProcess(more, status, *capsys.readouterr())

    return ask


def test_usual_answers_open_pages_to_phones_and_judges(tmp_path):
    command = [*PROGRAM, "setup-table"]
    done = subprocess.run(command, input="\n" * 5, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert written(tmp_path / "table.toml") == USUAL
    assert done.stdout.rstrip().endswith("run --settings table.toml")


def test_answers_alone_are_written_to_the_file(asked, tmp_path):
    done = asked(tmp_path, "3\nBig “Bear”, Łong\nboard\nnetwork\nyes\n", "our table.toml")
    assert done.returncode == 0, done.stderr
    assert written(tmp_path / "our table.toml") == (
        '[game]\nname = "slahal"\n\n[teams]\na = "Big “Bear”"\nb = "Łong"\n\n[web]\nhost = "0.0.0.0"\njudges = true\n'
    )
    settings = read_settings(tmp_path / "our table.toml")
    assert (settings.board.port, settings.web.host, settings.web.judges) == ("auto", "0.0.0.0", True)
    words = shlex.split(done.stdout.splitlines()[-2].split("moccasin-mat", 1)[1])
    assert words == ["run", "--settings", "our table.toml"]


@pytest.mark.parametrize(
    ("answers", "nearest"),
    [("\n\nboard\n2 3 1 4\n\n\n", (2, 3, 1, 4)), ("\n\nboard\njudge\n\n\n", ()), ("\n\nboard\n2 2\n1,2\n\n\n", (1, 2))],
)
def test_setup_asks_which_pad_is_nearest(asked, tmp_path, answers, nearest):
    done = asked(tmp_path, answers)
    assert done.returncode == 0, done.stderr
    assert read_settings(tmp_path / "table.toml").referee.nearest == nearest


def test_players_are_named_in_a_game_without_teams(asked, tmp_path):
    done = asked(tmp_path, "patol\nAnn\nAnn, Ann\nAnn,  Bo, Cy\nsimulated\n1\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("2 to 8 different names") == 2
    settings = read_settings(tmp_path / "table.toml")
    assert settings.game.options == {"players": "Ann,Bo,Cy"}
    assert done.stdout.rstrip().endswith("demo --settings table.toml"), "people that are simulated are watched"


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ("chess\n1\n\n\n\n\n", "type a number from 1 to 6"),
        ("\nA\nA, B, C\n\n\n\n\n", "type two names, separated by a comma"),
        ("\nA,\n\n\n\n\n", "must be a name of 1 to 60 characters"),
        ("\nA, " + "B" * 61 + "\n\n\n\n\n", "must be a name of 1 to 60 characters"),
        ("\nA, B\u202e\n\n\n\n\n", "this name contains a control character"),
        ("\n\n4\n\n\n\n", "type a number from 1 to 3"),
        ("\n\n\neverybody\n\n\n", "type a number from 1 to 2"),
        ("\n\n\n\nmaybe\n\n", "type y for yes or n for no"),
    ],
)
def test_invalid_answer_is_asked_again(asked, tmp_path, answers, why):
    done = asked(tmp_path, answers)
    assert (done.returncode, done.stderr) == (0, "")
    assert why in " ".join(done.stdout.split())
    assert written(tmp_path / "table.toml") == USUAL


@pytest.mark.parametrize("lines", range(5))
def test_input_ending_early_writes_no_file(asked, tmp_path, lines):
    done = asked(tmp_path, "\n" * lines)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "moccasin-mat: the input ended before the last question"
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_overwritten_after_a_yes_alone(asked, tmp_path):
    path = tmp_path / "table.toml"
    path.write_text("# mine\n", "utf-8")
    for answers, status in (("\n", 1), ("n\n", 1), ("", 2), ("y\n\n", 2)):
        assert asked(tmp_path, answers).returncode == status
        assert path.read_text("utf-8") == "# mine\n"
    assert asked(tmp_path, "y\n\n\n\n\n\n").returncode == 0
    assert written(path) == USUAL
    assert [one.name for one in tmp_path.iterdir()] == ["table.toml"]


def test_missing_folder_is_refused_before_questions(asked, tmp_path):
    done = asked(tmp_path, "", "no/table.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("moccasin-mat: there is no folder no\n")


def test_unwritable_folder_is_refused_before_questions(asked, as_nobody):
    done = as_nobody(lambda: asked("/", ""))
    assert (done.returncode, done.stdout) == (2, "")
    assert "/ belongs to root" in done.stderr


def test_a_port_that_is_taken_is_passed_over(asked, tmp_path):
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that has just ended leaves it unusable
        with suppress(OSError):  # whoever else has it: it is taken
            other.bind(("127.0.0.1", 8080))
            other.listen()
        done = asked(tmp_path, "\n" * 5)
        assert done.returncode == 0, done.stderr
        port = read_settings(tmp_path / "table.toml").web.port
    assert 8081 <= port < 8100
    assert f"port 8080 is taken: the pages are at port {port}" in done.stdout


@pytest.mark.slow
def test_the_demo_plays_the_table_of_the_settings(tmp_path):
    (tmp_path / "t.toml").write_text('[game.options]\npoints = 1\n[teams]\na = "Upper"\nb = "Lower"\n', "utf-8")
    command = [*PROGRAM, "demo", "--settings", "t.toml", "--speed", "max", "--no-web"]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert re.search(r"^(Upper|Lower) wins, 1 to 0$", done.stdout, re.MULTILINE)
    assert done.stdout.startswith("Setting up the simulated mat ...\n")
