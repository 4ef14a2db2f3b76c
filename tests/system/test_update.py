"""Updates from a stick: signed, newer, tried once, rolled back; with the process killed in between."""

import errno
import itertools
import os
import shutil
import signal
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest
from cases import cases

from pi_controller.card import update
from pi_controller.card.update import NAMESPACE, Programs, UpdateError
from pi_controller.cli import main
from pi_controller.host import notify

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")


class Host:
    """A host with a key, a stick, and a machine that takes its updates; the machine's own version is 1.0."""

    def __init__(self, folder):
        self.folder, self.stick, self.signers = folder, folder / "stick", folder / "update_signers"
        self.programs = Programs(folder / "program", "1.0")
        for one in (self.stick, self.programs.folder):
            one.mkdir()
        self.key = self.make_key("key")
        self.signers.write_text(f"host {self.key.with_suffix('.pub').read_text()}")
        self.starts = []

    def make_key(self, name):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        return self.folder / name

    def wheel(self, version, *, extra=None, needs=(), size=2_000, package="moccasin-mat"):
        path = self.stick / f"moccasin_mat-{version}-py3-none-any.whl"
        lines = ["Metadata-Version: 2.4", f"Name: {package}", f"Version: {version}", "Requires-Python: >=3.11"]
        lines.append("Provides-Extra: voice")
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("pi_controller/__init__.py", f"__version__ = {version!r}\n")
            for number in range(50):
                file.writestr(f"pi_controller/part{number}.py", f"# {version}\n" * size)
            for name, content in (extra or {}).items():
                file.writestr(name, content)
            head = "\n".join([*lines, *(f"Requires-Dist: {one}" for one in needs)])
            file.writestr(f"moccasin_mat-{version}.dist-info/METADATA", f"{head}\n\n")
        return path

    def sign(self, path, key=None, namespace=NAMESPACE):
        path.with_name(f"{path.name}.sig").unlink(missing_ok=True)
        command = ["ssh-keygen", "-q", "-Y", "sign", "-f", key or self.key, "-n", namespace, path]
        subprocess.run(command, check=True, capture_output=True)
        return path

    def take(self, source=None, wrong=()):
        """Take it; `wrong` are the versions that do not come up."""

        def start():
            self.starts.append(self.runs())
            return "it ended at once" if self.runs() in wrong else ""

        return self.programs.take(source or self.stick, self.signers, start)

    def runs(self):
        """Return the version that would run, as Python finds it."""
        code = "import sys; sys.path.insert(0, sys.argv[1])\ntry:\n import pi_controller as program"
        code += "\n print(program.__version__)\nexcept ImportError:\n print('1.0')"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, self.programs.folder / "current"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def left_over(self):
        return sorted(path.name for path in self.programs.folder.iterdir()) + sorted(
            path.name for path in (self.programs.folder / "versions").glob("*")
        )


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_newest_signed_version_is_installed_each_time(host):
    host.sign(host.wheel("1.1"))
    assert host.take() == "version 1.1 runs"
    assert host.runs() == "1.1"
    host.sign(host.wheel("1.10"))
    host.wheel("9.0")
    assert host.take() == "version 1.10 runs", "the newest that is signed"
    assert host.starts == ["1.1", "1.10"]
    assert host.left_over() == ["current", "versions", "1.10"]
    assert host.programs.settle() == ""
    assert host.runs() == "1.10"


def refused(host, says, source=None):
    with pytest.raises(UpdateError, match=says):
        host.take(source)
    assert host.starts == []
    assert host.runs() == "1.0"
    assert host.left_over() in ([], ["versions"])


