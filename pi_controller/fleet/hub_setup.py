"""Makes the files of a hub: Mosquitto's configuration, a certificate of the venue, an account for each table.

Run again it keeps every key and password that is there, so tables can be added in the middle of a tournament.
"""

from __future__ import annotations

import ipaddress
import os
import pwd
import re
import secrets
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pi_controller.errors import MatError, UsageError
from pi_controller.fleet.home_assistant import ACCOUNT as HOME
from pi_controller.fleet.home_assistant import PREFIX
from pi_controller.fleet.hub_settings import ACCOUNT, FILE
from pi_controller.fleet.messages import MOST_BYTES, ROOT
from pi_controller.private_files import make_private

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PORT = 8883
CA_DAYS, SERVER_DAYS = 3650, 820
CONF, ACL, PASSWORDS = "mosquitto.conf", "acl", "passwords"
CA, CA_KEY, SERVER, SERVER_KEY = "ca.crt", "ca.key", "server.crt", "server.key"
TABLES, PASSWORD = "tables", "password"

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
_HOME_ACL = """\
topic write {prefix}/#

user {home}
topic read {prefix}/#
topic read {root}/{venue}/t/+/state
topic read {root}/{venue}/t/+/health
"""
_HOME = """\
[home_assistant]
discovery = true
"""
SNIPPET = """\
[hub]
address = "{host}"
port = {port}
venue = "{venue}"
table = "{table}"
password_file = "{password}"
ca = "{ca}"
"""
"""What stands in the settings of a table."""


class HubSetupError(MatError, OSError):
    """The hub's files cannot be made."""

    code = "hub-setup"


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
        _certificates(folder, venue, hosts, now)
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
        _write(folder / ACL, (_ACL + _HOME_ACL * home).format(**values))
        _write(folder / FILE, (_HUB + _HOME * home).format(**values) + _others(folder / FILE))
        _write(
            folder / CONF,
            _CONF.format(
                user=pwd.getpwuid(os.geteuid()).pw_name,
                folder=folder.absolute(),
                server=SERVER,
                server_key=SERVER_KEY,
                passwords=PASSWORDS,
                acl=ACL,
                most=2 * MOST_BYTES,
                **values,
            ),
        )
        for table in tables:
            shutil.copyfile(folder / CA, folder / TABLES / table / CA)
            snippet = SNIPPET.format(table=table, password=PASSWORD, **values)
            _write(folder / TABLES / table / FILE, snippet)
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
    lines = [f"{ACCOUNT}:{_password(folder / 'hub.password')}"]
    if home:
        lines.append(f"{HOME}:{_password(folder / 'home.password')}")
    for table in tables:
        place = folder / TABLES / table
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines.append(f"{table}:{_password(place / PASSWORD)}")
    plain = folder / f".{PASSWORDS}.new"
    _write(plain, "\n".join(lines) + "\n")
    done = subprocess.run(["mosquitto_passwd", "-U", plain], capture_output=True, text=True, check=False)
    if done.returncode:
        plain.unlink()
        raise HubSetupError(f"mosquitto_passwd failed: {done.stderr.strip()}", "see that Mosquitto is of version 2")
    plain.chmod(0o600)
    plain.replace(folder / PASSWORDS)


def _password(path: Path) -> str:
    """Return the password in `path`, a fresh one where there is none."""
    if not path.is_file():
        _write(path, secrets.token_urlsafe(32) + "\n")
    return path.read_text("utf-8").strip()


def _write(path: Path, text: str | bytes) -> None:
    make_private(path)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def _certificates(folder: Path, venue: str, hosts: Sequence[str], now: datetime) -> None:
    """Make the venue's certificate, where there is none, and sign with it one for the broker at `hosts`."""
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
            .add_extension(
                x509.KeyUsage(
                    digital_signature=False,
                    content_commitment=False,
                    key_encipherment=False,
                    data_encipherment=False,
                    key_agreement=False,
                    key_cert_sign=True,
                    crl_sign=True,
                    encipher_only=False,
                    decipher_only=False,
                ),
                critical=True,
            )
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        _write(folder / CA_KEY, _pem(key))
        _write(folder / CA, ca.public_bytes(serialization.Encoding.PEM))
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
    _write(folder / SERVER_KEY, _pem(server_key))
    _write(folder / SERVER, server.public_bytes(serialization.Encoding.PEM))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # a Pi without a network starts with the clock of its last day
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
