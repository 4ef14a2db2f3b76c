"""Composition root: builds a table or an exhibit from its settings, with mats, lights, buttons, pages and observers.

This module does not wait; `run` does. Tools that read a mat without a game take its board from here too.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pi_controller.board import drivers
from pi_controller.board.connection import BoardConnection
from pi_controller.board.interfaces import BoardOptions, ButtonOptions, Buttons, Strip, StripOptions
from pi_controller.board.message_source import NoSource, Source
from pi_controller.calibration.profile import Profile
from pi_controller.calibration.profile import load_profile as read_profile
from pi_controller.config import Settings
from pi_controller.display.i18n import resolve_language, translator
from pi_controller.display.lights import PAGE_S, REVEAL_S, StickWalk
from pi_controller.display.voice import start_voice
from pi_controller.entry_points import BOARDS, BUTTONS, STRIPS
from pi_controller.errors import DamagedJournalError, JournalError, MatError
from pi_controller.extras import requires_extra
from pi_controller.journal.journal import Journal
from pi_controller.journal.recover import ReplacedJournal, replace_damaged
from pi_controller.output import open_console
from pi_controller.pinmap import pinmap
from pi_controller.referee.base import Referee
from pi_controller.referee.selection import referee_for
from pi_controller.rules.base import Game
from pi_controller.rules.registry import game
from pi_controller.runtime.daemon import Daemon
from pi_controller.sensing.sensors import MatSensors
from pi_controller.table.backup import Backup
from pi_controller.table.mats import Mat, mat_sensors_for
from pi_controller.table.table import Observer, Table, commitment_context, journalled_game
from pi_controller.table.table_queue import TableQueue
from pi_controller.table.view import View

if TYPE_CHECKING:
    from starlette.routing import Route

    from pi_controller.exhibit.installation import Installation
    from pi_controller.hub.table_link import TableLink
    from pi_controller.web.feed import Feed
    from pi_controller.web.judge_setup import JudgeConsole
    from pi_controller.web.server import WebServer

log = logging.getLogger(__name__)


class Assembly(NamedTuple):
    """The assembled table, and the parts that the main loop serves beside it."""

    daemon: Daemon[Table]
    command_queue: TableQueue | None
    """Commands of judges on their pages and of a tournament's hub; None without either."""
    server: WebServer | None
    """The web server, already started."""
    welcome: str
    """How the first judge signs in; "" if there is an account already."""


def assemble(
    settings: Settings,
    folder: Path,
    clock: Callable[[], float],
    stack: ExitStack,
    *,
    file: Path | None = None,
    restart: Callable[[], None] | None = None,
    report: Callable[[str], bytes] | None = None,
) -> Assembly:
    """Build the table of `settings`, which are stored in `folder`; `stack` closes it. Raises `MatError`.

    `clock` is the clock that will step the table, s since 1970. The web server is started. The head judge can change
    the settings' `file` if `restart` starts the table again, and take the `report` for who helps.
    """
    each = [settings, settings.for_mat_b] if settings.mat.seats == "each" else [settings]
    profiles = [apply_profile(one, folder) for one in each]
    mats = [Mat(make_source(one, clock), mat_sensors(one, profile)) for one, profile in profiles]
    settings, profile = profiles[0]
    opened_at = clock()
    table = open_table(settings, opened_at)
    stack.callback(table.journal.close)
    pressed = make_buttons(
        settings, clock
    )  # before any thread starts: opening pins changes the working folder for a moment
    if pressed is not None:
        stack.callback(pressed.close)
    publish, server, command_queue, welcome = _web(settings, table, clock, stack, file, restart, report)
    if server is not None:
        server.start()
        stack.callback(server.stop)
    linked = []
    if settings.hub.address:
        command_queue = command_queue or TableQueue()
        linked = make_hub_link(settings, command_queue, stack)
    publish = start_voice(settings.voice, table.view, publish, stack)
    strip, scene = make_strip(settings, mats[0].source), None
    if strip is not None and settings.strips.scene:
        from pi_controller.runtime.plugins import make_scene  # noqa: PLC0415

        scene = make_scene(settings.strips.scene, strip.count)
    daemon = Daemon(table, mats, pressed, strip, publish, scene=scene)
    stack.callback(daemon.close)
    if settings.recording.hits or settings.recording.sensors:
        from pi_controller.recording.observers import make_observers  # noqa: PLC0415 - off by default

        calibrated = None if profile is None else msgspec.to_builtins(profile)
        daemon.observers += make_observers(settings, table, opened_at, stack, calibrated)
    if settings.observers.load:
        daemon.observers += make_watchers(settings, folder, stack)
    daemon.observers += [*make_backup(settings, stack), *linked]
    return Assembly(daemon, command_queue, server, welcome)


