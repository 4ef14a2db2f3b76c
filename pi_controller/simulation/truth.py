"""Ground truth of a simulated game: the players' true actions, compared with the table's journal.

Only a simulation can have this record. The players record it as they act, or it is predicted from the scripts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any, Literal

import msgspec
import numpy as np

from pi_controller.errors import MatError, UsageError
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap
from pi_controller.referee.facts import ActionPlayed, Fact, GameOpened, Ready, Reveal
from pi_controller.referee.settings import BEAD_FOULS, PASS_FOULS
from pi_controller.referee.story import apply, blank
from pi_controller.rules import registry
from pi_controller.rules.base import Action, Game, Team
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.sensors import HandStyle

# Plans of simulated hides, a function of (seed, hide) only: a repeated hide ends the same.
#
# All random choices are made here in advance: the order of the passes, how long the hand stays, the bead's place,
# fouls, and the struck pads with the strength of the strokes. The players of a killed and resumed table behave the
# same.


PaceName = Literal["brisk", "natural"]
Span = tuple[float, float]
HIDING_FOULS = (*PASS_FOULS, *BEAD_FOULS)
"""The hider's fouls of chapter 12 that the mat can detect at ready."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Ranges of people's times, seconds; `move` is a hand's way in, `look` the hitter's time to think."""

    start: Span
    move: Span
    dwell: Span
    gap: Span
    ready: Span
    look: Span
    show: Span


PACES: dict[PaceName, Pace] = {
    "brisk": Pace((0.05, 0.2), (0.2, 0.28), (0.2, 0.32), (0.04, 0.1), (0.1, 0.25), (0.25, 0.6), (0.1, 0.3)),
    "natural": Pace((0.8, 2.0), (0.35, 0.8), (0.4, 1.4), (0.15, 0.6), (0.4, 1.2), (1.2, 3.5), (0.6, 1.5)),
}
"""`brisk`: a hide in 5 to 6 seconds, for tests. `natural`: 10 to 20 seconds, for an audience."""


@dataclass(frozen=True, slots=True)
class Mischief:
    """Probabilities (0 to 1) of a detectable foul by the hider, and of a stroke on two pads at once."""

    fouls: float = 0.0
    doubts: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("fouls", self.fouls), ("doubts", self.doubts)):
            if not 0.0 <= value <= 1.0:
                raise UsageError(f"{name} = {value} is not a probability", "choose 0 to 1")


@dataclass(frozen=True, slots=True)
class Drop:
    """A placed bead: its `pad` (None: beside all pads), its place in mm, the direction of its moment."""

    bead: str
    pad: int | None
    place: tuple[float, float]
    facing: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class PadPass:
    """A hand goes under `pad`, stays `dwell_s`, puts down `drops`, comes out and rests for `gap_s`."""

    pad: int
    style: HandStyle
    dwell_s: float
    gap_s: float
    drops: tuple[Drop, ...] = ()


@dataclass(frozen=True, slots=True)
class Stroke:
    """The hitter waits for `look_s`, then strikes `pad`; the stick may also touch `also`, `also_after_s` later."""

    pad: int
    look_s: float
    after_s: float
    level_dbfs: float
    also: int | None = None
    also_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class HidePlan:
    """Plan of one hide. `place` is the pad over the bead, None if there is no single such pad."""

    hide: int
    start_s: float
    passes: tuple[PadPass, ...]
    ready_s: float
    place: int | None
    foul: str | None
    first: Stroke
    second: Stroke
    show_s: float


def toss(seed: int) -> Team:
    """Return the team that wins the toss."""
    return "A" if rng(seed, Stream.TOSS).random() < 0.5 else "B"


def hide_plan(seed: int, hide: int, pace: PaceName = "brisk", mischief: Mischief | None = None) -> HidePlan:
    """Return the plan of hide number `hide` of the table with this seed: always the same."""
    mischief = mischief or Mischief()
    times = PACES[pace]
    random = rng(seed, Stream.SCRIPT, hide)
    pads: list[int] = [*EVERY_PAD]
    place = int(random.choice(pads))
    first, second = (int(pad) for pad in random.choice(pads, 2, replace=False))
    foul = str(random.choice(HIDING_FOULS)) if random.random() < mischief.fouls else None
    doubt = random.random() < mischief.doubts
    order = _order(random, pads, pace)
    styles = {pad: style(random, times) for pad in pads}
    where: int | None = place
    beads = [place_under(random, "bead", place)]
    if foul == "pad_skipped":
        order.remove(int(random.choice([pad for pad in pads if pad != place])))
    elif foul == "pad_twice":
        order.insert(int(random.integers(1, len(order) + 1)), int(random.choice(pads)))
        if any(a == b for a, b in pairwise(order)):
            order = [*dict.fromkeys(order), order[0]]
    elif foul == "no_bead":
        beads, where = [], None
    elif foul == "two_beads":
        beads.append(place_under(random, "second bead", int(random.choice([pad for pad in pads if pad != place]))))
    elif foul == "bead_off_mat":
        beads, where = [_place_beside(random, place)], None
    passes: list[PadPass] = []
    for pad in order:
        at = [bead for bead in beads if (bead.pad or place) == pad]
        beads = [bead for bead in beads if bead not in at]
        passes.append(PadPass(pad, styles[pad], span(random, times.dwell), span(random, times.gap), tuple(at)))
    return HidePlan(
        hide=hide,
        start_s=span(random, times.start),
        passes=tuple(passes),
        ready_s=span(random, times.ready),
        place=where,
        foul=foul,
        first=stroke(random, times, first, doubt=doubt),
        second=stroke(random, times, second, doubt=False),
        show_s=span(random, times.show),
    )


def span(random: np.random.Generator, within: Span) -> float:
    """Return a random time in the range `within`, seconds."""
    return float(random.uniform(*within))


def _order(random: np.random.Generator, pads: list[int], pace: PaceName) -> list[int]:
    """Return this hider's order of the pads: along the row, backwards, or (if taking time) in any order."""
    if pace == "natural" and random.random() < 0.3:
        return [int(pad) for pad in random.permutation(pads)]
    return pads[:] if random.random() < 0.6 else pads[::-1]


