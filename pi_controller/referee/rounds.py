"""Rounds of the hiders' hands: which hands are a hide, and which fouls they amount to.

Booklet, chapter 2: the hand goes under every pad, and under none twice. Between two hides people also take up the bead,
shake moccasins out and put pads straight; hands before the round are preparation and no foul.
"""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import NamedTuple

from pi_controller.pads import EVERY_PAD
from pi_controller.referee.settings import PASS_FOULS
from pi_controller.referee.story import Hide, Pass

MAX_UNCLEAR = 8
"""Hands of unknown side that are considered in one hide; further ones do not change the possible readings."""


class PassFoul(NamedTuple):
    """A foul that the passes may amount to, with the `pads` concerned; `sure` if they leave no doubt."""

    pads: tuple[int, ...]
    sure: bool


def split_rounds(passes: Sequence[Pass], pause_s: float, at: Sequence[float] = ()) -> list[tuple[Pass, ...]]:
    """Split `passes`, in their order, into rounds: runs without a pause of `pause_s` s in which no hand is under a pad.

    A new one also begins with the first hand after each of the times `at`.
    """
    rounds, until = list[list[Pass]](), 0.0
    for each in passes:
        goes_on = (
            rounds and each.since - until < pause_s and not any(rounds[-1][-1].since < t <= each.since for t in at)
        )
        if goes_on:
            rounds[-1].append(each)
        else:
            rounds.append([each])
        until = max(until, each.until) if goes_on else each.until
    return [tuple(one) for one in rounds]


def find_pass_fouls(hide: Hide, pause_s: float) -> dict[str, PassFoul]:
    """Return the fouls of chapter 2 that the hands of `hide` may amount to, {} if the hide is good.

    Each hand of unclear side may be the hiders' or not: a foul is sure if it is one in every such reading. It is not
    sure where the mat tells no sides, nor while the last bead may not have been up before the first hand.
    """
    unclear = [each for each in hide.passes if each.side == "unclear"][-MAX_UNCLEAR:]
    some = chain.from_iterable(combinations(unclear, n) for n in range(len(unclear) + 1))
    readings = [
        _read_hands(hide, [each for each in hide.passes if each.side != "unclear" or each in hiders], pause_s)
        for hiders in some
    ]
    certain = not hide.fetched and all(each.side is not None for each in hide.passes)
    fouls = dict[str, PassFoul]()
    for kind in PASS_FOULS:
        found = [one[kind] for one in readings if kind in one]
        if found:
            sure = certain and len(found) == len(readings) and all(foul.sure for foul in found)
            fouls[kind] = PassFoul(found[-1].pads, sure)
    return fouls


def missing_pads(hide: Hide, pause_s: float) -> set[int]:
    """Return the pads left out by the last round, without the hand that may have fetched the last bead."""
    return _left_out(_Hands(hide, [each for each in hide.passes if each.side != "unclear"], pause_s).hiding)


class _Hands:
    """The hands of a hide, all taken to be the hiders': the `last` round, and all hands since the bead was up.

    `shortest` is the last round if each reading of an empty mat begins one, also while the bead is in the hiders' hand:
    a pad is under twice for certain only if it is in this one. `hiding` is the last round without the hand that may
    have fetched the bead. The bead is up when that hand is out; the mat reads it as up only later. So `since_up` has
    several readings.
    """

    def __init__(self, hide: Hide, passes: Sequence[Pass], pause_s: float) -> None:
        before = sum(each.since < hide.began for each in passes)
        fetch = next((n + 1 for n, each in enumerate(passes) if each.fetched), 0)
        self.last = (split_rounds(passes[before:], pause_s, hide.rounds_begun) or [()])[-1]
        self.shortest = (split_rounds(passes[before:], pause_s, (*hide.rounds_begun, *hide.read_empty)) or [()])[-1]
        alone = hide.fetched and len(self.last) == len(passes)
        self.hiding = self.last[fetch or 1 :] if alone else self.last
        self.since_up = passes[fetch:], passes[before:], passes[1 if hide.fetched else before :]
        self.is_good = any(map(_is_each_once, (self.last, *self.since_up)))


def _is_each_once(passes: Sequence[Pass]) -> bool:
    return sorted(each.pad for each in passes) == [*EVERY_PAD]


def _left_out(passes: Sequence[Pass]) -> set[int]:
    return {*EVERY_PAD} - {each.pad for each in passes}


def _twice(passes: Sequence[Pass]) -> tuple[int, ...]:
    pads = [each.pad for each in passes]
    return tuple(pad for pad in EVERY_PAD if pads.count(pad) > 1)


def _read_hands(hide: Hide, passes: Sequence[Pass], pause_s: float) -> dict[str, PassFoul]:
    """Return the fouls of the hands `passes`, all taken to be the hiders'."""
    hands = _Hands(hide, passes, pause_s)
    if hands.is_good:
        return {}
    fouls = dict[str, PassFoul]()
    if skipped := _left_out(passes) or _left_out(hands.since_up[0]):  # the hand that fetched may also have hidden
        fouls["pad_skipped"] = PassFoul(tuple(sorted(skipped)), sure=bool(_left_out(passes)))
    if twice := _twice(hands.last):
        fouls["pad_twice"] = PassFoul(twice, sure=bool(_twice(hands.shortest)))
    if not fouls and len(hands.last) < len(EVERY_PAD) - 1:  # too few hands for a round of its own
        fouls["pad_twice"] = PassFoul(_twice(hands.since_up[0]), sure=False)
    elif not fouls:
        fouls["pad_skipped"] = PassFoul(tuple(sorted(_left_out(hands.last))), sure=False)
    return fouls
