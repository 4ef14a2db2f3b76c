"""Takes the settings from the card's boot partition when the machine starts: checks them, keeps the last good ones.

The boot partition is only read. What is wrong with it is written to `faults` in the run folder, which `screen.py`
shows, and to the log. Whatever is wrong, the machine starts with what was good before.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BeforeValidator

from pi_controller.errors import MatError, SettingsError
from pi_controller.games.wording import shown
from pi_controller.setup.changes import digest, read
from pi_controller.setup.kiosk import shown_port
from pi_controller.setup.manifest import replace
from pi_controller.setup.place import RESETS, SET_ASIDE, SETTINGS, place
from pi_controller.setup.plan import written_folders
from pi_controller.table.settings import load
from pi_controller.table.settings_fields import Section
from pi_controller.table.settings_file import read_model

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "moccasin-mat"
ZONES = Path("/usr/share/zoneinfo")
MACHINE = "machine.toml"
KEYS = ("authorized_keys", "authorized_keys.txt")
SIGNER = "update_key.pub"
"""Who may sign updates from a stick."""
NEW_HEAD = ("new-head-judge", "new-head-judge.txt")
"""Files that a laptop may have given an ending of its own."""


def _host_name(text: str) -> str:
    if re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", text):
        return text
    raise ValueError(f"must be up to 63 small letters, digits and -, not {shown(text)}")


def _zone(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*", text) and (ZONES / text).is_file():
        return text
    raise ValueError(f'must be a time zone like "America/Winnipeg", not {shown(text)}')


def _country(text: str) -> str:
    if re.fullmatch(r"[A-Z]{2}|", text):
        return text
    raise ValueError(f'must be two capital letters like "US", not {shown(text)}')


def _network(text: str) -> str:
    if len(text.encode()) <= 32:
        return text
    raise ValueError("must be the name of a Wi-Fi, 32 bytes at most")


def _password(text: object) -> str:
    # none of its faults shows what was written
    if isinstance(text, str) and re.fullmatch(r"|[ -~]{8,63}|[0-9a-fA-F]{64}", text):
        return text
    raise ValueError("must be text in quotes, of 8 to 63 letters, digits and signs, or empty for an open network")


class Wifi(Section):
    """The Wi-Fi; `network` is "" for none."""

    country: Annotated[str, AfterValidator(_country)] = ""
    network: Annotated[str, AfterValidator(_network)] = ""
    password: Annotated[str, BeforeValidator(_password)] = ""
    hidden: bool = False


class Machine(Section):
    """`machine.toml`: what is of the machine and not of its table."""

    name: Annotated[str, AfterValidator(_host_name)] = NAME
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    wifi: Wifi = Wifi()


@dataclass(frozen=True)
class Card:
    """The folders: `boot` is what a laptop sees, `settings` and `state` last, `run` is forgotten with the power."""

    boot: Path = Path("/boot/firmware")
    settings: Path = Path("/etc") / NAME
    state: Path = Path("/state")
    run: Path = Path("/run") / f"{NAME}-card"


def take_table(card: Card) -> str:
    """Put the boot partition's table.toml in force where a table can run with it; return what is wrong, or ""."""

    def check(path: Path) -> None:
        settings = load(path)
        for profile in filter(None, (settings.board.profile, settings.board_b.profile)):
            from pi_controller.calibration.profile import load as read_profile  # noqa: PLC0415 - numpy loads slowly

            read_profile(card.settings, profile)
        here = place(system=True)
        port = shown_port(here)
        if port is not None and (settings.web.port != port or not settings.web.enabled):
            raise SettingsError(
                f"{path}: this machine's own screen shows the page at port {port}",
                f"set enabled = true and port = {port} under [web]",
            )
        if beyond := [folder for folder in written_folders(settings, here) if not folder.is_relative_to(here.state)]:
            raise SettingsError(f"{path}: nothing can be written in {beyond[0]}", f"on this card: only in {here.state}")

    aside = card.settings / RESETS.name / SET_ASIDE
    with suppress(OSError):
        if (mark := read(aside)) is not None and (text := read(card.boot / SETTINGS)) is not None:
            if mark.strip() == digest(text):
                return f"{SETTINGS} was set aside by a reset: change it on the boot partition, and it is taken again"
            aside.unlink()
    return _take(card, SETTINGS, check, 0o644)


