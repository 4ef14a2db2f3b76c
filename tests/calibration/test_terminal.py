"""The walk in the terminal: complete without colour and without Unicode, and no wider than the terminal."""

import io

import pytest
from rich.console import Console

from pi_controller.calibration.steps import Bar, StepView, WalkView, make_fault
from pi_controller.tools.walk_picture import WalkPicture

VIEW = WalkView(
    steps=(
        StepView("empty", "The empty mat", "passed", found=("magnetometers: noise up to 0.6 µT",)),
        StepView("taps", "Taps on each pad", "failed", wrong=(make_fault("pad 2 feels no taps", "check its cable"),)),
        StepView("hands", "A hand under each pad", "left_out"),
        StepView("bead", "The bead on each pad", "now"),
    ),
    at=3,
    ask="Lay the marked bead on pad 2 and take the hand away.",
    note="The bead is read on pad 3.",
    bars=(Bar("pad 1", 1.0, "176 mA m²", "good"), Bar("pad 2", 0.0, "now", "now"), Bar("pad 3", 0.3, "x", "bad")),
    pad=2,
)


def drawn(view=VIEW, width=80, encoding="utf-8", keys=False):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    console = Console(file=file, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(WalkPicture(view, keys=keys))
    file.flush()
    return file.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


def test_complete_text_appears_without_colour():
    text = drawn(keys=True)
    for word in ("pass", "FAIL", "left out", "pad 2 feels no taps", "check its cable", "0.6 µT", VIEW.ask, VIEW.note,
                 "176 mA m²", "again", "Ctrl-C"):  # fmt: skip
        assert word in text
    assert "\x1b" not in text


def test_marks_tell_states_apart():
    marks = [line[0] for line in drawn().splitlines()[:8] if line and not line.startswith(" ")]
    assert len(set(marks[:4])) == 4


def test_ascii_is_enough():
    assert drawn(encoding="ascii").isascii()


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_it_is_no_wider_than_the_terminal(width):
    assert max(map(len, drawn(width=width).splitlines())) <= width


def test_full_and_empty_bars_are_filled_correctly():
    lines = {
        line.split("  ")[0][2:7]: line
        for line in drawn().splitlines()
        if "pad " in line and ("█" in line or "░" in line)
    }
    assert "░" not in lines["pad 1"]
    assert "█" not in lines["pad 2"]
