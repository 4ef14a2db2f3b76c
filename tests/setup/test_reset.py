"""Resets: signed for one machine and one time, or by hand; with the process killed at each step on the disk."""

import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pi_controller.cli import main
from pi_controller.config import read_settings
from pi_controller.system import reset, service
from pi_controller.system.kiosk import RESET_MAX_EXPOSURE, RESET_UNIT, reset_unit
from pi_controller.system.place import DEFAULT_RESET_PARTS, RESET_PARTS, make_place
from pi_controller.system.reset import FILE, NAMESPACE, ResetError, Resets, machine_mark
from pi_controller.system.update import NAMESPACE as OF_UPDATES

needs_keys = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")
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
    ".exhibit-notice", ".exhibit-self-test", ".exhibit-texts/texts.toml", "host/texts.toml", "host/house.png",
    "judges.sqlite", "exhibit-usage.json",
    "exhibit-2026-11-03-191502-1a2b.sqlite", "exhibit-2026-11-03-191502-1a2b.sqlite.lock",
    "exhibit-2026-11-03-191502-1a2b.jsonl",
}  # fmt: skip
STAYS = {"table.sqlite", "recordings/one.rec", "exhibit-mine.txt", ".exhibit-recoveries"}


class Machine:
    """An installation that has been used, below a root of its own, with a host who has a key, and a stick."""

    def __init__(self, folder):
        self.root, self.stick, self.key = folder / "root", folder / "stick", folder / "key"
        self.here = make_place(system=True, root=self.root)
        self.state, self.etc = self.root / "var/lib/moccasin-mat", self.root / "etc/moccasin-mat"
        self.signers = self.etc / "update_signers"
        self.stick.mkdir(parents=True)
        self.write(self.root / "etc/machine-id", f"{'3' * 32}\n")
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

    def sign(self, text, key=None, namespace=NAMESPACE):
        key = key or self.key
        if not key.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        if not self.signers.exists():
            self.signers.write_text(f"host {self.key.with_suffix('.pub').read_text()}")
        path = self.stick / FILE
        path.write_text(text, "utf-8")
        path.with_name(f"{FILE}.sig").unlink(missing_ok=True)
        command = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace, path]
        subprocess.run(command, check=True, capture_output=True)

    def order(self, **other):
        """Return the order for this machine's next reset, by the staff page's example."""
        text = reset.example_order(machine_mark(self.root), self.resets().number)
        for name, value in other.items():
            text = "".join(line for line in text.splitlines(True) if not line.startswith(f"{name} ="))
            text += f"{name} = {value}\n"
        return text

    def held(self):
        """Return every file but those of resets, and what it holds."""
        return {
            str(path.relative_to(self.root)): path.read_text("utf-8")
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.parent != self.etc / "reset"
        }


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def refused(machine, says):
    before = machine.held()
    with pytest.raises(ResetError, match=says):
        machine.resets().order(machine.stick, machine.signers)
    assert machine.resets().settle() == ""
    assert machine.held() == before


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


@needs_keys
@pytest.mark.parametrize("erased", [False, True])
def test_a_signed_order_resets_this_machine_and_no_order_holds_twice(machine, erased):
    machine.write(machine.state / "before-reset-00000000/judges.sqlite", "older")
    machine.sign(machine.order(**({"old_files": '"erased"'} if erased else {})))
    before = machine.held()
    number = machine.resets().number
    pending = machine.resets().order(machine.stick, machine.signers)
    assert machine.held() == before, "what is accepted is done when the service does not run"
    assert pending.parts == DEFAULT_RESET_PARTS
    assert f"reset {number} is done" in machine.resets().settle()
    if erased:
        before = {name: held for name, held in before.items() if "before-reset" not in name}
    is_reset(machine, before, number, erased=erased)
    settings = read_settings(machine.etc / "table.toml")
    assert (settings.table.name, settings.exhibit.folder) == ("Table 1", "")
    assert (settings.board.profile, settings.exhibit.mat) == ("hall", "sensors"), "the mat is the one that was there"
    assert machine.resets().settle() == ""
    refused(machine, f"reset {number} is done: .* journals; old files")
    machine.resets().save_outcome("the self-test of the next day")
    refused(machine, "the next reset here is")


@needs_keys
def test_what_is_not_signed_for_this_is_refused(machine):
    refused(machine, "there is no order")
    (machine.stick / FILE).write_text(machine.order())
    refused(machine, "is not signed")
    machine.sign(machine.order())
    machine.sign(machine.order(), key=machine.key.with_name("visitor"))
    refused(machine, "is not signed by a key")
    machine.sign(machine.order(), namespace=OF_UPDATES)
    refused(machine, "is not signed by a key")
    machine.sign(machine.order())
    (machine.stick / FILE).write_text(machine.order(old_files='"erased"'))
    refused(machine, "is not signed by a key")
    machine.sign("x" * (reset.MAX_BYTES + 1))
    refused(machine, "too large")
    machine.sign(machine.order())
    machine.signers.unlink()
    refused(machine, "this machine accepts no signatures")


