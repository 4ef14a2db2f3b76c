"""The daemon's one step: a board that comes and goes, buttons quicker than the mat, lights that fail, a full disk."""

import numpy as np
import pytest

from pi_controller.board.buttons import MockButtons
from pi_controller.board.connection import BoardConnection
from pi_controller.board.interfaces import StripError
from pi_controller.board.message_source import NoSource
from pi_controller.board.messages import LinkDown, LinkUp, Piezo, Touch
from pi_controller.board.strips import MemoryStrip
from pi_controller.errors import JournalError, PortError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.pinmap import pinmap
from pi_controller.referee.facts import LinkSeen
from pi_controller.rules import registry
from pi_controller.runtime.daemon import Daemon
from pi_controller.sensing.events import Link
from pi_controller.sensing.sensors import MatSensors
from pi_controller.table.mats import Mat
from pi_controller.table.table import Table


class Cable:
    """A port to nowhere that counts how often it was opened, and can be pulled."""

    name = "cable"

    def __init__(self):
        self.opened, self.there, self.closed = 0, True, 0

    def open(self):
        self.opened += 1
        if not self.there:
            raise PortError("no board was found", "plug it in")
        return self

    def read(self, at_least=0):
        if not self.there:
            raise PortError("the board is disconnected", "plug it in")
        return b""

    def write(self, data):
        if not self.there:
            raise PortError("the board is disconnected", "plug it in")

    def wait(self, timeout_s):
        pass

    def close(self):
        self.closed += 1


class Board(NoSource):
    """A source that gives what a test puts into `gives`, and is up while a test wants it to be."""

    def __init__(self):
        self.gives, self.up, self.pinging, self.closed = [], True, False, 0

    def step(self, t, at_least=0):
        given, self.gives = self.gives, []
        return given

    def close(self):
        self.closed += 1


def on(source, table, *others, **more):
    """The daemon of `table` with one mat, whose readings come from `source`."""
    return Daemon(table, [Mat(source, MatSensors())], *others, **more)


@pytest.fixture
def table(tmp_path):
    game = registry.game("dakota")
    with Journal(tmp_path / "j.sqlite") as journal:
        yield Table(journal, game, {"A": "A", "B": "B"}, DakotaReferee(game, None, bytes))


def links(table):
    return [(fact.up, fact.why) for _, fact in table.journal.read() if isinstance(fact, LinkSeen)]


def test_missing_board_is_reported_once_and_retried(table):
    cable = Cable()
    cable.there = False
    daemon = on(BoardConnection(cable.open), table)
    for n in range(500):
        daemon.step(n * 0.01)
    assert cable.opened == 5
    assert links(table) == [(False, "no board was found: plug it in")]
    assert table.view.phase == "toss"
    cable.there = True
    daemon.step(6.0)
    assert daemon.source.port is cable


def test_table_without_a_board_is_playable(table):
    buttons = MockButtons()
    daemon = on(NoSource(), table, buttons)
    buttons.press("toss_b", 1.0)
    for n in range(200):
        daemon.step(n * 0.01)
    assert (table.view.phase, table.view.sheet["hider"]) == ("hide", "B")


def test_a_pulled_cable_is_closed_and_looked_for(table):
    cable = Cable()
    daemon = on(BoardConnection(cable.open), table)
    daemon.step(0.0)
    table.mat_event(Link(0.1, up=True))
    cable.there = False
    daemon.step(0.2)
    assert (daemon.source.port, cable.closed) == (None, 1)
    assert links(table)[-1] == (False, "the board is disconnected: plug it in")
    cable.there = True
    daemon.step(1.5)
    assert daemon.source.port is cable


def test_board_is_not_idle_during_hello_or_strikes(table, monkeypatch):
    daemon = on(BoardConnection(Cable().open), table)
    assert daemon.idle
    daemon.step(0.0)  # says HELLO
    assert not daemon.idle
    daemon = on(Board(), table)
    assert daemon.idle
    monkeypatch.setattr(type(table), "strike_reporting", True)
    assert not daemon.idle


