"""Writes a record: one text for one record, which reads back as the same record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.errors import MatError, UsageError
from pi_controller.games import registry
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.options import written as option_text
from pi_controller.record.lines import written
from pi_controller.record.model import Check, Move, Record, RecordError
from pi_controller.record.playthrough import Playthrough
from pi_controller.record.reading import FORMAT
from pi_controller.record.values import put_text, same

if TYPE_CHECKING:
    from collections.abc import Iterator


def write(record: Record) -> str:
    """Return the record's text. Raises `RecordError` where its actions do not follow the rules or its calls differ."""
    playthrough = begun(record) if record.game in registry.names() else None
    lines = [*_headers(record), ""]
    for n, entry in enumerate(record.entries, 1):
        turn = None
        if isinstance(entry, Move):
            turn = _played(playthrough, n, entry)
        elif isinstance(entry, Check) and not entry.values:
            raise RecordError(f"entry {n} states nothing")
        lines.append(written(entry, record.game, turn))
    lines.append(playthrough.ended() if playthrough else "end")
    return "\n".join(lines) + "\n"


def begun(record: Record) -> Playthrough[Any]:
    """Return a playthrough of the record's game at its opening; `RecordError` where game or options are not known."""
    try:
        game = registry.game(record.game, record.options)
    except UsageError as error:
        raise RecordError(error.what, error.todo) from error
    for name, value in record.options.items():
        if not same(game.settings[name], value):
            raise RecordError(f"option {name} is written as {option_text(game.settings[name])}")
    return Playthrough(game)


def _headers(record: Record) -> Iterator[str]:
    yield f"Record: {FORMAT}"
    order = [option.name for option in registry.kind(record.game).options] if record.game in registry.names() else []
    for name, value in (
        ("Game", record.game),
        ("Version", record.version),
        ("Rules", record.rules),
        ("Source", record.source),
    ):
        if value:
            yield f"{name}: {put_text(value)}"
    for name, value in sorted(record.options.items(), key=lambda option: order.index(option[0])):
        yield f"Option {name}: {put_text(option_text(value))}"
    for team, name in sorted(record.teams.items()):
        yield f"Team {team}: {put_text(name)}"
    for name, value in record.headers:
        yield f"{name}: {put_text(value)}".rstrip()


def _played(playthrough: Playthrough[Any] | None, n: int, move: Move) -> int | None:
    if playthrough is None:
        raise RecordError(f"entry {n} is an action of a game that is not known")
    try:
        if move.superseded:
            playthrough.once(move.action)
            return None
        turn, calls = playthrough.play(move.action)
    except (InvalidActionError, IllegalActionError) as error:
        raise _refused(n, error) from error
    if calls != move.calls:
        raise RecordError(f"entry {n}: the words called are {' '.join(calls) or 'none'}")
    return turn


def _refused(n: int, error: MatError) -> RecordError:
    return RecordError(f"entry {n} is not allowed: {error.what}", error.todo)
