"""Announce the pages on the network as `_http._tcp`, by a service file for the machine's avahi-daemon.

mDNS expects one responder for each machine, and a Pi already runs one, so the playing program needs no further code.
Rejected: python-zeroconf in the table (a second responder beside avahi's, with threads of its own).
"""

from pathlib import Path
from xml.sax.saxutils import escape

from pi_controller.card import service_unit
from pi_controller.card.changes import WholeFile
from pi_controller.config import Settings
from pi_controller.host.place import Place
from pi_controller.web.address import is_public_host

FILE = Path("/etc/avahi/services/moccasin-mat.service")
DAEMON = Path("/usr/sbin/avahi-daemon")
MAX_NAME_BYTES = 63
"""Longest name in DNS, bytes."""


def plan_announcement(place: Place, settings: Settings) -> tuple[list[WholeFile], list[str]]:
    """Return the file that announces the pages if the settings ask for it, and notes for the user."""
    web = settings.web
    if not web.announce:
        there = place.on_disk(FILE).exists()
        return [], [f"{FILE} still announces the pages: remove it, [web] announce is off"] if there else []
    if not place.system:
        return [], ["[web] announce needs the system's service: 'sudo moccasin-mat setup'"]
    if not (web.enabled and web.port and is_public_host(web.host)):
        return [], ['nothing is announced: that needs [web] enabled, a port other than 0, and a host like "0.0.0.0"']
    notes = [] if place.on_disk(DAEMON).exists() else ["to announce the pages: sudo apt install avahi-daemon"]
    return [WholeFile(FILE, announcement_text(settings.table.name, web.port))], notes


def announcement_text(table: str, port: int) -> str:
    """Return the text of the service file for the pages of `table` at `port`."""
    name = f"Moccasin Mat, {table}".encode()[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    return service_unit.fill_in("avahi.xml", name=escape(name), port=port)
