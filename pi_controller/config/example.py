"""Write settings as TOML: a commented example, or the settings that are used."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from pi_controller.config.fields import Section, describe_values, list_fields
from pi_controller.config.model import GameSection, Settings, TeamsSection, has_single_players
from pi_controller.rules import registry
from pi_controller.rules.options import Option


def format_example(
    settings: Settings | None = None, head: str = "All lines are optional: these are the defaults."
) -> str:
    """Return a settings file with every key: its purpose, the values it takes, its value. It loads as `settings`."""
    return "\n".join([f"# Settings of one table. {head}", *_format_example(settings or Settings(), ())]) + "\n"


def game_defaults(name: str | None) -> Settings:
    """Return the default settings of a table for the game `name`, None for the default game. Raises `UsageError`."""
    if name is None:
        return Settings()
    registry.game_class(name)
    return Settings(game=GameSection(name=name))


def format_settings(settings: Settings) -> str:
    """Return the settings as TOML with the defaults marked, and with all options of the game."""
    return "\n".join(_format_settings(settings, Settings(), ())) + "\n"


def _format_example(model: Section, path: tuple[str, ...]) -> Iterator[str]:
    for key, field, section in list_fields(type(model)):
        value = getattr(model, key)
        heading = f"[{'.'.join((*path, key))}]"
        if section is not None:
            yield from ("", f"# {' '.join((section.__doc__ or '').split())}")
            if section is TeamsSection and isinstance(model, Settings) and has_single_players(model.game.name):
                yield "# This game is played by players, each alone: [game.options] players names them."
            yield from (heading, *_format_example(value, (*path, key)))
        elif isinstance(value, dict):
            yield from ("", f"# {field.description}", heading, *_format_choices(model.list_options(key)))
        else:
            yield from (f"# {field.description} ({describe_values(field)})", f"{key} = {format_value(value)}")


def _format_settings(model: Section, default: Section, path: tuple[str, ...]) -> Iterator[str]:
    for key, _, section in list_fields(type(model)):
        value, usual = getattr(model, key), getattr(default, key)
        heading = f"[{'.'.join((*path, key))}]"
        if section is not None:
            yield from ("", heading, *_format_settings(value, usual, (*path, key)))
        elif isinstance(value, dict):
            yield from ("", heading, *_format_options(model.list_options(key), cast("dict[str, object]", value)))
        else:
            yield f"{key} = {format_value(value)}" + ("  # default" if value == usual else "")


def _format_choices(options: Iterable[Option]) -> Iterator[str]:
    """Yield options as comments: the defaults are those of the rule set, or of the preset."""
    for option in options:
        yield f"# {option.about}"
        yield f"# {option.name} = {_format_option(option.default)}  # {option.allowed}"


def _format_options(options: Iterable[Option], chosen: Mapping[str, object]) -> Iterator[str]:
    for option in options:
        mark = "" if option.name in chosen else "  # default"
        yield f"{option.name} = {_format_option(option.read(chosen.get(option.name, option.default)))}{mark}"


def _format_option(value: object) -> str:
    return format_value("none" if value is None else value)


def format_value(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(format_value, cast('Iterable[object]', value)))}]"
    # TOML takes JSON's escapes
    return json.dumps(str(value), ensure_ascii=False)
