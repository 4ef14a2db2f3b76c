"""The machine's own screen: off while the installation is closed, on again by its own request alone."""

import pytest
from watched_kiosk import watched_kiosk

from pi_controller.exhibit.screen_power import REPEAT_S, ScreenPower
from pi_controller.host.request import OFF, ON
from pi_controller.host.status import SCREEN_IS_OFF


class Machine:
    """A machine that fulfils the requests while it is `well`."""

    def __init__(self, folder):
        self.runs, self.well, self.t = True, True, 0.0
        self.folder = folder
        self.off, self.on, self.kept = (folder / name for name in (OFF.file, ON.file, SCREEN_IS_OFF))
        self.asked = []
        self.start()

    def start(self):
        self.power = ScreenPower(lambda: self.runs, self.folder)

    def pass_s(self, seconds, *, off):
        end = self.t + seconds
        while self.t < end:
            self.t += 5
            self.power.check(self.t, off=off)
            for file, runs in ((self.off, False), (self.on, True)):
                if file.exists():
                    file.unlink()
                    self.asked.append("on" if runs else "off")
                    self.runs = runs if self.well else self.runs


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_screen_is_asked_off_and_on_once(machine):
    machine.pass_s(600, off=False)
    assert machine.asked == []
    machine.pass_s(3600, off=True)
    machine.pass_s(3600, off=False)
    machine.pass_s(3600, off=True)
    assert machine.asked == ["off", "on", "off"]


def test_screen_comes_on_after_service_restart(machine):
    machine.pass_s(60, off=True)
    machine.start()
    machine.pass_s(60, off=True)
    machine.pass_s(60, off=False)
    assert machine.asked == ["off", "on"]
    assert machine.runs
    assert not machine.kept.exists()


def test_screen_stopped_by_another_stays_off(machine):
    machine.runs = False
    machine.pass_s(600, off=True)
    machine.pass_s(600, off=False)
    assert machine.asked == []


def test_unfulfilled_request_is_repeated_slowly(machine):
    machine.well = False
    machine.pass_s(10 * REPEAT_S, off=True)
    assert 9 <= len(machine.asked) <= 11


def test_missing_request_folder_does_not_raise(machine, tmp_path):
    power = ScreenPower(lambda: True, tmp_path / "none")
    power.check(0.0, off=True)


def test_installation_asks_for_screen_off_while_closed(tmp_path, monkeypatch):
    with watched_kiosk(tmp_path, monkeypatch) as (made, pass_s, _):
        off, on = tmp_path / OFF.file, tmp_path / ON.file
        pass_s(30)
        assert not off.exists()
        monkeypatch.setattr(type(made.exhibit), "screen_off", property(lambda _: True))
        pass_s(30)
        assert off.exists()
        (tmp_path / "running").rmdir()
        monkeypatch.setattr(type(made.exhibit), "screen_off", property(lambda _: False))
        assert not on.exists()
        pass_s(30)
        assert on.exists()
