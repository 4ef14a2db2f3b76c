"""An image of a Raspberry Pi to set up, and boards on pseudo-terminals to flash."""

import re
import shutil
import subprocess

import pytest
from needed import need

from pi_controller.host.place import make_place

CONFIG = "# For more options see the manual\ndtparam=audio=on\n\n[pi4]\narm_boost=1\n"


@pytest.fixture
def pi(tmp_path):
    """Return a maker of images."""

    def make(model="Raspberry Pi 4 Model B Rev 1.4", config=CONFIG):
        root = tmp_path / "image"
        (root / "proc/device-tree").mkdir(parents=True)
        (root / "proc/device-tree/model").write_bytes(model.encode() + b"\0")
        if config is not None:
            (root / "boot/firmware").mkdir(parents=True)
            (root / "boot/firmware/config.txt").write_bytes(config.encode())
        return root

    return make


@pytest.fixture
def here():
    """Return this machine as a place for a service."""
    return make_place()


@pytest.fixture
def snapshot():
    """Return a function that tells everything below a folder: files with what they hold, links, folders."""

    def look(root):
        told = {}
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            told[name] = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        return told

    return look


@pytest.fixture
def analyze():
    """Return what runs systemd-analyze."""
    need(shutil.which("systemd-analyze"), "there is no systemd-analyze on the path (apt install systemd)")

    def run(*words):
        return subprocess.run(
            ["systemd-analyze", "--no-pager", *words], capture_output=True, text=True, check=False, timeout=600
        )

    return run


@pytest.fixture
def exposure(analyze):
    """Return what tells how exposed a unit is, 0 (not at all) to 10."""

    def measure(path):
        done = analyze("security", "--offline=true", str(path))
        return float(re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)[1])

    return measure