def assemble_exhibit(
    settings: Settings,
    folder: Path,
    clock: Callable[[], float],
    stack: ExitStack,
    observers: Sequence[Observer[Installation]] = (),
    *,
    sim: bool = False,
    **options: Any,
) -> Daemon[Installation]:
    """Build the exhibit of `settings`, which are stored in `folder`; `stack` closes it. Raises `MatError`.

    `clock` is the clock that will step it, s since 1970; with `sim` its visitors are simulated, and it has no
    heartbeat. The page is started. `options` are those of an `Installation`.
    """
    from pi_controller.exhibit.crash_count import CrashCounter, boot_id  # noqa: PLC0415
    from pi_controller.exhibit.installation import Installation  # noqa: PLC0415

    languages = tuple(resolve_language(one) for one in settings.exhibit.languages)
    section = settings.exhibit.model_copy(update={"languages": languages})
    settings, profile = settings.model_copy(update={"exhibit": section}), None
    recoveries = None if sim else CrashCounter(settings.table.journal.parent / ".exhibit-recoveries", boot_id())
    senses, wired = section.mat == "sensors", section.mat != "screen"
    if senses:
        settings, profile = apply_profile(settings, folder)
    mat = Mat(make_source(settings, clock) if senses else NoSource(), mat_sensors(settings, profile))
    # before any thread starts
    pressed = make_buttons(settings, clock) if wired or section.four_buttons else None
    if pressed is not None:
        stack.callback(pressed.close)
    strip = make_strip(settings, mat.source) if wired else None
    installation = Installation(
        settings,
        clock,
        stack,
        recoveries=recoveries,
        **options,
    )
    if section.heartbeat and not sim:
        from pi_controller.exhibit.heartbeat import Heartbeat  # noqa: PLC0415 - off by default

        observers = [*observers, Heartbeat(section.heartbeat)]
    daemon = Daemon(
        installation,
        [mat],
        pressed,
        strip,
        installation.announce,
        [installation, *observers],
        installation.brightness,
        StickWalk(REVEAL_S + PAGE_S).frame,
    )
    stack.callback(daemon.close)
    if strip is not None:
        installation.lights_fault = lambda: daemon.strip_fault
    return daemon


def in_language(settings: Settings) -> Settings:
    """Return the settings with a language code in place of the path of a catalogue. Raises `SettingsError`."""
    web = settings.web.model_copy(update={"language": resolve_language(settings.web.language)})
    return settings.model_copy(update={"web": web})


def open_table(settings: Settings, t: float) -> Table:
    """Open the table of `settings` on its journal, fresh or resumed; raises `MatError`.

    A damaged journal is set aside under its date, play continues from its proven records, and the judge is asked; with
    `[table] damaged = "stop"` it is an error.
    """
    try:
        return _build_table(settings, t)
    except DamagedJournalError as error:
        if settings.table.damaged == "stop":
            raise
        replaced = replace_damaged(settings.table.journal, t, error.message)
    try:
        return _build_table(settings, t, replaced)
    except JournalError as error:
        if not replaced.records:
            raise
        log.warning("%s; the game cannot continue: %s", replaced.line, error.message)
        return _build_table(settings, t, replace_damaged(settings.table.journal, t, error.message, anew=True))


def _build_table(settings: Settings, t: float, replaced: ReplacedJournal | None = None) -> Table:
    journal = Journal(settings.table.journal, created=t)
    try:
        rules = journalled_game(journal, game(settings.game.name, settings.game.options))
        bound = commitment_context(journal, settings.table.name)

        def make_referee(rules: Game[Any]) -> Referee:
            return referee_for(rules, settings.referee_settings(rules.settings), secrets.token_bytes, bound)

        teams = teams_of(settings, rules)
        table = Table(journal, rules, teams, make_referee(rules), t, settings.mat.seats, make_referee)
    except MatError:
        journal.close()
        raise
    if replaced is not None:
        log.warning("%s", replaced.line)
        table.ask_after_recovery(t, replaced.line, recovered=bool(replaced.records))
    return table


