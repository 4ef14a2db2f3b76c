"""Reset an installation to its first start, at the staff's request or by hand.

A reset is accepted by writing it to a file (`pending`); before that, nothing has changed. Afterwards it is carried out,
after a power failure at the next start of the machine, before the service. Each step can be repeated.

The staff page runs without root: it writes a request file that a unit watches (`kiosk.py`), and that unit accepts the
reset. Files outside the machine's own folders are kept, since other programs may use them.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from pi_controller.board.gpio import read_pi_model as pi_model
from pi_controller.config import Settings, format_example, read_settings
from pi_controller.config.edit import KEPT
from pi_controller.errors import MatError, describe_error
from pi_controller.exhibit.exhibit import SESSION_FILE
from pi_controller.exhibit.host_files import OWN_TEXTS, PICTURES, TEXTS
from pi_controller.journal.file import is_being_written
from pi_controller.system import place as places
from pi_controller.system.files import atomic_write, remove_unfinished, sync
from pi_controller.system.install import digest, read
from pi_controller.system.kiosk import ERASE, KEEP, read_request_file
from pi_controller.system.place import DEFAULT_RESET_PARTS, NAME, Place, ResetPart
from pi_controller.system.plan import first_settings, has_spi
from pi_controller.system.status import save_last_line
from pi_controller.web.accounts import FILE as PEOPLE

STATE_FILES = (".exhibit-notice", ".exhibit-closed", ".exhibit-self-test")
"""Files beside the journal that hold what the staff chose."""
TEXT_FILES = (TEXTS, f"{TEXTS}{KEPT}")


class ResetError(MatError, RuntimeError):
    """A refused reset; no file was changed."""

    code = "reset"


def read_request(path: Path) -> bool:
    """Return whether the request at `path` erases the old files. Raises `ResetError` if there is no valid request."""
    try:
        return {KEEP: False, ERASE: True}[read_request_file(path, 16)]
    except (OSError, KeyError) as error:
        raise ResetError(f"there is no valid request in {path}", "ask for the reset on the staff page") from error


BOOT_SETTINGS = Path("/boot/firmware/table.toml")
"""The host's own settings on the SD card, which a reset cannot write."""
_HEAD = "Every line may be changed; written by a reset."
_ASIDE = "before-reset-"
_SQLITE = ("", "-wal", "-shm", "-journal")
_DIGITS = 8


class PendingReset(msgspec.Struct, frozen=True):
    """An accepted reset: everything needed to carry it out, at any stage.

    `number` names the folder of the files that are put aside. `files` will be removed, and the finished journals in
    `journals`, "" for none; `settings` is the text of the first settings, "" to keep the existing ones. `boot` is the
    digest of the boot partition's settings, or "".
    """

    number: str
    parts: tuple[ResetPart, ...]
    erased: bool
    files: tuple[str, ...]
    journals: str
    settings: str
    boot: str


class ResetItem(NamedTuple):
    """A file or folder to be removed, or kept for the reason `stays`."""

    part: ResetPart
    path: Path
    stays: str = ""


