"""Resets an installation to its first start: as a signed order says, or by hand.

A reset is accepted by writing it down whole (`pending`); up to then nothing has changed, from then on it is done, and
where the power goes meanwhile it is done when the machine starts, before the service. Each step may be done twice. The
last one but one gives the machine another number, so that no order holds a second time.

What stands elsewhere than in the machine's own folders is left: there nobody knows what else it is for.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller.drivers.gpio import model as pi_model
from pi_controller.errors import MatError
from pi_controller.exhibit.games_kept import NAMED
from pi_controller.exhibit.host_files import PICTURES, TEXTS
from pi_controller.setup.changes import digest, read
from pi_controller.setup.place import FIRST_SETTINGS, NAME, RESETS, SET_ASIDE, USUALLY_RESET, ResetPart
from pi_controller.setup.plan import first_settings, has_spi
from pi_controller.setup.reset_number import accepted, another_number, next_number
from pi_controller.setup.reset_order import ResetError, machine_mark, read_order
from pi_controller.setup.update import last_line, note
from pi_controller.table.journal_file import written_now
from pi_controller.table.settings import Settings, load
from pi_controller.table.settings_example import example
from pi_controller.web.signing.users import FILE as PEOPLE
from pi_controller.whole_files import replace_file, sync

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_controller.setup.place import Place

BOOT_SETTINGS = Path("/boot/firmware/table.toml")
"""On the SD card: the host's own settings, which no reset can write."""
_HEAD = "Every line may be changed; written by a reset."
_ASIDE = "before-reset-"
_SQLITE = ("", "-wal", "-shm", "-journal")


class Pending(msgspec.Struct, frozen=True):
    """A reset that was accepted: all that is needed to do it, whatever of it has been done.

    `files` are gone afterwards, and the finished journals in `journals`, "" for none; `settings` is the text of the
    first settings, "" to leave those that are there. `boot` is the digest of the boot partition's settings, or "".
    """

    number: str
    parts: tuple[ResetPart, ...]
    erased: bool
    files: tuple[str, ...]
    journals: str
    settings: str
    boot: str


class Found(NamedTuple):
    """A file or folder that a reset takes away, or leaves for the reason `stays`."""

    part: ResetPart
    path: Path
    stays: str = ""


