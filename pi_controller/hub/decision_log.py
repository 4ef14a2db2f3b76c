"""The log of a tournament's decisions: each as a sentence, with the names of teams and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import Translator
from pi_controller.text import join_words, mark
from pi_controller.tournament import decisions as d
from pi_controller.tournament.actions import Then
from pi_controller.tournament.competition import Pairing
from pi_controller.tournament.director import Tournament
from pi_controller.web.bracket_page import name_match

if TYPE_CHECKING:
    from pi_controller.hub.director import Director

DAY_FORM = "%Y-%m-%d %H:%M"
LOG = 30
"""Maximum decisions in the console's log."""
LATER_MATCH_CHOICES: Sequence[tuple[Then, str]] = (
    ("replay", mark("play them again")),
    ("keep", mark("keep their results")),
)
"""What a correction does with later matches that have begun: `competition.Then` and the label on the page."""
DAY_CHOICES: Sequence[tuple[str, str, Sequence[tuple[str, str]]]] = (
    (
        "results",
        mark("Results from tables"),
        (
            ("confirm", mark("wait until the director confirms them")),
            ("at_once", mark("count immediately")),
        ),
    ),
    (
        "calling",
        mark("Assigning tables"),
        (
            ("automatic", mark("automatically, when a table is free")),
            ("director", mark("by the director")),
        ),
    ),
    (
        "judges",
        mark("Judges"),
        (
            ("tables", mark("each table finds its own")),
            ("hub", mark("each match gets one of the judges named here")),
        ),
    ),
)
"""The settings that can change during the day: the field of `SettingsChanged`, its label, each value with its label."""
DAY_MINUTES: Sequence[tuple[str, str]] = (
    ("rest_s", mark("Minutes of rest between two matches of a team")),
    ("grace_s", mark("Minutes to reach the table after a call (0: no limit)")),
)
"""The same of those in minutes."""
MAX_SENTENCE_CHARS = 600
"""Maximum characters of a decision in the log; a reason may be of any length."""
_SENTENCES: Mapping[type, str | tuple[str, str]] = {
    d.Planned: mark("Tournament planned: {title}, {game}."),
    d.SettingsChanged: mark("Settings changed: {changes}."),
    d.Entered: mark("Teams entered: {teams}."),
    d.Scratched: mark("{team} removed."),
    d.TeamsDrawn: (mark("Teams placed by hand."), mark("Teams drawn by the seed {seed}.")),
    d.TeamAdded: mark("Late team: {team} takes a bye of the first round."),
    d.TeamRenamed: mark("{team} is called {name} from now on."),
    d.Appointed: mark("Judges: {judges}."),
    d.Dismissed: mark("{judge} is no longer a judge."),
    d.TableUsed: (mark("{table} gets no matches."), mark("{table} gets matches again.")),
    d.Assigned: mark("{match}, {first} against {second}: called to {table}."),
    d.Recalled: mark("{match}: recalled from {table}."),
    d.Moved: mark("{match}, {first} against {second}: moved from {before} to {table}."),
    d.MatchStarted: mark("{match}: begun at {table}."),
    d.Reported: mark("{match}: {winner} beat {other} at {table}. The result is pending."),
    d.Retracted: mark("{match}: {table} took its result back."),
    d.Confirmed: mark("{match}: {winner} beats {other}. The result of {table} counts."),
    d.Rejected: mark("{match}: the result of {table} does not count."),
    d.Result: mark("{match}: {winner} beats {other}. Entered by hand."),
    d.TieEntered: mark("{match}: neither {first} nor {second} wins."),
    d.MatchClockSet: (mark("Clock of round {round} stopped."), mark("Clock of round {round} started.")),
    d.Corrected: mark("{match}, corrected: {winner} beats {other}.{then}"),
    d.Replayed: mark("{match}, {first} against {second}, is played again: its result is void."),
    d.Forfeited: mark("{match}: {team} loses it and stays in the tournament."),
    d.TeamWithdrawn: mark("{team} is out of the tournament."),
    d.Reinstated: mark("{team} is back in the tournament."),
    d.PlayerAbsent: mark("{player} does not play."),
    d.PlayerReturned: mark("{player} can play again."),
    d.Protested: mark("{match}: {team} protests: {text}"),
    d.ProtestDecided: mark("{match}, protest of {team}: {ruling}."),
    d.BreakPlanned: mark("Break from {begins} to {ends}."),
    d.BreakCancelled: mark("Break cancelled: {begins} to {ends}."),
    d.MachineClockSet: mark("The machine's clock was set: breaks keep their time of day."),
    d.CheckedIn: (mark("{team} is not checked in."), mark("{team} is checked in.")),
    d.Pronounced: (mark("How {team} is said: removed."), mark("How {team} is said: {said}.")),
    d.Announced: (mark("Announcement removed."), mark("Announcement: {text}")),
    d.StreamTableChosen: (mark("The stream shows no table."), mark("The stream shows {table}.")),
}
"""The sentence for each type of decision. Of two sentences the second is used if the field in `_SWITCHES` is set."""
_SWITCHES: Mapping[type, str] = {
    d.TeamsDrawn: "seed", d.TableUsed: "on", d.MatchClockSet: "running", d.Announced: "text",
    d.StreamTableChosen: "table", d.CheckedIn: "here", d.Pronounced: "said",
}  # fmt: skip
_REASONS: Mapping[str, str] = {
    "withdrawn": mark("withdrawn"),
    "no_show": mark("did not come"),
    "disqualified": mark("disqualified"),
    "absent": mark("not there"),
    "left": mark("has left"),
}


class _SentenceValues(dict[str, str]):
    """Values for a sentence template; a missing value becomes a question mark."""

    def __missing__(self, key: str) -> str:
        return "?"


