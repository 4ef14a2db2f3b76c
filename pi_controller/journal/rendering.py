"""Renders a record: hide by hide, or turn by turn, with the sticks drawn; or one JSON object an entry."""

from __future__ import annotations

import json
from typing import Any, TextIO

from pi_controller.record import record_line
from pi_controller.record.model import Check, Comment, Entry, Move, Record, Ruling
from pi_controller.record.playthrough import SET
from pi_controller.record.tokens import format_text
from pi_controller.record.writing import start_playthrough
from pi_controller.rules.base import Json
from pi_controller.rules.play import draw_sheet
from pi_controller.text import strip_controls


def as_text(record: Record, out: TextIO, to: int | None = None) -> None:
    """Write the game as text to `out`, only the first `to` entries if given. Raises `RecordError`."""
    playthrough = start_playthrough(record)
    teams = " and ".join(f"{format_text(name)} ({team})" for team, name in sorted(record.teams.items()))
    out.write(
        f"{record.game} {format_text(record.version) or playthrough.game.version}{f': {teams}' if teams else ''}\n"
    )
    out.write(
        "".join(f"{format_text(line)}\n" for line in (record.source or playthrough.game.source, record.rules) if line)
    )
    out.write("".join(f"{name} = {strip_controls(str(value))}\n" for name, value in record.options.items()))
    out.write("".join(f"{name}: {format_text(value)}\n" for name, value in record.headers))
    game = playthrough.game
    word = "Hide" if game.hidden else "Turn"
    for n, entry in enumerate(record.entries[:to], 1):
        before = playthrough.sheet
        if isinstance(entry, Move) and not entry.superseded:
            turn, _ = playthrough.play(entry.action)
            if turn:
                out.write(f"\n{draw_sheet(f'{word} {turn}', game, before)}\n")
        taken = "   (undone)" if isinstance(entry, Move | Ruling) and entry.superseded else ""
        out.write(f"{n:>5}  {record_line.format_entry(entry, record.game).lstrip(' ~')}{taken}\n")
        if isinstance(entry, Move) and not taken and entry.action.get("do") == SET:
            out.write(f"{draw_sheet('Score set by hand', game, playthrough.sheet)}\n")
    over = game.is_over(playthrough.state)
    out.write(f"\n{draw_sheet('End' if over else 'In progress', game, playthrough.sheet)}\n")


def as_json(record: Record, out: TextIO, to: int | None = None) -> None:
    """Write one JSON object for each entry to `out`, then one with the final state.

    Entries that count have the state after them; `to` limits the number of entries. Raises `RecordError`.
    """
    playthrough = start_playthrough(record)
    for n, entry in enumerate(record.entries[:to], 1):
        line = {"entry": n, **_entry_as_json(entry)}
        if isinstance(entry, Move) and not entry.superseded:
            playthrough.play(entry.action)
            line["state"] = playthrough.sheet
        _line(out, line)
    _line(out, {"state": playthrough.sheet, "over": playthrough.game.is_over(playthrough.state)})


def _entry_as_json(entry: Entry) -> dict[str, Json]:
    match entry:
        case Move():
            fields = {"t": entry.t, "by": entry.by or None, "comment": entry.comment or None}
            given = {key: value for key, value in fields.items() if value is not None}
            return {"action": dict(entry.action), "calls": entry.calls, "counts": not entry.superseded, **given}
        case Ruling(text=text, t=t, superseded=superseded):
            return {"ruling": text, "counts": not superseded, **({} if t is None else {"t": t})}
        case Comment(text=text):
            return {"comment": text}
        case Check(values=values, comment=comment):
            return {"stated": dict(values), **({"comment": comment} if comment else {})}


def _line(out: TextIO, content: dict[str, Any]) -> None:
    out.write(json.dumps(content) + "\n")
