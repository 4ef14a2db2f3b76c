"""A table with a mat before each team: each mat has lines of its own, and nothing of one stands on the other's."""

import json

import pytest
from board_faults import parse_fault

from pi_controller import cli
from pi_controller.tools import doctor

TOLD = """
[mat]
seats = "each"
[table]
journal = "{folder}/j.sqlite"
[board]
port = "{folder}/a"
[board_b]
port = "{folder}/b"
profile = "gone"
"""


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TOLD.format(folder=tmp_path), "utf-8")
    return path


def report(settings, capsys, *args):
    status = cli.main(["mat", "check", "--settings", str(settings), "--json", *args])
    lines = json.loads(capsys.readouterr().out)["lines"]
    return status, {line["name"]: line for line in lines}


def test_each_mat_has_all_its_lines(settings, capsys):
    settings.write_text(settings.read_text("utf-8").replace('profile = "gone"\n', ""), "utf-8")
    status, lines = report(settings, capsys, "--sim")
    assert status == 0
    ours = [name.removeprefix("mat A: ") for name in lines if name.startswith("mat A: ")]
    assert ours == [name.removeprefix("mat B: ") for name in lines if name.startswith("mat B: ")]
    assert sum("magnetometer" in name for name in ours) == 24
    assert lines["mat A: handshake"]["message"] != "" != lines["mat B: handshake"]["message"]


def test_a_fault_of_one_is_not_the_others(settings, capsys, monkeypatch):
    examine = doctor.examine_simulated

    def break_mat_a(settings, progress, seed, **more):
        return examine(
            settings, progress, seed, [parse_fault("dead-touch=5")] if seed == doctor.SIM_SEED else (), **more
        )

    monkeypatch.setattr(doctor, "examine_simulated", break_mat_a)
    status, lines = report(settings, capsys, "--sim")
    assert status == 1
    failed = [name for name, line in lines.items() if line["outcome"] == "fail"]
    assert failed == ["mat B: profile", "mat A: touch strip 5 (pad 2, middle)"]


def test_each_mat_line_names_its_port(settings, capsys, tmp_path):
    _, lines = report(settings, capsys)
    for mat in "ab":
        assert str(tmp_path / mat) in lines[f"mat {mat.upper()}: port"]["message"]


def test_one_mat_has_no_name_before_its_lines(tmp_path, capsys):
    path = tmp_path / "table.toml"
    path.write_text(f'[table]\njournal = "{tmp_path}/j.sqlite"\n', "utf-8")
    _, lines = report(path, capsys, "--sim")
    assert "piezo of pad 1" in lines
    assert not any(name.startswith("mat ") for name in lines)