def _with_reason(sentence: str, reason: str, tr: Translator) -> str:
    return f"{sentence.removesuffix('.')} ({tr.text(_REASONS.get(reason, reason))})." if reason else sentence


class DecisionLog:
    """Describes the decisions of `director` in the language of `tr`.

    `table_name` returns a table's name by its id, `format_time` a time of the hub's clock as text.
    """

    def __init__(
        self,
        director: Director,
        table_name: Callable[[str], str],
        tr: Translator,
        format_time: Callable[[float | None, str], str],
    ) -> None:
        self._director, self._table_name, self._tr = director, table_name, tr
        self._format_time = format_time

    def newest(self) -> list[d.Decision]:
        """Return the last decisions, newest first, without matches that a table refused or did not answer."""
        found: list[d.Decision] = []
        refused: set[str] = set()
        for one in reversed(self._director.history.decisions):
            if one.actor == d.HUB and isinstance(one.fact, d.Recalled):
                refused.add(one.fact.match)
            elif one.actor == d.HUB and isinstance(one.fact, d.Assigned) and one.fact.match in refused:
                refused.discard(one.fact.match)
            else:
                found.append(one)
            if len(found) == LOG:
                break
        return found

    def describe(self, decision: d.Decision) -> str:
        """Return a decision as a sentence for the tournament's committee, with the names of teams and tables."""
        fact = decision.fact
        if isinstance(fact, d.DecisionUndone):
            all_ = self._director.history.decisions
            said = " ".join(self.describe(all_[seq - 1]) for seq in fact.taken_back if seq <= len(all_))
            return _with_reason(self._tr.text("Undone: {what}", what=said[:MAX_SENTENCE_CHARS]), fact.reason, self._tr)
        before = self._director.history.tournament_before(decision.seq)
        template = _SENTENCES[type(fact)]
        if isinstance(template, tuple):
            template = template[bool(getattr(fact, _SWITCHES[type(fact)]))]
        told = _SentenceValues(self._values(fact, before))
        return _with_reason(
            self._tr.text(template).format_map(told)[:MAX_SENTENCE_CHARS],
            getattr(fact, "why" if hasattr(fact, "why") else "reason", ""),
            self._tr,
        )

    def _values(self, fact: d.Fact, before: Tournament) -> dict[str, str]:
        """Return the values for the sentence of a decision."""
        values = {field: str(getattr(fact, field)) for field in fact.__struct_fields__}
        match = values.get("match", "")
        report = before.reports.get(values.get("order", ""))
        if report is not None:
            match, values["winner"], values["table"] = report.fact.match, report.fact.winner, report.fact.table
        call = before.calls.get(match)
        if call is not None:
            values.setdefault("table", call.table)
            values["before"] = self._table_name(call.table)
        teams: tuple[str | None, ...] = call.teams if call is not None else ()
        pairing = _find_pairing(before, match)
        first, second = (*(team or "?" for team in (pairing.teams if pairing else teams)), "?", "?")[:2]
        values |= {"match": self._name_match(before, match), "first": first, "second": second}
        if "winner" in values:
            values["other"] = second if values["winner"] == first else first
        if "table" in values:
            values["table"] = self._table_name(values["table"])
        match fact:
            case d.Planned(game=game):
                values["game"] = get_show(game, self._tr).name
            case d.SettingsChanged():
                values["changes"] = "; ".join(self._describe_settings(fact))
            case d.Entered(teams=entered):
                values["teams"] = join_words(team.name for team in entered)
            case d.TeamAdded(team=entry):
                values["team"] = entry.name
            case d.BreakPlanned(begins=begins, ends=ends):
                values |= {"begins": self._format_time(begins, "%H:%M"), "ends": self._format_time(ends, "%H:%M")}
            case d.BreakCancelled(number=number):
                gone = next((one for one in before.breaks if one.number == number), None)
                values["begins"] = self._format_time(gone.begins if gone else None, "%H:%M")
                values["ends"] = self._format_time(gone.ends if gone else None, "%H:%M")
            case d.Appointed(judges=judges):
                values["judges"] = join_words(judges)
            case d.ProtestDecided(protest=number):
                held = next((one for one in before.protests if one.number == number), None)
                values |= {
                    "team": held.team if held else "?",
                    "match": self._name_match(before, held.match if held else ""),
                }
            case d.Corrected(then=then):
                values["then"] = (
                    f" {self._tr.text('Later matches')}: {self._tr.text(dict(LATER_MATCH_CHOICES)[then])}."
                    if then
                    else ""
                )
            case _:
                pass
        return values

    def _name_match(self, before: Tournament, match: str) -> str:
        pairing = _find_pairing(before, match)
        return "?" if pairing is None else name_match(before.competition, pairing, self._tr)

    def _describe_settings(self, fact: d.SettingsChanged) -> list[str]:
        """Return each changed setting with its new value, as text."""
        found = [
            f"{self._tr.text(label)}: {self._tr.text(dict(choices)[value])}"
            for field, label, choices in DAY_CHOICES
            if (value := getattr(fact, field)) is not None
        ]
        minutes = ((self._tr.text(label), getattr(fact, field)) for field, label in DAY_MINUTES)
        return found + [f"{label}: {seconds / 60:g}" for label, seconds in minutes if seconds is not None]


def _find_pairing(now: Tournament, match: str) -> Pairing | None:
    return next((one for one in now.pairings if one.id == match), None)


def format_time(t: float | None, form: str = "%H:%M:%S") -> str:
    """Return `t`, s since 1970, as local time; "" for None."""
    return "" if t is None else f"{datetime.fromtimestamp(t).astimezone():{form}}"
