"""The pinned versions of a card: Python requirements with their hashes, and the date of Debian's snapshot.

A versions file is what pip reads with `--require-hashes`, with one more line for Debian; it names no address:

    # debian-snapshot: 20261124T000000Z
    numpy==2.4.1 --hash=sha256:0f2a...

`build.py --write-versions FILE` writes one, `build.py --versions FILE` builds with it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

SNAPSHOT = re.compile(r"\d{8}T\d{6}Z")
"""Of Debian's snapshot archive: a time in UTC, 20261124T000000Z."""
_HEADER = re.compile(r"#\s*debian-snapshot:\s*(?P<date>\S*)")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_HASH = re.compile(r"--hash=sha256:(?P<digest>[0-9a-f]{64})")


class VersionsError(ValueError):
    """A versions file cannot be used; the text names the line and what is wrong."""


@dataclass(frozen=True)
class Requirement:
    """One Python package: its normalised name, its version and the SHA-256 of each file that may be installed."""

    name: str
    version: str
    hashes: tuple[str, ...]

    def format_line(self) -> str:
        """Return the line of pip's requirements format."""
        return " ".join([f"{self.name}=={self.version}", *(f"--hash=sha256:{digest}" for digest in self.hashes)])


@dataclass(frozen=True)
class Versions:
    """The content of a versions file; `snapshot` is "" if the file names none."""

    requirements: tuple[Requirement, ...]
    snapshot: str = ""

    def format_file(self) -> str:
        """Return the text of the file, sorted by name."""
        lines = [
            "# Python packages of the SD card for arm64, written by hardware/image/build.py --write-versions.",
            *([f"# debian-snapshot: {self.snapshot}"] if self.snapshot else []),
            *(one.format_line() for one in sorted(self.requirements, key=lambda one: one.name)),
        ]
        return "\n".join(lines) + "\n"


def normalize_name(name: str) -> str:
    """Return a package's name as indexes compare it: lower case, one hyphen for each run of `-`, `_` and `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def check_snapshot(date: str) -> str:
    """Return `date` if it is a snapshot's date. Raises `VersionsError`."""
    if not SNAPSHOT.fullmatch(date):
        raise VersionsError(f"{date!r} is not the date of a snapshot; write it like 20261124T000000Z")
    return date


def parse_versions(text: str) -> Versions:
    """Parse a versions file. Raises `VersionsError`, which lists every faulty line."""
    requirements: dict[str, Requirement] = {}
    snapshot, faults = "", []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if header := _HEADER.match(line):
                snapshot = check_snapshot(header["date"])
            elif line.strip() and not line.startswith("#"):
                one = _parse_requirement(line)
                if one.name in requirements:
                    faults.append(f"line {number}: {one.name} is listed twice")
                requirements[one.name] = one
        except VersionsError as error:
            faults.append(f"line {number}: {error}")
    if not faults and not requirements:
        faults.append("it lists no package")
    if faults:
        raise VersionsError("\n".join(faults))
    return Versions(tuple(requirements.values()), snapshot)


def _parse_requirement(line: str) -> Requirement:
    words = line.split()
    if "://" in line or "@" in line:
        raise VersionsError("it names an address; a versions file has names, versions and hashes alone")
    name, equal, version = words[0].partition("==")
    if not equal or not _NAME.fullmatch(name) or not _VERSION.fullmatch(version):
        raise VersionsError(f"{words[0]!r} is not NAME==VERSION")
    hashes = [_HASH.fullmatch(word) for word in words[1:]]
    if not hashes or None in hashes:
        raise VersionsError(f"{name} needs --hash=sha256: with 64 hexadecimal digits, and nothing else")
    return Requirement(normalize_name(name), version, tuple(sorted(one["digest"] for one in hashes if one)))


def read_report(report: str, *, without: str) -> tuple[Requirement, ...]:
    """Return what pip installed according to its report (`pip install --report`), but for the package `without`.

    Raises `VersionsError` if the report lacks the hash of a package.
    """
    found: list[Requirement] = []
    installed: list[dict[str, Any]] = json.loads(report)["install"]
    for one in installed:
        name, version = normalize_name(one["metadata"]["name"]), one["metadata"]["version"]
        if name == without:
            continue
        digest = one["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        if not digest:
            raise VersionsError(f"pip reported no hash of {name}")
        found.append(Requirement(name, version, (digest,)))
    return tuple(sorted(found, key=lambda one: one.name))
