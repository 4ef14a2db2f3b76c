"""The table's side of joining a hub: call the hub, get the account, and write it to disk completely or not at all.

Needs none of the hub's extra packages.
"""

import os
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from pydantic import ValidationError

from pi_controller import __version__
from pi_controller.config import read_settings
from pi_controller.config.load import key_lines
from pi_controller.config.model import HubSection
from pi_controller.errors import SettingsError, UsageError
from pi_controller.hub.settings import (
    MAX_LINE_BYTES,
    PORT,
    VERSION,
    Account,
    JoinCode,
    JoinError,
    JoinRefused,
    JoinRequest,
    encode_line,
)
from pi_controller.system.files import atomic_write, write_private_file

CALL_S = 30.0
"""Timeout for the hub's answer; the hub needs part of it for its broker."""
PASSWORD, CA = "hub.password", "hub.crt"
_SNIPPET = """\
[hub]
address = "{host}"
port = {port}
venue = "{venue}"
table = "{table}"
password_file = "{password}"
ca = "{ca}"
"""


class JoinResult(NamedTuple):
    """The files that were written, and the account."""

    settings: Path
    password: Path
    ca: Path
    account: Account


def table_settings(host: str, port: int, venue: str, table: str, password: str, ca: str) -> str:
    """Return the [hub] section of a table's settings; `password` and `ca` are paths."""
    plain = {"password": password, "ca": ca}
    escaped = {key: path.replace("\\", "\\\\").replace('"', '\\"') for key, path in plain.items()}
    return _SNIPPET.format(host=host, port=port, venue=venue, table=table, **escaped)


def parse_hub_address(text: str) -> tuple[str, int]:
    """Return host and port of "hub.local", "hub.local:8884" or "[2001:db8::7]:8884". Raises `UsageError`."""
    host, colon, port = text.rpartition(":")
    if not colon or "]" in port or (":" in host and not host.startswith("[")):
        host, port = text, str(PORT)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535 or "/" in host:
        raise UsageError(f"{text!r} is not an address of a hub", "type it exactly as shown on the director's console")
    return host, int(port)


def join(address: str, code: JoinCode, path: Path) -> JoinResult:
    """Join the hub at `address` with the table whose settings are in the file `path`.

    Checks first that this machine can store the account; otherwise the code is not used up. Raises `SettingsError`,
    `UsageError` and `JoinError`.
    """
    private = _check_writable(path)
    account = request_account(*parse_hub_address(address), code)
    return _write_account(account, path, private)


def request_account(host: str, port: int, code: JoinCode) -> Account:
    """Return the account that the hub gives for this code; check the hub's certificate before sending it.

    Raises `JoinError`.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname, context.verify_mode = (
        False,
        ssl.CERT_NONE,
    )  # the certificate is checked against the code instead
    try:
        with (
            socket.create_connection((host, port), CALL_S) as plain,
            context.wrap_socket(plain) as line,
        ):
            right = code.matches_certificate(line.getpeercert(binary_form=True) or b"")
            answer = _send_request(line, code) if right else b""
    except OSError as error:
        raise JoinError(
            f"the hub at {host} port {port} does not answer: {error.strerror or error}",
            "check that both are on one network and that the code is still valid: else the hub does not listen",
        ) from error
    if not right:
        raise JoinError(
            f"the machine at {host} port {port} is not the hub that made this code; nothing was sent",
            "compare the address with the console's and open a new code; if both are right, another machine intercepts "
            "the connection",
        )
    return _parse_answer(answer)


def _send_request(line: ssl.SSLSocket, code: JoinCode) -> bytes:
    line.sendall(encode_line(JoinRequest(VERSION, code.secret, __version__)))
    with line.makefile("rb") as lines:
        return lines.readline(MAX_LINE_BYTES)


def _parse_answer(answer: bytes) -> Account:
    try:
        found = msgspec.json.decode(answer, type=Account | JoinRefused)
        refused, account = (found, None) if isinstance(found, JoinRefused) else (None, _validate_account(found))
    except (msgspec.MsgspecError, UnicodeDecodeError, ValidationError, OSError) as error:
        raise JoinError(
            "the hub's answer cannot be read; nothing was written", "install the same version on table and hub"
        ) from error
    if refused is not None:
        raise JoinError(refused.what, refused.todo)
    assert account is not None
    return account


def _validate_account(account: Account) -> Account:
    """Return the account if it is valid in the settings. Raises `ValidationError`, `OSError`."""
    HubSection(address=account.host, port=account.port, venue=account.venue, table=account.table, ca=CA)
    ssl.create_default_context(cadata=account.ca)
    return account


def _check_writable(path: Path) -> Path:
    """Return the folder for the account's files: the journal's, which belongs to the user who runs the table.

    Raises `SettingsError`, `UsageError`.
    """
    settings = read_settings(path)
    if settings.hub.address or ("hub",) in key_lines(path.read_text("utf-8-sig").replace("\r\n", "\n")):
        raise UsageError(
            f"{path} has a [hub] already{f': {settings.hub.address}' if settings.hub.address else ''}",
            "remove this section, then try again",
        )
    private = settings.table.journal.absolute().parent
    if not private.is_dir():
        raise UsageError(
            f"there is no folder {private} for this table's journal", "start the table once, then try again"
        )
    for place in (path.absolute().parent, private):
        if not os.access(place, os.W_OK | os.X_OK):
            raise UsageError(f"{place} is not writable", "run this as the user who runs the table, or with sudo")
    return private


def _write_account(account: Account, path: Path, private: Path) -> JoinResult:
    beside = private == path.absolute().parent
    password, ca = private / PASSWORD, private / CA
    named = (PASSWORD, CA) if beside else (str(password), str(ca))
    before, status = path.read_bytes(), path.stat()
    section = table_settings(account.host, account.port, account.venue, account.table, *named)
    try:
        write_private_file(password, f"{account.password}\n".encode())
        write_private_file(ca, account.ca.encode())
        atomic_write(path, before.rstrip() + b"\n\n" + section.encode(), status.st_mode & 0o777)
        if os.geteuid() == 0:
            os.chown(path, status.st_uid, status.st_gid)
        read_settings(path)
    except (OSError, SettingsError) as error:
        with suppress(OSError):
            atomic_write(path, before, status.st_mode & 0o777)
        for one in (password, ca):
            with suppress(OSError):
                one.unlink(missing_ok=True)
        raise JoinError(
            f"the account of {account.table} cannot be stored here, and nothing was written: {error}",
            "free some disk space, then ask the director for a new code, as for a new card",
        ) from error
    return JoinResult(path, password, ca, account)
