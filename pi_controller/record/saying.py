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
    """Return who said it: `Ann, judge`."""
    return ", ".join(filter(None, (called.actor, called.role)))


def of_table(fact: Fact, teams: Mapping[str, str], *, private: bool) -> str:
    """Return what a fact says of the table, or nothing for one that says nothing of it.

    The words of a protest are for the judges: they are told where that is `private`, and left out of what anyone reads.
    """
    match fact:
        case StateSet(reason=reason):
            said, why = "the table stands so", reason
        case SensorsUsed(on=on, reason=reason):
            said, why = f"play goes on {'with' if on else 'without'} what the mat feels", reason
        case ProtestMade(by=by, text=text):
            said, why = f"{_team(teams, by)} protests, play stands", text if private else ""
        case ProtestRuled(ruling=ruling, reason=reason):
            said, why = f"{_RULINGS[ruling]}, play goes on", reason
        case ClockSet(running=running, reason=reason):
            said, why = f"the clock {'runs on' if running else 'is stopped'}", reason
        case GameClosed(by=by, cause=cause, reason=reason):
            said, why = f"{_team(teams, by) if by in ('A', 'B') else by} {_CLOSED[cause]}", reason
        case TeamsNamed(teams=named):
            said, why = f"the teams are {_team(named, 'A')} and {_team(named, 'B')}", ""
        case MatchGiven(match=match):
            said, why = f"match {printable(match)} of a tournament", ""
        case ByEye():
            said, why = "played by eye: the judge says what is found", ""
        case _:
            return ""
    return f"{said}: {why}" if why else said


def _team(teams: Mapping[str, str], team: str) -> str:
    name = teams.get(team, "")
    return f"{name} ({team})" if name not in ("", team) else f"team {team}"
