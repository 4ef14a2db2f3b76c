"""Load the host's texts for visitors: the editable file `texts.toml` and the pictures it names.

All texts are empty by default: titles, introductions, stories, Notices and Labels come only from the host and from the
communities they speak for. A file with faults changes nothing: the last good texts remain in use, also after a restart
if a folder for copies is given, and the staff page shows the faults with their lines.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple, cast

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from pi_controller.config.edit import KEPT, EditError, edit_text, require_valid
from pi_controller.config.fields import InvalidValueError, Section
from pi_controller.config.load import decode_text, read_model
from pi_controller.errors import MatError, SettingsError, describe_error
from pi_controller.host.files import atomic_write, explain_refusal, find_file
from pi_controller.text import Sentence, is_invisible

log = logging.getLogger(__name__)

TEXTS = "texts.toml"
OWN_TEXTS = "exhibit-texts"
"""Folder of the texts from the staff page, beside the journal, if the settings name no folder."""
TEXTS_HINT = Sentence(
    "'moccasin-mat exhibit --check FOLDER' checks it; the help page 'Texts, hours, staff' has an example"
)
"""Hint added to every fault of the host's texts."""
MAX_PICTURE_BYTES = 4_000_000
"""Largest size of a picture, bytes."""
_JPEG = b"\xff\xd8\xff", "image/jpeg"
PICTURES = {".png": (b"\x89PNG\r\n\x1a\n", "image/png"), ".jpg": _JPEG, ".jpeg": _JPEG}
"""Accepted pictures by file suffix in lower case: the first bytes of the file, and the media type."""


def _plain(text: str) -> str:
    if any(is_invisible(one) for one in text.replace("\n", " ")):
        raise InvalidValueError("this text contains a control character")
    return text


def _picture(name: str) -> str:
    if not name or (Path(name).suffix.lower() in PICTURES and name == Path(name).name and not name.startswith(".")):
        return name
    raise InvalidValueError("must be the name of a .png or .jpg beside this file")


Line = Annotated[str, Field(max_length=160), AfterValidator(_plain)]
Text = Annotated[str, Field(max_length=4000), AfterValidator(_plain)]
Picture = Annotated[str, AfterValidator(_picture)]


class Label(Section):
    """A Notice or a Label as its community made it (localcontexts.org)."""

    name: Line
    text: Text
    community: Line = ""
    picture: Picture = ""
    link: Line = ""


class HostStory(Section):
    """A story in its teller's words and under the teller's name."""

    title: Line
    teller: Line
    text: Text


