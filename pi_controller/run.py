"""Main loop of a table on real hardware and the wall clock, with a console for the judge in the terminal.

This is the edge where clocks are read and time is waited for. Times are seconds since 1970, read once at the start and
carried on by the monotonic clock, so that a step of the wall's clock is no step of the game's.
"""

from __future__ import annotations

import gc
import os
import queue
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from pi_controller.assembly import assemble, in_language, invite
from pi_controller.console import help_now, run_line, typed_lines
from pi_controller.daemon import FRAME_S, Daemon
from pi_controller.drivers.notify import Notifier, from_environment
from pi_controller.link.source import NoSource
from pi_controller.show.terminal import render_text, score_sheet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_controller.show.chances_bar import ChancesBar
    from pi_controller.table.command_queue import CommandQueue
    from pi_controller.table.settings import Settings
    from pi_controller.table.table import Table
    from pi_controller.table.view import View

PRIVATE = 0o077
"""Nobody but who runs the table by hand reads its journal, log, backup and recordings: they tell of people."""
IDLE_S = 0.01
"""The longest wait for the board's next byte: buttons and the journal are looked at in between."""
SWITCH_S = 0.001
"""So long the pages' thread may go on where the table's wants its turn; Python's own are 5 ms."""
GATHER_S = FRAME_S
"""So long readings gather while no stroke is due: to be woken for each block costs more than what is in it."""


class Stop:
    """Whether the table is to end.

    A plain flag, for a signal's handler runs in the main thread between any two of its instructions: the lock of a
    `threading.Event` may be held there, by the very wait that the handler interrupts, and both would hang.
    """

    def __init__(self) -> None:
        self.wanted = False

    def at_signals(self) -> None:
        """End at SIGINT and SIGTERM from now on. In the main thread only."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.set())

    def set(self) -> None:
        """End the table; may be called from any thread, and at any moment."""
        self.wanted = True

    def wait(self, seconds: float) -> None:
        """Wait `seconds`. The wish to end does not cut it short: no wait is longer than `GATHER_S`."""
        time.sleep(seconds)


def run_table(settings: Settings, folder: Path) -> None:
    """Run the table of `settings`, which are kept in `folder`, until it is stopped. Raises `MatError`."""
    settings = in_language(settings)
    stop = Stop()
    stop.at_signals()
    with ExitStack() as stack:
        service = from_environment()
        stack.callback(service.close)
        if not service.managed:  # the unit says who may read what a service keeps
            stack.callback(os.umask, os.umask(PRIVATE))
        clock = steady_clock()
        daemon, bar, command_queue, server, welcome = assemble(settings, folder, clock, stack)
        shows = sys.stdout.isatty()
        if not shows:
            invite(server, welcome)
        lines = _console(daemon.table) if sys.stdin.isatty() else queue.SimpleQueue[str]()
        settle()
        last = partial(invite, server, welcome) if shows else None
        drive(daemon, clock, lines, stop, bar, service, command_queue, settings.web.language, last)
        if shows:
            print(f"\n{score_sheet(daemon.table.view, settings.web.language)}", end="")


def steady_clock() -> Callable[[], float]:
    """Return a clock in s since 1970 that no setting of the wall clock moves."""
    ahead = time.time() - time.monotonic()
    return lambda: time.monotonic() + ahead


def _console(table: Table) -> queue.SimpleQueue[str]:
    """Return the lines that the judge types, who is told what they can be."""
    print(help_now(table, columns()))
    return typed_lines()


def columns() -> int:
    """Return how wide the terminal is, in characters."""
    return shutil.get_terminal_size().columns


def settle() -> None:
    """Freeze the garbage collector's objects of the start, and shorten the thread switch interval.

    90,000 objects take 80 ms to walk on a slow core, and a stroke or 200 watchers would wait for it.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_S)


def drive(
    daemon: Daemon,
    clock: Callable[[], float],
    lines: queue.SimpleQueue[str],
    stop: Stop,
    bar: ChancesBar | None,
    service: Notifier,
    command_queue: CommandQueue | None = None,
    language: str = "en",
    last: Callable[[], None] | None = None,
) -> None:
    """Step the table until `stop` is wanted. Only a step that came to its end feeds the `service`'s watchdog.

    In a terminal the table is drawn at each change, and until play moves on, `last` prints what is to stand below it.
    """
    shown: View | None = None
    began = ""  # the phase that the first picture shows
    try:
        while not stop.wanted:
            daemon.step(t := clock())
            service.ready()
            service.feed(t)
            service.status(state := condition(daemon))
            if command_queue is not None:
                command_queue.serve(daemon.table, clock(), state)
            while not lines.empty():
                print(run_line(daemon.table, lines.get(), clock(), language, columns()))
            if daemon.table.view is not shown and sys.stdout.isatty():
                shown = daemon.table.view
                began = began or shown.phase
                print(render_text(shown, language=language, chances=bar.of(shown) if bar else None), flush=True)
                if last is not None and shown.phase == began:
                    last()
            if (port := daemon.source.port) is None:
                stop.wait(IDLE_S)
            elif daemon.calm:
                stop.wait(GATHER_S)
            else:
                port.wait(IDLE_S)
    finally:
        service.stopping()


def condition(daemon: Daemon) -> str:
    """Return in one line how the table is, for the service's status: nothing of people, and nothing of a hide."""
    if daemon.table.halted is not None:
        return "play is stopped: the journal cannot be written"
    if isinstance(daemon.source, NoSource):
        return "a table without a board"
    return "the board is connected" if daemon.source.up else "no board is connected; looking for it"
