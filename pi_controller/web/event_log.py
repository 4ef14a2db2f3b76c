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
from pi_controller.display.game_display import get_show, key_to_words
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import clean_name, isolate_name
from pi_controller.errors import JournalError
from pi_controller.journal import file
from pi_controller.record.notation import format_action
from pi_controller.referee import facts
from pi_controller.referee.history import Counted, with_status
from pi_controller.referee.judge import ClosedBy
from pi_controller.table.view import QuestionView
from pi_controller.text import mark, strip_controls

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
    | facts.WallClockSet
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


CAUSES: Mapping[ClosedBy, str] = {
    "forfeit": mark("{team} give up"),
    "disqualified": mark("{team} are disqualified"),
    "no_show": mark("{team} were not there when called"),
}


def read_event_log(
    path: Path, game: str, teams: Mapping[str, str], tr: Translator, mark: int = 0, to: int | None = None
) -> EventLog:
    """Return the end of the journal at `path`, up to record `to`. Raises `JournalError`.

    `mark` is the batch that an undo takes back.
    """
    with file.journal_errors(path, "it cannot be read"):
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
    writer = LogWriter(game, teams, tr)
    entries = writer.lines(records, rows[0].seq if rows else 1)
    marked = [fact for batch, fact in records if batch == mark]
    taken = list(writer.batch(list(enumerate(with_status([(mark, fact) for fact in marked])))))
    done = next((fact for fact in reversed(marked) if isinstance(fact, facts.ActionPlayed)), None)
    undo = writer.sentence(done) if done else taken[-1].text if taken else ""
    return EventLog(tuple(entries[-LAST:]), undo, dict(done.action) if done else None)


