"""Run the calibration walk in the terminal or on a page, and save its result as a profile.

This module reads the clock and waits; the walk itself is `pi_controller.calibration.walk`.
"""

import queue
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.live import Live

from pi_controller import __version__
from pi_controller.board.message_source import Source
from pi_controller.board.messages import Message
from pi_controller.calibration import profile as profiles
from pi_controller.calibration.steps import WalkView
from pi_controller.calibration.walk import STEPS, Walk
from pi_controller.config import Settings, read_settings
from pi_controller.display.i18n import resolve_language, translator
from pi_controller.errors import UsageError
from pi_controller.journal.hidden_bead import may_hide_bead
from pi_controller.output import open_console
from pi_controller.runtime.assembly import make_source
from pi_controller.runtime.console import typed_lines
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.listening import SimListening
from pi_controller.simulation.sim_builder import Calibrator
from pi_controller.tools.walk_page import WalkPage
from pi_controller.tools.walk_picture import WalkPicture

IDLE_S = 0.01
SHOWN_HZ = 10
FINAL_VIEW_S = 1.0
"""How long the page is served after the end, so that browsers receive the last view."""
SIM_SEED = 1
MAX_SIM_S = 600.0
"""Longest simulated walk; a longer one is stuck."""


class RealMat:
    """A real mat, stepped by the wall clock."""

    def __init__(self, source: Source, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self.t = clock()

    def tick(self) -> list[Message]:
        """Wait for the board for at most `IDLE_S`; return its messages."""
        if self._source.port is None:
            time.sleep(IDLE_S)
        else:
            self._source.port.wait(IDLE_S)
        self.t = self._clock()
        return self._source.step(self.t)


class SimulatedMat:
    """A simulated mat with a simulated person who follows the instructions, as fast as the machine can."""

    def __init__(self, sim: SimListening) -> None:
        self._sim = sim
        self._who = Calibrator(sim.mat.world)
        self.t = 0.0
        self.view: WalkView | None = None

    def tick(self) -> list[Message]:
        """Advance the simulation by one step; return its messages."""
        if self.view is not None:
            self._who.act(self.view)
        messages = self._sim.tick()
        self.t = self._sim.t
        return messages


NEEDED_FOR = {"bead": ("empty", "bead")}
"""Steps of the walk that `--only` does."""


def calibrate(
    path: Path | None,
    mat: str = "a",
    name: str | None = None,
    *,
    simulated: bool = False,
    web: bool = False,
    only: str | None = None,
) -> bool:
    """Run the calibration of the table with the settings at `path`; return whether it passed and was saved.

    `mat` is the team whose mat is calibrated if each team has one; `name` is that of the profile (None: as in the
    settings); if `simulated`, a simulated mat takes its place. With `web` the walk is shown on a page too. `only` is a
    key of `NEEDED_FOR`: the other steps are skipped, and their results are those of the mat's profile, if it has one.
    Raises `MatError`.
    """
    settings = Settings() if path is None else read_settings(path)
    section, usual = "board", "mat"
    if mat == "b":
        settings, section, usual = _before_b(settings), "board_b", "mat-b"
    usual = "simulated" if simulated else settings.board.profile or usual  # never for a real mat
    name = profiles.check_name(name or usual)
    folder = (path or Path()).parent
    if not simulated:
        _check_allowed(settings, section)
    needed = NEEDED_FOR[only] if only else STEPS
    if only == "bead" and settings.magnetometers == 0:
        raise UsageError("these settings are for a mat without magnetometers", "leave --only bead out")
    with ExitStack() as stack:
        walk = Walk(
            settings.strikes.detector_settings(),
            settings.strikes.sensor,
            settings.magnetometers,
            [step for step in STEPS if step not in needed],
            settings.board.depth_mm,
        )
        publish = _page(settings, stack) if web else None
        source = _source(settings, stack, simulated=simulated)
        _drive(walk, source, publish, lambda: _keep(walk, folder, name, add_earlier=only is not None))
    if walk.passed and settings.board.profile != name:
        print(f'to use it, set [{section}] profile = "{name}" in its settings')
    return walk.passed


def _before_b(settings: Settings) -> Settings:
    if settings.mat.seats != "each":
        raise UsageError("these settings are for a table with one mat", 'set [mat] seats = "each", or leave --mat out')
    return settings.for_mat_b


def _check_allowed(settings: Settings, section: str) -> None:
    """Raise `UsageError` if there is no board, or if a game is running: its bead must not be located."""
    if settings.board.port == "none":
        hint = 'set [board] port = "auto"' if section == "board" else f"name its port in [{section}]"
        raise UsageError("these settings are for a table without a board", hint)
    if may_hide_bead(settings.table.journal):
        raise UsageError(
            f"a game is in progress in {settings.table.journal}: the mat cannot be calibrated now",
            "end the game first, or name settings with another journal",
        )


def _source(settings: Settings, stack: ExitStack, *, simulated: bool) -> RealMat | SimulatedMat:
    if simulated:
        conditions = Conditions(magnetometers=settings.magnetometers, depth_mm=settings.board.depth_mm)
        return SimulatedMat(stack.enter_context(SimListening(SIM_SEED, conditions)))
    source = make_source(settings)
    stack.callback(source.close)
    return RealMat(source)


def _keep(walk: Walk, folder: Path, name: str, *, add_earlier: bool) -> None:
    """Save the profile; `add_earlier` adds the earlier one's strikes and touch if it is of the same board."""
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    profile = walk.profile(name, made, __version__)
    if add_earlier and profiles.path_of(folder, name).exists():
        earlier = profiles.load_profile(folder, name)
        if earlier.board_id == profile.board_id:
            profile = msgspec.structs.replace(profile, strikes=earlier.strikes, touch=earlier.touch)
    walk.saved = str(profiles.save_profile(folder, profile))


def _page(settings: Settings, stack: ExitStack) -> Callable[[WalkView], None]:
    """Start the walk's page; return the function that publishes a view on it."""

    tr = translator(resolve_language(settings.web.language))
    page = WalkPage(settings.web.host, settings.web.port, tr)
    page.start()
    stack.callback(page.stop)
    print(f"calibration page: {page.url}", flush=True)
    return page.publish


def _drive(
    walk: Walk, source: RealMat | SimulatedMat, publish: Callable[[WalkView], None] | None, keep: Callable[[], None]
) -> None:
    console = open_console()
    simulated = isinstance(source, SimulatedMat)
    lines = typed_lines() if sys.stdin.isatty() and not simulated else queue.SimpleQueue[str]()
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    view, shown_at = walk.view, float("-inf")
    with live or ExitStack():
        while not view.over:
            if simulated:
                source.view = view
                if source.t > MAX_SIM_S:
                    raise UsageError("the simulated walk does not end", "a module of the mat does not answer")
            messages = source.tick()
            view = walk.step(source.t, messages)
            while not lines.empty():
                if (word := lines.get().strip()) in {"again", "skip"}:
                    (walk.repeat_step if word == "again" else walk.skip_step)()
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
        time.sleep(FINAL_VIEW_S)
