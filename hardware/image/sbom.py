"""Writes a card's bill of materials (CycloneDX 1.6, JSON) from the list of versions that build.py leaves beside it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from packageurl import PackageURL
from versions import Requirement, VersionsError, normalize_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OWN = "moccasin-mat"


@dataclass(frozen=True)
class Installed:
    """The packages of a card with their versions: Debian's and Python's, by name."""

    debian: Mapping[str, str]
    python: Mapping[str, str]


def parse_list(text: str) -> Installed:
    """Parse a card's list of versions: `NAME VERSION` of Debian, a blank line, `NAME==VERSION` of Python.

    Raises `VersionsError` with the first line that is neither, or if one part is missing.
    """
    debian: dict[str, str] = {}
    python: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equal, version = line.partition("==")
        words = line.split()
        if equal and name and version:
            python[normalize_name(name)] = version
        elif not equal and len(words) == 2:
            debian[words[0]] = words[1]
        elif words:
            raise VersionsError(f"line {number}: {line!r} is neither NAME VERSION nor NAME==VERSION")
    if not debian or not python:
        raise VersionsError("it lacks the packages of Debian or those of Python")
    return Installed(debian, python)


def format_sbom(card: str, installed: Installed, pinned: Sequence[Requirement], *, debian: int, epoch: int) -> str:
    """Return the bill of materials of `card` ("table"), with the hashes of `pinned`; `epoch` is its time, s since 1970.

    The same arguments give the same text.
    """
    hashes = {one.name: one.hashes for one in pinned if installed.python.get(one.name) == one.version}
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{OWN} {card} {installed} {epoch}"))
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    bom.metadata.component = Component(
        name=f"{OWN}-{card}",
        version=installed.python.get(OWN, "0"),
        type=ComponentType.FIRMWARE,
        bom_ref=f"{OWN}-{card}",
        licenses=[DisjunctiveLicense(id="MIT")],
    )
    for name, version in installed.debian.items():
        url = PackageURL("deb", "debian", name, version, {"arch": "arm64", "distro": f"debian-{debian}"})
        bom.components.add(_component(name, version, url))
    for name, version in installed.python.items():
        bom.components.add(_component(name, version, PackageURL("pypi", None, name, version), hashes.get(name, ())))
    bom.register_dependency(bom.metadata.component, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def check_sbom(text: str) -> None:
    """Raise `ValueError` if a bill of materials does not conform to the schema of CycloneDX."""
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - compiles grammars for seconds

    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"the bill of materials does not conform to its schema: {fault}")


def _component(name: str, version: str, url: PackageURL, hashes: Sequence[str] = ()) -> Component:
    return Component(
        name=name,
        version=version,
        purl=url,
        bom_ref=url.to_string(),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=one) for one in hashes],
    )
