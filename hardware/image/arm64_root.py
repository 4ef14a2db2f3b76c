"""Runs programs of an arm64 Debian in a folder, by qemu where needed, with this machine's way to the net."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from contextlib import ExitStack

BINFMT = Path("/proc/sys/fs/binfmt_misc")
BINFMT_CONF = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
CPU = "cortex-a53"
"""The slowest core of the Pis we know, of a Pi 3 and a Zero 2 W: a wheel that needs a newer one fails here."""


class Archive(NamedTuple):
    """One of Debian's archives as this machine's apt knows it: where it is, and the suite, such as bookworm-updates."""

    url: str
    suite: str


def arm64_runs(stack: ExitStack) -> None:
    """Let the kernel run arm64 programs by qemu, until `stack` is unwound where it did not before."""
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)], check=True)
        stack.callback(subprocess.run, ["umount", str(BINFMT)], check=False)
    if not (BINFMT / "qemu-aarch64").exists():
        (BINFMT / "register").write_bytes(BINFMT_CONF.read_bytes().strip())
        stack.callback((BINFMT / "qemu-aarch64").write_text, "-1")


def archives() -> list[Archive]:
    """Return where this machine's apt gets Debian's main component, the archive itself before its updates."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(REPO_URI) $(RELEASE)"]
    told = subprocess.run([*command, "Created-By: Packages"], capture_output=True, text=True, check=True).stdout
    found = [Archive(*line.split()[2:4]) for line in told.splitlines() if line.startswith("Debian main ")]
    if not found:
        sys.exit("apt knows no archive of Debian's here")
    return sorted(dict.fromkeys(found), key=lambda archive: "-" in archive.suite)


def reach_registries(root: Path) -> None:
    """Give the user land this machine's way to the net: its resolver, hosts and certificates."""
    for name in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
        if (source := Path("/") / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).unlink(missing_ok=True)
            shutil.copy(source.resolve(), root / name)


def environment() -> dict[str, str]:
    """Return this machine's pip settings and proxies as an environment, without what names a folder of its own."""
    told = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    pairs = (line.partition("=") for line in told.splitlines())
    kept = {
        f"PIP_{name.split('.')[-1].upper().replace('-', '_')}": value.strip("'")
        for name, _, value in pairs
        if name.split(".")[-1] in {"index-url", "extra-index-url", "trusted-host", "proxy", "default-timeout"}
    }
    kept |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    local = {name for name, value in kept.items() if "file:" in value}
    shell = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "LANG": "C.UTF-8", "PIP_NO_CACHE_DIR": "1"}
    shell |= {"QEMU_CPU": CPU, "DEBIAN_FRONTEND": "noninteractive"}
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        shell["SOURCE_DATE_EPOCH"] = epoch
    return {name: value for name, value in kept.items() if name not in local} | shell


def inside(root: Path, command: str) -> list[str]:
    """Return the command that runs `command` in the user land, with /proc and /dev that go with it."""
    script = (
        f"mount -t proc proc {root}/proc && mount -t tmpfs tmpfs {root}/dev && mkdir {root}/dev/shm && "
        f"for d in null zero random urandom; do touch {root}/dev/$d; mount --bind /dev/$d {root}/dev/$d; done && "
        f"mkdir {root}/dev/pts && mount -t devpts -o newinstance,ptmxmode=0666 devpts {root}/dev/pts && "
        f"ln -s pts/ptmx {root}/dev/ptmx && "
        f'exec chroot {root} env -i "$@"'
    )
    settings = [f"{name}={value}" for name, value in environment().items()]
    unshared = ["unshare", "--mount", "--pid", "--fork", "sh", "-ec", script, "sh"]
    return [*unshared, *settings, "sh", "-c", command]
