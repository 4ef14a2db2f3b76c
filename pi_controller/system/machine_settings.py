"""The settings of a card's machine (`machine.toml`): its name, time zone, Wi-Fi, screen, clock, and if it runs a hub.

Also the files that put its Wi-Fi in force: wpa_supplicant joins a network, or opens the machine's own network, in which
dnsmasq gives addresses and answers every name with this machine. Rejected: NetworkManager, which does the same with
these two programs and would replace the card's tested start of systemd-networkd.
"""

import os
import re
import secrets
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from pydantic import AfterValidator, BeforeValidator, model_validator

from pi_controller.config.fields import Section, SettingsIssue, raise_issues
from pi_controller.system.place import NAME
from pi_controller.text import format_value

FILE = "machine.toml"
ZONES = Path("/usr/share/zoneinfo")
COUNTRIES = "iso3166.tab"
"""In the folder of the time zones: codes and names of the countries."""
CARD_RUN = Path("/run") / f"{NAME}-card"
"""On a card: what is in force until the next start."""
HUB_NAME = "mat-hub"
"""Name of a machine with a hub, if the host chose none: tables find it by NAME.local."""

HUB_PORT, HTTPS_PORT = 8090, 8443
"""Ports of the hub's boards, and of the same pages with encryption."""
START_PAGE = "/judge/start"
"""The page where the head judge chooses what a card is for."""


def _check_host_name(text: str) -> str:
    if re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", text):
        return text
    raise ValueError(f"must be up to 63 small letters, digits and -, not {format_value(text)}")


