"""The hub's certificates: the venue's own, the broker's that it signs, and one for as long as tables may join."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pi_controller.fleet.accounts import CA, write_private

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CA_DAYS, SERVER_DAYS = 3650, 820
CA_KEY, SERVER, SERVER_KEY = "ca.key", "server.crt", "server.key"


class Made(NamedTuple):
    """A certificate with its key, as PEM, and as it is sent (DER)."""

    pem: bytes
    key: bytes
    der: bytes


def for_joining(now: datetime) -> Made:
    """Return a certificate that nobody has signed: tables know it by what the code that they are given says of it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Moccasin Mat, joining")])
    made = _builder(name, name, key, now, 1).sign(key, hashes.SHA256())
    encodings = serialization.Encoding
    return Made(made.public_bytes(encodings.PEM), _pem(key), made.public_bytes(encodings.DER))


def write_certificates(folder: Path, venue: str, hosts: Sequence[str], now: datetime) -> None:
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
        write_private(folder / CA_KEY, _pem(key))
        write_private(folder / CA, ca.public_bytes(serialization.Encoding.PEM))
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
    write_private(folder / SERVER_KEY, _pem(server_key))
    write_private(folder / SERVER, server.public_bytes(serialization.Encoding.PEM))


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
