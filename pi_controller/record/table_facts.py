"""Texts of the judge's commands about the table, and the name of their author, for a record and a replay."""

from __future__ import annotations

from collections.abc import Mapping

from pi_controller.referee import facts
from pi_controller.text import strip_controls

_RULINGS = {
    "upheld": "the protest is upheld",
    "denied": "the protest is denied",
    "play_on": "the protest is open still",
}
_CLOSED = {"forfeit": "gives up", "disqualified": "is disqualified", "no_show": "is not there when called"}


def format_words(name: str) -> str:
    """Return a name of the program, such as a foul's, in words."""
    return name.replace("_", " ")


def format_answer(asked: facts.Question | None, answer: facts.Answer) -> str:
    """Return an answer in words, with what the question `asked` was about if it is known."""
    about, details = format_words((asked or answer).about), ""
    if asked is not None:
        details = format_words(asked.foul) if asked.foul else ", ".join(f"pad {pad}" for pad in asked.pads)
    return (
        f"{about} ({details}): {format_words(answer.answer)}" if details else f"{about}: {format_words(answer.answer)}"
    )


def format_caller(called: facts.CommandIssued) -> str:
    """Return the name and role of the author: `Ann, judge`."""
    return ", ".join(filter(None, (called.actor, called.role)))


def format_table_fact(fact: facts.Fact, teams: Mapping[str, str], *, private: bool) -> str:
    """Return a fact about the table as a sentence, or "" for a fact of another kind.

    The text of a protest is for the judges only: it is left out unless `private`.
    """
    match fact:
        case facts.StateSet(reason=reason):
            sentence, why = "the table stands so", reason
        case facts.SensorsUsed(on=on, reason=reason):
            sentence, why = f"play goes on {'with' if on else 'without'} what the mat feels", reason
        case facts.ProtestMade(by=by, text=text):
            sentence, why = f"{_team(teams, by)} protests, play stands", text if private else ""
        case facts.ProtestRuled(ruling=ruling, reason=reason):
            sentence, why = f"{_RULINGS[ruling]}, play goes on", reason
        case facts.ClockSet(running=running, reason=reason):
            sentence, why = f"the clock {'runs on' if running else 'is stopped'}", reason
        case facts.GameClosed(by=by, cause=cause, reason=reason):
            sentence, why = f"{_team(teams, by) if by in ('A', 'B') else by} {_CLOSED[cause]}", reason
        case facts.TeamsNamed(teams=named):
            sentence, why = f"the teams are {_team(named, 'A')} and {_team(named, 'B')}", ""
        case facts.MatchGiven(match=match):
            sentence, why = f"match {strip_controls(match)} of a tournament", ""
        case facts.MatchVoid(why=reason):
            sentence, why = "the match no longer counts" if reason else "the match counts again", ""
        case facts.VoidClosed():
            sentence, why = "the game is closed: its match no longer counts", ""
        case facts.RoundClock(left_s=left, running=running):
            minutes, seconds = divmod(round(left), 60)
            sentence = f"the round's clock {'runs' if running else 'stands'}, {minutes}:{seconds:02} to go"
            why = ""
        case facts.WallClockSet(by_s=by_s):
            way = "forward" if by_s > 0 else "back"
            sentence, why = f"the machine's clock was set {way} by {abs(by_s):.0f} s, the game's goes on", ""
        case facts.JudgedByEye():
            sentence, why = "played by eye: the judge says what is found", ""
        case _:
            return ""
    return f"{sentence}: {why}" if why else sentence


def _team(teams: Mapping[str, str], team: str) -> str:
    name = teams.get(team, "")
    return f"{name} ({team})" if name not in ("", team) else f"team {team}"