class Resets:
    """The resets of the installation at `place`; `settings` are those it has, None where they cannot be read."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.folder = place.on_disk(RESETS)
        self._pending = self.folder / "pending"
        self._set_aside = self.folder / SET_ASIDE
        self._settings: Settings | None = None
        with suppress(MatError):
            self._settings = load(place.on_disk(place.settings))

    @property
    def number(self) -> str:
        """The number of the next reset; one is made where there is none. Raises `OSError`."""
        return next_number(self.folder)

    def order(self, source: Path, signers: Path) -> Pending:
        """Accept the signed order at `source`; from then on it is done. Raises `ResetError`."""
        order = read_order(source, signers)
        if order.machine != (mark := machine_mark(self.place.root)):
            raise ResetError(
                f"the order is for the machine {order.machine}, this one is {mark}", "sign one for this machine"
            )
        self._with_a_number()
        if (last := last_line(self.folder)).startswith(_done(order.number)):
            # the machine starts anew with the stick still in: what came of it stays what the staff reads
            raise ResetError(last, "each order holds once: take the stick out, and wipe it")
        if order.number != self.number:
            raise ResetError(
                f"the order has the number {order.number}, the next reset here is {self.number}",
                "each order holds once: sign one with the number on the staff page",
            )
        return self.accept(order.reset, erased=order.old_files == "erased")

    def accept(self, parts: Sequence[ResetPart] = USUALLY_RESET, *, erased: bool) -> Pending:
        """Write down that `parts` are reset: then it is done, at the latest when the machine starts.

        Raises `ResetError`.
        """
        try:
            pending = self._made(parts, erased=erased)
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._pending, msgspec.json.encode(pending))
        except OSError as error:
            with suppress(OSError):
                self._pending.unlink(missing_ok=True)
            raise ResetError(f"nothing is reset: {error}", "is the disk full, or worn out?") from error
        return pending

    def settle(self) -> str:
        """Do the reset that was accepted, as far as it is not done; return what was done, "" for nothing.

        The service must not run. Raises `ResetError` where something of it could not be done; then it is tried again.
        """
        if not accepted(self.folder):
            return self._with_a_number()
        try:
            pending = msgspec.json.decode(self._pending.read_bytes(), type=Pending)
        except (OSError, msgspec.MsgspecError) as error:  # it was written whole: the disk is damaged
            raise ResetError(f"the reset that was accepted cannot be read: {error}", "sign another order") from error
        wrong = [why for path in self._gone(pending) if (why := _take_away(path, pending))]
        if wrong:
            raise ResetError(f"the reset is not done: {'; '.join(wrong)}", "it is tried again at the next start")
        os.sync()
        try:
            self._to_first(pending)
            another_number(self.folder)
            done = f"{_done(pending.number)}: {', '.join(pending.parts)}; old files "
            done += "were erased" if pending.erased else f"are in {_ASIDE}{pending.number}"
            self.note(done)
            self._pending.unlink()
            sync(self.folder)
        except OSError as error:
            raise ResetError(f"the reset is not done: {error}", "it is tried again at the next start") from error
        return done

    def note(self, line: str) -> None:
        """Keep what came of a reset for the staff."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            note(self.folder, line)

    def found(self, parts: Sequence[ResetPart]) -> list[Found]:
        """Return what is there of `parts`, in their order."""
        return [one for part in parts for one in sorted(self._of(part)) if one.stays or os.path.lexists(one.path)]

    def _made(self, parts: Sequence[ResetPart], *, erased: bool) -> Pending:
        """Return the reset of `parts` of what is there now. Raises `OSError`."""
        boot = read(self.place.on_disk(BOOT_SETTINGS))
        settings = self._first(keep_mat="calibration" not in parts) if "settings" in parts else ""
        return Pending(
            self.number,
            tuple(parts),
            erased,
            tuple(str(one.path) for part in parts if part != "journals" for one in self._of(part) if not one.stays),
            str(self._games) if "journals" in parts else "",
            settings,
            digest(boot) if settings and boot is not None and boot != settings else "",
        )

    def _of(self, part: ResetPart) -> Iterator[Found]:
        state, settings = self._games, self.place.on_disk(self.place.settings)
        match part:
            case "settings":
                yield Found(part, settings)
                yield from (Found(part, state / name) for name in (".exhibit-notice", ".exhibit-self-test"))
            case "texts":
                yield Found(part, state / ".exhibit-texts")
                yield from self._of_the_host(part)
            case "people":
                yield from (Found(part, state / f"{PEOPLE}{end}") for end in _SQLITE)
            case "usage":
                yield Found(part, state / "exhibit-usage.json")
            case "journals":
                yield from (Found(part, path, why) for path, why in _journals(state))
            case "calibration":
                for pattern in ("*.profile.json", "*.bak"):
                    yield from (Found(part, path) for path in settings.parent.glob(pattern))

    def _of_the_host(self, part: ResetPart) -> Iterator[Found]:
        """Yield the folders of texts and of voices that the settings name, where they are this machine's own."""
        own = {self._games, self.place.on_disk(self.place.state), self.place.on_disk(self.place.settings_folder)}
        sections = () if self._settings is None else (self._settings.exhibit.folder, self._settings.voice.folder)
        for named in (Path(one) for one in sections if one):
            folder = self._on_disk(named)
            if folder in own:
                files = folder.iterdir() if folder.is_dir() else ()
                yield from (Found(part, one) for one in files if one.name == TEXTS or one.suffix in PICTURES)
            elif any(folder.is_relative_to(one) for one in own):
                yield Found(part, folder)
            else:
                yield Found(part, folder, f"is not in a folder of {NAME}'s own")

    @property
    def _games(self) -> Path:
        """The folder of the journals, of who may sign in, and of what the installation keeps."""
        if self._settings is None:
            return self.place.on_disk(self.place.state)
        return self._on_disk(self._settings.table.journal.parent)

    def _on_disk(self, path: Path) -> Path:
        """Return where a path of the settings is; one that was relative there is counted from their folder already."""
        root = self.place.root
        return path if root != Path("/") and path.is_relative_to(root) else self.place.on_disk(path)

    def _first(self, *, keep_mat: bool) -> str:
        """Return the text of the first settings, with the mat of those that are there where they can be read."""
        kept = self.place.on_disk(FIRST_SETTINGS)
        model = pi_model(self.place.root)
        first = first_settings(model, self.place, lit=bool(model) and has_spi(self.place))
        with suppress(MatError):
            first = load(kept) if kept.is_file() else first
        if keep_mat and (now := self._settings) is not None:
            exhibit = first.exhibit.model_copy(update={"mat": now.exhibit.mat})
            mat = {"board": now.board, "board_b": now.board_b, "exhibit": exhibit}
            with suppress(ValueError):  # of a mat that does not go with first settings nothing is kept
                first = Settings.model_validate(first.model_copy(update=mat).model_dump())
        return example(first, _HEAD)

    def _gone(self, pending: Pending) -> Iterator[Path]:
        """Yield what has to go."""
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

    def _to_first(self, pending: Pending) -> None:
        """Put the first settings in the place of those that are there. Raises `OSError`."""
        if not pending.settings:
            return
        settings = self.place.on_disk(self.place.settings)
        if pending.boot:
            replace_file(self._set_aside, f"{pending.boot}\n".encode())
        else:
            self._set_aside.unlink(missing_ok=True)
        if not pending.erased and settings.is_file():
            kept = _aside(settings, pending)
            if not kept.exists():  # else these are the first settings already
                _make_aside(kept.parent)
                replace_file(kept, settings.read_bytes())
        replace_file(settings, pending.settings.encode(), 0o644)

    def _with_a_number(self) -> str:
        """Have a number for the next reset; return ""."""
        try:
            return self.number[:0]
        except OSError as error:
            raise ResetError(f"there is no number for a reset: {error}", "is the disk full, or worn out?") from error


def _journals(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the recorded sessions in `folder`, and why one stays: its journal is in play."""
    playing: dict[str, bool] = {}
    for path in sorted(folder.glob("exhibit-*")):
        if not NAMED.fullmatch(path.name):
            continue
        name = path.name.split(".")[0]
        if name not in playing:
            playing[name] = written_now(folder / f"{name}.sqlite")
        yield path, "it is being played" if playing[name] else ""


def _aside(path: Path, pending: Pending) -> Path:
    return path.parent / f"{_ASIDE}{pending.number}" / path.name


def _make_aside(folder: Path) -> None:
    """Make the folder of what is kept, for root alone. Raises `OSError`."""
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(mode=0o700, exist_ok=True)


def _done(number: str) -> str:
    """Return how the line begins that says what came of reset `number`."""
    return f"reset {number} is done"


def _take_away(path: Path, pending: Pending) -> str:
    """Erase `path`, or put it aside; return what went wrong, "" for nothing. What is gone already is fine."""
    try:
        if not os.path.lexists(path):
            return ""
        if pending.erased:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            return ""
        kept = _aside(path, pending)
        _make_aside(kept.parent)
        path.rename(kept)
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return ""
