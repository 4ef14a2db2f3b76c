"""What root makes belongs to the owner of its folder, and whoever may not write a file is told whose it is."""

import fcntl
import os
import pwd
import stat
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pi_controller.errors import JournalError
from pi_controller.host.files import create_private_file, explain_refusal
from pi_controller.journal.journal import Journal
from pi_controller.recording.hits import open_hits
from pi_controller.tools import machine_checks
from pi_controller.web.users import Users

NOBODY = pwd.getpwnam("nobody")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def folder():
    """A folder of the service's own, as systemd makes it."""
    with TemporaryDirectory() as place:
        if os.geteuid() == 0:
            os.chown(place, NOBODY.pw_uid, NOBODY.pw_gid)
        yield Path(place)


def seq_of(path):
    with Journal(path) as journal:
        return journal.seq


@needs_root
def test_files_created_by_root_belong_to_service(folder, as_nobody):
    before = os.umask(0o077)
    Journal(folder / "table.sqlite").close()
    os.umask(before)
    Users(folder / "judges.sqlite").close()
    open_hits(folder / "hits.sqlite").close()
    assert {path.stat().st_uid for path in folder.iterdir()} == {NOBODY.pw_uid}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert as_nobody(lambda: seq_of(folder / "table.sqlite")) == 0


@needs_root
def test_next_root_start_chowns_old_files(folder, as_nobody):
    Journal(folder / "table.sqlite").close()
    for path in folder.iterdir():
        os.chown(path, 0, 0)
    Journal(folder / "table.sqlite").close()
    assert as_nobody(lambda: seq_of(folder / "table.sqlite")) == 0


@needs_root
@pytest.mark.parametrize("name", ["table.sqlite", "table.sqlite.lock"])
def test_unwritable_journal_file_names_its_owner(folder, as_nobody, name):
    Journal(folder / "table.sqlite").close()
    os.chown(folder / name, 0, 0)
    with pytest.raises(JournalError) as caught:
        as_nobody(lambda: seq_of(folder / "table.sqlite"))
    assert f"{name} belongs to root and this is nobody" in caught.value.hint
    assert f"sudo chown nobody {folder / name}" in caught.value.hint
    (line,) = as_nobody(
        lambda: [line for line in machine_checks.disk(folder / "table.sqlite") if line.outcome == "fail"]
    )
    assert f"{name} belongs to root" in line.hint


@pytest.mark.parametrize("path", [Path("/table.sqlite"), Path("/usr/share/table.sqlite"), Path("/etc/passwd")])
def test_system_folder_refusal_names_the_setting(as_nobody, path):
    hint = as_nobody(lambda: explain_refusal([path], "[table] journal"))
    assert "[table] journal" in hint
    assert "chown" not in hint


@needs_root
def test_folder_of_another_user_names_that_user(folder, as_nobody):
    os.chown(folder, pwd.getpwnam("daemon").pw_uid, -1)  # and nobody may not enter it
    hint = as_nobody(lambda: explain_refusal([folder / "table.sqlite"]))
    assert "run it as daemon" in hint
    assert "chown" not in hint


def test_created_private_file_has_mode_0600(tmp_path):
    create_private_file(tmp_path / "file")
    assert explain_refusal([tmp_path / "file", tmp_path / "none", Path("/nowhere/at/all")]) == ""
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_it_takes_the_rights_of_another(tmp_path):
    (tmp_path / "like").touch(0o640)
    (tmp_path / "like").chmod(0o640)
    create_private_file(tmp_path / "file", tmp_path / "like")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_doctor_opens_the_journal_itself(tmp_path):
    path = tmp_path / "table.sqlite"

    def line():
        return next(line for line in machine_checks.disk(path) if line.name == "journal")

    assert (line().outcome, line().message) == ("pass", "none yet: the first start creates it")
    Journal(path).close()
    assert (line().outcome, line().message) == ("pass", "0 records")
    path.write_bytes(b"something else altogether, and long enough to be looked at" * 40)
    assert line().outcome == "fail"
    with pytest.raises(JournalError):
        Journal(path)


def test_creating_an_existing_file_preserves_its_lock(tmp_path):
    path = tmp_path / "kept"
    look = f"import fcntl; fcntl.lockf(open({str(path)!r}, 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    with path.open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        create_private_file(path)
        other = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False)
    assert "BlockingIOError" in other.stderr
