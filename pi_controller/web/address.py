"""URLs and QR codes of the pages for other machines: the organiser's address, else this machine's IP and name."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from markupsafe import Markup
from rich.style import Style
from rich.text import Text

if TYPE_CHECKING:
    import segno

    from pi_controller.web.host_marks import HostMarks

_ELSEWHERE = ("192.0.2.1", 9)  # a documentation address: nothing is sent, the system only chooses the interface
_QUIET = 4  # modules of empty border, required by the standard
_INK = Style(color="#000000", bgcolor="#ffffff")
LOCAL = Path("/run/avahi-daemon")
"""Exists while avahi-daemon runs, which makes this machine reachable by its name with .local."""


class PageSettings(NamedTuple):
    """The organiser's settings of the pages.

    `address` is the public address, if it is not this machine's own name or IP; `event` is the name of the event,
    `table` the table's, `words` the community's own text. `reach` is whether other machines can reach the pages.
    `embed` are the sites that may show the public pages inside their own, `host` the host's own marks.
    """

    address: str = ""
    event: str = ""
    table: str = ""
    words: str = ""
    reach: bool = False
    embed: tuple[str, ...] = ()
    host: HostMarks | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host name in `address`, which the server must accept."""
        return (str(urlsplit(normalize_address(self.address)).hostname),) if self.address else ()


def normalize_address(address: str, scheme: str = "http") -> str:
    """Return an address with a scheme and without a slash at the end."""
    return f"{address if '://' in address else f'{scheme}://{address}'}".rstrip("/")


def list_urls(pages: PageSettings, port: int, scheme: str = "http", asked: str = "") -> list[str]:
    """Return the URLs of the pages, the most reliable first; [] if other machines cannot reach them.

    `asked` is the address of this machine to which the request was sent, `port` the server's port.
    """
    if pages.address:
        return [normalize_address(pages.address, scheme)]
    number = asked if is_external_address(asked) else _own_number() if pages.reach else ""
    if not number and not pages.reach:
        return []
    at = "" if port == {"http": 80, "https": 443}.get(scheme) else f":{port}"
    name = socket.gethostname()
    if "." not in name:
        name = f"{name}.local" if LOCAL.exists() or not number else ""
    hosts = [f"[{number}]" if ":" in number else number, name]
    return [f"{scheme}://{host}{at}" for host in hosts if host]


def is_external_address(address: str) -> bool:
    """Return True if other machines can reach this one at the IP address `address`."""
    try:
        return not ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _own_number() -> str:
    """Return the IP address of the outgoing interface, "" without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(_ELSEWHERE)
        except OSError:
            return ""
        number: str = way.getsockname()[0]
    return number if is_external_address(number) else ""


def is_public_host(host: str) -> bool:
    """Return whether a server at `host` can be reached from other machines."""
    return is_external_address(host) if host[-1:].isdigit() or ":" in host else host != "localhost"


def _code(url: str, error: str) -> segno.QRCode:
    import segno  # noqa: PLC0415 - slow to import, and only needed for a QR code

    return segno.make_qr(url, error=error)


def qr_code(url: str, alt: str) -> Markup:
    """Return the QR code of `url` as SVG; `alt` is its text for screen readers."""
    drawn = _code(url, "m").svg_inline(border=_QUIET, dark="#000", light="#fff", omitsize=True)
    return Markup(drawn.replace("<svg ", Markup('<svg role="img" aria-label="{}" ').format(alt), 1))  # noqa: S704


def qr_text(url: str) -> Text:
    """Return the QR code of `url` for a terminal, two modules in each character."""
    rows = [list(row) for row in _code(url, "l").matrix_iter(border=_QUIET // 2)]
    rows += [[0] * len(rows[0])] * (len(rows) % 2)
    lines = (
        "".join(" ▀▄█"[upper + 2 * lower] for upper, lower in zip(*pair, strict=True))
        for pair in zip(rows[::2], rows[1::2], strict=True)
    )
    return Text("\n").join(Text(line, _INK) for line in lines)
