"""`moccasin-mat demo`: a game on a simulated mat, from sensor readings to lights.

It goes through the real firmware files, a real pseudo-terminal, pyserial, the detectors, the referee, the rules and
the journal, out to the light strips in the terminal and the live page.

All of it is a simulation of the mat and of people; what it shows of the detectors holds for its own physics only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.games.registry import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.show.chances_bar import ChancesBar
    from pi_controller.sim.simulation import Simulation
    from pi_controller.table.view import View

TICK_S = 0.016
"""Virtual seconds a tick where people watch; without anyone watching the ticks are longer."""
SPEEDS = ("1", "8", "max")


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "demo",
        "Play a game on a simulated mat, from sensor bytes to lights.",
        "0 the game is over and its journal agrees with what really happened, 1 not so",
    )
    parser.add_argument("--game", metavar="G", default=DEFAULT, help=f"what is played (default: {DEFAULT})")
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="an option of the game")
    parser.add_argument(
        "--seed", metavar="N", type=int, default=1, help="the same seed plays the same game (default: 1)"
    )
    parser.add_argument("--speed", choices=SPEEDS, help="times real time (default: 8 at a terminal, else max)")
    parser.add_argument("--conditions", metavar="C", default="quiet", help="quiet or pow_wow: drums beside the mat")
    parser.add_argument(
        "--fouls", metavar="P", type=float, default=0.05, help="how often the hider errs (default: 0.05)"
    )
    parser.add_argument("--doubts", metavar="P", type=float, default=0.03, help="how often the judge is needed (0.03)")
    parser.add_argument("--journal", metavar="FILE", help="keep the journal here (default: it goes with the demo)")
    parser.add_argument("--no-web", action="store_true", help="no live page")
    parser.add_argument("--port", metavar="N", type=int, default=0, help="the live page's port (default: a free one)")
    parser.add_argument("--chances", action="store_true", help="show each side's chance of winning")
    parser.add_argument("--odds", dest="chances", action="store_true", help=argparse.SUPPRESS)  # its former name
    parser.add_argument(
        "--language", metavar="L", default="en", help="a language's code, or its catalogue: FOLDER/dak.po (default: en)"
    )
    parser.add_argument("--json", action="store_true", help="print one line at the end: the final state and the truth")
    return parser


def main(argv: Sequence[str]) -> int:
    """Play a game; return 0 when it was played to its end and the journal agrees with what really happened."""
    args = parser().parse_args(argv)
    if not 0 <= args.seed < 2**63:
        raise UsageError(f"seed {args.seed} cannot be", "a seed is a whole number from 0")
    from pi_controller.games import registry
    from pi_controller.games.options import from_text
    from pi_controller.show.chances_bar import ChancesBar
    from pi_controller.show.i18n import chosen
    from pi_controller.sim.conditions import Conditions
    from pi_controller.sim.plans import Mischief
    from pi_controller.sim.simulation import Simulation

    args.language = chosen(args.language)
    game = registry.game(args.game, from_text(args.set))
    bar = ChancesBar(game) if args.chances else None
    with ExitStack() as stack:
        journal = args.journal
        if journal is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="moccasin-mat-demo-"))
            journal = str(Path(folder) / "demo.sqlite")
        speed = args.speed or ("8" if sys.stdout.isatty() else "max")
        simulation = stack.enter_context(
            Simulation(
                args.seed,
                Path(journal),
                game,
                conditions=Conditions.named(args.conditions),
                mischief=Mischief(fouls=args.fouls, doubts=args.doubts),
                pace="natural" if speed == "1" else "brisk",
                publish=_web(args, stack, bar),
            )
        )
        if speed == "max":
            _hurry(simulation, quiet=args.json)
        else:
            _watch(simulation, float(speed), bar, args.language, quiet=args.json)
        return _end(simulation, args)


def _web(args: argparse.Namespace, stack: ExitStack, bar: ChancesBar | None) -> Callable[[View], None] | None:
    if args.no_web:
        return None
    from pi_controller.web.feed import Feed
    from pi_controller.web.server import WebServer

    feed = Feed(bar.of if bar else None)
    server = WebServer(feed, port=args.port, language=args.language)
    server.start()
    stack.callback(server.stop)
    if not args.json:
        print(f"live page: {server.url}", flush=True)
    return feed.publish


def _hurry(simulation: Simulation, *, quiet: bool) -> None:
    """Play as fast as the machine can, a line a hide or a throw."""
    from pi_controller.sim.demo_lines import DemoLines

    lines = DemoLines()
    while not simulation.over:
        line = lines.of(simulation.tick())
        if line is not None and not quiet:
            print(line, flush=True)


def _watch(simulation: Simulation, speed: float, bar: ChancesBar | None, language: str, *, quiet: bool) -> None:
    """Play at `speed` times real time, with the strips in the terminal."""
    from rich.live import Live

    from pi_controller.show.terminal import render
    from pi_controller.sim.demo_lines import DemoLines

    begun, t0 = time.monotonic(), simulation.t
    with ExitStack() as stack:
        live = None
        if not quiet and sys.stdout.isatty():
            live = stack.enter_context(Live(auto_refresh=False, transient=True))
        lines, drawn = DemoLines(), -1.0
        while not simulation.over:
            view = simulation.tick(TICK_S)
            ahead = (simulation.t - t0) / speed - (time.monotonic() - begun)
            if live is not None and time.monotonic() - drawn > 1 / 12:
                drawn = time.monotonic()
                chances = bar.of(view) if bar else None
                live.update(render(view, simulation.t, language=language, chances=chances), refresh=True)
            line = lines.of(view)
            if live is None and not quiet and line is not None:
                print(line, flush=True)
            if ahead > 0:
                time.sleep(ahead)


def _end(simulation: Simulation, args: argparse.Namespace) -> int:
    import msgspec

    wrong = simulation.disagreements()
    view = simulation.view
    if args.json:
        final: dict[str, Any] = {
            "game": simulation.game.name,
            "seed": args.seed,
            "state": simulation.game.sheet(simulation.state),
            "hides": view.hide,
            "virtual_s": round(simulation.t, 3),
            "truth": msgspec.to_builtins(simulation.truth),
            "disagreements": wrong,
        }
        print(json.dumps(final, separators=(",", ":")))
    else:
        from pi_controller.show.terminal import render_text

        print(render_text(view, language=args.language))
        played = f"{view.hide} hides in " if view.hide else ""
        print(f"\n{played}{simulation.t / 60:.1f} simulated minutes, seed {args.seed}.")
        print("The journal and what really happened agree." if not wrong else "\n".join(["They disagree:", *wrong]))
        if args.journal:
            print(f"The journal is {args.journal}: 'moccasin-mat replay {args.journal}' shows it hide by hide.")
    return 1 if wrong or view.winner is None else 0