def _check_zone(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*", text) and (ZONES / text).is_file():
        return text
    raise ValueError(f'must be a time zone like "America/Winnipeg", not {format_value(text)}')


def _check_country(text: str) -> str:
    if re.fullmatch(r"[A-Z]{2}|", text):
        return text
    raise ValueError(f'must be two capital letters like "US", not {format_value(text)}')


def _check_network(text: str) -> str:
    if len(text.encode()) <= 32:
        return text
    raise ValueError("must be the name of a Wi-Fi, 32 bytes at most")


def _check_password(text: object) -> str:
    # none of its faults shows what was written
    if isinstance(text, str) and re.fullmatch(r"|[ -~]{8,63}|[0-9a-fA-F]{64}", text):
        return text
    raise ValueError("must be text in quotes, of 8 to 63 letters, digits and signs, or empty for an open network")


def _check_output(text: str) -> str:
    if re.fullmatch(r"|[A-Za-z]+(-[A-Z])?-[0-9]+", text):
        return text
    raise ValueError(f'must be an output like "HDMI-A-1", not {format_value(text)}')


class Wifi(Section):
    """The Wi-Fi; `network` is "" for none. With `own` the machine opens it; None until somebody has chosen."""

    country: Annotated[str, AfterValidator(_check_country)] = ""
    network: Annotated[str, AfterValidator(_check_network)] = ""
    password: Annotated[str, BeforeValidator(_check_password)] = ""
    hidden: bool = False
    own: bool | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> "Wifi":
        found: list[SettingsIssue] = []
        if self.network and not self.country and not self.own:
            found.append(
                SettingsIssue(("country",), 'is missing: two capital letters like "US"; what may be sent differs')
            )
        if self.own and not self.network:
            found.append(SettingsIssue(("network",), "is missing: the name of the network that the machine opens"))
        if self.own and not 8 <= len(self.password) <= 63:
            found.append(SettingsIssue(("password",), "is missing: the machine's own network needs 8 to 63 signs"))
        raise_issues(found)
        return self


class Screen(Section):
    """The machine's own screen: turned clockwise by so many degrees; `output` is "" for the first."""

    rotate: Literal[0, 90, 180, 270] = 0
    output: Annotated[str, AfterValidator(_check_output)] = ""


class Clock(Section):
    """A clock with a battery on the Pi's pins 1, 3, 5 and 6; "" for none."""

    chip: Literal["", "ds3231"] = ""


class Machine(Section):
    """All of `machine.toml`. `hub`: the machine runs a tournament's hub; None until somebody has chosen."""

    name: Annotated[str, AfterValidator(_check_host_name)] = NAME
    zone: Annotated[str, AfterValidator(_check_zone)] = "UTC"
    hub: bool | None = None
    wifi: Wifi = Wifi()
    screen: Screen = Screen()
    clock: Clock = Clock()


def list_countries(folder: Path = ZONES) -> dict[str, str]:
    """Return the names of the countries by their codes, in the order of the names; {} without the list."""
    try:
        lines = (folder / COUNTRIES).read_text("utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("\t", 1) for line in lines if not line.startswith("#") and "\t" in line)
    return dict(sorted(((code, name) for code, name in pairs), key=lambda pair: pair[1]))


# The files of a Wi-Fi, written below CARD_RUN at each start.

DEVICE = "wlan0"
OWN_ADDRESS = "10.42.0.1"
"""The machine's address in its own network."""
OWN_MHZ = 2437
"""Channel 6: allowed in every country, and by the kernel before it knows the country."""
_PASSWORD_SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"  # noqa: S105 - no sign that looks like another one
_PASSWORD_GROUPS = 3


def wpa_settings(wifi: Wifi) -> str:
    """Return wpa_supplicant's settings for a Wi-Fi to join or to open; "" for none."""
    if not wifi.network:
        return ""
    secret = wifi.password if len(wifi.password) == 64 else f'"{wifi.password}"'
    lines = [f"ssid={wifi.network.encode().hex()}", *(["scan_ssid=1"] if wifi.hidden and not wifi.own else [])]
    if wifi.own:
        # WPA2 alone: the Pi's chip cannot be a WPA3 access point
        lines += ["mode=2", f"frequency={OWN_MHZ}", "key_mgmt=WPA-PSK", "proto=RSN", "pairwise=CCMP", "group=CCMP"]
        lines.append(f"psk={secret}")
    elif wifi.password:
        lines += ["key_mgmt=WPA-PSK WPA-PSK-SHA256 SAE", "ieee80211w=1", f"psk={secret}"]
    else:
        lines.append("key_mgmt=NONE")
    country = f"country={wifi.country}\n" if wifi.country else ""
    return country + "network={\n" + "".join(f"\t{line}\n" for line in lines) + "}\n"


def networkd_settings() -> str:
    """Return systemd-networkd's settings of the machine's own network, which come before those of any network."""
    return f"[Match]\nName={DEVICE}\n\n[Network]\nAddress={OWN_ADDRESS}/24\n\n[Link]\nRequiredForOnline=no\n"


def dnsmasq_settings() -> str:
    """Return dnsmasq's settings: addresses for phones and tables, and this machine as the answer to every name.

    So a phone's question whether it has the internet comes here too, and is answered with the page.
    """
    first, last = OWN_ADDRESS.replace(".1", ".20"), OWN_ADDRESS.replace(".1", ".250")
    lines = [
        f"interface={DEVICE}",
        "except-interface=lo",
        "bind-dynamic",
        "no-resolv",
        "no-hosts",
        "dhcp-authoritative",
        f"dhcp-range={first},{last},255.255.255.0,12h",
        f"dhcp-leasefile=/run/{NAME}-own-network/leases",
        f"address=/#/{OWN_ADDRESS}",
    ]
    return "".join(f"{line}\n" for line in lines)


def first_page(machine: Machine, port: int) -> str:
    """Return the page for phones in the machine's own network: the choice, then the boards of its hub, or the table.

    `port` is that of the table's pages.
    """
    if machine.hub is None:
        return f"http://{OWN_ADDRESS}:{port}{START_PAGE}"
    return f"http://{OWN_ADDRESS}:{HUB_PORT if machine.hub else port}/"


def new_password() -> str:
    """Return a random password for the machine's own network, 59 bits, in groups of four signs."""
    groups = ("".join(secrets.choice(_PASSWORD_SIGNS) for _ in range(4)) for _ in range(_PASSWORD_GROUPS))
    return "-".join(groups)


def new_network_name() -> str:
    """Return a name for the machine's own network that differs between the cards of a hall."""
    return f"Moccasin Mat {''.join(secrets.choice('23456789') for _ in range(4))}"


def has_wifi(root: Path = Path("/")) -> bool:
    """Return True if this machine has a Wi-Fi device."""
    return any((root / "sys/class/ieee80211").glob("*")) or any((root / "sys/class/net").glob("*/wireless"))


def wifi_code(network: str, password: str) -> str:
    """Return the text of a QR code by which a phone joins a network."""
    from segno.helpers import make_wifi_data  # noqa: PLC0415 - slow to import, and only needed for a QR code

    return make_wifi_data(network, password, "WPA")


# What the card tells its table of the machine: the page and the screen need it, and machine.toml is root's alone.

STATE = "machine.json"


class MachineState(msgspec.Struct, frozen=True):
    """The choices that the machine was started with, and the password of its own network ("" for any other).

    Its file is private to root and the table, because of that password; it is never logged or reported.
    """

    hub: bool | None = None
    own: bool | None = None
    network: str = ""
    country: str = ""
    password: str = ""

    def __repr__(self) -> str:
        """Return it without the password, for messages and tracebacks."""
        return f"MachineState(hub={self.hub}, own={self.own}, network={self.network!r})"


def describe_machine(machine: Machine) -> MachineState:
    """Return what the table may know of `machine`."""
    wifi = machine.wifi
    password = wifi.password if wifi.own else ""
    return MachineState(machine.hub, wifi.own, wifi.network, wifi.country, password)


def write_state(folder: Path, state: MachineState, group: int) -> None:
    """Write the `state` for the table, whose group id is `group`. Raises `OSError`."""
    path = folder / STATE
    path.unlink(missing_ok=True)
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640)
    try:
        os.fchown(file, -1, group)
        os.write(file, msgspec.json.encode(state))
    finally:
        os.close(file)


def read_state(folder: Path = CARD_RUN) -> MachineState | None:
    """Return the state of the card's machine; None if this machine does not run from a card."""
    try:
        return msgspec.json.decode((folder / STATE).read_bytes(), type=MachineState)
    except (OSError, msgspec.MsgspecError):
        return None
