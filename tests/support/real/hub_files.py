"""The files of a hub with TLS on free ports, and how its tables reach it."""

from datetime import UTC, datetime

from ports import free_port

from pi_controller.config.model import HubSection
from pi_controller.host.files import write_private_file
from pi_controller.hub.settings import FILE, load_hub, store_from_settings
from pi_controller.hub.setup import CA, write_hub_files
from pi_controller.hub.table_link import make_client
from pi_controller.hub.tokens import Tokens

PATIENCE_S = 60.0
"""A deadline for what takes a second on an idle machine."""
HOSTS = ["127.0.0.1", "localhost"]


def write_hub(folder, tables=(), database=None, venue="hall"):
    """Write the files of a hub that keeps what comes in `database`, with a token for each of its `tables`."""
    folder.mkdir(parents=True, exist_ok=True)
    store = f'[store]\ndatabase = "{database}"\n' if database else ""
    (folder / FILE).write_text(f"[page]\nport = {free_port()}\nhttps = {free_port()}\n{store}")
    write_hub_files(folder, venue, HOSTS, datetime.now(UTC))
    with Tokens(store_of(folder)) as tokens:
        for table in tables:
            write_private_file(folder / f"{table}.token", tokens.issue(table).encode())
    return folder


def store_of(folder):
    """Return where the hub keeps what comes."""
    return store_from_settings(load_hub(folder), folder)


def reach(folder, table, port=None, ca=None):
    """Return the client of `table`, as its settings make it; `port` if it is not the hub's own."""
    return make_client(
        HubSection(
            address="127.0.0.1",
            port=port or load_hub(folder).page.https,
            table=table,
            token_file=str(folder / f"{table}.token"),
            ca=str(ca or folder / CA),
        )
    )
