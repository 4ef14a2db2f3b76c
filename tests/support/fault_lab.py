"""A game on a bad cable, watched: what the judge is shown, and what the journal says beside what really happened."""

from collections import Counter
from pathlib import Path

from cable import Cable
from fault_watching import Reports, Watcher, hits_told
from ground_truth import disagreements

from pi_controller.board.serial_port import SerialPort, find_port
from pi_controller.errors import MatError
from pi_controller.referee.judge import JudgeAction
from pi_controller.rules import registry
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import TICK_S, Simulation

EYE_S = 6.0
"""A stroke that everybody saw and the mat has not told of for so long is entered by the judge."""
ASKED_MOST = 3
"""Asked so often whether there was a hit, people do not wait any longer: the hitter strikes and the judge answers."""
LIMIT_S = 1800.0
"""Virtual seconds after which a game that does not end has failed."""


class Lab:
    """A game of `points` on a `Cable` whose port is looked for by name, as at a real table. Close it, or use `with`."""

    def __init__(self, seed, folder, *, points=1, mischief=None):
        game = registry.game("dakota", {"points": str(points)})
        self.folder = Path(folder)
        self.cable = Cable(seed)
        path = self.folder / "j.sqlite"
        self.table = Simulation(seed, path, game, mat=self.cable, mischief=mischief or Mischief())
        connection = self.table.daemon.source
        connection.open_port = lambda: SerialPort(find_port("auto", self.cable.by_id))
        self.session = connection.session
        self.watcher = Watcher(self.cable.by_id)
        self.reports = Reports()
        self.table.daemon.observers.append(self.reports)
        self.on_stroke = None
        """Called once, as the next stroke is made; None waits for none."""
        self._asked = Counter()
        self._entered = 0
        self._since = (None, 0.0)
        self._strike = self.cable.world.strike
        self.cable.world.strike = self._struck
        self.answer_to = self.table.players.answer_to
        self.table.players.answer_to = self._judged

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.table.__exit__(None, None, None)

    @property
    def view(self):
        return self.table.view

    @property
    def t(self):
        return self.table.t

    def tick(self, dt=TICK_S):
        """Let `dt` seconds pass; the judge enters the strokes that the mat does not tell of."""
        self._enter()
        self.table.tick(dt)
        self.watcher.look(self.t, self.view)

    def wait(self, seconds):
        """Let time pass."""
        end = self.t + seconds
        while self.t < end:
            self.tick()

    def until(self, true, limit_s=300.0):
        """Play on until `true(self)`."""
        end = self.t + limit_s
        while not true(self):
            assert self.t < end, "the moment never came"
            assert not self.table.over, "the game was over before the moment came"
            self.tick()

    def begin(self):
        """The fault begins now."""
        self.watcher.began = self.t
        self.reports.begin()

    def end(self):
        """The fault is over now: all is whole again."""
        self.watcher.ended = self.t

    def suspend(self, seconds):
        """The host does nothing for so long, while people play on and the board's bytes pile up."""
        lockstep, piled = self.table.lockstep, 0
        end = lockstep.t + seconds
        while lockstep.t < end:
            self.table.players.act(lockstep.t)
            piled += self.cable.advance(TICK_S, lockstep.sent)
            lockstep.sent = 0
            lockstep.t += TICK_S
        self.watcher.woke = self.t
        lockstep.view, lockstep.sent = self.table.step(self.t, piled)
        self.table.players.watch(self.view)
        self.watcher.look(self.t, self.view)

    def play(self, hides=None):
        """Play to the end of the game, or until so many hides are behind."""
        end = self.t + LIMIT_S
        while not self.table.over and self.t < end:
            if hides is not None and self.view.hide > hides and self.view.phase == "hide":
                return
            self.tick()

    def outcome(self, note=""):
        """Return what came of it, by the journal and the simulator's truth."""
        records = list(self.table.journal.read())
        return self.watcher.outcome(
            records,
            self.table.truth,
            self.table.game,
            wrong=disagreements(self.table) + self.reports.wrong(),
            entered=self._entered,
            reports=self.reports.lines,
            note=note,
        )

    def told(self):
        """Return the hits that count in the journal."""
        return hits_told(list(self.table.journal.read()), self.table.game)

    def _struck(self, *args, **more):
        self._strike(*args, **more)
        if self.on_stroke is not None:
            then, self.on_stroke = self.on_stroke, None
            then()

    def _judged(self, view, asked):
        """Judge as the simulated judge does, but do not let the mat ask the same for ever."""
        self._asked[asked.about, view.hide, view.sheet["owed"]] += 1
        often = self._asked[asked.about, view.hide, view.sheet["owed"]] >= ASKED_MOST
        players = self.table.players
        struck = self.table.truth.hides[view.hide].hits if view.hide in self.table.truth.hides else []
        if often and asked.about == "link_gap" and view.sheet["owed"] not in {hit.owed for hit in struck}:
            plan = players.plan_of(view.hide)
            stroke = plan.first if view.sheet["owed"] == "first" else plan.second
            players.strike(view.hide, view.sheet["owed"], stroke, stroke.level_dbfs)
        return self.answer_to(view, asked)

    def _enter(self):
        """The judge enters a stroke that everybody saw and the mat does not tell of."""
        view = self.view
        hide = self.table.truth.hides.get(view.hide)
        hits = hide.hits if hide is not None else []
        waits = view.phase == "hit" and view.question is None and hits and hits[-1].owed == view.sheet["owed"]
        now = (view.hide, view.sheet["owed"]) if waits else None
        if now != self._since[0]:
            self._since = (now, self.t)
        if now is None or self.t - self._since[1] < EYE_S:
            return
        self._since = (None, self.t)
        action = {"do": "hit", "found": hits[-1].found, "pad": hits[-1].pad}
        try:
            self.table.daemon.table.judge(JudgeAction(self.t, action))
        except MatError:  # the judge was overtaken by what the mat felt
            return
        self._entered += 1


def run(do, seed, folder, hides=None):
    """Do the fault `do` to game `seed` in an empty `folder`, play on as `Lab.play`, and return what came of it."""
    with Lab(seed, folder) as lab:
        note = do(lab) or ""
        lab.play(hides)
        return lab.outcome(note)
