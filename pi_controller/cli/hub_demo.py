"""`moccasin-mat hub demo`: run a whole tournament on one machine, with simulated tables and live boards.

Hub, tournament and table programs are the real ones, each table in a process of its own; its judge enters
random results. All files are removed at the end.
"""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.display.i18n import ENGLISH
from pi_controller.errors import UsageError
from pi_controller.host.files import write_private_file
from pi_controller.host.platform import call_at_stop_signals
from pi_controller.hub.run import HubRun
from pi_controller.hub.setup import CA
from pi_controller.tournament.decisions import Announced, Entered, Entry, Planned, StreamTableChosen, TeamsDrawn
from pi_controller.web.bracket_page import name_match

if TYPE_CHECKING:
    from pi_controller.hub.director import Director
    from pi_controller.tournament.director import Tournament

TERMINATE_S = 5.0
POLL_S = 0.2


class Demo(NamedTuple):
    """Options of the demonstration; `pace` is the time between hits, seconds, `port` the port of the boards."""

    teams: int = 16
    tables: int = 4
    points: int = 5
    pace: float = 0.08
    seed: int = 1
    port: int = 8090
    once: bool = False


def run_demo(demo: Demo) -> int:
    """Play the tournament; return 0 after it has a champion. Raises `MatError`."""
    if not 2 <= demo.teams <= 64 or not 1 <= demo.tables <= 16:
        raise UsageError("hub demo: 2 to 64 teams, 1 to 16 tables", "choose other values")
    print(f"Setting up a tournament of {demo.teams} teams on {demo.tables} simulated tables ...", flush=True)
    with tempfile.TemporaryDirectory(prefix="moccasin-mat-hub-") as folder:
        return asyncio.run(_play(demo, Path(folder)))


async def _play(demo: Demo, folder: Path) -> int:
    (folder / "hub.toml").write_text(f"[page]\nport = {demo.port}\nhttps = 0\nstream = 0\n", "utf-8")
    async with AsyncExitStack() as stack:
        hub = HubRun(folder, said=lambda line: print(f"  {line}", flush=True), shows=True)
        stopping, closing = asyncio.Event(), asyncio.Event()
        call_at_stop_signals(stopping.set)
        running = asyncio.create_task(hub.run(closing))
        await hub.wait_until_listening()
        director = hub.director
        _draw(director, demo)
        print(f"  {demo.tables} tables are started, each a program of its own", flush=True)
        for number in range(1, demo.tables + 1):
            # in a thread: a table says goodbye to the hub, which runs in this loop
            stack.push_async_callback(asyncio.to_thread, _stop, _start_table(folder, number, hub, demo))
        print(f"The boards are live at {hub.pages.url}", flush=True)
        print("Ctrl-C ends the demonstration.", flush=True)
        begun, shown = time.monotonic(), 0
        while director.now.champion is None and not stopping.is_set() and not running.done():
            shown = _results(director, shown)
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), POLL_S)
        _results(director, shown)
        champion = director.now.champion
        if champion is not None:
            _end(director, champion, time.monotonic() - begun, hub.pages.url)
            if not demo.once:
                print("The boards stay up until Ctrl-C.", flush=True)
                await asyncio.wait((running, asyncio.create_task(stopping.wait())), return_when=asyncio.FIRST_COMPLETED)
        await stack.aclose()  # stop the tables first, else they would search for the hub
        closing.set()
        await running
        return 0 if champion is not None else 130


def _draw(director: Director, demo: Demo) -> None:
    """Plan the tournament, enter the teams and draw them."""
    now, who = time.time, "Director"
    plan = Planned(
        secrets.token_hex(8),
        title="A tournament on simulated tables",
        options={"points": demo.points},
        results="at_once",
    )
    director.decide(now(), who, plan)
    director.decide(now(), who, Entered(tuple(Entry(f"Team {n}") for n in range(1, demo.teams + 1))))
    director.decide(now(), who, TeamsDrawn(seed := f"demonstration {demo.seed}"))
    director.decide(now(), who, Announced("This is a simulation: a program plays all games."))
    director.decide(now(), who, StreamTableChosen("t01"))
    print(f"  {demo.teams} teams are drawn by the seed '{seed}', double elimination", flush=True)


def _start_table(folder: Path, number: int, hub: HubRun, demo: Demo) -> subprocess.Popen[bytes]:
    name = f"t{number:02d}"
    settings, token = folder / f"{name}.toml", folder / f"{name}.token"
    write_private_file(token, hub.tokens.issue(name).encode())
    settings.write_text(
        f'[table]\nname = "Table {number}"\njournal = "{name}/table.sqlite"\n[board]\nport = "none"\n'
        f'[web]\nenabled = false\n[hub]\naddress = "127.0.0.1"\nport = {hub.pages.secure_port}\ntable = "{name}"\n'
        f'token_file = "{token.name}"\nca = "{CA}"\n',
        "utf-8",
    )
    (folder / name).mkdir()
    command = [sys.executable, "-m", "pi_controller.simulation.table_process", str(settings)]
    return subprocess.Popen([*command, str(100 * demo.seed + number), str(demo.pace)], start_new_session=True)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(TERMINATE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _results(director: Director, shown: int) -> int:
    """Print the results that are new since the first `shown`; return their total number."""
    lines = list(_result_lines(director.now))
    for line in lines[shown:]:
        print(line, flush=True)
    return len(lines)


def _result_lines(now: Tournament) -> Iterator[str]:
    """Yield a line for each game that counts, in the order of their ends."""
    pairings = {pairing.id: pairing for pairing in now.competition.pairings(now.state)}
    for match, source in sorted(
        ((match, sources[-1]) for match, sources in now.sources.items()), key=lambda found: found[1].t
    ):
        pairing = pairings[match]
        loser = next((team for team in pairing.teams if team != pairing.winner), "")
        yield f"{name_match(now.competition, pairing, ENGLISH)}: {pairing.winner} beat {loser} at {source.table}"


def _end(director: Director, champion: str, seconds: float, url: str) -> None:
    now = director.now
    print(f"\n{champion} has won the tournament, after {len(now.sources)} matches in {seconds:.0f} s. Its path:")
    for pairing in now.competition.pairings(now.state):
        if champion in pairing.teams and pairing.winner is not None:
            other = next((team for team in pairing.teams if team != champion), "")
            how = "beat" if pairing.winner == champion else "lost to"
            print(f"  {name_match(now.competition, pairing, ENGLISH)}: {how} {other}")
    print(f"The draw, the bracket and all results: {url}", flush=True)
