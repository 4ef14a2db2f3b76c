"""The SD card's image, started in qemu: the page, a root that is never written, power cuts, keys and settings.

    MOCCASIN_CARD=table.img pytest -n 0 -s tests/process/machine/test_card.py  # hardware/image/build.py makes the image

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
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from qemu_card import CARD_BYTES, USB, Card, Pi, inserted, until, virt

from pi_controller import __version__
from pi_controller.card.update import NAMESPACE
from pi_controller.config import own_network
from pi_controller.host.place import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.machine

TREE = Path(__file__).parents[3]
TOSS = {"do": "toss", "winner": "A"}
MISS = {"do": "hit", "found": False}


@pytest.fixture
def card() -> Iterator[Card]:
    """Return the card of a table."""
    with inserted("MOCCASIN_CARD", "sudo .venv/bin/python hardware/image/build.py FILE") as made:
        yield made


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


def test_card_serves_page_again_after_power_cut(card):
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
        judge = Judge(pi, read_pin(pi))
        acknowledged = judge.say("action", action=TOSS)
        for _ in range(10):
            judge.say("action", action=MISS)
            acknowledged = judge.say("undo", reason="")
        judge.web.close()
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
        pi.told("moccasin-mat game verify /var/lib/moccasin-mat/table.sqlite")
        nothing_is_written_but_the_last_partition(pi)
        assert before == {what: pi.told(what) for what in before}
        screen = pi.screen()
        assert "[web] port: must be a whole number" in screen
        assert "PIN" not in screen  # somebody can sign in, so no new PIN is made


def read_pin(pi: Pi) -> str:
    """Return the first PIN of the head judge, once the screen shows it."""
    found: list[tuple[str, str]] = []

    def is_shown() -> bool:
        screen = pi.screen().replace("\n", " ")
        found.extend(re.findall(r"sign in at /judge as (.+?) with the PIN (\S+):", screen))
        return bool(found)

    until(is_shown, "the screen shows the first PIN")
    name, pin = found[0]
    assert name == "Head judge"
    return pin


def test_first_page_makes_card_a_hub_with_table(card):
    pi = virt(card)
    with pi.machine:
        pi.start()
        pin = read_pin(pi)
        judge = Judge(pi, pin)
        assert pi.run("systemctl is-active moccasin-mat-hub").stdout.split() == ["inactive"]
        started = pi.told("cat /proc/sys/kernel/random/boot_id")
        chosen = judge.web.post("/judge/start/choose", json={"use": "both", "network": "cable"})
        assert chosen.status_code == 200, chosen.text
        assert chosen.json()["restarts"] == "machine"
        judge.web.close()
        begun = time.monotonic()
        until(lambda: hub_tables(pi).get("t01", {}).get("state") == "ready", "the card's own table is at its hub")
        print(f"\nfrom the choice to the table at its hub: {time.monotonic() - begun:.0f} s")
        assert pi.told("cat /proc/sys/kernel/random/boot_id") != started
        assert pi.told("systemctl --failed --plain --no-legend") == ""
        with httpx.Client(base_url=f"https://127.0.0.1:{pi.director_port}", verify=False, timeout=60) as director:
            said = {"name": "Head judge", "pin": pin}
            signed = director.post("/director/sign-in", json=said, headers={"origin": str(director.base_url)})
            assert signed.status_code == 200, signed.text
        judge = Judge(pi, pin)
        judge.say("action", action=TOSS)
        judge.web.close()
        print(pi.told("free -m; ps -eo rss,args --sort=-rss | head -8 | cut -c1-100; systemd-analyze time"))
        pi.machine.cut()
    with pi.machine:
        pi.start()
        until(lambda: hub_tables(pi).get("t01", {}).get("state") == "ready", "it is a hub, also after a power cut")


def hub_tables(pi: Pi) -> dict[str, Any]:
    """Return the tables by their names as the hub's page tells them, {} without a hub."""
    with suppress(httpx.TransportError):
        told = httpx.get(f"http://127.0.0.1:{pi.hub_port}/tables.json", timeout=10).raise_for_status().json()
        return {table["table"]: table for table in told["tables"]}
    return {}


