"""Resets: requested by the staff page, or by hand; with the process killed at each step on the disk."""

import fcntl
import os
import random
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from pi_controller.cli import main
from pi_controller.config import read_settings
from pi_controller.system import kiosk, service
from pi_controller.system.install import RUN
from pi_controller.system.kiosk import request_reset
from pi_controller.system.place import DEFAULT_RESET_PARTS, RESET_PARTS, RESET_REQUEST, make_place
from pi_controller.system.reset import ResetError, Resets, read_request

SETTINGS = """
[table]
name = "Our hall"
journal = "/var/lib/moccasin-mat/table.sqlite"
[board]
profile = "hall"
[exhibit]
mat = "sensors"
folder = "/var/lib/moccasin-mat/host"
[voice]
folder = "/srv/voices"
"""
GONE = {
    ".exhibit-notice", ".exhibit-closed", ".exhibit-self-test", ".exhibit-texts/texts.toml", "exhibit-texts/texts.toml",
    "host/texts.toml", "host/house.png",
    "judges.sqlite", "exhibit-usage.json",
    "exhibit-2026-11-03-191502-1a2b.sqlite", "exhibit-2026-11-03-191502-1a2b.sqlite.lock",
    "exhibit-2026-11-03-191502-1a2b.jsonl",
}  # fmt: skip
MAX_EXPOSURE = 3.0
"""Limit for `systemd-analyze security`: the units read and remove files of the service's user."""
STAYS = {"table.sqlite", "recordings/one.rec", "exhibit-mine.txt", ".exhibit-recoveries"}


class Machine:
    """An installation that has been used, below a root of its own."""

    def __init__(self, folder):
        self.root = folder / "root"
        self.here = make_place(system=True, root=self.root)
        self.state, self.etc = self.root / "var/lib/moccasin-mat", self.root / "etc/moccasin-mat"
        self.request = self.root / RUN.relative_to("/") / RESET_REQUEST
        self.request.parent.mkdir(parents=True)
        self.write(self.etc / "table.toml", SETTINGS)
        self.write(self.etc / "hall.profile.json", "{}")
        self.write(self.root / "srv/voices/paguga.wav", "RIFF")
        for name in GONE | STAYS:
            self.write(self.state / name, f"old {name}")

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def resets(self):
        return Resets(self.here)

    def held(self):
        """Return the content of every file of the machine, without requests and the folder of resets."""
        return {
            str(path.relative_to(self.root)): path.read_text("utf-8")
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.parent not in (self.etc / "reset", self.request.parent)
        }


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def is_reset(machine, before, number, *, erased=False, parts=DEFAULT_RESET_PARTS):
    """Everything of a reset of `parts` is as it must be; nothing else has changed."""
    now, aside = machine.held(), f"before-reset-{number}"
    gone = {f"var/lib/moccasin-mat/{name}" for name in GONE}
    assert not gone & set(now)
    for name in gone:
        path = Path(name)
        top = len(Path("var/lib/moccasin-mat").parts)
        kept = Path(*path.parts[:top], aside, *path.parts[top:])
        assert now.get(str(kept)) == (None if erased else before[name])
    assert now["etc/moccasin-mat/table.toml"] != SETTINGS
    assert now.get(f"etc/moccasin-mat/{aside}/table.toml") == (None if erased else SETTINGS)
    stays = {name: held for name, held in before.items() if name not in gone and name != "etc/moccasin-mat/table.toml"}
    if "calibration" in parts:
        del stays["etc/moccasin-mat/hall.profile.json"]
    assert {name: held for name, held in now.items() if aside not in name} == stays | {
        "etc/moccasin-mat/table.toml": now["etc/moccasin-mat/table.toml"]
    }


