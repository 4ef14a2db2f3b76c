"""Create the files of a hub: Mosquitto's configuration, the venue's certificate, an account for each table.

Running it again keeps every existing key and password, so tables can be added during a tournament.
"""

import ipaddress
import os
import re
import secrets
import shutil
import signal
import ssl
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pi_controller.errors import MatError, UsageError, describe_error
from pi_controller.host.files import write_private_file
from pi_controller.host.platform import own_name
from pi_controller.hub.join import Account, table_settings
from pi_controller.hub.messages import MAX_MESSAGE_BYTES, ROOT
from pi_controller.hub.settings import ACCOUNT, FILE

# Manage the tables' accounts at the MQTT broker, also while the broker runs.
#
# An account is a line in Mosquitto's password file and a folder under `tables` with the files that the table needs.
# Mosquitto reloads its password file on SIGHUP without dropping a connection.


CA, PASSWORDS, PID, CONF = "ca.crt", "passwords", "mosquitto.pid", "mosquitto.conf"
TABLES, PASSWORD, JOINED = "tables", "password", "joined"


class HubSetupError(MatError, OSError):
    """The hub's files cannot be created."""

    code = "hub-setup"


def load_or_create_password(path: Path) -> str:
    """Return the password in the file `path`; create the file with a random one if it is missing. Raises `OSError`."""
    if not path.is_file():
        write_private_file(path, f"{secrets.token_urlsafe(32)}\n".encode())
    return path.read_text("utf-8").strip()


def hash_passwords(folder: Path, passwords: dict[str, str]) -> bytes:
    """Return the lines of Mosquitto's password file for these accounts. Raises `HubSetupError`, `OSError`."""
    plain = folder / f".{PASSWORDS}.new"  # a file, because every user of this machine can read a command's arguments
    write_private_file(plain, "".join(f"{account}:{password}\n" for account, password in passwords.items()).encode())
    try:
        done = subprocess.run(["mosquitto_passwd", "-U", plain], capture_output=True, text=True, check=False)
        if done.returncode:
            raise HubSetupError(f"mosquitto_passwd failed: {done.stderr.strip()}", "check that Mosquitto has version 2")
        return plain.read_bytes()
    finally:
        plain.unlink()


def write_table_files(folder: Path, host: str, port: int, venue: str, table: str) -> None:
    """Write the venue's certificate, and the settings of `table` at the hub, to its folder. Raises `OSError`."""
    place = folder / TABLES / table
    write_private_file(place / CA, (folder / CA).read_bytes())
    write_private_file(place / FILE, table_settings(host, port, venue, table, PASSWORD, CA).encode())


def has_joined(folder: Path, table: str) -> bool:
    """Return whether `table` got its account by a join code."""
    return (folder / TABLES / table / JOINED).exists()


def issue_account(folder: Path, host: str, port: int, venue: str, table: str, *, anew: bool) -> Account:
    """Return the account of `table`; create it if it is missing. With `anew` it gets a new password.

    After a change the broker must reload its accounts (`reload_broker`). Raises `HubSetupError`.
    """
    place = folder / TABLES / table
    try:
        if anew or not (place / PASSWORD).is_file():
            password = secrets.token_urlsafe(32)
            others = (folder / PASSWORDS).read_bytes().splitlines(keepends=True)
            kept = [line for line in others if not line.startswith(f"{table}:".encode())]
            write_private_file(folder / PASSWORDS, b"".join(kept) + hash_passwords(folder, {table: password}))
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private_file(place / PASSWORD, f"{password}\n".encode())
            write_table_files(folder, host, port, venue, table)
        password = (place / PASSWORD).read_text("utf-8").strip()
        return Account(host, port, venue, table, password, (folder / CA).read_text("utf-8"))
    except OSError as error:
        what = f"the account of {table} cannot be made: {describe_error(error)}"
        raise HubSetupError(what, "check that the hub can write its folder and that Mosquitto is installed") from error


def reload_broker(folder: Path) -> None:
    """Make the broker of `folder` reload its accounts. Raises `HubSetupError` if the broker is not found."""
    try:
        number = int((folder / PID).read_text("ascii"))
        program = Path(f"/proc/{number}/comm").read_text("utf-8").strip()
        if program != "mosquitto":  # the broker was killed and its process id was reused
            raise ProcessLookupError(f"number {number} is {program}")
        os.kill(number, signal.SIGHUP)
    except (OSError, ValueError) as error:
        raise HubSetupError(
            "the broker cannot reload its accounts",
            "run 'moccasin-mat hub setup' again and restart the broker; games continue meanwhile",
        ) from error


# Create the hub's TLS certificates: the venue's CA, and the certificate of broker and pages.


CA_DAYS, SERVER_DAYS = 3650, 820
CA_KEY, SERVER, SERVER_KEY = "ca.key", "server.crt", "server.key"
_ENCIPHERING = ("key_encipherment", "data_encipherment", "encipher_only", "decipher_only")
_OTHER_USES = dict.fromkeys(("digital_signature", "content_commitment", "key_agreement", *_ENCIPHERING), False)
"""What the venue's CA may not do with its key."""


