"""Habits of simulated people beside the play: shaking moccasins out, pressing *shown* early, pausing, pointing.

A plan is a tuple of `Act`s, drawn from a seed. The people of a simulated mat carry it out with hands and buttons, the
tests on the pipe as events. No act is a foul: RULES.md, "Between two hides". People pause before a round of hiding if
their hands were under pads since the bead was taken up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from random import Random
from typing import Literal

from pi_controller.errors import UsageError
from pi_controller.pads import EVERY_PAD
from pi_controller.sensing.events import Side

ROUND_PAUSE_S = 2.0
"""A round of hiding is a run of hands without a pause this long in which no hand is under a pad."""
PAUSE_S = (ROUND_PAUSE_S + 0.3, ROUND_PAUSE_S + 1.2)
"""Range of a pause between two rounds: the sensors report a hand up to 0.2 s after it moved."""
LOOK_S = (0.5, 0.9)
"""Range of times that even tidy people let pass once the bead is up: the mat reads that it is empty."""
SECOND_FALL_S = (0.3, 0.8)
"""Range of times after which a stick that bounced falls on a second pad."""
LATE_S = (5.0, 60.0)
"""Range of times that a busy judge takes to answer."""


@dataclass(frozen=True, slots=True)
class Habits:
    """Probabilities (0 to 1) of each habit in one hide; `Habits()` are tidy people.

    `shown_early`: *shown* is pressed before the bead is taken up; `shown_twice`, `shown_never`. `shake_out`: all four
    moccasins are shaken out, some twice. `straighten_before`, `straighten_after`: a struck pad is put straight before
    or after the bead is taken up. `toss_hand`: a hand is under a pad at the toss. `touch_up`: the hider touches a pad
    before the round. `pause`: the hider pauses in mid-round. `start_over`: the hider pauses and begins again at the
    first pad. `point`: a hitter points with a hand. `neighbour`: a player of the other team presses ready in mid-round.
    `bounce`: the stick falls on a second pad. `late`: the judge answers up to a minute late. `undo_twice`: the judge
    replaces a result and takes that back.
    """

    shown_early: float = 0.0
    shown_twice: float = 0.0
    shown_never: float = 0.0
    shake_out: float = 0.0
    straighten_before: float = 0.0
    straighten_after: float = 0.0
    toss_hand: float = 0.0
    touch_up: float = 0.0
    pause: float = 0.0
    start_over: float = 0.0
    point: float = 0.0
    neighbour: float = 0.0
    bounce: float = 0.0
    late: float = 0.0
    undo_twice: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            if not 0.0 <= getattr(self, each.name) <= 1.0:
                raise UsageError(f"{each.name} = {getattr(self, each.name)} is not a probability", "choose 0 to 1")

    def without_tidying(self) -> Habits:
        """Return these habits without hands at the pads before a round, but for the one that takes the bead up."""
        quiet = ("toss_hand", "straighten_before", "shake_out", "straighten_after", "touch_up")
        return replace(self, **dict.fromkeys(quiet, 0.0))


TIDY = Habits()
UNTIDY = Habits(
    shown_early=0.25,
    shown_twice=0.15,
    shown_never=0.15,
    shake_out=0.25,
    straighten_before=0.2,
    straighten_after=0.2,
    toss_hand=0.5,
    touch_up=0.15,
    pause=0.1,
    start_over=0.06,
    point=0.05,
    neighbour=0.05,
    bounce=0.04,
    late=0.05,
    undo_twice=0.05,
)
"""Ordinary people."""


def seeded_random(seed: int, purpose: str, number: int) -> Random:
    """Return the chances of the habits in turn `number` of the table with this seed: the same for each purpose."""
    return Random(f"{seed} {purpose} {number}")


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a plan, `after_s` seconds after the one before.

    `hand`: a hand of `side` goes under `pad` for `dwell_s`. `lift`: the same at the bead's pad, and takes the bead up.
    `shown`: the button is pressed. `wait`: people rest.
    """

    do: Literal["hand", "lift", "shown", "wait"]
    after_s: float
    pad: int = 0
    dwell_s: float = 0.0
    side: Side = "hider"


def plan_between_hides(
    random: Random, habits: Habits, struck: Sequence[int], lifter: Side, tidier: Side
) -> tuple[Act, ...]:
    """Return what people do from the reveal to the next round of hiding.

    `struck` are the pads that were hit. `lifter` is the side that takes the bead up, `tidier` the one that hides next.
    """
    press = Act("shown", random.uniform(0.1, 0.4))
    never = random.random() < habits.shown_never
    early, twice = random.random() < habits.shown_early, random.random() < habits.shown_twice
    acts = [_hand(random, pad, tidier) for pad in struck if random.random() < habits.straighten_before]
    crooked = [pad for pad in struck if random.random() < habits.straighten_after]
    lift = Act("lift", random.uniform(0.1, 0.5), dwell_s=random.uniform(0.15, 0.4), side=lifter)
    untidy = bool(acts) or never or early
    acts += [lift] if never else [press, lift] if early else [lift, press]
    tidying: list[Act] = []
    if random.random() < habits.shake_out:
        tidying += _shake_out(random, tidier)
    tidying += [_hand(random, pad, tidier) for pad in crooked]
    if random.random() < habits.touch_up:
        tidying.append(_hand(random, random.choice(EVERY_PAD), tidier))
    if twice and not never:
        tidying.insert(random.randint(0, len(tidying)), replace(press, after_s=random.uniform(0.3, 2.0)))
    last = rest(random) if tidying or untidy else Act("wait", random.uniform(*LOOK_S))
    return (*acts, *tidying, last)


def plan_round(random: Random, habits: Habits, passes: int) -> tuple[tuple[int, float], ...]:
    """Return the order of a round's `passes`, each by its number (0 first) with the seconds of a pause before it.

    A hider who starts over makes the first passes twice, before and after the pause.
    """
    straight = [(number, 0.0) for number in range(passes)]
    at, pause_s = random.randrange(1, max(2, passes)), random.uniform(*PAUSE_S)
    starts_over, pauses = random.random() < habits.start_over, random.random() < habits.pause
    if starts_over or pauses:
        again = 0 if starts_over else at
        return (*straight[:at], (again, pause_s), *straight[again + 1 :])
    return tuple(straight)


def plan_neighbour(random: Random, habits: Habits, order: Sequence[tuple[int, float]]) -> int | None:
    """Return the number of passes of a round in `order` after which a neighbour presses ready, or None.

    A hider who pauses, or starts over, has gone on by then: nobody could tell that round from a finished one.
    """
    paused = max((n for n, (_, pause_s) in enumerate(order) if pause_s), default=0)
    after = random.randint(paused + 1, max(paused + 1, len(order) - 1))
    return after if random.random() < habits.neighbour and after < len(order) else None


def rest(random: Random) -> Act:
    """Return a rest that is long enough to end a round."""
    return Act("wait", random.uniform(*PAUSE_S))


def _hand(random: Random, pad: int, side: Side) -> Act:
    return Act("hand", random.uniform(0.1, 0.6), pad, random.uniform(0.15, 0.5), side)


def _shake_out(random: Random, side: Side) -> list[Act]:
    """Return a hand at each pad in any order, and at some of them again."""
    pads = random.sample(EVERY_PAD, len(EVERY_PAD))
    again = [pad for pad in pads if random.random() < 0.15]
    return [_hand(random, pad, side) for pad in (*pads, *again)]
