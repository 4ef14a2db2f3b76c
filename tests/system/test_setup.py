"""`moccasin-mat service` below a root: shown first, written whole, taken back to the byte, own files kept."""

import json
import os
import re

import pytest

from pi_controller.card.plan import plan
from pi_controller.cli import find_verb, main
from pi_controller.config import Settings, read_settings
from pi_controller.errors import SettingsError, UsageError
from pi_controller.host.place import SetupError, make_place

UNIT = "etc/systemd/system/moccasin-mat.service"
RULES = "etc/udev/rules.d/60-moccasin-mat.rules"
TABLE = "etc/moccasin-mat/table.toml"


def service(action, root, *options):
    return find_verb(f"service {action}").main(["--root", str(root), *options])


def files_in(root, snapshot):
    return {name: held for name, held in snapshot(root).items() if held is not None}


def test_setup_writes_its_plan_and_undo_removes_it(pi, snapshot, capsys):
    root = pi()
    before = snapshot(root)
    assert service("install", root, "--dry-run", "--config-txt") == 0
    told = capsys.readouterr().out
    assert snapshot(root) == before
    assert service("install", root, "--yes", "--config-txt") == 0
    written = snapshot(root)
    new = {name for name, held in written.items() if held is not None} - set(before)
    assert new == {
        UNIT, RULES, TABLE, "etc/sysusers.d/moccasin-mat.conf",
        "etc/systemd/system/multi-user.target.wants/moccasin-mat.service",
        *(f"etc/systemd/system/moccasin-mat-settings-request.{kind}" for kind in ("path", "service")),
        "etc/systemd/system/multi-user.target.wants/moccasin-mat-settings-request.path",
        "boot/firmware/config.txt.before-moccasin-mat",
    }  # fmt: skip
    shown = set(re.findall(r"^\+(?!\+\+)(.*)$", told, re.MULTILINE))
    for name in (UNIT, RULES, TABLE):
        assert set(written[name].decode().splitlines()) <= shown
    assert service("remove", root, "--yes") == 0
    assert files_in(root, snapshot) == {name: held for name, held in before.items() if held is not None} | {
        TABLE: written[TABLE]
    }


@pytest.mark.parametrize("config", ["", "dtparam=audio=on", "a=1\r\n[all]\r\n", "\n\n", "# ümlaut \n"])
def test_config_txt_comes_back_to_the_byte(pi, config):
    root = pi(config=config)
    assert service("install", root, "--yes", "--config-txt") == 0
    file = root / "boot/firmware/config.txt"
    assert file.read_bytes().startswith(config.encode())
    assert "core_freq=500\n" in file.read_text("utf-8")
    assert service("remove", root, "--yes") == 0
    assert file.read_bytes() == config.encode()
    assert [path.name for path in file.parent.iterdir()] == ["config.txt"]


def test_undo_preserves_manual_config_txt_lines(pi):
    root = pi()
    service("install", root, "--yes", "--config-txt")
    file = root / "boot/firmware/config.txt"
    before = file.with_name("config.txt.before-moccasin-mat").read_text("utf-8")
    file.write_text(file.read_text("utf-8") + "dtoverlay=mine\n", "utf-8")
    assert service("remove", root, "--yes") == 0
    assert file.read_text("utf-8") == before + "dtoverlay=mine\n"


def test_second_setup_changes_no_file(pi, snapshot, capsys):
    root = pi()
    service("install", root, "--yes", "--config-txt")
    written = snapshot(root)
    capsys.readouterr()
    assert service("install", root, "--yes") == 0
    assert snapshot(root) == written
    assert "already up to date" in capsys.readouterr().out


def test_first_settings_match_model_and_are_never_overwritten(pi):
    root = pi()
    service("install", root, "--yes", "--config-txt")
    settings = read_settings(root / TABLE)
    assert (settings.strips.kind, settings.strips.pin, settings.buttons.kind) == ("pi", 10, "pi")
    assert str(settings.table.journal) == "/var/lib/moccasin-mat/table.sqlite"
    mine = b'[table]\nname = "Hall"\njournal = "/srv/games/j.sqlite"\n[recording]\nhits = true\n'
    (root / TABLE).write_bytes(mine)
    service("install", root, "--yes")
    assert (root / TABLE).read_bytes() == mine
    assert "ReadWritePaths=/srv/games\n" in (root / UNIT).read_text("utf-8")
    assert service("remove", root, "--yes") == 0
    assert (root / TABLE).read_bytes() == mine