@needs_keys
def test_an_order_is_for_one_machine_and_says_what_it_wants(machine):
    for change, says in (
        ({"machine": '"0badcafe"'}, "for the machine 0badcafe, this one is"),
        ({"number": '"1"'}, "has the number 1, the next reset here is"),
        ({"old_files": '"burnt"'}, f"{FILE}:3: old_files"),
        ({"reset": '["settings", "everything"]'}, f"{FILE}:4: reset: must be a list of some of settings, texts"),
        ({"reset": "[]"}, "must be a list of some of"),
        ({"machin": '"x"'}, "machin"),
    ):
        machine.sign(machine.order(**change))
        refused(machine, says)
    machine.write(machine.root / "etc/machine-id", "uninitialized\n")
    machine.sign('machine = "x"\nnumber = "1"\nold_files = "aside"\n')
    refused(machine, "has no id")


def test_the_calibration_goes_only_where_it_is_asked_for(machine):
    before, number = machine.held(), machine.resets().number
    machine.resets().accept(RESET_PARTS, erased=False)
    machine.resets().settle()
    is_reset(machine, before, number, parts=RESET_PARTS)
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


def test_killed_at_each_step_it_is_all_old_or_all_reset_when_the_machine_starts(tmp_path):
    ended, number = [], 0
    while True:
        machine = Machine(tmp_path / str(number))
        before, label = machine.held(), machine.resets().number
        cut = killed_at(machine, number)
        accepted = (machine.etc / "reset/pending").exists()
        if cut and not accepted and not (machine.etc / "reset/last").exists():
            assert machine.held() == before
        again = machine.resets().settle()
        if (machine.etc / "reset/last").exists():
            is_reset(machine, before, label, erased=number % 2 == 0)
            assert machine.resets().number != label
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


def test_killed_twice(tmp_path):
    rng = random.Random(4)
    for turn in range(10):
        machine = Machine(tmp_path / str(turn))
        before, label = machine.held(), machine.resets().number
        machine.resets().accept(erased=False)
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


def test_what_cannot_be_taken_away_is_told_and_tried_again(machine, monkeypatch):
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


def test_on_a_full_disk_nothing_is_reset(machine, monkeypatch):
    before, number = machine.held(), machine.resets().number

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResetError, match=r"the reset cannot be saved: .*No space left"):
        machine.resets().accept(erased=False)
    monkeypatch.undo()
    assert machine.resets().settle() == ""
    assert (machine.held(), machine.resets().number) == (before, number)


def test_a_link_leads_nowhere_else(machine, tmp_path):
    shutil.rmtree(machine.state / "host")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("theirs")
    (machine.state / "host").symlink_to(tmp_path / "other")
    (machine.state / f"before-reset-{machine.resets().number}").symlink_to(tmp_path / "other")
    machine.resets().accept(erased=False)
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
    number = machine.resets().number
    assert main([*words, "--yes"]) == 0
    is_reset(machine, before, number)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["reset", "--yes"]) == 2
    assert "needs root" in capsys.readouterr().err


@needs_keys
def test_the_verb_takes_an_order_and_keeps_what_came_of_it(machine, capsys):
    words = ["reset", "--root", str(machine.root), "--signers", str(machine.signers)]
    assert main([*words, "--order", str(machine.stick)]) == 2
    assert "there is no order" in (machine.etc / "reset/last").read_text()
    machine.sign(machine.order())
    assert main([*words, "--order", str(machine.stick)]) == 0
    assert "is done" in capsys.readouterr().out
    assert main([*words, "--settle"]) == 0


@needs_keys
def test_on_the_machine_itself_an_order_restarts_it_and_by_hand_the_service_waits(machine, monkeypatch):
    ran = []
    monkeypatch.setattr(service, "run", lambda command: ran.append(" ".join(command)) or "")
    monkeypatch.setattr(service, "is_systemd_running", lambda: True)
    monkeypatch.setattr(service, "installed_kind", lambda: "system")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(type(machine.here), "live", True)
    monkeypatch.setattr("pi_controller.cli.reset.make_place", lambda **_: machine.here)
    machine.sign(machine.order())
    before = machine.held()
    assert main(["reset", "--order", str(machine.stick), "--signers", str(machine.signers)]) == 0
    assert ran == ["systemctl reboot"]
    assert machine.held() == before
    assert main(["reset", "--settle"]) == 0
    ran.clear()
    assert main(["reset", "--yes", "--parts", "usage"]) == 0
    assert ran == ["systemctl stop moccasin-mat", "systemctl start moccasin-mat"]


def test_the_unit_waits_for_nothing_else_and_may_do_little(exposure, tmp_path, here):
    text = reset_unit(here, [here.state, Path("/srv/games")])
    assert "ReadWritePaths=/etc/moccasin-mat /var/lib/moccasin-mat -/srv/games\n" in text
    assert "Before=moccasin-mat-card.service moccasin-mat.service" in text
    text = text.replace(f"ExecStart={here.program} ", "ExecStart=/bin/true ")
    assert service.verify_unit(text, RESET_UNIT.name) == []
    path = tmp_path / RESET_UNIT.name
    path.write_text(text, "utf-8")
    assert exposure(path) <= RESET_MAX_EXPOSURE