@pytest.mark.parametrize("erased", [False, True])
def test_reset_restores_first_start_state(machine, erased):
    machine.write(machine.state / "before-reset-00000000/judges.sqlite", "older")
    before = machine.held()
    pending = machine.resets().accept(erased=erased)
    assert machine.held() == before, "an accepted reset is carried out while the service does not run"
    assert pending.parts == DEFAULT_RESET_PARTS
    assert f"reset {pending.number} is done" in machine.resets().settle()
    if erased:
        before = {name: held for name, held in before.items() if "before-reset" not in name}
    is_reset(machine, before, pending.number, erased=erased)
    settings = read_settings(machine.etc / "table.toml")
    assert (settings.table.name, settings.exhibit.folder) == ("Table 1", "")
    assert (settings.board.profile, settings.exhibit.mat) == ("hall", "sensors"), "the mat is the one that was there"
    assert machine.resets().settle() == ""
    assert machine.resets().accept(erased=False).number != pending.number


@pytest.mark.parametrize("erased", [False, True])
def test_a_request_resets_this_machine(machine, capsys, erased):
    before = machine.held()
    request_reset(machine.request, erased=erased)
    assert main(["reset", "--root", str(machine.root), "--requested"]) == 0
    number = re.search(r"reset (\d+) is done", capsys.readouterr().out)[1]
    is_reset(machine, before, number, erased=erased)
    assert f"reset {number} is done" in (machine.etc / "reset/last").read_text("utf-8")


def broken_requests(path, folder):
    """Put something else than a request at `path`, again and again."""
    (folder / "elsewhere").write_text("erase")
    for make in (
        lambda: None,
        lambda: path.write_text(""),
        lambda: path.write_text("erase everything"),
        lambda: path.write_bytes(b"\xff" * 100),
        lambda: path.symlink_to(folder / "elsewhere"),
        lambda: path.symlink_to("/dev/zero"),
        lambda: os.mkfifo(path),
        path.mkdir,
    ):
        make()
        yield
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        path.unlink(missing_ok=True)


def test_broken_reset_request_resets_no_files(machine, tmp_path, capsys):
    before = machine.held()
    for _ in broken_requests(machine.request, tmp_path):
        with pytest.raises(ResetError, match="there is no valid request"):
            read_request(machine.request)
        assert main(["reset", "--root", str(machine.root), "--requested"]) == 2
        assert "there is no valid request" in capsys.readouterr().err
        assert "there is no valid request" in (machine.etc / "reset/last").read_text("utf-8")
        assert machine.resets().settle() == ""
        assert machine.held() == before


def test_calibration_is_reset_on_request(machine):
    before = machine.held()
    pending = machine.resets().accept(RESET_PARTS, erased=False)
    machine.resets().settle()
    is_reset(machine, before, pending.number, parts=RESET_PARTS)
    settings = read_settings(machine.etc / "table.toml")
    assert (settings.board.profile, settings.exhibit.mat) == ("", "screen")


def test_some_parts_alone(machine):
    before = machine.held()
    machine.resets().accept(("people",), erased=True)
    machine.resets().settle()
    assert {name for name, held in before.items() if machine.held().get(name) != held} == {
        "var/lib/moccasin-mat/judges.sqlite"
    }