def nothing_is_written_but_the_last_partition(pi: Pi) -> None:
    """Of what is written, only /state is on the card; and it reaches to the card's end."""
    mounts = json.loads(pi.told("findmnt -J -l -o TARGET,FSTYPE,OPTIONS,SIZE -b"))["filesystems"]
    kept = {one["target"]: one for one in mounts if one["fstype"] in {"ext4", "vfat"}}
    written = {target for target, one in kept.items() if "rw" in one["options"].split(",")}
    own = {"/var/lib/moccasin-mat", "/var/lib/moccasin-mat-program", "/etc/moccasin-mat"}
    assert written == {"/state", "/var/lib/systemd", *own}
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
    """There is no password, no login at a screen, and two ports; in the machine's own Wi-Fi there is a third."""
    hashes = [line.split(":")[1] for line in pi.told("cat /etc/shadow").splitlines()]
    assert all(one.startswith(("*", "!")) for one in hashes)
    assert "getty" not in pi.told("systemctl list-units --all --type=service --plain --no-legend | grep -v ' masked '")
    listening = {line.split()[3] for line in pi.told("ss -Hltn | grep -v 127.0.0").splitlines()}
    # the third leads phones to the page, in the machine's own Wi-Fi alone
    assert listening <= {"0.0.0.0:22", "[::]:22", "0.0.0.0:8080", f"{own_network.OWN_ADDRESS}:80"}
    assert {"0.0.0.0:22", "0.0.0.0:8080"} <= listening
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


def test_card_without_key_refuses_ssh_logins(card):
    subprocess.run(["mdel", "-i", card.boot, "::authorized_keys"], check=True)
    pi = virt(card)
    with pi.machine:
        pi.start()
        with closing(socket.create_connection(("127.0.0.1", pi.ssh_port), 30)) as line, suppress(ConnectionError):
            assert line.recv(100) == b"", "qemu takes the call, and ends it when the guest refuses it"


def test_a_stick_with_a_signed_update_is_taken(card, tmp_path):
    card.put("update_key.pub", (card.folder / "key.pub").read_text("utf-8"))
    wheel = newer_wheel(tmp_path)
    pi = virt(card, *USB)
    with pi.machine:
        pi.start()
        before = pi.told("systemctl show moccasin-mat -P MainPID")
        pi.plug("update", wheel, card.sign(wheel, NAMESPACE))
        last = f"cat {PROGRAMS}/last 2>/dev/null || true"
        until(lambda: pi.told(last), "something came of it")
        print(f"\n{pi.told(last)}")
        assert pi.told(f"readlink {PROGRAMS}/current") == f"versions/{NEWER}"
        until(pi.page, "the page is there again")
        assert pi.told("systemctl show moccasin-mat -P MainPID") != before
        assert pi.told("systemctl --failed --plain --no-legend") == ""
        pi.machine.cut()
    with pi.machine:
        pi.start()
        assert pi.told(f"readlink {PROGRAMS}/current") == f"versions/{NEWER}", "also after a power cut"


NEWER = f"{__version__}.post1"


def newer_wheel(folder: Path) -> Path:
    """Return this tree as a wheel of a newer version."""
    tree = subprocess.run(["git", "-C", TREE, "archive", "HEAD"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=tree, check=True)
    for name in ("pyproject.toml", "pi_controller/__init__.py"):
        text = (folder / name).read_text("utf-8")
        (folder / name).write_text(text.replace(f'"{__version__}"', f'"{NEWER}"', 1), "utf-8")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, folder]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def test_it_starts_on_qemus_raspberry_pi_3(card):
    tree = card.get("bcm2837-rpi-3-b.dtb")
    pi = Pi(
        card,
        *("-M", "raspi3b", "-dtb", str(tree), "-drive", f"if=sd,format=raw,file={card.path}"),
        network="usb-net,netdev=net",
        # qemu's machine starts anew at once when its watchdog is set, in place of when it is not fed
        append="console=ttyAMA0 module_blacklist=bcm2835_wdt",
    )
    with pi.machine:
        pi.start()
        print(f"\nraspi3b, from power to the page: {pi.seconds:.0f} s")
        assert pi.view()["phase"] == "toss"
        assert pi.told("cat /proc/device-tree/model").startswith("Raspberry Pi 3 Model B")
