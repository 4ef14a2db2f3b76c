"""Runs the calibration walk in the terminal or on a page, and keeps its result as a profile.

This is the edge where clocks are read and time is waited for; the walk itself is `pi_controller.calibration.walk`.
"""

from __future__ import annotations

import queue
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from pi_controller import __version__
from pi_controller.assembly import board
from pi_controller.calibration import profile as profiles
from pi_controller.calibration.secret import hide_open
from pi_controller.calibration.terminal import WalkPicture
from pi_controller.calibration.walk import Walk
from pi_controller.console import typed_lines
from pi_controller.errors import UsageError
from pi_controller.sim.calibrating import Calibrator
from pi_controller.sim.conditions import Conditions
from pi_controller.sim.listening import SimListening
from pi_controller.table.settings import Settings, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.calibration.view import WalkView
    from pi_controller.link.messages import Message
    from pi_controller.link.source import Source
    from pi_controller.sim.faulty import Fault

IDLE_S = 0.01
SHOWN_HZ = 10
LAST_LOOK_S = 1.0
"""So long the page is served after the end: who watches keeps what it showed last."""
SIM_SEED = 1
SIM_S = 600.0
"""A simulated walk that takes longer has got stuck."""


class RealMat:
    """A real mat on the wall's clock."""

    def __init__(self, source: Source, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self.t = clock()

    def tick(self) -> list[Message]:
        """Wait a moment for the board; return what came."""
        if self._source.port is None:
            time.sleep(IDLE_S)
        else:
            self._source.port.wait(IDLE_S)
        self.t = self._clock()
        return self._source.step(self.t)


class SimulatedMat:
    """A simulated mat with somebody who does what is asked, as fast as the machine can."""

    def __init__(self, sim: SimListening) -> None:
        self._sim = sim
        self._who = Calibrator(sim.mat.world)
        self.t = 0.0
        self.view: WalkView | None = None

    def tick(self) -> list[Message]:
        """Let a moment pass."""
        if self.view is not None:
            self._who.act(self.view)
        messages = self._sim.tick()
        self.t = self._sim.t
        return messages


def calibrate(
    path: Path | None, mat: str = "a", name: str | None = None, sim: Sequence[Fault] | None = None, *, web: bool = False
) -> bool:
    """Walk through the calibration of the table with the settings at `path`; return whether all is well and kept.

    `mat` says before whom the mat lies where each team has one; `name` is the profile's, None the settings' own; `sim`
    has the faults of a simulated mat. With `web` the walk is shown on a page too. Raises `MatError`.
    """
    settings = Settings() if path is None else load(path)
    section, usual = "board", "mat"
    if mat == "b":
        settings, section, usual = _before_b(settings), "board_b", "mat-b"
    usual = settings.board.profile or usual if sim is None else "simulated"  # that one is for no real mat
    name = profiles.check_name(name or usual)
    folder = (path or Path()).parent
    if sim is None:
        _may(settings, section)
    with ExitStack() as stack:
        walk = Walk(settings.strikes.detector(), settings.strikes.sensor)
        publish = _page(settings, stack) if web else None
        source = _source(settings, sim, stack)
        _drive(walk, source, publish, lambda: _keep(walk, folder, name))
    if walk.passed and settings.board.profile != name:
        print(f'a table uses it with [{section}] profile = "{name}" in its settings')
    return walk.passed


def _before_b(settings: Settings) -> Settings:
    if settings.mat.seats != "each":
        raise UsageError("these settings are for a table with one mat", 'set [mat] seats = "each", or leave --mat out')
    return settings.before_b


def _may(settings: Settings, section: str) -> None:
    """Raise `UsageError` where there is no board to look at, or a bead that must not be looked for."""
    if settings.board.port == "none":
        todo = 'set [board] port = "auto"' if section == "board" else f"name its port in [{section}]"
        raise UsageError("these settings are for a table without a board", todo)
    if hide_open(settings.table.journal):
        raise UsageError(
            f"a game is under way in {settings.table.journal}: the mat is not looked at now",
            "end the game first, or name settings with another journal",
        )


def _source(settings: Settings, sim: Sequence[Fault] | None, stack: ExitStack) -> RealMat | SimulatedMat:
    if sim is not None:
        return SimulatedMat(stack.enter_context(SimListening(SIM_SEED, Conditions.quiet(), sim)))
    source = board(settings)
    stack.callback(source.close)
    return RealMat(source)


def _keep(walk: Walk, folder: Path, name: str) -> None:
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    path = profiles.save(folder, walk.profile(name, made, __version__))
    walk.saved = str(path)


def _page(settings: Settings, stack: ExitStack) -> Callable[[WalkView], None]:
    """Serve the walk's page; return what shows a view on it."""
    from pi_controller.calibration.page import WalkPage  # noqa: PLC0415 - a terminal needs no web server

    page = WalkPage(settings.web.host, settings.web.port)
    page.start()
    stack.callback(page.stop)
    print(f"the walk on a page: {page.url}", flush=True)
    return page.publish


def _drive(
    walk: Walk, source: RealMat | SimulatedMat, publish: Callable[[WalkView], None] | None, keep: Callable[[], None]
) -> None:
    """Walk to the end; show each view."""
    console = Console()
    simulated = isinstance(source, SimulatedMat)
    lines = typed_lines() if sys.stdin.isatty() and not simulated else queue.SimpleQueue[str]()
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    view, shown_at = walk.view, float("-inf")
    with live or ExitStack():
        while not view.over:
            if simulated:
                source.view = view
                if source.t > SIM_S:
                    raise UsageError("the simulated walk does not come to its end", "choose another fault")
            messages = source.tick()
            view = walk.step(source.t, messages)
            while not lines.empty():
                if (word := lines.get().strip()) in {"again", "skip"}:
                    (walk.again if word == "again" else walk.leave_out)()
                    view = walk.view
            if (now := time.monotonic()) - shown_at >= 1 / SHOWN_HZ:
                shown_at = now
                if live is not None:
                    live.update(WalkPicture(view, keys=not simulated), refresh=True)
                if publish is not None:
                    publish(view)
    if walk.passed:
        keep()
    view = walk.view
    console.print(WalkPicture(view))
    if publish is not None:
        publish(view)
        time.sleep(LAST_LOOK_S)
