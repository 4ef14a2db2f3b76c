"""State of a game and the table around it: a `Story`, folded from facts by `reducer.apply`.

A story and its parts are public, frozen and hashable. None has a field that could hold the bead's place before the
reveal. Data of a single hide belongs to its `Hide`, so that the next one begins as `Hide(number + 1)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pi_controller.pads import EVERY_PAD
from pi_controller.referee import facts
from pi_controller.rules.base import Game
from pi_controller.sensing.events import HUM, SensorFault

CLOCK_KEEPS_RUNNING = frozenset({"peek"})
"""The questions that do not stop the hitters' clock: their own hands raise them, and could stop it at will."""
Phase = Literal["toss", "hide", "check", "hit", "guess", "throw", "show", "over"]
SETTLED = frozenset({"show", "over"})
"""The phases in which the last hide is settled."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of the hide at `t`: the pad (None if entered without one) and whether it found the bead."""

    pad: int | None
    found: bool
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class KeptStroke:
    """A strike made at `t` while play stood, on `pads` in the order they were touched.

    `counts`: the judge has ruled that it is the first hit, as soon as the hide is checked.
    """

    t: float
    pads: tuple[int, ...]
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """An opened commitment: see `commitment.check`. `withdrawn` are the withdrawn ones of the same hide."""

    hide: int
    hash: str
    pad: int
    nonce: str
    table: str = ""
    epoch: str = ""
    event: int = 0
    withdrawn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A message for the people at the table that needs no answer: its topic `about`, and the `pads` concerned."""

    about: str
    pads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Protest:
    """An undecided protest, made at `t`. `play_on`: play continues before the decision."""

    by: str
    text: str = ""
    play_on: bool = False
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock started at `began` and stopped at `stopped_at` (None: it runs), seconds of the table's clock.

    Stopped time does not count: when the clock restarts, `began` is moved later by its length.
    """

    began: float = 0.0
    stopped_at: float | None = None

    def elapsed_s(self, t: float) -> float:
        """Return the elapsed seconds at `t`."""
        return max(0.0, (t if self.stopped_at is None else self.stopped_at) - self.began)

    def with_stopped(self, stands: bool, t: float) -> Clock:
        """Return the clock stopped at `t` (`stands`), or running on from its stopped value."""
        if stands:
            return self if self.stopped_at is not None else replace(self, stopped_at=t)
        return self if self.stopped_at is None else Clock(self.began + max(0.0, t - max(self.began, self.stopped_at)))

    def after_gap(self, since: float, t: float) -> Clock:
        """Return a clock with the same elapsed time at `t` as at `since`.

        `t` may be of another time base, even earlier.
        """
        return Clock(t - self.elapsed_s(since), None if self.stopped_at is None else t)


@dataclass(frozen=True, slots=True)
class Pass:
    """A hand under `pad` from `since` to `until` (s); the other fields as in `facts.HandPass`."""

    pad: int
    since: float
    until: float
    side: facts.PassSide = "hider"
    fetched: bool = False


SealState = Literal["none", "sealed", "withdrawn", "known", "by_eye"]


