"""The SD card's image as a card in a laptop, and a machine of qemu's with it; shared by the cards' tests."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx
import pytest
from ports import free_port
from virtual_machine import MachineError, VirtualMachine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NEEDS = {
    "qemu-system-aarch64": "qemu-system-arm",
    "mcopy": "mtools",
    "ssh": "openssh-client",
    "mkfs.vfat": "dosfstools",
}
LIMIT_S = 1500.0
"""Of the wall's time: an emulated processor on a busy machine."""
GROUP_BYTES = 128 << 20
"""ext4 keeps a copy of its beginning at some multiples of this."""
USB = ("-device", "qemu-xhci,id=usb")
"""Where sticks are plugged in."""
CARD_BYTES = 4 << 30
"""A card is larger than its image; qemu's card of a Raspberry Pi wants a power of two."""
SCREEN = """
import fcntl, os, struct, termios
tty = os.open("/dev/tty1", os.O_RDONLY | os.O_NOCTTY)
rows, columns = struct.unpack("4H", fcntl.ioctl(tty, termios.TIOCGWINSZ, bytes(8)))[:2]
text = open("/dev/vcsu1", "rb").read().decode("utf-32-le")
print("\\n".join(text[at : at + columns].rstrip() for at in range(0, len(text), columns)))
"""
"""Prints the text on the first screen, which is hung up when a program ends that it controlled."""