def test_update_without_host_signature_is_refused(host):
    refused(host, "there is no update")
    refused(host, "there is no file", host.stick / "none.whl")
    path = host.wheel("1.1")
    refused(host, "not signed", path)
    host.sign(path, host.make_key("other"))
    refused(host, "is not signed by a key")
    host.sign(path, namespace="git")
    refused(host, "is not signed by a key")
    host.sign(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    refused(host, "is not signed by a key")
    path.write_bytes(content.replace(b"1.1", b"1.2"))
    refused(host, "is not signed by a key")
    path.write_bytes(content)
    path.with_name(f"{path.name}.sig").write_text("nonsense")
    refused(host, "is not signed by a key")
    host.sign(path)
    host.signers.unlink()
    refused(host, "this machine accepts no signatures")


def test_incompatible_signed_update_is_refused(host):
    host.sign(host.wheel("0.9"))
    refused(host, "not newer than 1.0")
    for extra, needs, says in (
        ({"../../etc/cron.d/x": "x"}, (), "do not belong to"),
        ({"other/__init__.py": "x"}, (), "do not belong to"),
        ({}, ("no-such-package-at-all>=1",), "needs packages that are not installed"),
        ({}, ("numpy>=900",), "numpy>=900"),
        ({}, ("numpy>=900; extra == 'voice'",), "numpy>=900"),
    ):
        host.sign(host.wheel("1.1", extra=extra, needs=needs))
        refused(host, says)
    path = host.stick / "moccasin_mat-1.1-py3-none-any.whl"
    path.write_text("no wheel")
    host.sign(path)
    refused(host, "not a wheel")
    shutil.rmtree(host.programs.folder)
    with pytest.raises(UpdateError, match="does not accept updates"):
        host.take()


def test_requirements_of_missing_extras_are_ignored(host):
    needs = ("no-such-package-at-all>=1; extra == 'voice'", "moccasin-mat[pi]; extra == 'voice'")
    host.sign(host.wheel("1.1", needs=needs))
    assert host.take() == "version 1.1 runs"


def test_strange_files_beside_a_signed_update_are_skipped(host):
    host.sign(host.wheel("1.1"))
    for version in ("9.1", "nonsense", "9.2", "9.3"):
        (host.stick / f"moccasin_mat-{version}-py3-none-any.whl.sig").write_text("nonsense")
    os.mkfifo(host.stick / "moccasin_mat-9.1-py3-none-any.whl")
    os.mkfifo(host.stick / "moccasin_mat-8.0-py3-none-any.whl.sig")
    (host.stick / "moccasin_mat-8.0-py3-none-any.whl").write_text("unsigned")
    (host.stick / "moccasin_mat-nonsense-py3-none-any.whl").write_text("nonsense")
    (host.stick / "moccasin_mat-9.2-py3-none-any.whl").mkdir()
    host.wheel("9.3")
    host.sign(host.wheel("9.4"), host.make_key("visitor"))
    assert host.take() == "version 1.1 runs"


def test_failed_update_tries_no_other_version(host):
    host.sign(host.wheel("1.1"))
    host.sign(host.wheel("1.2"))
    with pytest.raises(UpdateError, match=r"1\.2 did not start"):
        host.take(wrong=("1.2",))
    assert host.starts == ["1.2", "1.0"]


def test_an_update_that_is_too_large_is_refused(host, monkeypatch):
    path = host.sign(host.wheel("1.1"))
    monkeypatch.setattr(update, "MAX_WHEEL_BYTES", path.stat().st_size - 1)
    refused(host, "is too large", path)


def test_wheel_of_another_package_is_refused(host):
    host.sign(host.wheel("1.1", package="other"))
    refused(host, "the package 'other'")
    host.sign(host.wheel("1.1", package="Moccasin.Mat"))
    assert host.take() == "version 1.1 runs"


def test_an_older_version_is_refused_after_an_update(host):
    host.sign(host.wheel("1.5"))
    host.take()
    for path in host.stick.iterdir():
        path.unlink()
    host.sign(host.wheel("1.4"))
    with pytest.raises(UpdateError, match=r"not newer than 1\.5"):
        host.take()
    assert host.runs() == "1.5"


def test_failed_update_rolls_back_without_retry(host):
    host.sign(host.wheel("1.1"))
    host.take()
    host.sign(host.wheel("1.2"))
    with pytest.raises(UpdateError, match=r"1\.2 did not start .*: 1\.1 runs again"):
        host.take(wrong=("1.2",))
    assert host.starts == ["1.1", "1.2", "1.1"]
    assert host.runs() == "1.1"
    with pytest.raises(UpdateError, match="was tried before"):
        host.take()
    assert len(host.starts) == 3
    host.sign(host.wheel("1.2", extra={"pi_controller/mended.py": ""}))
    assert host.take() == "version 1.2 runs"


def test_stick_removed_during_copy_is_refused(host, monkeypatch):
    host.sign(host.wheel("1.1"))
    real = Path.open

    def pulled(path, *args, **kwargs):
        file = real(path, *args, **kwargs)
        if path.parent == host.stick and path.suffix == ".whl":
            file.close()
            raise OSError(errno.EIO, "Input/output error")
        return file

    monkeypatch.setattr(Path, "open", pulled)
    refused(host, "Input/output error")


def test_the_machines_own_newer_version_takes_over(host):
    host.sign(host.wheel("1.1"))
    host.take()
    newer = Programs(host.programs.folder, "1.2")
    assert "is removed" in newer.settle()
    assert host.runs() == "1.0", "nothing is linked: the machine's own runs"
    assert host.left_over() == ["versions"]


def killed(host, number):
    """Take the update in a process that is killed before it changes the disk for the time `number`, or in its trial.

    Return whether the trial had begun.
    """

    def die(at_trial=False):
        os.write(trial, b"t" * at_trial)
        os.kill(os.getpid(), signal.SIGKILL)

    def count(event, args):
        changes = event in CHANGES or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR))
        if changes and any(str(host.programs.folder) in str(arg) for arg in args):
            next(left, None) is None and die()

    left = iter(range(number))
    ended, trial = os.pipe()
    with warnings.catch_warnings(action="ignore"):  # from Python 3.12 on: a worker of pytest's has threads
        child = os.fork()
    if child == 0:
        sys.addaudithook(count)
        host.programs.take(host.stick, host.signers, lambda: die(at_trial=True))
        os._exit(1)
    os.close(trial)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    with os.fdopen(ended, "rb") as told:
        return told.read() == b"t"


CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink"}


def test_kill_during_trial_rolls_back_at_start(host):
    host.sign(host.wheel("1.1"))
    assert killed(host, 10_000)
    assert host.runs() == "1.1", "until the machine starts"
    assert "interrupted" in host.programs.settle()
    assert host.runs() == "1.0"
    with pytest.raises(UpdateError, match="was tried before"):
        host.take()


def test_killed_at_any_change_one_whole_version_runs(host):
    host.sign(host.wheel("1.1"))
    ended, begun = set(), False
    for number in itertools.count(0, cases(8, 1)):
        begun = killed(host, number)
        ended.add(tuple(host.left_over()))
        host.programs.settle()
        assert host.runs() == "1.0"
        assert set(host.left_over()) <= {"failed", "versions"}
        (host.programs.folder / "failed").unlink(missing_ok=True)
        if begun:
            break
    assert number > 50, "each of its files is a change"
    assert len(ended) > 1
    assert host.take() == "version 1.1 runs"


def test_the_verb(host, capsys, monkeypatch):
    monkeypatch.setattr("pi_controller.card.service.run", lambda command: "")
    words = ["--folder", str(host.programs.folder), "--signers", str(host.signers)]
    assert main(["service", "update", str(host.stick), *words]) == 2
    assert "there is no update" in capsys.readouterr().err
    assert "there is no update" in notify.last_line(host.programs.folder)
    host.sign(host.wheel("900.1"))
    assert main(["service", "update", str(host.stick), *words]) == 0
    assert notify.last_line(host.programs.folder) == "version 900.1 runs"
    assert main(["service", "update", "--settle", *words]) == 0
    assert main(["service", "update", *words]) == 2
