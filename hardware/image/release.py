"""Makes all files of a release: packages, cards, their sums and bills of materials, firmware, drawings, documentation.

    sudo .venv/bin/python hardware/image/release.py OUT
    sudo .venv/bin/python hardware/image/release.py OUT --only firmware templates docs

Each step replaces its own files in OUT. Building the cards and starting them in qemu takes about an hour on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from build import TREE, commit_time, hash_file, run, step
from versions import VersionsError, parse_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HERE = Path(__file__).parent
CARDS = {"table": "a table", "kiosk": "an installation with its own screen"}
DEBIANS = {"trixie": 13, "bookworm": 12}
DEVICES = ("pi4-64bit", "pi3-64bit")
"""Raspberry Pi Imager's names of the models that the cards are for; a Zero 2 W counts as a Pi 3."""
PI_5 = "pi5-64bit"
"""Of a card with the kernel of backports."""
CONTACTS = TREE / ".github"
BLANK = "FILL_IN"
"""Marks a contact or a name that only the project's owner knows; no release has one."""
DRAWINGS = TREE / "hardware/drawings"
TEMPLATES = {"a4": "pad-a4-*.svg", "a3": "pad-a3-*.svg"}
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 40'%3E"
    "%3Cpath fill='%23864' d='M2 10h8v20H2zm10 0h8v20h-8zm10 0h8v20h-8zm10 0h6v20h-6z'/%3E%3C/svg%3E"
)
BOOTS = {
    "table": ("MOCCASIN_CARD", "test_card.py", "starts_to_the_page_and_again"),
    "kiosk": ("MOCCASIN_KIOSK_CARD", "test_kiosk_card.py", "shows_the_installation"),
}
"""The test in tests/process/machine that starts a card to its page: variable of the image, file, test."""


@dataclass(frozen=True)
class Release:
    """What a release is made of and where its files go."""

    out: Path
    work: Path
    suite: str
    version: str
    url: str = ""
    """The address at which the release's files will be, without the slash at its end."""
    snapshot: str = ""
    backports: bool = False

    @property
    def debian(self) -> int:
        """Return the number of Debian's release."""
        return DEBIANS[self.suite]

    @property
    def versions(self) -> Path:
        """Return the versions file of the cards."""
        return HERE / f"versions-{self.debian}.txt"

    def name_file(self, what: str) -> str:
        """Return the name of a file that belongs to the whole release: `firmware.zip`."""
        return f"moccasin-mat-{self.version}-{what}"

    def name_card(self, card: str, ending: str) -> str:
        """Return the name of a card's file: `img.xz`, `versions.txt`."""
        return self.name_file(f"{card}-debian{self.debian}.{ending}")


def make_packages(release: Release) -> None:
    """Build the source package and the wheel, and check their metadata."""
    for path in (*release.out.glob("*.whl"), *release.out.glob("moccasin_mat-*.tar.gz")):
        path.unlink()
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", release.out, TREE)
    built = [*release.out.glob("*.whl"), *release.out.glob("moccasin_mat-*.tar.gz")]
    run(sys.executable, "-m", "twine", "check", "--strict", *built)


def make_card(release: Release, card: str) -> None:
    """Build a card with the pinned versions; pack it and leave its list of versions beside it."""
    image = release.work / release.name_card(card, "img")
    command = [sys.executable, HERE / "build.py", image, "--suite", release.suite, "--work", release.work / "build"]
    command += ["--versions", release.versions, *(["--snapshot", release.snapshot] if release.snapshot else [])]
    command += ["--backports"] if release.backports else []
    command += ["--kiosk"] if card == "kiosk" else []
    if subprocess.run(list(map(str, [*command, "--xz"])), check=False).returncode:
        sys.exit(f"the card for {CARDS[card]} was not built")
    shutil.move(f"{image}.xz", release.out / release.name_card(card, "img.xz"))
    shutil.copy(image.with_suffix(".versions.txt"), release.out / release.name_card(card, "versions.txt"))
    shutil.copy(release.versions, release.out / release.name_file(release.versions.name))


def start_card(release: Release, card: str) -> None:
    """Start a card in qemu to its page, cut its power and start it again."""
    variable, file, name = BOOTS[card]
    image = release.work / release.name_card(card, "img")
    if not image.exists():
        image.write_bytes(lzma.decompress((release.out / f"{image.name}.xz").read_bytes()))
    command = [sys.executable, "-m", "pytest", "-n", "0", "-s", TREE / "tests/process/machine" / file, "-k", name]
    pictures = release.work / f"pictures-{card}"
    pictures.mkdir(exist_ok=True)
    environment = {**os.environ, variable: str(image.absolute()), "MOCCASIN_PICTURES": str(pictures.absolute())}
    if subprocess.run(list(map(str, command)), cwd=TREE, env=environment, check=False).returncode:
        sys.exit(f"the card for {CARDS[card]} did not start to its page")


