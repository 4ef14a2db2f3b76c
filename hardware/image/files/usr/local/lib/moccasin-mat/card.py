"""Takes the settings from the card's boot partition when the machine starts: checks them, keeps the last good ones.

The boot partition is only read. What is wrong with it is written to `faults` in the run folder, which `screen.py`
shows, and to the log. Whatever is wrong, the machine starts with what was good before.
"""

from __future__ import annotations

import grp
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.card import wifi_files
from pi_controller.card.changes import digest, read
from pi_controller.card.install import replace
from pi_controller.card.kiosk import shown_port
from pi_controller.card.plan import written_folders
from pi_controller.config import Settings, edit, machine_report, read_settings
from pi_controller.config.load import read_model
from pi_controller.config.machine_settings import FILE as MACHINE
from pi_controller.config.machine_settings import ZONES, Machine
from pi_controller.errors import MatError, SettingsError
from pi_controller.host.place import KEYS_CHANGED, SETTINGS, make_place
from pi_controller.text import strip_controls

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "moccasin-mat"
KEYS = ("authorized_keys", "authorized_keys.txt")
HOST_KEY = "ssh_host_ed25519_key"
SIGNER = "update_key.pub"
"""Who may sign updates from a stick."""
NEW_HEAD = ("new-head-judge", "new-head-judge.txt")
"""Files that a laptop may have given an ending of its own."""
MAX_KEY_CHANGES = 20
"""Lines that are kept of changed keys."""
I2C_NODE = "i2c@7e804000"
"""The bus on the Pi's pins 3 and 5 in its device tree."""
CLOCK_ADDRESS = 0x68
CHIP_S = 8.0
"""So long the clock chip's bus and driver are waited for."""


@dataclass(frozen=True)
class Card:
    """The folders: `boot` is what a laptop sees, `settings` and `state` last, `run` is forgotten with the power."""

    boot: Path = Path("/boot/firmware")
    settings: Path = Path("/etc") / NAME
    state: Path = Path("/state")
    run: Path = Path("/run") / f"{NAME}-card"


