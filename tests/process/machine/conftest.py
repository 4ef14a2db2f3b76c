"""What the tests of the guest share: its disk, how its processor runs, and where measured figures are written."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ports import free_port
from virtual_machine import COUNTED, KVM, VirtualMachine, kvm_runs, pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Figures = Callable[[str, object], None]

FILES = ("vmlinux", "initrd", "disk.img")
BUILD = "sudo python tests/process/machine/build_guest.py FOLDER, then MOCCASIN_GUEST=FOLDER"


@pytest.fixture(scope="session")
def image() -> Path:
    """Return the folder with the guest's kernel and disk; skip, with what to do, where there is none."""
    named = os.environ.get("MOCCASIN_GUEST")
    if not named:
        pytest.skip(f"boots a Debian guest in qemu, for an hour or more: {BUILD}")
    folder = Path(named).absolute()
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        pytest.skip(f"{folder} has no {', '.join(missing)}: {BUILD}")
    if shutil.which("qemu-system-x86_64") is None:
        pytest.skip("there is no qemu-system-x86_64: apt install qemu-system-x86")
    return folder


@pytest.fixture(scope="session")
def sockets() -> Iterator[Path]:
    """Return a folder whose name is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mat-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def kvm(image: Path, sockets: Path) -> bool:
    """Return whether KVM runs an ordinary kernel here; else the processor is emulated."""
    return kvm_runs(image / "vmlinux", console=sockets / "trial")


@pytest.fixture(scope="session")
def figures(image: Path, kvm: bool) -> Figures:
    """Return what notes a figure: in `figures.txt` beside the disk, and on the terminal with -s."""
    path = image / "figures.txt"

    def note(name: str, value: object) -> None:
        line = f"{name}: {value}"
        print(f"\n{line}", flush=True)
        with path.open("a") as file:
            file.write(f"{line}\n")

    note("processor", "KVM" if kvm else "emulated")
    return note


@pytest.fixture(scope="session")
def machine_on(image: Path, sockets: Path, kvm: bool) -> Callable[..., tuple[VirtualMachine, int]]:
    """Return a maker of machines: `machine_on(drive)` gives one that is off, and the port here of its page."""

    def make(drive: str, append: str = "", emulated: Sequence[str] = COUNTED) -> tuple[VirtualMachine, int]:
        port = free_port()
        command = pc(image / "vmlinux", image / "initrd", drive, processor=KVM if kvm else emulated, append=append)
        return VirtualMachine(command, console=sockets / f"console-{port}", forwards=((port, 8000),)), port

    return make
