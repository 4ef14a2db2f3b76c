"""What is said to who does not see the page: outcome, what is waited for, questions; each once, by the right region."""

import pytest
from load_file import load_file

program = load_file("tests/browser/announcements.py")

HEARD = {
    "dakota": [
        [("polite", "Big Coulee hides the bead.")],
        [("polite", "First hit: Long Hollow.")],
        [
            ("polite", "The judge decides."),
            (
                "assertive",
                "Pads 3 and 4. More than one pad was touched. Which was first? pad 3 · pad 4 · no hit",
            ),
        ],
        [("polite", "First hit, pad 3: not found. Second hit: Long Hollow.")],
        [
            (
                "polite",
                (
                    "Second hit, pad 2: found. The bead was under pad 2. Called: Paguga. "
                    "Points: Big Coulee 0, Long Hollow 0. Sticks: Big Coulee 8, Long Hollow 0. Middle: 12. "
                    "Found at the second hit: four sticks to Big Coulee, who hide again."
                ),
            )
        ],
        [("polite", "Big Coulee hides the bead.")],
    ],
    "ojibwe": [
        [("polite", "Big Coulee hides, Long Hollow shoots.")],
        [
            (
                "polite",
                (
                    "Called: Missed. Short sticks: Big Coulee 0, Long Hollow 0. Counters: Big Coulee 4, Long Hollow 0. "
                    "Pool: 16. Missed: four counters to Big Coulee, who hide again."
                ),
            )
        ],
    ],
    "slahal": [
        [("polite", "Big Coulee hides, Long Hollow guesses.")],
        [
            (
                "polite",
                (
                    "Called: One caught, one missed. Sticks: Big Coulee 7, Long Hollow 4. Live: Big Coulee 5, "
                    "Long Hollow 4. Dead: Big Coulee 1, Long Hollow 0. Pairs out: 1. One pair is out: left or right."
                ),
            )
        ],
    ],
    "bageswin": [
        [("polite", "The last throw: 20. Sticks: Ann 20, Bo 0, Cy 0. Bank: 80.")],
        [("polite", "The last throw: 0. Sticks: Ann 20, Bo 0, Cy 0. Bank: 80. Bo throws.")],
    ],
    "plum_stone": [
        [("polite", "Big Coulee throws.")],
        [("polite", "The last throw: 10. Counters: Big Coulee 10, Long Hollow 0. Pile: 90.")],
        [("polite", "The last throw: 0. Counters: Big Coulee 10, Long Hollow 0. Pile: 90. Long Hollow throws.")],
        [("polite", "The last throw: 0. Counters: Big Coulee 10, Long Hollow 0. Pile: 90. Big Coulee throws.")],
    ],
    "patol": [
        [("polite", "Ann throws.")],
        [("polite", "The last throw: 10. Notches: Ann 10, Bo 0.")],
        [("polite", "The last throw: 3. Notches: Ann 13, Bo 0. Bo chooses a river and a direction.")],
    ],
}


@pytest.mark.parametrize("game", program.GAMES)
def test_screen_reader_announces_each_turn_once(chromium, tmp_path, game):
    (_, at_start), *steps = program.play(chromium, tmp_path, game)
    assert at_start == [[], []], "what the page says when it is opened is there to be read"
    for (name, announcements), expected in zip(steps, HEARD[game], strict=True):
        assert announcements == [expected, expected], name
