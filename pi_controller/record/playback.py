"""Renders a record: hide by hide, or turn by turn, with the sticks drawn; or a JSON object an entry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from pi_controller.games.play import drawn
from pi_controller.games.wording import printable
from pi_controller.record.lines import written
from pi_controller.record.model import Check, Comment, Move, Record, Ruling
from pi_controller.record.notation import current
from pi_controller.record.playthrough import SET
from pi_controller.record.values import put_text
from pi_controller.record.writing import begun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.games.base import Json
    from pi_controller.record.model import Entry

    Played = Callable[[str, Mapping[str, Any], Mapping[str, str]], str]


def as_text(record: Record, out: TextIO, to: int | None = None, played: Played | None = None) -> None:
    """Write the record's story to `out`, with `to` the entries up to that number. Raises `RecordError`.

    `played` puts an action of a game into words; without it, and where it has none, it is as the record writes it.
    """
    playthrough = begun(record)
    teams = " and ".join(f"{put_text(name)} ({team})" for team, name in sorted(record.teams.items()))
    out.write(f"{record.game} {put_text(record.version) or playthrough.game.version}{f': {teams}' if teams else ''}\n")
    out.write(
        "".join(f"{put_text(line)}\n" for line in (record.source or playthrough.game.source, record.rules) if line)
    )
    out.write("".join(f"{name} = {printable(str(value))}\n" for name, value in record.options.items()))
    out.write("".join(f"{name}: {put_text(value)}\n" for name, value in record.headers))
    word = "Turn" if "thrower" in playthrough.sheet else "Hide"
    for n, entry in enumerate(record.entries[:to], 1):
        before = playthrough.sheet
        if isinstance(entry, Move) and not entry.superseded:
            turn, _ = playthrough.play(entry.action)
            if turn:
                out.write(f"\n{drawn(f'{word} {turn}', before)}\n")
        taken = "   (taken back)" if isinstance(entry, Move | Ruling) and entry.superseded else ""
        out.write(f"{n:>5}  {_line_of(entry, record, played)}{taken}\n")
        if isinstance(entry, Move) and not taken and entry.action.get("do") == SET:
            out.write(f"{drawn('So it stands', playthrough.sheet)}\n")
    over = playthrough.game.over(playthrough.state)
    out.write(f"\n{drawn('End' if over else 'In progress', playthrough.sheet)}\n")


def _line_of(entry: Entry, record: Record, played: Played | None) -> str:
    words = ""
    if played and isinstance(entry, Move):
        words = played(record.game, current(record.game, entry.action), {**record.teams})
    return written(entry, record.game, words=words).lstrip(" ~")


def as_json(record: Record, out: TextIO, to: int | None = None) -> None:
    """Write a JSON object for each entry to `out`, one that counts with the state after it; then the last."""
    playthrough = begun(record)
    for n, entry in enumerate(record.entries[:to], 1):
        line = {"entry": n, **_entry_as_json(entry)}
        if isinstance(entry, Move) and not entry.superseded:
            playthrough.play(entry.action)
            line["state"] = playthrough.sheet
        _line(out, line)
    _line(out, {"state": playthrough.sheet, "over": playthrough.game.over(playthrough.state)})


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
