"""`moccasin-mat demo`: play a game on a simulated mat, from sensor readings to lights.

It uses the real firmware files, the link's protocol, the detectors, the referee, the rules and the journal, and shows
the light strips in the terminal and the live page.

Mat and people are simulated: results about the detectors are valid only for the simulated physics.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_controller.cli.arguments import Parser, load_settings
from pi_controller.errors import UsageError
from pi_controller.rules import registry

if TYPE_CHECKING:
    from pi_controller.config import Settings
    from pi_controller.display.i18n import Translator
    from pi_controller.rules.base import Game
    from pi_controller.runtime.plugins import Scene
    from pi_controller.simulation.simulation import Simulation
    from pi_controller.table.view import View
    from pi_controller.web.feed import Feed
    from pi_controller.web.server import WebServer


TICK_S = 0.016
"""Virtual seconds per tick with a viewer; ticks are longer without one."""
PAUSE_S = 8.0
"""Pause after the end of a game before the next one begins."""
SPEEDS = ("1", "8", "max")
FOUL_SHARE, DOUBT_SHARE = 0.05, 0.03
"""Probabilities of a foul by the hider, and of a hit about which the judge is asked."""


def demo_parser() -> Parser:
    """Return the parser of `demo`."""
    parser = Parser(
        "demo",
        "Play a game on a simulated mat, from sensor bytes to lights. At a terminal the page stays up after the game, "
        "until Ctrl-C.",
        "0 the game is over, 1 otherwise",
    )
    parser.add_argument(
        "--settings", metavar="FILE", help="a table's settings: their game, names and pages (default: the defaults)"
    )
    parser.add_argument(
        "--game", metavar="G", help=f"the game (default: of the settings, else {registry.DEFAULT_GAME})"
    )
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="an option of the game")
    parser.add_argument(
        "--seed", metavar="N", type=int, default=1, help="the same seed plays the same game (default: 1)"
    )
    parser.add_argument("--speed", choices=SPEEDS, help="times real time (default: 8 at a terminal, else max)")
    parser.add_argument("--journal", metavar="FILE", help="keep the journal here (default: it is deleted at the end)")
    parser.add_argument("--loop", action="store_true", help="play one game after another, until Ctrl-C")
    parser.add_argument("--no-web", action="store_true", help="no live page")
    parser.add_argument(
        "--port", metavar="N", type=int, help="the live page's port (default: of the settings, else a free one)"
    )
    parser.add_argument(
        "--language", metavar="L", help="a language's code, or its catalogue: FOLDER/dak.po (default: of the settings)"
    )
    parser.add_argument("--scene", metavar="NAME", help="draw this light scene of an installed package, too")
    parser.add_argument("--json", action="store_true", help="print one line at the end: the final state")
    return parser


def demo(argv: Sequence[str]) -> int:
    """Play a game; return 0 if it was played to its end."""
    args = demo_parser().parse_args(argv)
    if not 0 <= args.seed < 2**63:
        raise UsageError(f"seed {args.seed} is invalid", "a seed is a whole number from 0")
    if args.loop and (args.journal or args.json):
        raise UsageError("--loop plays many games", "leave out --journal and --json: they are for one game")
    from pi_controller.rules.options import from_text

    settings = _settings(args)
    game = registry.game(settings.game.name, settings.game.options | from_text(args.set))
    scene = None
    if args.scene is not None:
        from pi_controller.pinmap import pinmap
        from pi_controller.runtime.plugins import make_scene

        scene = make_scene(args.scene, pinmap().lights.count)
    if not args.json:
        print("Setting up the simulated mat ...", flush=True)
    from pi_controller.runtime.assembly import print_urls

    stays = sys.stdin.isatty() and not args.no_web and not args.json
    with ExitStack() as stack:
        feed, server = _web(settings, stack) if not args.no_web else (None, None)
        if not args.json and not sys.stdout.isatty():
            print_urls(server)
        seed, status = args.seed, 0
        while True:
            played = _play(seed, game, settings, args, scene, feed, server)
            status = max(status, played)
            if not args.loop:
                break
            seed += 1
            if sys.stdout.isatty():
                time.sleep(PAUSE_S)
        if stays:
            if sys.stdout.isatty():  # otherwise it is printed at the top
                print_urls(server)
            print("The page stays up until Ctrl-C.", flush=True)
            with suppress(KeyboardInterrupt):
                while True:
                    time.sleep(PAUSE_S)
        return status


def _settings(args: argparse.Namespace) -> Settings:
    """Return the table's settings with the options of `args`; without a settings file the pages use a free port."""
    from pi_controller.config.model import GameSection
    from pi_controller.display.i18n import resolve_language

    settings = load_settings(None if args.settings is None else Path(args.settings))
    port = settings.web.port if args.settings is not None else 0
    web = {
        "port": port if args.port is None else args.port,
        "language": resolve_language(args.language or settings.web.language),
    }
    update: dict[str, Any] = {"web": settings.web.model_copy(update=web)}
    if args.game is not None and args.game != settings.game.name:
        registry.game_class(args.game)
        update["game"] = GameSection(name=args.game)
    return settings.model_copy(update=update)


