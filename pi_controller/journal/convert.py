"""Converts score sheets and journals to records, and records back to score sheets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from pi_controller.errors import UsageError, describe_error
from pi_controller.journal.journal import Journal
from pi_controller.record import model, notation
from pi_controller.record.file import MAX_BYTES, SET, ParseIssues, Playthrough, decode_lines, read, start_playthrough
from pi_controller.record.model import Check, Comment, Entry, Move, Record, RecordError, Ruling
from pi_controller.record.notation import format_caller, format_table_fact, format_text
from pi_controller.referee import facts
from pi_controller.referee.history import with_status
from pi_controller.rules import registry
from pi_controller.rules.base import Action, Game, IllegalActionError, InvalidActionError, Json, Team
from pi_controller.rules.play import draw_sheet
from pi_controller.text import strip_controls

Played = Callable[[str, Mapping[str, Any], Mapping[str, str]], str]


def from_sheet(data: bytes, game: Game[Any]) -> Record:
    """Return the record of a score sheet's actions, one JSON object a line; its `faults` list the refused lines."""
    faults = ParseIssues()
    playthrough = Playthrough(game)
    entries: list[Entry] = []
    for number, text in decode_lines(data, faults):
        try:
            action = _sheet_action(text)
            _, calls = playthrough.play(action)
            entries.append(Move(action, calls))
        except (RecordError, InvalidActionError, IllegalActionError) as error:
            faults.add(number, error.message)
    return Record(
        game.name,
        game.version,
        source=game.source,
        options=game.chosen_settings,
        entries=tuple(entries),
        faults=faults.by_line(),
    )


def _sheet_action(text: str) -> dict[str, Any]:
    action = notation.decode_object(text)
    if action.get("do") == SET:
        raise RecordError("a score sheet cannot set the score by hand", "a record can")
    return action


def to_sheet(record: Record) -> Iterator[str]:
    """Yield each action that counts as a line of JSON. Raises `RecordError` if the judge set the table."""
    if any(move.action.get("do") == SET for move in record.moves()):
        raise RecordError(
            "a score sheet cannot contain this game: the judge set the score by hand",
            "take the record, without --sheet",
        )
    for move in record.moves():
        yield json.dumps(move.action)


def from_journal(
    records: Iterable[tuple[int, facts.Fact]],
    headers: Sequence[tuple[str, str]] = (),
    *,
    private: bool = False,
) -> Record:
    """Return the record of a journalled game: its `records`, facts with their batches; undone actions are superseded.

    The judge's answers become rulings, with the name of a signed-in judge; a table that was set becomes an action
    `set`. The bead's place is written for hides that are over and were not reopened. Seals and nonces are left out, and
    so is the text of a protest unless `private`. Times count from the first fact. Raises `RecordError` if the journal
    holds no game, or its actions break the rules.
    """
    builder = _RecordBuilder(private=private)
    for batch, fact, counts in with_status(records):
        builder.add_fact(batch, fact, superseded=not counts)
    return builder.record(tuple(headers))