def _tuple(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _sections(name: str) -> dict[str, JsonValue]:
    return {"takes": Sentence("a section {section} for each", section=f"[[{name}]]")}


class HostTexts(Section):
    """The contents of `texts.toml`."""

    title: Line = ""
    what: Text = ""
    closed: Text = ""
    out_of_season: Text = ""
    introduction: Text = ""
    introduced_by: Line = ""
    credits: Text = ""
    attribution: Line = ""
    picture: Picture = ""
    picture_says: Line = ""
    labels: Annotated[tuple[Label, ...], BeforeValidator(_tuple)] = Field(
        default=(), json_schema_extra=_sections("labels")
    )
    stories: Annotated[tuple[HostStory, ...], BeforeValidator(_tuple)] = Field(
        default=(), json_schema_extra=_sections("stories")
    )


class TextsDraft(NamedTuple):
    """Texts from the staff page that visitors do not see yet; `content` is the file that they will make."""

    texts: HostTexts
    content: bytes


class HostFiles:
    """The host's texts and pictures in `folder` (None for none); `kept` is the folder for copies of the last good ones.

    An `optional` folder may have no texts.
    """

    def __init__(self, folder: Path | None, kept: Path | None = None, *, optional: bool = False) -> None:
        self.texts = HostTexts()
        self.pictures: dict[str, tuple[bytes, str]] = {}
        self.draft: TextsDraft | None = None
        self.fault = ""
        """The faults of the files on the disk; "" if there are none."""
        self._folder, self._kept, self._optional = folder, kept, optional
        self._seen: object = None
        self._content = b""
        if kept is not None and (kept / TEXTS).is_file():
            try:
                self.texts, self.pictures = read_host_texts(kept)
                self._content = (kept / TEXTS).read_bytes()
            except (MatError, OSError) as error:
                log.warning("the saved copy of the texts cannot be read: %s", describe_error(error))
        self.reload()

    def reload(self) -> bool:
        """Reload the files if they have changed; return True if visitors now see other texts."""
        if self._folder is None or (seen := _stamps(self._folder)) == self._seen:
            return False
        self._seen = seen
        if self._optional and not (self._folder / TEXTS).exists():
            return False
        try:
            texts, pictures = read_host_texts(self._folder)
            content = (self._folder / TEXTS).read_bytes()
        except (MatError, OSError) as error:
            self.fault, self.draft = describe_error(error), None
            log.warning("the host's texts were not updated: %s", describe_error(error))
            return False
        self.fault, self.draft = "", None
        changed = (texts, pictures) != (self.texts, self.pictures)
        self._show(texts, pictures, content)
        return changed

    def publish(self) -> None:
        """Write the draft to the file and show it to visitors.

        Changes nothing and raises `EditError` if there is no draft, `SettingsError` if the file cannot be written.
        """
        if self.draft is None:
            raise EditError("there are no new texts", "look at the preview again")
        self._write(self.draft.content)
        self._show(self.draft.texts, self.pictures, self.draft.content)
        self.draft, self.fault = None, ""

    def propose(self, changes: Mapping[str, str]) -> None:
        """Change the draft, or begin one with the texts shown now. Raises `EditError` with the fault of each text."""
        if self._folder is None:
            raise EditError("texts cannot be saved here", "name a folder in the settings: [exhibit] folder")
        text = decode_text(self.draft.content if self.draft else self._content)
        data = tomllib.loads(text)
        chosen = {(key,): value for key, value in changes.items() if value != data.get(key, "")}
        data |= {key: value for (key,), value in chosen.items()}
        hint = Sentence("correct them and look at the preview again")
        texts = require_valid(HostTexts, data, Sentence("some texts cannot be used"), hint)
        new = edit_text(text, chosen)
        if tomllib.loads(new) != data:
            raise EditError("{file} cannot be changed here", "change it with a text editor on a laptop", file=TEXTS)
        self.draft = TextsDraft(texts, new.encode())

    def discard_draft(self) -> None:
        """Forget the draft."""
        self.draft = None

    def _write(self, content: bytes) -> None:
        """Write the file; the file before is beside it."""
        if self._folder is None:
            return
        path = self._folder / TEXTS
        try:
            self._folder.mkdir(exist_ok=True)
            if path.exists():
                atomic_write(path.with_name(TEXTS + KEPT), path.read_bytes())
            atomic_write(path, content)
        except OSError as error:
            why = explain_refusal([path], "[exhibit] folder") or "make room on the disk, then try again"
            raise SettingsError("the texts cannot be saved: {why}", why, why=describe_error(error)) from error
        self._seen = _stamps(self._folder)

    def _show(self, texts: HostTexts, pictures: dict[str, tuple[bytes, str]], content: bytes) -> None:
        self.texts, self.pictures, self._content = texts, pictures, content
        if self._kept is None:
            return
        try:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            for name, (picture, _) in pictures.items():
                atomic_write(self._kept / name, picture)
            atomic_write(self._kept / TEXTS, content)
        except OSError as error:
            log.warning("the host's texts cannot be saved for a restart: %s", describe_error(error))


def read_host_texts(folder: Path) -> tuple[HostTexts, dict[str, tuple[bytes, str]]]:
    """Return the texts in `folder`, and the pictures by name. Raises `SettingsError` with all faults."""
    if not (folder / TEXTS).exists():
        raise SettingsError(
            "there is no {file} in {folder}",
            'make it, with a line like title = "..."; {hint}',
            file=TEXTS,
            folder=folder,
            hint=TEXTS_HINT,
        )
    texts = read_model(folder / TEXTS, HostTexts, Sentence("fix {file}; {hint}", file=TEXTS, hint=TEXTS_HINT))
    names = {texts.picture, *(label.picture for label in texts.labels)} - {""}
    pictures: dict[str, tuple[bytes, str]] = {}
    wrong: list[str] = []
    for name in sorted(names):
        begins, kind = PICTURES[Path(name).suffix.lower()]
        try:
            with find_file(folder / name).open("rb") as file:
                content = file.read(MAX_PICTURE_BYTES + 1)
        except OSError as error:
            wrong.append(f"{name}: {describe_error(error)}")
            continue
        if len(content) > MAX_PICTURE_BYTES or not content.startswith(begins):
            words, most = Sentence("{name}: is not a {kind} of up to {most} MB"), MAX_PICTURE_BYTES // 1_000_000
            wrong.append(Sentence(words, name=name, kind=kind, most=most))
        pictures[name] = content, kind
    if wrong:
        raise SettingsError(Sentence.concat("\n", wrong), "put the pictures that {file} names beside it", file=TEXTS)
    return texts, pictures


def _stamps(folder: Path) -> object:
    """Return names, times and sizes of the files in `folder`, to compare with an earlier result."""
    try:
        return sorted((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in folder.iterdir())
    except OSError as error:
        return error.errno