class Resets:
    """The resets of the installation at `place`."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.folder = place.on_disk(places.RESETS)
        self._pending = self.folder / "pending"
        self._set_aside = self.folder / places.SET_ASIDE
        self._settings: Settings | None = None
        with suppress(MatError):
            self._settings = read_settings(place.on_disk(place.settings))

    def accept(self, parts: Sequence[ResetPart] = DEFAULT_RESET_PARTS, *, erased: bool) -> PendingReset:
        """Accept a reset of `parts`; it will be carried out at the next start of the machine at the latest.

        Raises `ResetError`.
        """
        try:
            pending = self._prepare(parts, erased=erased)
            self.folder.mkdir(parents=True, exist_ok=True)
            atomic_write(self._pending, msgspec.json.encode(pending))
        except OSError as error:
            with suppress(OSError):
                self._pending.unlink(missing_ok=True)
            raise ResetError(
                f"the reset cannot be saved: {describe_error(error)}", "is the disk full, or worn out?"
            ) from error
        return pending

    def settle(self) -> str:
        """Carry out the remaining steps of an accepted reset; return a summary, "" if there is no reset.

        The service must not run. Raises `ResetError` if a step fails; it is repeated at the next start.
        """
        remove_unfinished(self._pending)
        if not self._pending.exists():
            return ""
        try:
            pending = msgspec.json.decode(self._pending.read_bytes(), type=PendingReset)
        except (OSError, msgspec.MsgspecError) as error:  # it was written atomically: the disk is damaged
            raise ResetError(
                f"the reset that was accepted cannot be read: {describe_error(error)}", "reset it once more"
            ) from error
        wrong = [why for path in self._paths_to_remove(pending) if (why := _take_away(path, pending))]
        if wrong:
            raise ResetError(f"the reset is not done: {'; '.join(wrong)}", "it is tried again at the next start")
        os.sync()
        try:
            self._write_first_settings(pending)
            done = f"reset {pending.number} is done: {', '.join(pending.parts)}; old files "
            done += "were erased" if pending.erased else f"are in {_ASIDE}{pending.number}"
            self.save_outcome(done)
            self._pending.unlink()
            sync(self.folder)
        except OSError as error:
            raise ResetError(
                f"the reset is not done: {describe_error(error)}", "it is tried again at the next start"
            ) from error
        return done

    def save_outcome(self, line: str) -> None:
        """Save the result of a reset for the staff page."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            save_last_line(self.folder, line)

    def list_items(self, parts: Sequence[ResetPart]) -> list[ResetItem]:
        """Return the existing items of `parts`, in their order."""
        return [one for part in parts for one in sorted(self._of(part)) if one.stays or os.path.lexists(one.path)]

    def _prepare(self, parts: Sequence[ResetPart], *, erased: bool) -> PendingReset:
        """Return the reset of `parts` for the existing files. Raises `OSError`."""
        boot = read(self.place.on_disk(BOOT_SETTINGS))
        settings = self._first(keep_mat="calibration" not in parts) if "settings" in parts else ""
        return PendingReset(
            f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}}",
            tuple(parts),
            erased,
            tuple(str(one.path) for part in parts if part != "journals" for one in self._of(part) if not one.stays),
            str(self._games) if "journals" in parts else "",
            settings,
            digest(boot) if settings and boot is not None and boot != settings else "",
        )

    def _of(self, part: ResetPart) -> Iterator[ResetItem]:
        state, settings = self._games, self.place.on_disk(self.place.settings)
        match part:
            case "settings":
                yield ResetItem(part, settings)
                yield from (ResetItem(part, state / name) for name in STATE_FILES)
            case "texts":
                yield from (ResetItem(part, state / name) for name in (".exhibit-texts", OWN_TEXTS))
                yield from self._of_the_host(part)
            case "people":
                yield from (ResetItem(part, state / f"{PEOPLE}{end}") for end in _SQLITE)
            case "usage":
                yield ResetItem(part, state / "exhibit-usage.json")
            case "journals":
                yield from (ResetItem(part, path, why) for path, why in _journals(state))
            case "calibration":
                for pattern in ("*.profile.json", "*.bak"):
                    yield from (ResetItem(part, path) for path in settings.parent.glob(pattern))

    def _of_the_host(self, part: ResetPart) -> Iterator[ResetItem]:
        """Yield the folders of texts and of voices in the settings; folders outside the machine's own are kept."""
        own = {self._games, self.place.on_disk(self.place.state), self.place.on_disk(self.place.settings_folder)}
        sections = () if self._settings is None else (self._settings.exhibit.folder, self._settings.voice.folder)
        for named in (Path(one) for one in sections if one):
            folder = self._on_disk(named)
            if folder in own:
                files = folder.iterdir() if folder.is_dir() else ()
                yield from (ResetItem(part, one) for one in files if one.name in TEXT_FILES or one.suffix in PICTURES)
            elif any(folder.is_relative_to(one) for one in own):
                yield ResetItem(part, folder)
            else:
                yield ResetItem(part, folder, f"is not in a folder of {NAME}'s own")

    @property
    def _games(self) -> Path:
        """The folder of the journals, the accounts, and the installation's data."""
        if self._settings is None:
            return self.place.on_disk(self.place.state)
        return self._on_disk(self._settings.table.journal.parent)

    def _on_disk(self, path: Path) -> Path:
        """Return the path on the disk of a path in the settings, which are already relative to the image's folder."""
        root = self.place.root
        return path if root != Path("/") and path.is_relative_to(root) else self.place.on_disk(path)

    def _first(self, *, keep_mat: bool) -> str:
        """Return the text of the first settings; with `keep_mat` the mat of the present ones is kept if readable."""
        kept = self.place.on_disk(places.FIRST_SETTINGS)
        model = pi_model(self.place.root)
        first = first_settings(model, self.place, lit=bool(model) and has_spi(self.place))
        with suppress(MatError):
            first = read_settings(kept) if kept.is_file() else first
        if keep_mat and (now := self._settings) is not None:
            exhibit = first.exhibit.model_copy(update={"mat": now.exhibit.mat})
            mat = {"board": now.board, "board_b": now.board_b, "exhibit": exhibit}
            with suppress(ValueError):  # drop the mat if it does not fit the first settings
                first = Settings.model_validate(first.model_copy(update=mat).model_dump())
        return format_example(first, _HEAD)

    def _paths_to_remove(self, pending: PendingReset) -> Iterator[Path]:
        settings = self.place.on_disk(self.place.settings)
        for path in map(Path, pending.files):
            if path != settings:
                yield path
        if pending.journals:
            yield from (path for path, why in _journals(Path(pending.journals)) if not why)
        if pending.erased:
            folders = {Path(one).parent for one in pending.files}
            folders |= {Path(pending.journals)} if pending.journals else set[Path]()
            for folder in sorted(folders):
                yield from folder.glob(f"{_ASIDE}*")

    def _write_first_settings(self, pending: PendingReset) -> None:
        """Replace the settings by the first settings. Raises `OSError`."""
        if not pending.settings:
            return
        settings = self.place.on_disk(self.place.settings)
        if pending.boot:
            atomic_write(self._set_aside, f"{pending.boot}\n".encode())
        else:
            self._set_aside.unlink(missing_ok=True)
        if not pending.erased and settings.is_file():
            kept = _aside_path(settings, pending)
            if not kept.exists():  # else these are the first settings already
                _make_aside(kept.parent)
                atomic_write(kept, settings.read_bytes())
        atomic_write(settings, pending.settings.encode(), 0o644)


def _journals(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the recorded sessions in `folder`, with the reason to keep one: its journal is in use."""
    playing: dict[str, bool] = {}
    for path in sorted(folder.glob("exhibit-*")):
        if not SESSION_FILE.fullmatch(path.name):
            continue
        name = path.name.split(".")[0]
        if name not in playing:
            playing[name] = is_being_written(folder / f"{name}.sqlite")
        yield path, "it is being played" if playing[name] else ""


def _aside_path(path: Path, pending: PendingReset) -> Path:
    return path.parent / f"{_ASIDE}{pending.number}" / path.name


def _make_aside(folder: Path) -> None:
    """Create the folder of kept files, accessible to root only. Raises `OSError`."""
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(mode=0o700, exist_ok=True)


def _take_away(path: Path, pending: PendingReset) -> str:
    """Erase `path` or move it to the folder of kept files; return the error, "" for success or a missing path."""
    try:
        if not os.path.lexists(path):
            return ""
        if pending.erased:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            return ""
        kept = _aside_path(path, pending)
        _make_aside(kept.parent)
        path.rename(kept)
    except OSError as error:
        return f"{path}: {describe_error(error)}"
    return ""
