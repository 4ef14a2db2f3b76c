"""The SD card's image, started in qemu: the page, a root that is never written, power cuts, keys and settings.

    MOCCASIN_CARD=table.img pytest -n 0 -s tests/machine/test_card.py      # hardware/image/build.py makes the image

`-s` shows what was measured. qemu's `virt` machine has a Pi 3's processor but no hardware of a Pi's; `raspi3b` has a
Pi 3's card, USB and clocks as qemu knows them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
from virtual_machine import MachineError, VirtualMachine

pytestmark = pytest.mark.machine

BUILD = "sudo python3 hardware/image/build.py FILE, then MOCCASIN_CARD=FILE"
NEEDS = {"qemu-system-aarch64": "qemu-system-arm", "mcopy": "mtools", "ssh": "openssh-client", "qemu-img": "qemu-utils"}
LIMIT_S = 1200.0
"""Of the wall's time, to the page: an emulated processor on a busy machine."""
CARD_BYTES = 4 << 30
"""A card is larger than its image; qemu's card of a Raspberry Pi wants a power of two."""
SCREEN = """
import fcntl, struct, termios
rows, columns = struct.unpack("4H", fcntl.ioctl(open("/dev/tty1"), termios.TIOCGWINSZ, bytes(8)))[:2]
text = open("/dev/vcsu1", "rb").read().decode("utf-32-le")
print("\\n".join(text[at : at + columns].rstrip() for at in range(0, len(text), columns)))
"""
"""Prints the text on the first screen."""
TOSS = {"do": "toss", "winner": "A"}
MISS = {"do": "hit", "found": False}


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

    def _told(self, *command: str) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Pi:
    """The machine with the card in it; `model` is qemu's, `more` what is plugged in."""

    def __init__(self, card: Card, *model: str, network: str, append: str = "") -> None:
        self.card = card
        self.ssh_port, self.port = free_ports(2)
        words = f"{card.text('cmdline.txt').strip()} {append}".strip()
        command = ["qemu-system-aarch64", "-accel", "tcg,thread=multi", *model, "-append", words]
        command += ["-kernel", str(card.get("vmlinuz")), "-initrd", str(card.get("initrd.img"))]
        command += ["-qmp", f"unix:{card.folder / 'qmp'},server=on,wait=off"]
        self.machine = VirtualMachine(
            command,
            console=card.folder / "console",
            forwards=((self.ssh_port, 22), (self.port, 8080)),
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
        with suppress(OSError), urllib.request.urlopen(self.url, timeout=5) as answer:
            return bool(answer.status == 200)
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

    def picture(self, path: Path) -> None:
        """Keep a picture of the screen, as a PPM."""
        with socket.socket(socket.AF_UNIX) as control, control.makefile("rw") as lines:
            control.connect(str(self.card.folder / "qmp"))
            for word in (
                {"execute": "qmp_capabilities"},
                {"execute": "screendump", "arguments": {"filename": str(path)}},
            ):
                lines.write(json.dumps(word) + "\n")
                lines.flush()
                while "return" not in (told := json.loads(lines.readline())):
                    assert "error" not in told, told


def free_ports(number: int) -> list[int]:
    """Return ports nobody listens at."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in taken]


@pytest.fixture
def card() -> Any:
    """Return a copy of the image with a key of its own on it; skip, with what to do, where there is none."""
    named = os.environ.get("MOCCASIN_CARD")
    if not named:
        pytest.skip(f"boots the SD card's image in qemu, some minutes a start: {BUILD}")
    if missing := [package for tool, package in NEEDS.items() if shutil.which(tool) is None]:
        pytest.skip(f"apt install {' '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="mat-") as folder:  # a short name, for sockets
        made = Card(Path(named), Path(folder))
        made.put("authorized_keys", (Path(folder) / "key.pub").read_text("utf-8"))
        yield made


def virt(card: Card) -> Pi:
    """Return qemu's own machine with a Pi 3's processor and memory."""
    return Pi(
        card,
        *("-M", "virt", "-cpu", "cortex-a53", "-smp", "2", "-m", "1024"),
        *("-drive", f"if=none,id=card,format=raw,file={card.path}", "-device", "virtio-blk-pci,drive=card"),
        *("-device", "virtio-rng-pci", "-device", "virtio-gpu-pci"),
        network="virtio-net-pci,netdev=net,romfile=",
        append="console=ttyAMA0",
    )


class Judge:
    """The head judge at the console, with the PIN that the screen showed."""

    def __init__(self, pi: Pi, pin: str) -> None:
        self.web = httpx.Client(base_url=pi.url, timeout=60, headers={"origin": pi.url})
        signed = self.web.post("/judge/sign-in", json={"name": "Head judge", "pin": pin})
        assert signed.status_code == 200, signed.text
        self.said = 0

    def say(self, call: str, **more: Any) -> int:
        """Say something to the table; return the record by which it was acknowledged."""
        self.said += 1
        body = {"key": f"test-card-{self.said:06}", "expect": None, "call": {"judge": call, **more}}
        answer = self.web.post("/judge/command", json=body)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["seq"])


def test_the_card_starts_to_the_page_and_again_after_a_power_cut(card):
    pi = virt(card)
    with pi.machine:
        pi.start()
        print(f"\nfrom power to the page: {pi.seconds:.0f} s; the guest's own clock: {pi.told('cat /proc/uptime')}")
        view = pi.view()
        assert view["phase"] == "toss"
        nothing_is_written_but_the_last_partition(pi)
        nobody_gets_in_without_the_hosts_key(pi)
        screen = pi.screen()
        print(screen)
        assert "http://" in screen and "█" in screen  # noqa: PT018
        pi.picture(card.folder / "screen.ppm")
        if keep := os.environ.get("MOCCASIN_PICTURES"):
            shutil.copy(card.folder / "screen.ppm", keep)
        name, pin = re.search(r"sign in at /judge as (.+) with the PIN (\S+):", screen.replace("\n", " ")).groups()
        assert name == "Head judge"
        judge = Judge(pi, pin)
        acknowledged = judge.say("action", action=TOSS)
        for _ in range(10):
            judge.say("action", action=MISS)
            acknowledged = judge.say("undo", reason="")
        what_was_measured(pi)
        before = {what: pi.told(what) for what in ("cat /etc/machine-id", "cat /state/ssh/ssh_host_ed25519_key.pub")}
        pi.machine.cut()
    # the host takes the card out and makes a mistake on the laptop
    table = card.text("table.toml")
    card.put("table.toml", table.replace("port = 8080", 'port = "eighty"', 1))
    with pi.machine:
        pi.start()
        print(f"from power to the page after a power cut: {pi.seconds:.0f} s")
        assert pi.view()["seq"] >= acknowledged
        pi.told("moccasin-mat verify /var/lib/moccasin-mat/table.sqlite")
        nothing_is_written_but_the_last_partition(pi)
        assert before == {what: pi.told(what) for what in before}
        screen = pi.screen()
        assert "[web] port: must be a whole number" in screen
        assert "PIN" not in screen  # somebody can sign in, so no new PIN is made


def nothing_is_written_but_the_last_partition(pi: Pi) -> None:
    """Of what is written, only /state is on the card; and it reaches to the card's end."""
    mounts = json.loads(pi.told("findmnt -J -l -o TARGET,FSTYPE,OPTIONS,SIZE -b"))["filesystems"]
    kept = {one["target"]: one for one in mounts if one["fstype"] in {"ext4", "vfat"}}
    written = {target for target, one in kept.items() if "rw" in one["options"].split(",")}
    assert written == {"/state", "/var/lib/moccasin-mat", "/etc/moccasin-mat", "/var/lib/systemd"}
    assert {"/", "/boot/firmware"} <= set(kept)
    assert {"noatime", "nosuid", "nodev", "noexec", "errors=remount-ro"} <= set(kept["/state"]["options"].split(","))
    assert pi.run("touch /etc/x /usr/x /boot/firmware/x").returncode == 1
    assert int(kept["/state"]["size"]) > CARD_BYTES // 2
    assert pi.told("systemctl --failed --plain --no-legend") == ""
    assert (
        pi.told("systemctl is-active moccasin-mat moccasin-mat-card avahi-daemon systemd-timesyncd").split()
        == ["active"] * 4
    )


def nobody_gets_in_without_the_hosts_key(pi: Pi) -> None:
    """There is no password, no login at a screen, and two ports."""
    hashes = [line.split(":")[1] for line in pi.told("cat /etc/shadow").splitlines()]
    assert all(one.startswith(("*", "!")) for one in hashes)
    assert "getty" not in pi.told("systemctl list-units --all --type=service --plain --no-legend | grep -v ' masked '")
    ports = {line.split()[3].rsplit(":", 1)[1] for line in pi.told("ss -Hltn | grep -v 127.0.0").splitlines()}
    assert ports == {"22", "8080"}
    known = ["-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "IdentityFile=none"]
    command = [
        "ssh",
        "-F",
        "none",
        "-v",
        "-p",
        str(pi.ssh_port),
        "-o",
        "BatchMode=yes",
        *known,
        "root@127.0.0.1",
        "true",
    ]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    assert refused.returncode == 255
    assert "Authentications that can continue: publickey\n" in refused.stderr.replace("\r", "")


def what_was_measured(pi: Pi) -> None:
    """Print memory, times and the unit's confinement."""
    print(pi.told("free -m; df -m / /state; systemd-analyze time; systemd-analyze blame | head -12"))
    print(pi.told("ps -eo rss,args --sort=-rss | head -8 | cut -c1-100"))
    print(pi.told("systemd-analyze security --no-pager 2>/dev/null | grep moccasin"))


def test_without_a_key_on_the_card_nobody_can_log_in(card):
    subprocess.run(["mdel", "-i", card.boot, "::authorized_keys"], check=True)
    pi = virt(card)
    with pi.machine:
        pi.start()
        with closing(socket.create_connection(("127.0.0.1", pi.ssh_port), 30)) as line, suppress(ConnectionError):
            assert line.recv(100) == b"", "qemu takes the call, and ends it when the guest refuses it"


def test_it_starts_on_qemus_raspberry_pi_3(card):
    tree = card.get("bcm2837-rpi-3-b.dtb")
    pi = Pi(
        card,
        *("-M", "raspi3b", "-dtb", str(tree), "-drive", f"if=sd,format=raw,file={card.path}"),
        network="usb-net,netdev=net",
        append="console=ttyAMA0",
    )
    with pi.machine:
        pi.start()
        print(f"\nraspi3b, from power to the page: {pi.seconds:.0f} s")
        assert pi.view()["phase"] == "toss"
        assert pi.told("cat /proc/device-tree/model").startswith("Raspberry Pi 3 Model B")
