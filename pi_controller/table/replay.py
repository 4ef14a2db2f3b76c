"""Replays a game: its record in plain text with the sticks drawn, or one JSON object a line.

The file is a journal, which a table may write meanwhile, or a written record (`pi_controller.record`). Undone entries
are shown, marked `undone`.
"""

from __future__ import annotations

import sys
from typing import Any, TextIO, cast

import msgspec

from pi_controller.errors import JournalError, MatError
from pi_controller.journal import rendering
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import is_journal, read_journal_record, read_record_file
from pi_controller.record.model import RecordError
from pi_controller.referee.history import History
from pi_controller.rules import registry
from pi_controller.table.view import view_of
from pi_controller.text import strip_controls, strip_controls_deep


def replay(file: str, to: int | None = None, *, json: bool = False) -> int:
    """Print the game in `file` up to entry `to`; return 2 if a written record has faults, else 0.

    With `json` it is printed up to record `to` of a journal. Raises `MatError`.
    """
    if json and is_journal(file):
        _journal_as_json(file, to, sys.stdout)
        return 0
    record = read_journal_record(file, private=True) if is_journal(file) else read_record_file(file)
    if not record.game:
        raise RecordError(f"{file} is neither a journal nor a record", "a record says 'Game: dakota' at its top")
    for fault in record.faults:
        print(f"moccasin-mat: line {fault.line}: {strip_controls(fault.message)}", file=sys.stderr)
    (rendering.as_json if json else rendering.as_text)(record, sys.stdout, to)
    return 2 if record.faults else 0


def _journal_as_json(file: str, to: int | None, out: TextIO) -> None:
    """Write the facts of the journal, and then the table's view after them."""
    with Journal(file, read_only=True) as journal:
        opened = journal.read_opening()
        if opened is None:
            raise JournalError(f"journal {journal.path.name} contains no game yet", "play first")
        game, records = registry.game(opened.game, opened.options), list(journal.read(to))
    history = History(game)
    try:
        for seq, step in enumerate(history.walk(records), 1):
            body = cast("dict[str, Any]", msgspec.to_builtins(step.fact))
            _line(out, {"seq": seq, "batch": step.batch, "counts": step.counts, **body})
    except MatError as error:
        raise JournalError(
            f"journal {journal.path.name} does not follow the rules of {game.name} {game.version}: {error.message}",
            f"it was written by {opened.game} {opened.version}",
        ) from error
    _line(out, {"view": msgspec.to_builtins(view_of(game, history.now, len(records)))})


def _line(out: TextIO, value: dict[str, Any]) -> None:
    out.write(msgspec.json.encode(strip_controls_deep(value)).decode() + "\n")
