"""Kill the daemon (SIGKILL) at random moments of running games; each must resume and end as the unkilled game does."""

import random
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))  # killed_table.py

from foretold import predict
from killed_table import TableDiedError, TableProcess

from pi_controller.games.dakota.people import Players
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import ActionPlayed
from pi_controller.referee.history import effective_records
from pi_controller.rules import registry
from pi_controller.simulation.mat import SimMat
from pi_controller.simulation.simulation import TICK_S, LockStep

SETTINGS = """
[table]
journal = "{folder}/j.sqlite"
[game.options]
points = {points}
[board]
port = "{device}"
[web]
enabled = false
"""


def play(seed, kills, points, folder):
    """Play game `seed` with `kills` kills; return (the phases it was killed in, the actions, those foretold)."""
    moments = random.Random(seed)
    with SimMat(seed) as mat:
        settings = Path(folder) / "settings.toml"
        settings.write_text(SETTINGS.format(folder=folder, device=mat.device, points=points), "utf-8")
        side = TableProcess(settings)
        side.start()
        try:
            phases = _play(seed, kills, side, mat, moments)
        finally:
            side.close()
    game = registry.game("dakota", {"points": str(points)})
    with Journal(Path(folder) / "j.sqlite", read_only=True) as journal:
        done = [fact.action for _, fact in effective_records(journal.read()) if isinstance(fact, ActionPlayed)]
    return phases, done, [action for _, action in predict(seed, game).actions()]


def _play(seed, kills, side, mat, moments):
    players = Players(seed, mat.world, side.press, side.judge)
    lockstep = LockStep(mat, players, side)
    phases = []
    wait = moments.randrange(30, 600)
    for _ in range(200_000):
        if lockstep.view.phase == "over":
            break
        if wait == 0 and len(phases) < kills:
            # somewhere in the next few turns, wherever the process then is
            phases.append(lockstep.view.phase)
            timer = threading.Timer(moments.random() * 0.004, side.kill)
            timer.start()
            while True:
                try:
                    lockstep.tick()
                except TableDiedError:
                    break
            timer.join()
            for _ in range(moments.randrange(60)):  # people go on for a while before anyone notices
                mat.advance(TICK_S)
            side.start()
            lockstep = LockStep(mat, players, side, lockstep.t)
            wait = moments.randrange(30, 600)
        lockstep.tick()
        wait = max(0, wait - 1)
    return phases
