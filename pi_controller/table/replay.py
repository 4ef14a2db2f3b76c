"""Replays a game: hide by hide in plain text, or as one JSON object a record.

A journal is only looked at; a table may go on writing it meanwhile. What was undone is shown, marked `taken back`.
A written record (`pi_controller.record`) is shown in the same way.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec

from pi_controller.errors import JournalError, MatError
from pi_controller.games import registry
from pi_controller.games.wording import all_printable, printable
from pi_controller.record import playback
from pi_controller.record.model import RecordError
from pi_controller.record.saying import of_table, who
from pi_controller.referee.commitment import Bound, check
from pi_controller.referee.facts import (
    Answer,
    Called,
    Done,
    Fact,
    FoulSeen,
    HideAgain,
    LinkSeen,
    Notice,
    Opened,
    Question,
    Ready,
    Reveal,
    StateSet,
    Undone,
    Void,
    Withdrawn,
)
from pi_controller.referee.history import History
from pi_controller.table.journal import Journal
from pi_controller.table.record import is_journal, kept_in, written_in
from pi_controller.table.view import View, view_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_controller.games.base import Game
    from pi_controller.record.model import Record as WrittenRecord
    from pi_controller.referee.history import Record
    from pi_controller.referee.story import Story


def replay(
    file: str,
    to: int | None = None,
    name: str = registry.DEFAULT,
    options: Mapping[str, str] | None = None,
    played: playback.Played | None = None,
    *,
    json: bool = False,
) -> int:
    """Print the game in `file` up to record `to`; return 2 where a written record has faults, else 0.

    `name` and `options` are the game's, should `file` be a score sheet; `played` puts the actions of the games without
    hides into words. Raises `MatError`.
    """
    if not is_journal(file):
        record = written_in(file, name, options)
        return _replay_record(file, record, to, played, json=json)
    with Journal(file, read_only=True) as journal:
        opened = journal.opened()
        if opened is None:
            raise JournalError(f"journal {journal.path.name} holds no game yet", "play first")
        game = registry.game(opened.game, opened.options)
        records = list(journal.read(to))
    if not game.hand_passes and not json:  # it has no hides: show it as its record has it
        return _replay_record(file, kept_in(file, private=True), to, played, json=False)
    try:
        (_as_json if json else _as_text)(game, records, sys.stdout)
    except MatError as error:
        raise JournalError(
            f"journal {journal.path.name} does not follow the rules of {game.name} {game.version}: {error.what}",
            f"it was written by {opened.game} {opened.version}",
        ) from error
    return 0


def _replay_record(
    path: str, record: WrittenRecord, to: int | None, played: playback.Played | None, *, json: bool
) -> int:
    """Print a written record; what is wrong in it goes to standard error and makes the status 2."""
    if not record.game:
        raise RecordError(f"{path} is no journal and no record", "a record says 'Game: dakota' at its top")
    for fault in record.faults:
        print(f"moccasin-mat: line {fault.line}: {printable(fault.what)}", file=sys.stderr)
    if json:
        playback.as_json(record, sys.stdout, to)
    else:
        playback.as_text(record, sys.stdout, to, played)
    return 2 if record.faults else 0


def _as_json(game: Game[Any], records: Sequence[Record], out: TextIO) -> None:
    history = History(game)
    for seq, step in enumerate(history.walk(records), 1):
        body = cast("dict[str, Any]", msgspec.to_builtins(step.fact))
        _line(out, {"seq": seq, "batch": step.batch, "counts": step.counts, **body})
    _line(out, {"view": msgspec.to_builtins(view_of(game, history.now, len(records)))})


def _line(out: TextIO, value: dict[str, Any]) -> None:
    out.write(msgspec.json.encode(all_printable(value)).decode() + "\n")


def _as_text(game: Game[Any], records: Sequence[Record], out: TextIO) -> None:
    history = History(game)
    hide, view = 0, view_of(game, history.now, 0)
    given = defaultdict[int, list[Fact]](list)  # what each batch holds beside who gave the command
    for batch, fact in records:
        if not isinstance(fact, Called):
            given[batch].append(fact)
    caller: tuple[str, int] | None = None  # who gave the command, until what came of it is shown: in the same batch
    for seq, (batch, fact, counts, before, story) in enumerate(history.walk(records), 1):
        view = view_of(game, story, seq)
        if isinstance(fact, Opened):
            out.write(f"{game.name} {fact.version}: {_team(view, 'A')} (A) and {_team(view, 'B')} (B)\n")
            out.write(f"{printable(fact.source)}\n")
            chosen = {name: value for name, value in fact.options.items() if value != _default(game, name)}
            out.write("".join(f"{name} = {printable(str(value))}\n" for name, value in chosen.items()))
            out.write(f"the game before: {printable(fact.after)}\n" if fact.after else "")
        sentence = printable(_sentence(game, before, fact, view))
        if isinstance(fact, Called) and any(_sentence(game, before, one, view) for one in given[batch]):
            sentence, caller = "", (printable(who(fact)), batch)
        elif sentence and caller is not None and caller[1] == batch:
            sentence = f"{caller[0]}: {sentence.removeprefix('judge: ').replace(' [judge]', '', 1)}"
            caller = None
        line = f"{seq:>5}  {sentence}{'' if counts else '   (taken back)'}\n" if sentence else ""
        if isinstance(fact, StateSet):
            line += f"       {_stands(view)}\n{_sticks(view)}\n"
        heading = ""
        if isinstance(fact, Undone):
            hide = story.hide.number  # what it took back may have begun another one
        if story.hide.number != hide and story.phase in ("hide", "check"):
            hide = story.hide.number
            heading = f"\nHide {hide}: {_team(view, view.hider)} hides\n{_sticks(view)}\n"
        # ready may begin a hide that nobody announced: its line belongs to the new one
        out.write(heading + line if isinstance(fact, Ready) else line + heading)
    out.write(f"\n{_end(view)}\n{_sticks(view)}\n")


def _stands(view: View) -> str:
    """Return who hides and what is owed, in a line."""
    hides = f"{_team(view, view.hider)} hides" if view.hider else "before the toss"
    owed = f", the {view.owed} hit is owed" if view.owed else ""
    return hides + owed + (f", {view.situation}" if view.situation else "")


def _sticks(view: View) -> str:
    """Return the sticks as they lie: long ones upright, points as stars."""
    rows = [(f"{_team(view, team)} ({team})", view.long[team], "*" * view.short[team]) for team in ("A", "B")]
    rows.insert(1, ("middle", view.middle, ""))
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"       {name:<{width}}  {'|' * n:<20} {n:>2}  {points}".rstrip() for name, n, points in rows)


def _sentence(game: Game[Any], before: Story, fact: Fact, view: View) -> str:
    """Return a record as one line; nothing for one that needs no line."""
    match fact:
        case Done():
            return _action(fact, game.sheet(before.state).get("owed"))
        case FoulSeen(foul=foul, by=by):
            return f"foul of the {by}: {_words(foul)}"
        case Question(about=about, choices=choices, pads=pads, foul=foul):
            details = _words(foul) if foul else ", ".join(f"pad {pad}" for pad in pads)
            return f"asked: {_words(about)}{f' ({details})' if details else ''}; {', '.join(choices)}?"
        case Answer(answer=answer, by=by):
            return f"{'judge' if by == 'judge' else 'nobody answered'}: {_words(answer)}"
        case Withdrawn(about=about, why=why):
            return f"no answer is needed to {_words(about)}: {_words(why)}"
        case Notice(about=about, pads=pads):
            return f"noticed: {_words(about)}{' on pad ' + ', '.join(map(str, pads)) if pads else ''}"
        case Reveal(hide=hide, pad=pad, nonce=nonce):
            bound = Bound(fact.table, fact.epoch, fact.event)
            sealed = check(before.hide.commit or "", game.name, hide, pad, nonce, bound)
            return f"the bead lay under pad {pad}; " + ("as sealed" if sealed else "NOT as sealed")
        case Void(why=why):
            return f"the seal is withdrawn: {why}"
        case HideAgain(why=why):
            return f"hide again: {_words(why)}"
        case Undone(batch=_, reason=reason):
            goes = "is settled" if view.phase in ("show", "over") else "goes on"
            return f"judge: taken back{f' ({reason})' if reason else ''}; hide {view.hide} {goes}"
        case Ready() if before.hide.passes:
            return f"the hand went under {' '.join(map(str, before.hide.passes))}"
        case LinkSeen(up=up, why=why):
            return f"the board is {'there' if up else 'gone'}{f': {why}' if why else ''}"
        case Called(call=call):
            return f"{who(fact)}: {_words(call)}"
        case _:
            return of_table(fact, view.teams, private=True)


def _action(fact: Done, owed: str | None) -> str:
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
            sentence = f"settled as a foul of the {action.get('by')}: {_words(str(action.get('kind')))}"
            sentence += " (the hide before)" if action.get("hide") == "last" else ""
    by = "" if fact.by == "sensor" else f" [{fact.by}]"
    called = f" -> {', '.join(_words(word) for word in fact.calls)}" if fact.calls else ""
    return sentence + by + called


def _end(view: View) -> str:
    if view.winner and view.sheet.get("finish") == "forfeit":
        return f"{_team(view, view.winner)} has won by forfeit"
    if view.winner:
        return f"{_team(view, view.winner)} has won {max(view.short.values())} to {min(view.short.values())}"
    asked = f"; asked: {_words(view.question.about)}" if view.question else ""
    return f"In progress: hide {view.hide}, {view.phase}{asked}"


def _team(view: View, team: str | None) -> str:
    return printable(view.teams.get(team or "", team or "nobody"))


def _default(game: Game[Any], name: str) -> object:
    return next((option.default for option in game.options if option.name == name), None)


def _words(name: str) -> str:
    return name.replace("_", " ")
