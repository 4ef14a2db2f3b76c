"""Addresses of the pages for other machines, as URLs and QR codes: the organiser's, else this machine's IP and name."""

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

_ELSEWHERE = ("192.0.2.1", 9)  # a documentation address: nothing is sent, the system only says by which way it would go
_QUIET = 4  # modules of empty border, as the standard wants
_INK = Style(color="#000000", bgcolor="#ffffff")
LOCAL = Path("/run/avahi-daemon")
"""Is there while this machine answers to its name with .local: that is avahi-daemon's work."""


class Pages(NamedTuple):
    """The organiser's settings of the pages.

    `address` is where they are found from outside, where that is not this machine's own name or number; `event` is the
    gathering's name, `table` this table's, `words` the community's own text. `reach` is whether other machines can
    reach them at all.
    """

    address: str = ""
    event: str = ""
    table: str = ""
    words: str = ""
    reach: bool = False

    @property
    def hosts(self) -> tuple[str, ...]:
        """The name in `address`, which the pages then answer to."""
        return (str(urlsplit(base(self.address)).hostname),) if self.address else ()


def base(address: str, scheme: str = "http") -> str:
    """Return an address with its scheme and without a slash at the end."""
    return f"{address if '://' in address else f'{scheme}://{address}'}".rstrip("/")


def addresses(pages: Pages, port: int, scheme: str = "http", asked: str = "") -> list[str]:
    """Return where the pages are found, the surest first; nothing when no other machine can reach them.

    `asked` is the address of this machine at which somebody asks, `port` the one it serves at.
    """
    if pages.address:
        return [base(pages.address, scheme)]
    number = asked if outside(asked) else _own_number() if pages.reach else ""
    if not number and not pages.reach:
        return []
    at = "" if port == {"http": 80, "https": 443}.get(scheme) else f":{port}"
    name = socket.gethostname()
    if "." not in name:
        name = f"{name}.local" if LOCAL.exists() or not number else ""
    hosts = [f"[{number}]" if ":" in number else number, name]
    return [f"{scheme}://{host}{at}" for host in hosts if host]


def outside(address: str) -> bool:
    """Return whether `address` is a number by which other machines can know this one."""
    try:
        return not ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _own_number() -> str:
    """Return the address by which this machine goes out, or nothing when it has no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(_ELSEWHERE)
        except OSError:
            return ""
        number: str = way.getsockname()[0]
    return number if outside(number) else ""


def serves_others(host: str) -> bool:
    """Return whether a server at `host` can be reached from other machines."""
    return outside(host) if host[-1:].isdigit() or ":" in host else host != "localhost"


def _code(url: str, error: str) -> segno.QRCode:
    import segno  # noqa: PLC0415 - with urllib, xml and ssl: only for who looks at a code

    return segno.make_qr(url, error=error)


def qr_code(url: str, alt: str) -> Markup:
    """Return the QR code of `url` as SVG; `alt` is what it is to those who cannot see it."""
    drawn = _code(url, "m").svg_inline(border=_QUIET, dark="#000", light="#fff", omitsize=True)
    return Markup(drawn.replace("<svg ", Markup('<svg role="img" aria-label="{}" ').format(alt), 1))  # noqa: S704


def blocks(url: str) -> Text:
    """Return the QR code of `url` for a terminal, two modules in each character."""
    rows = [list(row) for row in _code(url, "l").matrix_iter(border=_QUIET // 2)]
    rows += [[0] * len(rows[0])] * (len(rows) % 2)
    lines = (
        "".join(" ▀▄█"[upper + 2 * lower] for upper, lower in zip(*pair, strict=True))
        for pair in zip(rows[::2], rows[1::2], strict=True)
    )
    return Text("\n").join(Text(line, _INK) for line in lines)
