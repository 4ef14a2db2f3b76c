"""What systemd hears of a table and of an exhibit from start to end."""

import json
import os
import signal
import subprocess
import sys

import pytest
from service_manager import CONFINED, _manager  # noqa: F401 - a fixture

SETTINGS = """
[table]
name = "Hall"
journal = "{folder}/j.sqlite"
[teams]
a = "Upper"
[board]
port = "none"
[web]
port = 0
"""


def test_daemon_notifies_systemd_from_start_to_stop(manager, tmp_path):
    settings = tmp_path / "table.toml"
    settings.write_text(SETTINGS.format(folder=tmp_path), "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", CONFINED, "-m", "pi_controller", "run", "--settings", str(settings)],
        env=os.environ | {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000", "PYTHONFAULTHANDLER": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said = [manager.heard(60) for _ in range(5)]
        assert said == ["READY=1", "WATCHDOG=1", "STATUS=a table without a board", "WATCHDOG=1", "WATCHDOG=1"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert manager.all()[-1] == "STOPPING=1"
    finally:
        process.kill()
        process.communicate()
    assert (tmp_path / "j.sqlite").stat().st_mode & 0o777 == 0o640


@pytest.mark.slow
def test_exhibit_feeds_watchdog_and_stop_counts_no_crash(manager, tmp_path):
    settings, kept = tmp_path / "table.toml", tmp_path / ".exhibit-recoveries"
    settings.write_text(f'[web]\nport = 0\n[table]\njournal = "{tmp_path}/j.sqlite"\n', "utf-8")
    command = [sys.executable, "-m", "pi_controller", "exhibit", "--settings", str(settings)]
    environment = os.environ | {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"}
    counts = []
    for ends in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
            try:
                assert [manager.heard(60), manager.heard(60), manager.heard(60)] == ["READY=1", *["WATCHDOG=1"] * 2]
                counts.append(json.loads(kept.read_text())["count"])
                process.send_signal(ends)
                assert process.wait(60) == (-ends if ends == signal.SIGKILL else 0)
            finally:
                process.kill()
        assert ("STOPPING=1" in manager.all()) == (ends != signal.SIGKILL)
    assert counts == [0, 1, 0]
    assert json.loads(kept.read_text())["running"] is False
