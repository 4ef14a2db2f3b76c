"""A table of the simulated tournament, in its own process: the table program with a judge who enters random results.

Journal, daemon, link to the hub and rules are those of `run`; there is no mat. The judge enters the results of two
teams without skill: hits find by luck, and each missed pad makes the next hit likelier to find.

    python -m pi_controller.simulation.table_process SETTINGS SEED PACE
"""

import logging
import random
import sys
from pathlib import Path
from typing import Any

from pi_controller.config import read_settings
from pi_controller.errors import MatError
from pi_controller.referee.judge import JudgeAction
from pi_controller.rules.base import Json
from pi_controller.runtime.assembly import assemble
from pi_controller.runtime.run import run_loop, running
from pi_controller.table.table import Table

IDLE_S = 0.02
HANDSHAKE_S = 1.5
"""Time of the teams at the table before a game, and for the handshake after it."""
_FINDS = {"first": 1 / 4, "second": 1 / 3}


class ChanceJudge:
    """Enters a random action every `pace` seconds from `rng`, during a match until it is over."""

    def __init__(self, rng: random.Random, pace: float) -> None:
        self._rng = rng
        self._pace = pace
        self._next = 0.0
        self._epoch = ""

    def step(self, t: float, table: Table, playing: bool) -> None:
        """Enter the next action if it is due; `playing`: the table has a match."""
        about = table.journal.meta
        if about is not None and about.epoch != self._epoch:
            self._epoch, self._next = about.epoch, t + min(HANDSHAKE_S, 10 * self._pace)
        if not playing or t < self._next or table.view.phase == "over":
            return
        self._next = t + self._pace
        try:
            table.judge(JudgeAction(t, self._action(table)))
        except MatError as error:
            logging.getLogger(__name__).warning("%s", error.message)

    def _action(self, table: Table) -> dict[str, Json]:
        legal = table.game.legal_actions(table.story.state)
        next_hit = table.view.sheet.get("owed")
        if next_hit in _FINDS and table.view.phase in ("hide", "hit"):
            return {"do": "hit", "found": self._rng.random() < _FINDS[next_hit]}
        return self._rng.choice([action for action in legal if action["do"] != "foul"] or list(legal))


def main(argv: list[str]) -> int:
    """Run the table until SIGTERM."""
    settings, seed, pace = read_settings(Path(argv[0])), int(argv[1]), float(argv[2])
    logging.basicConfig(level=logging.WARNING)
    judge = ChanceJudge(random.Random(seed), pace)
    with running() as (stop, service, clock, stack):
        daemon, commands, *_ = assemble(settings, Path(argv[0]).parent, clock, stack)
        table = daemon.table
        assert commands is not None

        def serve() -> None:
            commands.serve(table, clock())
            judge.step(clock(), table, _playing(table))

        run_loop(daemon, clock, stop, service, serve, min(IDLE_S, pace or 0.001))
    return 0


def _playing(table: Table) -> bool:
    story: Any = table.story
    return dict(story.teams) != {"A": "A", "B": "B"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
