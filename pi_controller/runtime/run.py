"""Main loop of a table on real hardware and the wall clock, with a console for the judge in the terminal.

This module reads the clock and waits. Times are seconds since 1970, read once at the start and carried on by the
monotonic clock, so that setting the wall clock does not change the game's time.
"""

from __future__ import annotations

import gc
import os
import queue
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from pi_controller.board.connection import NoSource
from pi_controller.config import Settings
from pi_controller.display.chances_bar import ChancesBar
from pi_controller.display.terminal import render_text, score_sheet
from pi_controller.runtime.assembly import assemble, in_language, print_urls
from pi_controller.runtime.console import execute_line, help_now, typed_lines
from pi_controller.runtime.daemon import FRAME_S, Daemon
from pi_controller.system.status import Notifier, from_environment
from pi_controller.table.commands import CommandQueue
from pi_controller.table.table import Table
from pi_controller.table.view import View

PRIVATE_UMASK = 0o077
"""Umask of a table run by hand: its journal, log, backup and recordings are private, because they name people."""
IDLE_S = 0.01
"""Longest wait for the board's next byte: buttons and the journal are polled in between."""
SWITCH_S = 0.001
"""Thread switch interval: how long the web thread may delay the table's. Python's default is 5 ms."""
READ_INTERVAL_S = FRAME_S
"""Wait between reads while no strike is expected: waking for each block costs more than processing it."""


class Stop:
    """Flag that asks the main loop to end.

    It is a plain attribute, because a signal's handler runs in the main thread between any two of its instructions: the
    lock of a `threading.Event` may be held at that moment by the wait that the handler interrupts, and both would hang.
    """

    def __init__(self) -> None:
        self.requested = False

    def at_signals(self) -> None:
        """Set the flag at SIGINT and SIGTERM from now on. Call it in the main thread only."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.set())

    def set(self) -> None:
        """Ask the loop to end; may be called from any thread at any time."""
        self.requested = True

    def wait(self, seconds: float) -> None:
        """Sleep for `seconds`. The flag does not cut it short: no wait is longer than `READ_INTERVAL_S`."""
        time.sleep(seconds)


def run_table(settings: Settings, folder: Path) -> None:
    """Run the table of `settings`, which are stored in `folder`, until it is stopped. Raises `MatError`."""
    settings = in_language(settings)
    stop = Stop()
    stop.at_signals()
    with ExitStack() as stack:
        service = from_environment()
        stack.callback(service.close)
        if not service.managed:  # the systemd unit sets the umask of a service
            stack.callback(os.umask, os.umask(PRIVATE_UMASK))
        clock = steady_clock()
        daemon, bar, command_queue, server, welcome = assemble(settings, folder, clock, stack)
        shows = sys.stdout.isatty()
        if not shows:
            print_urls(server, welcome)
        lines = _console(daemon.table) if sys.stdin.isatty() else queue.SimpleQueue[str]()
        tune_interpreter()
        last = partial(print_urls, server, welcome) if shows else None
        run_loop(daemon, clock, lines, stop, bar, service, command_queue, settings.web.language, last)
        if shows:
            print(f"\n{score_sheet(daemon.table.view, settings.web.language)}", end="")


def steady_clock() -> Callable[[], float]:
    """Return a clock in s since 1970 that does not jump if the wall clock is set."""
    ahead = time.time() - time.monotonic()
    return lambda: time.monotonic() + ahead


def _console(table: Table) -> queue.SimpleQueue[str]:
    """Print the help and return the queue of lines that the judge types."""
    print(help_now(table, terminal_width()))
    return typed_lines()


def terminal_width() -> int:
    """Return the width of the terminal in characters."""
    return shutil.get_terminal_size().columns


def tune_interpreter() -> None:
    """Exclude the objects created so far from garbage collection, and shorten the thread switch interval.

    Scanning 90,000 objects takes 80 ms on a slow core, and a strike or 200 viewers would wait for it.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_S)


def run_loop(
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
    """Step the table until `stop` is set. Only a completed step feeds the watchdog of `service`.

    In a terminal the table is drawn at each change; `last` prints the text below it as long as the first phase lasts.
    """
    shown: View | None = None
    began = ""  # the phase of the first view
    try:
        while not stop.requested:
            daemon.step(t := clock())
            service.ready()
            service.feed(t)
            service.status(state := service_status(daemon))
            if command_queue is not None:
                command_queue.process_commands(daemon.table, clock(), state)
            while not lines.empty():
                print(execute_line(daemon.table, lines.get(), clock(), language, terminal_width()))
            if daemon.table.view is not shown and sys.stdout.isatty():
                shown = daemon.table.view
                began = began or shown.phase
                print(render_text(shown, language=language, chances=bar.look_up(shown) if bar else None), flush=True)
                if last is not None and shown.phase == began:
                    last()
            if (port := daemon.source.port) is None:
                stop.wait(IDLE_S)
            elif daemon.idle:
                stop.wait(READ_INTERVAL_S)
            else:
                port.wait(IDLE_S)
    finally:
        service.stopping()


def service_status(daemon: Daemon) -> str:
    """Return the state of the table in one line, for the service's status: no names, no secrets of a hide."""
    if daemon.table.halted is not None:
        return "play is stopped: the journal cannot be written"
    if daemon.table.recovery:
        return daemon.table.recovery
    if isinstance(daemon.source, NoSource):
        return "a table without a board"
    return "the board is connected" if daemon.source.up else "no board is connected; looking for it"
