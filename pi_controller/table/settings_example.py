"""Settings written out: as a commented example made from the models, or as what is used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from pi_controller.games import registry
from pi_controller.table.settings import Settings
from pi_controller.table.settings_file import fields, takes
from pi_controller.table.settings_game import GameSection, TeamsSection, named_by_players

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel


def example(settings: Settings | None = None, head: str = "Every line may be left out: these are the defaults.") -> str:
    """Return a settings file with every key: what it is for, what it takes, its value. It loads as `settings`."""
    return "\n".join([f"# Settings of one table. {head}", *_example(settings or Settings(), ())]) + "\n"


def of_game(name: str | None) -> Settings:
    """Return the default settings of a table for the game `name`, the usual one for None. Raises `UsageError`."""
    if name is None:
        return Settings()
    registry.kind(name)
    return Settings(game=GameSection(name=name))


def used(settings: Settings) -> str:
    """Return the settings as TOML, the defaults marked; the game's options with those nobody chose."""
    return "\n".join(_used(settings, Settings(), ())) + "\n"


def changed(settings: Settings) -> str:
    """Return a settings file with the keys that differ from the defaults, and nothing else. It loads as `settings`."""
    return "\n".join(_changed(settings, Settings(), ())).lstrip("\n") + "\n"


def no_chances(settings: Settings) -> str:
    """Return why the table's game has no chances of winning to show, or nothing where it has."""
    from pi_controller.games import chances  # noqa: PLC0415 - numpy's loading is not always needed

    try:
        chances.check_beside(registry.game(settings.game.name, settings.game.options))
    except chances.ChancesError as error:
        return f"[web] chances shows nothing here: {error.what}; {error.todo}"
    return ""


def _example(model: BaseModel, path: tuple[str, ...]) -> Iterator[str]:
    for key, field, section in fields(type(model)):
        value = getattr(model, key)
        if section is not None:
            yield ""
            yield f"# {_first_line(section)}"
            if section is TeamsSection and isinstance(model, Settings) and named_by_players(model.game.name):
                yield "# This game is played by players, each alone: [game.options] players names them."
            yield f"[{'.'.join((*path, key))}]"
            yield from _example(value, (*path, key))
        elif isinstance(value, dict):
            yield ""
            yield f"[{'.'.join((*path, key))}]"
            yield from _choices(model)
        else:
            yield f"# {field.description} ({takes(field)})"
            yield f"{key} = {_toml(value)}"


def _used(model: BaseModel, default: BaseModel, path: tuple[str, ...]) -> Iterator[str]:
    for key, _, section in fields(type(model)):
        value, usual = getattr(model, key), getattr(default, key)
        if section is not None:
            yield ""
            yield f"[{'.'.join((*path, key))}]"
            yield from _used(value, usual, (*path, key))
        elif isinstance(value, dict):
            yield ""
            yield f"[{'.'.join((*path, key))}]"
            yield from _options(model)
        else:
            yield f"{key} = {_toml(value)}" + ("  # default" if value == usual else "")


def _changed(model: BaseModel, default: BaseModel, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the keys of a section under its heading, then the sections in it; nothing for one with no change."""
    own: list[str] = []
    inner: list[str] = []
    for key, _, section in fields(type(model)):
        value, usual = getattr(model, key), getattr(default, key)
        if section is not None:
            inner += _changed(value, usual, (*path, key))
        elif isinstance(value, dict):
            chosen = cast("dict[str, str]", value)
            head = [f"\n[{'.'.join((*path, key))}]"] if chosen else []
            inner += [*head, *(f"{name} = {_toml(text)}" for name, text in chosen.items())]
        elif value != usual:
            own.append(f"{key} = {_toml(value)}")
    yield from [f"\n[{'.'.join(path)}]", *own] if own else []
    yield from inner


def _choices(section: Any) -> Iterator[str]:
    """Say what the game's options are, as comments: the defaults are the rule set's own."""
    for option in registry.kind(section.name).options:
        yield f"# {option.about}"
        yield f"# {option.name} = {_toml('none' if option.default is None else option.default)}  # {option.allowed}"


def _options(section: Any) -> Iterator[str]:
    for name, value in registry.game(section.name, section.options).settings.items():
        mark = "" if name in section.options else "  # default"
        yield f"{name} = {_toml('none' if value is None else value)}{mark}"


def _first_line(section: type[BaseModel]) -> str:
    return " ".join((section.__doc__ or "").split())


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, cast('tuple[object, ...]', value)))}]"
    # TOML takes JSON's escapes
    return json.dumps(str(value), ensure_ascii=False)
