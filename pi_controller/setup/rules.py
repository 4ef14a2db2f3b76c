"""Who may open which device: the udev rules, and the service's user with its groups for systemd-sysusers."""

from __future__ import annotations

from pathlib import Path

from pi_controller.setup.place import NAME
from pi_controller.setup.unit import GROUPS

UDEV_FILE = Path("/etc/udev/rules.d/60-moccasin-mat.rules")
SYSUSERS_FILE = Path("/etc/sysusers.d/moccasin-mat.conf")
VENDORS = {"2e8a": "Raspberry Pi", "239a": "Adafruit"}
"""USB vendors of the boards the firmware runs on; Waveshare's boards use Raspberry Pi's number under MicroPython."""


def udev() -> str:
    """Return the rules. The names in /dev/serial/by-id are the system's own rules' work."""
    boards = "".join(
        f"# the mat board, {maker}; a modem program must not talk to it\n"
        f'SUBSYSTEM=="tty", ATTRS{{idVendor}}=="{vendor}", '
        'GROUP="dialout", MODE="0660", ENV{ID_MM_DEVICE_IGNORE}="1"\n'
        for vendor, maker in VENDORS.items()
    )
    return (
        f"# Written by 'moccasin-mat setup'.\n{boards}"
        "# buttons; light strips over SPI, or the PIO of a Pi 5; a touch chip on the Pi's own pins\n"
        'SUBSYSTEM=="gpio", KERNEL=="gpiochip*", GROUP="gpio", MODE="0660"\n'
        'SUBSYSTEM=="spidev", GROUP="spi", MODE="0660"\n'
        'SUBSYSTEM=="i2c-dev", GROUP="i2c", MODE="0660"\n'
        'SUBSYSTEM=="*-pio", GROUP="gpio", MODE="0660"\n'
    )


def sysusers(state: Path) -> str:
    """Return the service's user, who cannot log in, in the groups that may open the devices."""
    groups = "".join(f"g {group} -\nm {NAME} {group}\n" for group in GROUPS)
    return f"# Written by 'moccasin-mat setup'.\nu {NAME} - \"Moccasin Mat\" {state}\n{groups}"
