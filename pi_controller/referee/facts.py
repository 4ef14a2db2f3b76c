"""Fact types, the events of the journal, as strict typed JSON: one a line, `{"t": s, "kind": name, ...}`.

Facts are public: none contains the bead's place before the hide is over. State, undo and resume are folds over them
(`reducer.apply`).
"""

from typing import Any, Literal, Union

import msgspec

from pi_controller.referee.judge import ClosedBy, Ruling
from pi_controller.rules.base import Team
from pi_controller.sensing.events import SensorFault

Source = Literal["sensor", "judge", "clock", "restart"]
PassSide = Literal["hider", "unclear"] | None
"""Whose hand made a pass: see `HandPass`."""


class Fact(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    """What all facts have: the time `t`, seconds of the table's clock. The tag of each class is its `kind`."""

    t: float


class GameOpened(Fact, frozen=True, tag="opened"):
    """A game was set up: the rule set with its version, source and options, and the teams' names.

    If it follows another game at the same table, `after` names the file that holds the earlier one, and
    `Story.revision` continues from `revision_from`, so that a screen of the earlier game is never taken for one of this
    game.
    """

    game: str
    version: str
    source: str
    options: dict[str, Any]
    teams: dict[str, str]
    after: str = ""
    revision_from: int = 0


class HandPass(Fact, frozen=True, tag="hand_pass"):
    """A hand was under a pad from `since` until now.

    `side` is None if the mat cannot identify sides there: the hand then counts as the hiders', but proves no foul.
    `unclear` is a hand that may be the hitters'. `sure` is false if the reading was doubtful. `fetched`: the
    bead of the last hide, which was revealed, lay there before.
    """

    pad: int
    since: float
    side: PassSide = "hider"
    sure: bool = True
    fetched: bool = False


class RoundBegun(Fact, frozen=True, tag="round"):
    """The next hand begins a new round: the bead was read as taken up, or *shown* was pressed again.

    `sure` is false if the mat was empty before: the bead may be in the hand that hides it.
    """

    sure: bool = True


class RoundBroken(Fact, frozen=True, tag="round_broken"):
    """The hands so far belong to no hide: a judge's word or a foul came in mid-round, or an entry came late.

    The hiders may not have noticed, so the round now begun proves no foul.
    """


class Ready(Fact, frozen=True, tag="ready"):
    """The hider declared the bead hidden; the mat now looks for it."""


class ReadyWithdrawn(Fact, frozen=True, tag="ready_withdrawn"):
    """Ready was pressed too early: a hand went under `pad`, which was still missing, and hiding continues."""

    pad: int


class Commit(Fact, frozen=True, tag="commit"):
    """The bead's position is valid and sealed. `hash` (hex) is SHA-256 over context, place and nonce (`commitment`)."""

    hide: int
    hash: str


class JudgedByEye(Fact, frozen=True, tag="by_eye"):
    """The mat does not look for the bead in this hide: hits may come, and the judge enters the result of each."""


class CommitmentWithdrawn(Fact, frozen=True, tag="void"):
    """The current commitment was withdrawn and will not be opened; `why` gives the reason in one line."""

    why: str


class HideAgain(Fact, frozen=True, tag="hide_again"):
    """The hide in progress starts over without any loss: no hit was made yet."""

    why: str
    by: Source = "judge"


class PadOpened(Fact, frozen=True, tag="lifted"):
    """The shooter opened a pad to show that the marked ball is not there (ojibwe)."""

    pad: int


class StrikeFelt(Fact, frozen=True, tag="struck"):
    """A strike was felt while one was due."""

    pads: tuple[int, ...]
    margin_db: float | None = None


class StrikeKept(Fact, frozen=True, tag="struck_meanwhile"):
    """A strike was felt while play stood: it is kept and put to the judge when play goes on.

    `counts`: the judge ruled that this strike, made too early, is the first hit.
    """

    pads: tuple[int, ...]
    counts: bool = False


class HandsUnder(Fact, frozen=True, tag="hands_under"):
    """A hider's or unidentified hand is under a pad while a hit is due (`on`), or the last such hand came out.

    The hitters' clock is stopped meanwhile.
    """

    on: bool


class ActionPlayed(Fact, frozen=True, tag="action"):
    """An action of the game was played. `calls` are the words called for it."""

    action: dict[str, Any]
    calls: tuple[str, ...]
    by: Source


class FoulSeen(Fact, frozen=True, tag="foul"):
    """A foul by the hider, the hitter or the thrower (`by`); the action that settles it follows."""

    foul: str
    by: str


class Question(Fact, frozen=True, tag="question"):
    """The mat is unsure and asks the judge. `choices` are the allowed answers, `foul` the suspected foul.

    `said` is the guess that the question is about, if any (slahal). `against` is the side that the foul would fall on.
    """

    about: str
    choices: tuple[str, ...] = ()
    pads: tuple[int, ...] = ()
    foul: str = ""
    said: str = ""
    against: str = ""


class Answer(Fact, frozen=True, tag="answer"):
    """The answer to the open question.

    `by` is "clock" if the judge did not answer in time and the default was used, "habit" if the judge had answered so
    again and again.
    """

    about: str
    answer: str
    by: Literal["judge", "clock", "habit"] = "judge"


class QuestionWithdrawn(Fact, frozen=True, tag="withdrawn"):
    """The open question was withdrawn because the mat has found the answer itself. `why` is one of
    `WITHDRAWAL_REASONS`.
    """

    about: str
    why: str


class Notice(Fact, frozen=True, tag="notice"):
    """A message for the people at the table that needs no answer: its topic `about`, and the `pads` concerned."""

    about: str
    pads: tuple[int, ...] = ()


class Reveal(Fact, frozen=True, tag="reveal"):
    """The hide is over: the pad where the bead was, and the nonce (hex) that opens the commitment.

    In slahal `pad` has a digit for each unmarked bone: 13 for pads 1 and 3. `table`, `epoch` and `event` are the
    context of the commitment (`commitment.CommitmentContext`).
    """

    hide: int
    pad: int
    nonce: str
    table: str = ""
    epoch: str = ""
    event: int = 0


class BeadShown(Fact, frozen=True, tag="shown"):
    """The bead was shown or taken up: the next hide can begin."""


class LinkSeen(Fact, frozen=True, tag="link"):
    """The board's link went up or down; `up` while it was up already: samples were lost in between."""

    up: bool
    why: str = ""


class SensorsSeen(Fact, frozen=True, tag="sensors"):
    """The list of faulty sensors changed to `faults`; all others can be trusted."""

    faults: tuple[SensorFault, ...] = ()


WITHDRAWAL_REASONS = (
    "hand_out",
    "bead_seen",
    "bead_there",
    "link_back",
    "disc_back",
    "hit_felt",
    "pad_opened",
    "hiding",
)
"""Reasons for withdrawing a question: the hand came out, the reading became clear, the bead is where it was sealed, the
cable is back and the bead did not move, the disc works again, a strike was felt after all, a hand went all the way
under, hiding continues.
"""


class CommandIssued(Fact, frozen=True, tag="called"):
    """The actor of the rest of this batch. `key` is the command's idempotency key, unique per actor.

    `call` is the tag of the command (`judge.JudgeCommand`). `digest` identifies its content: the beginning
    of SHA-256 over its JSON without the time, hex.
    """

    actor: str
    role: str
    call: str
    key: str = ""
    reason: str = ""
    digest: str = ""


class StateSet(Fact, frozen=True, tag="set"):
    """The judge set the table: `sheet` is the whole state under the score sheet's keys."""

    sheet: dict[str, Any]
    reason: str


class SensorsUsed(Fact, frozen=True, tag="sensors_used"):
    """From now on play uses the mat's sensors (`on`) or ignores them."""

    on: bool
    reason: str = ""


class ProtestMade(Fact, frozen=True, tag="protest"):
    """A team protests and play is held. `text` is for the judges only."""

    by: Literal["A", "B"]
    text: str = ""


class ProtestRuled(Fact, frozen=True, tag="ruling"):
    """The open protest is decided, or play continues before the decision."""

    ruling: Ruling
    reason: str


class ClockSet(Fact, frozen=True, tag="clock"):
    """The clock for hiding and hitting was stopped or restarted."""

    running: bool
    reason: str = ""


class GameClosed(Fact, frozen=True, tag="closed"):
    """A side left the game other than by play; the action that settles it follows."""

    by: str
    cause: ClosedBy
    reason: str


class TeamsNamed(Fact, frozen=True, tag="teams"):
    """The teams were named, by their letters."""

    teams: dict[str, str]


class MatchGiven(Fact, frozen=True, tag="match"):
    """This game is a tournament's `match`; `order` is the hub's identifier of the assignment to this table."""

    tournament: str
    match: str
    order: str


class MatchVoid(Fact, frozen=True, tag="match_void"):
    """The hub voided the match of this game for the reason `why` (`judge.VoidReason`), or restored it ("")."""

    order: str
    why: str


class VoidClosed(Fact, frozen=True, tag="void_closed"):
    """The game of a voided match was closed without a winner."""


class RoundClock(Fact, frozen=True, tag="round_clock"):
    """The game is played on the clock of a tournament's round: `left_s` to go, running or stopped."""

    left_s: float
    running: bool


class ClockGap(Fact, frozen=True, tag="away"):
    """The table was halted from `since` until now: no event was processed and no clock ran."""

    since: float


class WallClockSet(Fact, frozen=True, tag="wall_clock"):
    """The machine's clock was set by `by_s` s (negative: back); the times of the facts do not follow it."""

    by_s: float


class Undone(Fact, frozen=True, tag="undone"):
    """The facts of batch `batch` and all later ones no longer count. They stay in the journal.

    Facts about the link still count. `hide` is the last hide whose hand passes were taken back with them. `waited` is
    the clock's value when that batch came, to which it returns, seconds. `waives` is the foul that the mat or the clock
    had called in that batch: it does not apply in this hide, or it would be called again. `opened` is the last hide
    whose bead had been revealed. `by` is the clock if it takes back its own call of time because of a strike that was
    made earlier.
    """

    batch: int
    by: Source = "judge"
    reason: str = ""
    hide: int = 0
    waited: float = 0.0
    waives: str = ""
    opened: int = 0


ANY_FACT: Any = Union[tuple(Fact.__subclasses__())]  # noqa: UP007 - of a list
"""The type that JSON is decoded as: one of the classes above."""
MAT_FACTS = (LinkSeen, SensorsSeen, ClockGap, WallClockSet)
TABLE_FACTS = (SensorsUsed, ProtestMade, ProtestRuled, ClockSet, TeamsNamed)
"""The judge's facts about the table rather than the game; each has its own opposite."""
UNDO_PROOF_FACTS = (*MAT_FACTS, *TABLE_FACTS, RoundClock, MatchVoid)
"""Facts that an undo does not take back: the board did connect and disconnect, the protest was made."""


# Seating: which mat is in front of the hiders, and whether its pads are mirrored for them.
#
# Pads are numbered as the hiders see them, pad 1 on their left. A single mat between the teams faces only one of them,
# so its numbering turns with the roles; if each team has a mat of its own, the mat changes instead.
Seats = Literal["turn", "stay", "each"]
"""`turn`: one mat, A sits at its near edge and B at the far one. `stay`: one mat, the hiders always sit at its near
edge. `each`: A and B each have a mat of their own.
"""


def is_mirrored(seats: Seats, hiders: Team | None) -> bool:
    """Return True if the hiders do not sit at A's place: the mat is turned, or the other mat is used."""
    return seats != "stay" and hiders == "B"