def usable(card: Card) -> tuple[Card, str]:
    """Return `card` and ""; if its third partition cannot be written, one with folders in `run` and what is wrong.

    So Wi-Fi and ssh start with the boot partition's settings, or the last good ones if those can still be read.
    """
    if all(os.access(folder, os.W_OK) for folder in (card.settings, card.state)):
        return card, ""
    spare = Card(card.boot, card.run / "settings", card.run / "state", card.run)
    for folder in (spare.settings, spare.state / "ssh"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in (card.settings / SETTINGS, card.settings / MACHINE, card.state / "ssh" / HOST_KEY):
        with suppress(OSError):
            shutil.copy(path, spare.state / "ssh" if path.name == HOST_KEY else spare.settings)
    return spare, "the card's third partition (mat-state) cannot be written: the table does not run, ssh does"


def tell_emptied(card: Card) -> str:
    """Return what was lost if the third partition has no settings; each card is made with some."""
    if (card.settings / SETTINGS).exists():
        return ""
    return (
        "the card's third partition (mat-state) was damaged, and its check at the start left it empty: games, "
        "profiles and who may sign in are lost; put in another card soon"
    )


def take_table(card: Card) -> str:
    """Put the boot partition's table.toml in force where a table can run with it; return what is wrong, or ""."""

    def check(path: Path) -> None:
        settings = read_settings(path)
        for profile in filter(None, (settings.board.profile, settings.board_b.profile)):
            from pi_controller.calibration.profile import load_profile as read_profile  # noqa: PLC0415 - numpy loads slowly

            read_profile(card.settings, profile)
        here = make_place()
        port = shown_port(here)
        if port is not None and (settings.web.port != port or not settings.web.enabled):
            raise SettingsError(
                f"{path}: this machine's own screen shows the page at port {port}",
                f"set enabled = true and port = {port} under [web]",
            )
        if beyond := [folder for folder in written_folders(settings, here) if not folder.is_relative_to(here.state)]:
            raise SettingsError(f"{path}: nothing can be written in {beyond[0]}", f"on this card: only in {here.state}")

    return _take(card, SETTINGS, check, 0o644)


def take_machine(card: Card) -> tuple[Machine, str]:
    """Put the boot partition's machine.toml in force; return what holds now, and what is wrong, or ""."""
    fault = _take(card, MACHINE, lambda path: read_model(path, Machine), 0o600)
    with suppress(MatError):
        return read_model(card.settings / MACHINE, Machine), fault
    return Machine(), fault


def open_first_network(card: Card, machine: Machine) -> Machine:
    """Give a machine without a Wi-Fi one of its own, once, so that a phone reaches its page; return what holds now."""
    wifi = machine.wifi
    if wifi.network or wifi.own is not None:
        return machine
    path = card.settings / MACHINE
    values = {"network": wifi_files.new_network_name(), "password": wifi_files.new_password(), "own": True}
    with suppress(MatError, OSError):
        replace(path, edit.edit_text(read(path) or "", {("wifi", key): value for key, value in values.items()}), 0o600)
        return read_model(path, Machine)
    return machine


def _take(card: Card, name: str, check: Callable[[Path], object], mode: int) -> str:
    """Keep file `name` of the boot partition, once `check` finds no fault with it beside the one kept before.

    A file that was taken before is not taken again: the head judge may have changed the kept one on the page since.
    """
    kept, candidate, taken = card.settings / name, card.settings / f"new-{name}", card.state / f"taken-{name}"
    last = "the last good one holds" if kept.exists() else "the defaults hold"
    text = None
    with suppress(OSError):
        text = read(card.boot / name)
    if text is None:
        return f"there is no {name} on the boot partition that can be read; {last}"
    try:
        if kept.exists() and read(taken) == digest(text):
            return ""
        replace(candidate, text, mode)
        check(candidate)
        if text != read(kept):
            replace(kept, text, mode)
        replace(taken, digest(text), 0o644)
    except MatError as error:
        return f"{error.message.replace(str(candidate), name)}\n{error.hint}\n{name} was not taken: {last}"
    except OSError as error:
        return f"{name} was not taken, {last}: {error}"
    finally:
        with suppress(OSError):
            candidate.unlink(missing_ok=True)
    return ""


def take_keys(card: Card) -> str:
    """Open ssh to the keys on the boot partition, if there are any; return what is wrong, or ""."""
    path = next((path for name in KEYS if (path := card.boot / name).is_file()), None)
    if path is None:
        return ""
    lines = [line.strip() for line in (read(path) or "").splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    fit = [key for key in keys if _is_key(key)]
    if fit:
        _host_key(card)
        replace(card.run / KEYS[0], "".join(f"{key}\n" for key in fit), 0o600)
    if not keys or len(fit) < len(keys):
        return (
            f"{path.name}: {len(keys) - len(fit)} of {len(keys)} lines are no public SSH key (ssh-ed25519 AAAA... name)"
        )
    return ""


def take_signers(card: Card) -> str:
    """Let the public SSH keys on the boot partition sign updates, and no others; return what is wrong, or ""."""
    path, kept = card.boot / SIGNER, card.settings / "update_signers"
    lines = [line.strip() for line in (read(path) or "").splitlines()] if path.is_file() else []
    keys = [line for line in lines if line and not line.startswith("#")]
    fit = [key for key in keys if _is_key(key)]
    if fit:
        replace(kept, "".join(f"host {key}\n" for key in fit), 0o644)
    else:
        kept.unlink(missing_ok=True)
    return f"{SIGNER}: {len(keys) - len(fit)} lines are no public SSH key" if len(fit) < len(keys) else ""


def _is_key(line: str) -> bool:
    command = ["ssh-keygen", "-l", "-f", "-"]
    return subprocess.run(command, input=line, text=True, capture_output=True, check=False).returncode == 0


def _host_key(card: Card) -> None:
    """Make the machine's own key, once, and put a copy where ssh reads it."""
    folder = card.state / "ssh"
    folder.mkdir(mode=0o700, exist_ok=True)
    key = folder / HOST_KEY
    if not key.exists() or not key.stat().st_size:
        key.unlink(missing_ok=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", NAME, "-f", str(key)], check=True)
    replace(card.run / HOST_KEY, key.read_text("ascii"), 0o600)


def fingerprint(card: Card) -> str:
    """Return a line with the fingerprint of the machine's key, for a start at which it may be another; "" if none."""
    command = ["ssh-keygen", "-l", "-f", str(card.run / HOST_KEY)]
    told = subprocess.run(command, text=True, capture_output=True, check=False).stdout.split()
    return f"ssh: this machine's key is now {told[1]}" if len(told) > 1 else ""


def note_key_changes(card: Card, now_is: str) -> str:
    """Keep which keys open this machine; return how they differ from those of the last start, or "".

    `key-changes` in the run folder has all differences of the last starts, for the staff page.
    """
    known, changes = card.state / "keys", card.state / "key-changes"
    uses = {"log in": card.run / KEYS[0], "sign updates": card.settings / "update_signers"}
    now = [f"{use}\t{key}" for use, path in uses.items() for key in _fingerprints(path)]
    last = read(known)
    before = now if last is None else last.splitlines()
    changed = [(line, "may {} from now on") for line in now if line not in before]
    changed += [(line, "may not {} any more") for line in before if line not in now]
    lines: list[str] = []
    for line, may in changed:
        use, _, key = line.partition("\t")
        lines.append(f"{now_is}: {key} {may.format(use)}")
    text = (read(changes) or "").splitlines()
    text = [*text, *lines][-MAX_KEY_CHANGES:]
    if lines:
        replace(changes, "".join(f"{line}\n" for line in text), 0o644)
    if now != before or last is None:
        replace(known, "".join(f"{line}\n" for line in now), 0o644)
    if text:
        replace(card.run / "key-changes", "".join(f"{line}\n" for line in text), 0o644)
    if not lines:
        return ""
    return "\n".join([f"{KEYS_CHANGED} If you did not change them, somebody else did:", *lines])


def _fingerprints(path: Path) -> list[str]:
    """Return "SHA256:... (its name)" of each key in an authorized_keys or a file of signers."""
    keys = [line.removeprefix("host ") for line in (read(path) or "").splitlines()]
    command = ["ssh-keygen", "-l", "-f", "-"]
    told = subprocess.run(command, input="\n".join([*keys, ""]), text=True, capture_output=True, check=False).stdout
    found = (line.split(" ", 2) for line in told.splitlines())
    return [
        f"{fields[1]} ({strip_controls(fields[2].rpartition(' ')[0])[:40]})" for fields in found if len(fields) == 3
    ]


def start_clock_chip(chip: str, wait: Callable[[], bool], root: Path = Path("/")) -> str:
    """Have the kernel drive the clock chip on the Pi's pins; it sets its clock by it. Return what is wrong, or "".

    `wait` is called between looks and returns False when there is no more time.
    """
    if not chip:
        return ""
    buses = root / "sys/bus/i2c/devices"
    while True:
        for bus in sorted(buses.glob("i2c-*")):
            node = bus / "of_node"
            if node.resolve().name != I2C_NODE:
                continue
            device = buses / f"{bus.name.removeprefix('i2c-')}-{CLOCK_ADDRESS:04x}"
            if not device.exists():
                (bus / "new_device").write_text(f"{chip} {CLOCK_ADDRESS:#x}", "ascii")
            if any(device.glob("rtc/rtc*")):
                return ""
        if not wait():
            return f"[clock] chip: no {chip} answers on the Pi's pins 3 and 5: check its four wires"


def keep_machine_id(card: Card, now: Path = Path("/etc/machine-id")) -> None:
    """Keep the id that the machine was given at its first start; the initramfs gives it back."""
    kept = card.state / "machine-id"
    if not read(kept) and re.fullmatch(r"[0-9a-f]{32}\n?", text := read(now) or ""):
        replace(kept, text, 0o444)


def main() -> int:
    """Take all of it; return 0."""
    whole = Card()
    whole.run.mkdir(exist_ok=True)
    card, lost = usable(whole)
    faults = [lost or tell_emptied(card), take_table(card)]
    machine, fault = take_machine(card)
    faults.append(fault)
    if shown_port(make_place()) is None:  # an installation has no page for its network
        machine = open_first_network(card, machine)
    for step in (
        lambda: take_keys(card),
        lambda: take_signers(card),
        lambda: note_key_changes(card, time.strftime("%Y-%m-%d %H:%M")),
        lambda: keep_machine_id(card),
        lambda: _in_force(card, machine),
        lambda: start_clock_chip(machine.clock.chip, patience(CHIP_S)),
        lambda: fingerprint(card) if lost else "",
    ):
        try:
            faults.append(step() or "")
        except (OSError, subprocess.CalledProcessError) as error:
            faults.append(str(error))
    found = "\n".join(filter(None, faults))
    print("".join(f"<4>{line}\n" for line in found.splitlines()), end="", file=sys.stderr)  # a warning each
    replace(card.run / "faults", found, 0o644)
    return 0


def patience(seconds: float) -> Callable[[], bool]:
    """Return what waits a moment, and says False once `seconds` are over."""
    end = time.monotonic() + seconds

    def wait() -> bool:
        time.sleep(0.2)
        return time.monotonic() < end

    return wait


def write_machine_files(card: Card, machine: Machine, group: int) -> None:
    """Write what units and table need to know of `machine`; the table has the group id `group`."""
    if wpa := wifi_files.wpa_settings(machine.wifi):
        replace(card.run / "wpa_supplicant.conf", wpa, 0o600)
    if machine.wifi.own:
        replace(card.run / "own.network", wifi_files.networkd_settings(), 0o644)
        replace(card.run / "dnsmasq.conf", wifi_files.dnsmasq_settings(), 0o644)
        replace(card.run / "portal", wifi_files.first_page(machine, _page_port(card)) + "\n", 0o644)
    if machine.hub:
        replace(card.run / "hub", "", 0o644)
    machine_report.write_state(card.run, machine_report.describe_machine(machine), group)


def _page_port(card: Card) -> int:
    with suppress(MatError):
        return read_settings(card.settings / SETTINGS).web.port
    return Settings().web.port


def _in_force(card: Card, machine: Machine) -> None:
    write_machine_files(card, machine, grp.getgrnam(NAME).gr_gid)
    if any((card.boot / name).exists() for name in NEW_HEAD):
        replace(card.run / NEW_HEAD[0], "", 0o644)
    zone = card.run / "localtime"
    zone.unlink(missing_ok=True)
    zone.symlink_to(ZONES / machine.zone)
    socket.sethostname(machine.name)
    subprocess.run([sys.executable, str(Path(__file__).with_name("display.py")), "--restart"], check=False)


if __name__ == "__main__":
    sys.exit(main())
