"""Event log for the judges: the last events of the journal as short sentences, with time, actor and undos.

Read from the end of the journal, which another thread goes on writing. Nothing here is of a bead that is not shown: no
fact is (`referee.facts`).
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.games.wording import printable
from pi_controller.record.notation import current, spoken
from pi_controller.referee.facts import (
    Answer,
    ByEye,
    Called,
    ClockSet,
    Commit,
    Done,
    Fact,
    FoulSeen,
    GameClosed,
    HideAgain,
    LinkSeen,
    MatchGiven,
    Notice,
    Opened,
    ProtestMade,
    ProtestRuled,
    Question,
    Reveal,
    RoundClock,
    SensorsSeen,
    SensorsUsed,
    Shown,
    StateSet,
    Struck,
    TeamsNamed,
    Undone,
    Void,
    Withdrawn,
)
from pi_controller.referee.history import counted
from pi_controller.show import phrases
from pi_controller.show.game_show import played
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.names import clean, inline
from pi_controller.show.words import plain
from pi_controller.table import journal_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pi_controller.referee.history import Counted
    from pi_controller.referee.judge import ClosedBy

LAST = 20
_LOOKED_AT = 400
"""Records read from the journal's end: a hide has a dozen or two."""
_BY: Mapping[str, str] = {
    "sensor": mark("the mat"),
    "judge": mark("the judge"),
    "clock": mark("the clock"),
    "restart": mark("the restart"),
    "table": mark("the table"),
}
_BY_WORD = GameClosed | StateSet | SensorsUsed | ProtestMade | ProtestRuled | ClockSet | TeamsNamed
"""What somebody enters; from the terminal without a name."""
_OF_THE_TABLE = Opened | MatchGiven | RoundClock | Commit | Void | Reveal
_CALLED: Mapping[str, str] = {"hidden": mark("The hiders are ready."), "answer": mark("An answer.")}


class Line(msgspec.Struct, frozen=True):
    """One thing that happened: at `t` (table clock, s), by `who`, in words; `undone`: it no longer counts."""

    seq: int
    t: float
    who: str
    text: str
    undone: bool


class EventLog(msgspec.Struct, frozen=True):
    """The last things, oldest first; what an undo would take back, in words, and the action in it, if there is one."""

    lines: tuple[Line, ...] = ()
    undo: str = ""
    action: dict[str, Any] | None = None


def kept(
    path: Path, game: str, teams: Mapping[str, str], language: str = "en", mark: int = 0, to: int | None = None
) -> EventLog:
    """Return the end of the journal at `path`, up to record `to`; raises `JournalError`.

    `mark` is the batch that an undo takes back.
    """
    with journal_file.journal_errors(path, "read"):
        db = journal_file.look(path)
        try:
            (end,) = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()
            end = end if to is None else min(end, to)
            version = journal_file.identity(db).version
            rows = list(journal_file.rows(db, version, end, max(1, end - _LOOKED_AT + 1)))
        finally:
            db.close()
    try:
        records = [(row.batch, journal_file.decode(row.body)) for row in rows]
    except msgspec.MsgspecError as error:
        raise journal_file.wrong(path, "a record cannot be read") from error
    entries = lines(records, game, teams, language, rows[0].seq if rows else 1)
    marked = [fact for batch, fact in records if batch == mark]
    taken = list(_batch(list(enumerate(counted([(mark, fact) for fact in marked]))), game, teams, language))
    done = next((fact for fact in reversed(marked) if isinstance(fact, Done)), None)
    undo = _sentence(done, game, teams, language) if done else taken[-1].text if taken else ""
    return EventLog(tuple(entries[-LAST:]), undo, current(game, done.action) if done else None)


def lines(
    records: list[tuple[int, Fact]], game: str, teams: Mapping[str, str], language: str = "en", first: int = 1
) -> list[Line]:
    """Return the lines of `records`, each with its number from `first` on."""
    out: list[Line] = []
    for _, batch in groupby(enumerate(counted(records), first), key=lambda one: one[1].batch):
        out += _batch(list(batch), game, teams, language)
    return out