def test_press_waits_for_mat_data_of_its_time(table):
    buttons, board = MockButtons(), Board()
    daemon = on(board, table, buttons)
    board.gives = [LinkUp(0.0, "one", "1.0.0", 1, "power", 4)]
    daemon.step(0.0)
    scan = np.full((4, 3), 700, np.int16)
    buttons.press("toss_a", 1.0)
    board.gives = [Touch(0.99, scan)]
    daemon.step(1.2)
    assert table.view.phase == "toss"
    board.gives = [Touch(1.01, scan)]
    daemon.step(1.21)
    assert table.view.phase == "hide"


def test_dead_touch_strips_hold_no_press_back(table):
    buttons, board = MockButtons(), Board()
    daemon = on(board, table, buttons)
    daemon.step(0.0)
    buttons.press("toss_a", 1.0)
    for n, phase in ((1, "toss"), (3, "hide")):
        board.gives = [Piezo(1.0 + n * 0.1, n * 32, 4000.0, np.zeros((32, 4), np.int16))]
        daemon.step(1.0 + n * 0.1)
        assert table.view.phase == phase


def test_a_press_is_not_lost_with_the_link(table):
    buttons, board = MockButtons(), Board()
    daemon = on(board, table, buttons)
    daemon.step(0.0)
    buttons.press("toss_a", 1.0)
    daemon.step(1.2)
    assert table.view.phase == "toss"
    board.up, board.gives = False, [LinkDown(2.0, "silent")]
    daemon.step(2.0)
    assert table.view.phase == "hide"


def test_lights_that_fail_do_not_stop_the_game(table, caplog):
    class Broken(MemoryStrip):
        def show(self, frame):
            raise StripError("the strip is disconnected", "check its cable")

    daemon = on(NoSource(), table, strip=Broken(pinmap().lights.count))
    daemon.step(0.0)
    daemon.step(1.0)
    assert caplog.messages == ["the light strips are off: the strip is disconnected"]


def test_lights_that_failed_come_back(table, caplog):
    class Loose(MemoryStrip):
        works, tried = False, 0

        def show(self, frame):
            self.tried += 1
            if not self.works:
                raise StripError("the strip is gone", "check its cable")
            super().show(frame)

    strip = Loose(pinmap().lights.count)
    daemon = on(NoSource(), table, strip=strip)
    for n in range(100):  # four seconds
        daemon.step(n * 0.04)
    assert strip.tried == 4, "about once a second"
    assert daemon.strip_fault == "the strip is gone"
    strip.works = True
    for n in range(100, 140):
        daemon.step(n * 0.04)
    assert (strip.tried, daemon.strip_fault) == (5, "")
    assert any(map(any, strip.shown))
    assert caplog.messages == ["the light strips are off: the strip is gone"]
    daemon.close()
    assert not any(map(any, strip.shown))


def test_unchanged_scene_is_sent_once(table):
    frames = []

    class Counting(MemoryStrip):
        def show(self, frame):
            frames.append(tuple(frame))

    daemon = on(NoSource(), table, strip=Counting(pinmap().lights.count))
    for n in range(300):
        daemon.step(n * 0.02)
    assert len(frames) == 1


def test_every_new_view_is_published_once(table):
    shown = []
    buttons = MockButtons()
    daemon = on(NoSource(), table, buttons, publish=shown.append)
    for n in range(100):
        daemon.step(n * 0.01)
    buttons.press("toss_a", 1.0)
    for n in range(100, 200):
        daemon.step(n * 0.01)
    assert [view.phase for view in shown] == ["toss", "hide"]


def test_failing_journal_halts_play_until_it_recovers(table, monkeypatch):
    buttons = MockButtons()
    daemon = on(NoSource(), table, buttons)
    daemon.step(0.0)

    def full(*_):
        raise JournalError("the disk is full", "make room")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", full)
        patch.setattr(Journal, "reopen", full)
        buttons.press("toss_a", 1.0)
        for n in range(100, 350):
            daemon.step(n * 0.01)
        assert table.view.phase == "halted"
        assert "the disk is full" in table.view.note
    for n in range(350, 500):
        daemon.step(n * 0.01)
    assert table.view.phase == "toss"
    buttons.press("toss_a", 5.0)
    for n in range(500, 520):
        daemon.step(n * 0.01)
    assert table.view.phase == "hide"
