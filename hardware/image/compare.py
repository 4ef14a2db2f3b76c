"""Compares two images of the card: their packages, and every file with its content, mode, owner and link.

    sudo .venv/bin/python hardware/image/compare.py one.img other.img

Prints what differs and returns 1, or 0 if nothing does. Root is needed to unpack files with their owners.
"""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from build import hash_file, run

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTOR = 512
PARTITIONS = ("boot", "root", "state")
SHOWN = 40
"""How many differences of one folder are printed."""


@dataclass(frozen=True)
class Entry:
    """A file, folder or link: what `ls -n` tells, and the SHA-256 of a file's content or a link's target."""

    kind: str
    mode: int
    owner: tuple[int, int]
    content: str = ""


def read_tree(folder: Path) -> dict[str, Entry]:
    """Return all that is in `folder`, by its path."""
    found: dict[str, Entry] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        kind = stat.filemode(status.st_mode)[0]
        if kind == "l":
            content = str(path.readlink())
        elif kind == "-":
            content = hash_file(path)
        else:
            content = ""
        found[str(path.relative_to(folder))] = Entry(
            kind, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid), content
        )
    return found


def find_differences(one: Mapping[str, Entry], other: Mapping[str, Entry]) -> list[str]:
    """Return a line for each path that only one has, or that is not the same in both."""
    lines: list[str] = []
    for path in sorted(one.keys() | other.keys()):
        here, there = one.get(path), other.get(path)
        if here is None or there is None:
            lines.append(f"{path}: only in the {'second' if here is None else 'first'}")
        elif here != there:
            names = [
                name for name in ("kind", "mode", "owner", "content") if getattr(here, name) != getattr(there, name)
            ]
            lines.append(f"{path}: {', '.join(names)}")
    return lines


def read_packages(status: str) -> dict[str, str]:
    """Return the version of each package in dpkg's `status` file."""
    fields = (dict(line.partition(": ")[::2] for line in block.splitlines()) for block in status.split("\n\n") if block)
    return {one["Package"]: one["Version"] for one in fields if "Version" in one}


def unpack_image(image: Path, folder: Path) -> None:
    """Unpack the three partitions of `image` below `folder`, into boot, root and state."""
    table = json.loads(run("sfdisk", "--json", image, caught=True))["partitiontable"]["partitions"]
    for part, name in zip(table, PARTITIONS, strict=True):
        (folder / name).mkdir()
        start = part["start"] * SECTOR
        if name == "boot":
            run("mcopy", "-s", "-Q", "-n", "-i", f"{image}@@{start}", "::", folder / name)
        else:
            run("debugfs", "-R", f"rdump / {folder / name}", f"{image}?offset={start}")


def main() -> int:
    """Compare two images; return 1 if they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("images", type=Path, nargs=2, metavar="IMAGE")
    parser.add_argument("--folder", default="/var/tmp", help="where both are unpacked, about 4 GB (%(default)s)")
    args = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root: files are unpacked with their owners")
        return 2
    trees: list[dict[str, Entry]] = []
    packages: list[dict[str, str]] = []
    for image in args.images:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            unpack_image(image, Path(folder))
            trees.append(read_tree(Path(folder)))
            packages.append(read_packages((Path(folder) / "root/var/lib/dpkg/status").read_text("utf-8")))
    for name in sorted(packages[0].keys() | packages[1].keys()):
        versions = [one.get(name, "none") for one in packages]
        if versions[0] != versions[1]:
            print(f"package {name}: {' and '.join(versions)}")
    print(f"packages of Debian: {len(packages[0])} and {len(packages[1])}")
    different = find_differences(*trees)
    for line in different[:SHOWN]:
        print(line)
    if len(different) > SHOWN:
        print(f"... and {len(different) - SHOWN} more")
    print(f"files: {len(trees[0])} and {len(trees[1])}, {len(different)} differ")
    return 1 if different or packages[0] != packages[1] else 0


if __name__ == "__main__":
    sys.exit(main())
