"""Fact types, the events of the journal, as strict typed JSON: one a line, `{"t": s, "kind": name, ...}`.

Facts are what the journal keeps. They are public: no fact holds the bead's place before the hide is over. State,
undo and resume are folds over them (`reducer.apply`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from pi_controller.mat.events import SensorFault
from pi_controller.referee.judge import ClosedBy, Ruling

Source = Literal["sensor", "judge", "clock", "restart"]


class Opened(msgspec.Struct, frozen=True, tag_field="kind", tag="opened", omit_defaults=True):
    """A game is set up: the rule set with its version, source and options, and the teams' names.

    Where it follows another at the same table, `after` is the file in which that one is kept, and `Story.revision`
    goes on from `revision_from`: a screen of that one is told from every screen of this.
    """

    t: float
    game: str
    version: str
    source: str
    options: dict[str, Any]
    teams: dict[str, str]
    after: str = ""
    revision_from: int = 0


class HandPass(msgspec.Struct, frozen=True, tag_field="kind", tag="hand_pass", omit_defaults=True):
    """The hider's hand has been under a pad and is out again; `sure` is false when it may not have been."""

    t: float
    pad: int
    sure: bool = True


class Ready(msgspec.Struct, frozen=True, tag_field="kind", tag="ready"):
    """The hider says the bead is hidden; now the mat looks."""

    t: float


class Commit(msgspec.Struct, frozen=True, tag_field="kind", tag="commit"):
    """The bead lies well. `hash` is SHA-256 over what binds it, the place and 32 random bytes, hex (`opening`)."""

    t: float
    hide: int
    hash: str


class ByEye(msgspec.Struct, frozen=True, tag_field="kind", tag="by_eye"):
    """Nothing looks for the bead at this table: the hits may come, and the judge says what each finds."""

    t: float


class Void(msgspec.Struct, frozen=True, tag_field="kind", tag="void"):
    """The commitment before is withdrawn and will not be opened; `why` says so in one line."""

    t: float
    why: str


class HideAgain(msgspec.Struct, frozen=True, tag_field="kind", tag="hide_again", omit_defaults=True):
    """The hide in progress starts over: nothing was hit yet, nobody loses anything."""

    t: float
    why: str
    by: Source = "judge"


class Lifted(msgspec.Struct, frozen=True, tag_field="kind", tag="lifted"):
    """The shooter opened a pad to show that the marked ball is not there (ojibwe)."""

    t: float
    pad: int


class Struck(msgspec.Struct, frozen=True, tag_field="kind", tag="struck", omit_defaults=True):
    """A stroke was felt while one was due."""

    t: float
    pads: tuple[int, ...]
    margin_db: float | None = None


class Done(msgspec.Struct, frozen=True, tag_field="kind", tag="action", omit_defaults=True):
    """An action of the game was taken. `calls` are the words called for it."""

    t: float
    action: dict[str, Any]
    calls: tuple[str, ...]
    by: Source


class FoulSeen(msgspec.Struct, frozen=True, tag_field="kind", tag="foul"):
    """A foul: `by` hider or hitter (or who throws); the action that settles it follows."""

    t: float
    foul: str
    by: str


class Question(msgspec.Struct, frozen=True, tag_field="kind", tag="question", omit_defaults=True):
    """The mat is unsure and asks the judge. `choices` are the answers it takes, `foul` the foul it may be.

    `said` is the guess it is about, where it is about one.
    """

    t: float
    about: str
    choices: tuple[str, ...] = ()
    pads: tuple[int, ...] = ()
    foul: str = ""
    said: str = ""


class Answer(msgspec.Struct, frozen=True, tag_field="kind", tag="answer", omit_defaults=True):
    """The judge's answer to the open question; `by` the clock: nobody answered, and this is the organiser's answer."""

    t: float
    about: str
    answer: str
    by: Literal["judge", "clock"] = "judge"


class Withdrawn(msgspec.Struct, frozen=True, tag_field="kind", tag="withdrawn"):
    """The open question needs no answer any more: the mat has learned it. `why` is one of `WITHDRAWN`."""

    t: float
    about: str
    why: str


class Notice(msgspec.Struct, frozen=True, tag_field="kind", tag="notice", omit_defaults=True):
    """Something people are to know and nobody has to answer; `about` says what, `pads` where."""

    t: float
    about: str
    pads: tuple[int, ...] = ()


class Reveal(msgspec.Struct, frozen=True, tag_field="kind", tag="reveal", omit_defaults=True):
    """The hide is over: where the bead lay, and the nonce that opens the commitment (hex).

    In slahal `pad` has a digit for each unmarked bone: 13 says that they were on pads 1 and 3. `table`, `epoch` and
    `event` are what the commitment is bound to (`opening.Bound`); in older journals it was to none of them.
    """

    t: float
    hide: int
    pad: int
    nonce: str
    table: str = ""
    epoch: str = ""
    event: int = 0


class Shown(msgspec.Struct, frozen=True, tag_field="kind", tag="shown"):
    """The bead was shown or taken up: the next hide can begin."""

    t: float


