"""One table on real hardware and the wall's clock, with a console for the judge in the terminal.

This is the edge where clocks are read and time is waited for. Times are seconds since 1970, read once at the start and
carried on by the monotonic clock, so that a step of the wall's clock is no step of the game's.
"""

from __future__ import annotations

import gc
import os
import queue
import secrets
import signal
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from pi_controller.calibration.profile import load as read_profile
from pi_controller.console import help_for, run_line
from pi_controller.daemon import FRAME_S, Daemon
from pi_controller.drivers.notify import Notifier, from_environment
from pi_controller.drivers.serial_port import SerialPort, find_port
from pi_controller.drivers.strips import MemoryStrip, NeoPixelStrip
from pi_controller.errors import MatError
from pi_controller.games.registry import game
from pi_controller.link.board_strip import BoardStrip
from pi_controller.link.connection import BoardConnection
from pi_controller.link.pins import pins_source
from pi_controller.link.source import listening
from pi_controller.pinmap import pinmap
from pi_controller.recording.watching import observers
from pi_controller.referee.referees import referee_for
from pi_controller.sensing import mat_sensors_for
from pi_controller.show.i18n import chosen
from pi_controller.show.terminal import render_text
from pi_controller.table.backup import Backup
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table, bound_to, journalled_game
from pi_controller.voice.at_table import heard

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.calibration.profile import Profile
    from pi_controller.drivers.ports import Buttons, Port, Strip
    from pi_controller.games.base import Game
    from pi_controller.link.source import Source
    from pi_controller.mat.sensors import MatSensors
    from pi_controller.show.chances_bar import ChancesBar
    from pi_controller.table.command_queue import CommandQueue
    from pi_controller.table.settings import Settings
    from pi_controller.table.view import View
    from pi_controller.web.server import WebServer

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
    second = before_b(settings, folder)
    settings, profile = profiled(settings, folder)
    stop = Stop()
    stop.at_signals()
    with ExitStack() as stack:
        service = from_environment()
        stack.callback(service.close)
        if not service.managed:  # the unit says who may read what a service keeps
            stack.callback(os.umask, os.umask(PRIVATE))
        clock = _clock()
        opened_at = clock()
        table = open_table(settings, opened_at)
        stack.callback(table.journal.close)
        bar = chances_bar(settings, table.game)
        publish, server, command_queue = _web(settings, table, bar, clock, stack)
        if server is not None:
            server.start()
            stack.callback(server.stop)
            print(f"live page: {server.url}", flush=True)
            _invite(server)
        publish = heard(settings.voice, table.view, publish, stack)
        source, strip = lights(settings, board(settings, clock))
        daemon = Daemon(
            table,
            mat_sensors(settings, profile),
            source,
            _buttons(settings, clock),
            strip,
            publish,
            second=second,
        )
        stack.callback(daemon.close)
        daemon.observers += [*observers(settings, table, opened_at, stack), *backup(settings, stack)]
        lines = _console(table) if sys.stdin.isatty() else queue.SimpleQueue[str]()
        settle()
        drive(daemon, clock, lines, stop, bar, service, command_queue, settings.web.language)


def in_language(settings: Settings) -> Settings:
    """Return the settings with their language by its code, where they name its catalogue. Raises `SettingsError`."""
    web = settings.web.model_copy(update={"language": chosen(settings.web.language)})
    return settings.model_copy(update={"web": web})


def open_table(settings: Settings, t: float) -> Table:
    """Return the table of `settings` on its journal, fresh or resumed; raises `MatError`."""
    journal = Journal(settings.table.journal, created=t)
    try:
        rules = journalled_game(journal, game(settings.game.name, settings.game.options))
        bound = bound_to(journal, settings.table.name)
        referee = referee_for(rules, settings.referee_settings(rules.settings), secrets.token_bytes, bound)
        # players that a game names itself are in no team
        teams = {"A": "A", "B": "B"} if "players" in rules.settings else {"A": settings.teams.a, "B": settings.teams.b}
        return Table(journal, rules, teams, referee, t, settings.mat.seats)
    except MatError:
        journal.close()
        raise


