"""Who sits where: one mat that turns with the roles, and a mat before each team."""

import pytest

from pi_controller.board.message_source import NoSource
from pi_controller.board.messages import LinkDown, LinkUp
from pi_controller.config import read_settings
from pi_controller.errors import SettingsError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import HandPass, LinkSeen, Notice, StrikeFelt
from pi_controller.referee.judge import JudgeAction, JudgeUndo
from pi_controller.rules import registry
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, SensorFault, Strike
from pi_controller.sensing.sensors import MatSensors
from pi_controller.table.mats import Mat, Mats
from pi_controller.table.table import Table


class Told(MatSensors):
    """A feel that says what a test tells it to, instead of what it feels; a message is its own events."""

    def feed(self, message):
        return [*message] if isinstance(message, tuple) else super().feed(message)


class Scene:
    """A table, its mats, and a clock that goes on by a second with each thing that happens."""

    def __init__(self, folder, seats, mats):
        game = registry.game("dakota")
        self.journal = Journal(folder / "j.sqlite")
        self.table = Table(self.journal, game, {"A": "A", "B": "B"}, DakotaReferee(game, None, bytes), seats=seats)
        self.each = [Mat(NoSource(), Told()) for _ in range(mats)]
        self.mats = Mats(self.table, self.each)
        self.t = 0.0
        for n, mat in enumerate(self.each):
            self.mats.feed([LinkUp(self.now(), f"board {n}", "1", 1, "power", 4)], mat)

    def now(self):
        self.t += 1.0
        return self.t

    def judge(self, **action):
        self.table.judge(JudgeAction(self.now(), action))

    def happens(self, event, mat=0):
        self.mats.feed([(event,)], self.each[mat])

    def hide(self, place, order=(1, 2, 3, 4), mat=0):
        """All as the mat itself numbers its pads."""
        # the hiders' edge is the mat's own hitters' edge for the team that sits at the far one
        side = "hitter" if self.table.mirrored and self.table.seats == "turn" else "hider"
        for pad in order:
            self.happens(HandIn(self.now(), pad, side), mat)
            self.happens(HandOut(self.now(), pad, side), mat)
        self.happens(BeadsAtRest(self.now(), (Bead(place),)), mat)

    def facts(self, kind):
        return [fact for _, fact in self.journal.read() if isinstance(fact, kind)]


@pytest.fixture
def scene(tmp_path, request):
    made = Scene(tmp_path, *request.param)
    yield made
    made.journal.close()


turning = pytest.mark.parametrize("scene", [("turn", 1)], indirect=True)
each = pytest.mark.parametrize("scene", [("each", 2)], indirect=True)


def ready(scene):
    scene.table.mat_event(Button(scene.now(), "ready"))


@turning
def test_pads_are_mirrored_for_the_far_team(scene):
    scene.judge(do="toss", winner="B")
    scene.hide(place=1)
    assert [each.pad for each in scene.facts(HandPass)] == [4, 3, 2, 1]
    ready(scene)
    assert scene.table.view.phase == "hit"
    scene.happens(Strike(scene.now(), (2,)))
    assert (scene.table.view.hits[0].pad, scene.table.view.hits[0].found) == (3, False)
    scene.happens(Strike(scene.now(), (1,)))
    assert scene.facts(StrikeFelt)[-1].pads == (4,)
    assert scene.table.view.opening.pad == 4


@turning
def test_undo_of_role_change_mirrors_referee_memory_back(scene):
    scene.judge(do="toss", winner="A")
    scene.hide(place=1)
    ready(scene)
    scene.happens(Strike(scene.now(), (1,)))  # found by the first hit: the roles change
    assert (scene.table.view.sheet["hider"], scene.table.mirrored) == ("B", True)
    scene.happens(BeadsAtRest(scene.now(), (Bead(1),)))  # it still lies there, which is pad 4 for B
    scene.table.judge(JudgeUndo(scene.now(), "not touched"))
    # what was undone had shown the bead: it is hidden anew
    assert (scene.table.view.sheet["hider"], scene.table.mirrored, scene.table.view.phase) == ("A", False, "hide")
    scene.hide(place=1)
    ready(scene)
    scene.happens(Strike(scene.now(), (1,)))
    assert (scene.table.view.sheet["hider"], scene.table.view.hits[-1].found) == ("B", True)