def teams_of(settings: Settings, rules: Game[Any]) -> dict[str, str]:
    """Return the teams' names by their letters; A and B if the game names its own players."""
    return {"A": "A", "B": "B"} if "players" in rules.settings else {"A": settings.teams.a, "B": settings.teams.b}


def apply_profile(settings: Settings, folder: Path) -> tuple[Settings, Profile | None]:
    """Return `settings` with the strike threshold of their profile, and the profile, loaded from `folder`.

    A threshold in the settings themselves takes precedence. Raises `ProfileError`.
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
    """Build the sensors of a mat by `settings`."""
    return mat_sensors_for(
        settings.game.name,
        settings.strikes.detector_settings(),
        profile,
        magnetometers=settings.magnetometers,
        depth_mm=settings.board.depth_mm,
    )


def make_watchers(settings: Settings, folder: Path, stack: ExitStack) -> list[Observer[Table]]:
    """Start other packages' observers, each in a thread of its own; `stack` closes them."""
    from pi_controller.runtime.plugins import WatcherThread, make_watcher  # noqa: PLC0415

    found: list[Observer[Table]] = []
    for name in settings.observers.load:
        thread = WatcherThread(name, make_watcher(name, folder), settings.table.journal)
        stack.callback(thread.close)
        found.append(thread)
    return found


def make_backup(settings: Settings, stack: ExitStack) -> list[Backup]:
    """Start the journal's backup if the settings name a folder for it; `stack` closes it."""
    if not settings.backup.folder:
        return []
    keeper = Backup(settings.table.journal, Path(settings.backup.folder), settings.backup.every_s)
    keeper.start()
    stack.callback(keeper.close)
    return [keeper]


def make_hub_link(settings: Settings, command_queue: TableQueue, stack: ExitStack) -> list[TableLink]:
    """Connect the table to the hub, which sends matches through `command_queue`; `stack` closes it."""
    with requires_extra("link", "the link to the hub"):
        from pi_controller.hub.table_link import make_table_link  # noqa: PLC0415 - only a table with a hub needs it
    link = make_table_link(settings, command_queue)
    link.start()
    stack.callback(link.close)
    return [link]


def make_source(settings: Settings, clock: Callable[[], float] = time.monotonic) -> Source:
    """Return the source of a mat's readings: its board, the sensors on the Pi's own pins, or none.

    `clock` is the clock that the source is stepped by. No port is opened yet.
    """
    wanted = settings.board
    if wanted.port == "none":
        return NoSource()
    name = wanted.port if drivers.is_name(BOARDS, wanted.port) else "auto"
    options = BoardOptions(wanted.port, clock, settings.magnetometers, wanted.write_timeout_s)
    return drivers.load_driver(BOARDS, name)(options)


def make_strip(settings: Settings, source: Source) -> Strip | None:
    """Return the LED strip, which may be connected to the board `source`; None if there is none."""
    wanted = settings.strips
    if wanted.kind == "none" or (wanted.kind == "board" and not isinstance(source, BoardConnection)):
        return None
    count, brightness, cap_ma = pinmap().lights.count, wanted.brightness, wanted.current_cap_ma
    options = StripOptions(count, brightness, cap_ma, wanted.pin, wanted.address, source)
    return drivers.load_driver(STRIPS, wanted.kind)(options)


def make_buttons(settings: Settings, clock: Callable[[], float]) -> Buttons | None:
    """Return the buttons in `settings`, or None; `clock` gives the times of presses."""
    wanted = settings.buttons
    if wanted.kind == "none":
        return None
    options = ButtonOptions(settings.button_pins, clock, wanted.settle_ms / 1000)
    return drivers.load_driver(BUTTONS, wanted.kind)(options)


