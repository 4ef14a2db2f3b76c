"""Write the licence table of the packages that an installation brings, from the metadata of those installed here.

    .venv/bin/python tests/support/licences.py      # writes pi_controller/THIRD_PARTY.md

Packages that only a Raspberry Pi installs have no metadata on a PC: run this on a Pi to see theirs.
"""

import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "pi_controller" / "THIRD_PARTY.md"
OWN = "moccasin-mat"
DEVELOPMENT = ("docs", "hardware", "release", "test")
"""Extras that no table, hub or card installs."""
UNKNOWN = "see its own metadata"
HEAD = """\
# Licences of other packages

The wheel contains code of this project, and the fonts of its pages: subsets of Noto Sans, Noto Serif and Noto Sans
Canadian Aboriginal under the SIL Open Font License 1.1 ([its text](web/static/OFL.txt)). pip installs these packages
beside it, some only with an extra; each brings its own licence text in its `dist-info` folder. On the SD card they are
in `/opt/moccasin-mat`, and `/usr/share/doc/PACKAGE/copyright` has the licences of Debian's packages.
`tests/support/licences.py` writes this table.

| licence | packages |
| --- | --- |
"""


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def needed(needs):
    """Return the names of the packages that `needs` install on some machine, with their own needs if installed here."""
    extras, found, todo = project()["optional-dependencies"], set(), [(need, {""}) for need in needs]
    while todo:
        text, wanted = todo.pop()
        need = Requirement(text)
        name = canonicalize_name(need.name)
        if name == OWN:
            todo += [(one, {""}) for extra in need.extras for one in extras[extra]]
            continue
        by_extra = need.marker is not None and "extra" in str(need.marker)
        if by_extra and not any(need.marker.evaluate({"extra": extra}) for extra in wanted):
            continue
        here = need.marker is None or by_extra or need.marker.evaluate({"extra": ""})
        if name in found or (not here and text not in needs and "aarch64" not in text):
            continue
        found.add(name)
        if here:
            try:
                todo += [(one, {"", *need.extras}) for one in metadata.requires(name) or ()]
            except metadata.PackageNotFoundError:
                continue
    return found


def licence(name):
    """Return the licence of the package `name` by its metadata."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return UNKNOWN
    classes = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier", []) if one.startswith("License")]
    short = (about.get("License") or "").strip()
    return (
        about.get("License-Expression")
        or (short if 0 < len(short) < 40 and short != "UNKNOWN" else "")
        or " or ".join(classes)
        or UNKNOWN
    )


def packages():
    """Return the packages of every installation: name -> "base" or its extras."""
    about = project()
    found = {name: ["base"] for name in needed(about["dependencies"])}
    for extra, needs in about["optional-dependencies"].items():
        for name in needed(needs) if extra not in DEVELOPMENT else ():
            if found.setdefault(name, []) != ["base"]:
                found[name].append(extra)
    return found


def table():
    groups = {}
    for name in sorted(packages()):
        groups.setdefault(licence(name), []).append(name)
    rows = (f"| {licence} | {', '.join(names)} |" for licence, names in sorted(groups.items()))
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), "utf-8")
