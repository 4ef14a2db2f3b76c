"""Main loop of a table or an exhibit on real hardware and the wall clock, with a console for a table's judge.

This module reads the clock and waits. Times are seconds since 1970, read once at the start and carried on by the
monotonic clock, so that setting the wall clock does not change the game's time.
"""

from __future__ import annotations

import gc
import os
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_controller.board.message_source import NoSource
from pi_controller.config import Settings
from pi_controller.display.i18n import ENGLISH, Translator, translator
from pi_controller.display.terminal import render_text
from pi_controller.host.clock import JumpDetector, SteadyClock
from pi_controller.host.notify import Notifier, from_environment
from pi_controller.output import line_width
from pi_controller.runtime.assembly import assemble, assemble_exhibit, in_language, print_urls
from pi_controller.runtime.console import execute_line, help_now, typed_lines
from pi_controller.runtime.daemon import FRAME_S, Daemon
from pi_controller.table.table import Observer, Table
from pi_controller.table.table_queue import TableQueue
from pi_controller.table.view import View

if TYPE_CHECKING:
    from pi_controller.exhibit.installation import Installation

PRIVATE_UMASK = 0o077
"""Umask of a table run by hand: its journal, log, backup and recordings are private, because they name people."""
IDLE_S = 0.01
"""Longest wait for the board's next byte while a strike may come, and for commands at a table without a board."""
SWITCH_S = 0.001
"""Thread switch interval: how long the web thread may delay the table's. Python's default is 5 ms."""
REST_S = 0.064
"""Interval between steps while no strike is expected and no light moves: to wake up costs more than what is done."""
DRAW_S = 0.25
"""Shortest time between two drawings of the terminal."""


class Stop:
    """Flag that asks the main loop to end.

    It is a plain attribute, because a signal's handler runs in the main thread between any two of its instructions: the
    lock of a `threading.Event` may be held at that moment by the wait that the handler interrupts, and both would hang.
    """

    def __init__(self) -> None:
        self.requested = False
        self.again = False
        """True if the program is to start again afterwards."""

    def at_signals(self) -> None:
        """Set the flag at SIGINT and SIGTERM from now on. Call it in the main thread only."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.set())

    def set(self) -> None:
        """Ask the loop to end; may be called from any thread at any time."""
        self.requested = True

    def restart(self) -> None:
        """Ask the loop to end, and the program to start again."""
        self.again = True
        self.set()

    def wait(self, seconds: float) -> None:
        """Sleep for `seconds`. The flag does not cut it short: no wait is longer than `REST_S`."""
        time.sleep(seconds)


@contextmanager
def running() -> Iterator[tuple[Stop, Notifier, SteadyClock, ExitStack]]:
    """Provide what a main loop needs: signals, service manager, clock, and the stack that closes all at the end.

    Call it in the main thread only.
    """
    stop = Stop()
    stop.at_signals()
    with ExitStack() as stack:
        service = from_environment()
        stack.callback(service.close)
        yield stop, service, SteadyClock(), stack


def run_table(settings: Settings, file: Path | None, report: Callable[[str], bytes] | None = None) -> bool:
    """Run the table of `settings`, read from `file`, until it is stopped; return True if the caller starts it again.

    `report` makes the report that the head judge can download. Raises `MatError`.
    """
    folder = (file or Path()).parent
    settings = in_language(settings)
    tr = translator(settings.web.language)
    with running() as (stop, service, clock, stack):
        if not service.managed:  # the systemd unit sets the umask of a service
            stack.callback(os.umask, os.umask(PRIVATE_UMASK))
        daemon, command_queue, server, welcome = assemble(
            settings, folder, clock, stack, file=file, restart=stop.restart, report=report
        )
        shows = sys.stdout.isatty()
        if not shows:
            print_urls(server, welcome)
        lines = _console(daemon.table) if sys.stdin.isatty() else None
        tune_interpreter()
        last = partial(print_urls, server, welcome) if shows else None
        desk = TableDesk(daemon, clock, service, command_queue, lines, tr, last, clock.ahead)
        run_loop(daemon, clock, stop, service, desk.serve)
        if shows:
            print(f"\n{render_text(daemon.table.view, tr)}", end="")
        return stop.again and not service.managed  # a service manager starts it again by itself


def run_exhibit(
    settings: Settings,
    folder: Path,
    visitors: Sequence[Observer[Installation]] = (),
    **options: Any,
) -> None:
    """Run the exhibit of `settings`, which are stored in `folder`, until it is stopped. Raises `MatError`.

    `visitors` are simulated. `options` are those of an `Installation`.
    """
    with running() as (stop, service, clock, stack):
        options["wall"] = time.time
        daemon = assemble_exhibit(settings, folder, clock, stack, visitors, sim=bool(visitors), **options)
        daemon.table.serve()
        print(f"the installation's page: {daemon.table.page.url}   Ctrl-C ends it", flush=True)
        if visitors:
            print("Simulated visitors play until the page is touched.", flush=True)
        tune_interpreter()
        run_loop(daemon, clock, stop, service, interval_s=FRAME_S)
        daemon.table.record_clean_exit()


def _console(table: Table) -> queue.SimpleQueue[str]:
    """Print the help and return the queue of lines that the judge types."""
    print(help_now(table, line_width()))
    return typed_lines()


def tune_interpreter() -> None:
    """Exclude the objects created so far from garbage collection, and shorten the thread switch interval.

    Scanning 90,000 objects takes 80 ms on a slow core, and a strike or 200 viewers would wait for it.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_S)


