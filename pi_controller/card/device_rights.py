"""Device permissions: the udev rules, and the service's user with its groups for systemd-sysusers."""

from pathlib import Path

from pi_controller.card.service_unit import GROUPS, fill_in
from pi_controller.host.place import NAME

UDEV_FILE = Path("/etc/udev/rules.d/60-moccasin-mat.rules")
SYSUSERS_FILE = Path("/etc/sysusers.d/moccasin-mat.conf")


def udev() -> str:
    """Return the udev rules. The names in /dev/serial/by-id come from the system's own rules.

    Waveshare's boards use Raspberry Pi's vendor number under MicroPython.
    """
    return fill_in("60-moccasin-mat.rules")


def sysusers(state: Path) -> str:
    """Return the entry of the service's user, without a login, in the groups that may open the devices."""
    groups = "".join(f"g {group} -\nm {NAME} {group}\n" for group in GROUPS)
    return f"# Written by 'moccasin-mat service install'.\nu {NAME} - \"Moccasin Mat\" {state}\n{groups}"