def style(random: np.random.Generator, times: Pace) -> HandStyle:
    """Return a random style of a hand."""
    return HandStyle(span(random, times.move), float(random.uniform(18.0, 70.0)), float(random.uniform(30.0, 110.0)))


def _facing(random: np.random.Generator) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in random.standard_normal(3))
    return x, y, z


def place_under(random: np.random.Generator, bead: str, pad: int) -> Drop:
    """Return `bead` at a random place under `pad`."""
    pads = pinmap().pads
    x, y = pads.centre(pad)
    x += float(random.uniform(-0.42, 0.42)) * pads.width_mm
    y += float(random.uniform(-0.42, 0.42)) * pads.depth_mm
    return Drop(bead, pad, (x, y), _facing(random))


def _place_beside(random: np.random.Generator, pad: int) -> Drop:
    """Return a bead in the gap beside `pad`, or in front of it."""
    pads = pinmap().pads
    x, y = pads.centre(pad)
    if random.random() < 0.6:
        side = 1.0 if pad == 1 else -1.0 if pad == PADS else float(random.choice((-1.0, 1.0)))
        place = x + side * pads.pitch_mm / 2, y + float(random.uniform(-0.4, 0.4)) * pads.depth_mm
    else:
        place = x + float(random.uniform(-80.0, 80.0)), y - pads.depth_mm / 2 - float(random.uniform(20.0, 35.0))
    return Drop("bead", None, place, _facing(random))


def stroke(random: np.random.Generator, times: Pace, pad: int, *, doubt: bool) -> Stroke:
    """Return a stroke of random strength on `pad`; with `doubt` the stick also touches a pad beside it."""
    look, after = span(random, times.look), float(random.uniform(0.0, 0.03))
    level = float(random.uniform(-30.0, -10.0))
    near = [p for p in (pad - 1, pad + 1) if 1 <= p <= PADS]
    also, late = int(random.choice(near)), float(random.uniform(0.5e-3, 4e-3))
    return Stroke(pad, look, after, level, also if doubt else None, late if doubt else None)


MAX_HIDES = 2000
"""Limit for a game of the Dakota kind; a longer one indicates a fault in the rules."""


class TrueHit(msgspec.Struct, frozen=True):
    """A struck pad (the one touched first) for the hit `owed`, and whether the bead was under it."""

    owed: str
    pad: int
    found: bool


class TrueHide(msgspec.Struct):
    """One hide. `hits` contains the first and, if it was owed, the second.

    A neighbour pressed ready after the first `early` of the `passes`, or not at all (0).
    """

    hide: int
    hider: Team
    place: int | None
    passes: tuple[int, ...]
    foul: str | None
    hits: list[TrueHit] = msgspec.field(default_factory=list[TrueHit])
    early: int = 0

    def actions(self) -> Iterator[dict[str, Any]]:
        """Return the game actions that settle this hide, in their expected form."""
        if self.foul is not None:
            yield {"do": "foul", "by": "hider", "kind": self.foul}
            return
        for hit in self.hits:
            yield {"do": "hit", "found": hit.found, "pad": hit.pad}


