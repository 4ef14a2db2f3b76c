"""Every story is told to the pipe as well, line by line: what follows there is what follows at a table."""

import pytest
from cases import cases
from msgspec import convert, json
from scenes import SCENARIOS, Scene, steps, told

from pi_controller.errors import MatError
from pi_controller.referee.facts import ANY_FACT, GameOpened
from pi_controller.referee.history import History
from pi_controller.referee.stream import Pipe
from pi_controller.sensing.events import SensorFaultsChange

AT_A_TABLE = GameOpened
"""What only a table says: a pipe has no journal to begin."""


class Piped(Scene):
    """A table, and a pipe that is told the same in JSON."""

    def sit(self):
        super().sit()
        self.out = []
        self.pipe = Pipe(self.game, self.referee(), self.out.append)
        self.pipe.history = History(self.game)  # a story says itself when its board is there
        for name in ("mat_event", "judge", "tick"):
            setattr(self.table, name, self.and_the_pipe(getattr(self.table, name)))

    def and_the_pipe(self, call):
        def both(said):
            # a line that says nothing new lets the time pass
            event = SensorFaultsChange(said, self.table.story.link.faults) if isinstance(said, float) else said
            self.pipe.line(json.encode(event))
            return call(said)

        return both

    def piped(self):
        """Return the facts that came out of the pipe since the last time."""
        out, self.out[:] = [*self.out], []
        for line in out:
            for beside in ("state", "line"):
                line.pop(beside, None)
        return [line if "error" in line else convert(line, ANY_FACT) for line in out]


@pytest.fixture
def scene(tmp_path):
    scene = Piped(tmp_path / "journal.sqlite")
    yield scene
    scene.journal.close()


@pytest.mark.parametrize("path", SCENARIOS[:: cases(5, 1)], ids=lambda path: path.stem)
def test_a_story_on_the_pipe(path, scene):
    checked = 0
    for number, happens, *_ in steps(path.read_text("utf-8")):
        line, refused, code = (part.strip() for part in happens.partition("refused:"))
        if line == "restart":
            break
        where = f"{path.name}:{number}: {happens}"
        if not line:
            continue
        if refused:
            with pytest.raises(MatError):
                scene.do(line)
            errors = [answer["error"]["kind"] for answer in scene.piped()]
            assert errors == ([] if code == "usage" else [code]), where  # "usage": it did not become a line
            continue
        facts = [fact for fact in scene.do(line) if not isinstance(fact, AT_A_TABLE)]
        if scene.table:
            assert [told(fact, scene.game.name) for fact in scene.piped()] == [
                told(fact, scene.game.name) for fact in facts
            ], where
            assert scene.pipe.story.state == scene.table.story.state, where
            assert scene.pipe.story.phase == scene.table.story.phase, where
            checked += len(facts)
    assert checked