class Card:
    """A copy of the image as a card in a laptop: its first partition's files can be read and changed."""

    def __init__(self, image: Path, folder: Path) -> None:
        self.folder, self.path = folder, folder / "card.img"
        subprocess.run(["cp", "--sparse=always", image, self.path], check=True)
        os.truncate(self.path, CARD_BYTES)
        table = json.loads(self._told("sfdisk", "--json", str(self.path)))["partitiontable"]
        self.starts = [part["start"] * 512 for part in table["partitions"]]
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
        self.names = self._told("mdir", "-b", "-i", self.boot, "::").split()

    @property
    def boot(self) -> str:
        """Return the first partition as mtools take it."""
        return f"{self.path}@@{self.starts[0]}"

    def put(self, name: str, text: str) -> None:
        """Write a file."""
        (self.folder / "put").write_text(text, "utf-8")
        self._told("mcopy", "-o", "-i", self.boot, str(self.folder / "put"), f"::{name}")

    def get(self, name: str) -> Path:
        """Return a copy of the file whose name begins with `name`."""
        found = next(one for one in self.names if one.removeprefix("::/").startswith(name))
        self._told("mcopy", "-n", "-o", "-i", self.boot, found, str(self.folder / name))
        return self.folder / name

    def text(self, name: str) -> str:
        """Return the text of a file."""
        return self.get(name).read_text("utf-8")

    def forge(self, name: str) -> Path:
        """Return a stick's image that is a copy of this card, but for the keys: they are a visitor's."""
        stick, key = self.folder / f"{name}.img", self.folder / name
        subprocess.run(["cp", "--sparse=always", self.path, stick], check=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key], check=True)
        for file in ("authorized_keys", "update_key.pub"):
            self._told("mcopy", "-o", "-i", f"{stick}@@{self.starts[0]}", f"{key}.pub", f"::{file}")
        return stick

    def destroy(self, number: int, *, backups: bool) -> None:
        """Overwrite the beginning of the last partition; with `backups` also where ext4 keeps copies of it."""
        with self.path.open("r+b") as file:
            first = self.starts[number - 1]
            for start in range(first, CARD_BYTES if backups else first + 1, GROUP_BYTES):
                file.seek(start)
                file.write(b"\xa5" * min(4 << 20, CARD_BYTES - start))

    def sign(self, file: Path, namespace: str) -> Path:
        """Sign `file` with the host's key; return the signature beside it."""
        self._told("ssh-keygen", "-q", "-Y", "sign", "-f", str(self.folder / "key"), "-n", namespace, str(file))
        return file.with_name(f"{file.name}.sig")

    def _told(self, *command: str) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Pi:
    """The machine with the card in it; `model` is qemu's, `more` what is plugged in.

    `hub_port` and `director_port` lead to the boards of its hub and to the same pages with encryption, if it has one.
    """

    def __init__(self, card: Card, *model: str, network: str, append: str = "") -> None:
        self.card = card
        self.ssh_port, self.port, self.hub_port, self.director_port = (free_port() for _ in range(4))
        words = f"{card.text('cmdline.txt').strip()} {append}".strip()
        command = ["qemu-system-aarch64", "-accel", "tcg,thread=multi", *model, "-append", words]
        command += ["-kernel", str(card.get("vmlinuz")), "-initrd", str(card.get("initrd.img"))]
        command += ["-qmp", f"unix:{card.folder / 'qmp'},server=on,wait=off"]
        self.machine = VirtualMachine(
            command,
            console=card.folder / "console",
            forwards=((self.ssh_port, 22), (self.port, 8080), (self.hub_port, 8090), (self.director_port, 8443)),
            network=network,
        )
        self.seconds = 0.0

    @property
    def url(self) -> str:
        """Return where the pages are."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, limit_s: float = LIMIT_S) -> Self:
        """Give it power and wait for the page; `seconds` is how long that took."""
        begun = time.monotonic()
        self.machine.start()
        while not self.page():
            if time.monotonic() - begun > limit_s:
                raise MachineError(f"no page in {limit_s:.0f} s:\n{self.machine.log[-3000:].decode(errors='replace')}")
            time.sleep(0.5)
        self.seconds = time.monotonic() - begun
        return self

    def page(self) -> bool:
        """Return whether the page answers."""
        with suppress(httpx.TransportError):
            return httpx.get(self.url, timeout=5).status_code == 200
        return False

    def view(self) -> Any:
        """Return what the table shows."""
        return httpx.get(f"{self.url}/view.json", timeout=60).raise_for_status().json()

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command inside, by the key on the card."""
        known = ["-o", f"UserKnownHostsFile={self.card.folder / 'known'}", "-o", "StrictHostKeyChecking=accept-new"]
        how = ["-i", str(self.card.folder / "key"), "-p", str(self.ssh_port), "-o", "BatchMode=yes", *known]
        words = ["ssh", *how, "root@127.0.0.1", command]
        return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)

    def told(self, command: str) -> str:
        """Return what a command printed that must succeed."""
        done = self.run(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def screen(self) -> str:
        """Return the text on the screen, one line a row, once the table's service is on it."""
        for _ in range(60):
            text = self.told(f"/opt/moccasin-mat/bin/python -c '{SCREEN}'")
            if "/judge" in text or "does not run" in text:
                break
            time.sleep(2)
        return text

    def picture(self, path: Path, device: str = "screens") -> None:
        """Keep a picture of the screen at `device`, as a PPM."""
        self.order("screendump", filename=str(path), device=device)

    def plug(self, name: str, *files: Path) -> None:
        """Put a stick with `files` in, on a machine with `USB`."""
        stick = self.card.folder / f"{name}.img"
        subprocess.run(["mkfs.vfat", "-C", stick, "16384"], check=True, capture_output=True)
        subprocess.run(["mcopy", "-i", stick, *files, "::"], check=True)
        self.plug_image(name, stick)

    def plug_image(self, name: str, stick: Path) -> None:
        """Put in a stick whose image is `stick`, on a machine with `USB`."""
        node = {"node-name": f"on-{name}", "driver": "raw", "file": {"driver": "file", "filename": str(stick)}}
        self.order("blockdev-add", **node)
        self.order("device_add", driver="usb-storage", id=name, drive=f"on-{name}", bus="usb.0")

    def order(self, command: str, **arguments: Any) -> None:
        """Have qemu do something (QMP)."""
        with socket.socket(socket.AF_UNIX) as control, control.makefile("rw") as lines:
            control.connect(str(self.card.folder / "qmp"))
            for word in ({"execute": "qmp_capabilities"}, {"execute": command, "arguments": arguments}):
                lines.write(json.dumps(word) + "\n")
                lines.flush()
                while "return" not in (told := json.loads(lines.readline())):
                    assert "error" not in told, told


def until(wanted: Callable[[], object], what: str) -> None:
    """Wait for it."""
    begun = time.monotonic()
    while not wanted():
        if time.monotonic() - begun > LIMIT_S:
            raise MachineError(f"not in {LIMIT_S:.0f} s: {what}")
        time.sleep(2)


@contextmanager
def inserted(variable: str, build: str) -> Iterator[Card]:
    """Give a copy of the image that `variable` names, with a key of its own on it; skip where there is none.

    `build` says what makes the image.
    """
    named = os.environ.get(variable)
    if not named:
        pytest.skip(f"boots the SD card's image in qemu, some minutes a start: {build}, then {variable}=FILE")
    if missing := [package for tool, package in NEEDS.items() if shutil.which(tool) is None]:
        pytest.skip(f"apt install {' '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="mat-") as folder:  # a short name, for sockets
        made = Card(Path(named), Path(folder))
        made.put("authorized_keys", (Path(folder) / "key.pub").read_text("utf-8"))
        yield made


def virt(card: Card, *more: str, processor: str = "cortex-a53", memory_mb: int = 1024, append: str = "") -> Pi:
    """Return qemu's own machine, with a Pi 3's processor and memory; `more` is what is plugged in."""
    return Pi(
        card,
        *("-M", "virt", "-cpu", processor, "-smp", "2", "-m", str(memory_mb)),
        *("-drive", f"if=none,id=card,format=raw,file={card.path}", "-device", "virtio-blk-pci,drive=card"),
        *("-device", "virtio-rng-pci", "-device", "virtio-gpu-pci,id=screens", *more),
        network="virtio-net-pci,netdev=net,romfile=",
        append=f"console=ttyAMA0 {append}",
    )
