"""The hub's settings: `hub.toml` in its folder, read strictly. Without it the hub serves only this machine."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from pi_controller.config.fields import (
    Host,
    HostOrNone,
    Hosts,
    InvalidValueError,
    Language,
    OptionalPath,
    Section,
    ShortName,
)
from pi_controller.config.load import read_model
from pi_controller.config.model import MarksSection
from pi_controller.errors import SettingsError, describe_error
from pi_controller.host.files import read_secret
from pi_controller.hub.store import Database

FILE = "hub.toml"
HTTPS_PORT = 8443
"""Default port of the pages with encryption, where tables join."""
STORE = "hub.sqlite"


def _database(text: str) -> str:
    # a password in it would show in error messages and in the process list
    if not text or re.fullmatch(r"postgres(ql)?://([^:@/\s]+@)?[^@\s]*", text):
        return text
    raise InvalidValueError('must be an address like "postgresql://hub@192.0.2.9/moccasin", without a password in it')


class VenueSection(Section):
    """The tournament."""

    name: ShortName = Field(default="hall", description="a short name, also of its part of a database")
    address: HostOrNone = Field(default="", description="the name or address of this machine for the tables")


class PageSection(Section):
    """The boards and the director's console."""

    host: Host = Field(default="127.0.0.1", description='"0.0.0.0" serves everyone on the network')
    hosts: Hosts = Field(default=(), description="further names of this machine by which the pages are opened")
    language: Language = Field(default="en", description="language of the pages and of the published results")
    port: int = Field(default=8090, ge=0, le=65535, description="0: any free port")
    https: int = Field(
        default=HTTPS_PORT,
        ge=0,
        le=65535,
        description="the port of the same pages with encryption, once 'hub setup' has made the venue's certificate",
    )
    plain_sign_in: bool = Field(
        default=False, description="sign in from other machines without encryption: the network can read the PINs"
    )
    stream: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="the port of the pages of the table that the director points at; none: they are not served",
    )


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
    page: PageSection = Field(default_factory=PageSection)
    marks: MarksSection = Field(default_factory=MarksSection)
    store: StoreSection = Field(default_factory=StoreSection)


def load_hub(folder: Path) -> HubSettings:
    """Return the settings of the hub in `folder`. Raises `SettingsError`."""
    path = folder / FILE
    return read_model(path, HubSettings) if path.is_file() else HubSettings()


def store_from_settings(settings: HubSettings, folder: Path) -> Path | Database:
    """Return the store's file or database. Raises `SettingsError` if the password file cannot be read."""
    wanted = settings.store
    if not wanted.database:
        return folder / STORE
    password = _read_password(Path(wanted.password_file)) if wanted.password_file else None
    return Database(wanted.database, settings.venue.name, password)


def _read_password(path: Path) -> str:
    try:
        return read_secret(path)
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            f"the password in {path} cannot be read: {describe_error(error)}", "write the database's password there"
        ) from error