def _web(settings: Settings, stack: ExitStack) -> tuple[Feed[View], WebServer]:
    """Start the web server; return the feed for the views and the server; `stack` closes them."""
    from pi_controller.runtime.assembly import make_server
    from pi_controller.table.view import View
    from pi_controller.web.feed import Feed

    feed = Feed[View]()
    server = make_server(settings, feed)
    server.start()
    stack.callback(server.stop)
    return feed, server


def _play(
    seed: int,
    game: Game[Any],
    settings: Settings,
    args: argparse.Namespace,
    scene: Scene | None,
    feed: Feed[View] | None,
    server: WebServer | None,
) -> int:
    """Play one game on a fresh journal; return 0 if it ended, else 1."""
    from pi_controller.display.i18n import translator
    from pi_controller.runtime.assembly import teams_of
    from pi_controller.simulation.plans import Mischief
    from pi_controller.simulation.simulation import Simulation

    speed = args.speed or ("8" if sys.stdout.isatty() else "max")
    with ExitStack() as stack:
        journal = args.journal
        if journal is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="moccasin-mat-demo-"))
            journal = str(Path(folder) / "demo.sqlite")
        simulation = stack.enter_context(
            Simulation(
                seed,
                Path(journal),
                game,
                mischief=Mischief(fouls=FOUL_SHARE, doubts=DOUBT_SHARE),
                pace="natural" if speed == "1" else "brisk",
                publish=None if feed is None else feed.publish,
                teams=teams_of(settings, game) if args.settings is not None else None,
            )
        )
        tr = translator(settings.web.language)
        if speed == "max":
            _play_fast(simulation, quiet=args.json)
        else:
            _watch(simulation, float(speed), tr, scene, server, quiet=args.json)
        return _end(simulation, tr, seed, args, scene)


def _play_fast(simulation: Simulation, *, quiet: bool) -> None:
    """Play at full speed, printing a line for each hide or throw."""
    from pi_controller.simulation.demo_lines import DemoLines

    lines = DemoLines()
    while not simulation.over:
        line = lines.line_for(simulation.tick())
        if line is not None and not quiet:
            print(line, flush=True)


def _watch(
    simulation: Simulation,
    speed: float,
    tr: Translator,
    scene: Scene | None,
    server: WebServer | None,
    *,
    quiet: bool,
) -> None:
    """Play at `speed` times real time, with the strips in the terminal and the page's address below."""
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from pi_controller.display.terminal import HEIGHT, TerminalTable
    from pi_controller.display.terminal_drawing import pixel_lines
    from pi_controller.simulation.demo_lines import DemoLines

    begun, t0 = time.monotonic(), simulation.t
    with ExitStack() as stack:
        live = None
        if not quiet and sys.stdout.isatty():
            live = stack.enter_context(Live(auto_refresh=False, transient=True))
        lines, drawn = DemoLines(), -1.0
        below = (
            [] if server is None else [Text(""), Text(f"live page: {server.url}   Ctrl-C ends the demo", no_wrap=True)]
        )
        while not simulation.over:
            view = simulation.tick(TICK_S)
            ahead = (simulation.t - t0) / speed - (time.monotonic() - begun)
            if live is not None and time.monotonic() - drawn > 1 / 12:
                drawn = time.monotonic()
                lights = pixel_lines(scene(view, simulation.t)) if scene else []
                picture = TerminalTable(view, tr, simulation.t, HEIGHT - len(below) - len(lights))
                live.update(Group(picture, *lights, *below), refresh=True)
            line = lines.line_for(view)
            if live is None and not quiet and line is not None:
                print(line, flush=True)
            if ahead > 0:
                time.sleep(ahead)


def _end(simulation: Simulation, tr: Translator, seed: int, args: argparse.Namespace, scene: Scene | None) -> int:
    view = simulation.view
    if args.json:
        final: dict[str, Any] = {
            "game": simulation.game.name,
            "seed": seed,
            "state": simulation.game.sheet(simulation.state),
            "hides": view.hide,
            "virtual_s": round(simulation.t, 3),
        }
        print(json.dumps(final, separators=(",", ":")))
    else:
        from pi_controller.display.terminal import render_text

        print(render_text(view, tr))
        if scene is not None:
            from pi_controller.display.terminal_drawing import pixel_lines
            from pi_controller.output import open_console

            open_console().print(*pixel_lines(scene(view, simulation.t)), sep="\n")
        played = f"{view.hide} hides in " if view.hide else ""
        print(f"{played}{simulation.t / 60:.1f} simulated minutes, seed {seed}.")
        if args.journal:
            print(f"The journal is {args.journal}: 'moccasin-mat game replay {args.journal}' shows it hide by hide.")
    return int(view.winner is None)