class Truth(msgspec.Struct):
    """All hides of one table so far."""

    seed: int
    tossed: Team | None = None
    hides: dict[int, TrueHide] = msgspec.field(default_factory=dict[int, TrueHide])

    def record_hide(self, plan: HidePlan, hider: Team, passes: tuple[int, ...] = (), early: int = 0) -> None:
        """Record a hide by `plan`, by default with its `passes`; a restarted hide replaces the earlier record."""
        passes = passes or tuple(p.pad for p in plan.passes)
        self.hides[plan.hide] = TrueHide(plan.hide, hider, plan.place, passes, plan.foul, early=early)

    def record_stroke(self, hide: int, owed: str, pad: int) -> None:
        """Record a stroke for the owed hit; a repeated stroke replaces the earlier one."""
        true = self.hides[hide]
        before = [hit for hit in true.hits if owed == "second" and hit.owed == "first"]
        true.hits = [*before, TrueHit(owed, pad, pad == true.place)]

    def actions(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return (hide, action) in order; the toss belongs to hide 0."""
        if self.tossed is not None:
            yield 0, {"do": "toss", "winner": self.tossed}
        for hide in sorted(self.hides):
            for action in self.hides[hide].actions():
                yield hide, action

    def sheets(self, game: Game[Any]) -> dict[int, Mapping[str, Any]]:
        """Return the score sheet's state after each hide (0: after the toss), by folding the true actions."""
        state, sheets = game.opening(), dict[int, Mapping[str, Any]]()
        for hide, action in self.actions():
            state, _ = game.play(state, action)
            sheets[hide] = game.sheet(state)
        return sheets


class _FactsOfHide:
    """One hide, collected from the facts."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.sheet: Mapping[str, Any] = {}
        self.passes: tuple[int, ...] | None = None
        self.revealed: int | None = None


def facts_by_hide(facts: Iterable[Fact], game: Game[Any]) -> tuple[dict[int, _FactsOfHide], list[str]]:
    """Group facts by hide (the toss is in hide 0); return also the fault if they cannot be followed to the end."""
    tales: dict[int, _FactsOfHide] = {}
    story = blank(game)
    for fact in facts:
        hide = 0 if story.phase == "toss" else story.hide.number
        try:
            story = apply(game, story, fact)
        except MatError as error:
            return tales, [f"hide {hide}: the facts cannot be told further: {error.message}"]
        if isinstance(fact, ActionPlayed):
            this = tales.setdefault(hide, _FactsOfHide())
            this.actions.append(fact.action)
            this.sheet = game.sheet(story.state)
        elif isinstance(fact, Ready):
            begun = story.hide
            missed = story.hands.doubt >= begun.number or story.middle_strip_dead
            this = tales.setdefault(begun.number, _FactsOfHide())
            this.passes = None if missed else tuple(each.pad for each in begun.passes)
        elif isinstance(fact, Reveal):
            tales.setdefault(fact.hide, _FactsOfHide()).revealed = fact.pad
    return tales, []


def compare(truth: Truth, facts: Iterable[Fact], game: Game[Any] | None = None) -> list[str]:
    """Return every disagreement between the truth and the journalled facts, one line each: [] if they agree.

    It compares, hide by hide, the hits with their pads, fouls, the hands' passes, the revealed pad, and the sticks.
    `facts` are those that count (`referee.history.effective_records`). The rules are those of `game`, or of the
    `GameOpened` fact.
    """
    known = list(facts)
    if game is None:
        opened = next((fact for fact in known if isinstance(fact, GameOpened)), None)
        if opened is None:
            return ["the facts do not say which game was played"]
        game = registry.game(opened.game, opened.options)
    tales, wrong = facts_by_hide(known, game)
    sheets: dict[int, Mapping[str, Any]] = {}
    try:
        sheets = truth.sheets(game)
    except MatError as error:
        wrong.append(f"the true actions cannot be folded: {error.message}")
    want: dict[int, list[Action]] = {}
    for hide, action in truth.actions():
        want.setdefault(hide, []).append(action)
    for hide in sorted(want.keys() | {hide for hide, tale in tales.items() if tale.actions}):
        name = "the toss" if hide == 0 else f"hide {hide}"
        tale = tales.get(hide, _FactsOfHide())
        wrong += _actions(name, want.get(hide, []), tale.actions)
        if hide in truth.hides:
            wrong += _rest(name, truth.hides[hide], tale)
        if hide in sheets and tale.sheet and _sticks(sheets[hide]) != _sticks(tale.sheet):
            wrong.append(f"{name}: sticks are {_sticks(tale.sheet)}, truly {_sticks(sheets[hide])}")
    return wrong


def _actions(name: str, want: list[Action], have: list[Action]) -> list[str]:
    wrong: list[str] = []
    for i in range(max(len(want), len(have))):
        true = want[i] if i < len(want) else None
        action = have[i] if i < len(have) else None
        if _plain(true) != _plain(action):
            wrong.append(f"{name}: told {_plain(action)}, truly {_plain(true)}")
        elif true is not None and action is not None and action.get("pad", true.get("pad")) != true.get("pad"):
            wrong.append(f"{name}: told a hit on pad {action.get('pad')}, truly on pad {true.get('pad')}")
    return wrong


def _rest(name: str, true: TrueHide, tale: _FactsOfHide) -> list[str]:
    wrong: list[str] = []
    if tale.revealed is not None and tale.revealed != true.place:
        wrong.append(f"{name}: revealed under pad {tale.revealed}, truly under pad {true.place}")
    # the mat may have felt other hands before the hide: people take the bead up and tidy the pads
    until_ready = (true.passes, true.passes[: true.early or None])
    if tale.passes is not None and all(tale.passes[-len(one) :] != one for one in until_ready):
        wrong.append(f"{name}: passes {tale.passes}, truly {true.passes}")
    return wrong


def _plain(action: Action | None) -> str:
    """Return an action in a few words, so that two spellings of the same action are equal."""
    match action.get("do") if action else None:
        case _ if action is None:
            return "nothing"
        case "toss":
            return f"toss to {action['winner']}"
        case "hit":
            return f"hit {'found' if action.get('found') else 'missed'}"
        case "foul":
            return f"foul {action.get('kind')} by {action.get('by')}"
        case _:
            return str(dict(action))


def _sticks(sheet: Mapping[str, Any]) -> str:
    pools = ", ".join(f"{team} {sheet['long'][team]}+{sheet['short'][team]}" for team in ("A", "B"))
    return f"{pools}, middle {sheet['middle']}, hider {sheet['hider']}"


# Ground truth of games with a score sheet: the actions of each hide or throw, in order.
#
# The players record it as they act; a repeated turn replaces its earlier record. Only a simulation has this record.


class Turn(msgspec.Struct):
    """One hide or throw: the true actions, and the place of the bones or the marked ball, as in a reveal."""

    actions: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    place: int | None = None
    mischief: str = ""
    """The irregularities of the turn, for the record."""


class Turns(msgspec.Struct):
    """All turns of one table so far, by number; number 0 is before the first."""

    seed: int
    turns: dict[int, Turn] = msgspec.field(default_factory=dict[int, Turn])

    def begin(self, number: int, place: int | None = None, mischief: str = "") -> Turn:
        """Start the record of turn `number`, replacing an earlier one."""
        self.turns[number] = Turn(place=place, mischief=mischief)
        return self.turns[number]

    def record_actions(self, number: int, *actions: dict[str, Any]) -> None:
        """Record all actions of turn `number`."""
        self.turns.setdefault(number, Turn()).actions = list(actions)

    def actions(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (turn, action) in order."""
        for number in sorted(self.turns):
            for action in self.turns[number].actions:
                yield number, action


def compare_turns(truth: Turns, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
    """Return every disagreement between the truth and the journalled facts, one line each: [] if they agree.

    It compares all actions in order, the resulting state, and for each hide the revealed place. `facts` are those that
    count (`referee.history.effective_records`).
    """
    known = list(facts)
    wrong: list[str] = []
    journalled = [fact.action for fact in known if isinstance(fact, ActionPlayed)]
    done = list(truth.actions())
    for at, (true, recorded) in enumerate(zip_longest(done, journalled), 1):
        turn, action = true or (None, None)
        if action != recorded:
            wrong.append(f"action {at} (turn {turn}): told {recorded}, truly {action}")
            break  # all later actions would disagree as well
    if not wrong:
        try:
            after = game.sheet(_fold_actions(game, (action for _, action in done)))
            if not after["winner"]:
                wrong.append(f"the true actions lead to no winner: {after}")
        except MatError as error:
            wrong.append(f"the true actions cannot be folded: {error.message}")
    for fact in known:
        if isinstance(fact, Reveal):
            turn = truth.turns.get(fact.hide)
            if turn is None or turn.place != fact.pad:
                wrong.append(f"hide {fact.hide}: revealed {fact.pad}, truly {turn and turn.place}")
    return wrong


def _fold_actions(game: Game[Any], actions: Iterable[Action]) -> Any:
    state = game.opening()
    for action in actions:
        state, _ = game.play(state, action)
    return state
