"""One history for the table, the pipe and all that reads a journal: what was taken back is so in all of them."""

import json

from pi_controller.games.registry import game
from pi_controller.referee.judge import JudgeAction, JudgeReplace
from pi_controller.referee.referee import Referee
from pi_controller.referee.stream import Pipe
from pi_controller.table.table import Table


class Both:
    """A table and a pipe that hear the same."""

    def __init__(self, journal, name="dakota"):
        self.game = game(name)
        self.table = Table(journal, self.game, {}, Referee(self.game, None, bytes))
        self.out = []
        self.pipe = Pipe(self.game, Referee(self.game, None, bytes), self.out.append)
        self.t = 0.0

    def hear(self, call, *args):
        self.t += 1.0
        said = call(self.t, *args)
        self.table.judge(said)
        tag = {JudgeAction: "action", JudgeReplace: "replace"}[call]
        assert self.pipe.line(json.dumps({"t": self.t, "judge": tag, "action": args[0]}).encode())


def test_what_replaces_a_replacement_replaces_the_same_thing(memory_journal):
    both = Both(memory_journal())
    both.hear(JudgeAction, {"do": "toss", "winner": "A"})
    both.hear(JudgeAction, {"do": "hit", "found": True})
    both.hear(JudgeReplace, {"do": "hit", "found": False})
    both.hear(JudgeReplace, {"do": "hit", "found": True})
    for story in (both.table.story, both.pipe.story):
        sheet = both.game.sheet(story.state)
        assert (sheet["long"], sheet["middle"], story.hide) == ({"A": 4, "B": 4}, 12, 1)
