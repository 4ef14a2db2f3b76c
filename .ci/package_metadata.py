"""Hatchling's hook for what a package index shows: the README with whole addresses, and the project's own.

The repository's address stands nowhere in the tree: it is taken from the release's own workflow, which knows it
(GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_SHA). Built elsewhere the page has no pictures and its links are plain
words, for an index shows the tree's own paths as broken ones. A source package keeps what it was built with.
Passed over: hatch-fancy-pypi-readme (its replacements are fixed texts, with the address in each).
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<path>(?![a-z]+:|#)[^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\((?P<path>(?![a-z]+:|#)[^)\s]+)\)")
LINE_OF_PICTURES = re.compile(r"^\[?!\[[^\n]*\n\n?", re.MULTILINE)


class MetadataHook(MetadataHookInterface):
    """Gives the package its long description and its addresses."""

    def update(self, metadata: dict[str, object]) -> None:
        """Fill in `readme` and `urls`."""
        address, commit = repository(os.environ)
        readme = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": packaged(readme, address, commit)}
        metadata["urls"] = urls(address)


def repository(environment: os._Environ[str] | dict[str, str]) -> tuple[str, str]:
    """Return the repository's address and the commit that is built, by GitHub's variables; "" each where it is none."""
    server, name, commit = (environment.get(f"GITHUB_{key}", "") for key in ("SERVER_URL", "REPOSITORY", "SHA"))
    return (f"{server}/{name}", commit) if server and name and commit else ("", "")


def urls(address: str) -> dict[str, str]:
    """Return the project's addresses; none where the repository's is not known."""
    if not address:
        return {}
    return {
        "Source": address,
        "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def packaged(readme: str, address: str, commit: str) -> str:
    """Return the README's text for an index: no path in it is one of the tree's."""
    if not address:
        return LINK.sub(r"\g<text>", LINE_OF_PICTURES.sub("", readme))
    readme = PICTURE.sub(rf"![\g<text>]({address}/raw/{commit}/\g<path>)", readme)
    return LINK.sub(rf"[\g<text>]({address}/blob/{commit}/\g<path>)", readme)
