"""`moccasin-mat mat check` as people start it, and the bundle they send."""

import io
import json
import zipfile

import pytest
from board_faults import break_simulations
from rich.console import Console

from pi_controller import cli
from pi_controller.calibration.profile import Profile, save_profile
from pi_controller.config import Settings
from pi_controller.host.findings import Group
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import GameOpened, HandPass
from pi_controller.tools import doctor, machine_checks, support_bundle
from pi_controller.tools.report import DoctorReport

TOLD = """
[table]
name = "Gym North"
journal = "{folder}/j.sqlite"
[teams]
a = "Big Coulee"
b = "Long Hollow"
"""


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TOLD.format(folder=tmp_path), "utf-8")
    return path


def run(*args):
    return cli.main(["mat", "check", *map(str, args)])


def read(capsys):
    report = json.loads(capsys.readouterr().out)
    return report, {line["name"]: line for line in report["lines"]}


def test_a_sound_simulated_mat_exits_0(settings, capsys):
    assert run("--settings", settings, "--sim") == 0
    told = capsys.readouterr().out
    assert "0 fail" in told
    assert "a simulated mat" in told
    assert told.count("magnetometer") >= 24


def test_simulated_mat_needs_no_group(settings, capsys, monkeypatch):
    monkeypatch.setattr(machine_checks, "groups", set)
    monkeypatch.setattr(machine_checks, "_has_group", lambda name, root: True)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run("--settings", settings, "--sim", "--json") == 0
    assert read(capsys)[1]["group dialout"]["outcome"] == "not here"


def test_fault_exits_1_and_prints_remedy(settings, capsys, monkeypatch):
    break_simulations(monkeypatch, doctor, "silent-piezo=2")
    assert run("--settings", settings, "--sim") == 1
    told = capsys.readouterr().out
    assert "1 fail" in told
    assert "silent" in told
    assert "> check its cable and the disc" in told
    last = told.splitlines()[-2:]
    assert last[0].strip() == "piezo of pad 2: silent: no signal"
    assert last[1].strip().startswith("> check its cable")


def test_a_usage_error_exits_2(settings, capsys):
    assert run("--settings", settings, "--sim", "cat") == 2
    assert "cat" in capsys.readouterr().err


def test_missing_board_fails_port_and_skips_sensors(settings, capsys):
    settings.write_text(TOLD.format(folder=settings.parent) + f'[board]\nport = "{settings.parent}/tty"\n', "utf-8")
    assert run("--settings", settings, "--json") == 1
    report, lines = read(capsys)
    assert lines["port"]["outcome"] == "fail"
    assert "USB cable" in lines["port"]["hint"]
    assert sum(line["outcome"] == "not here" for line in report["lines"] if line["group"] == "Sensors") == 40
    assert report["ok"] is False


def test_boardless_table_reports_no_fault(settings, capsys):
    settings.write_text(TOLD.format(folder=settings.parent) + '[board]\nport = "none"\n', "utf-8")
    assert run("--settings", settings, "--json") == 0
    _, lines = read(capsys)
    assert lines["port"]["outcome"] == "not here"


def test_invalid_settings_report_omits_their_values(settings, capsys):
    settings.write_text('[teams]\na = 7\nsecret = "hunter2"\n', "utf-8")
    assert run("--settings", settings, "--sim", "--json") == 1
    out = capsys.readouterr().out
    assert "hunter2" not in out
    lines = {line["name"]: line for line in json.loads(out)["lines"]}
    assert "[teams] a" in lines["file"]["message"]
    assert "settings check" in lines["file"]["hint"]


def test_the_profile_is_looked_at(settings, capsys):
    settings.write_text(TOLD.format(folder=settings.parent) + '[board]\nprofile = "hall"\n', "utf-8")
    assert run("--settings", settings, "--sim", "--json") == 1
    assert "there is no profile" in read(capsys)[1]["profile"]["message"]
    save_profile(settings.parent, Profile("hall", "today", "0.1.0", ""))
    assert run("--settings", settings, "--sim", "--json") == 0
    assert read(capsys)[1]["profile"]["outcome"] == "pass"