def test_setup_without_config_txt_turns_strips_off(pi, capsys):
    root = pi()
    service("install", root, "--yes")
    told = capsys.readouterr().out
    assert "config.txt needs: dtparam=spi=on, core_freq=500, core_freq_min=500, enable_uart=1" in told
    assert "the light strips are off" in told
    assert read_settings(root / TABLE).strips.kind == "none"
    service("install", root, "--yes", "--config-txt")  # asked for afterwards
    assert "core_freq_min=500\n" in (root / "boot/firmware/config.txt").read_text("utf-8")


def test_machine_other_than_pi_gets_no_pins(tmp_path):
    assert service("install", tmp_path, "--yes") == 0
    assert read_settings(tmp_path / TABLE).model_copy(
        update={"table": None, "recording": None}
    ) == Settings().model_copy(update={"table": None, "recording": None})


def test_undo_leaves_and_names_edited_files(pi, capsys):
    root = pi()
    service("install", root, "--yes")
    (root / RULES).write_text("mine", "utf-8")
    capsys.readouterr()
    assert service("status", root) == 0
    assert f"differs from this version: /{RULES}\n" in capsys.readouterr().out
    assert service("status", root, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["installed"], told["current"][f"/{RULES}"], told["current"][f"/{UNIT}"]) == (True, False, True)
    assert service("remove", root, "--yes") == 0
    assert f"leave, another version or a hand has changed it: /{RULES}\n" in capsys.readouterr().out
    assert (root / RULES).read_text("utf-8") == "mine"
    assert not (root / UNIT).exists()


@pytest.mark.parametrize("fails_at", range(8))
def test_setup_on_full_disk_can_be_undone(pi, snapshot, monkeypatch, fails_at):
    root = pi()
    before = snapshot(root)
    real, calls = os.fsync, []

    def full(number):
        calls.append(number)
        if len(calls) - 1 == fails_at:
            raise OSError(28, "No space left on device")
        real(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SetupError, match="No space left"):
        service("install", root, "--yes")
    monkeypatch.setattr(os, "fsync", real)
    half = {name: held for name, held in snapshot(root).items() if name not in before and held is not None}
    wanted = {str(change.path): change for change in plan(make_place(root)).changes}
    for name, held in half.items():
        assert held.decode() == wanted[f"/{name}"].text
    service("remove", root, "--yes")
    left = {name for name, held in snapshot(root).items() if held is not None and name not in before}
    assert left <= {TABLE}


def test_an_image_cannot_lead_out_of_itself(pi, tmp_path):
    root = pi()
    (tmp_path / "outside").mkdir()
    (root / "etc").mkdir()
    (root / "etc/udev").symlink_to(tmp_path / "outside")
    with pytest.raises(SetupError, match="points outside"):
        service("install", root, "--yes")
    assert not list((tmp_path / "outside").iterdir())


def test_invalid_settings_stop_setup_before_writing(pi, snapshot):
    root = pi()
    (root / "etc/moccasin-mat").mkdir(parents=True)
    (root / TABLE).write_text("[tabel]\nx = 1\n", "utf-8")
    before = snapshot(root)
    with pytest.raises(SettingsError, match="no such section"):
        service("install", root, "--yes")
    assert snapshot(root) == before


def test_setup_without_confirmation_changes_no_file(pi, snapshot, capsys):
    root = pi()
    before = snapshot(root)
    with pytest.raises(UsageError, match="cannot ask for confirmation here"):
        service("install", root)
    assert snapshot(root) == before


@pytest.mark.parametrize(("answer", "done"), [("y", True), ("", False), ("no", False)])
def test_it_asks(pi, monkeypatch, answer, done):
    root = pi()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    if done:
        assert service("install", root) == 0
    else:
        with pytest.raises(SystemExit):
            service("install", root)
    assert (root / UNIT).exists() is done


def test_the_machine_itself_needs_root(monkeypatch, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["service", "install", "--yes"]) == 2
    assert "use sudo" in capsys.readouterr().err


def test_dry_run_warns_of_obstacles_and_prints_plan(pi, monkeypatch, capsys):
    monkeypatch.setattr("pi_controller.card.plan.obstacles", lambda _made: ["no lgpio", "a closed folder"])
    root = pi()
    assert service("install", root, "--dry-run") == 0
    told = capsys.readouterr().out
    assert (
        "warning: the service could not start: no lgpio\nwarning: the service could not start: a closed folder" in told
    )
    assert "+[Service]" in told
    with pytest.raises(UsageError, match="could not start: no lgpio"):
        service("install", root, "--yes")