def profiled(settings: Settings, folder: Path) -> tuple[Settings, Profile | None]:
    """Return the profile that `settings` name, from `folder`, and the settings with its threshold of strikes.

    A threshold that the settings themselves name stays. Raises `ProfileError`.
    """
    if not settings.board.profile:
        return settings, None
    profile, strikes = read_profile(folder, settings.board.profile), settings.strikes
    fits = profile.strikes is not None and profile.strikes.sensor == strikes.sensor
    if profile.strikes is None or not fits or "threshold_db" in strikes.model_fields_set:
        return settings, profile
    strikes = strikes.model_copy(update={"threshold_db": profile.strikes.threshold_db})
    return settings.model_copy(update={"strikes": strikes}), profile


def before_b(settings: Settings, folder: Path) -> tuple[MatSensors, Source | Callable[[], Port] | None] | None:
    """Return the feel and the board of the mat before B, where each team has one. Raises `ProfileError`."""
    if settings.mat.seats != "each":
        return None
    settings, profile = profiled(settings.before_b, folder)
    return mat_sensors(settings, profile), board(settings)


def mat_sensors(settings: Settings, profile: Profile | None = None) -> MatSensors:
    """Return the feel of the mat as `settings` want it."""
    return mat_sensors_for(settings.game.name, settings.strikes.detector(), profile)


def backup(settings: Settings, stack: ExitStack) -> list[Backup]:
    """Return who keeps a copy of the journal, where the settings name a folder for it; `stack` closes it."""
    if not settings.backup.folder:
        return []
    keeper = Backup(settings.table.journal, Path(settings.backup.folder), settings.backup.every_s)
    stack.callback(keeper.close)
    return [keeper]


def board(settings: Settings, clock: Callable[[], float] = time.monotonic) -> Source | Callable[[], Port] | None:
    """Return what opens the board's port, the sensors on the Pi's own pins, or None for a table without either.

    `clock` is the one that the source is stepped by.
    """
    wanted = settings.board
    if wanted.port == "none":
        return None
    if wanted.port == "pins":
        return pins_source(clock)
    return lambda: SerialPort(find_port(wanted.port), wanted.write_timeout_s)


def lights(
    settings: Settings, source: Source | Callable[[], Port] | None
) -> tuple[Source | Callable[[], Port] | None, Strip | None]:
    """Return `source` and the light strip, which may hang on the board that the source listens to."""
    if settings.strips.kind != "board":
        return source, _strip(settings)
    connection, wanted = listening(source), settings.strips
    if not isinstance(connection, BoardConnection):
        return connection, None
    return connection, BoardStrip(pinmap().lights.count, connection.session, wanted.brightness, wanted.current_cap_ma)


def _strip(settings: Settings) -> Strip | None:
    count, wanted = pinmap().lights.count, settings.strips
    if wanted.kind == "pi":
        return NeoPixelStrip(count, wanted.pin, wanted.brightness, wanted.current_cap_ma)
    return MemoryStrip(count, wanted.brightness, wanted.current_cap_ma) if wanted.kind == "memory" else None


def _buttons(settings: Settings, clock: Callable[[], float]) -> Buttons | None:
    if settings.buttons.kind == "none":
        return None
    from pi_controller.drivers.buttons import GpioButtons  # noqa: PLC0415 - only a Pi has pins

    return GpioButtons(
        {name: pin for name, pin in settings.buttons.pins if pin}, clock, settings.buttons.settle_ms / 1000
    )


