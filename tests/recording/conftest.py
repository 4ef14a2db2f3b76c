"""A short simulated game recorded while it is played; once for all tests here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cases import cases

from pi_controller.recording.entries import Header, settings_as_json
from pi_controller.recording.recorder import Recorder
from pi_controller.recording.store import Recording, create_recording
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation
from pi_controller.table.table import Observer


class Log(Observer):
    """An observer that keeps the live table's events, and what was in the file in each phase."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[Any] = []
        self.messages: list[Any] = []
        self.sizes: list[tuple[float, str, int, Any]] = []
        self.contents: list[tuple[float, bytes]] = []

    def on_messages(self, t, messages, armed):
        self.messages += messages

    def on_events(self, events, armed):
        self.events += events

    def on_press(self, t, press):
        self.events.append(press)

    def on_step(self, t, table, armed):
        beside = self.path.parent.glob(f"{self.path.name}-*")
        names = tuple((path.name, path.stat().st_size) for path in beside)
        self.sizes.append((t, table.story.phase, table.story.hide.number, names))
        content = self.path.read_bytes()
        if not self.contents or self.contents[-1][1] != content:
            self.contents.append((t, content))


@dataclass
class Played:
    path: Path
    journal: Path
    log: Log
    records: list[Any]
    seconds: float
    questions: int


def header_of(game, t=0.0):
    teams = {"A": "Team A", "B": "Team B"}
    return Header(
        t=t,
        game=game.name,
        version=game.version,
        options=dict(game.settings),
        teams=teams,
        referee=settings_as_json(RefereeSettings()),
        strikes=settings_as_json(StrikeSettings()),
        seats="turn",
    )


def play(folder, seed, game, mischief, conditions=None):
    path = folder / "game.sensors"
    with Simulation(seed, folder / "game.sqlite", game, mischief=mischief, conditions=conditions) as simulation:
        file = create_recording(path, header_of(game))
        log = Log(path)
        recorder = Recorder(file, simulation.daemon.table)
        simulation.daemon.observers += [recorder, log]
        simulation.play()
        recorder.close()
        records = list(simulation.journal.read())
        return Played(path, folder / "game.sqlite", log, records, simulation.t, simulation.players.questions)


@pytest.fixture(scope="session")
def smooth(tmp_path_factory):
    """A game in which nobody was asked anything."""
    for seed in (30, 8, 9, 10):
        played = play(tmp_path_factory.mktemp("smooth"), seed, registry.game("dakota", {"points": "1"}), Mischief(0, 0))
        if played.questions == 0:
            return played
    raise AssertionError("the judge was needed in each of these games")


@pytest.fixture(scope="session")
def judged_game(tmp_path_factory):
    """A game with fouls and doubts, in which the judge was needed; noise hides its strokes from deaf settings."""
    noisy = Conditions(adc_noise_lsb=5.0)
    for seed in (15, 16, 17, 18, 19):
        folder = tmp_path_factory.mktemp("judged")
        played = play(folder, seed, registry.game("dakota", {"points": "1"}), Mischief(0.1, 0.5), noisy)
        if played.questions:
            return played
    raise AssertionError("the judge was needed in none of these games")


@pytest.fixture(scope="module", params=cases(["smooth"], ["smooth", "judged_game"]))
def played(request):
    """Each of the two games; by day the shorter one."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def recording(played):
    """Return the recording of the game: its header and its entries."""
    recording = Recording(played.path)
    return recording.header, list(recording.entries())
