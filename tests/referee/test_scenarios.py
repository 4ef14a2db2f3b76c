"""Stories of hides in plain text, tests/scenarios: each line is something that happens, `->` what must follow from it.

`= A 4, phase hit` states how the table stands. What follows must be told whole: an unlisted action, foul, question,
seal or reveal fails the story as a missing one does. A file plays Hampa Apena, or what its line `game NAME` says.
`preset NAME...` begins afresh at a table set up so, once for each name; `foul KIND MODE` and `nearest 2 3 1 4` set it
up further. What the judge types stands as it is typed: `protest A his sleeve`, `set long.A=8 middle=8; a stick had
rolled`.
"""

import pytest
from cases import ALL_CASES
from scenes import QUIET, SCENARIOS, Scene, steps, told

from pi_controller.errors import MatError
from pi_controller.referee.history import fold


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path / "journal.sqlite")
    yield scene
    scene.journal.close()


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario(path, scene):
    story_steps = [*steps(path.read_text("utf-8"))]
    for number, happens, expected, states in story_steps:
        where = f"{path.name}:{number}: {happens}"
        line, refused, code = (part.strip() for part in happens.partition("refused:"))
        if refused:
            story = scene.table and scene.table.story
            with pytest.raises(MatError) as error:
                scene.do(line)
            assert error.value.code == code, where
            assert story is None or scene.table.story == story, where
            continue
        facts = scene.do(line) if line else []
        assert [told(fact, scene.game.name) for fact in facts if fact.__struct_config__.tag not in QUIET] == expected, (
            where
        )
        for state in states:
            for name, value in (pair.split(maxsplit=1) for pair in state.split(",")):
                assert str(scene.stands(name)) == value, f"{where}: {name}"
        if scene.table:
            view = scene.table.view
            assert scene.game.name != "dakota" or sum(view.sheet["long"].values()) + view.sheet["middle"] == 20, where
            if ALL_CASES or number == story_steps[-1][0] or happens.startswith(("undo", "restart")):
                assert fold(scene.game, scene.journal.read()) == scene.table.story, where
            asked = view.question is not None and view.question.about != "disc_dead"
            due = view.phase in ("hit", "throw") and not asked and view.sensors and not view.held
            assert scene.table.armed == due, where


def test_there_are_scenarios():
    assert len(SCENARIOS) >= 10
