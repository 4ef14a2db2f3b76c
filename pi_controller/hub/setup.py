"""Set up a hub's folder: the venue's certificates, and its settings. A table gets its token when it joins.

Running it again keeps the venue's key, so the tables stay joined, and makes a certificate for the names given.
"""

import ipaddress
import re
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pi_controller.config.load import read_text
from pi_controller.errors import MatError, describe_error
from pi_controller.host.files import write_private_file
from pi_controller.hub.settings import FILE
from pi_controller.web.address import is_public_host

CA, CA_KEY, SERVER, SERVER_KEY = "ca.crt", "ca.key", "server.crt", "server.key"
CA_DAYS, SERVER_DAYS = 3650, 820

_ENCIPHERING = ("key_encipherment", "data_encipherment", "encipher_only", "decipher_only")
_OTHER_USES = dict.fromkeys(("digital_signature", "content_commitment", "key_agreement", *_ENCIPHERING), False)
"""What the venue's CA may not do with its key."""


def write_certificates(folder: Path, venue: str, hosts: Sequence[str], now: datetime) -> None:
    """Create the venue's CA if it is missing, and a server certificate signed by it for the pages at `hosts`."""
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


class HubSetupError(MatError, OSError):
    """The hub's files cannot be created."""

    code = "hub-setup"


_VENUE = """\
[venue]
name = "{venue}"
address = "{address}"
"""
_PAGE = """\
[page]
host = "0.0.0.0"
"""


def write_hub_files(folder: Path, venue: str, hosts: Sequence[str], now: datetime) -> None:
    """Write certificates and settings to `folder`. `hosts` are this machine's names and addresses for the tables.

    The preferred one comes first; unless it is this machine alone, the pages are served to the network. Sections of the
    settings that people wrote stay. Raises `HubSetupError`.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_certificates(folder, venue, hosts, now)
        settings = _VENUE.format(venue=venue, address=hosts[0]) + _other_sections(folder / FILE)
        if is_public_host(hosts[0]) and not re.search(r"^\s*\[\s*page\s*\]", settings, re.MULTILINE):
            settings += _PAGE
        write_private_file(folder / FILE, settings.encode())
    except OSError as error:
        raise HubSetupError(f"{folder}: {describe_error(error)}", "choose a writable folder") from error


def _other_sections(path: Path) -> str:
    """Return the sections of the hub's settings at `path` that people write themselves, "" if there are none."""
    if not path.is_file():
        return ""
    sections = re.split(r"^(?=[ \t]*\[)", read_text(path), flags=re.MULTILINE)[1:]
    return "".join(one for one in sections if not re.match(r"\s*\[\s*venue\s*\]", one))
