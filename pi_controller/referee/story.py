"""Where a game stands with all that is around its state: a `Story`, folded from facts by `reducer`.

A story is public, frozen and hashable. It has no field that could hold the bead's place before the reveal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pi_controller.pads import EVERY_PAD

if TYPE_CHECKING:
    from pi_controller.mat.events import SensorFault
    from pi_controller.referee.facts import Notice, Question, Reveal

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
class Story:
    """Where a game stands. `state` is the game's own; everything else is the hide around it.

    `hide` counts from 1 and stays until its bead is shown. `passes` are the pads the hand has been under, for the
    hide in progress (in phase show: for the next). `doubt` is the last hide whose passes may be incomplete, `vague`
    the last with a pass that may have been none. `fetched`: the first pass may be the hand that took the bead up.
    `waived`: fouls the judge let pass in this hide. `by_hand`: what was undone had shown the bead, so this hide is
    not sealed again. `link` is None until a board was heard of. `last_undoable` is the batch that an undo takes back,
    `undoable_waited` what the clock showed when it came (seconds), `called` the foul that the mat or the clock called
    in it, `last_t` when anything came last. `withdrawn` are the commitments to this hide that were taken back,
    `unsealed` whether what lies there was sealed by one of them and is by none now. `notice` is something that people
    are to know and that nobody has to answer, until the hide goes on. `foul_seen` is what the foul is called that the
    next action settles. `revision` is the batch that last changed what a judge decides by (not what the mat felt
    meanwhile), counted on from `revision_from`, which is another in each game of a table, `waiting` the clock of what
    the table waits for. While a judge has stopped the clocks `paused` is since when. `sensors` is whether play goes by
    what the mat feels, `protest` the one that is not decided.

    In the other games: `opened` are the pads that were opened in this hide (ojibwe), `playing` is the game's own
    clock, which began when the bones were won (slahal), `strokes` how often the bowl was tapped or the sticks
    thrust since the last throw was entered. Where nothing is hidden `hide` stays 0; `calls` are the words called
    for the last action.
    """

    state: Any
    phase: Phase = "toss"
    hide: int = 1
    owed: str | None = None
    passes: tuple[int, ...] = ()
    doubt: int = 0
    vague: int = 0
    fetched: bool = False
    waived: tuple[str, ...] = ()
    by_hand: bool = False
    hits: tuple[Hit, ...] = ()
    foul: str | None = None
    foul_seen: str = ""
    calls: tuple[str, ...] = ()
    opened: tuple[int, ...] = ()
    strokes: int = 0
    playing: Clock | None = None
    commit: str | None = None
    withdrawn: tuple[str, ...] = ()
    unsealed: bool = False
    opening: Opening | None = None
    question: Question | None = None
    link: bool | None = None
    link_why: str = ""
    faults: tuple[SensorFault, ...] = ()
    note: str = ""
    notice: Notice | None = None
    teams: tuple[tuple[str, str], ...] = ()
    last_undoable: int = 0
    undoable_waited: float = 0.0
    called: str = ""
    last_t: float = 0.0
    revision: int = 0
    revision_from: int = 0
    waiting: Clock = Clock()
    paused: float | None = None
    sensors: bool = True
    protest: Protest | None = None

    @property
    def armed(self) -> bool:
        """Whether a stroke is due: a hit or a throw is owed, play goes on, and the judge is asked nothing about it.

        With a dead disc the judge is asked who hit what, and a stroke that is felt after all answers that.
        """
        asked = self.question is not None and self.question.about != "disc_dead"
        return self.phase in ("hit", "throw") and not asked and self.sensors and not self.held

    @property
    def held(self) -> bool:
        """Whether play stands until a protest is decided."""
        return self.protest is not None and not self.protest.play_on

    @property
    def awaited(self) -> tuple[str, int, int, int]:
        """What the table waits for: as long as it is the same, so is its clock."""
        return self.phase, self.hide, len(self.hits), self.strokes

    @property
    def stands(self) -> bool:
        """Whether all clocks stand: a judge has stopped them, or a protest holds play."""
        return self.paused is not None or self.held

    @property
    def kept_waiting(self) -> bool:
        """Whether what the table waits for cannot be done just now: the judge is asked, or the mat is gone."""
        return self.stands or self.question is not None or (self.link is False and self.sensors)

    @property
    def deaf(self) -> tuple[int, ...]:
        """The pads, of those that the hit owed may take, whose strokes the mat does not feel though play goes by it."""
        if not self.sensors or self.link is None:
            return ()
        dead = {fault.pad for fault in self.faults if fault.sensor == "disc"}
        return tuple(pad for pad in self.pads_open if pad in dead or not self.link)

    @property
    def numb(self) -> bool:
        """Whether hands cannot be felt for sure under every pad: the strip in the middle of one is out of order."""
        return any(fault.sensor == "strip" and fault.strip == 1 for fault in self.faults)

    @property
    def collecting(self) -> int:
        """The hide that hand passes belong to now."""
        return self.hide + (self.phase == "show")

    @property
    def pads_open(self) -> tuple[int, ...]:
        """The pads that the hit owed may take: not the pad of the first hit, nor one that was opened."""
        taken = {*self.opened, *(hit.pad for hit in self.hits)}
        return tuple(pad for pad in EVERY_PAD if pad not in taken)


def opened(story: Story, reveal: Reveal) -> Opening:
    """Return the opening of the story's commitment, with those of its hide that were taken back."""
    bound = reveal.table, reveal.epoch, reveal.event
    return Opening(reveal.hide, story.commit or "", reveal.pad, reveal.nonce, *bound, story.withdrawn)


def voided(story: Story) -> Story:
    """Return the story with its commitment, where it has one, taken back."""
    if story.commit is None:
        return story
    return replace(story, commit=None, withdrawn=(*story.withdrawn, story.commit), unsealed=True)


def seal_answered(story: Story, answer: str) -> Story:
    """Return the story with what `answer` says of a seal anew: it may be, or the judge says what the hits find."""
    if story.question is None or story.question.about != "sealed_again":
        return story
    return replace(story, unsealed=story.unsealed and answer != "play_on", by_hand=story.by_hand or answer == "by_eye")
