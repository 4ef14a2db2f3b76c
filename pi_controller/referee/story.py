"""State of a game and the table around it: a `Story`, folded from facts by `reducer`.

A story and its parts are public, frozen and hashable. None has a field that could hold the bead's place before the
reveal. What belongs to one hide stands in its `Hide`, so that the next one begins as `Hide(number + 1)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from pi_controller.pads import EVERY_PAD

if TYPE_CHECKING:
    from pi_controller.games.base import Game
    from pi_controller.mat.events import SensorFault
    from pi_controller.referee.facts import Question

Phase = Literal["toss", "hide", "check", "hit", "guess", "throw", "show", "over"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of the hide: the pad (None when entered without one) and whether it found the bead."""

    pad: int | None
    found: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """An opened commitment: see `commitment.check`. `withdrawn` are those of the same hide that were taken back."""

    hide: int
    hash: str
    pad: int
    nonce: str
    table: str = ""
    epoch: str = ""
    event: int = 0
    withdrawn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """Something people are to know and nobody has to answer: `about` says what, `pads` where."""

    about: str
    pads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Protest:
    """A protest that is not decided. `play_on`: play goes on before it is."""

    by: str
    text: str = ""
    play_on: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock that began at `began` and stands since `stood` (None: it runs), seconds of the table's clock.

    What passes while it stands does not count: `began` is later by so much when it goes on.
    """

    began: float = 0.0
    stood: float | None = None

    def shown(self, t: float) -> float:
        """Return the seconds it shows at `t`."""
        return max(0.0, (t if self.stood is None else self.stood) - self.began)

    def made(self, stands: bool, t: float) -> Clock:
        """Return the clock that from `t` on stands, or runs on from where it stood."""
        if stands:
            return self if self.stood is not None else replace(self, stood=t)
        return self if self.stood is None else Clock(self.began + max(0.0, t - max(self.began, self.stood)))

    def resumed(self, since: float, t: float) -> Clock:
        """Return the clock showing at `t` what it showed at `since`; `t` may be on another clock, and earlier."""
        return Clock(t - self.shown(since), None if self.stood is None else t)


@dataclass(frozen=True, slots=True)
class Hide:
    """The hide in progress or just settled; where nothing is hidden, the throw in progress.

    `number` counts from 1 and stays until the bead is shown; it is 0 where nothing is hidden. `begun` is whether an
    action of the game was played in it, so that the record has it under that number. `passes` are the pads
    the hand has been under (in phase show: for the next hide), `fetched` whether the first may be the hand that took
    the bead up. `waived` are the fouls and questions that the judge let pass. `by_hand`: what was undone had shown the
    bead, so it is not sealed again. `foul` is the foul that settled the hide, `foul_seen` what the foul is called that
    the next action settles. `opened` are the pads that were opened (ojibwe), `strokes` how often the bowl was tapped or
    the sticks thrust since the last throw was entered. `commit` is the commitment to where the bead lies, `withdrawn`
    are those that were taken back, `unsealed` is whether what lies there was sealed by one of them and is by none now.
    """

    number: int = 1
    begun: bool = False
    passes: tuple[int, ...] = ()
    fetched: bool = False
    waived: tuple[str, ...] = ()
    by_hand: bool = False
    hits: tuple[Hit, ...] = ()
    foul: str | None = None
    foul_seen: str = ""
    opened: tuple[int, ...] = ()
    strokes: int = 0
    commit: str | None = None
    withdrawn: tuple[str, ...] = ()
    unsealed: bool = False


@dataclass(frozen=True, slots=True)
class Hands:
    """How far the passes of the hand can be believed, by the numbers of hides, 0 for none.

    `doubt` is the last hide whose passes may be incomplete, `vague` the last with a pass that may have been none.
    """

    doubt: int = 0
    vague: int = 0


@dataclass(frozen=True, slots=True)
class LinkState:
    """The link to the mat's board: `up` is None until a board was heard of, `faults` are its sensors out of order."""

    up: bool | None = None
    why: str = ""
    faults: tuple[SensorFault, ...] = ()


@dataclass(frozen=True, slots=True)
class Clocks:
    """All clocks of a table, in seconds of its time.

    `waiting` is the clock of what the table waits for, `playing` the game's own, which began when the bones were won
    (slahal). `paused` is since when a judge has stopped them, `last_t` when anything came last. `of_round`: the game's
    clock is that of the tournament's round, which nothing at this table stops.
    """

    waiting: Clock = Clock()
    playing: Clock | None = None
    paused: float | None = None
    last_t: float = 0.0
    of_round: bool = False


