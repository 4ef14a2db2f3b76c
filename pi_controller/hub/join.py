"""Join a hub: the code that the director shows, what table and hub exchange, and the table's side.

The table calls the hub over HTTPS but has no certificate to recognise it by. The code replaces one: its first part is a
one-time secret, its second part is the beginning of the SHA-256 of the hub's certificate. The table sends the secret
only if that matches, so a machine in the middle can neither read nor change the exchange. Needs none of the hub's
extra packages.
"""

import hashlib
import os
import secrets
import ssl
from contextlib import closing, suppress
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import NamedTuple

import msgspec
from packaging.version import InvalidVersion, Version
from pydantic import ValidationError

from pi_controller import __version__
from pi_controller.config import read_settings
from pi_controller.config.edit import change_text
from pi_controller.config.load import key_lines, read_text
from pi_controller.config.model import HubSection
from pi_controller.errors import MatError, SettingsError, UsageError, describe_error
from pi_controller.host.files import atomic_write, write_private_file
from pi_controller.host.platform import is_root
from pi_controller.hub.settings import HTTPS_PORT

VERSION = 3
PATH = "/join"
"""Where the hub takes a table's request."""
MAX_ANSWER_BYTES = 16 * 1024
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no letter that looks like a digit."""
SECRET_CHARS, FINGERPRINT_CHARS = 7, 12
"""Characters of each part: a secret of 35 bits that is valid for minutes, and 60 bits of the certificate's hash."""
_TAKEN_FOR = str.maketrans("ILO", "110", "- \t\r\n")


class JoinError(MatError, ConnectionError):
    """A table cannot join."""

    code = "join"


def is_newer_version(program: str, other: str) -> bool:
    """Return whether the version `program` is newer than `other`; False if one of them is not a version.

    >>> is_newer_version("0.10.0", "0.9.1"), is_newer_version("", "0.9.1")
    (True, False)
    """
    try:
        return Version(program) > Version(other)
    except InvalidVersion:
        return False


class JoinCode(NamedTuple):
    """A join code: `secret` is the one-time secret, `cert_fingerprint` the fingerprint of the hub's certificate."""

    secret: str
    cert_fingerprint: str

    def __str__(self) -> str:
        """Return the code in groups of four characters; the last character is a check character."""
        signs = self.secret + self.cert_fingerprint
        signs += _check(signs)
        return "-".join(signs[n : n + 4] for n in range(0, len(signs), 4))

    def matches_certificate(self, certificate: bytes) -> bool:
        """Return whether `certificate` (DER) matches the fingerprint in this code."""
        return secrets.compare_digest(self.cert_fingerprint, _fingerprint(certificate))


def new_code(certificate: bytes) -> JoinCode:
    """Return a random code for the hub with this certificate (DER)."""
    return JoinCode("".join(secrets.choice(ALPHABET) for _ in range(SECRET_CHARS)), _fingerprint(certificate))


def parse_code(text: str) -> JoinCode:
    """Parse a typed code: upper or lower case, with or without hyphens. Raises `UsageError`.

    >>> str(parse_code("0000000oooooooOOOOOO"))
    '0000-0000-0000-0000-0000'
    """
    signs = text.upper().translate(_TAKEN_FOR)
    if len(signs) != SECRET_CHARS + FINGERPRINT_CHARS + 1 or set(signs) - set(ALPHABET):
        raise UsageError(
            f"a code has {SECRET_CHARS + FINGERPRINT_CHARS + 1} letters and digits",
            "type it exactly as shown on the director's console",
        )
    if _check(signs[:-1]) != signs[-1]:
        raise UsageError("the code is mistyped", "compare it with what the director's console shows")
    return JoinCode(signs[:SECRET_CHARS], signs[SECRET_CHARS:-1])


def _fingerprint(certificate: bytes) -> str:
    number = int.from_bytes(hashlib.sha256(certificate).digest()[:8], "big") >> (64 - 5 * FINGERPRINT_CHARS)
    return "".join(ALPHABET[number >> 5 * n & 31] for n in reversed(range(FINGERPRINT_CHARS)))


def _check(signs: str) -> str:
    """Return the check character: the weights are odd, so any single wrong character is detected."""
    return ALPHABET[sum((2 * n + 1) * ALPHABET.index(sign) for n, sign in enumerate(signs)) % 32]


class JoinRequest(msgspec.Struct, frozen=True, tag="join"):
    """The table's request; `program` is the version of its program."""

    version: int
    once: str
    program: str = ""


class Account(msgspec.Struct, frozen=True, tag="joined"):
    """The hub's answer to a join request: its address, the table's name there, and the token that proves it.

    `ca` is the venue's certificate (PEM), `program` the version of the hub's program.
    """

    host: str
    port: int
    venue: str
    table: str
    token: str
    ca: str
    program: str = ""


class JoinRefused(msgspec.Struct, frozen=True, tag="refused"):
    """The hub's answer if the table gets no account: the reason and a hint."""

    message: str
    hint: str = ""


# The table's side: call the hub, get the account, and write it to disk completely or not at all.


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
    HubSection(address=account.host, port=account.port, table=account.table, token_file=TOKEN, ca=CA)
    ssl.create_default_context(cadata=account.ca)


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
    token, ca = private / TOKEN, private / CA
    named = (TOKEN, CA) if beside else (str(token), str(ca))
    before, status = path.read_bytes(), path.stat()
    values = {"address": account.host, "port": account.port, "table": account.table}
    values |= {"token_file": named[0], "ca": named[1]}
    try:
        write_private_file(token, f"{account.token}\n".encode())
        write_private_file(ca, account.ca.encode())
        atomic_write(path, change_text(path, read_text(path), {}, values).encode(), status.st_mode & 0o777)
        if is_root():
            os.chown(path, status.st_uid, status.st_gid)
        read_settings(path)
    except (OSError, SettingsError) as error:
        with suppress(OSError):
            atomic_write(path, before, status.st_mode & 0o777)
        for one in (token, ca):
            with suppress(OSError):
                one.unlink(missing_ok=True)
        raise JoinError(
            f"the account of {account.table} cannot be stored here, and nothing was written: {describe_error(error)}",
            "free some disk space, then ask the director for a new code, as for a new card",
        ) from error
    return JoinResult(path, token, ca, account)
