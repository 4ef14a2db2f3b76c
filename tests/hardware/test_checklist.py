"""The bench checklist: its lines run, and every part that it names is one that the doctor prints."""

import json
import re
import shlex
from pathlib import Path

import pytest

from pi_controller import cli
from pi_controller.calibration.walk import Walk
from pi_controller.config import read_settings
from pi_controller.sensing.strikes import StrikeSettings

HARDWARE = Path(__file__).parents[2] / "hardware"
TEXT = (HARDWARE / "CHECKLIST.md").read_text("utf-8")
LINES = re.findall(r"^    moccasin-mat (.+)$", TEXT, re.MULTILINE)
SETTINGS = re.findall(r"(?:^    (?:\[\w+\]|\w+ = .+)\n)+", TEXT, re.MULTILINE)


@pytest.fixture
def table(tmp_path, monkeypatch):
    """The checklist's own table.toml, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "table.toml"
    path.write_text("\n".join(SETTINGS), "utf-8")
    return path


def doctor(capsys, *options):
    """Return the exit status and the outcome of each of the doctor's lines, by name."""
    status = cli.main(["mat", "check", "--json", *options])
    told = json.loads(capsys.readouterr().out)
    return status, {line["name"]: line["outcome"] for line in told["lines"]}


def named():
    """Return what the checklist names `so` where it speaks of the doctor's lines."""
    prose = "\n".join(line for line in TEXT.splitlines() if not line.startswith(("    ", "|")))
    found = re.findall(r"`((?:[^`\n])+)`", prose)
    others = {"pass", "not here", "fail", "such type", "mat check", "table.toml", "mat ports", "mat flash --check"}
    commands = ("moccasin-mat ", "[")
    return [name for name in found if name not in others and not name.endswith(".md") and not name.startswith(commands)]


def test_the_checklist_is_one():
    titles = [int(number) for number in re.findall(r"^## (\d+)\. ", TEXT, re.MULTILINE)]
    assert titles == list(range(1, len(titles) + 1))
    assert len(LINES) >= 15
    assert len(SETTINGS) == 3


def test_doctor_prints_every_part_checklist_names(capsys, table):
    status, told = doctor(capsys, "--sim", "--settings", str(write_plain(table)))
    assert status == 0
    assert len(set(named())) >= 30
    missing = [name for name in named() if name not in told]
    assert not missing


def write_plain(table):
    """Return settings that name no profile and no pins: this machine has none."""
    plain = table.with_name("plain.toml")
    plain.write_text('[table]\nname = "bench"\n', "utf-8")
    return plain


def test_bus_step_sentences_match_faults_page():
    step = " ".join(TEXT[TEXT.index("## 5.") : TEXT.index("## 6.")].split())
    said = (HARDWARE / "FAULTS.md").read_text("utf-8")
    quoted = re.findall(r'"([^"]+)"', step)
    assert len(quoted) == 4
    assert [one for one in quoted if one not in said] == []


def test_named_ranges_have_ends_of_same_kind():
    spans = re.findall(r"`([^`]+)`\s+to\s+`([^`]+)`", TEXT)
    assert {(a.split(" (")[0], b.split(" (")[0]) for a, b in spans} == {
        ("touch strip 1", "touch strip 12"),
        ("magnetometer 1", "magnetometer 8"),
        ("magnetometer 9", "magnetometer 16"),
        ("magnetometer 17", "magnetometer 24"),
        ("piezo of pad 1", "piezo of pad 4"),
    }


def test_the_settings_on_the_page_are_good(table, capsys):
    assert cli.main(["settings", "check", str(table)]) == 0
    settings = read_settings(table)
    assert (settings.strips.kind, settings.buttons.kind, settings.board.profile) == ("pi", "pi", "hall")


@pytest.mark.slow
def test_calibration_line_saves_profile_named_in_settings(table, capsys):
    (line,) = [line for line in LINES if line.startswith("mat calibrate")]
    unprofiled = table.with_name("first.toml")
    unprofiled.write_text(SETTINGS[0] + SETTINGS[1], "utf-8")  # as it is when the step is reached
    words = [str(unprofiled) if word == "table.toml" else word for word in shlex.split(line)]
    assert cli.main([*words, "--sim"]) == 0
    assert table.with_name("hall.profile.json").exists()
    status, told = doctor(capsys_clear(capsys), "--sim", "--settings", str(profiled(table)))
    assert status == 0
    assert told["profile"] == "pass"
    for step in Walk(StrikeSettings()).view.steps:
        assert f'"{step.title}"' in " ".join(TEXT.split())


def capsys_clear(capsys):
    """Forget what was printed until now."""
    capsys.readouterr()
    return capsys


def profiled(table):
    """Return settings with the page's profile and without the Pi's pins, which this machine has not."""
    path = table.with_name("profiled.toml")
    path.write_text(SETTINGS[2], "utf-8")
    return path


@pytest.mark.slow
def test_demo_of_first_step_plays_to_end(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (line,) = [line for line in LINES if line.startswith("demo")]
    assert cli.main([*shlex.split(line), "--json"]) == 0
    state = json.loads(capsys.readouterr().out)["state"]
    assert max(state["short"].values()) == 1
