"""The card's Wi-Fi: what wpa_supplicant and dnsmasq themselves take, and whose eyes the password is for."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from needed import need
from ports import free_port

from pi_controller.card import wifi_files
from pi_controller.config import own_network

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"
DNSMASQ = shutil.which("dnsmasq", path=SBIN)


@contextmanager
def running_dnsmasq(folder: Path) -> Iterator[int]:
    """Run dnsmasq with the settings of the own network, but for device and port; provide its port."""
    port = free_port()
    changed = {"interface": "lo", "except-interface": None, "dhcp-range": None, "dhcp-leasefile": None}
    lines = [line for line in wifi_files.dnsmasq_settings().splitlines() if line.partition("=")[0] not in changed]
    path = folder / "dnsmasq.conf"
    path.write_text("\n".join([*lines, "interface=lo", f"port={port}", f"pid-file={folder / 'pid'}", ""]), "utf-8")
    command = [
        need(DNSMASQ, "apt install dnsmasq-base"),
        "--keep-in-foreground",
        f"--conf-file={path}",
        "--user=",
        "--log-facility=-",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout
        assert any("started" in line for line in iter(process.stdout.readline, "")), "it says that it runs"
        yield port
    finally:
        process.kill()
        process.communicate()


def addresses(port: int, name: str) -> list[str]:
    """Return the IPv4 addresses that the server at `port` gives for `name`."""
    labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split("."))
    query = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(20)
        line.sendto(query, ("127.0.0.1", port))
        answer = line.recv(512)
    (count,) = struct.unpack(">H", answer[6:8])
    return [socket.inet_ntoa(answer[-4:])] if count == 1 else []


def test_own_network_resolves_every_name_to_hub(tmp_path):
    with running_dnsmasq(tmp_path) as port:
        for name in ("connectivitycheck.gstatic.com", "captive.apple.com", "mat-hub.local"):
            assert addresses(port, name) == [own_network.OWN_ADDRESS]
