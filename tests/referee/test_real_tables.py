"""Sixty mishaps at real tables, tests/scenarios/real_tables.stories: in no preset does one leave a table that is stuck.

A story is a line that says what happens and a line that does it, in the words of the scenarios. While it lasts nobody
answers. Then, in the preset `demo`, still nobody does, and a minute must be enough; in the others whoever judges comes
and answers what is asked. After that what was broken is mended, and a plain hide must come to its end.
"""

from pathlib import Path

import pytest
from cases import cases
from scenes import Scene

from pi_controller.referee.settings import PRESETS

FILE = Path(__file__).parent.parent / "scenarios" / "real_tables.stories"
HARMLESS = ("play_on", "none", "no", "hide_again", "missed")
A_MINUTE = 60.0
MENDED = ("link up", "all well")
MOVES = 40
"""What it takes at most to play a hide, with questions in between."""


def stories():
    """Return (what happens, its steps) of every story."""
    lines = [line for line in FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return list(zip(lines[::2], (line.split("; ") for line in lines[1::2]), strict=True))


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path / "journal.sqlite")
    yield scene
    scene.journal.close()


def move(view):
    """Return what people do next at a table that shows `view`."""
    match view.phase:
        case "toss":
            return ("toss A",)
        case "hide":
            return ("hands", "bead 1", "ready")
        case "check":
            return ("bead 1",)
        case "hit":
            return (f"strike {next(pad for pad in (2, 1) if pad not in {hit.pad for hit in view.hits})}",)
        case _:
            return ("hand 1", "no bead")


def answer(scene):
    """Whoever judges answers what is asked, with what does no harm."""
    asked = scene.table.view.question
    scene.do(f"answer {next((one for one in HARMLESS if one in asked.choices), asked.choices[0])}")


EACH = [(happens, steps, preset) for happens, steps in stories() for preset in PRESETS][:: cases(3, 1)]


@pytest.mark.parametrize(("happens", "steps", "preset"), EACH, ids=[f"{one[0]}-{one[2]}" for one in EACH])
def test_no_table_is_stuck(happens, steps, preset, scene):
    scene.afresh(preset)
    scene.do("link up")
    for step in steps:
        scene.do(step)
        view = scene.table.view
        assert sum(view.sheet["long"].values()) + view.sheet["middle"] == 20
    if preset == "demo":
        for _ in range(int(A_MINUTE)):
            scene.do("wait 1")
        assert scene.table.view.question is None, "a minute is over and still nobody can play"
    for mended in MENDED:
        scene.do(mended)
    for _ in range(MOVES):
        view = scene.table.view
        if view.phase == "over":
            return
        if view.question is not None:
            scene.do("wait 21") if preset == "demo" else answer(scene)
            continue
        before = view.hide, view.phase
        for line in move(view):
            if scene.table.view.question is None:
                scene.do(line)
        if before[1] == "hit" and scene.table.view.phase == "show":
            return
    pytest.fail(f"stuck: {scene.table.view}")


def test_there_are_sixty():
    assert len(stories()) == 60