def run_loop(
    daemon: Daemon[Any],
    clock: Callable[[], float],
    stop: Stop,
    service: Notifier,
    serve: Callable[[], None] | None = None,
    interval_s: float | None = None,
) -> None:
    """Step `daemon` until `stop` is set, and call `serve` after each step.

    Only a completed step feeds the watchdog of `service`. Between steps it waits `interval_s`; with None it waits for
    the board's next byte while a strike may come, else until the next frame if lights move, else `REST_S`.
    """
    try:
        while not stop.requested:
            t = clock()
            daemon.step(t)
            service.ready()
            service.feed(t)
            if serve is not None:
                serve()
            if interval_s is not None:
                stop.wait(interval_s)
            elif (port := daemon.source.port) is None:
                stop.wait(IDLE_S)
            elif daemon.idle:
                stop.wait(FRAME_S if daemon.lights_move else REST_S)
            else:
                port.wait(IDLE_S)
    finally:
        service.stopping()


class TableDesk:
    """Serves a table's people between its steps: commands of judges and the hub, typed lines, the terminal.

    In a terminal the table is drawn at changes, at most every `DRAW_S`; `last` prints the text below it as long as the
    first phase lasts.
    The machine's clock is `ahead()` s ahead of `clock`: if it is set, the journal gets a note.
    """

    def __init__(
        self,
        daemon: Daemon[Table],
        clock: Callable[[], float],
        service: Notifier,
        command_queue: TableQueue | None = None,
        lines: queue.SimpleQueue[str] | None = None,
        tr: Translator = ENGLISH,
        last: Callable[[], None] | None = None,
        ahead: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._daemon, self._clock, self._service = daemon, clock, service
        self._commands, self._lines, self._tr, self._last = command_queue, lines, tr, last
        self._jumps = JumpDetector(ahead)
        self._shown: View | None = None
        self._drawn_at = float("-inf")
        self._began = ""  # the phase of the first view

    def serve(self) -> None:
        """Tell the service manager the table's state, execute what was asked, and draw the table if it changed."""
        table = self._daemon.table
        self._service.status(state := service_status(self._daemon))
        if by_s := self._jumps.step():
            table.note_clock_set(self._clock(), by_s)
        if self._commands is not None:
            self._commands.serve(table, self._clock(), state)
        while self._lines is not None and not self._lines.empty():
            print(execute_line(table, self._lines.get(), self._clock(), self._tr, line_width()))
        t = self._clock()
        if (view := table.view) is not self._shown and t - self._drawn_at >= DRAW_S and sys.stdout.isatty():
            self._shown, self._drawn_at = view, t
            self._began = self._began or view.phase
            print(render_text(view, self._tr), flush=True)
            if self._last is not None and view.phase == self._began:
                self._last()


def service_status(daemon: Daemon[Table]) -> str:
    """Return the state of the table in one line, for the service's status: no names, no secrets of a hide."""
    if daemon.table.halted is not None:
        return "play is stopped: the journal cannot be written"
    if daemon.table.recovery:
        return daemon.table.recovery
    if isinstance(daemon.source, NoSource):
        return "a table without a board"
    return "the board is connected" if daemon.source.up else "no board is connected; looking for it"