class LinkSeen(msgspec.Struct, frozen=True, tag_field="kind", tag="link", omit_defaults=True):
    """The board's link went up or down; `up` when it was up already: something was missed in between."""

    t: float
    up: bool
    why: str = ""


class SensorsSeen(msgspec.Struct, frozen=True, tag_field="kind", tag="sensors", omit_defaults=True):
    """These sensors cannot be believed from now on; all others can."""

    t: float
    faults: tuple[SensorFault, ...] = ()


WITHDRAWN = ("hand_out", "bead_seen", "bead_there", "link_back", "disc_back", "hit_felt", "pad_opened")
"""Why a question is withdrawn: the hand came out, what lies there is seen, the bead lies where it lay, the cable is
back and nothing has moved, the disc is felt again, a stroke was felt after all, a hand went all the way under.
"""


class Called(msgspec.Struct, frozen=True, tag_field="kind", tag="called", omit_defaults=True):
    """The actor of the rest of this batch. `key` is the command's idempotency key among the actor's.

    `call` is what was said in a word (`judge.JudgeCall`'s tags), `digest` tells one call from another (the beginning
    of SHA-256 over its JSON without its time, hex; older journals have none).
    """

    t: float
    actor: str
    role: str
    call: str
    key: str = ""
    reason: str = ""
    digest: str = ""


class StateSet(msgspec.Struct, frozen=True, tag_field="kind", tag="set"):
    """The table stands so, the judge said: `sheet` is the whole state under the score sheet's keys."""

    t: float
    sheet: dict[str, Any]
    reason: str


class SensorsUsed(msgspec.Struct, frozen=True, tag_field="kind", tag="sensors_used", omit_defaults=True):
    """From here on play goes by what the mat feels, or without it."""

    t: float
    on: bool
    reason: str = ""


class ProtestMade(msgspec.Struct, frozen=True, tag_field="kind", tag="protest", omit_defaults=True):
    """A team protests, and play stands. `text` is for the judges."""

    t: float
    by: Literal["A", "B"]
    text: str = ""


class ProtestRuled(msgspec.Struct, frozen=True, tag_field="kind", tag="ruling"):
    """The open protest is decided, or play goes on before it is."""

    t: float
    ruling: Ruling
    reason: str


class ClockSet(msgspec.Struct, frozen=True, tag_field="kind", tag="clock", omit_defaults=True):
    """The clock for hiding and hitting was stopped, or runs on."""

    t: float
    running: bool
    reason: str = ""


class GameClosed(msgspec.Struct, frozen=True, tag_field="kind", tag="closed"):
    """A side is out of the game other than by play; the action that settles it follows."""

    t: float
    by: str
    cause: ClosedBy
    reason: str


class TeamsNamed(msgspec.Struct, frozen=True, tag_field="kind", tag="teams"):
    """The teams are called so from here on, by their letters."""

    t: float
    teams: dict[str, str]


class MatchGiven(msgspec.Struct, frozen=True, tag_field="kind", tag="match"):
    """This game is one of a tournament's `match`; `order` is the hub's own name of having given it to this table."""

    t: float
    tournament: str
    match: str
    order: str


class RoundClock(msgspec.Struct, frozen=True, tag_field="kind", tag="round_clock"):
    """The game is played on the clock of a tournament's round, which has `left_s` to go and runs, or stands."""

    t: float
    left_s: float
    running: bool


class Away(msgspec.Struct, frozen=True, tag_field="kind", tag="away"):
    """The table stood still from `since` until now: nothing was felt or shown, and no clock ran."""

    t: float
    since: float


class Undone(msgspec.Struct, frozen=True, tag_field="kind", tag="undone", omit_defaults=True):
    """The facts of batch `batch` and all after it no longer count. They stay in the journal.

    What the link did still counts. `hide` is the last hide whose hand passes were taken back with them, `waited` what
    the clock showed when that batch came and now shows again, seconds (in older journals None: it runs on). `waives`
    is the foul that the mat or the clock had called in it: it does not apply in this hide, or it would come again.
    """

    t: float
    batch: int
    by: Source = "judge"
    reason: str = ""
    hide: int = 0
    waited: float | None = None
    waives: str = ""


Fact = (
    Opened
    | HandPass
    | Ready
    | Commit
    | ByEye
    | Void
    | HideAgain
    | Lifted
    | Struck
    | Done
    | FoulSeen
    | Question
    | Answer
    | Withdrawn
    | Notice
    | Reveal
    | Shown
    | LinkSeen
    | SensorsSeen
    | Called
    | StateSet
    | SensorsUsed
    | ProtestMade
    | ProtestRuled
    | ClockSet
    | GameClosed
    | TeamsNamed
    | MatchGiven
    | RoundClock
    | Away
    | Undone
)
OF_THE_MAT = (LinkSeen, SensorsSeen, Away)
OF_THE_TABLE = (SensorsUsed, ProtestMade, ProtestRuled, ClockSet, TeamsNamed)
"""What the judge says of the table and not of the game; each has its own opposite."""
LASTING = (*OF_THE_MAT, *OF_THE_TABLE, RoundClock)
"""What an undo does not take back: the board did come and go, the protest was made."""