def test_bundle_contains_reports_without_names(settings, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(support_bundle, "service_log", lambda: "the log")
    break_simulations(monkeypatch, doctor, "dead-touch=3")
    path = tmp_path / "help.zip"
    assert run("--settings", settings, "--sim", "--bundle", path) == 1
    assert str(path) in capsys.readouterr().out.replace("\n", "")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(parts) == {"READ-ME.txt", "report.txt", "report.json", "settings.json", "log.txt"}
    everything = "\n".join(parts.values())
    assert not [name for name in ("Big Coulee", "Long Hollow", "Gym North") if name in everything]
    report = json.loads(parts["report.json"])
    assert [line["name"] for line in report["lines"] if line["outcome"] == "fail"] == ["touch strip 3 (pad 1, hitter)"]
    assert report["versions"]["moccasin-mat"]
    assert "touch strip 3" in parts["report.txt"]


def write(tmp_path, settings, log):
    path = tmp_path / "b.zip"
    support_bundle.write_bundle(path, DoctorReport((Group("x").passes("y"),), {}), settings, lambda: log)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_bundle_log_is_trimmed_and_names_redacted(tmp_path):
    players = {"players": "Ann, Bob"}
    named = Settings.model_validate(
        {"teams": {"a": "Big Coulee", "b": "B"}, "game": {"name": "patol", "options": players}}
    )
    log = "\n".join([f"line {n}" for n in range(500)] + ["BIG COULEE plays", "Ann threw, Annual report", "B is fine"])
    told = write(tmp_path, named, log)["log.txt"].splitlines()
    assert len(told) == support_bundle.LOG_LINES
    assert told[-3:] == ["(left out) plays", "(left out) threw, Annual report", "B is fine"]


def test_bundle_settings_keep_diagnostic_values(tmp_path):
    named = Settings.model_validate(
        {
            "table": {"name": "Gym North", "journal": "/data/games/j.sqlite"},
            "game": {"name": "patol", "options": {"players": "Ann,Bob"}},
            "teams": {"a": "Big Coulee", "b": "Long Hollow"},
            "board": {"port": "/dev/ttyACM0"},
        }
    )
    told = json.loads(write(tmp_path, named, "")["settings.json"])
    assert told["teams"] == {"a": support_bundle.LEFT_OUT, "b": support_bundle.LEFT_OUT}
    assert told["table"] == {"name": support_bundle.LEFT_OUT, "journal": "j.sqlite", "damaged": "recover"}
    assert told["game"] == {"name": "patol", "options": {"players": support_bundle.LEFT_OUT}}
    assert told["board"]["port"] == "/dev/ttyACM0"
    assert told["buttons"]["pins"]["ready"] == 5
    assert told["strips"]["pin"] == 10
    assert told["strikes"]["threshold_db"] == named.strikes.threshold_db


def test_bundle_settings_omit_secret_addresses(tmp_path):
    secret = "https://monitor.example/ping/s3cr3t"
    named = Settings.model_validate({"exhibit": {"heartbeat": secret}})
    told = write(tmp_path, named, "")["settings.json"]
    assert "s3cr3t" not in told
    assert json.loads(told)["exhibit"]["heartbeat"] == support_bundle.LEFT_OUT


def test_nobodys_home_folder_is_in_a_text(monkeypatch):
    monkeypatch.setenv("HOME", "/srv/big-coulee")
    assert support_bundle.redact("it is in /srv/big-coulee/mat, says Ann", {"Ann"}) == "it is in ~/mat, says (left out)"


def test_bundle_contains_no_journal_data(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(support_bundle, "service_log", lambda: "")
    with Journal(tmp_path / "j.sqlite") as journal:
        journal.append([GameOpened(0.0, "dakota", "1", "", {}, {"A": "Big Coulee", "B": "Long Hollow"})])
        journal.append([HandPass(987654.0, 2, 987654.0)])
        path = tmp_path / "b.zip"
        run("--settings", settings, "--sim", "--bundle", path)
    with zipfile.ZipFile(path) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"987654" not in everything
    assert b"hand_pass" not in everything


def test_unwritable_bundle_path_exits_2(settings, tmp_path, capsys):
    assert run("--settings", settings, "--sim", "--bundle", tmp_path / "no" / "b.zip") == 2
    assert "cannot write" in capsys.readouterr().err


def test_a_report_says_the_same_in_every_form():
    report = DoctorReport(
        (Group("Link").fails("port", "gone", "plug it in"), Group("Link").passes("clock")), {"python": "3"}
    )
    assert not report.ok
    assert json.loads(report.json())["lines"][0] == {
        "group": "Link", "name": "port", "outcome": "fail", "message": "gone", "hint": "plug it in",
    }  # fmt: skip
    assert report.summary() == "1 pass, 1 fail, 0 not here"
    assert report.text().splitlines() == [
        "Link", "  fail      port: gone", "            -> plug it in", "  pass      clock", "",
        "1 pass, 1 fail, 0 not here",
    ]  # fmt: skip


def test_skipped_checks_collapse_and_remedies_come_last():
    lines = [Group("Link").fails("port", "gone", "plug it in"), Group("Sensors").passes("a", "well")]
    lines += [Group("Sensors").absent(f"piezo {n}", "no board answers") for n in range(36)]
    lines += [Group("Machine").absent("model", "no Pi"), Group("Machine").absent("lgpio", "no Pi")]
    console = Console(file=io.StringIO(), width=80, color_system=None)
    DoctorReport(tuple(lines), {}).show(console)
    told = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
    assert "not here 36 sensors not checked, no board answers" in told
    assert not any("piezo" in line for line in told)
    assert {"not here model no Pi", "not here lgpio no Pi"} <= set(told), "two are no crowd"
    assert told[-3:] == ["1 pass, 1 fail, 38 not here", "port: gone", "> plug it in"]
    assert max(map(len, console.file.getvalue().splitlines())) <= 80
    assert len(json.loads(DoctorReport(tuple(lines), {}).json())["lines"]) == len(lines), (
        "a program is given all of them"
    )