@dataclass(frozen=True, slots=True)
class Undoable:
    """What an undo takes back: the batch and all after it, 0 for nothing.

    `waited` is what the clock showed when the batch came (seconds), `called` the foul that the mat or the clock called
    in it.
    """

    batch: int = 0
    waited: float = 0.0
    called: str = ""


MOST_PAST = 8
"""Turns that are kept in mind."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A hide, or where nothing is hidden a throw, in which something was done; `number` is the hide's, 0 of a throw.

    `side` is the team that hid or who threw, `actions` are what was done in it, a foul that settled it anew among
    them, and `calls` the words called for that.
    """

    number: int
    side: str
    actions: tuple[dict[str, Any], ...] = field(hash=False)
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """Where a game stands. `state` is the game's own; everything else is the hide and the table around it.

    `calls` are the words called for the last action, `opening` is the last commitment that was opened. `notice` is
    something that people are to know and that nobody has to answer, until the hide goes on. `sensors` is whether play
    goes by what the mat feels, `protest` the one that is not decided. `revision` is the batch that last changed what a
    judge decides by (not what the mat felt meanwhile), counted on from `revision_from`, which is another in each game
    of a table. `past` are the last hides or throws, oldest first, the one in progress among them, `former` is the
    game's state before the one that was played last, None before there is one. `order` is the hub's name of having
    given this match to the table, "" for a game of its own.
    """

    state: Any
    phase: Phase = "toss"
    calls: tuple[str, ...] = ()
    hide: Hide = Hide()
    hands: Hands = Hands()
    opening: Opening | None = None
    question: Question | None = None
    notice: Notice | None = None
    note: str = ""
    link: LinkState = LinkState()
    clocks: Clocks = Clocks()
    undoable: Undoable = Undoable()
    revision: int = 0
    revision_from: int = 0
    teams: tuple[tuple[str, str], ...] = ()
    sensors: bool = True
    protest: Protest | None = None
    past: tuple[Turn, ...] = ()
    former: Any = None
    order: str = ""

    @property
    def armed(self) -> bool:
        """Whether a stroke is due: a hit or a throw is owed, play goes on, and the judge is asked nothing about it.

        With a dead disc the judge is asked who hit what, and a stroke that is felt after all answers that.
        """
        asked = self.question is not None and self.question.about != "disc_dead"
        return self.phase in ("hit", "throw") and not asked and self.sensors and not self.held

    def nameable(self, game: Game[Any]) -> bool:
        """Return whether the teams can be named now: teams play `game`, and nothing was hit, guessed or thrown yet."""
        return "players" not in game.settings and not self.past and self.phase != "over"

    @property
    def held(self) -> bool:
        """Whether play stands until a protest is decided."""
        return self.protest is not None and not self.protest.play_on

    @property
    def awaited(self) -> tuple[str, int, int, int]:
        """What the table waits for: as long as it is the same, so is its clock."""
        return self.phase, self.hide.number, len(self.hide.hits), self.hide.strokes

    @property
    def stands(self) -> bool:
        """Whether all clocks stand: a judge has stopped them, or a protest holds play."""
        return self.clocks.paused is not None or self.held

    @property
    def kept_waiting(self) -> bool:
        """Whether what the table waits for cannot be done just now: the judge is asked, or the mat is gone."""
        return self.stands or self.question is not None or (self.link.up is False and self.sensors)

    @property
    def deaf(self) -> tuple[int, ...]:
        """The pads, of those that the hit owed may take, whose strokes the mat does not feel though play goes by it."""
        if not self.sensors or self.link.up is None:
            return ()
        dead = {fault.pad for fault in self.link.faults if fault.sensor == "disc"}
        return tuple(pad for pad in self.pads_open if pad in dead or not self.link.up)

    @property
    def numb(self) -> bool:
        """Whether hands cannot be felt for sure under every pad: the strip in the middle of one is out of order."""
        return any(fault.sensor == "strip" and fault.strip == 1 for fault in self.link.faults)

    @property
    def collecting(self) -> int:
        """The hide that hand passes belong to now."""
        return self.hide.number + (self.phase == "show")

    @property
    def passes_unsure(self) -> bool:
        """Whether the passes of the hide they belong to now may be incomplete, or one may have been none."""
        return max(self.hands.doubt, self.hands.vague) >= self.collecting

    @property
    def pads_open(self) -> tuple[int, ...]:
        """The pads that the hit owed may take: not the pad of the first hit, nor one that was opened."""
        taken = {*self.hide.opened, *(hit.pad for hit in self.hide.hits)}
        return tuple(pad for pad in EVERY_PAD if pad not in taken)
