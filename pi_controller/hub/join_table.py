"""The table's side of joining: call the hub, get the account, and write it to disk completely or not at all."""

import os
import ssl
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import NamedTuple

import msgspec
from pydantic import ValidationError

from pi_controller import __version__
from pi_controller.config import read_settings
from pi_controller.config.edit import change_text
from pi_controller.config.load import key_lines, read_text
from pi_controller.config.model import HubSection
from pi_controller.errors import MatError, SettingsError, UsageError, describe_error
from pi_controller.host.files import atomic_write, write_private_file
from pi_controller.host.platform import is_root
from pi_controller.hub.join import (
    MAX_ANSWER_BYTES,
    PATH,
    VERSION,
    Account,
    JoinCode,
    JoinError,
    JoinRefused,
    JoinRequest,
)
from pi_controller.hub.settings import HTTPS_PORT

CALL_S = 15.0
"""Timeout for the hub's answer."""
TOKEN, CA = "hub.token", "hub.crt"


class JoinResult(NamedTuple):
    """The files that were written, and the account."""

    settings: Path
    token: Path
    ca: Path
    account: Account


def parse_hub_address(text: str) -> tuple[str, int]:
    """Return host and port of "hub.local", "hub.local:8443" or "[2001:db8::7]:8443". Raises `UsageError`."""
    host, colon, port = text.rpartition(":")
    if not colon or "]" in port or (":" in host and not host.startswith("[")):
        host, port = text, str(HTTPS_PORT)
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
    # the certificate is checked against the code instead
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with closing(HTTPSConnection(host, port, timeout=CALL_S, context=context)) as line:
            line.connect()
            right = code.matches_certificate(line.sock.getpeercert(binary_form=True) or b"")
            answer = _send_request(line, code) if right else b""
    except OSError as error:
        raise JoinError(
            f"the hub at {host} port {port} does not answer: {describe_error(error)}",
            "check the address, and that both are on one network",
        ) from error
    if not right:
        raise JoinError(
            f"the machine at {host} port {port} is not the hub that made this code; nothing was sent",
            "compare the address with the console's and open a new code; if both are right, another machine intercepts "
            "the connection",
        )
    return _parse_answer(answer)


def _send_request(line: HTTPSConnection, code: JoinCode) -> bytes:
    request = msgspec.json.encode(JoinRequest(VERSION, code.secret, __version__))
    try:
        # the hub takes this name whatever its own is; it is known by its certificate
        line.request("POST", PATH, request, {"host": "localhost", "content-type": "application/json"})
        return line.getresponse().read(MAX_ANSWER_BYTES)
    except HTTPException:
        return b""


def _parse_answer(answer: bytes) -> Account:
    try:
        found = msgspec.json.decode(answer, type=Account | JoinRefused)
        if isinstance(found, Account):
            _reject_invalid_account(found)
            return found
    except (msgspec.MsgspecError, UnicodeDecodeError, ValidationError, OSError) as error:
        raise JoinError(
            "the hub's answer cannot be read; nothing was written", "install the same version on table and hub"
        ) from error
    raise JoinError(found.message, found.hint)


def _reject_invalid_account(account: Account) -> None:
    """Raise `ValidationError` or `OSError` if the account is not valid in the settings."""
    HubSection.model_validate(account.hub_section(TOKEN, CA))
    ssl.create_default_context(cadata=account.ca)


def _check_writable(path: Path) -> Path:
    """Return the folder for the account's files: the journal's, which belongs to the user who runs the table.

    Raises `SettingsError`, `UsageError`.
    """
    settings = read_settings(path)
    if settings.hub.address or ("hub",) in key_lines(read_text(path)):
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


@contextmanager
def store_account(account: Account, folder: Path) -> Generator[tuple[Path, Path]]:
    """Write the token and the certificate of `account` into `folder`, and provide their paths.

    If that or the block fails the files are as before. Raises `JoinError` for an `OSError`.
    """
    token, ca = folder / TOKEN, folder / CA
    before = {path: path.read_bytes() if path.exists() else None for path in (token, ca)}
    try:
        write_private_file(token, f"{account.token}\n".encode())
        write_private_file(ca, account.ca.encode())
        yield token, ca
    except (MatError, OSError) as error:
        for path, content in before.items():
            with suppress(OSError):
                path.unlink(missing_ok=True) if content is None else write_private_file(path, content)
        if isinstance(error, MatError):
            raise
        raise _storage_error(account, error) from error


def _storage_error(account: Account, error: Exception) -> JoinError:
    return JoinError(
        f"the account of {account.table} cannot be stored here, and nothing was written: {describe_error(error)}",
        "free some disk space, then ask the director for a new code, as for a new card",
    )


def _write_account(account: Account, path: Path, private: Path) -> JoinResult:
    """Write the account's files into `private` and its [hub] into the settings `path`. Raises `JoinError`."""
    before, status = path.read_bytes(), path.stat()
    with store_account(account, private) as (token, ca):
        named = (TOKEN, CA) if private == path.absolute().parent else (token, ca)
        text = change_text(path, read_text(path), {}, account.hub_section(*named))
        try:
            atomic_write(path, text.encode(), status.st_mode & 0o777)
            if is_root():
                os.chown(path, status.st_uid, status.st_gid)
            read_settings(path)
        except (OSError, SettingsError) as error:
            with suppress(OSError):
                atomic_write(path, before, status.st_mode & 0o777)
            raise _storage_error(account, error) from error
    return JoinResult(path, token, ca, account)
