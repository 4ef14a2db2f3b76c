"""Settings of the table: name and journal, pages, recording, backup."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from pi_controller.table.settings_fields import (
    Address,
    FilePath,
    Folder,
    Host,
    HostOrNone,
    Hosts,
    Language,
    Name,
    Number,
    Section,
    TopicName,
    Words,
)
from pi_controller.table.settings_file import Fault, faults


class TableSection(Section):
    """The table itself."""

    name: Name = Field(default="Table 1", description="what this table is called, in the hall and at the tournament")
    journal: FilePath = Field(
        default=Path("table.sqlite"),
        description="the journal's file; the journal is the game, so keep it on a disk that lasts",
        json_schema_extra={"takes": "the path of a file, in quotes"},
    )


class WebSection(Section):
    """The live page."""

    enabled: bool = Field(default=True, description="serve pages")
    host: Host = Field(
        default="127.0.0.1",
        description='"127.0.0.1" serves this machine only, "0.0.0.0" everyone on the network',
        json_schema_extra={"takes": "an address or a host name"},
    )
    port: int = Field(default=8080, ge=0, le=65535, description="0 takes any free one")
    chances: bool = Field(
        default=False,
        description="show each side's chance of winning, on page and terminal; for learning, not for a tournament",
    )
    hosts: Hosts = Field(
        default=(),
        description="names the pages answer to, besides this machine's own, with and without .local",
        json_schema_extra={"takes": 'a list of names: ["mat.example"]'},
    )
    proxy: Number = Field(
        default="",
        description="a TLS proxy in front: from there alone X-Forwarded-For and X-Forwarded-Proto are believed",
    )
    address: Address = Field(
        default="",
        description="where phones find the pages, for the QR codes; nothing: this machine's own name and number",
    )
    event: Words = Field(default="", description="the gathering's name, above the scoreboard for the room")
    words: Words = Field(default="", description="the community's own words, below the scoreboard and on /find")
    language: Language = Field(
        default="en",
        description="of the sentences; words called at the table are the game's own",
        json_schema_extra={"takes": 'the code of a language, "en", or its catalogue, "/srv/dak.po"'},
    )
    judges: bool = Field(default=False, description="judges sign in at /judge and enter what they see, from any device")
    idle_min: int = Field(default=30, ge=1, le=720, description="a judge who did nothing for so long signs in again")
    metrics: bool = Field(
        default=False, description="figures for Prometheus at /metrics; nothing the pages do not show"
    )
    announce: bool = Field(
        default=False, description="the network is told of the pages (_http._tcp), by avahi-daemon; then 'setup' again"
    )


class RecordingSection(Section):
    """What is kept of the sensors' readings. Nothing is unless a file says so."""

    hits: bool = Field(
        default=False, description="keep what the pads felt around each hit, for 'moccasin-mat review JOURNAL'"
    )
    sensors: bool = Field(
        default=False, description="keep every reading of the mat, for 'moccasin-mat replay FILE --sensors'"
    )
    folder: FilePath = Field(
        default=Path("recordings"),
        description="where; about 32 MB an hour",
        json_schema_extra={"takes": "the path of a folder, in quotes"},
    )
    keep_days: int = Field(default=30, ge=1, le=3650, description="recordings older than this go")
    max_mb: int = Field(default=1000, ge=10, le=1000000, description="the oldest go when they take more than this")


class BackupSection(Section):
    """A copy of the journal on another disk, such as a USB stick, renewed during play. None unless a file says so."""

    folder: Folder = Field(
        default="",
        description="where the copy goes: a folder that is there; empty: no copy",
        json_schema_extra={"takes": "the path of a folder, in quotes"},
    )
    every_s: float = Field(default=60.0, ge=1.0, le=3600.0, description="when there is news, but no more often")


class HubSection(Section):
    """The tournament's hub, which keeps every table's journal once more. Nothing is sent unless a file names one."""

    address: HostOrNone = Field(
        default="",
        description="where the hub's broker is; empty: nothing is sent to anybody",
        json_schema_extra={"takes": "an address or a host name, or empty"},
    )
    port: int = Field(default=8883, ge=1, le=65535, description="the broker's port; without TLS it is 1883")
    venue: TopicName = Field(default="hall", description="the tournament, as 'moccasin-mat hub setup' was told")
    table: TopicName = Field(default="", description="this table's account at the broker")
    password_file: Folder = Field(
        default="",
        description="the file with the account's password; empty: the broker wants none",
        json_schema_extra={"takes": "the path of a file, in quotes"},
    )
    ca: Folder = Field(
        default="",
        description="the venue's certificate; empty: no TLS, which only this machine's own broker may be without",
        json_schema_extra={"takes": "the path of a file, in quotes"},
    )

    @model_validator(mode="after")
    def _complete(self) -> HubSection:
        found = list[Fault]()
        if self.address and not self.table:
            found.append(Fault(("table",), "is missing: the name under which this table speaks to the hub"))
        if self.address and not self.ca and self.address not in {"localhost", "127.0.0.1", "::1"}:
            found.append(Fault(("ca",), "is missing: to another machine all goes over TLS"))
        if not self.venue:
            found.append(Fault(("venue",), "is missing"))
        if found:
            raise faults(found)
        return self
