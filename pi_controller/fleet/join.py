"""A table's own part of joining a hub: calls it, gets the account, and writes that down, all of it or nothing.

Needs none of a hub's packages.
"""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from pydantic import ValidationError

from pi_controller.errors import SettingsError, UsageError
from pi_controller.fleet.accounts import table_settings, write_private
from pi_controller.fleet.joining import (
    MOST_BYTES,
    PORT,
    VERSION,
    Account,
    JoinCode,
    JoinError,
    JoinRefused,
    JoinRequest,
    line_of,
)
from pi_controller.table.settings import load
from pi_controller.table.settings_table import HubSection
from pi_controller.table.toml_lines import key_lines
from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from pathlib import Path

CALL_S = 30.0
"""How long the hub may take; its broker has a part of that."""
PASSWORD, CA = "hub.password", "hub.crt"


class Written(NamedTuple):
    """What was written where."""

    settings: Path
    password: Path
    ca: Path
    account: Account


def address_of(text: str) -> tuple[str, int]:
    """Return host and port of "hub.local", "hub.local:8884" or "[2001:db8::7]:8884". Raises `UsageError`."""
    host, colon, port = text.rpartition(":")
    if not colon or "]" in port or (":" in host and not host.startswith("[")):
        host, port = text, str(PORT)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535 or "/" in host:
        raise UsageError(f"{text!r} is no address of a hub", "type it as the director's console shows it")
    return host, int(port)


def join(address: str, code: JoinCode, path: Path) -> Written:
    """Have the table whose settings are in the file `path` join the hub at `address`.

    Nothing is written and the code is not used up where this machine cannot keep what it would get. Raises
    `SettingsError`, `UsageError` and `JoinError`.
    """
    private = _writable(path)
    account = call(*address_of(address), code)
    return _written(account, path, private)


def call(host: str, port: int, code: JoinCode) -> Account:
    """Return the account that the hub gives for this code; nothing is sent before it has shown who it is.

    Raises `JoinError`.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the code is what the certificate has to fit
    try:
        with (
            socket.create_connection((host, port), CALL_S) as plain,
            context.wrap_socket(plain) as line,
        ):
            right = code.is_of(line.getpeercert(binary_form=True) or b"")
            answer = _asked(line, code) if right else b""
    except OSError as error:
        raise JoinError(
            f"the hub at {host} port {port} does not answer: {error.strerror or error}",
            "see that both are on one network and that the code is still good: the hub listens no longer than that",
        ) from error
    if not right:
        raise JoinError(
            f"who answers at {host} port {port} is not the hub that this code is from; nothing was sent",
            "compare the address with the console's and take a new code; where both are right, somebody stands between",
        )
    return _understood(answer)


def _asked(line: ssl.SSLSocket, code: JoinCode) -> bytes:
    line.sendall(line_of(JoinRequest(VERSION, code.once)))
    with line.makefile("rb") as lines:
        return lines.readline(MOST_BYTES)


def _understood(answer: bytes) -> Account:
    try:
        found = msgspec.json.decode(answer, type=Account | JoinRefused)
        refused, account = (found, None) if isinstance(found, JoinRefused) else (None, _checked(found))
    except (msgspec.MsgspecError, UnicodeDecodeError, ValidationError, OSError) as error:
        raise JoinError(
            "what the hub sent is not understood; nothing was written", "bring table and hub to the same version"
        ) from error
    if refused is not None:
        raise JoinError(refused.what, refused.todo)
    assert account is not None
    return account


def _checked(account: Account) -> Account:
    """Return the account where it can stand in the settings. Raises `ValidationError`, `OSError`."""
    HubSection(address=account.host, port=account.port, venue=account.venue, table=account.table, ca=CA)
    ssl.create_default_context(cadata=account.ca)
    return account


def _writable(path: Path) -> Path:
    """Return the folder for the account's files: the journal's, which belongs to who runs the table.

    Raises `SettingsError`, `UsageError`.
    """
    settings = load(path)
    if settings.hub.address or ("hub",) in key_lines(path.read_text("utf-8-sig").replace("\r\n", "\n")):
        raise UsageError(
            f"{path} has a [hub] already{f': {settings.hub.address}' if settings.hub.address else ''}",
            "take this section out of it, then once more",
        )
    private = settings.table.journal.absolute().parent
    if not private.is_dir():
        raise UsageError(f"there is no folder {private} for this table's journal", "start the table once, then again")
    for place in (path.absolute().parent, private):
        if not os.access(place, os.W_OK | os.X_OK):
            raise UsageError(f"nothing can be written to {place}", "do it as who runs the table, or with sudo")
    return private


def _written(account: Account, path: Path, private: Path) -> Written:
    beside = private == path.absolute().parent
    password, ca = private / PASSWORD, private / CA
    named = (PASSWORD, CA) if beside else (str(password), str(ca))
    before, status = path.read_bytes(), path.stat()
    section = table_settings(account.host, account.port, account.venue, account.table, *named)
    try:
        write_private(password, f"{account.password}\n".encode())
        write_private(ca, account.ca.encode())
        replace_file(path, before.rstrip() + b"\n\n" + section.encode(), status.st_mode & 0o777)
        if os.geteuid() == 0:
            os.chown(path, status.st_uid, status.st_gid)
        load(path)
    except (OSError, SettingsError) as error:
        with suppress(OSError):
            replace_file(path, before, status.st_mode & 0o777)
        for one in (password, ca):
            with suppress(OSError):
                one.unlink(missing_ok=True)
        raise JoinError(
            f"the account of {account.table} cannot be kept here, and nothing was: {error}",
            "make room, then have the director open a new code for it, as for a new card",
        ) from error
    return Written(path, password, ca, account)