@turning
def test_hand_staying_through_role_change_becomes_hitters(scene):
    scene.judge(do="toss", winner="A")
    scene.happens(HandIn(scene.now(), 2, "hider"))
    scene.table.judge(JudgeUndo(scene.now(), "B won the toss"))
    scene.judge(do="toss", winner="B")
    scene.happens(HandOut(scene.now(), 2, "hider"))
    scene.hide(place=1)
    ready(scene)
    assert (scene.table.mirrored, scene.table.view.question, scene.table.view.passes) == (True, None, 4)


@turning
def test_role_change_reports_dead_sensors_mirrored(scene):
    scene.each[0].sensors.reported = (SensorFault("disc", 1, "silent"),)
    scene.judge(do="toss", winner="B")
    assert scene.table.view.faults == (SensorFault("disc", 4, "silent"),)


@each
def test_sensors_of_the_hitters_mat_are_ignored(scene):
    scene.judge(do="toss", winner="B")
    scene.hide(place=2, mat=1)
    scene.happens(HandIn(scene.now(), 2), mat=0)
    scene.happens(HandOut(scene.now(), 2), mat=0)
    ready(scene)
    assert [each.pad for each in scene.facts(HandPass)] == [1, 2, 3, 4]
    assert [mat.sensors.reporting_enabled for mat in scene.each] == [False, True]
    scene.happens(Strike(scene.now(), (2,)), mat=0)
    assert not scene.facts(StrikeFelt)
    scene.happens(Strike(scene.now(), (2,)), mat=1)
    assert (scene.table.view.phase, scene.table.view.sheet["hider"]) == ("show", "A")


@each
def test_bead_is_revealed_on_the_hiders_mat(scene):
    scene.judge(do="toss", winner="A")
    scene.hide(place=2)
    ready(scene)
    scene.happens(Strike(scene.now(), (2,)))
    assert scene.table.view.phase == "show"
    scene.happens(BeadsAtRest(scene.now(), ()), mat=1)
    assert scene.table.view.phase == "show", "the mat that was always empty shows nothing"
    scene.happens(BeadsAtRest(scene.now(), ()), mat=0)
    assert (scene.table.view.phase, scene.table.view.sheet["hider"]) == ("hide", "B")
    scene.hide(place=3, mat=1)
    ready(scene)
    assert scene.table.view.phase == "hit"


@each
def test_mat_link_is_reported_when_its_turn_comes(scene):
    scene.judge(do="toss", winner="A")
    scene.mats.feed([LinkDown(scene.now(), "no board was found")], scene.each[1])
    assert scene.table.view.link
    scene.hide(place=2)
    ready(scene)
    scene.happens(Strike(scene.now(), (2,)))
    assert not scene.table.view.link
    assert scene.facts(LinkSeen)[-1].why == "The mat before B: no board was found"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[board_b]\nport = "/dev/ttyACM1"', 'is used only if [mat] seats = "each"'),
        ('[mat]\nseats = "each"', "there are two"),
        (
            '[mat]\nseats = "each"\n[board]\nport = "/dev/a"\n[board_b]\nport = "/dev/a"',
            "is already the board in [board]",
        ),
        ('[mat]\nseats = "each"\n[board]\nport = "none"\n[recording]\nhits = true', "is not possible with two mats"),
        ('[mat]\nseats = "round"', "seats"),
    ],
)
def test_settings_that_do_not_go_together(tmp_path, text, said):
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        read_settings(tmp_path / "t.toml")
    assert said in caught.value.message


@each
def test_boards_exchanged_in_mid_game_are_told_once(scene):
    scene.judge(do="toss", winner="A")
    scene.hide(2)
    for mat in scene.each:
        scene.mats.feed([LinkDown(scene.now(), "The cable is out.")], mat)
    for n, mat in enumerate(scene.each):
        scene.mats.feed([LinkUp(scene.now(), f"board {1 - n}", "1", 1, "power", 4)], mat)
    assert scene.table.view.notice.about == "other_board"
    assert scene.facts(LinkSeen)[-1].why == "The mat before A: another board"
    for _ in range(2):  # the next change of sides says nothing of it
        scene.judge(do="foul", by="hider", hide="this", kind="no_bead")
    told = [fact for fact in scene.facts(Notice) if fact.about == "other_board"]
    assert len(told) == 1
