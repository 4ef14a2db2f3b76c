"""A daemon in a process of its own, stopped (SIGSTOP) in the middle of a game while the board's bytes pile up."""

import os
import signal
from pathlib import Path

from cable import Cable
from fault_watching import Watcher
from ground_truth import compare
from killed_table import TableProcess

from pi_controller.games.dakota.people import Players
from pi_controller.journal.journal import Journal
from pi_controller.referee.history import effective_records
from pi_controller.rules import registry
from pi_controller.simulation.simulation import TICK_S, LockStep

SETTINGS = """
[table]
journal = "{folder}/{name}.sqlite"
[game.options]
points = {points}
[board]
port = "{device}"
[web]
enabled = false
"""


def settings_for(folder, name, device, points=1):
    """Write the settings of a table on `device` with its journal `name` in `folder`; return their path."""
    path = Path(folder) / f"{name}.toml"
    path.write_text(SETTINGS.format(folder=folder, name=name, device=device, points=points), "utf-8")
    return path


def run(seed, folder, seconds=60.0):
    """Play game `seed`; the daemon sleeps for `seconds` (of the people's time) as soon as a second hide is hit."""
    game = registry.game("dakota", {"points": "1"})
    with Cable(seed) as cable:
        side = TableProcess(settings_for(folder, "j", cable.device))
        watcher = Watcher(cable.by_id)
        side.start()
        try:
            players = Players(seed, cable.world, side.press, side.judge)
            lockstep = LockStep(cable, players, side)
            piled = -1
            while lockstep.view.phase != "over" and lockstep.t < 900.0:
                watcher.look(lockstep.t, lockstep.tick())
                if piled < 0 and lockstep.view.phase == "hit" and lockstep.view.hide >= 2:
                    watcher.began = lockstep.t
                    piled = _asleep(lockstep, cable, players, side, seconds)
                    watcher.woke = watcher.ended = lockstep.t
                    lockstep.view, lockstep.sent = side.step(lockstep.t, piled)
                    players.watch(lockstep.view)
                    watcher.look(lockstep.t, lockstep.view)
        finally:
            side.close()
    with Journal(Path(folder) / "j.sqlite", read_only=True) as journal:
        records = list(journal.read())
    facts = (fact for _, fact in effective_records(records))
    wrong = compare(players.truth, facts, game)
    return watcher.outcome(records, players.truth, game, wrong=wrong)


def _asleep(lockstep, cable, players, side, seconds):
    """People go on while the daemon's process is stopped; return how many bytes wait for it."""
    pid, piled, sent = side.process.pid, 0, lockstep.sent
    os.kill(pid, signal.SIGSTOP)
    try:
        end = lockstep.t + seconds
        while lockstep.t < end:
            players.act(lockstep.t)
            piled += cable.advance(TICK_S, sent)
            lockstep.t, sent = lockstep.t + TICK_S, 0
    finally:
        os.kill(pid, signal.SIGCONT)
    return piled
