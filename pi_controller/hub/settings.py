"""The hub's settings: `hub.toml` in its folder, read strictly. Without it the hub serves only this machine."""

import hashlib
import re
import secrets
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, Field

from pi_controller.config.fields import Host, HostOrNone, OptionalPath, Section, TopicName
from pi_controller.config.load import read_model
from pi_controller.errors import MatError, UsageError
from pi_controller.hub.mqtt import Broker, check_ca_file, read_password
from pi_controller.hub.store import Database

# The join protocol: the code that the director shows, and the two lines that table and hub exchange.
#
# The table calls the hub over TLS but has no certificate to recognise it by. The code replaces one: its first part is
# a one-time secret, its second part is the beginning of the SHA-256 of the hub's temporary certificate. The table
# sends the secret only if that matches, so a machine in the middle can neither read nor change the exchange.


VERSION = 1
PORT = 8884
MAX_LINE_BYTES = 16 * 1024
"""Maximum length of a line of the exchange."""
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no letter that looks like a digit."""
SECRET_CHARS, FINGERPRINT_CHARS = 7, 12
"""Characters of each part: a secret of 35 bits, and 60 bits of the hash of a certificate that is a few hours old."""
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
    """The table's line; `program` is the version of its program."""

    version: int
    once: str
    program: str = ""


class Account(msgspec.Struct, frozen=True, tag="joined"):
    """The hub's answer to a join request: the account at the broker `host`; `ca` is the venue's certificate (PEM).

    `program` is the version of the hub's program.
    """

    host: str
    port: int
    venue: str
    table: str
    password: str
    ca: str
    program: str = ""


class JoinRefused(msgspec.Struct, frozen=True, tag="refused"):
    """The hub's line if the table gets no account: the reason and a hint."""

    what: str
    todo: str = ""


def encode_line(message: JoinRequest | Account | JoinRefused) -> bytes:
    """Encode a message as a line of JSON."""
    return msgspec.json.encode(message) + b"\n"


FILE = "hub.toml"
STORE = "hub.sqlite"
ACCOUNT = "hub"


def _database(text: str) -> str:
    # a password in it would show in error messages and in the process list
    if not text or re.fullmatch(r"postgres(ql)?://([^:@/\s]+@)?[^@\s]*", text):
        return text
    raise ValueError('must be an address like "postgresql://hub@192.0.2.9/moccasin", without a password in it')


class VenueSection(Section):
    """The tournament."""

    name: TopicName = Field(default="hall", description="in every topic; the tables' settings name the same")


class BrokerSection(Section):
    """The MQTT broker of tables and hub."""

    address: HostOrNone = Field(
        default="", description="empty: the hub brings one for this machine alone, without accounts"
    )
    port: int = Field(default=1883, ge=1, le=65535, description="its port")
    password_file: OptionalPath = Field(default="", description="the file with the password of the hub's account")
    ca: OptionalPath = Field(default="", description="the venue's certificate")


class PageSection(Section):
    """The boards and the director's console."""

    host: Host = Field(default="127.0.0.1", description='"0.0.0.0" serves everyone on the network')
    port: int = Field(default=8090, ge=0, le=65535, description="0: any free port")
    stream: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="the port of the pages of the table that the director points at; none: they are not served",
    )


class HomeAssistantSection(Section):
    """Home Assistant at the same broker."""

    discovery: bool = Field(
        default=False, description="announce each table there: whether it is connected, its supply, heat and disk"
    )


class EnrolmentSection(Section):
    """The port for joining tables; it listens only while a join code is open."""

    host: Host = Field(default="0.0.0.0", description="by default for everyone on the network")  # noqa: S104 - for tables
    port: int = Field(default=PORT, ge=0, le=65535, description="0: any free port")


class StoreSection(Section):
    """Storage of the tables' journals and the tournament."""

    database: Annotated[str, AfterValidator(_database)] = Field(
        default="",
        description="empty: in the hub's folder; or the address of a PostgreSQL database, without its password",
        json_schema_extra={"takes": "an address like postgresql://hub@192.0.2.9/moccasin, or empty"},
    )
    password_file: OptionalPath = Field(default="", description="the file with the password of the database's account")


class HubSettings(Section):
    """All settings of a hub."""

    venue: VenueSection = Field(default_factory=VenueSection)
    broker: BrokerSection = Field(default_factory=BrokerSection)
    page: PageSection = Field(default_factory=PageSection)
    enrolment: EnrolmentSection = Field(default_factory=EnrolmentSection)
    store: StoreSection = Field(default_factory=StoreSection)
    home_assistant: HomeAssistantSection = Field(default_factory=HomeAssistantSection)

    @property
    def embedded(self) -> bool:
        """Whether the hub runs its own broker."""
        return not self.broker.address


def load_hub(folder: Path) -> HubSettings:
    """Return the settings of the hub in `folder`. Raises `SettingsError`."""
    path = folder / FILE
    return read_model(path, HubSettings) if path.is_file() else HubSettings()


def broker_from_settings(settings: HubSettings) -> Broker:
    """Return the broker's address and the hub's account there. Raises `SettingsError` if a file cannot be read."""
    wanted = settings.broker
    password = read_password(Path(wanted.password_file)) if wanted.password_file else None
    return Broker(wanted.address or "127.0.0.1", wanted.port, ACCOUNT, password, check_ca_file(wanted.ca))


def store_from_settings(settings: HubSettings, folder: Path) -> Path | Database:
    """Return the store's file or database. Raises `SettingsError` if the password file cannot be read."""
    wanted = settings.store
    if not wanted.database:
        return folder / STORE
    password = read_password(Path(wanted.password_file)) if wanted.password_file else None
    return Database(wanted.database, settings.venue.name, password)
