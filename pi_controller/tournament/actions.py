"""Actions of a tournament, `{"do": "result", ...}`, decoded strictly; most are also decisions of the director."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pi_controller.rules.base import InvalidActionError

MAX_TEXT_CHARS = 400
WithdrawalReason = Literal["withdrawn", "disqualified", "no_show"]
Then = Literal["replay", "keep"]
Finish = Literal["king_moved", "forfeit"]
"""How a game ended that was not decided by play: the king was moved too early (Lahal), or a team gave up."""
Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
Name = Annotated[str, Meta(max_length=10_000)]
"""A name, which `parse_names` checks with plain error messages."""
Word = Annotated[str, Meta(max_length=80)]
Sticks = dict[str, Annotated[int, Meta(ge=0, le=10_000)]]
"""Sticks by team."""


class TournamentAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="do"):
    """An action or a decision; the tag of its class is the word in `do`."""


class EnterTeams(TournamentAction, frozen=True, tag="enter"):
    """Enter the teams by their seeds, or with the seed `draw` of a drawing in any order."""

    teams: tuple[Name, ...]
    draw: Annotated[str, Meta(max_length=200)] = ""


class AddTeam(TournamentAction, frozen=True, tag="add"):
    """A late team takes a bye of the first round, if no match that depends on that bye has begun."""

    team: Name


class TeamRenamed(TournamentAction, frozen=True, tag="rename"):
    """Call a team by another name from now on."""

    team: Name
    name: Name


class MatchStarted(TournamentAction, frozen=True, tag="begin"):
    """The first action of a match was played, so that a match it depends on cannot be changed unnoticed."""

    match: Word


class Result(TournamentAction, frozen=True, tag="result"):
    """Enter the result of a game from the captains' slip."""

    match: Word
    winner: Name
    sweep: bool = False
    sticks: Sticks = {}
    finish: Finish | None = None


class TieEntered(TournamentAction, frozen=True, tag="tie"):
    """Enter a tie: the time of the round was up before the duo was decided (Lahal, tournament)."""

    match: Word


class Corrected(TournamentAction, frozen=True, tag="correct"):
    """Correct a result; `game` is its number in the match, by default the last.

    If a dependent match has begun the director chooses `then`: `replay` (all those are played again) or `keep` (all
    results stay, and the correction is only noted).
    """

    match: Word
    winner: Name
    sweep: bool = False
    sticks: Sticks = {}
    finish: Finish | None = None
    game: int | None = None
    then: Then | None = None


class Replayed(TournamentAction, frozen=True, tag="replay"):
    """Play a match again: its result, and those of all matches that depend on it, are void."""

    match: Word
    why: Text = ""


class Forfeited(TournamentAction, frozen=True, tag="forfeit"):
    """A team loses a match, and stays in the tournament; if both teams do, nobody wins."""

    match: Word
    team: Name
    why: Text = ""


class TeamWithdrawn(TournamentAction, frozen=True, tag="withdraw"):
    """Withdraw a team."""

    team: Name
    why: WithdrawalReason = "withdrawn"


class Reinstated(TournamentAction, frozen=True, tag="reinstate"):
    """Reinstate a withdrawn team, before a match that depends on its withdrawal has begun."""

    team: Name
    why: Text = ""


PlayAction = (
    EnterTeams
    | AddTeam
    | TeamRenamed
    | MatchStarted
    | Result
    | TieEntered
    | Corrected
    | Replayed
    | Forfeited
    | TeamWithdrawn
    | Reinstated
)
"""The actions that a competition plays."""


def parse_action(action: object) -> PlayAction:
    """Return `action`, a decoded JSON object. Raises `InvalidActionError`."""
    try:
        return msgspec.convert(action, PlayAction)
    except msgspec.ValidationError as error:
        raise InvalidActionError("this is no action of a tournament: {why}", why=error) from error
