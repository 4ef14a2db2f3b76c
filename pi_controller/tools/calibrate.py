"""Run the calibration walk in the terminal or on a page, and save its result as a profile.

This module reads the clock and waits; the walk itself is `pi_controller.calibration.walk`.
"""

import queue
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pi_controller import __version__
from pi_controller.board.message_source import Source
from pi_controller.board.messages import Message
from pi_controller.calibration import profile as profiles
from pi_controller.calibration.steps import StepView, WalkView
from pi_controller.calibration.walk import STEPS, Walk
from pi_controller.config import Settings, read_settings
from pi_controller.errors import UsageError
from pi_controller.journal.hidden_bead import may_hide_bead
from pi_controller.output import open_console
from pi_controller.runtime.assembly import make_source
from pi_controller.runtime.console import typed_lines
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.faults import SimulatedFault
from pi_controller.simulation.mat import SimListening
from pi_controller.simulation.sim_builder import Calibrator
from pi_controller.web.pushed_page import PushedPage
from pi_controller.web.templates import render

# The walk in a terminal, by rich: the steps with their results, the instruction and the live bars.
#
# Colour is never the only sign, and without Unicode the marks become ASCII.


BAR_CELLS = 32
MARKS = {"to_come": "\u00b7", "now": "\u25b6", "passed": "\u2713", "failed": "\u2717", "left_out": "\u2013"}
OUTCOMES = {"to_come": "", "now": "", "passed": "pass", "failed": "FAIL", "left_out": "left out"}
STYLES = {"to_come": "dim", "now": "bold", "passed": "green", "failed": "bold red", "left_out": "dim"}
BAR_MARKS = {"wait": " ", "now": "\u25b6", "good": "\u2713", "bad": "\u2717"}
BAR_STYLES = {"wait": "dim", "now": "cyan", "good": "green", "bad": "red"}
_ASCII = str.maketrans(
    {
        "\u00b7": ".",
        "\u25b6": ">",
        "\u2713": "+",
        "\u2717": "x",
        "\u2013": "-",
        "\u2588": "#",
        "\u2591": ".",
        "\u00b5": "u",
        "\u00b2": "2",
        "\u2192": ">",
    }
)
KEYS = "again: repeat this step   skip: leave it out   Ctrl-C: stop without changes"


class WalkPicture:
    """Renders one view with rich, also in `rich.live.Live`; with `keys` it includes the commands that can be
    typed.
    """

    def __init__(self, view: WalkView, *, keys: bool = False) -> None:
        self._view = view
        self._keys = keys
        self._ascii = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self._ascii = options.ascii_only
        view = self._view
        for step in view.steps:
            yield from self._step(step)
        yield Text()
        yield self._text(view.ask, "bold")
        yield self._text(view.note, "yellow")
        if view.bars:
            yield self._bars(options.max_width)
        if view.saved:
            yield self._text(f"saved as {view.saved}")
        if self._keys and not view.over:
            yield Text()
            yield self._text(KEYS, "dim")

    def _text(self, text: str, style: str = "") -> Text:
        return Text(text.translate(_ASCII) if self._ascii else text, style)

    def _step(self, step: StepView) -> Iterator[Text]:
        yield self._text(f"{MARKS[step.state]} {step.title:<24}{OUTCOMES[step.state]}", STYLES[step.state])
        for found in step.found if step.state == "passed" else ():
            yield self._text(f"    {found}", "dim")
        for wrong in step.wrong:
            yield self._text(f"    {wrong.message}", "red")
            yield self._text(f"      \u2192 {wrong.hint}")

    def _bars(self, width: int) -> Table:
        cells = max(8, min(BAR_CELLS, width - 44))
        table = Table.grid(padding=(0, 1))
        for bar in self._view.bars:
            full = round(bar.share * cells)
            drawn = self._text("\u2588" * full, BAR_STYLES[bar.state])
            drawn.append_text(self._text("\u2591" * (cells - full), "dim"))
            mark = self._text(BAR_MARKS[bar.state], BAR_STYLES[bar.state])
            table.add_row(mark, self._text(bar.label), drawn, self._text(bar.text))
        return table


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
    sim: Sequence[SimulatedFault] | None = None,
    *,
    web: bool = False,
    only: str | None = None,
) -> bool:
    """Run the calibration of the table with the settings at `path`; return whether it passed and was saved.

    `mat` is the team whose mat is calibrated if each team has one; `name` is that of the profile (None: as in the
    settings); `sim` are the faults of a simulated mat. With `web` the walk is shown on a page too. `only` is a key of
    `NEEDED_FOR`: the other steps are skipped, and their results are those of the mat's profile, if it has one. Raises
    `MatError`.
    """
    settings = Settings() if path is None else read_settings(path)
    section, usual = "board", "mat"
    if mat == "b":
        settings, section, usual = _before_b(settings), "board_b", "mat-b"
    usual = settings.board.profile or usual if sim is None else "simulated"  # never for a real mat
    name = profiles.check_name(name or usual)
    folder = (path or Path()).parent
    if sim is None:
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
        source = _source(settings, sim, stack)
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


def _source(settings: Settings, sim: Sequence[SimulatedFault] | None, stack: ExitStack) -> RealMat | SimulatedMat:
    if sim is not None:
        conditions = Conditions(magnetometers=settings.magnetometers, depth_mm=settings.board.depth_mm)
        return SimulatedMat(stack.enter_context(SimListening(SIM_SEED, conditions, sim)))
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

    page = WalkPage(settings.web.host, settings.web.port)
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
                    raise UsageError("the simulated walk does not end", "choose another fault")
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


# Serves the calibration walk as a web page with the terminal's steps, texts and bars, for a phone at the mat.
#
# The page is read-only: the mat's events advance the walk.


_STATIC = {
    "calibrate.css": ("pi_controller.tools", "text/css"),
    "calibrate.js": ("pi_controller.tools", "text/javascript"),
}
_PAGE, _WALK = (Path(__file__).with_name(name) for name in ("page.html", "walk.html"))


class WalkPage(PushedPage[WalkView]):
    """Serves the newest view at `host`:`port`. `publish` may be called from any thread."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port, _STATIC)

    def page(self, picture: WalkView | None) -> str:
        """Return the whole page."""
        walk, ask = ("", "") if picture is None else (render_walk(picture), picture.ask)
        return render(_PAGE, walk=walk, ask=ask)

    def event(self, picture: WalkView) -> tuple[str, bytes]:
        """Return the event with the walk as HTML, the instruction, and whether the walk is over."""
        content = {"html": str(render_walk(picture)), "said": picture.ask, "over": picture.over}
        return "walk", msgspec.json.encode(content)


def render_walk(view: WalkView) -> Markup:
    """Return a view as HTML: the instruction, the bars, the steps."""
    return Markup(render(_WALK, view=view, marks=MARKS, outcomes=OUTCOMES, bar_marks=BAR_MARKS))  # noqa: S704 - escaped in render
