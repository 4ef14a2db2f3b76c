"""Collect the pages of the help: their order, their text, and the links between them.

`pages/index.md` lists all pages by section: it gives their order and their titles. A page is a file below `pages/`,
another Markdown file of the repository, or the text of a function in `GENERATED`. A source is named by its path in the
repository; `locate` finds it in a clone and in an installed wheel.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NamedTuple

FOLDER = "pi_controller/help/pages/"
INDEX = f"{FOLDER}index.md"
GENERATED = {
    f"{FOLDER}words.md": "words_page",
    f"{FOLDER}reference/settings.md": "settings_page",
    f"{FOLDER}reference/commands.md": "commands_page",
    f"{FOLDER}reference/options.md": "options_page",
    f"{FOLDER}reference/api.md": "api_page",
}
"""Pages made from the code, each by a function of `pi_controller.cli.reference_pages`."""
FILES = {".svg": "image/svg+xml", ".png": "image/png", ".csv": "text/csv"}
"""Media types of the files beside the pages, by their endings."""

_PACKAGE = Path(__file__).parents[1]
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\[\]]*)\]\((?P<link>[^()\s]+)\)")
_HEADING = re.compile(r"^#{1,4} (?P<heading>[^\n]+)$|^```.*?^```", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<link>[^)]+)\)", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


class Page(NamedTuple):
    """A page: its address below `/help`, its source and its title."""

    address: str
    source: str
    title: str


class Passage(NamedTuple):
    """A heading of a page, its anchor ("" for the page's title), and the plain text below it."""

    heading: str
    anchor: str
    text: str


class HelpSection(NamedTuple):
    """The pages under one heading of the index."""

    title: str
    pages: tuple[Page, ...]


def locate(source: str) -> Path | None:
    """Return the file of `source`, a path in the repository; None if this installation does not have it."""
    top, _, rest = source.partition("/")
    installed = _PACKAGE / rest if top == _PACKAGE.name else _PACKAGE / f"_{top}" / rest
    found = (path for path in (installed, _PACKAGE.parent / source) if path.is_file())
    return next(found, None)


def address_of(source: str) -> str:
    """Return the address of the page `source` below `/help`: no suffix, and a README is its folder."""
    path = source.removeprefix(FOLDER).removeprefix(f"{_PACKAGE.name}/").removesuffix(".md")
    return "" if path == "index" else path.removesuffix("/README")


@cache
def list_sections() -> tuple[HelpSection, ...]:
    """Return all pages by the sections of the index; a page that this installation lacks is left out."""
    found: list[HelpSection] = []
    for part in re.split(r"^## ", read_page(INDEX), flags=re.MULTILINE)[1:]:
        entries = ((entry["title"], resolve(INDEX, entry["link"])[0]) for entry in _ENTRY.finditer(part))
        pages = tuple(Page(address_of(source), source, title) for title, source in entries if _exists(source))
        if pages:
            found.append(HelpSection(part.splitlines()[0].strip(), pages))
    return tuple(found)


@cache
def list_pages() -> dict[str, Page]:
    """Return all pages by their address, the index first."""
    pages = [Page("", INDEX, "Help"), *(page for section in list_sections() for page in section.pages)]
    return {page.address: page for page in pages}


def _exists(source: str) -> bool:
    return source in GENERATED or locate(source) is not None


@cache
def read_page(source: str) -> str:
    """Return the Markdown of the page `source`."""
    if source in GENERATED:
        # by name, because the reference imports every other part of the program
        make: Callable[[], str] = getattr(import_module("pi_controller.cli.reference_pages"), GENERATED[source])
        return make()
    path = locate(source)
    if path is None:
        raise FileNotFoundError(source)
    return path.read_text("utf-8")


def resolve(source: str, link: str) -> tuple[str, str]:
    """Return the path in the repository that `link` on the page `source` leads to, and its fragment ("#..." or "")."""
    path, mark, fragment = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
    return (f"{target}/README.md" if path.endswith("/") else target), mark + fragment


def rewrite_links(source: str, text: str, target_of: Callable[[str], str | None]) -> str:
    """Return `text` of the page `source` with each relative link led to `target_of` the path it names.

    A link or picture for which `target_of` returns None becomes plain text.
    """

    def rewrite(found: re.Match[str]) -> str:
        link = found["link"]
        if link.startswith("#") or re.match(r"[a-z]+:", link):
            return found[0]
        path, fragment = resolve(source, link)
        target = target_of(path)
        return found["text"] if target is None else f"{found['picture']}[{found['text']}]({target}{fragment})"

    parts, end = list[str](), 0
    for code in _CODE.finditer(text):
        if "](" in code[0] or code[0].startswith("```"):
            parts += [_LINK.sub(rewrite, text[end : code.start()]), code[0]]
            end = code.end()
    return "".join([*parts, _LINK.sub(rewrite, text[end:])])


@cache
def list_files() -> dict[str, Path]:
    """Return the pictures and lists that a page shows or links to, by their path in the repository."""
    found: dict[str, Path] = {}
    for page in list_pages().values():
        text = "" if page.source in GENERATED else read_page(page.source)  # those have no pictures
        for link in _LINK.finditer(text):
            path, _ = resolve(page.source, link["link"])
            file = locate(path) if Path(path).suffix in FILES else None
            if file is not None:
                found[path] = file
    return found


@cache
def render_page(address: str) -> str:
    """Return the page at `address` as HTML; its links and pictures are below `/help`. Raises `KeyError`."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  # no table needs it before somebody reads the help

    page, pages = list_pages()[address], {page.source: page for page in list_pages().values()}

    def target_of(path: str) -> str | None:
        if path in pages:
            return f"/help/{pages[path].address}".removesuffix("/")
        return f"/help/{path}" if path in list_files() else None

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(rewrite_links(page.source, read_page(page.source), target_of))
    slugs: dict[str, int] = {}
    for heading, content in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", _make_unique(slugify(content.content), slugs))
    for cell in tokens:
        if cell.attrs.pop("style", ""):  # the pages' security policy allows no style in an element
            cell.attrSet("class", "number")
    html: str = markdown.renderer.render(tokens, markdown.options, {})
    html = re.sub("<(pre|table)>", r'<\1 tabindex="0">', html)  # scrolled by the keyboard where they are too wide
    return html.replace("&lt;br&gt;", "<br>")  # the only tag that the pages use, in cells of tables


def list_passages(source: str) -> list[Passage]:
    """Return the page `source` from heading to heading."""
    text, slugs, found = read_page(source), dict[str, int](), list[Passage]()
    marks = [mark for mark in _HEADING.finditer(text) if mark["heading"]]
    for mark, following in zip_longest(marks, marks[1:]):
        anchor = _make_unique(slugify(mark["heading"]), slugs)
        body = plain_text(text[mark.end() : following.start() if following else None])
        found.append(Passage(plain_text(mark["heading"]), anchor if found else "", body))
    return found


def slugify(heading: str) -> str:
    """Return the anchor of `heading`: lower case, hyphens for spaces."""
    plain = re.sub(r"\]\([^)]*\)", "", heading)
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def _make_unique(slug: str, used: dict[str, int]) -> str:
    used[slug] = number = used.get(slug, -1) + 1
    return f"{slug}_{number}" if number else slug


def plain_text(markdown: str) -> str:
    """Return the words of `markdown` without its marks."""
    text = _LINK.sub(r"\g<text>", markdown)
    return " ".join(re.sub(r"[#|>]|<br>|:?-{3,}:?", " ", re.sub("[`*]", "", text)).split())