def test_a_journal_that_is_written_stays(machine):
    journal = machine.state / "exhibit-2026-11-04-100000-ffff.sqlite"
    machine.write(journal, "in play")
    machine.write(journal.with_suffix(".jsonl"), "in play")
    with (machine.state / f"{journal.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stays = {one.path.name for one in machine.resets().list_items(("journals",)) if one.stays}
        assert stays == {journal.name, f"{journal.name}.lock", f"{journal.stem}.jsonl"}
        machine.resets().accept(erased=True)
        machine.resets().settle()
        assert journal.exists()
    assert not list(machine.state.glob("exhibit-2026-11-03*"))


def test_settings_that_cannot_be_read_are_reset_too(machine):
    (machine.etc / "table.toml").write_text("[tabel]\n")
    machine.resets().accept(erased=False)
    machine.resets().settle()
    assert read_settings(machine.etc / "table.toml").exhibit.mat == "screen"


def test_the_cards_own_first_settings_come_back(machine):
    machine.write(
        machine.root / "usr/local/share/moccasin-mat/first-table.toml",
        '[table]\njournal = "/var/lib/moccasin-mat/table.sqlite"\n[web]\nhost = "0.0.0.0"\njudges = true\n',
    )
    machine.write(machine.root / "boot/firmware/table.toml", SETTINGS)
    machine.resets().accept(erased=False)
    machine.resets().settle()
    assert read_settings(machine.etc / "table.toml").web.host == "0.0.0.0"
    assert len((machine.etc / "reset/set-aside").read_text().strip()) == 64


def killed_at(machine, number):
    """Accept and do a reset in a process that is killed before it changes the disk for the time `number`.

    Return whether it was.
    """
    child = os.fork()
    if child == 0:
        left = [number]

        def hook(event, args):
            changes = event in {"os.rename", "os.remove", "os.rmdir", "os.mkdir"} or (
                event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
            )
            if changes and str(machine.root) in str(args[0]):
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1

        sys.addaudithook(hook)
        try:
            resets = machine.resets()
            resets.accept(erased=number % 2 == 0)
            resets.settle()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.slow
def test_kill_at_each_step_resets_all_or_none(tmp_path):
    ended, number = [], 0
    while True:
        machine = Machine(tmp_path / str(number))
        before = machine.held()
        cut = killed_at(machine, number)
        accepted = (machine.etc / "reset/pending").exists()
        if cut and not accepted and not (machine.etc / "reset/last").exists():
            assert machine.held() == before
        again = machine.resets().settle()
        if (machine.etc / "reset/last").exists():
            label = re.match(r"reset (\d{8}) is done", (machine.etc / "reset/last").read_text("utf-8"))[1]
            is_reset(machine, before, label, erased=number % 2 == 0)
        else:
            assert machine.held() == before
        ended.append(bool(again))
        assert not list(machine.root.rglob("*.new"))
        assert not (machine.etc / "reset/pending").exists()
        assert machine.resets().settle() == ""
        if not cut:
            break
        number += 1
    assert number > 20, "so many steps there are"
    assert sum(ended) > 15


@pytest.mark.slow
def test_killed_twice(tmp_path):
    rng = random.Random(4)
    for turn in range(10):
        machine = Machine(tmp_path / str(turn))
        before = machine.held()
        label = machine.resets().accept(erased=False).number
        machine.resets().settle() if not killed_at_settling(machine, rng.randrange(2, 20)) else None
        killed_at_settling(machine, rng.randrange(0, 8))
        machine.resets().settle()
        is_reset(machine, before, label)


def killed_at_settling(machine, number):
    accept, Resets.accept = Resets.accept, lambda *_, **__: None
    try:
        return killed_at(machine, number)
    finally:
        Resets.accept = accept


def test_failed_reset_names_file_and_is_retried(machine, monkeypatch):
    machine.resets().accept(erased=False)
    real = Path.rename

    def full(path, to):
        if path.name == "judges.sqlite":
            raise OSError(28, "No space left on device")
        return real(path, to)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(ResetError, match=r"judges.sqlite: No space left on device"):
        machine.resets().settle()
    monkeypatch.setattr(Path, "rename", real)
    assert "is done" in machine.resets().settle()


def test_full_disk_refuses_the_reset(machine, monkeypatch):
    before = machine.held()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResetError, match=r"the reset cannot be saved: .*No space left"):
        machine.resets().accept(erased=False)
    monkeypatch.undo()
    assert machine.resets().settle() == ""
    assert machine.held() == before


def test_a_link_leads_nowhere_else(machine, tmp_path):
    shutil.rmtree(machine.state / "host")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("theirs")
    (machine.state / "host").symlink_to(tmp_path / "other")
    pending = machine.resets().accept(erased=False)
    (machine.state / f"before-reset-{pending.number}").symlink_to(tmp_path / "other")
    machine.resets().settle()
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["file"]


