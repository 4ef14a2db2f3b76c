"""Replays a game: hide by hide in plain text, or as one JSON object a record.

The journal is opened read-only; a table may write it meanwhile. Undone records are shown, marked `undone`. A
written record (`pi_controller.record`) is shown in the same way.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TextIO, cast

import msgspec

from pi_controller.errors import JournalError, MatError
from pi_controller.journal import convert, rendering
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import is_journal, read_journal_record, read_record_file
from pi_controller.record.model import Record as WrittenRecord
from pi_controller.record.model import RecordError
from pi_controller.record.table_facts import format_caller, format_table_fact, format_words
from pi_controller.referee import facts
from pi_controller.referee.commitment import CommitmentContext, check
from pi_controller.referee.history import History, Record
from pi_controller.referee.story import SETTLED, Story
from pi_controller.rules import registry
from pi_controller.rules.base import Game
from pi_controller.table.view import View, view_of
from pi_controller.text import strip_controls, strip_controls_deep


def replay(
    file: str,
    to: int | None = None,
    name: str = registry.DEFAULT_GAME,
    options: Mapping[str, str] | None = None,
    played: convert.Played | None = None,
    *,
    json: bool = False,
) -> int:
    """Print the game in `file` up to record `to`; return 2 if a written record has faults, else 0.

    `name` and `options` are those of the game if `file` is a score sheet; `played` puts the actions of games without
    hides into words. Raises `MatError`.
    """
    if not is_journal(file):
        record = read_record_file(file, name, options)
        return _replay_record(file, record, to, played, json=json)
    with Journal(file, read_only=True) as journal:
        opened = journal.read_opening()
        if opened is None:
            raise JournalError(f"journal {journal.path.name} contains no game yet", "play first")
        game = registry.game(opened.game, opened.options)
        records = list(journal.read(to))
    if not game.hand_passes and not json:  # it has no hides: print it like a written record
        return _replay_record(file, read_journal_record(file, private=True), to, played, json=False)
    try:
        (_as_json if json else _as_text)(game, records, sys.stdout)
    except MatError as error:
        raise JournalError(
            f"journal {journal.path.name} does not follow the rules of {game.name} {game.version}: {error.message}",
            f"it was written by {opened.game} {opened.version}",
        ) from error
    return 0


def _replay_record(
    path: str, record: WrittenRecord, to: int | None, played: convert.Played | None, *, json: bool
) -> int:
    """Print a written record, and its faults to standard error; return 2 if it has any, else 0."""
    if not record.game:
        raise RecordError(f"{path} is neither a journal nor a record", "a record says 'Game: dakota' at its top")
    for fault in record.faults:
        print(f"moccasin-mat: line {fault.line}: {strip_controls(fault.message)}", file=sys.stderr)
    if json:
        rendering.as_json(record, sys.stdout, to)
    else:
        rendering.as_text(record, sys.stdout, to, played)
    return 2 if record.faults else 0


def _as_json(game: Game[Any], records: Sequence[Record], out: TextIO) -> None:
    history = History(game)
    for seq, step in enumerate(history.walk(records), 1):
        body = cast("dict[str, Any]", msgspec.to_builtins(step.fact))
        _line(out, {"seq": seq, "batch": step.batch, "counts": step.counts, **body})
    _line(out, {"view": msgspec.to_builtins(view_of(game, history.now, len(records)))})


def _line(out: TextIO, value: dict[str, Any]) -> None:
    out.write(msgspec.json.encode(strip_controls_deep(value)).decode() + "\n")


def _as_text(game: Game[Any], records: Sequence[Record], out: TextIO) -> None:
    history = History(game)
    hide, view = 0, view_of(game, history.now, 0)
    given = defaultdict[int, list[facts.Fact]](list)  # the facts of each batch without the command itself
    for batch, fact in records:
        if not isinstance(fact, facts.CommandIssued):
            given[batch].append(fact)
    caller: tuple[str, int] | None = None  # the user of a command, until its first result in the same batch is printed
    for seq, (batch, fact, counts, before, story) in enumerate(history.walk(records), 1):
        view = view_of(game, story, seq)
        if isinstance(fact, facts.GameOpened):
            out.write(f"{game.name} {fact.version}: {_team(view, 'A')} (A) and {_team(view, 'B')} (B)\n")
            out.write(f"{strip_controls(fact.source)}\n")
            default = {option.name: option.default for option in game.options}
            chosen = {name: value for name, value in fact.options.items() if value != default.get(name)}
            out.write("".join(f"{name} = {strip_controls(str(value))}\n" for name, value in chosen.items()))
            out.write(f"the game before: {strip_controls(fact.after)}\n" if fact.after else "")
        sentence = strip_controls(_sentence(game, before, fact, view))
        if isinstance(fact, facts.CommandIssued) and any(_sentence(game, before, one, view) for one in given[batch]):
            sentence, caller = "", (strip_controls(format_caller(fact)), batch)
        elif sentence and caller is not None and caller[1] == batch:
            sentence = f"{caller[0]}: {sentence.removeprefix('judge: ').replace(' [judge]', '', 1)}"
            caller = None
        line = f"{seq:>5}  {sentence}{'' if counts else '   (undone)'}\n" if sentence else ""
        if isinstance(fact, facts.StateSet):
            line += f"       {_stands(view)}\n{_sticks(view)}\n"
        heading = ""
        if isinstance(fact, facts.Undone):
            hide = story.hide.number  # the undone action may have begun another hide
        if story.hide.number != hide and story.phase in ("hide", "check"):
            hide = story.hide.number
            heading = f"\nHide {hide}: {_team(view, view.scoreboard.turn)} hides\n{_sticks(view)}\n"
        # ready may begin a hide without another fact before it: its line belongs to the new hide
        out.write(heading + line if isinstance(fact, facts.Ready) else line + heading)
    out.write(f"\n{_end(view)}\n{_sticks(view)}\n")


def _stands(view: View) -> str:
    """Return the hiding team and the notes on the hide in one line."""
    turn = view.scoreboard.turn
    notes = (format_words(note.key) + (f": {note.n}" if note.n is not None else "") for note in view.scoreboard.notes)
    return ", ".join((f"{_team(view, turn)} hides" if turn else "before the toss", *notes))


def _sticks(view: View) -> str:
    """Return a picture of the sticks: long ones as bars, points as stars."""
    board = view.scoreboard
    rows = [(f"{_team(view, team)} ({team})", n, "*" * board.scores[team]) for team, n in board.stakes.items()]
    rows[1:1] = [(board.pool.unit, board.pool.n, "")] if board.pool else []
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"       {name:<{width}}  {'|' * n:<20} {n:>2}  {points}".rstrip() for name, n, points in rows)


def _sentence(game: Game[Any], before: Story, fact: facts.Fact, view: View) -> str:
    """Return a record as one line; "" if it needs none."""
    match fact:
        case facts.ActionPlayed():
            return _action(fact, game.sheet(before.state).get("owed"))
        case facts.FoulSeen(foul=foul, by=by):
            return f"foul of the {by}: {format_words(foul)}"
        case facts.Question(about=about, choices=choices, pads=pads, foul=foul):
            details = format_words(foul) if foul else ", ".join(f"pad {pad}" for pad in pads)
            return f"asked: {format_words(about)}{f' ({details})' if details else ''}; {', '.join(choices)}?"
        case facts.Answer(answer=answer, by=by):
            return f"{'judge' if by == 'judge' else 'no answer'}: {format_words(answer)}"
        case facts.QuestionWithdrawn(about=about, why=why):
            return f"no answer is needed to {format_words(about)}: {format_words(why)}"
        case facts.Notice(about=about, pads=pads):
            return f"noticed: {format_words(about)}{' on pad ' + ', '.join(map(str, pads)) if pads else ''}"
        case facts.Reveal(hide=hide, pad=pad, nonce=nonce):
            bound = CommitmentContext(fact.table, fact.epoch, fact.event)
            sealed = check(before.hide.seal.commit or "", game.name, hide, pad, nonce, bound)
            return f"the bead was under pad {pad}; " + ("as sealed" if sealed else "NOT as sealed")
        case facts.CommitmentWithdrawn(why=why):
            return f"the seal is withdrawn: {why}"
        case facts.HideAgain(why=why):
            return f"hide again: {format_words(why)}"
        case facts.StrikeKept(pads=pads):
            return f"struck while a question was open: pad {', '.join(map(str, pads))}"
        case facts.Undone(batch=_, reason=reason, by=by):
            goes = "is settled" if view.phase in SETTLED else "goes on"
            return f"{by}: undone{f' ({reason})' if reason else ''}; hide {view.hide} {goes}"
        case facts.Ready() if before.hide.hiding_passes:
            return f"the hand went under {' '.join(str(each.pad) for each in before.hide.hiding_passes)}"
        case facts.LinkSeen(up=up, why=why):
            return f"the board is {'connected' if up else 'disconnected'}{f': {why}' if why else ''}"
        case facts.CommandIssued(call=call):
            return f"{format_caller(fact)}: {format_words(call)}"
        case _:
            return format_table_fact(fact, view.teams, private=True)


def _action(fact: facts.ActionPlayed, owed: str | None) -> str:
    """Return an action in words; `owed` is the hit that was owed before it."""
    action = fact.action
    match action.get("do"):
        case "toss":
            sentence = f"the toss: {action['winner']}"
        case "hit":
            pad = f", pad {action['pad']}" if "pad" in action else ""
            sentence = f"{owed} hit{pad}: {'found' if action['found'] else 'missed'}"
        case "forfeit":
            sentence = f"forfeit by {action['by']}"
        case _:
            sentence = f"settled as a foul of the {action.get('by')}: {format_words(str(action.get('kind')))}"
            sentence += " (the hide before)" if action.get("hide") == "last" else ""
    by = "" if fact.by == "sensor" else f" [{fact.by}]"
    called = f" -> {', '.join(format_words(word) for word in fact.calls)}" if fact.calls else ""
    return sentence + by + called


def _end(view: View) -> str:
    if view.winner and view.sheet.get("finish") == "forfeit":
        return f"{_team(view, view.winner)} has won by forfeit"
    if view.winner:
        scores = view.scoreboard.scores.values()
        return f"{_team(view, view.winner)} has won {max(scores)} to {min(scores)}"
    asked = f"; asked: {format_words(view.question.about)}" if view.question else ""
    return f"In progress: hide {view.hide}, {view.phase}{asked}"


def _team(view: View, team: str | None) -> str:
    return strip_controls(view.teams.get(team or "", team or "nobody"))