def chances_bar(settings: Settings, rules: Game[Any]) -> ChancesBar | None:
    """Return the chances of winning at `rules`, solved now; None where they are not wanted, or there are none."""
    if not settings.web.chances:
        return None
    from pi_controller.games.chances import ChancesError  # noqa: PLC0415
    from pi_controller.show.chances_bar import ChancesBar  # noqa: PLC0415 - it needs scipy's solver

    try:
        return ChancesBar(rules, settings.chances.first, settings.chances.second)
    except ChancesError as error:  # the game is played all the same
        print(f"no chance of winning is shown: {error.what}", flush=True)
        return None


def _web(
    settings: Settings, table: Table, bar: ChancesBar | None, clock: Callable[[], float], stack: ExitStack
) -> tuple[Callable[[View], None] | None, WebServer | None, CommandQueue | None]:
    if not settings.web.enabled:
        return None, None, None
    from pi_controller.web.address import Pages, serves_others  # noqa: PLC0415 - a table without pages needs no server
    from pi_controller.web.feed import Feed  # noqa: PLC0415
    from pi_controller.web.server import WebServer  # noqa: PLC0415

    web = settings.web
    feed = Feed(bar.of if bar else None, clock=clock)
    feed.publish(table.view)
    command_queue, more = None, []
    if web.judges:
        from pi_controller.web.judging import judging, welcome  # noqa: PLC0415

        judges = judging(settings, table, feed, clock)
        stack.callback(judges.people.close)
        command_queue, more = judges.command_queue, judges.routes
        if said := welcome(judges, shows=sys.stdout.isatty()):
            print(said, flush=True)
    pages = Pages(web.address, web.event, settings.table.name, web.words, serves_others(web.host))
    server = WebServer(
        feed,
        web.host,
        web.port,
        hosts=web.hosts,
        proxy=web.proxy,
        language=web.language,
        more=more,
        pages=pages,
    )
    return feed.publish, server, command_queue


def _invite(server: WebServer) -> None:
    """Say where phones find the page, in a terminal with a code to point a camera at."""
    from pi_controller.web.address import addresses, blocks  # noqa: PLC0415 - a table without pages draws no codes

    found = addresses(server.pages, server.port)
    if found:
        print("for phones: " + " or ".join(f"{one}/" for one in found), flush=True)
    if found and sys.stdout.isatty():
        Console().print(blocks(f"{found[0]}/"))


def _clock() -> Callable[[], float]:
    ahead = time.time() - time.monotonic()
    return lambda: time.monotonic() + ahead


def _console(table: Table) -> queue.SimpleQueue[str]:
    """Return the lines the judge types; a thread of its own waits for them."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)

    print(help_for(table.game))
    threading.Thread(target=read, name="console", daemon=True).start()
    return lines


def settle() -> None:
    """Leave what the start has made out of every later collection of garbage, and let threads take turns sooner.

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
) -> None:
    """Step the table until `stop` is wanted. Only a step that came to its end feeds the `service`'s watchdog."""
    shown: View | None = None
    try:
        while not stop.wanted:
            daemon.step(t := clock())
            service.ready()
            service.feed(t)
            service.status(state := condition(daemon))
            if command_queue is not None:
                command_queue.serve(daemon.table, clock(), state)
            while not lines.empty():
                print(run_line(daemon.table, lines.get(), clock(), language))
            if daemon.table.view is not shown and sys.stdout.isatty():
                shown = daemon.table.view
                print(render_text(shown, language=language, chances=bar.of(shown) if bar else None), flush=True)
            if daemon.port is None:
                stop.wait(IDLE_S)
            elif daemon.calm:
                stop.wait(GATHER_S)
            else:
                daemon.port.wait(IDLE_S)
    finally:
        service.stopping()


def condition(daemon: Daemon) -> str:
    """Return in one line how the table is, for the service's status: nothing of people, and nothing of a hide."""
    if daemon.table.halted is not None:
        return "play is stopped: the journal cannot be written"
    if daemon.connection is None:
        return "a table without a board"
    return "the board is connected" if daemon.connection.session.up else "no board is connected; looking for it"