def make_sboms(release: Release) -> None:
    """Write the bill of materials of each card that is there."""
    from sbom import check_sbom, format_sbom, parse_list  # noqa: PLC0415  # its library is needed for this step alone

    pinned = parse_versions(release.versions.read_text("utf-8")).requirements
    for card, path in existing_cards(release, "versions.txt"):
        installed = parse_list(path.read_text("utf-8"))
        text = format_sbom(card, installed, pinned, debian=release.debian, epoch=commit_time())
        check_sbom(text)
        (release.out / release.name_card(card, "cdx.json")).write_text(text, "utf-8")


def existing_cards(release: Release, ending: str) -> list[tuple[str, Path]]:
    """Return the cards whose file with this `ending` is there; end with an error if there is none."""
    paths = [(card, release.out / release.name_card(card, ending)) for card in CARDS]
    found = [(card, path) for card, path in paths if path.exists()]
    if not found:
        sys.exit(f"{release.out} has no card yet: run the steps {' or '.join(CARDS)} before")
    return found


def make_firmware(release: Release) -> None:
    """Pack the board's firmware with the instructions to install it."""
    files = [path for path in sorted((TREE / "firmware").iterdir()) if path.suffix in {".py", ".md"}]
    entries = [(path, f"firmware/{path.name}") for path in files]
    entries += [(TREE / "hardware/pinmap.toml", "pinmap.toml"), (HERE / "FIRMWARE.txt", "FIRMWARE.txt")]
    write_zip(release.out / release.name_file("firmware.zip"), [*entries, (TREE / "LICENSE", "LICENSE")])


def make_templates(release: Release) -> None:
    """Print the templates of a pad and all drawings as PDF, each page in its drawing's own size."""
    everything = [path for path in sorted(DRAWINGS.glob("*.svg")) if not path.name.startswith(("pad-a4", "pad-a3"))]
    sheets = {f"templates-{size}": sorted(DRAWINGS.glob(pattern)) for size, pattern in TEMPLATES.items()}
    for name, pages in {**sheets, "drawings": everything}.items():
        print_drawings(pages, release.out / release.name_file(f"{name}.pdf"))


def print_drawings(drawings: Iterable[Path], pdf: Path) -> None:
    """Print each of `drawings` (SVG with a size) on a page of its size."""
    from pi_controller.host.pdf import write_pdf  # noqa: PLC0415

    styles, pages = [], []
    for number, path in enumerate(drawings):
        root = path.read_text("utf-8")
        width, height = (measure_side(root, side) for side in ("width", "height"))
        styles.append(f"@page p{number} {{ size: {width:.3f}mm {height:.3f}mm; margin: 0 }}")
        box = f"page: p{number}; width: {width:.3f}mm; height: {height - 0.01:.3f}mm"
        pages.append(f'<div style="{box}"><img src="{path.absolute().as_uri()}"></div>')
    img = "img { display: block; width: 100%; height: 100% }"
    style = f"<style>body {{ margin: 0 }} {img} {' '.join(styles)}</style>"
    write_pdf(f'<!doctype html><meta charset="utf-8">{style}{"".join(pages)}', pdf)


def measure_side(svg: str, side: str) -> float:
    """Return the width or height of a drawing, mm. Raises `ValueError` if it has none in mm or pt."""
    root = svg[svg.index("<svg") : svg.index(">", svg.index("<svg"))]
    _, found, rest = root.partition(f' {side}="')
    text = rest.partition('"')[0]
    scale = {"mm": 1.0, "pt": 25.4 / 72}.get(text[-2:])
    if not found or scale is None:
        raise ValueError(f"the drawing has no {side} in mm or pt")
    return float(text[:-2]) * scale


def make_documentation(release: Release) -> None:
    """Build the documentation's site and pack it."""
    site = release.work / "site"
    settings = TREE / "pi_controller/help/mkdocs.yml"
    run(sys.executable, "-m", "mkdocs", "build", "-q", "-f", settings, "-d", site.absolute())
    pages = [path for path in sorted(site.rglob("*")) if path.is_file()]
    archive = release.out / release.name_file("documentation.zip")
    write_zip(archive, [(path, str(path.relative_to(site))) for path in pages])


def write_zip(archive: Path, entries: Iterable[tuple[Path, str]]) -> None:
    """Pack files under their names. All get the time of the last commit, so the same files give the same zip."""
    moment = datetime.fromtimestamp(commit_time(), UTC).timetuple()[:6]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, name in entries:
            packed.writestr(zipfile.ZipInfo(name, moment), path.read_bytes(), zipfile.ZIP_DEFLATED)


