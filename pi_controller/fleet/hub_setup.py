"""Makes the files of a hub: Mosquitto's configuration, a certificate of the venue, an account for each table.

Run again it keeps every key and password that is there, so tables can be added in the middle of a tournament.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
from typing import TYPE_CHECKING

from pi_controller.errors import UsageError
from pi_controller.fleet.accounts import (
    CA,
    PASSWORD,
    PASSWORDS,
    PID,
    TABLES,
    HubSetupError,
    hashed,
    kept_password,
    write_private,
    write_table_files,
)
from pi_controller.fleet.certificates import SERVER, SERVER_KEY, write_certificates
from pi_controller.fleet.home_assistant import ACCOUNT as HOME
from pi_controller.fleet.home_assistant import PREFIX
from pi_controller.fleet.hub_settings import ACCOUNT, FILE
from pi_controller.fleet.messages import MOST_BYTES, ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

CONF, ACL, HOME_PASSWORD = "mosquitto.conf", "acl", "home.password"

_CONF = """\
# Written by 'moccasin-mat hub setup'.
user {user}
listener {port}
cafile {folder}/{ca}
certfile {folder}/{server}
keyfile {folder}/{server_key}
tls_version tlsv1.3
allow_anonymous false
password_file {folder}/{passwords}
acl_file {folder}/{acl}
# by which the hub has it read these two again when a table joins
pid_file {folder}/{pid}
# what has to last stands in the tables' journals and in the hub's own file
persistence false
message_size_limit {most}
max_keepalive 60
"""
_ACL = """\
# What is not allowed here is denied. %u is the account's own name.
pattern write {root}/{venue}/t/%u/hello
pattern write {root}/{venue}/t/%u/ev
pattern write {root}/{venue}/t/%u/state
pattern write {root}/{venue}/t/%u/view
pattern write {root}/{venue}/t/%u/match
pattern write {root}/{venue}/t/%u/health
pattern read {root}/{venue}/t/%u/ack
pattern read {root}/{venue}/t/%u/cmd/+
pattern read {root}/{venue}/hub/state

user {hub}
topic readwrite {root}/{venue}/#
"""
_HUB = """\
[venue]
name = "{venue}"
[broker]
address = "{host}"
port = {port}
password_file = "hub.password"
ca = "{ca}"
"""
_ANNOUNCING_ACL = """\
topic readwrite {prefix}/#
"""
_HOME_ACL = """\

user {home}
topic read {prefix}/#
topic read {root}/{venue}/t/+/state
topic read {root}/{venue}/t/+/health
"""
_HOME = """\
[home_assistant]
discovery = true
"""


def set_up(
    folder: Path,
    venue: str,
    tables: Sequence[str],
    hosts: Sequence[str],
    port: int,
    now: datetime,
    *,
    home: bool = False,
) -> None:
    """Write all of it to `folder`. `hosts` are the names and addresses that tables find the broker by, the best first.

    With `home` Home Assistant has an account too, and tables are announced to it.
    Raises `HubSetupError`, and `UsageError` where a table cannot have that name.
    """
    for account in (ACCOUNT, HOME):
        if account in tables:
            raise UsageError(f"no table can be called {account}", "that is an account of its own")
    if shutil.which("mosquitto_passwd") is None:
        raise HubSetupError("mosquitto_passwd is not there", "apt install mosquitto, then once more")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_certificates(folder, venue, hosts, now)
        _accounts(folder, tables, home=home)
        values = {
            "prefix": PREFIX,
            "home": HOME,
            "root": ROOT,
            "venue": venue,
            "hub": ACCOUNT,
            "host": hosts[0],
            "port": port,
            "ca": CA,
        }
        announced = home or (folder / HOME_PASSWORD).exists()  # or the hub could not take it back
        write_private(folder / ACL, (_ACL + _ANNOUNCING_ACL * announced + _HOME_ACL * home).format(**values).encode())
        settings = (_HUB + _HOME * home).format(**values) + _others(folder / FILE)
        write_private(folder / FILE, settings.encode())
        conf = _CONF.format(
            user=pwd.getpwuid(os.geteuid()).pw_name,
            folder=folder.absolute(),
            server=SERVER,
            server_key=SERVER_KEY,
            passwords=PASSWORDS,
            acl=ACL,
            pid=PID,
            most=2 * MOST_BYTES,
            **values,
        )
        write_private(folder / CONF, conf.encode())
        for table in tables:
            write_table_files(folder, hosts[0], port, venue, table)
    except OSError as error:
        raise HubSetupError(f"{folder}: {error.strerror or error}", "choose a folder that may be written") from error


def _others(path: Path) -> str:
    """Return the sections of the hub's settings at `path` that people write themselves, "" where there are none."""
    if not path.is_file():
        return ""
    sections = re.split(r"^(?=[ \t]*\[)", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return "".join(one for one in sections if not re.match(r"\s*\[\s*(venue|broker|home_assistant)\s*\]", one))


def known_tables(folder: Path) -> list[str]:
    """Return the tables that have an account already."""
    return sorted(path.parent.name for path in folder.glob(f"{TABLES}/*/{PASSWORD}"))


def _accounts(folder: Path, tables: Sequence[str], *, home: bool) -> None:
    passwords = {ACCOUNT: kept_password(folder / "hub.password")}
    if home:
        passwords[HOME] = kept_password(folder / HOME_PASSWORD)
    for table in tables:
        place = folder / TABLES / table
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        passwords[table] = kept_password(place / PASSWORD)
    write_private(folder / PASSWORDS, hashed(folder, passwords))
