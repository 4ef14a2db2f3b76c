"""The hub's settings: `hub.toml` in its folder, strictly read. Without it the hub is for a try on one machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from pi_controller.fleet.joining import PORT as JOIN_PORT
from pi_controller.fleet.mqtt import Broker, password_in, readable_ca
from pi_controller.fleet.store import Database
from pi_controller.table.settings_fields import Folder, Host, HostOrNone, Section, TopicName
from pi_controller.table.settings_file import read_model

if TYPE_CHECKING:
    from pathlib import Path

FILE = "hub.toml"
STORE = "hub.sqlite"
ACCOUNT = "hub"


def _database(text: str) -> str:
    # a password in it would stand in error messages and in the list of programs
    if not text or re.fullmatch(r"postgres(ql)?://([^:@/\s]+@)?[^@\s]*", text):
        return text
    raise ValueError('must be an address like "postgresql://hub@192.0.2.9/moccasin", without a password in it')


class VenueSection(Section):
    """The tournament."""

    name: TopicName = Field(default="hall", description="in every topic; the tables' settings name the same")


class BrokerSection(Section):
    """The broker that tables and hub meet at."""

    address: HostOrNone = Field(
        default="",
        description="empty: the hub brings one for this machine alone, without accounts",
        json_schema_extra={"takes": "an address or a host name, or empty"},
    )
    port: int = Field(default=1883, ge=1, le=65535, description="its port")
    password_file: Folder = Field(default="", description="the file with the password of the hub's account")
    ca: Folder = Field(default="", description="the venue's certificate")


class PageSection(Section):
    """The boards and the director's console."""

    host: Host = Field(default="127.0.0.1", description='"0.0.0.0" serves everyone on the network')
    port: int = Field(default=8090, ge=0, le=65535, description="0 takes any free one")
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
    """Where tables join by a code; it listens only while the director has one open."""

    host: Host = Field(default="0.0.0.0", description="by default for everyone on the network")  # noqa: S104 - for tables
    port: int = Field(default=JOIN_PORT, ge=0, le=65535, description="0 takes any free one")


class StoreSection(Section):
    """Where the tables' journals and the tournament are kept."""

    database: Annotated[str, AfterValidator(_database)] = Field(
        default="",
        description="empty: in the hub's folder; or the address of a PostgreSQL database, without its password",
        json_schema_extra={"takes": "an address like postgresql://hub@192.0.2.9/moccasin, or empty"},
    )
    password_file: Folder = Field(default="", description="the file with the password of the database's account")


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
        """Whether the hub brings its own broker."""
        return not self.broker.address


def load_hub(folder: Path) -> HubSettings:
    """Return the settings of the hub in `folder`. Raises `SettingsError`."""
    path = folder / FILE
    return read_model(path, HubSettings) if path.is_file() else HubSettings()


def broker_of(settings: HubSettings, folder: Path) -> Broker:
    """Return the broker, and how the hub signs in there. Raises `SettingsError` where its files cannot be read."""
    wanted = settings.broker
    password = password_in(folder / wanted.password_file) if wanted.password_file else None
    ca = readable_ca(str(folder / wanted.ca)) if wanted.ca else None
    return Broker(wanted.address or "127.0.0.1", wanted.port, ACCOUNT, password, ca)


def store_of(settings: HubSettings, folder: Path) -> Path | Database:
    """Return where the hub keeps what comes. Raises `SettingsError` where the password cannot be read."""
    wanted = settings.store
    if not wanted.database:
        return folder / STORE
    password = password_in(folder / wanted.password_file) if wanted.password_file else None
    return Database(wanted.database, settings.venue.name, password)
