"""The warning log: bounded, private, and whole after the process is killed at any step."""

import json
import os
import resource
import signal

import pytest

from pi_controller.host import warning_log
from pi_controller.host.status import StartFault
from pi_controller.host.warning_log import FAULT_WRITE_S, FILE, MAX_BYTES, WRITE_S, read_entries, update

T = 1_764_000_000.0
FAULT = StartFault("journal", "the journal is damaged", "put in the spare card", "2025-11-24 16:00")


def entry(message, unit="moccasin-mat.service", cursor="c", **more):
    fields = {"__CURSOR": cursor, "__REALTIME_TIMESTAMP": str(int(T * 1e6)), "_SYSTEMD_UNIT": unit, "MESSAGE": message}
    return json.dumps(fields | more).encode()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "run").mkdir()
    return tmp_path


def log(folder, output=(), fault=None, t=T):
    """Update the log at `t`; return whether it was written."""
    path = folder / "state" / FILE
    written = update(path, folder / "run", output, fault, t)
    if written:
        os.utime(path, (t, t))
    return written


def text(folder):
    return (folder / "state" / FILE).read_text("utf-8")


def test_log_takes_program_systemd_and_kernel_entries():
    lines, cursor = read_entries([
        entry("the supply is weak"),
        entry("root login from 10.0.0.5", unit="ssh.service"),
        entry("SSID=Our Wi-Fi wrong password", unit="wpa_supplicant@wlan0.service"),
        entry("moccasin-mat.service: Failed with result 'watchdog'.", unit="init.scope", _PID="1"),
        entry("mmc0: timeout", unit="", _TRANSPORT="kernel", cursor="last"),
        b"no JSON",
    ])  # fmt: skip
    assert [line.split(" ", 2)[2] for line in lines] == [
        "moccasin-mat: the supply is weak",
        "systemd: moccasin-mat.service: Failed with result 'watchdog'.",
        "kernel: mmc0: timeout",
    ]
    assert cursor == "last"


def test_people_and_addresses_are_left_out():
    lines, _ = read_entries([
        entry("sign-in refused for Ann from 192.168.1.7: wrong PIN"),
        entry("GET /judge from 192.168.1.7 refused: 403 role"),
        entry("GET / from fe80::1:2:3:4 refused at 12:30:11"),
    ])  # fmt: skip
    kept = "\n".join(lines)
    assert "Ann" not in kept
    assert "192.168" not in kept
    assert "fe80" not in kept
    assert "12:30:11" in kept


def test_equal_messages_become_one_line():
    lines, _ = read_entries([entry("again")] * 37 + [entry("other")])
    assert len(lines) == 2
    assert lines[0].endswith("again (37 times)")


def test_control_characters_and_bytes_make_no_lines():
    lines, _ = read_entries([entry("a\nb\x1b[2J\u202ec"), entry([1, 2, 3])])
    assert len(lines) == 1
    assert lines[0].isprintable()


def test_writes_are_rare_and_new_fault_is_early(folder):
    assert log(folder, [entry("one")])
    assert not log(folder, [], t=T + WRITE_S + 1), "there is no more to write"
    assert not log(folder, [entry("two")], t=T + WRITE_S - 1)
    assert not log(folder, [entry("two")], FAULT, t=T + FAULT_WRITE_S - 1)
    assert log(folder, [entry("two")], FAULT, t=T + FAULT_WRITE_S)
    assert not log(folder, [entry("three")], FAULT, t=T + 2 * FAULT_WRITE_S), "it is the same fault"
    assert "fault since 2025-11-24 16:00 journal: the journal is damaged" in text(folder)
    assert log(folder, [entry("three")], t=T - 1e6), "the clock was set back"


def test_crash_loop_hour_makes_few_writes(folder):
    loop = range(0, 3600, 3)
    writes = sum(log(folder, [entry(f"crash {s}")], FAULT if s % 2 else None, T + s) for s in loop)
    assert writes <= 3600 / FAULT_WRITE_S + 1


def test_log_is_capped_and_begins_on_a_line(folder):
    for day in range(30):
        output = [entry(f"{day} {number} {'x' * 280}") for number in range(100)]
        assert log(folder, output, t=T + day * 86_400)
    assert MAX_BYTES - 400 < len(text(folder)) <= MAX_BYTES
    assert text(folder).startswith("2025-")
    assert "29 99 " in text(folder)


def test_each_start_is_marked_and_continues_the_log(folder):
    log(folder, [entry("before", cursor="one")])
    assert warning_log.read_position(folder / "run").cursor == "one"
    (folder / "run" / warning_log.POSITION).unlink()
    log(folder, [entry("after", cursor="two")], t=T + 1000)
    assert [line.startswith("---") for line in text(folder).splitlines()] == [True, False, True, False]


def killed_at(folder, number):
    """Update the log in a process that is killed before its change of the disk `number`; return whether it was."""
    child = os.fork()
    if child == 0:
        left = [number]

        def hook(event, args):
            writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
            if (writes or event in {"os.rename", "os.remove"}) and str(folder) in str(args[0]):
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1

        import sys

        sys.addaudithook(hook)
        try:
            log(folder, [entry("new", cursor="two")], FAULT, T + 1000)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_kill_at_any_step_leaves_one_whole_log(tmp_path):
    number, seen = 0, set()
    while True:
        folder = tmp_path / str(number)
        for name in ("state", "run"):
            (folder / name).mkdir(parents=True)
        log(folder, [entry("old", cursor="one")])
        before = text(folder)
        cut = killed_at(folder, number)
        assert text(folder).startswith(before)
        assert text(folder).count("new") in {0, 1}
        seen.add(text(folder).count("new"))
        log(folder, [entry("new", cursor="two")], FAULT, T + 5000)
        assert "moccasin-mat: new" in text(folder)
        assert "fault since" in text(folder)
        assert not list((folder / "state").glob("*.new"))
        if not cut:
            break
        number += 1
    assert number >= 4
    assert seen == {0, 1}


@pytest.mark.parametrize("written", [0, 1, 60, 150])
def test_kill_during_write_leaves_the_old_log(folder, written):
    log(folder, [entry("old " + "x" * 150, cursor="one")])
    before = text(folder)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
        try:
            log(folder, [entry("new", cursor="two")], FAULT, T + 1000)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGXFSZ
    assert text(folder) == before


def test_the_program_writes_into_its_folders(folder, monkeypatch, tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    journalctl = tools / "journalctl"
    journalctl.write_text(f"#!/bin/sh\ncat <<'END'\n{entry('the supply is weak').decode()}\nEND\n", "utf-8")
    journalctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("STATE_DIRECTORY", str(folder / "state"))
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(folder / "run"))
    assert warning_log.main() == 0
    assert "the supply is weak" in text(folder)
    (folder / "state" / FILE).unlink()
    (folder / "state").rmdir()
    assert warning_log.main() == 1
