"""Simulation of a whole table: every part real but the world, the people and the clock.

The same `Simulation` is behind `moccasin-mat demo`, the tests that play games through bytes, and the benchmarks.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol, Self

from pi_controller.daemon import Daemon
from pi_controller.drivers.buttons import MockButtons
from pi_controller.drivers.serial_port import SerialPort
from pi_controller.drivers.strips import MemoryStrip
from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.link.connection import BoardConnection
from pi_controller.mats import Mat, mat_sensors_for
from pi_controller.pinmap import pinmap
from pi_controller.referee.history import effective
from pi_controller.referee.referees import referee_for
from pi_controller.sim.mat import SimMat
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table, bound_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pi_controller.games.base import Game
    from pi_controller.referee.judge import JudgeCall
    from pi_controller.referee.seating import Seats
    from pi_controller.referee.settings import RefereeSettings
    from pi_controller.sim.conditions import Conditions
    from pi_controller.sim.dakota import Players
    from pi_controller.sim.people import People
    from pi_controller.sim.plans import Mischief, PaceName
    from pi_controller.sim.truth import Truth
    from pi_controller.sim.turn_people import TurnPeople
    from pi_controller.sim.turns import Turns
    from pi_controller.sim.world import World
    from pi_controller.table.view import View

TEAMS: Mapping[str, str] = {"A": "Team A", "B": "Team B"}
TICK_S = 0.032
"""Virtual seconds a tick: four piezo blocks."""


class TableSide(Protocol):
    """The table's end of the terminal."""

    def step(self, t: float, n: int) -> tuple[View, int]:
        """Take in the `n` bytes the mat wrote, let time pass to `t`; return the view and the bytes sent back."""
        ...


class LockStep:
    """Players, a simulated mat and a table that take turns in virtual time: an hour of play is a minute of work.

    Each tick the players act, the world and the firmware move on and write to their pseudo-terminal, the table reads
    exactly those bytes, and the players look at what it shows. The table may sit in this process (`Simulation`) or in
    another one (`table_process`), where a test can kill it. `t` is virtual seconds since the mat was laid
    out, plus `start`.
    """

    def __init__(self, mat: SimMat, players: People, side: TableSide, start: float = 0.0) -> None:
        self._mat = mat
        self._players = players
        self._side = side
        self.t = start
        self.view, self.sent = side.step(start, 0)
        players.watch(self.view)

    def tick(self, dt: float = TICK_S) -> View:
        """Let `dt` seconds pass for everyone; return what the table shows."""
        self._players.act(self.t)
        n = self._mat.advance(dt, self.sent)
        self.t += dt
        self.view, self.sent = self._side.step(self.t, n)
        self._players.watch(self.view)
        return self.view

    def again(self) -> None:
        """The table was started anew: look at what it shows."""
        self.sent = 0
        self.view, self.sent = self._side.step(self.t, 0)
        self._players.watch(self.view)

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
    judge: Callable[[JudgeCall], None],
    *,
    pace: PaceName = "brisk",
    mischief: Mischief | None = None,
) -> Players | TurnPeople:
    """Return the people who play `game`: `PEOPLE` of its own module here; `UsageError` where it has none."""
    own = registry.floor(game.name, "sim")
    if own is None:
        raise UsageError(f"nobody plays {game.name} in a simulation", "it can be played at a table and on paper")
    if game.hand_passes:
        return own.PEOPLE(seed, world, press, judge, pace=pace, mischief=mischief)
    return own.PEOPLE(seed, world, press, judge, game=game, pace=pace, mischief=mischief)


class Simulation:
    """A game between simulated people on a simulated mat, on a fresh journal at `path`; times are virtual seconds.

    The same seed plays the same game. `mat` is one made for it, on a bad cable say; it is closed with the rest. `seats`
    say who sits where; there is one mat here. `people` brings others than `people_for` does, and is called as that is.
    `teams` are their names by A and B.
    Raises `UsageError` when the journal is there already.
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
        people: Callable[..., Players | TurnPeople] = people_for,
        teams: Mapping[str, str] | None = None,
    ) -> None:
        if path.exists():
            raise UsageError(f"the journal {path} is there already", "choose another file, or replay that one")
        self.game = game
        with ExitStack() as stack:
            self.mat = stack.enter_context(mat or SimMat(seed, conditions))
            self.journal = stack.enter_context(Journal(path))
            referee = referee_for(game, settings, secrets.token_bytes, bound_to(self.journal, ""))
            table = Table(self.journal, game, dict(teams or TEAMS), referee, 0.0, seats)
            self.mat.world.seats = seats
            self.buttons = MockButtons()
            self.strip = MemoryStrip(pinmap().lights.count)
            self.daemon = Daemon(
                table,
                [Mat(BoardConnection(lambda: SerialPort(self.mat.device)), mat_sensors_for(game.name))],
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
        """What the table shows."""
        return self.daemon.table.view

    @property
    def state(self) -> Any:
        """The state of the game."""
        return self.daemon.table.story.state

    @property
    def over(self) -> bool:
        """Whether the game is finished."""
        return self.view.phase == "over"

    @property
    def truth(self) -> Truth | Turns:
        """What really happened."""
        return self.players.truth

    def disagreements(self) -> list[str]:
        """Return every disagreement between the journal and what really happened, one line each."""
        facts = (fact for _, fact in effective(self.journal.read()))
        return self.players.compare(facts, self.game)

    def tick(self, dt: float = TICK_S) -> View:
        """Let `dt` seconds pass."""
        return self.lockstep.tick(dt)

    def play(self, limit_s: float = 4 * 3600.0) -> View:
        """Play to the end of the game, or for `limit_s`."""
        return self.lockstep.play(limit_s)

    def step(self, t: float, n: int) -> tuple[View, int]:
        """The table's turn: see `TableSide`."""
        before = self.daemon.sent
        self.daemon.step(t, at_least=n)
        return self.view, self.daemon.sent - before

    def _press(self, name: str) -> None:
        self.buttons.press(name, self.t)

    def _judge(self, call: JudgeCall) -> None:
        self.daemon.table.judge(call)
