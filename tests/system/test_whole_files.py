"""A file that is replaced is there whole, old or new, with the permissions asked for; nothing is left beside it."""

import os
import stat

import pytest

from pi_controller.host.files import atomic_write


@pytest.mark.parametrize("mode", [0o600, 0o640, None])
def test_a_file_is_replaced_whole_with_its_permissions(tmp_path, mode):
    path = tmp_path / "table.toml"
    path.write_bytes(b"old")
    path.chmod(0o777)
    before = os.umask(0o022)
    try:
        atomic_write(path, b"new", mode)
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == (0o644 if mode is None else mode)
    assert [one.name for one in tmp_path.iterdir()] == ["table.toml"]


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_failed_write_preserves_the_old_file(tmp_path, monkeypatch, fails):
    path = tmp_path / "table.toml"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace" if fails == "replace" else "os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["table.toml"]


MAX_PID = 1 << 22
"""Linux gives no process a greater number."""


def test_leftovers_of_dead_writers_are_removed(tmp_path):
    path = tmp_path / "table.toml"
    (tmp_path / f".table.toml.{MAX_PID + 1}.new").write_bytes(b"half")
    (tmp_path / f".table.toml.{os.getppid()}.new").write_bytes(b"being written")
    atomic_write(path, b"new")
    assert {one.name for one in tmp_path.iterdir()} == {"table.toml", f".table.toml.{os.getppid()}.new"}
