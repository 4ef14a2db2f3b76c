"""Composition root: builds a table from its settings, with mats, lights, buttons, pages, voice and observers.

Nothing here reads a clock or waits; `run` does both. Who looks at a mat without a game takes its board from here too.
"""

from __future__ import annotations

import secrets
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_controller.calibration.profile import load as read_profile
from pi_controller.daemon import Daemon
from pi_controller.drivers.serial_port import SerialPort, find_port
from pi_controller.drivers.strips import MemoryStrip, NeoPixelStrip
from pi_controller.errors import MatError
from pi_controller.games.registry import game
from pi_controller.link.board_strip import BoardStrip
from pi_controller.link.connection import BoardConnection
from pi_controller.link.pins import pins_source
from pi_controller.link.source import NoSource
from pi_controller.mats import Mat, mat_sensors_for
from pi_controller.pinmap import pinmap
from pi_controller.recording.watching import observers
from pi_controller.referee.referees import referee_for
from pi_controller.show.i18n import chosen
from pi_controller.table.backup import Backup
from pi_controller.table.command_queue import CommandQueue
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table, bound_to, journalled_game
from pi_controller.voice.at_table import heard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import ExitStack

    from starlette.routing import Route

    from pi_controller.calibration.profile import Profile
    from pi_controller.drivers.ports import Buttons, Strip
    from pi_controller.fleet.table_link import TableLink
    from pi_controller.games.base import Game
    from pi_controller.link.source import Source
    from pi_controller.mat.sensors import MatSensors
    from pi_controller.referee.base import Referee
    from pi_controller.show.chances_bar import ChancesBar
    from pi_controller.table.settings import Settings
    from pi_controller.table.view import View
    from pi_controller.web.feed import Feed
    from pi_controller.web.server import WebServer


class Assembly(NamedTuple):
    """The assembled table, and what the main loop serves beside it."""

    daemon: Daemon
    bar: ChancesBar | None
    """The chances of winning, where they are shown."""
    command_queue: CommandQueue | None
    """What judges command on their pages, where there are some, and the hub of a tournament."""
    server: WebServer | None
    """What serves the pages, already started."""
    welcome: str
    """How the first judge signs in, where nobody is known yet."""


def assemble(settings: Settings, folder: Path, clock: Callable[[], float], stack: ExitStack) -> Assembly:
    """Return the table of `settings`, which are kept in `folder`; `stack` closes it. Raises `MatError`.

    `clock` is the one that the table will be stepped by, s since 1970. Its pages are served.
    """
    each = [settings, settings.before_b] if settings.mat.seats == "each" else [settings]
    profiles = [profiled(one, folder) for one in each]
    mats = [Mat(board(one, clock), mat_sensors(one, profile)) for one, profile in profiles]
    settings, _ = profiles[0]
    opened_at = clock()
    table = open_table(settings, opened_at)
    stack.callback(table.journal.close)
    bar = chances_bar(settings, table.game)
    pressed = buttons(settings, clock)  # before any thread: to open pins the folder is changed for a moment
    if pressed is not None:
        stack.callback(pressed.close)
    publish, server, command_queue, welcome = _web(settings, table, bar, clock, stack)
    if server is not None:
        server.start()
        stack.callback(server.stop)
    linked = []
    if settings.hub.address:
        command_queue = command_queue or CommandQueue()
        linked = hub(settings, command_queue, stack)
    publish = heard(settings.voice, table.view, publish, stack)
    daemon = Daemon(table, mats, pressed, lights(settings, mats[0].source), publish)
    stack.callback(daemon.close)
    daemon.observers += [*observers(settings, table, opened_at, stack), *backup(settings, stack), *linked]
    return Assembly(daemon, bar, command_queue, server, welcome)


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

        def refereed(rules: Game[Any]) -> Referee:
            return referee_for(rules, settings.referee_settings(rules.settings), secrets.token_bytes, bound)

        teams = teams_of(settings, rules)
        return Table(journal, rules, teams, refereed(rules), t, settings.mat.seats, refereed)
    except MatError:
        journal.close()
        raise


def teams_of(settings: Settings, rules: Game[Any]) -> dict[str, str]:
    """Return the teams' names by their letters; players that a game names itself are in no team."""
    return {"A": "A", "B": "B"} if "players" in rules.settings else {"A": settings.teams.a, "B": settings.teams.b}


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


def mat_sensors(settings: Settings, profile: Profile | None = None) -> MatSensors:
    """Return the sensors of a mat as `settings` want them."""
    return mat_sensors_for(settings.game.name, settings.strikes.detector(), profile)