class LogWriter:
    """Writes facts of a `game` between `teams` as sentences in the language of `tr`."""

    def __init__(self, game: str, teams: Mapping[str, str], tr: Translator) -> None:
        self._teams, self._tr = teams, tr
        self._show, self._say = get_show(game, tr), Phrases(tr)

    def lines(self, records: list[tuple[int, facts.Fact]], first: int = 1) -> list[LogLine]:
        """Return the lines of `records`, numbered from `first`."""
        out: list[LogLine] = []
        for _, batch in groupby(enumerate(with_status(records), first), key=lambda one: one[1].batch):
            out += self.batch(list(batch))
        return out

    def batch(self, records: list[tuple[int, Counted]]) -> Iterator[LogLine]:
        """Yield the lines of the facts of one batch, by their numbers."""
        called = next(
            ((seq, fact, counts) for seq, (_, fact, counts) in records if isinstance(fact, facts.CommandIssued)), None
        )
        silent = True
        for seq, (_, fact, counts) in records:
            sentence = self.sentence(fact)
            if sentence:
                by = str(getattr(fact, "by", ""))
                source = by if by in _BY else ""
                alone = "judge" if isinstance(fact, _BY_WORD) else "sensor"
                actor = source or ("table" if isinstance(fact, _OF_THE_TABLE) else alone)
                who = called[1].actor if called and source in ("", "judge") else self._tr.text(_BY[actor])
                silent = False
                yield LogLine(seq, fact.t, who, sentence, not counts)
        if called is not None and silent:
            seq, fact, counts = called
            sentence = self._tr.text(_CALLED.get(fact.call, key_to_words(fact.call)))
            yield LogLine(seq, fact.t, fact.actor, sentence, not counts)

    def sentence(self, fact: facts.Fact) -> str:
        """Return a fact as a short sentence, "" if it need not be shown."""

        def with_reason(sentence: str, reason: str) -> str:
            return f"{sentence}: {strip_controls(reason)}" if reason else sentence

        match fact:
            case facts.GameOpened(after=after) if after:
                return self._tr.text("A new game was started. The last one is saved: {file}", file=after)
            case facts.GameOpened():
                return self._tr.text("The game was set up.")
            case facts.ActionPlayed(action=action, calls=calls):
                words = f" → {', '.join(map(key_to_words, calls))}" if calls else ""
                return (
                    self._show.describe_action(action, self._teams) or format_action(self._show.game, action)
                ) + words
            case facts.FoulSeen(foul=foul, by=by):
                return self._tr.text("A foul of the {by}: {foul}", by=by, foul=self._say.foul(foul))
            case facts.Question():
                asked = QuestionView(fact.about, (), fact.pads, fact.foul, against=fact.against)
                return self._tr.text("Asked: {question}", question=self._say.question(asked, self._teams))
            case facts.Answer(answer=answer, by="clock"):
                return self._tr.text("Not answered in time: {answer}", answer=self._say.choice(answer))
            case facts.Answer(answer=answer, by="habit"):
                return self._tr.text("Answered as before: {answer}", answer=self._say.choice(answer))
            case facts.Answer(answer=answer):
                return self._tr.text("Answered: {answer}", answer=self._say.choice(answer))
            case facts.QuestionWithdrawn(why=about) | facts.Notice(about=about):
                return self._tr.text(phrases.NOTICES.get(about, key_to_words(about)))
            case facts.GameClosed(by=by, cause=cause, reason=reason):
                sentence = self._tr.text(CAUSES[cause], team=isolate_name(self._teams.get(by, by)))
                return with_reason(sentence, reason)
            case facts.Commit(hide=hide):
                return self._tr.text("Hide {hide} was sealed.", hide=hide)
            case facts.JudgedByEye():
                return self._tr.text("Ready for hits; the judge enters what they find.")
            case facts.CommitmentWithdrawn(why=reason):
                return with_reason(self._tr.text("The seal was withdrawn"), reason)
            case facts.HideAgain(why=reason):
                return with_reason(self._tr.text("The hide starts over"), key_to_words(reason))
            case facts.StrikeFelt(pads=pads):
                return self._tr.text("A hit on {pads}.", pads=self._say.join_pads(pads))
            case facts.StrikeKept(pads=pads):
                return self._tr.text("A hit on {pads} while play stood.", pads=self._say.join_pads(pads))
            case facts.Reveal(hide=hide, pad=pad):
                return self._tr.text("The seal of hide {hide} was opened: {pad}", hide=hide, pad=pad)
            case facts.BeadShown():
                return self._tr.text("The bead was shown.")
            case facts.LinkSeen(up=up, why=reason):
                return with_reason(
                    self._tr.text("The mat is connected") if up else self._tr.text("The mat is disconnected"), reason
                )
            case facts.SensorsSeen(faults=faults):
                return self._tr.text("Faulty sensors: {n}", n=len(faults))
            case facts.SensorsUsed(on=on, reason=reason):
                return with_reason(
                    self._tr.text("Playing with the sensors") if on else self._tr.text("Playing without the sensors"),
                    reason,
                )
            case facts.StateSet(reason=reason):
                return with_reason(self._tr.text("The score was set by hand"), reason)
            case facts.ProtestMade(by=by, text=words):
                return with_reason(self._tr.text("{team} protests", team=isolate_name(self._teams.get(by, by))), words)
            case facts.ProtestRuled(ruling=ruling, reason=reason):
                return with_reason(self._tr.text("The protest: {ruling}", ruling=key_to_words(ruling).lower()), reason)
            case facts.ClockSet(running=running, reason=reason):
                return with_reason(
                    self._tr.text("The clock was started") if running else self._tr.text("The clock was stopped"),
                    reason,
                )
            case facts.TeamsNamed(teams=named):
                both = {key: isolate_name(clean_name(named.get(team, ""))) for key, team in (("a", "A"), ("b", "B"))}
                return self._tr.text("The teams are {a} and {b}", **both)
            case facts.MatchGiven():
                return self._tr.text("A game of the tournament")
            case facts.MatchVoid(why=reason):
                return (
                    self._tr.text(phrases.VOID_REASONS.get(reason, phrases.VOID_REASONS["changed"]))
                    if reason
                    else self._tr.text("The match counts again.")
                )
            case facts.VoidClosed():
                return self._tr.text("The game is closed: its match no longer counts.")
            case facts.RoundClock(left_s=left_s, running=running):
                left = phrases.remaining(left_s, 0.0)
                if running:
                    return self._tr.text("The round's clock is running, {left} left", left=left)
                return self._tr.text("The round's clock is stopped at {left}", left=left)
            case facts.WallClockSet(by_s=by_s):
                return phrases.describe_clock_set(by_s, self._tr)
            case facts.Undone(reason=reason):
                return with_reason(self._tr.text("Undone"), reason)
            case _:
                return ""