def _batch(records: list[tuple[int, Counted]], game: str, teams: Mapping[str, str], language: str) -> Iterator[Line]:
    """Yield the lines of one batch's numbered records."""
    text = catalogue(language).gettext
    called = next(((seq, fact, counts) for seq, (_, fact, counts) in records if isinstance(fact, Called)), None)
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
            yield Line(seq, fact.t, who, sentence, not counts)
    if called is not None and silent:
        seq, fact, counts = called
        sentence = text(_CALLED.get(fact.call, plain(fact.call)))
        yield Line(seq, fact.t, fact.actor, sentence, not counts)


def _played(game: str, action: Mapping[str, Any], teams: Mapping[str, str], language: str) -> str:
    """Return an action in plain words; one that has none as the record writes it."""
    return played(game, current(game, action), teams, language) or spoken(game, action)


CAUSES: Mapping[ClosedBy, str] = {
    "forfeit": mark("{team} give up"),
    "disqualified": mark("{team} are disqualified"),
    "no_show": mark("{team} were not there when called"),
}


def _sentence(fact: Fact, game: str, teams: Mapping[str, str], language: str) -> str:
    """Return a fact in a short sentence, nothing where it goes without saying."""
    text = catalogue(language).gettext

    def why(sentence: str, reason: str) -> str:
        return f"{sentence}: {printable(reason)}" if reason else sentence

    match fact:
        case Opened(after=after) if after:
            return text("Another game was begun. The one before is kept: {file}").format(file=after)
        case Opened():
            return text("The game was set up.")
        case Done(action=action, calls=calls):
            words = f" → {', '.join(map(plain, calls))}" if calls else ""
            return _played(game, action, teams, language) + words
        case FoulSeen(foul=foul, by=by):
            return text("A foul of the {by}: {foul}").format(by=by, foul=phrases.foul(foul, language))
        case Question(about=about):
            return text("Asked: {question}").format(question=text(phrases.QUESTIONS.get(about, plain(about))))
        case Answer(answer=answer, by="clock"):
            return text("Nobody answered: {answer}").format(answer=phrases.choice(answer, language))
        case Answer(answer=answer):
            return text("Answered: {answer}").format(answer=phrases.choice(answer, language))
        case Withdrawn(why=about) | Notice(about=about):
            return text(phrases.NOTICES.get(about, plain(about)))
        case GameClosed(by=by, cause=cause, reason=reason):
            sentence = text(CAUSES[cause]).format(team=inline(teams.get(by, by)))
            return why(sentence, reason)
        case Commit(hide=hide):
            return text("Hide {hide} is sealed.").format(hide=hide)
        case ByEye():
            return text("The hits may come; the judge says what they find.")
        case Void(why=reason):
            return why(text("The seal is withdrawn"), reason)
        case HideAgain(why=reason):
            return why(text("The hide starts over"), plain(reason))
        case Struck(pads=pads):
            return text("A stroke on {pads}.").format(pads=phrases.listed(pads, language))
        case Reveal(hide=hide, pad=pad):
            return text("Hide {hide} is opened: {pad}").format(hide=hide, pad=pad)
        case Shown():
            return text("The bead was shown.")
        case LinkSeen(up=up, why=reason):
            return why(text("The board is there") if up else text("The board is gone"), reason)
        case SensorsSeen(faults=faults):
            return text("Sensors that cannot be believed: {n}").format(n=len(faults))
        case SensorsUsed(on=on, reason=reason):
            return why(text("Play goes by the mat") if on else text("Play goes on without the mat"), reason)
        case StateSet(reason=reason):
            return why(text("The table was set"), reason)
        case ProtestMade(by=by, text=words):
            return why(text("{team} protests").format(team=inline(teams.get(by, by))), words)
        case ProtestRuled(ruling=ruling, reason=reason):
            return why(text("The protest: {ruling}").format(ruling=plain(ruling).lower()), reason)
        case ClockSet(running=running, reason=reason):
            return why(text("The clock runs") if running else text("The clock is stopped"), reason)
        case TeamsNamed(teams=named):
            both = {key: inline(clean(named.get(team, ""))) for key, team in (("a", "A"), ("b", "B"))}
            return text("The teams are {a} and {b}").format(**both)
        case MatchGiven(match=match):
            return text("A game of the tournament's match {match}").format(match=match)
        case RoundClock(left_s=left, running=running):
            said = (
                text("The round's clock runs, {left} to go") if running else text("The round's clock stands at {left}")
            )
            return said.format(left=phrases.remaining(left, 0.0))
        case Undone(reason=reason):
            return why(text("Taken back"), reason)
        case _:
            return ""