def _web(
    settings: Settings,
    table: Table,
    clock: Callable[[], float],
    stack: ExitStack,
    file: Path | None,
    restart: Callable[[], None] | None,
    report: Callable[[str], bytes] | None,
) -> tuple[Callable[[View], None] | None, WebServer | None, TableQueue | None, str]:
    if not settings.web.enabled:
        return None, None, None, ""
    from pi_controller.web.feed import Feed  # noqa: PLC0415
    from pi_controller.web.games_page import games_routes  # noqa: PLC0415
    from pi_controller.web.public_pages import rules_route  # noqa: PLC0415

    web = settings.web
    feed = Feed[View](clock=clock)
    feed.publish(table.view)
    rules = rules_route(lambda: (table.game, settings.referee_settings(table.game.settings)), translator(web.language))
    past = games_routes(table.journal.path, translator(web.language))
    command_queue, more, welcome_text = None, [rules, *past], ""
    if web.judges:
        from pi_controller.web.judge_setup import make_judge_console, welcome  # noqa: PLC0415

        judges = make_judge_console(settings, table, feed, clock)
        stack.callback(judges.users.close)
        command_queue, more = judges.command_queue, [*more, *judges.routes]
        if restart is not None:
            from pi_controller.config.request import saver  # noqa: PLC0415
            from pi_controller.web.settings_form import SettingsForm  # noqa: PLC0415
            from pi_controller.web.settings_page import SettingsPage, settings_routes  # noqa: PLC0415

            save = None if file is None else saver(file, os.environ.get("RUNTIME_DIRECTORY", ""))
            form, journal = SettingsForm(file, save, translator(web.language)), table.journal.path
            page = SettingsPage(judges.api, judges.command_queue, form, restart, journal, report)
            more += settings_routes(page)
            judges.api.has_settings = True
            if file is not None:
                more += start_page_routes(settings, file, judges, restart)
        welcome_text = welcome(judges, shows=sys.stdout.isatty())
    return feed.publish, make_server(settings, feed, more), command_queue, welcome_text


def start_page_routes(
    settings: Settings, file: Path, judges: JudgeConsole, restart: Callable[[], None]
) -> Sequence[Route]:
    """Return the routes of a card's choice; [] if this machine does not run from a card."""
    from pi_controller.config import (  # noqa: PLC0415
        machine_report,
        request,
    )

    folder = os.environ.get("RUNTIME_DIRECTORY", "")
    if not folder or not request.REQUEST.path.exists() or machine_report.read_state() is None:
        return []
    from pi_controller.card.first_start import CardDesk  # noqa: PLC0415 - only a card has the choice
    from pi_controller.web.start_page import StartPage, start_routes  # noqa: PLC0415

    desk = CardDesk(settings, file, judges.users, partial(request.ask_machine, file, folder))
    judges.api.has_start = True
    return start_routes(StartPage(judges.api, judges.command_queue, desk, restart))


def make_server(settings: Settings, feed: Feed[View], more: Sequence[Route] = ()) -> WebServer:
    """Return the web server for the pages of `feed` by `settings`, not yet started, with the routes `more`."""
    from pi_controller.web.address import PageSettings, is_public_host  # noqa: PLC0415 - a table without pages needs no server
    from pi_controller.web.host_marks import load_host_marks  # noqa: PLC0415
    from pi_controller.web.server import WebServer  # noqa: PLC0415

    web = settings.web
    reach = is_public_host(web.host)
    host = load_host_marks(settings.marks)
    pages = PageSettings(web.address, web.event, settings.table.name, web.words, reach, web.embed, host)
    return WebServer(
        feed,
        web.host,
        web.port,
        hosts=web.hosts,
        proxy=web.proxy,
        tr=translator(web.language),
        more=more,
        pages=pages,
    )


def print_urls(server: WebServer | None, welcome: str = "") -> None:
    """Print the URLs of the pages and how the first judge signs in. In a terminal, a QR code of the URL comes first."""
    from pi_controller.web.address import list_urls, qr_text  # noqa: PLC0415 - a table without pages draws no codes

    found = [] if server is None else list_urls(server.pages, server.port)
    if found and sys.stdout.isatty():
        at = f"{found[0]}/judge" if welcome else f"{found[0]}/"  # the first visitor should sign in as a judge
        open_console().print(qr_text(at))
        print(f"Scan the code with a phone to open {at}")
    lines = [] if server is None else [f"live page: {server.url}"]
    lines += ["for phones: " + " or ".join(f"{one}/" for one in found)] if found else []
    lines += [welcome] if welcome else []
    if lines:
        print("\n".join(lines), flush=True)