class _RecordBuilder:
    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._who = ""
        self._opened: facts.GameOpened | None = None
        self._teams: Mapping[str, str] = {}
        self._playthrough: Playthrough[Any] | None = None
        self._entries: list[Entry] = []
        self._asked: facts.Question | None = None
        self._batch = 0

    def add_fact(self, batch: int, fact: facts.Fact, *, superseded: bool) -> None:
        if batch != self._batch or isinstance(fact, facts.CommandIssued):
            self._batch, self._who = batch, format_caller(fact) if isinstance(fact, facts.CommandIssued) else ""
        if isinstance(fact, facts.GameOpened):
            self._open(fact)
            return
        if self._opened is None:
            raise RecordError("the journal does not name its game")
        match fact:
            case facts.ActionPlayed(t=t, action=action, by=by):
                calls = fact.calls if superseded else self._play(action)
                by = "" if by == "sensor" else by
                self._move(t, dict(action), calls, by, superseded)
            case facts.StateSet(t=t, sheet=sheet):
                action = {"do": SET, **sheet}
                calls = () if superseded else self._play(action)
                self._move(t, action, calls, "judge", superseded, format_table_fact(fact, {}, private=self._private))
            case facts.TeamsNamed(t=t, teams=teams):
                self._teams = teams
                self._rule(t, format_table_fact(fact, teams, private=self._private), superseded)
            case (
                facts.SensorsUsed(t=t)
                | facts.ProtestMade(t=t)
                | facts.ProtestRuled(t=t)
                | facts.ClockSet(t=t)
                | facts.GameClosed(t=t)
            ):
                self._rule(t, format_table_fact(fact, self._teams, private=self._private), superseded)
            case (
                facts.JudgedByEye() | facts.MatchGiven() | facts.MatchVoid() | facts.VoidClosed() | facts.RoundClock()
            ) if not superseded:
                self._entries.append(Comment(format_table_fact(fact, {}, private=self._private)))
            case facts.Question():
                self._asked = fact
            case facts.Answer(t=t):
                self._rule(t, notation.format_answer(self._asked, fact), superseded)
            case facts.HideAgain(t=t, why=why, by="judge"):
                self._rule(t, ": ".join(filter(None, ("hide again", why))), superseded)
            case facts.Undone(t=t, reason=reason):
                self._rule(t, ": ".join(filter(None, ("taken back", reason))), superseded)
            case facts.Reveal(hide=hide, pad=pad) if not superseded:
                self._entries.append(Comment(f"hide {hide}: the bead lay under pad {pad}"))
            case _:
                pass  # hands, seals, strikes and the link are kept in the journal only

    def record(self, headers: tuple[tuple[str, str], ...]) -> Record:
        if self._opened is None or self._playthrough is None:
            raise RecordError("the journal contains no game yet", "play first")
        opened = self._opened
        named: dict[Team, str] = {
            team: name for team in ("A", "B") if (name := strip_controls(self._teams.get(team, "")).strip())
        }
        return Record(
            game=opened.game,
            version=opened.version,
            source=opened.source[: model.MAX_TEXT_CHARS],
            options=self._playthrough.game.chosen_settings,
            teams=named,
            headers=headers,
            entries=tuple(self._entries),
        )

    def _open(self, fact: facts.GameOpened) -> None:
        self._opened = fact
        self._teams = fact.teams
        try:
            self._playthrough = Playthrough(registry.game(fact.game, fact.options))
        except UsageError as error:
            raise RecordError(error.message, error.hint) from error

    def _play(self, action: Action) -> tuple[str, ...]:
        assert self._playthrough
        try:
            return self._playthrough.play(action)[1]
        except (InvalidActionError, IllegalActionError) as error:
            raise RecordError(f"the journal does not follow the rules: {error.message}", error.hint) from error

    def _move(
        self, t: float, action: dict[str, Any], calls: tuple[str, ...], by: str, superseded: bool, why: str = ""
    ) -> None:
        assert self._playthrough
        comment = strip_controls(": ".join(filter(None, (self._who, why))))[: model.MAX_TEXT_CHARS]
        self._entries.append(Move(action, calls, self._since(t), by, comment, superseded=superseded))

    def _rule(self, t: float, text: str, superseded: bool) -> None:
        text = strip_controls(": ".join(filter(None, (self._who, text))))
        self._entries.append(Ruling(text[: model.MAX_TEXT_CHARS], self._since(t), superseded))

    def _since(self, t: float) -> float | None:
        """Return `t` in seconds since the first fact; None if the clock was set back to before it."""
        assert self._opened
        since = round(t - self._opened.t, 3)
        return since if 0 <= since <= model.MAX_TIME_S else None


# Renders a record: hide by hide, or turn by turn, with the sticks drawn; or one JSON object an entry.


def as_text(record: Record, out: TextIO, to: int | None = None, played: Played | None = None) -> None:
    """Write the game as text to `out`, only the first `to` entries if given. Raises `RecordError`.

    `played` puts an action of a game into words; without it, or if it returns "", the record's own form is shown.
    """
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
    word = "Turn" if "thrower" in playthrough.sheet else "Hide"
    for n, entry in enumerate(record.entries[:to], 1):
        before = playthrough.sheet
        if isinstance(entry, Move) and not entry.superseded:
            turn, _ = playthrough.play(entry.action)
            if turn:
                out.write(f"\n{draw_sheet(f'{word} {turn}', before)}\n")
        taken = "   (undone)" if isinstance(entry, Move | Ruling) and entry.superseded else ""
        out.write(f"{n:>5}  {_line_of(entry, record, played)}{taken}\n")
        if isinstance(entry, Move) and not taken and entry.action.get("do") == SET:
            out.write(f"{draw_sheet('Score set by hand', playthrough.sheet)}\n")
    over = playthrough.game.is_over(playthrough.state)
    out.write(f"\n{draw_sheet('End' if over else 'In progress', playthrough.sheet)}\n")


def _line_of(entry: Entry, record: Record, played: Played | None) -> str:
    words = ""
    if played and isinstance(entry, Move):
        words = played(record.game, entry.action, {**record.teams})
    return notation.format_entry(entry, record.game, words=words).lstrip(" ~")


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


# Read the record of a game from a journal, a score sheet or a written record, by the content of the file.

_SQLITE = b"SQLite format 3\0"


def is_journal(path: str) -> bool:
    """Return whether `path` is a journal; also True if it is missing or empty, so that the journal reports that."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) in (_SQLITE, b"")
    except OSError:
        return True


def read_record_file(path: str, game: str = registry.DEFAULT_GAME, settings: Mapping[str, str] | None = None) -> Record:
    """Return the record in a file that is no journal: a written record, or a score sheet of `game`.

    Raises `UsageError` if it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {describe_error(error)}", "name a journal, a sheet or a record"
        ) from error
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return from_sheet(data, registry.game(game, settings))
    return read(data)


def read_journal_record(path: str, *, private: bool = False) -> Record:
    """Return the record of the game in the journal `path`; with `private` it has the reasons of protests.

    Raises `JournalError`.
    """
    with Journal(path, read_only=True) as journal:
        records = list(journal.read())
    return from_journal(records, (("Provenance", f"journal {Path(path).name}"[:1000]),), private=private)
