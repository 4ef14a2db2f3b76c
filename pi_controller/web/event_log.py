"""Event log for the judges: the last events of the journal as short sentences, with time, actor and undos.

Reads the end of the journal while another thread writes it. Facts never contain the position of a hidden bead
(`referee.facts`), so this log cannot either.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from pi_controller.display import phrases
from pi_controller.display.game_display import describe_action, key_to_words
from pi_controller.display.i18n import catalogue, mark
from pi_controller.display.shown_names import clean_name, isolate_name
from pi_controller.errors import JournalError
from pi_controller.journal import file
from pi_controller.record.notation import format_action
from pi_controller.referee import facts
from pi_controller.referee.history import Counted, with_status
from pi_controller.referee.judge import ClosedBy
from pi_controller.table.view import QuestionView
from pi_controller.text import strip_controls

LAST = 20
_LOOKED_AT = 400
"""Records read from the journal's end: a hide has ten to twenty."""
_BY: Mapping[str, str] = {
    "sensor": mark("the mat"),
    "judge": mark("the judge"),
    "clock": mark("the clock"),
    "restart": mark("the restart"),
    "table": mark("the table"),
}
_BY_WORD = (
    facts.GameClosed
    | facts.VoidClosed
    | facts.StateSet
    | facts.SensorsUsed
    | facts.ProtestMade
    | facts.ProtestRuled
    | facts.ClockSet
    | facts.TeamsNamed
)
"""Facts that a person enters; from the terminal without a name."""
_OF_THE_TABLE = (
    facts.GameOpened
    | facts.MatchGiven
    | facts.MatchVoid
    | facts.RoundClock
    | facts.Commit
    | facts.CommitmentWithdrawn
    | facts.Reveal
)
_CALLED: Mapping[str, str] = {"hidden": mark("The hiders are ready."), "answer": mark("An answer.")}


class LogLine(msgspec.Struct, frozen=True):
    """One event at `t` (table clock, s) by `who`, as text; `undone` means it no longer counts."""

    seq: int
    t: float
    who: str
    text: str
    undone: bool


class EventLog(msgspec.Struct, frozen=True):
    """The last events, oldest first, and the entry that an undo would remove: as text, and its action, if any."""

    lines: tuple[LogLine, ...] = ()
    undo: str = ""
    action: dict[str, Any] | None = None


def read_event_log(
    path: Path, game: str, teams: Mapping[str, str], language: str = "en", mark: int = 0, to: int | None = None
) -> EventLog:
    """Return the end of the journal at `path`, up to record `to`. Raises `JournalError`.

    `mark` is the batch that an undo takes back.
    """
    with file.journal_errors(path, "read"):
        db = file.open_read_only(path)
        try:
            (end,) = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()
            end = end if to is None else min(end, to)
            rows = list(file.rows(db, end, max(1, end - _LOOKED_AT + 1)))
        finally:
            db.close()
    try:
        records = [(row.batch, file.decode(row.body)) for row in rows]
    except JournalError as error:
        raise file.journal_error(path, "a record cannot be read") from error
    entries = lines(records, game, teams, language, rows[0].seq if rows else 1)
    marked = [fact for batch, fact in records if batch == mark]
    taken = list(_batch(list(enumerate(with_status([(mark, fact) for fact in marked]))), game, teams, language))
    done = next((fact for fact in reversed(marked) if isinstance(fact, facts.ActionPlayed)), None)
    undo = _sentence(done, game, teams, language) if done else taken[-1].text if taken else ""
    return EventLog(tuple(entries[-LAST:]), undo, dict(done.action) if done else None)


def lines(
    records: list[tuple[int, facts.Fact]], game: str, teams: Mapping[str, str], language: str = "en", first: int = 1
) -> list[LogLine]:
    """Return the lines of `records`, numbered from `first`."""
    out: list[LogLine] = []
    for _, batch in groupby(enumerate(with_status(records), first), key=lambda one: one[1].batch):
        out += _batch(list(batch), game, teams, language)
    return out


def _batch(records: list[tuple[int, Counted]], game: str, teams: Mapping[str, str], language: str) -> Iterator[LogLine]:
    text = catalogue(language).gettext
    called = next(
        ((seq, fact, counts) for seq, (_, fact, counts) in records if isinstance(fact, facts.CommandIssued)), None
    )
    silent = True
    for seq, (_, fact, counts) in records:
        sentence = _sentence(fact, game, teams, language)
        if sentence:
            by = str(getattr(fact, "by", ""))
            source = by if by in _BY else ""
            alone = "judge" if isinstance(fact, _BY_WORD) else "sensor"
            actor = source or ("table" if isinstance(fact, _OF_THE_TABLE) else alone)
            who = called[1].actor if called and source in ("", "judge") else text(_BY[actor])
            silent = False
            yield LogLine(seq, fact.t, who, sentence, not counts)
    if called is not None and silent:
        seq, fact, counts = called
        sentence = text(_CALLED.get(fact.call, key_to_words(fact.call)))
        yield LogLine(seq, fact.t, fact.actor, sentence, not counts)