def take_machine(card: Card) -> tuple[Machine, str]:
    """Put the boot partition's machine.toml in force; return what holds now, and what is wrong, or ""."""
    fault = _take(card, MACHINE, lambda path: read_model(path, Machine), 0o600)
    with suppress(MatError):
        return read_model(card.settings / MACHINE, Machine), fault
    return Machine(), fault


def _take(card: Card, name: str, check: Callable[[Path], object], mode: int) -> str:
    """Keep file `name` of the boot partition, once `check` finds no fault with it beside the one kept before."""
    kept, candidate = card.settings / name, card.settings / f"new-{name}"
    last = "the last good one holds" if kept.exists() else "the defaults hold"
    text = None
    with suppress(OSError):
        text = read(card.boot / name)
    if text is None:
        return f"there is no {name} on the boot partition that can be read; {last}"
    try:
        replace(candidate, text, mode)
        check(candidate)
        if text != read(kept):
            replace(kept, text, mode)
    except MatError as error:
        return f"{error.what.replace(str(candidate), name)}\n{error.todo}\n{name} was not taken: {last}"
    except OSError as error:
        return f"{name} was not taken, {last}: {error}"
    finally:
        with suppress(OSError):
            candidate.unlink(missing_ok=True)
    return ""


def wpa_settings(wifi: Wifi) -> str:
    """Return wpa_supplicant's settings for a Wi-Fi; "" for none."""
    if not wifi.network:
        return ""
    secret = wifi.password if len(wifi.password) == 64 else f'"{wifi.password}"'
    lines = [
        f"ssid={wifi.network.encode().hex()}",
        *(["scan_ssid=1"] if wifi.hidden else []),
        *(["key_mgmt=WPA-PSK WPA-PSK-SHA256 SAE", "ieee80211w=1", f"psk={secret}"] if wifi.password else []),
        *([] if wifi.password else ["key_mgmt=NONE"]),
    ]
    country = f"country={wifi.country}\n" if wifi.country else ""
    return country + "network={\n" + "".join(f"\t{line}\n" for line in lines) + "}\n"


def take_keys(card: Card) -> str:
    """Open ssh to the keys on the boot partition, if there are any; return what is wrong, or ""."""
    path = next((path for name in KEYS if (path := card.boot / name).is_file()), None)
    if path is None:
        return ""
    lines = [line.strip() for line in (read(path) or "").splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    fit = [key for key in keys if _is_key(key)]
    if fit:
        _host_key(card.state / "ssh")
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


def _host_key(folder: Path) -> None:
    """Make the machine's own key, once."""
    folder.mkdir(mode=0o700, exist_ok=True)
    key = folder / "ssh_host_ed25519_key"
    if not key.exists() or not key.stat().st_size:
        key.unlink(missing_ok=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", NAME, "-f", str(key)], check=True)


def keep_machine_id(card: Card, now: Path = Path("/etc/machine-id")) -> None:
    """Keep the id that the machine was given at its first start; the initramfs gives it back."""
    kept = card.state / "machine-id"
    if not read(kept) and re.fullmatch(r"[0-9a-f]{32}\n?", text := read(now) or ""):
        replace(kept, text, 0o444)


def main() -> int:
    """Take all of it; return 0."""
    card = Card()
    card.run.mkdir(exist_ok=True)
    faults = [take_table(card)]
    machine, fault = take_machine(card)
    faults.append(fault)
    for step in (
        lambda: take_keys(card),
        lambda: take_signers(card),
        lambda: keep_machine_id(card),
        lambda: _in_force(card, machine),
    ):
        try:
            faults.append(step() or "")
        except (OSError, subprocess.CalledProcessError) as error:
            faults.append(str(error))
    found = "\n".join(filter(None, faults))
    print(found, file=sys.stderr)
    replace(card.run / "faults", found, 0o644)
    return 0


def _in_force(card: Card, machine: Machine) -> None:
    if wpa := wpa_settings(machine.wifi):
        replace(card.run / "wpa_supplicant.conf", wpa, 0o600)
    if any((card.boot / name).exists() for name in NEW_HEAD):
        replace(card.run / NEW_HEAD[0], "", 0o644)
    zone = card.run / "localtime"
    zone.unlink(missing_ok=True)
    zone.symlink_to(ZONES / machine.zone)
    socket.sethostname(machine.name)


if __name__ == "__main__":
    sys.exit(main())
