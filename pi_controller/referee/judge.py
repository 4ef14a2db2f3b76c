"""Command types of the judge. Each takes effect from now on; none deletes any fact."""

from typing import Any, Literal

import msgspec

Ruling = Literal["upheld", "denied", "play_on"]
ClosedBy = Literal["forfeit", "disqualified", "no_show"]
"""How a side left a game other than by play: it gave up, was disqualified, or did not appear when called."""


class _Call(msgspec.Struct, frozen=True, tag_field="judge", omit_defaults=True):
    t: float


class TableCommand(_Call, frozen=True):
    """A command about the table, handled alike in all games (`judge_commands.handle_table_command`)."""


class JudgeAction(_Call, frozen=True, tag="action"):
    """An action of the game, entered by hand: `{"do": "hit", "found": true}`."""

    action: dict[str, Any]


class JudgeAnswer(_Call, frozen=True, tag="answer"):
    """An answer to the open question, one of its choices."""

    answer: str


class JudgeUndo(_Call, frozen=True, tag="undo"):
    """Take back the last change of the game."""

    reason: str = ""


class JudgeHideAgain(_Call, frozen=True, tag="hide_again"):
    """The hide in progress starts over; only before its first hit."""

    reason: str = ""


class JudgeReplace(_Call, frozen=True, tag="replace"):
    """Take back the last change of the game and play this action in its place, in one step."""

    action: dict[str, Any]
    reason: str = ""


class JudgeHidden(_Call, frozen=True, tag="hidden"):
    """Declare the hiders ready, entered by the judge for them."""


class JudgeSet(TableCommand, frozen=True, tag="set"):
    """Set the table: `sheet` is the whole state under the score sheet's keys. The hide in progress is void."""

    sheet: dict[str, Any]
    reason: str


class JudgeSensors(TableCommand, frozen=True, tag="sensors"):
    """Continue play without the mat's sensors, or with them again."""

    on: bool
    reason: str = ""


class JudgeProtest(TableCommand, frozen=True, tag="protest"):
    """Record a team's protest: play is held until it is decided, or a ruling lets it continue (chapter 12)."""

    by: Literal["A", "B"]
    text: str = ""


class JudgeRuling(TableCommand, frozen=True, tag="ruling"):
    """Uphold or deny the open protest, or continue play and decide later.

    Consequences are entered as separate commands.
    """

    ruling: Ruling
    reason: str


class JudgeClock(TableCommand, frozen=True, tag="clock"):
    """Stop or restart the clock for hiding and hitting."""

    running: bool
    reason: str = ""


class JudgeClose(TableCommand, frozen=True, tag="close"):
    """Remove the side `by` (A, B, or a player's name): a forfeit, a disqualification or a no-show (chapter 12)."""

    by: str
    cause: ClosedBy
    reason: str


class JudgeTeams(TableCommand, frozen=True, tag="teams"):
    """Name the teams: `a` plays as A and `b` as B; only before the first hit, guess or throw."""

    a: str
    b: str


class JudgeNewGame(_Call, frozen=True, tag="new_game"):
    """Begin another game by the same rules after this one is over; `swapped`: each team takes the other's
    side.
    """

    swapped: bool = False


class MatchCall(_Call, frozen=True, tag="match"):
    """The hub assigns a match to the table: a new game of these teams with these options.

    A match that was moved here goes on from the score `sheet`. It is not a `JudgeCommand`: only the hub named in the
    table's settings can send it.
    """

    tournament: str
    match: str
    order: str
    game: str
    version: str
    options: dict[str, Any]
    teams: dict[str, str]
    sheet: dict[str, Any] = {}


class JudgeCloseVoid(TableCommand, frozen=True, tag="close_void"):
    """Close the game of a voided match without a winner, so that the table takes the next match."""


VoidReason = Literal["", "changed", "decided", "moved", "recalled"]
"""Why a match no longer counts here: results it depends on were corrected, its result is known, or it was moved to
another table or recalled from this one. "": it counts.
"""


class MatchVoidCall(_Call, frozen=True, tag="match_void"):
    """The hub voids the match that it assigned by `order`, or restores it (`why` is "").

    Like `MatchCall` it is not a `JudgeCommand`.
    """

    order: str
    why: VoidReason


class RoundClockCall(_Call, frozen=True, tag="round_clock"):
    """The hub sets the clock of the match that it assigned by `order`: seconds left, and whether it runs.

    Like `MatchCall` it is not a `JudgeCommand`.
    """

    order: str
    left_s: float
    running: bool


HubCommand = MatchCall | MatchVoidCall | RoundClockCall
JudgeCommand = (
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
    | JudgeCloseVoid
)
