"""Writes a record: exactly one text for each record, which reads back as the same record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pi_controller.errors import UsageError
from pi_controller.record import record_line
from pi_controller.record.file import FORMAT
from pi_controller.record.model import Check, Move, Record, RecordError
from pi_controller.record.playthrough import Playthrough
from pi_controller.record.tokens import format_text, is_same_json
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.options import format_option as option_text


def write(record: Record) -> str:
    """Return the record's text. Raises `RecordError` if its actions break the rules or its calls differ."""
    playthrough = start_playthrough(record) if record.game in registry.names() else None
    lines = [*_headers(record), ""]
    for n, entry in enumerate(record.entries, 1):
        turn = None
        if isinstance(entry, Move):
            turn = _play_move(playthrough, n, entry)
        elif isinstance(entry, Check) and not entry.values:
            raise RecordError(f"entry {n} states no value")
        lines.append(record_line.format_entry(entry, record.game, turn))
    lines.append(playthrough.end_line() if playthrough else "end")
    return "\n".join(lines) + "\n"


def start_playthrough(record: Record) -> Playthrough[Any]:
    """Return a playthrough of the record's game at its opening. Raises `RecordError` for an unknown game or option."""
    try:
        game = registry.game(record.game, record.options)
    except UsageError as error:
        raise RecordError(error.message, error.hint) from error
    for name, value in record.options.items():
        if not is_same_json(game.settings[name], value):
            raise RecordError(f"option {name} is written as {option_text(game.settings[name])}")
    return Playthrough(game)


def _headers(record: Record) -> Iterator[str]:
    yield f"Record: {FORMAT}"
    order = (
        [option.name for option in registry.game_class(record.game).options] if record.game in registry.names() else []
    )
    for name, value in (
        ("Game", record.game),
        ("Version", record.version),
        ("Rules", record.rules),
        ("Source", record.source),
    ):
        if value:
            yield f"{name}: {format_text(value)}"
    for name, value in sorted(record.options.items(), key=lambda option: order.index(option[0])):
        yield f"Option {name}: {format_text(option_text(value))}"
    for team, name in sorted(record.teams.items()):
        yield f"Team {team}: {format_text(name)}"
    for name, value in record.headers:
        yield f"{name}: {format_text(value)}".rstrip()


def _play_move(playthrough: Playthrough[Any] | None, n: int, move: Move) -> int | None:
    if playthrough is None:
        raise RecordError(f"entry {n} is an action of a game that is not known")
    try:
        if move.superseded:
            playthrough.check_action(move.action)
            return None
        turn, calls = playthrough.play(move.action)
    except (InvalidActionError, IllegalActionError) as error:
        raise RecordError(f"entry {n} is not allowed: {error.message}", error.hint) from error
    if calls != move.calls:
        raise RecordError(f"entry {n}: the words called are {' '.join(calls) or 'none'}")
    return turn
