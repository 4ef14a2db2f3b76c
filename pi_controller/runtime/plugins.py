"""Observers and light scenes of other packages, found by entry points; both get only what the public pages show.

    [project.entry-points."moccasin_mat.observers"]
    my_log = "my_package:make_log"         # make_log(folder: Path) -> TableWatcher

    [project.entry-points."moccasin_mat.scenes"]
    my_scene = "my_package:draw"           # draw(view: View, t: float, pixels: int) -> list of (red, green, blue)

The host switches them on: `[observers] load = ["my_log"]`, `[strips] scene = "my_scene"`. An observer runs in a thread
of its own and gets copies: it can neither delay nor change play. One that raises is logged and left out until the next
start. What Python code could reach beyond its arguments is not fenced off: a host installs only what they trust.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.board.strips import check_frame
from pi_controller.display.drawing import Rgb
from pi_controller.display.lights import frame
from pi_controller.entry_points import OBSERVERS, SCENES, PluginError, load_function
from pi_controller.errors import JournalError, MatError, describe_error
from pi_controller.journal import file
from pi_controller.table.table import Observer, Table
from pi_controller.table.view import View, is_between_hides
from pi_controller.table.watcher import TableWatcher
from pi_controller.text import format_value

if TYPE_CHECKING:
    from pi_controller.referee.facts import Fact

log = logging.getLogger(__name__)

MAX_WAITING = 100
"""Views that wait for a slow observer; of more, the oldest are dropped."""
CLOSING_S = 5.0
"""Longest wait for an observer when the table stops, s."""

Scene = Callable[[View, float], Sequence[Rgb]]


def make_watcher(name: str, folder: Path) -> TableWatcher:
    """Return the observer `name`; `folder` is that of the settings file. Raises `PluginError`."""
    make = load_function(OBSERVERS, name)
    try:
        return make(folder)
    except MatError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {describe_error(error)}"
        raise PluginError(f"the observer {format_value(name)} cannot be started: {why}", "see its manual") from error


class WatcherFeed(Observer[Table]):
    """Keeps copies of a table's views for `watcher`, the observer `name`, until `deliver` passes them on."""

    def __init__(self, name: str, watcher: TableWatcher, journal: Path) -> None:
        self._name, self._watcher, self._journal = name, watcher, journal
        self._latest: View | None = None
        self._waiting: deque[tuple[View, str]] = deque(maxlen=MAX_WAITING)
        self._told: tuple[str, int] = ("", 0)
        """The journal's epoch and the last record that the observer has had."""

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Keep a new view."""
        if table.view is not self._latest and (about := table.journal.meta) is not None:
            self._latest = table.view
            self._waiting.append((table.view, about.epoch))

    def deliver(self, closing: bool = False) -> bool:
        """Pass on what waits, and with `closing` the end. Return False if the observer has failed and is off."""
        try:
            while self._waiting:
                self._tell(*self._waiting.popleft())
            if closing:
                self._watcher.close()
        except Exception:
            log.exception("the observer %s has failed and is off until the next start; the game continues", self._name)
            return False
        return True

    def _tell(self, view: View, epoch: str) -> None:
        self._watcher.on_view(_copy(view))
        if not is_between_hides(view):
            return
        before = self._told[1] if self._told[0] == epoch else 0
        try:
            facts = self._read_facts(epoch, before, view.seq)
        except JournalError:  # the next game is just replacing the file: what can be read comes with the next view
            return
        self._told = (epoch, max(before, view.seq))
        if facts:
            self._watcher.on_facts(facts)

    def _read_facts(self, epoch: str, after: int, to: int) -> list[tuple[int, Fact]]:
        """Return the records after `after` up to `to`; none if the file is already the next game's."""
        rows = file.read_rows(self._journal, epoch, after + 1, to) if to > after else None
        return [(row.seq, file.decode(row.body)) for row in rows or ()]


class WatcherThread(WatcherFeed):
    """Passes views and facts to the observer in a thread of its own."""

    def __init__(self, name: str, watcher: TableWatcher, journal: Path) -> None:
        super().__init__(name, watcher, journal)
        self._news = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name=f"observer {name}", daemon=True)
        self._thread.start()

    def on_step(self, t: float, table: Table, armed: bool) -> None:
        """Pass a new view to the thread."""
        super().on_step(t, table, armed)
        if self._waiting:
            self._news.set()

    def close(self) -> None:
        """Let the observer finish what waits; one that hangs is left behind."""
        self._stopping = True
        self._news.set()
        self._thread.join(CLOSING_S)

    def _work(self) -> None:
        stopping = False
        while not stopping:
            self._news.wait()
            self._news.clear()
            stopping = self._stopping  # what came before it is still in the queue
            if not self.deliver(closing=stopping):
                return


def _copy(view: View) -> View:
    return msgspec.convert(msgspec.to_builtins(view), View)


def make_scene(name: str, pixels: int) -> Scene:
    """Return the light scene `name`. Raises `PluginError`.

    The scene has to return `pixels` colours. If it raises or returns others, the built-in one is used from then on.
    """
    draw, off = load_function(SCENES, name), False

    def draw_safely(view: View, t: float) -> Sequence[Rgb]:
        nonlocal off
        if not off:
            try:
                colours: list[Any] = [tuple(map(int, pixel)) for pixel in draw(_copy(view), t, pixels)]
                return check_frame(colours, pixels)
            except Exception as error:  # noqa: BLE001 - another package's code
                why = f"{type(error).__name__}: {describe_error(error)}"
            off = True
            log.warning("the light scene %s is off until the next start: %s", name, why)
        return frame(view, t)

    return draw_safely
