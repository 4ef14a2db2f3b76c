"""Name the orientations in which a magnetometer module can be mounted, and their rotations of a field."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from pi_controller.text import Sentence

Array = NDArray[np.float64]

TURNS = {
    Sentence("a quarter to the left"): np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    Sentence("a quarter to the right"): np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    Sentence("a half"): np.diag([-1.0, -1.0, 1.0]),
    Sentence("upside down, its arrow in the right direction"): np.diag([1.0, -1.0, -1.0]),
    Sentence("upside down, its arrow the other way"): np.diag([-1.0, 1.0, -1.0]),
}
"""Wrong orientations of a module, seen from above, and their rotation of a field."""
SIDES = {
    (0, 1): Sentence("right"), (0, -1): Sentence("left"), (1, 1): Sentence("hitter"),
    (1, -1): Sentence("hider"), (2, 1): Sentence("top"), (2, -1): Sentence("bottom"),
}  # fmt: skip
"""Direction along an axis (0 first, sign) of the mat, as the hider sees it."""


def right_angled_rotations() -> Array:
    """Return the 24 rotations that turn axes into axes, (24, 3, 3), the identity first."""
    found = [np.eye(3)]
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        turn = np.diag(signs)[:, list(order)]
        if np.linalg.det(turn) > 0 and not np.array_equal(turn, found[0]):
            found.append(turn)
    return np.array(found)


def describe_turn(turn: Array) -> Sentence:
    """Return the orientation of a module that reads `turn` @ field, in words."""
    for words, known in TURNS.items():
        if np.array_equal(known, turn):
            return words
    arrow, up = (_describe_direction(row) for row in turn[[0, 2]])
    return Sentence("on its edge: its x arrow points to the {arrow}, its upper side faces the {up}", arrow=arrow, up=up)


def _describe_direction(row: Array) -> Sentence:
    axis = int(np.abs(row).argmax())
    return SIDES[axis, int(np.sign(row[axis]))]
