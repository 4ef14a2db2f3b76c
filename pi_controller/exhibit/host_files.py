"""What the host tells visitors, as files that anybody can edit: `texts.toml` and the pictures it names.

Everything is empty by default: titles, introductions, stories, Notices and Labels come from the host and from the
communities they speak for, never from here. A file that cannot be read changes nothing: the last good one stays, also
after a restart where there is a place to keep it, and the staff is told what is wrong, with the line.
"""

from __future__ import annotations

import logging
from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple, cast

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from pi_controller.errors import MatError, SettingsError
from pi_controller.games.wording import unseen
from pi_controller.table.settings_fields import Section
from pi_controller.table.settings_file import read_model
from pi_controller.whole_files import replace_file

log = logging.getLogger(__name__)

TEXTS = "texts.toml"
HELP = f"'moccasin-mat exhibit --check FOLDER' looks at it, the installation's README shows a {TEXTS}"
"""What helps where the host's texts have a fault."""
MOST_PICTURE = 4_000_000
"""Bytes of a picture."""
PICTURES = {".png": (b"\x89PNG\r\n\x1a\n", "image/png"), ".jpg": (b"\xff\xd8\xff", "image/jpeg")}
"""Pictures that are taken, by their ending: how the file begins, and what it is."""


def _plain(text: str) -> str:
    if any(unseen(one) for one in text.replace("\n", " ")):
        raise ValueError("a control character stands in this text")
    return text


def _picture(name: str) -> str:
    if not name or (Path(name).suffix in PICTURES and name == Path(name).name and not name.startswith(".")):
        return name
    raise ValueError("must be the name of a .png or .jpg beside this file")


Line = Annotated[str, Field(max_length=160), AfterValidator(_plain)]
Text = Annotated[str, Field(max_length=4000), AfterValidator(_plain)]
Picture = Annotated[str, AfterValidator(_picture)]


class Label(Section):
    """A Notice, or a Label that a community itself made, as given by it (localcontexts.org)."""

    name: Line
    text: Text
    community: Line = ""
    picture: Picture = ""
    link: Line = ""


class Story(Section):
    """A story, in its teller's words and under the teller's name."""

    title: Line
    teller: Line
    text: Text


def _tuple(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _sections(name: str) -> dict[str, JsonValue]:
    return {"takes": f"a section [[{name}]] for each"}


class HostTexts(Section):
    """All that `texts.toml` may have."""

    title: Line = ""
    what: Text = ""
    closed: Text = ""
    out_of_season: Text = ""
    introduction: Text = ""
    introduced_by: Line = ""
    credits: Text = ""
    attribution: Line = ""
    rules_approved_by: Line = ""
    rules_approved_on: Line = ""
    wording_approved_by: Line = ""
    wording_approved_on: Line = ""
    picture: Picture = ""
    picture_says: Line = ""
    labels: Annotated[tuple[Label, ...], BeforeValidator(_tuple)] = Field(
        default=(), json_schema_extra=_sections("labels")
    )
    stories: Annotated[tuple[Story, ...], BeforeValidator(_tuple)] = Field(
        default=(), json_schema_extra=_sections("stories")
    )


class Waiting(NamedTuple):
    """Texts and pictures that wait for the staff; `mark` tells them from any others, `content` is the file itself."""

    texts: HostTexts
    pictures: dict[str, tuple[bytes, str]]
    content: bytes
    mark: str


class HostFiles:
    """The host's texts and pictures in `folder` (None: there are none); `kept` is where the last good ones are kept.

    With `approve` changed ones are `waiting` until `publish`.
    """

    def __init__(self, folder: Path | None, kept: Path | None = None, *, approve: bool = False) -> None:
        self.texts = HostTexts()
        self.pictures: dict[str, tuple[bytes, str]] = {}
        self.waiting: Waiting | None = None
        self.fault = ""
        """What is wrong with the files as they are now; empty where all is well."""
        self._folder, self._kept, self._approve = folder, kept, approve
        self._seen: object = None
        if kept is not None and (kept / TEXTS).is_file():
            try:
                self.texts, self.pictures = read(kept)
            except MatError as error:
                log.warning("the texts kept last cannot be read: %s", error.what)
        self.look()

    def look(self) -> bool:
        """Read the files again if they have changed; return whether visitors see others now."""
        if self._folder is None or (seen := _stamps(self._folder)) == self._seen:
            return False
        self._seen = seen
        try:
            texts, pictures = read(self._folder)
            content = (self._folder / TEXTS).read_bytes()
        except (MatError, OSError) as error:
            self.fault, self.waiting = str(error), None
            log.warning("the host's texts are as they were: %s", error)
            return False
        self.fault, self.waiting = "", None
        changed = (texts, pictures) != (self.texts, self.pictures)
        new = Waiting(texts, pictures, content, _mark(content, pictures))
        if self._approve and changed:
            self.waiting = new
            return False
        self._show(new)
        return changed

    def publish(self, mark: str) -> bool:
        """Show visitors what waits, where it is still what `mark` stands for; return whether it is shown."""
        if self.waiting is None or self.waiting.mark != mark:
            return False
        self._show(self.waiting)
        self.waiting = None
        return True

    def _show(self, new: Waiting) -> None:
        self.texts, self.pictures = new.texts, new.pictures
        if self._kept is None:
            return
        try:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            for name, (content, _) in new.pictures.items():
                replace_file(self._kept / name, content)
            replace_file(self._kept / TEXTS, new.content)
        except OSError as error:
            log.warning("the host's texts cannot be kept for a restart: %s", error)


def _mark(content: bytes, pictures: dict[str, tuple[bytes, str]]) -> str:
    found = sha256(content)
    for name, (picture, _) in sorted(pictures.items()):
        found.update(name.encode() + sha256(picture).digest())
    return found.hexdigest()[:16]


def read(folder: Path) -> tuple[HostTexts, dict[str, tuple[bytes, str]]]:
    """Return the texts and the pictures by name in `folder`. Raises `SettingsError` with every fault."""
    if not (folder / TEXTS).exists():
        raise SettingsError(f"there is no {TEXTS} in {folder}", f'make it, with a line like title = "..."; {HELP}')
    texts = read_model(folder / TEXTS, HostTexts, todo=f"mend {TEXTS}; {HELP}")
    names = {texts.picture, *(label.picture for label in texts.labels)} - {""}
    pictures: dict[str, tuple[bytes, str]] = {}
    wrong: list[str] = []
    for name in sorted(names):
        begins, kind = PICTURES[Path(name).suffix]
        try:
            with (folder / name).open("rb") as file:
                content = file.read(MOST_PICTURE + 1)
        except OSError as error:
            wrong.append(f"{name}: {error.strerror}")
            continue
        if len(content) > MOST_PICTURE or not content.startswith(begins):
            wrong.append(f"{name}: is no {kind} of up to {MOST_PICTURE // 1_000_000} MB")
        pictures[name] = content, kind
    if wrong:
        raise SettingsError("\n".join(wrong), f"put the pictures that {TEXTS} names beside it")
    return texts, pictures


def _stamps(folder: Path) -> object:
    """Return what changes when a file in `folder` does."""
    try:
        return sorted((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in folder.iterdir())
    except OSError as error:
        return error.errno
