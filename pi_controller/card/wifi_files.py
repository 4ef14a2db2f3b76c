"""The files of a Wi-Fi, written below CARD_RUN at each start."""

import secrets
from pathlib import Path

from pi_controller.config.machine_settings import HUB_PORT, START_PAGE, Machine, Wifi
from pi_controller.config.own_network import OWN_ADDRESS
from pi_controller.host.place import NAME

DEVICE = "wlan0"
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
