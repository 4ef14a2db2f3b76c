"""Simulation of a whole table: every part is real except the world, the people and the clock.

It is used by `moccasin-mat demo`, by the tests that play games through bytes, and by the benchmarks.
"""

import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, Self

from pi_controller.board.buttons import MockButtons
from pi_controller.board.connection import BoardConnection
from pi_controller.board.strips import MemoryStrip
from pi_controller.errors import UsageError
from pi_controller.journal.journal import Journal
from pi_controller.pinmap import pinmap
from pi_controller.referee.facts import Seats
from pi_controller.referee.judge import JudgeCommand
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry
from pi_controller.rules.base import Game
from pi_controller.runtime.daemon import Daemon
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.habits import UNTIDY, Habits
from pi_controller.simulation.mat import SimMat
from pi_controller.simulation.people import People
from pi_controller.simulation.plans import Mischief, PaceName
from pi_controller.simulation.truth import Truth, Turns
from pi_controller.simulation.world import World
from pi_controller.table.mats import Mat, mat_sensors_for
from pi_controller.table.table import Table, commitment_context
from pi_controller.table.view import View

TEAMS: Mapping[str, str] = {"A": "Team A", "B": "Team B"}
TICK_S = 0.032
"""Virtual seconds a tick: four piezo blocks."""


class TableSide(Protocol):
    """The table's end of the terminal."""

    def step(self, t: float, n: int) -> tuple[View, int]:
        """Read the `n` bytes written by the mat, advance to `t`; return the view and the number of bytes sent back."""
        ...


class LockStep:
    """Players, a simulated mat and a table that take turns in virtual time: an hour of play takes about a minute.

    In each tick the players act, the world and the firmware advance and write to their cable, the table reads exactly
    those bytes, and the players see its new view. The table may be in this process (`Simulation`) or in another
    one, which a test can kill. `t` is virtual seconds since the mat was created, plus `start`.
    """

    def __init__(self, mat: SimMat, players: People, side: TableSide, start: float = 0.0) -> None:
        self._mat = mat
        self._players = players
        self._side = side
        self.t = start
        self.view, self.sent = side.step(start, 0)
        players.watch(self.view)

    def tick(self, dt: float = TICK_S) -> View:
        """Let `dt` seconds pass for everyone; return the table's view."""
        self._players.act(self.t)
        n = self._mat.advance(dt, self.sent)
        self.t += dt
        self.view, self.sent = self._side.step(self.t, n)
        self._players.watch(self.view)
        return self.view

    def play(self, limit_s: float = 4 * 3600.0) -> View:
        """Play until the game is over, or for `limit_s` virtual seconds."""
        end = self.t + limit_s
        while self.view.phase != "over" and self.t < end:
            self.tick()
        return self.view


def people_for(
    game: Game[Any],
    seed: int,
    world: World,
    press: Callable[[str], None],
    judge: Callable[[JudgeCommand], None],
    *,
    pace: PaceName = "brisk",
    mischief: Mischief | None = None,
    habits: Habits = UNTIDY,
) -> People:
    """Return the people who play `game`: `PEOPLE` of its module here. Raises `UsageError` if there are none."""
    own = registry.game_module(game.name, "people")
    if own is None:
        raise UsageError(f"{game.name} has no simulated players", "it can be played at a table and on paper")
    return own.PEOPLE(seed, world, press, judge, game=game, pace=pace, mischief=mischief, habits=habits)


class Simulation:
    """A game between simulated people on a simulated mat, on a fresh journal at `path`; times are virtual seconds.

    The same seed plays the same game. `mat` replaces the default mat, for example by one on a bad cable; it is closed
    with the simulation. `seats` is the seating; there is one mat. `people` replaces `people_for`, with the same
    arguments. `teams` are the teams' names by A and B. Raises `UsageError` if the journal exists already.
    """

    def __init__(
        self,
        seed: int,
        path: Path,
        game: Game[Any],
        *,
        conditions: Conditions | None = None,
        mischief: Mischief | None = None,
        pace: PaceName = "brisk",
        publish: Callable[[View], None] | None = None,
        mat: SimMat | None = None,
        seats: Seats = "turn",
        settings: RefereeSettings | None = None,
        people: Callable[..., People] = people_for,
        teams: Mapping[str, str] | None = None,
    ) -> None:
        if path.exists():
            raise UsageError(f"the journal {path} is there already", "choose another file, or replay that one")
        self.game = game
        with ExitStack() as stack:
            self.mat = stack.enter_context(mat or SimMat(seed, conditions))
            self.journal = stack.enter_context(Journal(path))
            referee = referee_for(game, settings, secrets.token_bytes, commitment_context(self.journal, ""))
            table = Table(self.journal, game, dict(teams or TEAMS), referee, 0.0, seats)
            self.mat.world.seats = seats
            built = self.mat.world.conditions.magnetometers
            depth_mm = self.mat.world.conditions.depth_mm
            sensors = mat_sensors_for(game.name, magnetometers=built, depth_mm=depth_mm)
            self.buttons = MockButtons()
            self.strip = MemoryStrip(pinmap().lights.count)
            self.daemon = Daemon(
                table,
                [Mat(BoardConnection(self.mat.open_port, built), sensors)],
                self.buttons,
                self.strip,
                publish,
            )
            stack.callback(self.daemon.close)
            self.players = people(game, seed, self.mat.world, self._press, self._judge, pace=pace, mischief=mischief)
            self.lockstep = LockStep(self.mat, self.players, self)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def t(self) -> float:
        """Virtual seconds played."""
        return self.lockstep.t

    @property
    def view(self) -> View:
        """The table's view."""
        return self.daemon.table.view

    @property
    def state(self) -> Any:
        """The state of the game."""
        return self.daemon.table.story.state

    @property
    def over(self) -> bool:
        """True if the game is finished."""
        return self.view.phase == "over"

    @property
    def truth(self) -> Truth | Turns:
        """The players' true actions."""
        return self.players.truth

    def tick(self, dt: float = TICK_S) -> View:
        """Let `dt` seconds pass."""
        return self.lockstep.tick(dt)

    def play(self, limit_s: float = 4 * 3600.0) -> View:
        """Play to the end of the game, or for `limit_s`."""
        return self.lockstep.play(limit_s)

    def step(self, t: float, n: int) -> tuple[View, int]:
        """Do the table's turn: see `TableSide`."""
        before = self.daemon.sent
        self.daemon.step(t, at_least=n)
        return self.view, self.daemon.sent - before

    def _press(self, name: str) -> None:
        self.buttons.press(name, self.t)

    def _judge(self, call: JudgeCommand) -> None:
        self.daemon.table.judge(call)
