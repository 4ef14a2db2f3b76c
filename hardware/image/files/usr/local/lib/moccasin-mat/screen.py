"""Shows on the machine's screen where the table's pages are found, as a QR code, and what is wrong with the card.

Runs as the table's user and only looks; but for the head judge's first PIN, which it makes where nobody can sign in
yet, and shows until the machine starts anew. It is kept nowhere.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pi_controller.card.service import properties
from pi_controller.card.service_unit import RUN
from pi_controller.card.wifi_files import has_wifi
from pi_controller.config import Settings, read_settings
from pi_controller.config.machine_report import MachineState, read_state
from pi_controller.config.machine_settings import HTTPS_PORT, HUB_PORT, START_PAGE
from pi_controller.config.own_network import OWN_ADDRESS, wifi_code
from pi_controller.errors import MatError
from pi_controller.host.place import SYSTEM_SETTINGS, UNIT
from pi_controller.host.status import FaultChannel, StartFault
from pi_controller.web.address import PageSettings, is_public_host, list_urls, qr_text
from pi_controller.web.judge_setup import new_head, users_path
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.users import Users

KIOSK = Path("/etc/systemd/system/moccasin-mat-kiosk.service")
"""Is there where visitors have a browser on this screen, which would cover a PIN."""
CARD = Path("/run/moccasin-mat-card")
EVERY_S = 3.0
CLEAR = "\033[H\033[2J\033[3J"


def page(
    name: str,
    urls: list[str],
    head: str,
    faults: str,
    table: str,
    fault: StartFault | None = None,
    machine: MachineState | None = None,
) -> Group:
    """Return what the screen shows; `urls` the surest first, `head` whom the first PIN is for, `table` how it is.

    With a `fault` the table has no page: the screen says what is wrong and what to do. `machine` is the machine with a
    network of its own, a hub, or a first start; None for the table alone.
    """
    lines: list[RenderableType] = [Text(f"{name}: {table}", style="bold")]
    if fault is not None:
        card = f"card {fault.card or '-'}, version {fault.version}, since {fault.since}, {fault.code}"
        lines += [Text(fault.message, style="bold"), Text(f"What to do: {fault.hint}"), Text(card)]
        if faults:
            lines.append(Text(""))
    elif urls:
        lines += _codes(urls, machine or MachineState(hub=False))
    else:
        lines.append(Text("No network yet, and this machine has no Wi-Fi of its own: plug in a network cable."))
    lines += [Text(line) for line in filter(None, (head, faults))]
    return Group(*lines)


def _codes(urls: list[str], machine: MachineState) -> list[RenderableType]:
    """Return the codes of the machine's own network and of the page, with their texts."""
    host = urlsplit(urls[0]).hostname
    first = urls[0] + START_PAGE if machine.hub is None else f"http://{host}:{HUB_PORT}" if machine.hub else urls[0]
    lines: list[RenderableType] = [qr_text(first), Text("  or  ".join([first, *urls[1:]]), style="bold")]
    if machine.password:
        both = Table.grid(padding=(0, 4, 0, 0))
        both.add_row(qr_text(wifi_code(machine.network, machine.password)), qr_text(first))
        network = f"1. Wi-Fi: {machine.network}  password: {machine.password}"
        lines = [both, Text(network, style="bold"), Text(f"2. Page: {first}", style="bold")]
    if machine.hub:
        lines.append(Text(f"director: https://{host}:{HTTPS_PORT}/director   this table: {urls[0]}"))
    return [*lines, Text("every page: /find   judges: /judge")]


def head_judge(settings: Settings, *, wanted: bool, covered: bool = False) -> str:
    """Return the head judge's new PIN as a line, where it is `wanted` or nobody can sign in yet; else "".

    On a screen that is `covered` by a browser it must be wanted.
    """
    if (covered and not wanted) or not (covered or settings.web.judges):
        return ""
    with closing(Users(users_path(settings))) as users:
        if users.list_users() and not wanted:
            return ""
        name, pin = new_head(users, PinHasher())
    where = "/staff" if covered else "/judge"
    return f"sign in at {where} as {name} with the PIN {pin}: write it down, it is shown until the next start"


def condition() -> str:
    """Return how the table's service is, with the end of its log where it does not run."""
    told = properties()
    state = told.get("ActiveState", "unknown")
    if state == "active":
        return told.get("StatusText") or "ready"
    if state == "activating" and told.get("NRestarts", "0") == "0":
        return "starts"
    command = ["journalctl", "-u", UNIT, "-n", "4", "-o", "cat", "--no-pager"]
    log = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
    return f"the table does not run ({state})\n{log.strip()}"


def hub_condition() -> str:
    """Return a line if the hub of this machine does not run; "" if it does."""
    command = ["systemctl", "is-active", "moccasin-mat-hub"]
    state = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return "" if state == "active" else f"the hub does not run yet: {state}"


def main() -> int:
    """Show it, and again whenever it changed. Ends never by itself."""
    console = Console(force_terminal=True, color_system="standard", highlight=False, soft_wrap=True)
    shown, head, asked = "", "", False
    while True:
        faults, fault = _read(CARD / "faults"), FaultChannel(RUN).read()
        table, urls, name = condition(), [], "Moccasin Mat"
        machine = None if KIOSK.exists() else read_state(CARD)
        if machine is not None and not has_wifi():
            machine = msgspec.structs.replace(machine, password="")
        if machine is not None and machine.hub:
            faults = "\n".join(filter(None, (faults, hub_condition())))
        try:
            settings = read_settings(SYSTEM_SETTINGS)
            name, web = settings.table.name, settings.web
            if web.enabled:
                at = OWN_ADDRESS if machine is not None and machine.password else ""
                urls = list_urls(PageSettings(address=web.address, reach=is_public_host(web.host)), web.port, asked=at)
            if not asked and properties().get("ActiveState") == "active":
                head, asked = (
                    head_judge(settings, wanted=(CARD / "new-head-judge").exists(), covered=KIOSK.exists()),
                    True,
                )
        except MatError as error:
            faults = faults if fault is not None else "\n".join(filter(None, (faults, str(error))))
        with console.capture() as drawn:
            console.print(page(name, urls, head, faults, table, fault, machine))
        if drawn.get() != shown:
            shown = drawn.get()
            print(CLEAR + shown, end="", flush=True)
        time.sleep(EVERY_S)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
