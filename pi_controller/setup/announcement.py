"""Announces the pages on the network as `_http._tcp`, by a file for the machine's own avahi-daemon.

One answerer a machine is what mDNS is made for, and a Pi has it running; nothing is added to the program that plays.
Passed over: python-zeroconf in the table (a second answerer beside avahi's, with threads of its own).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from pi_controller.setup.changes import WholeFile
from pi_controller.web.address import serves_others

if TYPE_CHECKING:
    from pi_controller.setup.place import Place
    from pi_controller.table.settings import Settings

FILE = Path("/etc/avahi/services/moccasin-mat.service")
DAEMON = Path("/usr/sbin/avahi-daemon")
LONGEST = 63
"""Bytes of a name in DNS."""
_TEXT = """\
<?xml version="1.0" standalone="no"?>
<!DOCTYPE service-group SYSTEM "avahi-service.dtd">
<!-- Written by 'moccasin-mat setup' as [web] announce says; avahi-daemon reads it by itself. -->
<service-group>
  <name>{name}</name>
  <service>
    <type>_http._tcp</type>
    <port>{port}</port>
    <txt-record>path=/</txt-record>
  </service>
</service-group>
"""


def announced(place: Place, settings: Settings) -> tuple[list[WholeFile], list[str]]:
    """Return the file that announces the pages of `settings`, where they say so, and what is to be said of it."""
    web = settings.web
    if not web.announce:
        there = place.on_disk(FILE).exists()
        return [], [f"{FILE} still announces the pages: remove it, [web] announce is off"] if there else []
    if not place.system:
        return [], ["[web] announce needs the system's service: 'sudo moccasin-mat setup'"]
    if not (web.enabled and web.port and serves_others(web.host)):
        return [], ['nothing is announced: that needs [web] enabled, a port other than 0, and a host like "0.0.0.0"']
    notes = [] if place.on_disk(DAEMON).exists() else ["to announce the pages: sudo apt install avahi-daemon"]
    return [WholeFile(FILE, announcement(settings.table.name, web.port))], notes


def announcement(table: str, port: int) -> str:
    """Return the text of the file for the pages of `table` at `port`."""
    name = f"Moccasin Mat, {table}".encode()[:LONGEST].decode("utf-8", "ignore")
    return _TEXT.format(name=escape(name), port=port)