def _format_action(game: str, action: Mapping[str, Any], teams: Mapping[str, str], language: str) -> str:
    """Return an action as text, or its notation if it has none."""
    return describe_action(game, action, teams, language) or format_action(game, action)


CAUSES: Mapping[ClosedBy, str] = {
    "forfeit": mark("{team} give up"),
    "disqualified": mark("{team} are disqualified"),
    "no_show": mark("{team} were not there when called"),
}


def _sentence(fact: facts.Fact, game: str, teams: Mapping[str, str], language: str) -> str:
    """Return a fact as a short sentence, "" if it need not be shown."""
    text = catalogue(language).gettext

    def with_reason(sentence: str, reason: str) -> str:
        return f"{sentence}: {strip_controls(reason)}" if reason else sentence

    match fact:
        case facts.GameOpened(after=after) if after:
            return text("A new game was started. The last one is saved: {file}").format(file=after)
        case facts.GameOpened():
            return text("The game was set up.")
        case facts.ActionPlayed(action=action, calls=calls):
            words = f" → {', '.join(map(key_to_words, calls))}" if calls else ""
            return _format_action(game, action, teams, language) + words
        case facts.FoulSeen(foul=foul, by=by):
            return text("A foul of the {by}: {foul}").format(by=by, foul=phrases.foul(foul, language))
        case facts.Question():
            asked = QuestionView(fact.about, (), fact.pads, fact.foul, against=fact.against)
            return text("Asked: {question}").format(question=phrases.question(asked, language, teams))
        case facts.Answer(answer=answer, by="clock"):
            return text("Not answered in time: {answer}").format(answer=phrases.choice(answer, language))
        case facts.Answer(answer=answer):
            return text("Answered: {answer}").format(answer=phrases.choice(answer, language))
        case facts.QuestionWithdrawn(why=about) | facts.Notice(about=about):
            return text(phrases.NOTICES.get(about, key_to_words(about)))
        case facts.GameClosed(by=by, cause=cause, reason=reason):
            sentence = text(CAUSES[cause]).format(team=isolate_name(teams.get(by, by)))
            return with_reason(sentence, reason)
        case facts.Commit(hide=hide):
            return text("Hide {hide} was sealed.").format(hide=hide)
        case facts.JudgedByEye():
            return text("Ready for hits; the judge enters what they find.")
        case facts.CommitmentWithdrawn(why=reason):
            return with_reason(text("The seal was withdrawn"), reason)
        case facts.HideAgain(why=reason):
            return with_reason(text("The hide starts over"), key_to_words(reason))
        case facts.StrikeFelt(pads=pads):
            return text("A hit on {pads}.").format(pads=phrases.join_pads(pads, language))
        case facts.StrikeKept(pads=pads):
            return text("A hit on {pads} while play stood.").format(pads=phrases.join_pads(pads, language))
        case facts.Reveal(hide=hide, pad=pad):
            return text("The seal of hide {hide} was opened: {pad}").format(hide=hide, pad=pad)
        case facts.BeadShown():
            return text("The bead was shown.")
        case facts.LinkSeen(up=up, why=reason):
            return with_reason(text("The mat is connected") if up else text("The mat is disconnected"), reason)
        case facts.SensorsSeen(faults=faults):
            return text("Faulty sensors: {n}").format(n=len(faults))
        case facts.SensorsUsed(on=on, reason=reason):
            return with_reason(text("Playing with the sensors") if on else text("Playing without the sensors"), reason)
        case facts.StateSet(reason=reason):
            return with_reason(text("The score was set by hand"), reason)
        case facts.ProtestMade(by=by, text=words):
            return with_reason(text("{team} protests").format(team=isolate_name(teams.get(by, by))), words)
        case facts.ProtestRuled(ruling=ruling, reason=reason):
            return with_reason(text("The protest: {ruling}").format(ruling=key_to_words(ruling).lower()), reason)
        case facts.ClockSet(running=running, reason=reason):
            return with_reason(text("The clock was started") if running else text("The clock was stopped"), reason)
        case facts.TeamsNamed(teams=named):
            both = {key: isolate_name(clean_name(named.get(team, ""))) for key, team in (("a", "A"), ("b", "B"))}
            return text("The teams are {a} and {b}").format(**both)
        case facts.MatchGiven(match=match):
            return text("A game of the tournament's match {match}").format(match=match)
        case facts.MatchVoid(why=reason):
            return (
                text(phrases.VOID_REASONS.get(reason, phrases.VOID_REASONS["changed"]))
                if reason
                else text("The match counts again.")
            )
        case facts.VoidClosed():
            return text("The game is closed: its match no longer counts.")
        case facts.RoundClock(left_s=left, running=running):
            said = (
                text("The round's clock is running, {left} left")
                if running
                else text("The round's clock is stopped at {left}")
            )
            return said.format(left=phrases.remaining(left, 0.0))
        case facts.Undone(reason=reason):
            return with_reason(text("Undone"), reason)
        case _:
            return ""