def write_certificates(folder: Path, venue: str, hosts: Sequence[str], now: datetime) -> None:
    """Create the venue's CA if it is missing, and a server certificate signed by it for the broker at `hosts`."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Moccasin Mat, {venue}")])
    if (folder / CA_KEY).is_file():
        key = serialization.load_pem_private_key((folder / CA_KEY).read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        ca = x509.load_pem_x509_certificate((folder / CA).read_bytes())
    else:
        key = ec.generate_private_key(ec.SECP256R1())
        ca = (
            _builder(name, name, key, now, CA_DAYS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(key_cert_sign=True, crl_sign=True, **_OTHER_USES), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        write_private_file(folder / CA_KEY, _pem(key))
        write_private_file(folder / CA, ca.public_bytes(serialization.Encoding.PEM))
    server_key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
    server = (
        _builder(subject, ca.subject, server_key, now, SERVER_DAYS)
        .add_extension(x509.SubjectAlternativeName([_alternative(host) for host in hosts]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private_file(folder / SERVER_KEY, _pem(server_key))
    write_private_file(folder / SERVER, server.public_bytes(serialization.Encoding.PEM))


def load_server_tls(folder: Path) -> ssl.SSLContext | None:
    """Return TLS with the certificate of the hub in `folder`; None before `hub setup`. Raises `HubSetupError`."""
    if not (folder / SERVER).is_file():
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # phones of 2014 have it
    try:
        context.load_cert_chain(folder / SERVER, folder / SERVER_KEY)
    except OSError as error:
        raise HubSetupError(
            f"the hub's certificate cannot be used: {describe_error(error)}", "run 'moccasin-mat hub setup' again"
        ) from error
    return context


def read_certificate(folder: Path) -> bytes:
    """Return the certificate (DER) of the hub in `folder`, b"" before `hub setup`. Raises `OSError`, `ValueError`."""
    path = folder / SERVER
    return ssl.PEM_cert_to_DER_cert(path.read_text("ascii")) if path.is_file() else b""


def format_fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 of a certificate (DER) as browsers show it."""
    return sha256(certificate).digest().hex(":").upper()


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # without a network a Pi starts with the time of its last shutdown
        .not_valid_before(now.astimezone(UTC) - timedelta(days=30))
        .not_valid_after(now.astimezone(UTC) + timedelta(days=days))
    )


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


ACL = "acl"

_CONF = """\
# Written by 'moccasin-mat hub setup'.
user {user}
listener {port}
cafile {folder}/{ca}
certfile {folder}/{server}
keyfile {folder}/{server_key}
tls_version tlsv1.3
allow_anonymous false
# an account that could choose its client id could take over another's connection and session
use_username_as_clientid true
password_file {folder}/{passwords}
acl_file {folder}/{acl}
# lets the hub reload these two files when a table joins
pid_file {folder}/{pid}
# durable data is in the tables' journals and in the hub's store
persistence false
message_size_limit {most}
max_keepalive 60
"""
_ACL = """\
# Everything else is denied. %u is the account's own name.
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


def write_hub_files(
    folder: Path, venue: str, tables: Sequence[str], hosts: Sequence[str], port: int, now: datetime
) -> None:
    """Write all files to `folder`. `hosts` are the names and addresses of the broker, the preferred one first.

    Raises `HubSetupError`, and `UsageError` if a table cannot have that name.
    """
    if ACCOUNT in tables:
        raise UsageError(f"no table can be called {ACCOUNT}", "this name is reserved")
    if shutil.which("mosquitto_passwd") is None:
        raise HubSetupError("mosquitto_passwd is not installed", "apt install mosquitto, then try again")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_certificates(folder, venue, hosts, now)
        _accounts(folder, tables)
        values = {
            "root": ROOT,
            "venue": venue,
            "hub": ACCOUNT,
            "host": hosts[0],
            "port": port,
            "ca": CA,
        }
        write_private_file(folder / ACL, _ACL.format(**values).encode())
        settings = _HUB.format(**values) + _others(folder / FILE)
        write_private_file(folder / FILE, settings.encode())
        conf = _CONF.format(
            user=own_name(),
            folder=folder.absolute(),
            server=SERVER,
            server_key=SERVER_KEY,
            passwords=PASSWORDS,
            acl=ACL,
            pid=PID,
            most=2 * MAX_MESSAGE_BYTES,
            **values,
        )
        write_private_file(folder / CONF, conf.encode())
        for table in tables:
            write_table_files(folder, hosts[0], port, venue, table)
    except OSError as error:
        raise HubSetupError(f"{folder}: {describe_error(error)}", "choose a writable folder") from error


def _others(path: Path) -> str:
    """Return the sections of the hub's settings at `path` that people write themselves, "" if there are none."""
    if not path.is_file():
        return ""
    sections = re.split(r"^(?=[ \t]*\[)", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return "".join(one for one in sections if not re.match(r"\s*\[\s*(venue|broker)\s*\]", one))


def list_table_accounts(folder: Path) -> list[str]:
    """Return the tables that have an account."""
    return sorted(path.parent.name for path in folder.glob(f"{TABLES}/*/{PASSWORD}"))


def _accounts(folder: Path, tables: Sequence[str]) -> None:
    passwords = {ACCOUNT: load_or_create_password(folder / "hub.password")}
    for table in tables:
        place = folder / TABLES / table
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        passwords[table] = load_or_create_password(place / PASSWORD)
    write_private_file(folder / PASSWORDS, hash_passwords(folder, passwords))
