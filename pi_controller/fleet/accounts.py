"""The tables' accounts at the broker: what each is given, and one more while the broker runs.

An account is a line in Mosquitto's password file and a folder under `tables` with what its table needs. Mosquitto reads
the file again on a signal, and nobody's connection is lost by that.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from pathlib import Path

from pi_controller.errors import MatError
from pi_controller.fleet.hub_settings import FILE
from pi_controller.fleet.joining import Account
from pi_controller.private_files import make_private
from pi_controller.whole_files import replace_file

CA, PASSWORDS, PID = "ca.crt", "passwords", "mosquitto.pid"
TABLES, PASSWORD, JOINED = "tables", "password", "joined"
_SNIPPET = """\
[hub]
address = "{host}"
port = {port}
venue = "{venue}"
table = "{table}"
password_file = "{password}"
ca = "{ca}"
"""


class HubSetupError(MatError, OSError):
    """The hub's files cannot be made."""

    code = "hub-setup"


def table_settings(host: str, port: int, venue: str, table: str, password: str, ca: str) -> str:
    """Return what stands in the settings of a table; `password` and `ca` are paths."""
    plain = {"password": password, "ca": ca}
    escaped = {key: path.replace("\\", "\\\\").replace('"', '\\"') for key, path in plain.items()}
    return _SNIPPET.format(host=host, port=port, venue=venue, table=table, **escaped)


def write_private(path: Path, content: bytes) -> None:
    """Put `content` at `path`, whole or not at all, for the owner of its folder to read and nobody else.

    Raises `OSError`.
    """
    replace_file(path, content, 0o600)
    make_private(path)  # what root has written belongs to the owner of the folder


def kept_password(path: Path) -> str:
    """Return the password in `path`, a fresh one where there is none. Raises `OSError`."""
    if not path.is_file():
        write_private(path, f"{secrets.token_urlsafe(32)}\n".encode())
    return path.read_text("utf-8").strip()


def hashed(folder: Path, passwords: dict[str, str]) -> bytes:
    """Return the lines of Mosquitto's password file for these accounts. Raises `HubSetupError`, `OSError`."""
    plain = folder / f".{PASSWORDS}.new"  # a file: what is written after a command everybody here can read
    write_private(plain, "".join(f"{account}:{password}\n" for account, password in passwords.items()).encode())
    try:
        done = subprocess.run(["mosquitto_passwd", "-U", plain], capture_output=True, text=True, check=False)
        if done.returncode:
            raise HubSetupError(f"mosquitto_passwd failed: {done.stderr.strip()}", "see that Mosquitto is of version 2")
        return plain.read_bytes()
    finally:
        plain.unlink()


def write_table_files(folder: Path, host: str, port: int, venue: str, table: str) -> None:
    """Write what a table needs beside its password: the certificate and its part of the settings. Raises `OSError`."""
    place = folder / TABLES / table
    write_private(place / CA, (folder / CA).read_bytes())
    write_private(place / FILE, table_settings(host, port, venue, table, PASSWORD, CA).encode())


def has_joined(folder: Path, table: str) -> bool:
    """Return whether a table was given the account called so by a code."""
    return (folder / TABLES / table / JOINED).exists()


def account_for(folder: Path, host: str, port: int, venue: str, table: str, *, anew: bool) -> Account:
    """Return the account of `table`, made where there is none; with `anew` its password is another from now on.

    The broker has to read its accounts again after that (`reload_broker`). Raises `HubSetupError`.
    """
    place = folder / TABLES / table
    try:
        if anew or not (place / PASSWORD).is_file():
            password = secrets.token_urlsafe(32)
            others = (folder / PASSWORDS).read_bytes().splitlines(keepends=True)
            kept = [line for line in others if not line.startswith(f"{table}:".encode())]
            write_private(folder / PASSWORDS, b"".join(kept) + hashed(folder, {table: password}))
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(place / PASSWORD, f"{password}\n".encode())
            write_table_files(folder, host, port, venue, table)
        password = (place / PASSWORD).read_text("utf-8").strip()
        return Account(host, port, venue, table, password, (folder / CA).read_text("utf-8"))
    except OSError as error:
        what = f"the account of {table} cannot be made: {error.strerror or error}"
        raise HubSetupError(what, "see that the hub may write its folder, and that Mosquitto is installed") from error


def reload_broker(folder: Path) -> None:
    """Have the broker of `folder` read its accounts again. Raises `HubSetupError` where it is not to be found."""
    try:
        number = int((folder / PID).read_text("ascii"))
        program = Path(f"/proc/{number}/comm").read_text("utf-8").strip()
        if program != "mosquitto":  # it was killed, and its number is another program's by now
            raise ProcessLookupError(f"number {number} is {program}")
        os.kill(number, signal.SIGHUP)
    except (OSError, ValueError) as error:
        raise HubSetupError(
            "the broker cannot be told of a new account",
            "run 'moccasin-mat hub setup' once more and start the broker again; games go on meanwhile",
        ) from error
