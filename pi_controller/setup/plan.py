"""Plans an installation before anything is done: its changes, and what would keep the service from starting."""

from __future__ import annotations

import grp
import stat
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.drivers.gpio import model as pi_model
from pi_controller.errors import INSTALL_PI
from pi_controller.setup import boot, rules, service
from pi_controller.setup import kiosk as screen
from pi_controller.setup.announcement import announced
from pi_controller.setup.changes import Block, Link, WholeFile, needed, read, shown
from pi_controller.setup.unit import GROUPS, unit
from pi_controller.table.settings import Settings, load
from pi_controller.table.settings_example import example

if TYPE_CHECKING:
    from pi_controller.setup.changes import Change
    from pi_controller.setup.place import Place

SMALL = ("Raspberry Pi Zero", "Raspberry Pi 3")
"""Models on which the visitors' screen does not start: they have less memory than its unit asks for."""


@dataclass(frozen=True)
class Plan:
    """The `changes`, all of them, whether or not they are needed; `notes` are for people to do or to know.

    `settings` are those that the service will have, `model` the Raspberry Pi, "" for none; `kiosk`: it
    runs the installation, with its page on this machine's own screen.
    """

    place: Place
    model: str
    settings: Settings
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    kiosk: bool = False

    @property
    def needed(self) -> list[Change]:
        """The changes that would change anything."""
        return [change for change in self.changes if needed(change, self.place.on_disk(change.path))]

    def diff(self) -> str:
        """Return all of it for people to read."""
        return "\n".join(filter(None, (shown(change, self.place.on_disk(change.path)) for change in self.changes)))

    def text(self) -> str:
        """Return the unit's text."""
        return next(
            change.text for change in self.changes if isinstance(change, WholeFile) and change.path == self.place.unit
        )


def plan(place: Place, *, config_txt: bool = False, kiosk: bool = False) -> Plan:
    """Return the plan for `place`, with the visitors' screen where `kiosk` says so or it was set up before.

    Raises `SettingsError` where settings are there that no table can run with.
    """
    model = pi_model(place.root)
    on_disk = place.on_disk(place.settings)
    there = load(on_disk) if on_disk.exists() else None
    found, notes = _boot(place, model, there, config_txt=config_txt)
    # first settings drive no lights that would keep the table from starting
    first = first_settings(model, place, lit=bool(model) and (has_spi(place) or bool(found)))
    settings = there or first
    if notes and settings.strips.kind == "none":
        notes.append(f'the light strips are off; afterwards set [strips] kind = "pi" in {place.settings}')
    kiosk = kiosk or screen.wanted_before(place)
    written = written_folders(settings, place)
    text = unit(place, written, exhibit=kiosk)
    changes: list[Change] = [WholeFile(place.settings, settings_text(first, model), once=True)]
    if place.system:
        changes.append(WholeFile(rules.SYSUSERS_FILE, rules.sysusers(place.state)))
        changes.append(WholeFile(rules.UDEV_FILE, rules.udev()))
    elif groups := _groups_missing(place):
        notes.append(f"to open the mat's devices: sudo usermod -aG {','.join(groups)} {place.home.name}")
    announcing, said = announced(place, settings)
    changes += [WholeFile(place.unit, text), Link(place.wanted, place.unit), *announcing, *found]
    notes += said
    if kiosk:
        changes += screen.changes(place, settings, written)
        notes += screen.notes(place, settings, small=model.startswith(SMALL))
    return Plan(place, model, settings, tuple(changes), tuple(notes), kiosk)


def has_spi(place: Place) -> bool:
    """Return whether SPI is on."""
    return any(place.on_disk(Path("/dev")).glob("spidev*"))


def _boot(place: Place, model: str, settings: Settings | None, *, config_txt: bool) -> tuple[list[Change], list[str]]:
    """Return the change of config.txt, where it is wanted or was made before, and what is to be said of it.

    `settings` are those that are there already.
    """
    path = next((path for path in boot.FILES if place.on_disk(path).is_file()), None)
    text = (read(place.on_disk(path)) or "") if path else ""
    ours = bool(boot.block(text))
    strips = settings is None or settings.strips.kind == "pi" or config_txt or ours
    lines = boot.needed(model, strips=strips, pins=settings is not None and settings.board.port == "pins")
    if path is None:
        return [], [f"the Pi's config.txt needs: {', '.join(lines)}"] if lines else []
    missing = boot.missing(text, model, lines)
    if ours or (config_txt and missing):
        change = Block(path, tuple(missing))
        new = needed(change, place.on_disk(path))
        return [change], ["config.txt is read when the Pi starts: restart it"] if new else []
    if not missing:
        return [], []
    return [], [f"{path} needs: {', '.join(missing)} ('--config-txt' adds them); then restart the Pi"]


def obstacles(made: Plan) -> list[str]:
    """Return why the service could never run as planned, each with what to do; nothing when it can."""
    place, settings = made.place, made.settings
    if not place.live:
        return []
    found = service.verified(made.text())
    if place.system and (closed := closed_to_others(place.program)):
        found.append(f"its user may not enter {closed}: install in a venv in /opt/moccasin-mat, or use --user")
    if "pi" in {settings.strips.kind, settings.buttons.kind} and find_spec("lgpio") is None:
        found.append("the settings drive pins, and their packages are not installed: " + INSTALL_PI)
    return found


def not_yet(made: Plan) -> str:
    """Return why the service cannot run before the machine was started anew, or ""."""
    if made.settings.strips.kind == "pi" and not has_spi(made.place):
        return "SPI is off, which the light strips need; the table starts with the Pi once config.txt turns it on"
    return ""


def closed_to_others(program: Path) -> Path | None:
    """Return the first folder or file on the way to `program` that other users may not enter or run, or None."""
    for path in (program, program.resolve(), program.with_name("python").resolve()):
        for step in (*reversed(path.parents), path):
            if not step.stat().st_mode & stat.S_IXOTH:
                return step
    return None


def _groups_missing(place: Place) -> list[str]:
    """Return the groups on this machine that the user is not in."""
    missing: list[str] = []
    for name in GROUPS if place.live else ():
        try:
            group = grp.getgrnam(name)
        except KeyError:
            continue
        if place.home.name not in group.gr_mem:
            missing.append(name)
    return missing


def first_settings(model: str, place: Place, *, lit: bool) -> Settings:
    """Return the settings for `model` ("" for no Raspberry Pi), the journal and recordings in the service's folder.

    `lit` says whether light strips can be driven.
    """
    return Settings.model_validate(
        {
            "table": {"journal": place.state / "table.sqlite"},
            "recording": {"folder": place.state / "recordings"},
            "strips": {"kind": "pi" if lit else "none"},
            "buttons": {"kind": "pi" if model else "none"},
        }
    )


def settings_text(settings: Settings, model: str) -> str:
    """Return them as a commented file."""
    found = f"for a {model}" if model else "for a machine that is no Raspberry Pi"
    return example(settings, f"Every line may be changed; written by 'moccasin-mat setup' {found}.")


def written_folders(settings: Settings, place: Place) -> list[Path]:
    """Return the folders that a table with `settings` writes, as its service sees them."""
    folders = [settings.table.journal.parent]
    if settings.recording.hits or settings.recording.sensors:
        folders.append(settings.recording.folder)
    root = place.root
    return [Path("/") / path.relative_to(root) if path.is_relative_to(root) else path for path in folders]