def test_the_verb_by_hand(machine, capsys, monkeypatch):
    words = ["reset", "--root", str(machine.root)]
    before = machine.held()
    assert main(words) == 2
    told = capsys.readouterr()
    assert "cannot ask for confirmation here" in told.err
    assert f"people: will be moved aside: {machine.state / 'judges.sqlite'}" in told.out
    assert f"stays: {machine.root / 'srv/voices'}: is not in a folder of moccasin-mat's own" in told.out
    assert "stays: calibration" in told.out
    assert machine.held() == before
    assert main([*words, "--yes"]) == 0
    is_reset(machine, before, re.search(r"reset (\d+) is done", capsys.readouterr().out)[1])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["reset", "--yes"]) == 2
    assert "needs root" in capsys.readouterr().err


def test_live_reset_restarts_machine_and_verb_restarts_service(machine, monkeypatch):
    ran, fault = [], [""]
    monkeypatch.setattr(service, "run", lambda command: ran.append(" ".join(command)) or fault[0])
    monkeypatch.setattr(service, "is_systemd_running", lambda: True)
    monkeypatch.setattr(service, "installed_kind", lambda: "system")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(type(machine.here), "live", True)
    monkeypatch.setattr("pi_controller.cli.installation.make_place", lambda **_: machine.here)
    request_reset(machine.request, erased=False)
    before = machine.held()
    assert main(["reset", "--requested"]) == 0
    assert ran == ["systemctl reboot"]
    assert machine.held() == before
    assert not (machine.etc / "reset/last").exists()
    fault[0] = "Access denied"
    assert main(["reset", "--requested"]) == 0
    assert "Access denied" in (machine.etc / "reset/last").read_text("utf-8"), "the staff page tells it"
    fault[0] = ""
    assert main(["reset", "--settle"]) == 0
    assert machine.held() != before
    ran.clear()
    assert main(["reset", "--yes", "--parts", "usage"]) == 0
    assert ran == ["systemctl stop moccasin-mat", "systemctl start moccasin-mat"]


def test_reset_unit_runs_first_with_few_rights(exposure, tmp_path, here):
    text = kiosk.reset_unit(here, [here.state, Path("/srv/games")])
    assert "ReadWritePaths=/etc/moccasin-mat /var/lib/moccasin-mat -/srv/games\n" in text
    assert "Before=moccasin-mat-card.service moccasin-mat.service" in text
    assert "ConditionPathExists=/etc/moccasin-mat/reset/pending\n" in text
    assert exposed(text, kiosk.RESET_UNIT.name, exposure, tmp_path, here) <= MAX_EXPOSURE


def exposed(text, name, exposure, folder, here):
    """Return the exposure of a unit of which systemd does not complain."""
    text = text.replace(f"ExecStart={here.program} ", "ExecStart=/bin/true ")
    assert service.verify_unit(text, name) == []
    path = folder / name
    path.write_text(text, "utf-8")
    return exposure(path)


def test_reset_request_unit_removes_the_request(exposure, tmp_path, here):
    text = kiosk.reset_request_unit(here)
    assert service.verify_unit(kiosk.RESET.path_text(), kiosk.RESET.path.name) == []
    assert exposed(text, kiosk.RESET.service.name, exposure, tmp_path, here) <= MAX_EXPOSURE
    request = RUN / RESET_REQUEST
    assert f"\nPathExists={request}\n" in kiosk.RESET.path_text()
    assert f"\nExecStart={here.program} reset --requested\n" in text
    assert f"\nExecStopPost=/bin/rm -f {request}\n" in text
    assert f"\nReadWritePaths=/etc/moccasin-mat -{RUN}\n" in text
    assert "PrivateDevices" not in text, "the first settings have lights if the Pi has SPI"
    assert kiosk.RESET.path.stem == kiosk.RESET.service.stem
    assert kiosk.RESET.path in kiosk.STARTED


def test_reset_request_needs_a_watching_unit(tmp_path, monkeypatch):
    monkeypatch.setattr(kiosk, "SYSTEM_UNITS", tmp_path)
    assert kiosk.reset_request_path(str(tmp_path)) is None
    kiosk.RESET.path.touch()
    assert kiosk.reset_request_path(str(tmp_path)) == tmp_path / RESET_REQUEST
    assert kiosk.reset_request_path("") is None
