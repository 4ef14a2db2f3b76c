"""Make the reference pages of the help from the code: settings, commands, options of the games, the API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pi_controller.cli import VERBS, find_verb
from pi_controller.config.example import format_example
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.rules import registry
from pi_controller.rules.options import format_option
from pi_controller.web.openapi import OPERATIONS

_OPTIONS = """\
# Options of each game

Where a source leaves a point open, or communities play it differently, the rule is an option: under `[game.options]` in
the settings, `--set` of a command, or on the director's page."""


def words_page() -> str:
    """Return the page of the called words of each game, with their sources."""
    parts = ["# Called words\n\nEach with its source. A community may say them otherwise."]
    for name in registry.names():
        show = get_show(name, ENGLISH)
        if show.words:
            parts.append(f"## Words of {show.name}")
        for word in show.words.values():
            said = f" (say: {word.spoken})" if word.spoken else ""
            literal = f" In English: {word.literal}." if word.literal else ""
            parts.append(f"### {word.shown}\n\n{word.meaning}{literal}{said} *{show.name}, {word.source}.*")
    return "\n\n".join(parts) + "\n"


def settings_page() -> str:
    """Return the page of all settings: the commented example with every default."""
    return (
        "# Every setting\n\n"
        "All lines are optional. `moccasin-mat settings example` prints this file, with `--game` for another "
        "game; `moccasin-mat settings check table.toml` reports every fault in yours with its line.\n\n"
        f"```toml\n{format_example()}```\n"
    )


def commands_page() -> str:
    """Return the page of all commands: the help of each verb."""
    parts = ["# Every command\n\n`moccasin-mat help COMMAND` prints the same. All commands are below `moccasin-mat`."]
    for name, verb in VERBS.items():
        earlier = f" Also: `{verb.earlier}`." if verb.earlier else ""
        about = f"{verb.purpose[0].upper()}{verb.purpose[1:]}.{earlier}"
        parts.append(f"## {name}\n\n{about}\n\n```text\n{find_verb(name).parser().format_help()}```")
    return "\n\n".join(parts) + "\n"


def options_page() -> str:
    """Return the page of the games' options: name, default, values, purpose, source."""
    parts = [_OPTIONS]
    for name in registry.names():
        game = registry.game_class(name)
        rows = (
            (f"`{option.name}`", format_option(option.default), option.allowed, option.about) for option in game.options
        )
        source = f"{game.source}; version {game.version} of the rule set."
        parts.append(f"## {name}\n\n{source}\n\n{_table(('option', 'default', 'takes', 'about'), rows)}")
    return "\n\n".join(parts) + "\n"


def api_page() -> str:
    """Return the page of the table's API: every operation, with what it returns."""
    return (
        "# The API of a table\n\n"
        "`/openapi.json` of a running table is the whole description as OpenAPI 3.1, with every schema; this is its "
        "list. [Examples](../watch/programs.md).\n\n"
        f"{_table(('request', 'purpose', 'signed in'), _operations())}\n"
    )


def _operations() -> Iterator[tuple[str, ...]]:
    for one in OPERATIONS:
        yield f"`{one.method.upper()} {one.path}`", one.what, "yes" if one.signed_in else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |" for line in lines)
