"""The plug is pulled after every single batch: the same players, going on from what they see, end the same game."""

import random

from cases import cases

from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee.history import fold
from pi_controller.referee.judge import JudgeAnswer
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import Table

PLAN = random.Random(11)
PLACES = [PLAN.randint(1, 4) for _ in range(60)]
HITS = [PLAN.sample([1, 2, 3, 4], 2) for _ in range(60)]


class Players:
    """Two teams and a judge who look at the table and do what comes next, as planned for the hide."""

    def __init__(self, journal):
        self.journal = journal
        self.game = game("dakota", {"points": 1})
        self.t = 0.0
        self.hands = []
        self.sit()

    def sit(self):
        referee = DakotaReferee(self.game, None, random.Random(self.journal.batch).randbytes)
        self.table = Table(self.journal, self.game, {"A": "Red", "B": "Blue"}, referee, self.t)
        self.table.mat_event(Link(self.t, up=True))
        self.hands = []

    def pull_the_plug(self):
        self.t = 0.0
        self.sit()

    def next(self):
        """Do one thing."""
        self.t += 1.0
        t, table, view = self.t, self.table, self.table.view
        place, hits = PLACES[view.hide], HITS[view.hide]
        if view.question is not None:
            answer = {"found": "found" if place in view.question.pads else "missed"}.get(view.question.about, "play_on")
            table.judge(JudgeAnswer(t, answer))
        elif view.phase == "toss":
            table.mat_event(Button(t, "toss_b"))
        elif view.phase == "hide" and (view.passes, self.hands) == (0, []):
            self.hands = [HandIn(t, 1)]
            table.mat_event(self.hands[0])
        elif view.phase == "hide" and view.passes < 4:
            pad = view.passes + 1
            if len(self.hands) % 2 == 0:
                self.hands.append(HandIn(t, pad))
            else:
                self.hands.append(HandOut(t, pad))
            table.mat_event(self.hands[-1])
        elif view.phase == "hide":
            table.mat_event(Button(t, "ready"))
        elif view.phase == "check" or (view.phase == "hit" and view.commit is None):
            table.mat_event(BeadsAtRest(t, (Bead(place),)))
        elif view.phase == "hit":
            table.mat_event(Strike(t, (hits[len(view.hits)],)))
        elif view.phase == "show":
            table.mat_event(BeadsAtRest(t, ()))
            self.hands = []
        table.tick(t)

    def play(self, kill_at=None, most=2000):
        for _ in range(most):
            if self.table.view.phase == "over":
                break
            before = self.journal.batch
            self.next()
            if kill_at is not None and before < kill_at <= self.journal.batch:
                self.pull_the_plug()
        view = self.table.view
        assert fold(self.game, self.journal.read()) == self.table.story
        hits = [(hit.pad, hit.found) for hit in view.hits]
        return view.phase, view.winner, view.long, view.middle, view.short, view.hide, hits


def test_kill_after_any_batch_changes_no_result(memory_journal):
    players = Players(memory_journal())
    end = players.play()
    batches = players.journal.batch
    assert end[0] == "over"
    assert batches > 60
    for kill_at in range(1, batches + 1, cases(3, 1)):
        assert Players(memory_journal()).play(kill_at) == end, kill_at


def test_a_kill_after_every_batch(memory_journal):
    """But for two: a hide that is cut off starts over, and a seal that is cut off is made again, for ever."""
    end = Players(memory_journal()).play()
    players = Players(memory_journal())
    for _ in range(1000):
        view = players.table.view
        if view.phase == "over":
            break
        before = players.journal.batch
        players.next()
        if players.journal.batch > before and not players.table.armed and players.table.view.phase != "hide":
            players.pull_the_plug()
    assert (view.phase, view.winner, view.long, view.middle, view.short, view.hide) == end[:-1]
    assert [(hit.pad, hit.found) for hit in view.hits] == end[-1]