def make_imager(release: Release) -> None:
    """Write the list of cards for Raspberry Pi Imager."""
    cards = [describe_card(release, card, path) for card, path in existing_cards(release, "img.xz")]
    text = json.dumps({"os_list": cards}, indent=2)
    (release.out / release.name_file("rpi-imager.json")).write_text(f"{text}\n", "utf-8")


def describe_card(release: Release, card: str, packed: Path) -> dict[str, Any]:
    """Return a card's entry in Raspberry Pi Imager's list."""
    size, digest = measure_image(packed)
    return {
        "name": f"Moccasin Mat {release.version}: {card}",
        "description": f"Card for {CARDS[card]}, Debian {release.debian}. Do not apply Imager's settings to it.",
        "icon": ICON,
        "url": f"{release.url}/{packed.name}" if release.url else packed.absolute().as_uri(),
        "extract_size": size,
        "extract_sha256": digest,
        "image_download_size": packed.stat().st_size,
        "image_download_sha256": hash_file(packed),
        "release_date": datetime.fromtimestamp(commit_time(), UTC).strftime("%Y-%m-%d"),
        "devices": [*([PI_5] if release.backports else []), *DEVICES],
    }


def measure_image(packed: Path) -> tuple[int, str]:
    """Return the size of an unpacked image in bytes, and its SHA-256."""
    size, digest = 0, hashlib.sha256()
    with lzma.open(packed) as file:
        while block := file.read(1 << 20):
            size += len(block)
            digest.update(block)
    return size, digest.hexdigest()


def make_sums(release: Release) -> None:
    """Write the SHA-256 of every file of the release, as `sha256sum --check` reads them."""
    paths = (path for path in sorted(release.out.iterdir()) if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hash_file(path)}  {path.name}\n" for path in paths]
    (release.out / "SHA256SUMS").write_text("".join(lines), "utf-8")


STEPS: dict[str, Callable[[Release], None]] = {
    "packages": make_packages,
    "table": lambda release: make_card(release, "table"),
    "kiosk": lambda release: make_card(release, "kiosk"),
    "start-table": lambda release: start_card(release, "table"),
    "start-kiosk": lambda release: start_card(release, "kiosk"),
    "sbom": make_sboms,
    "firmware": make_firmware,
    "templates": make_templates,
    "docs": make_documentation,
    "imager": make_imager,
    "sums": make_sums,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder of the release's files")
    parser.add_argument("--only", nargs="+", choices=STEPS, metavar="STEP", help=f"of {', '.join(STEPS)}")
    parser.add_argument("--suite", choices=DEBIANS, default="trixie", help="Debian's (%(default)s)")
    parser.add_argument("--snapshot", metavar="DATE", help='of Debian, or "none" (the date in the versions file)')
    parser.add_argument("--backports", action="store_true", help="cards with the kernel of backports, for a Pi 5 too")
    parser.add_argument("--url", default="", help="the address at which the files will be, for Raspberry Pi Imager")
    parser.add_argument("--tag", help="refuse to make another version than this tag's, vX.Y.Z")
    parser.add_argument("--work", type=Path, help="keep what is built there (a folder beside OUT, OUT.work)")
    return parser


def read_version() -> str:
    """Return the version of this tree."""
    return str(tomllib.loads((TREE / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def find_blanks(folder: Path) -> list[str]:
    """Return the lines of the files in `folder` that the project's owner has still to fill in: file, line."""
    return [
        f"{path.name}:{number}"
        for path in sorted(folder.iterdir())
        if path.is_file()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if BLANK in line
    ]


def main(arguments: list[str] | None = None) -> int:
    """Take the steps in their order; return 0, or 2 for wrong arguments."""
    args = parser().parse_args(arguments)
    version = read_version()
    if args.tag not in {None, f"v{version}"}:
        print(f"the tag {args.tag} is not the version: v{version}")
        return 2
    if args.tag and (blanks := find_blanks(CONTACTS)):
        print(f"the owner has not filled in .github: {', '.join(blanks)}")
        return 2
    work: Path = args.work or args.out.with_name(f"{args.out.name}.work")
    release = Release(args.out, work, args.suite, version, args.url.rstrip("/"), args.snapshot or "", args.backports)
    try:
        parse_versions(release.versions.read_text("utf-8"))
    except (VersionsError, OSError) as error:
        print(f"{release.versions}: {error}")
        return 2
    for folder in (release.out, release.work):
        folder.mkdir(parents=True, exist_ok=True)
    for name, make in STEPS.items():
        if args.only is None or name in args.only:
            with step(f"release: {name}"):
                make(release)
    return 0


if __name__ == "__main__":
    sys.exit(main())
