"""The files that a running table leaves are its user's alone."""

import os
import signal
import stat
import subprocess
import sys
import time

RUN = """
import os, sys
from pi_controller.cli.tables import run
os.umask(0o022)
run(["--settings", sys.argv[1]])
assert os.umask(0) == 0o022
"""


def test_table_files_have_mode_0600(tmp_path):
    settings, stick = tmp_path / "table.toml", tmp_path / "stick"
    settings.write_text(
        f'[table]\njournal = "{tmp_path}/game.sqlite"\n[board]\nport = "none"\n[web]\nenabled = false\n'
        f'[backup]\nfolder = "{stick}"\n',
        "utf-8",
    )
    stick.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "NOTIFY_SOCKET"}
    command = [sys.executable, "-c", RUN, settings]
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) as table:
        while not any(stick.glob("*.sqlite")):
            assert table.poll() is None
            time.sleep(0.05)
        table.send_signal(signal.SIGTERM)
        assert table.wait(60) == 0
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.rglob("*") if one.is_file()}
    modes.pop("table.toml")
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}, modes
