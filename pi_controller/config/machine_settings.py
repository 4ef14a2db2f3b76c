"""The settings of a card's machine (`machine.toml`): its name, time zone, Wi-Fi, screen, clock, and if it runs a hub.

Also the files that put its Wi-Fi in force: wpa_supplicant joins a network, or opens the machine's own network, in which
dnsmasq gives addresses and answers every name with this machine. Rejected: NetworkManager, which does the same with
these two programs and would replace the card's tested start of systemd-networkd.
"""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, model_validator

from pi_controller.config.fields import InvalidValueError, Section, SettingsIssue, raise_issues
from pi_controller.host.place import NAME
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
    raise InvalidValueError("must be up to 63 small letters, digits and -, not {text}", text=format_value(text))


def _check_zone(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*", text) and (ZONES / text).is_file():
        return text
    raise InvalidValueError('must be a time zone like "America/Winnipeg", not {text}', text=format_value(text))


def _check_country(text: str) -> str:
    if re.fullmatch(r"[A-Z]{2}|", text):
        return text
    raise InvalidValueError('must be two capital letters like "US", not {text}', text=format_value(text))


def _check_network(text: str) -> str:
    if len(text.encode()) <= 32:
        return text
    raise InvalidValueError("must be the name of a Wi-Fi, 32 bytes at most")


def _check_password(text: object) -> str:
    # none of its faults shows what was written
    if isinstance(text, str) and re.fullmatch(r"|[ -~]{8,63}|[0-9a-fA-F]{64}", text):
        return text
    raise InvalidValueError("must be text in quotes, of 8 to 63 characters, or empty for an open network")


def _check_output(text: str) -> str:
    if re.fullmatch(r"|[A-Za-z]+(-[A-Z])?-[0-9]+", text):
        return text
    raise InvalidValueError('must be an output like "HDMI-A-1", not {text}', text=format_value(text))


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
                SettingsIssue(
                    ("country",),
                    'is missing: two capital letters like "US", because each country has its own rules for Wi-Fi',
                )
            )
        if self.own and not self.network:
            found.append(SettingsIssue(("network",), "is missing: the name of the network that the machine opens"))
        if self.own and not 8 <= len(self.password) <= 63:
            found.append(SettingsIssue(("password",), "is missing: the machine's own network needs 8 to 63 characters"))
        raise_issues(found)
        return self


class ScreenSettings(Section):
    """The machine's own screen: turned clockwise by so many degrees; `output` is "" for the first."""

    rotate: Literal[0, 90, 180, 270] = 0
    output: Annotated[str, AfterValidator(_check_output)] = ""


class ClockSettings(Section):
    """A clock with a battery on the Pi's pins 1, 3, 5 and 6; "" for none."""

    chip: Literal["", "ds3231"] = ""


class Machine(Section):
    """All of `machine.toml`. `hub`: the machine runs a tournament's hub; None until somebody has chosen."""

    name: Annotated[str, AfterValidator(_check_host_name)] = NAME
    zone: Annotated[str, AfterValidator(_check_zone)] = "UTC"
    hub: bool | None = None
    wifi: Wifi = Wifi()
    screen: ScreenSettings = ScreenSettings()
    clock: ClockSettings = ClockSettings()


def list_countries(folder: Path = ZONES) -> dict[str, str]:
    """Return the names of the countries by their codes, in the order of the names; {} without the list."""
    try:
        lines = (folder / COUNTRIES).read_text("utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("\t", 1) for line in lines if not line.startswith("#") and "\t" in line)
    return dict(sorted(((code, name) for code, name in pairs), key=lambda pair: pair[1]))
