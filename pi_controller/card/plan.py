"""Plan an installation before any change: its changes, and obstacles that would keep the service from starting."""

import stat
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pi_controller.board.gpio import read_pi_model as pi_model
from pi_controller.card import boot_config, device_rights, service, settings_request
from pi_controller.card import kiosk as screen
from pi_controller.card.changes import Change, LinkFile, TextBlock, WholeFile, format_diff, is_needed, read
from pi_controller.card.service_unit import unit
from pi_controller.config import Settings, format_example, read_settings
from pi_controller.extras import install_hint
from pi_controller.host.place import SYSTEM_UNITS, UNIT, Place

SMALL = ("Raspberry Pi Zero", "Raspberry Pi 3")
"""Models with too little memory for the visitors' screen."""
WANTED = SYSTEM_UNITS / "multi-user.target.wants" / UNIT
"""The link that starts the service with the machine."""


@dataclass(frozen=True)
class InstallPlan:
    """The installation's `changes`, needed or not, and `notes` for the user.

    `settings` are those of the service, `model` the Raspberry Pi, "" for none; with `kiosk` the service runs
    the installation, with its page on this machine's own screen.
    """

    place: Place
    model: str
    settings: Settings
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    kiosk: bool = False

    @property
    def needed(self) -> list[Change]:
        """The changes that would have an effect."""
        return [change for change in self.changes if is_needed(change, self.place.on_disk(change.path))]

    def diff(self) -> str:
        """Return all changes as a diff for people."""
        return "\n".join(
            filter(None, (format_diff(change, self.place.on_disk(change.path)) for change in self.changes))
        )

    def text(self) -> str:
        """Return the unit's text."""
        return next(
            change.text for change in self.changes if isinstance(change, WholeFile) and change.path == self.place.unit
        )


def plan(place: Place, *, config_txt: bool = False, kiosk: bool = False) -> InstallPlan:
    """Return the plan for `place`, including the visitors' screen if `kiosk` is set or it was set up before.

    Raises `SettingsError` if the existing settings are invalid.
    """
    model = pi_model(place.root)
    on_disk = place.on_disk(place.settings)
    there = read_settings(on_disk) if on_disk.exists() else None
    found, notes = _boot(place, model, there, config_txt=config_txt)
    # first settings leave out lights that would keep the table from starting
    first = first_settings(model, place, lit=bool(model) and (has_spi(place) or bool(found)))
    settings = there or first
    if notes and settings.strips.kind == "none":
        notes.append(f'the light strips are off; afterwards set [strips] kind = "pi" in {place.settings}')
    kiosk = kiosk or screen.is_set_up(place)
    text = unit(place, written_folders(settings, place), exhibit=kiosk)
    changes: list[Change] = [WholeFile(place.settings, settings_text(first, model), once=True)]
    changes.append(WholeFile(device_rights.SYSUSERS_FILE, device_rights.sysusers(place.state)))
    changes.append(WholeFile(device_rights.UDEV_FILE, device_rights.udev()))
    changes += settings_request.changes(place)
    changes += [WholeFile(place.unit, text), LinkFile(WANTED, place.unit), *found]
    if kiosk:
        changes += screen.changes(settings)
        notes += screen.notes(place, settings, small=model.startswith(SMALL))
    return InstallPlan(place, model, settings, tuple(changes), tuple(notes), kiosk)


def has_spi(place: Place) -> bool:
    """Return True if SPI is on."""
    return any(place.on_disk(Path("/dev")).glob("spidev*"))


def _boot(place: Place, model: str, settings: Settings | None, *, config_txt: bool) -> tuple[list[Change], list[str]]:
    """Return the change of config.txt if it is wanted or was made before, and notes for the user.

    `settings` are the existing ones.
    """
    path = next((path for path in boot_config.FILES if place.on_disk(path).is_file()), None)
    text = (read(place.on_disk(path)) or "") if path else ""
    ours = bool(boot_config.block(text))
    strips = settings is None or settings.strips.kind == "pi" or config_txt or ours
    lines = boot_config.required_lines(
        model, strips=strips, pins=settings is not None and settings.board.port == "pins"
    )
    if path is None:
        return [], [f"the Pi's config.txt needs: {', '.join(lines)}"] if lines else []
    missing = boot_config.missing_lines(text, model, lines)
    if ours or (config_txt and missing):
        change = TextBlock(path, tuple(missing))
        new = is_needed(change, place.on_disk(path))
        return [change], ["config.txt is read when the Pi starts: restart it"] if new else []
    if not missing:
        return [], []
    return [], [f"{path} needs: {', '.join(missing)} ('--config-txt' adds them); then restart the Pi"]


def obstacles(made: InstallPlan) -> list[str]:
    """Return why the service could never run as planned, each with a remedy; [] if it can."""
    place, settings = made.place, made.settings
    if not place.live:
        return []
    found = service.verify_unit(made.text())
    if closed := find_closed_path(place.program):
        found.append(f"its user may not enter {closed}: install in a venv in /opt/moccasin-mat")
    if "pi" in {settings.strips.kind, settings.buttons.kind} and find_spec("lgpio") is None:
        found.append("the settings drive pins, and their packages are not installed: " + install_hint("pi"))
    return found


def find_restart_reason(made: InstallPlan) -> str:
    """Return why the service cannot run before a restart of the machine, or ""."""
    if made.settings.strips.kind == "pi" and not has_spi(made.place):
        return "SPI is off, which the light strips need; the table starts with the Pi once config.txt turns it on"
    return ""


def find_closed_path(program: Path) -> Path | None:
    """Return the first folder or file on the way to `program` that other users cannot enter or run, or None."""
    for path in (program, program.resolve(), program.with_name("python").resolve()):
        for step in (*reversed(path.parents), path):
            if not step.stat().st_mode & stat.S_IXOTH:
                return step
    return None


def first_settings(model: str, place: Place, *, lit: bool) -> Settings:
    """Return the settings for `model` ("" for no Raspberry Pi), with journal and recordings in the service's
    folder.

    With `lit` the settings drive light strips.
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
    """Return the settings as a commented file."""
    found = f"for a {model}" if model else "for a machine that is no Raspberry Pi"
    return format_example(settings, f"Every line may be changed; written by 'moccasin-mat service install' {found}.")


def written_folders(settings: Settings, place: Place) -> list[Path]:
    """Return the folders that a table with `settings` writes, as its service sees them."""
    folders = [settings.table.journal.parent]
    if settings.recording.hits or settings.recording.sensors:
        folders.append(settings.recording.folder)
    root = place.root
    return [Path("/") / path.relative_to(root) if path.is_relative_to(root) else path for path in folders]
