"""The fault channel: why a service does not run, in a file that the machine's own screen reads."""

import errno
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pi_controller.cli import main
from pi_controller.errors import JournalError
from pi_controller.host.notify import from_environment
from pi_controller.host.status import (
    FILE,
    SCREEN_IS_OFF,
    SCREEN_ON,
    SCREEN_RESTART,
    FaultChannel,
    card_id,
    describe,
    own_channel,
    report_start_faults,
)

FAULT = ("journal", "the journal is damaged", "put in the spare card")
T = 1_764_000_000.0


@pytest.fixture
def channel(tmp_path):
    return FaultChannel(tmp_path)


def test_a_fault_is_read_as_written_and_cleared(channel, tmp_path):
    assert channel.read() is None
    channel.write(*FAULT, T)
    fault = channel.read()
    assert (fault.code, fault.message, fault.hint) == FAULT
    assert fault.since.startswith("2025-11-24")
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o644, "the browser's user reads it"
    channel.clear()
    assert channel.read() is None


def test_a_repeated_fault_keeps_its_time_and_file(channel, tmp_path):
    channel.write(*FAULT, T)
    before = (tmp_path / FILE).stat().st_ino
    channel.write(*FAULT, T + 3600)
    assert (tmp_path / FILE).stat().st_ino == before
    channel.write("disk_full", "the disk is full", "", T + 3600)
    assert channel.read().code == "disk_full"


def test_a_script_in_the_message_stays_text(channel, tmp_path):
    channel.write("x", 'a"); alert("b\u2028</script>', "", T)
    text = (tmp_path / FILE).read_text("utf-8")
    assert json.loads(text.removeprefix("showFault(").removesuffix(");\n"))["message"].startswith('a"); alert')


def test_unwritable_or_damaged_channel_raises_no_error(tmp_path):
    gone = FaultChannel(tmp_path / "none")
    gone.write(*FAULT, T)
    gone.clear()
    gone.restart_screen()
    assert gone.read() is None
    (tmp_path / FILE).write_bytes(b"showFault({]")
    assert FaultChannel(tmp_path).read() is None
    none = own_channel({})
    none.write(*FAULT, T)
    assert none.read() is None


def test_start_error_is_written_and_reraised(channel):
    with pytest.raises(JournalError), report_start_faults(channel):
        raise JournalError(*FAULT[1:])
    fault = channel.read()
    assert (fault.code, fault.message, fault.hint) == FAULT


def test_screen_restarts_once_after_ready(channel, tmp_path):
    def fails():
        with pytest.raises(JournalError), report_start_faults(channel):
            raise JournalError(*FAULT[1:])

    asked = tmp_path / SCREEN_RESTART
    fails()
    assert not asked.exists(), "the page on the disk is on the screen already"
    channel.clear()
    fails()
    assert asked.exists()
    asked.unlink()
    fails()
    assert not asked.exists()


@pytest.mark.parametrize("off", [True, False])
def test_fault_starts_a_screen_that_was_switched_off(channel, tmp_path, off):
    if off:
        (tmp_path / SCREEN_IS_OFF).touch()
    for first in (True, False):
        with pytest.raises(JournalError), report_start_faults(channel):
            raise JournalError(*FAULT[1:])
        assert (tmp_path / SCREEN_ON).exists() == (off and first)
        (tmp_path / SCREEN_ON).unlink(missing_ok=True)


def test_ready_clears_the_fault(channel, tmp_path):
    import socket

    channel.write(*FAULT, T)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "RUNTIME_DIRECTORY": str(tmp_path)}
        with closing(from_environment(told)) as service:
            assert channel.read() is not None
            service.ready()
            assert channel.read() is None


@pytest.mark.parametrize("verb", ["run", "exhibit"])
def test_wrong_settings_show_their_place_and_no_value(verb, channel, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    (tmp_path / "table.toml").write_text('[hub]\npassword = 12345678\n[web]\nport = "s3cret"\n', "utf-8")
    assert main([verb, "--settings", str(tmp_path / "table.toml")]) == 2
    capsys.readouterr()
    fault = channel.read()
    assert fault.code == "settings"
    assert "table.toml:4: [web] port" in fault.message
    assert "s3cret" not in fault.message
    assert "12345678" not in fault.message
    assert fault.hint.startswith("Correct table.toml")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "x"), "disk_full"),
        (OSError(errno.EROFS, "x"), "read_only"),
        (OSError(errno.EIO, "x"), "disk_error"),
        (sqlite3.OperationalError("database or disk is full"), "disk_full"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "read_only"),
        (ValueError("the bead is under pad 2"), "program"),
    ],
)
def test_other_errors_get_plain_words(error, code):
    found = describe(error)
    assert found[0] == code
    assert all(found)
    assert "pad 2" not in " ".join(found)


def test_card_id_comes_from_the_root_disk(tmp_path):
    (tmp_path / "1fc4a000-01").symlink_to("/dev/zero")
    (tmp_path / "3f9a21c0-02").symlink_to("/dev/null")
    assert card_id(Path("/dev/null").stat().st_rdev, tmp_path) == "3f9a21c0"
    assert card_id(1, tmp_path) == ""
    assert card_id(1, tmp_path / "none") == ""