@dataclass(frozen=True, slots=True)
class Seal:
    """The commitment to the bead's place in one hide, by its `state`.

    `none`: the bead is not sealed yet. `sealed`: by `commit`. `withdrawn`: the commitment was withdrawn, so the judge
    is asked before the bead is sealed again. `known`: an undo took back what had revealed the place; the commitment may
    remain. `by_eye`: the judge enters what the hits find. `withdrawn` are the withdrawn commitments of the hide.
    """

    state: SealState = "none"
    commit: str | None = None
    withdrawn: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ValueError` for a state without its commitment, or a commitment without its state."""
        if self.state != "known" and (self.state == "sealed") != (self.commit is not None):
            raise ValueError(f"a seal that is {self.state} has {'no' if self.commit is None else 'a'} commitment")

    @property
    def may_seal(self) -> bool:
        """True if a bead that is read only now may be sealed."""
        return self.state in ("none", "withdrawn")

    def sealed(self, commit: str) -> Seal:
        """Return the seal with `commit`."""
        return Seal("sealed", commit, self.withdrawn)

    def unsealed(self, state: SealState = "none") -> Seal:
        """Return the seal in `state`, without a commitment; one that exists is withdrawn."""
        return Seal(state, None, self.withdrawn if self.commit is None else (*self.withdrawn, self.commit))

    def revealed(self) -> Seal:
        """Return the seal after an undo took back what had revealed the place."""
        return replace(self, state="known")


@dataclass(frozen=True, slots=True)
class Hide:
    """The hide in progress or just settled; in games of throws, the throw in progress.

    `number` counts from 1 and changes when the bead is shown; it is 0 in games of throws. `action_played`: an action of
    the game was played in this hide, so the record has it under this number. `passes` are the hands that have been
    under pads since the last hide was settled (in phase show: for the next hide), in the order in which they went
    under; those before `began` (s) are preparation. A new round begins at each of `rounds_begun` (s), and perhaps of
    `read_empty`. `fetched`: the bead may not have been up before the first pass. `waived_fouls` are the fouls and
    questions that the judge let pass. `foul` is the foul that settled the hide, `foul_seen` the name of the foul that
    the next action settles. `opened` are the opened pads (ojibwe). `strokes` counts the taps of the bowl or thrusts of
    the sticks since the last entered throw. `kept` are the strikes made while play stood, oldest first. `asked_t` is
    when the question was asked whose answer is being carried out, None else.
    """

    number: int = 1
    action_played: bool = False
    passes: tuple[Pass, ...] = ()
    began: float = float("-inf")
    rounds_begun: tuple[float, ...] = ()
    read_empty: tuple[float, ...] = ()
    fetched: bool = False
    waived_fouls: tuple[str, ...] = ()
    seal: Seal = Seal()
    hits: tuple[Hit, ...] = ()
    foul: str | None = None
    foul_seen: str = ""
    opened: tuple[int, ...] = ()
    strokes: int = 0
    kept: tuple[KeptStroke, ...] = ()
    asked_t: float | None = None

    def without_passes(self, t: float) -> Hide:
        """Return the hide without hands; those that go under a pad from `t` on are hiding."""
        return replace(self, passes=(), began=t, rounds_begun=(), read_empty=())

    @property
    def hiding_passes(self) -> tuple[Pass, ...]:
        """The passes that are no preparation."""
        return tuple(each for each in self.passes if each.since >= self.began)


@dataclass(frozen=True, slots=True)
class Hands:
    """How reliable the hand passes are, by the numbers of hides (0 for none).

    `doubt` is the last hide whose passes may be incomplete, `vague` the last with a doubtful pass, `broken` the last
    whose round was broken off (`facts.RoundBroken`). `under` is whether a hiders' or unidentified hand is under a pad
    while a hit is due.
    """

    doubt: int = 0
    vague: int = 0
    broken: int = 0
    under: bool = False


@dataclass(frozen=True, slots=True)
class LinkState:
    """The link to the mat's board: `up` is None before the first connection, `faults` are its faulty sensors."""

    up: bool | None = None
    why: str = ""
    faults: tuple[SensorFault, ...] = ()


@dataclass(frozen=True, slots=True)
class Clocks:
    """All clocks of a table, in seconds of its time.

    `waiting` is the clock of the current wait, `playing` the game's own, started when the bones are won (slahal).
    `paused` is when a judge stopped them, `last_t` the time of the last fact. `of_round`: the game's clock is that of
    the tournament's round, which this table cannot stop.
    """

    waiting: Clock = Clock()
    playing: Clock | None = None
    paused: float | None = None
    last_t: float = 0.0
    of_round: bool = False


@dataclass(frozen=True, slots=True)
class UndoTarget:
    """The target of an undo: it takes back `batch` and all later ones; 0 if there is none.

    `waited` is the clock's value when the batch came (seconds), `called` the foul that the mat or the clock called in
    it. `t` is the time of the batch; None after a restart, because the time base changed.
    """

    batch: int = 0
    waited: float = 0.0
    called: str = ""
    t: float | None = None


MAX_RECENT_TURNS = 8
"""Number of past turns that are kept."""


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A hide or a throw in which an action was played; `number` is the hide's, 0 for a throw.

    `side` is the team that hid or the thrower, `actions` are its actions (including a later foul that settles it
    again), and `calls` the words called for them.
    """

    number: int
    side: str
    actions: tuple[dict[str, Any], ...] = field(hash=False)
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """The state of a game and the table: `state` belongs to the rules, the other fields to the hide and the table.

    `calls` are the words called for the last action, `opening` is the last opened commitment. `notice` is a message
    that needs no answer; it is shown until the hide goes on. `sensors`: play uses the mat's sensors. `protest` is the
    next one to decide, `waiting_protests` are those after it. `revision` is the batch that last changed a judge's basis
    of decision (not mere readings), counted from `revision_from`, which differs between the games of a table.
    `recent_turns` are the last hides or throws, oldest first, including the one in progress. `previous_state` is the
    game's state before the last turn, None at the beginning. `order` is the hub's identifier of the assignment of this
    match, "" for a game of its own. `void` is why that match no longer counts, "" if it does. `waved_on` is how many
    times in a row the judge let play go on, for each of `WAVED_ON_QUESTIONS`.
    """

    state: Any
    phase: Phase = "toss"
    calls: tuple[str, ...] = ()
    hide: Hide = Hide()
    hands: Hands = Hands()
    opening: Opening | None = None
    question: facts.Question | None = None
    notice: ShownNotice | None = None
    note: str = ""
    link: LinkState = LinkState()
    clocks: Clocks = Clocks()
    undo_target: UndoTarget = UndoTarget()
    revision: int = 0
    revision_from: int = 0
    teams: tuple[tuple[str, str], ...] = ()
    sensors: bool = True
    protest: Protest | None = None
    waiting_protests: tuple[Protest, ...] = ()
    recent_turns: tuple[PlayedTurn, ...] = ()
    previous_state: Any = None
    order: str = ""
    void: str = ""
    waved_on: tuple[tuple[str, int], ...] = ()

    @property
    def strike_expected(self) -> bool:
        """True if a strike is due: a hit or a throw is expected, play is not held, and no question about it is open.

        While a disc is dead the judge is asked for the hit, and a strike that is felt after all answers that question.
        """
        asked = self.question is not None and self.question.about != "disc_dead"
        return self.phase in ("hit", "throw") and not asked and self.sensors and not self.held_by_protest

    def can_name_teams(self, game: Game[Any]) -> bool:
        """Return True if the teams can be named now: teams play `game`, and there was no hit, guess or throw yet."""
        return "players" not in game.settings and not self.recent_turns and self.phase != "over"

    @property
    def held_by_protest(self) -> bool:
        """True if a protest holds play."""
        return self.protest is not None and not self.protest.play_on

    @property
    def waiting_key(self) -> tuple[str, int, int, int]:
        """The key of the current wait: as long as it is unchanged, its clock continues."""
        return self.phase, self.hide.number, len(self.hide.hits), self.hide.strokes

    @property
    def clocks_stopped(self) -> bool:
        """True if all clocks are stopped, by a judge or by a protest."""
        return self.clocks.paused is not None or self.held_by_protest

    @property
    def play_stands(self) -> bool:
        """True during a time-out, a protest that holds play, an open question and a gap of the link.

        Meanwhile nothing is called and no strike counts, by no event and by no tick.
        """
        return self.clocks_stopped or self.question is not None or (self.link.up is False and self.sensors)

    @property
    def stopped_since(self) -> float | None:
        """When a judge or a protest stopped play, None if play is not stopped."""
        held = self.protest.t if self.protest is not None and self.held_by_protest else None
        return min((t for t in (self.clocks.paused, held) if t is not None), default=None)

    @property
    def blocked(self) -> bool:
        """True if the current wait cannot end now: the judge is asked, the clocks are stopped, or the mat is gone."""
        asked = self.question is not None and self.question.about not in CLOCK_KEEPS_RUNNING
        return self.clocks_stopped or asked or self.clock_held_by_hand or (self.link.up is False and self.sensors)

    @property
    def clock_held_by_hand(self) -> bool:
        """True if a hiders' or unidentified hand under a pad stops the hitters' clock."""
        return self.hands.under and self.phase == "hit" and "hand_stays" not in self.hide.waived_fouls

    @property
    def dead_pads(self) -> tuple[int, ...]:
        """The pads on which the hit now due would not be felt, although play uses the sensors."""
        if not self.sensors or self.link.up is None:
            return ()
        dead = {fault.pad for fault in self.link.faults if fault.sensor == "disc" and fault.why != HUM}
        return tuple(pad for pad in self.hittable_pads if pad in dead or not self.link.up)

    @property
    def middle_strip_dead(self) -> bool:
        """True if hands cannot be felt reliably under every pad: the middle touch strip of a pad is faulty."""
        return any(fault.sensor == "strip" and fault.strip == 1 for fault in self.link.faults)

    @property
    def pass_hide_number(self) -> int:
        """The number of the hide that hand passes belong to now."""
        return self.hide.number + (self.phase == "show")

    @property
    def round_broken(self) -> bool:
        """True if a round of the current hide was broken off, so its hiders may not know where play stands."""
        return self.hands.broken == self.pass_hide_number

    @property
    def passes_unsure(self) -> bool:
        """True if the passes of the current hide may be incomplete, or one of them doubtful."""
        return max(self.hands.doubt, self.hands.vague) >= self.pass_hide_number

    @property
    def hittable_pads(self) -> tuple[int, ...]:
        """The pads that the next hit may take: neither hit before nor opened in this hide."""
        taken = {*self.hide.opened, *(hit.pad for hit in self.hide.hits)}
        return tuple(pad for pad in EVERY_PAD if pad not in taken)
