"""Readings of simulated scenes are those recorded, so that a changed limit is noticed.

They are recorded by
`PYTHONPATH=tests/support python tests/sensing/test_bead_figures.py > tests/sensing/bead_figures.json`.
"""

import json
from itertools import repeat
from pathlib import Path

import pytest
from load_file import load_file

measure = load_file("tests/sensing/measure_beads.py")

SEED = 4100
SCENES = [(kind, number) for kind in measure.KINDS for number in range(2)]
SCENES += [
    ("three of four", 2),
    ("steel 15", 6),
    ("steel 15", 12),
    ("bracelet", 28),
    ("four", 12),
    ("steel 30", 8),
    ("four", 9),
    ("two near", 15),
]
"""The last ones show constants that the others do not: found among 28 of each kind."""
RECORDED = Path(__file__).with_name("bead_figures.json")


def readings(kind, number):
    """Return what was read in a scene: for each time whether it is sure, and each bead's pad, kind and place in mm."""
    return [
        [reading.sure, [[bead.pad, bead.marked, round(bead.x_mm, 1), round(bead.y_mm, 1)] for bead in reading.found]]
        for reading in measure.play(number, kind, SEED).readings
    ]


PLACE_MM = 0.25
"""So far from the recorded place a bead may be."""


def is_alike(found, wanted, within=PLACE_MM):
    """Return True if lists of figures are equal, the fractional ones `within` so much."""
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(is_alike, found, wanted, repeat(within)))
    return abs(found - wanted) <= within if isinstance(wanted, float) else found == wanted


@pytest.mark.parametrize(("kind", "number"), SCENES)
def test_readings_are_those_recorded(kind, number):
    found, wanted = readings(kind, number), json.loads(RECORDED.read_text("utf-8"))[f"{kind} {number}"]
    assert is_alike(found, wanted), (found, wanted)


if __name__ == "__main__":
    rows = {f"{kind} {number}": readings(kind, number) for kind, number in SCENES}
    print("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()) + "\n}")
