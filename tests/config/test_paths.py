"""Every path in the settings is relative to the folder of the settings file, whatever the current folder is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from pi_controller.config import Settings
from pi_controller.config.fields import OptionalPath, Section, list_fields
from pi_controller.config.load import read_model
from pi_controller.errors import SettingsError
from pi_controller.hub.settings import HubSettings

FREE_TEXTS = {"table.name", "teams.a", "teams.b", "web.event", "web.words", "voice.device", "marks.name"}
"""Texts that may look like a path and are none."""
PROBE = "sub/dak.po"
"""A text that every type of path takes: a file, a folder, a language's catalogue."""


def leaves(model, path=()):
    for key, _, section in list_fields(model):
        if section is None:
            yield (*path, key)
        else:
            yield from leaves(section, (*path, key))


def value_at(settings, keys):
    for key in keys:
        settings = getattr(settings, key)
    return settings


def written(keys, value):
    return f"[{'.'.join(keys[:-1])}]\n{keys[-1]} = {value}\n" if keys[1:] else f"{keys[0]} = {value}\n"


def find_paths(model, file):
    """Return the keys of `model` that take a relative path: {key: whether it is relative to the folder of
    `file`}.
    """
    found = {}
    for keys in leaves(model):
        for value in (f'"{PROBE}"', f'["{PROBE}"]'):
            file.write_text(written(keys, value), "utf-8")
            try:
                read = value_at(read_model(file, model), keys)
            except SettingsError:
                continue
            there = str(file.parent / PROBE)
            found[".".join(keys)] = read in (there, Path(there), (there,))
    return found


@pytest.fixture
def file(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    return tmp_path / "elsewhere" / "table.toml"


def test_table_paths_are_relative_to_their_file(file):
    found = find_paths(Settings, file)
    assert {key for key, is_resolved in found.items() if not is_resolved} == FREE_TEXTS
    assert found.keys() - FREE_TEXTS == {
        "table.journal", "recording.folder", "backup.folder", "voice.folder", "hub.token_file", "hub.ca",
        "web.language", "exhibit.folder", "exhibit.languages",
    }  # fmt: skip


def test_hub_paths_are_relative_to_their_file(file):
    assert find_paths(HubSettings, file) == {
        "marks.name": False,
        "page.language": True,
        "store.password_file": True,
    }


@pytest.mark.parametrize("model", [Settings, HubSettings])
def test_every_default_path_is_relative_to_the_file(file, model):
    file.write_text("", "utf-8")
    settings = read_model(file, model)
    for keys in leaves(model):
        default = value_at(model(), keys)
        if isinstance(default, Path):
            assert value_at(settings, keys) == file.parent / default


def test_a_forgotten_path_is_found(file):
    class Inner(Section):
        right: OptionalPath = ""
        plain: str = ""
        described: Annotated[str, Field(json_schema_extra={"takes": "the path of a file"})] = ""

    class Outer(Section):
        inner: Inner = Field(default_factory=Inner)
        folder: str = ""

    assert find_paths(Outer, file) == {
        "inner.right": True, "inner.plain": False, "inner.described": False, "folder": False
    }  # fmt: skip


@pytest.mark.parametrize(("text", "resolved"), [("en", "en"), ("oj-x", "oj-x"), ("dak.po", "FOLDER/dak.po")])
def test_catalogue_language_resolves_as_path_unlike_a_code(file, text, resolved):
    file.write_text(f'[web]\nlanguage = "{text}"\n[exhibit]\nlanguages = ["fr", "{text}"]\n', "utf-8")
    settings = read_model(file, Settings)
    expected = resolved.replace("FOLDER", str(file.parent))
    assert (settings.web.language, settings.exhibit.languages) == (expected, ("fr", expected))


def test_absolute_and_empty_paths_stay(file):
    file.write_text('[table]\njournal = "/srv/j.sqlite"\n[voice]\nfolder = "/srv/words"\n', "utf-8")
    settings = read_model(file, Settings)
    assert (settings.table.journal, settings.voice.folder) == (Path("/srv/j.sqlite"), "/srv/words")
    assert settings.backup.folder == ""


@pytest.mark.parametrize("line", ["language = '~nobody-here/dak.po'", "languages = ['~nobody-here/dak.po']"])
def test_a_catalogue_in_no_home_folder_is_refused(file, line):
    section = "exhibit" if "languages" in line else "web"
    file.write_text(f"[{section}]\n{line}\n", "utf-8")
    with pytest.raises(SettingsError, match=r":2: .*there is no home folder for '~nobody-here/dak\.po'"):
        read_model(file, Settings)
