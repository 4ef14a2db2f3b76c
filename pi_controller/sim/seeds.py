"""Seeded randomness by name: the same (seed, stream, place in the stream) gives the same numbers, in any order."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What a number is drawn for; the values are part of every recorded seed, so they never change."""

    PIEZO = 1
    DRUM = 2
    STRIKE = 3
    PRESS = 4
    RUB = 5
    TOUCH = 6
    FIELD = 7
    MAT = 8
    BEAD = 9
    CLOCK = 10
    SCRIPT = 11
    TOSS = 12


def rng(seed: int, stream: Stream, *place: int) -> np.random.Generator:
    """Return a fresh generator for one place of a stream (all numbers 0 or more)."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, int(stream), *place))))
