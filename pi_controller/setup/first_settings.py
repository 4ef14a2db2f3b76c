"""The first settings of a table, from the model found: on a Pi its strips and buttons are driven."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.table.settings import Settings
from pi_controller.table.settings_example import example

if TYPE_CHECKING:
    from pi_controller.setup.place import Place


def first(model: str, place: Place, *, lit: bool) -> Settings:
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


def text(settings: Settings, model: str) -> str:
    """Return them as a commented file."""
    found = f"for a {model}" if model else "for a machine that is no Raspberry Pi"
    return example(settings, f"Every line may be changed; written by 'moccasin-mat setup' {found}.")


def written(settings: Settings, place: Place) -> list[Path]:
    """Return the folders that a table with `settings` writes, as its service sees them."""
    folders = [settings.table.journal.parent]
    if settings.recording.hits or settings.recording.sensors:
        folders.append(settings.recording.folder)
    root = place.root
    return [Path("/") / path.relative_to(root) if path.is_relative_to(root) else path for path in folders]
