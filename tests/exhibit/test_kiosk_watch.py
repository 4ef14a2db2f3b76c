"""The page on the machine's own screen: where it does not ask any more the screen is started anew, and not for ever."""

from contextlib import ExitStack

import pytest
from travel import travelling
from visit import visitor
from watched_kiosk import LOOK_S, watched_kiosk

from pi_controller.config import read_settings
from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.page_watch import (
    HOUR_S,
    MAX_RESTARTS,
    SILENCE_TIMEOUT_S,
    START_TIMEOUT_S,
    KioskWatch,
    watch_unit,
)
from pi_controller.runtime.assembly import assemble_exhibit


class Screen:
    """A screen whose page asks every ten seconds while it `lives`, and which is started anew when that is wanted."""

    def __init__(self):
        self.t, self.run, self.lives, self.heals = 0.0, 1, True, True
        self.seen = None
        self.began = 0.0
        self.restarts = []
        self.watch = KioskWatch(lambda: self.run, self.restart)

    def restart(self):
        self.restarts.append(self.t)
        self.run, self.began = (self.run or 0) + 1, self.t
        self.lives = self.heals

    def pass_s(self, seconds, *, first_page_s=20.0):
        end = self.t + seconds
        while self.t < end:
            self.t += LOOK_S
            if self.run and self.lives and self.t - self.began > first_page_s:
                self.seen = self.t
            self.watch.check(self.t, self.seen)


def test_a_page_that_asks_is_left_in_peace():
    screen = Screen()
    screen.pass_s(86_400)
    assert screen.restarts == []
    assert screen.watch.facts(ENGLISH) == []


def test_restart_of_silent_page_is_reported_one_hour():
    screen = Screen()
    screen.pass_s(1_000)
    screen.lives = False
    screen.pass_s(SILENCE_TIMEOUT_S - 10)
    assert screen.restarts == []
    screen.pass_s(15)
    assert len(screen.restarts) == 1
    screen.pass_s(600)
    assert len(screen.restarts) == 1
    (fact,) = screen.watch.facts(ENGLISH)
    assert not fact.wrong
    screen.pass_s(HOUR_S)
    assert screen.watch.facts(ENGLISH) == []


def test_a_browser_has_time_for_its_first_page():
    screen = Screen()
    screen.pass_s(START_TIMEOUT_S - 10, first_page_s=1e9)
    assert screen.restarts == []
    screen.pass_s(20, first_page_s=1e9)
    assert len(screen.restarts) == 1


def test_restarts_stop_at_hourly_limit_and_alert_staff():
    screen = Screen()
    screen.lives = screen.heals = False
    screen.pass_s(HOUR_S - LOOK_S)
    assert len(screen.restarts) == MAX_RESTARTS
    (fact,) = screen.watch.facts(ENGLISH)
    assert fact.wrong
    assert "3 times in an hour" in fact.value
    screen.pass_s(4 * HOUR_S)
    for at in screen.restarts:
        assert sum(at <= one < at + HOUR_S for one in screen.restarts) <= MAX_RESTARTS
    assert len(screen.restarts) > MAX_RESTARTS, "it is tried again every hour"


def test_page_that_recovers_clears_the_alert():
    screen = Screen()
    screen.lives = screen.heals = False
    screen.pass_s(HOUR_S - LOOK_S)
    assert screen.watch.given_up
    screen.lives = True
    screen.pass_s(10)
    assert not screen.watch.given_up


def test_stopped_screen_is_not_restarted():
    screen = Screen()
    screen.run = None
    screen.pass_s(HOUR_S)
    assert screen.restarts == []
    assert not screen.watch.given_up


def test_new_run_gets_full_start_timeout():
    screen = Screen()
    screen.pass_s(1_000)
    screen.lives = False
    screen.pass_s(SILENCE_TIMEOUT_S - 10)
    screen.run = 7
    screen.pass_s(START_TIMEOUT_S - 10)
    assert screen.restarts == []


def test_unit_watch_follows_run_folder_and_writes_request(tmp_path):
    watch = watch_unit(tmp_path / "run", tmp_path / "asked")
    watch.check(0.0, None)
    watch.check(1e6, None)
    assert not (tmp_path / "asked").exists()
    (tmp_path / "run").mkdir()
    watch.check(1e6 + 1, None)
    assert not (tmp_path / "asked").exists()
    watch.check(1e6 + 1 + START_TIMEOUT_S, None)
    assert (tmp_path / "asked").exists()


def test_unwritable_restart_request_does_not_stop_watch(tmp_path):
    (tmp_path / "run").mkdir()
    watch = watch_unit(tmp_path / "run", tmp_path / "no folder" / "asked")
    watch.check(0.0, None)
    watch.check(START_TIMEOUT_S, None)
    assert len(watch.restarts) == 1


@pytest.fixture
def installation(tmp_path, monkeypatch):
    with watched_kiosk(tmp_path, monkeypatch) as installation:
        yield installation


def test_heartbeat_from_another_machine_is_ignored(installation):
    made, pass_s, asked = installation
    pass_s(10)
    with travelling() as loop:
        assert visitor(made.page.app, loop).get("/here").status_code == 204
        assert made.page.seen == 1010.0
        pass_s(20)
        assert visitor(made.page.app, loop, peer="192.168.1.7").get("/here").status_code == 204
    assert made.page.seen == 1010.0
    pass_s(SILENCE_TIMEOUT_S + LOOK_S)
    assert asked.exists()


def test_installation_without_screen_has_no_watch(tmp_path, monkeypatch):
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    (tmp_path / "table.toml").write_text("[web]\nport = 0\n")
    with ExitStack() as stack:
        daemon = assemble_exhibit(read_settings(tmp_path / "table.toml"), tmp_path, lambda: 0.0, stack)
        assert daemon.table.screen is None