def backup(settings: Settings, stack: ExitStack) -> list[Backup]:
    """Return the journal's backup, where the settings name a folder for it; `stack` closes it."""
    if not settings.backup.folder:
        return []
    keeper = Backup(settings.table.journal, Path(settings.backup.folder), settings.backup.every_s)
    stack.callback(keeper.close)
    return [keeper]


def hub(settings: Settings, command_queue: CommandQueue, stack: ExitStack) -> list[TableLink]:
    """Return what sends the game to the hub, and takes its matches by `command_queue`; `stack` closes it."""
    from pi_controller.fleet.table_link import table_link  # noqa: PLC0415 - a table by itself speaks to no broker

    link = table_link(settings, command_queue)
    stack.callback(link.close)
    return [link]


def board(settings: Settings, clock: Callable[[], float] = time.monotonic) -> Source:
    """Return the source of a mat's readings: its board, the sensors on the Pi's own pins, or nothing.

    `clock` is the one that the source is stepped by. Nothing is opened yet.
    """
    wanted = settings.board
    if wanted.port == "none":
        return NoSource()
    if wanted.port == "pins":
        return pins_source(clock)
    return BoardConnection(lambda: SerialPort(find_port(wanted.port), wanted.write_timeout_s))


def lights(settings: Settings, source: Source) -> Strip | None:
    """Return the light strip, which may hang on the board that is `source`; None for none."""
    count, wanted = pinmap().lights.count, settings.strips
    if wanted.kind == "board" and isinstance(source, BoardConnection):
        return BoardStrip(count, source.session, wanted.brightness, wanted.current_cap_ma)
    if wanted.kind == "pi":
        return NeoPixelStrip(count, wanted.pin, wanted.brightness, wanted.current_cap_ma)
    return MemoryStrip(count, wanted.brightness, wanted.current_cap_ma) if wanted.kind == "memory" else None


def buttons(settings: Settings, clock: Callable[[], float]) -> Buttons | None:
    """Return the buttons on the pins that `settings` name, or None for none; presses are told by `clock`."""
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
) -> tuple[Callable[[View], None] | None, WebServer | None, CommandQueue | None, str]:
    if not settings.web.enabled:
        return None, None, None, ""
    from pi_controller.web.feed import Feed  # noqa: PLC0415 - a table without pages needs none

    web = settings.web
    feed = Feed(bar.of if bar else None, clock=clock)
    feed.publish(table.view)
    command_queue, more, welcome_text = None, [], ""
    if web.judges:
        from pi_controller.web.judging import judging, welcome  # noqa: PLC0415

        judges = judging(settings, table, feed, clock)
        stack.callback(judges.users.close)
        command_queue, more = judges.command_queue, judges.routes
        welcome_text = welcome(judges, shows=sys.stdout.isatty())
    return feed.publish, server_for(settings, feed, more), command_queue, welcome_text


def server_for(settings: Settings, feed: Feed, more: Sequence[Route] = ()) -> WebServer:
    """Return what serves the pages of `feed` as `settings` want them, not yet started, with `more` routes."""
    from pi_controller.web.address import Pages, serves_others  # noqa: PLC0415 - a table without pages needs no server
    from pi_controller.web.server import WebServer  # noqa: PLC0415

    web = settings.web
    if web.metrics:
        from pi_controller.web.metrics import metrics_route  # noqa: PLC0415

        more = [*more, metrics_route(feed)]
    pages = Pages(web.address, web.event, settings.table.name, web.words, serves_others(web.host))
    return WebServer(
        feed,
        web.host,
        web.port,
        hosts=web.hosts,
        proxy=web.proxy,
        language=web.language,
        more=more,
        pages=pages,
    )


def invite(server: WebServer | None, welcome: str = "") -> None:
    """Print where the pages are and how the first judge signs in, in a terminal below a code for a phone's camera."""
    from pi_controller.web.address import addresses, blocks  # noqa: PLC0415 - a table without pages draws no codes

    found = [] if server is None else addresses(server.pages, server.port)
    if found and sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415

        at = f"{found[0]}/judge" if welcome else f"{found[0]}/"  # somebody has to judge before there is much to see
        Console().print(blocks(at))
        print(f"The code leads a phone to {at}")
    lines = [] if server is None else [f"live page: {server.url}"]
    lines += ["for phones: " + " or ".join(f"{one}/" for one in found)] if found else []
    lines += [welcome] if welcome else []
    if lines:
        print("\n".join(lines), flush=True)
