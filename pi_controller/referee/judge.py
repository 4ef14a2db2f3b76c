"""Command types of the judge. Each holds from now on; none deletes anything."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Ruling = Literal["upheld", "denied", "play_on"]
ClosedBy = Literal["forfeit", "disqualified", "no_show"]
"""How a side is out of a game other than by play: it gives up, is disqualified, or does not come when it is called."""


class JudgeAction(msgspec.Struct, frozen=True, tag_field="judge", tag="action"):
    """An action of the game, entered by hand: `{"do": "hit", "found": true}`."""

    t: float
    action: dict[str, Any]


class JudgeAnswer(msgspec.Struct, frozen=True, tag_field="judge", tag="answer"):
    """An answer to the open question, one of its choices."""

    t: float
    answer: str


class JudgeUndo(msgspec.Struct, frozen=True, tag_field="judge", tag="undo", omit_defaults=True):
    """Take back the last thing that changed the game."""

    t: float
    reason: str = ""


class JudgeHideAgain(msgspec.Struct, frozen=True, tag_field="judge", tag="hide_again", omit_defaults=True):
    """The hide in progress starts over; only before its first hit."""

    t: float
    reason: str = ""


class JudgeReplace(msgspec.Struct, frozen=True, tag_field="judge", tag="replace", omit_defaults=True):
    """Take back the last thing that changed the game, and take this action in its place, at once."""

    t: float
    action: dict[str, Any]
    reason: str = ""


class JudgeHidden(msgspec.Struct, frozen=True, tag_field="judge", tag="hidden"):
    """The hiders are ready: the judge says it for them."""

    t: float


class JudgeSet(msgspec.Struct, frozen=True, tag_field="judge", tag="set"):
    """The table stands so: `sheet` is the whole state under the score sheet's keys. The hide in progress is void."""

    t: float
    sheet: dict[str, Any]
    reason: str


class JudgeSensors(msgspec.Struct, frozen=True, tag_field="judge", tag="sensors", omit_defaults=True):
    """Play goes on without what the mat feels, or with it again."""

    t: float
    on: bool
    reason: str = ""


class JudgeProtest(msgspec.Struct, frozen=True, tag_field="judge", tag="protest", omit_defaults=True):
    """A team protests: play stands until it is decided, or a ruling lets it go on (chapter 12)."""

    t: float
    by: Literal["A", "B"]
    text: str = ""


class JudgeRuling(msgspec.Struct, frozen=True, tag_field="judge", tag="ruling"):
    """The open protest is upheld or denied, or play goes on and it is decided later; what follows is entered apart."""

    t: float
    ruling: Ruling
    reason: str


class JudgeClock(msgspec.Struct, frozen=True, tag_field="judge", tag="clock", omit_defaults=True):
    """The clock for hiding and hitting is stopped, or runs on."""

    t: float
    running: bool
    reason: str = ""


class JudgeClose(msgspec.Struct, frozen=True, tag_field="judge", tag="close"):
    """The side `by` (A, B, or a player's name) is out: a forfeit, a disqualification or a no-show (chapter 12)."""

    t: float
    by: str
    cause: ClosedBy
    reason: str


class JudgeTeams(msgspec.Struct, frozen=True, tag_field="judge", tag="teams"):
    """The teams are called so from now on: `a` at A and `b` at B; only before the first hit, guess or throw."""

    t: float
    a: str
    b: str


class JudgeNewGame(msgspec.Struct, frozen=True, tag_field="judge", tag="new_game", omit_defaults=True):
    """The game is over and another begins by the same rules; `swapped`: each team takes the other's side."""

    t: float
    swapped: bool = False


class MatchCall(msgspec.Struct, frozen=True, tag_field="judge", tag="match"):
    """A tournament's hub gives the table a match: another game, of these teams, by these options.

    It is no `JudgeCall`: no judge can say it, only the hub that the table's settings name.
    """

    t: float
    tournament: str
    match: str
    order: str
    game: str
    version: str
    options: dict[str, Any]
    teams: dict[str, str]


class RoundClockCall(msgspec.Struct, frozen=True, tag_field="judge", tag="round_clock"):
    """A tournament's hub sets the clock of the match that it gave by `order`: `left_s` to go, running or not.

    As `MatchCall` it is no `JudgeCall`.
    """

    t: float
    order: str
    left_s: float
    running: bool


HubCall = MatchCall | RoundClockCall
JudgeCall = (
    JudgeAction
    | JudgeAnswer
    | JudgeUndo
    | JudgeHideAgain
    | JudgeReplace
    | JudgeHidden
    | JudgeSet
    | JudgeSensors
    | JudgeProtest
    | JudgeRuling
    | JudgeClock
    | JudgeClose
    | JudgeTeams
    | JudgeNewGame
)
