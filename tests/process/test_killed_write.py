"""A file that is replaced is there whole, old or new, with the permissions asked for; nothing is left beside it."""

import os
import subprocess

from pi_controller.system.files import atomic_write


def test_leftovers_of_dead_writers_are_removed(tmp_path):
    path = tmp_path / "table.toml"
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    (tmp_path / f".table.toml.{ended.pid}.new").write_bytes(b"half")
    (tmp_path / f".table.toml.{os.getppid()}.new").write_bytes(b"being written")
    atomic_write(path, b"new")
    assert {one.name for one in tmp_path.iterdir()} == {"table.toml", f".table.toml.{os.getppid()}.new"}
