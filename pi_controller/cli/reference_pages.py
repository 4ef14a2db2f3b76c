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

_GLOSSARY = """\
# Glossary

What the words on the pages mean, then the called words, each with its source. A community may say them otherwise.

## On the mat

### Cloth, pad

One of the four places on the mat: a cloth over a sensor. In the game it takes the place of a moccasin.

### Bead, ball

The piece that is hidden. The Mille Lacs game hides four balls, one of them marked.

### Striking stick

The stick with which the guessing team strikes a cloth.

### Counting sticks, long sticks

The twenty sticks that change hands with each hide. They stand on the lights of the mat.

### Short stick

A point. Which number of them wins is an option of the game.

### Middle

The sticks that neither team has won yet.

## In play

### Hide

One turn: a bead is hidden, and the other team looks for it.

### Hiders, hitters

The team that hides, and the team that strikes.

### Hit

A stroke on a cloth that counts.

### Foul

A broken rule. The mat calls it, asks about it or ignores it, as the preset says: [fouls](judge/fouls.md).

### Seal

A number shown before the first hit that proves afterwards where the bead was: [secrecy](why/secrecy.md).

## Around the table

### Judge

Decides what the mat asks, corrects it, and can play a whole game without it: [the console](judge/console.md).

### Committee

The people who decide a protest.

### Director

Runs a tournament from a page of the hub: [the director](tournament/director.md).

### Hub

The computer of a tournament, to which all tables report: [the hall](tournament/hall.md)."""
_OPTIONS = """\
# Options of each game

Where a source leaves a point open, or communities play it differently, the rule is an option: under `[game.options]` in
the settings, `--set` of a command, or on the director's page."""


def glossary_page() -> str:
    """Return the glossary: the things on a mat, then the called words of each game with their sources."""
    parts = [_GLOSSARY]
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
        "All lines are optional. `moccasin-mat check-settings --example` prints this file, with `--game` for another "
        "game; `moccasin-mat check-settings table.toml` reports every fault in yours with its line.\n\n"
        f"```toml\n{format_example()}```\n"
    )


def commands_page() -> str:
    """Return the page of all commands: the help of each verb."""
    parts = ["# Every command\n\n`moccasin-mat help VERB` prints the same. All commands are below `moccasin-mat`."]
    for verb, (_, purpose) in VERBS.items():
        parts.append(
            f"## {verb}\n\n{purpose[0].upper()}{purpose[1:]}.\n\n```text\n{find_verb(verb).parser().format_help()}```"
        )
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
