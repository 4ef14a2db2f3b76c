"""Texts of judge's commands about the table itself, with who gave them: for a record and a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.wording import printable
from pi_controller.referee.facts import (
    ByEye,
    Called,
    ClockSet,
    Fact,
    GameClosed,
    MatchGiven,
    ProtestMade,
    ProtestRuled,
    RoundClock,
    SensorsUsed,
    StateSet,
    TeamsNamed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_RULINGS = {
    "upheld": "the protest is upheld",
    "denied": "the protest is denied",
    "play_on": "the protest is open still",
}
_CLOSED = {"forfeit": "gives up", "disqualified": "is disqualified", "no_show": "is not there when called"}


def who(called: Called) -> str:
    """Return the name and role of the caller: `Ann, judge`."""
    return ", ".join(filter(None, (called.actor, called.role)))


def of_table(fact: Fact, teams: Mapping[str, str], *, private: bool) -> str:
    """Return a fact about the table as a sentence, or nothing for a fact of another kind.

    The words of a protest are for the judges: without `private` they are left out.
    """
    match fact:
        case StateSet(reason=reason):
            sentence, why = "the table stands so", reason
        case SensorsUsed(on=on, reason=reason):
            sentence, why = f"play goes on {'with' if on else 'without'} what the mat feels", reason
        case ProtestMade(by=by, text=text):
            sentence, why = f"{_team(teams, by)} protests, play stands", text if private else ""
        case ProtestRuled(ruling=ruling, reason=reason):
            sentence, why = f"{_RULINGS[ruling]}, play goes on", reason
        case ClockSet(running=running, reason=reason):
            sentence, why = f"the clock {'runs on' if running else 'is stopped'}", reason
        case GameClosed(by=by, cause=cause, reason=reason):
            sentence, why = f"{_team(teams, by) if by in ('A', 'B') else by} {_CLOSED[cause]}", reason
        case TeamsNamed(teams=named):
            sentence, why = f"the teams are {_team(named, 'A')} and {_team(named, 'B')}", ""
        case MatchGiven(match=match):
            sentence, why = f"match {printable(match)} of a tournament", ""
        case RoundClock(left_s=left, running=running):
            minutes, seconds = divmod(round(left), 60)
            sentence = f"the round's clock {'runs' if running else 'stands'}, {minutes}:{seconds:02} to go"
            why = ""
        case ByEye():
            sentence, why = "played by eye: the judge says what is found", ""
        case _:
            return ""
    return f"{sentence}: {why}" if why else sentence


def _team(teams: Mapping[str, str], team: str) -> str:
    name = teams.get(team, "")
    return f"{name} ({team})" if name not in ("", team) else f"team {team}"
