"""How the machine, its lights and its sensors are: watched on virtual time."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from exhibit_rig import WELL, Rig
from msgspec.structs import replace

from pi_controller.board.strips import MemoryStrip
from pi_controller.config import read_settings
from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.health import MachineWatch, facts
from pi_controller.exhibit.screen import build_screen
from pi_controller.host.machine_health import MachineHealth
from pi_controller.pinmap import pinmap
from pi_controller.runtime.assembly import assemble_exhibit

STRIPS = len(pinmap().touch.strips)


class Machine:
    """A machine that is as it is told to be."""

    def __init__(self):
        self.health = WELL

    def read(self, before):
        return self.health

    def weak(self, weak, *, since_start=True):
        self.health = replace(WELL, under_voltage=weak, under_voltage_since_start=since_start)


@pytest.fixture
def machine():
    return Machine()


def test_under_voltage_stays_until_machine_restarts(machine):
    watch = MachineWatch(machine.read)
    watch.check(0.0)
    assert [one.wrong for one in facts(watch, ENGLISH) if one.kind == "supply"] == [False]
    for t, (weak, said) in enumerate(((True, "too weak now"), (False, "was too weak")), 1):
        machine.weak(weak)
        watch.check(float(t))
        assert [(one.value, one.wrong) for one in facts(watch, ENGLISH) if one.kind == "supply"] == [(said, True)]


def test_heat_or_long_under_voltage_is_dangerous(machine):
    watch = MachineWatch(machine.read)
    found = []
    for t, celsius in enumerate((84.0, 85.5, 80.0, 76.0, 74.0, 80.0)):
        machine.health = replace(WELL, temperature_c=celsius)
        watch.check(float(t))
        found.append(watch.is_dangerous(float(t)))
    assert found == [False, True, True, True, False, False]
    machine.weak(True)
    watch.check(100.0)
    assert not watch.is_dangerous(159.0)
    watch.check(160.0)
    assert watch.is_dangerous(160.0)
    machine.weak(False)
    watch.check(161.0)
    assert not watch.is_dangerous(161.0)


def test_machine_without_readings_is_not_dangerous():
    watch = MachineWatch(lambda _: MachineHealth())
    watch.check(0.0)
    assert facts(watch, ENGLISH) == []
    assert not watch.is_dangerous(1e6)


def test_danger_closes_after_session_and_reopens_by_itself():
    rig = Rig()
    rig.begin("mat")
    rig.exhibit.danger = True
    rig.advance(1.0)
    assert rig.stage == "play"
    rig.until(lambda: rig.stage == "notice", 1800)
    assert "Out of order" in build_screen(rig.exhibit).lead
    rig.exhibit.danger = False
    rig.advance(1.0)
    assert rig.stage == "attract"


def test_lights_and_page_are_dimmed_by_the_hour():
    rig = Rig(t=17.9 * 3600, dim_from="18:00", dim_to="08:00", dim_page=0.4)
    assert build_screen(rig.exhibit).bright == 1.0
    rig.advance(600.0)
    assert build_screen(rig.exhibit).bright == 0.4
    assert build_screen(Rig(t=0.0).exhibit).bright == 1.0, "never where nobody asked for it"


def lit(folder, toml):
    """Return the pixels of an installation with lights in memory at its first step, at midnight UTC."""
    path = folder / "table.toml"
    path.write_text(f'[web]\nport = 0\n[strips]\nkind = "memory"\nbrightness = 0.8\n{toml}')
    with ExitStack() as stack:
        daemon = assemble_exhibit(read_settings(path), folder, lambda: 0.0, stack, sim=True, read=lambda _: WELL)
        daemon.step(0.0)
        assert isinstance(daemon._strip, MemoryStrip)
        return np.array(daemon._strip.shown)


def test_strips_follow_dimming_hours_and_closing_hours(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    eye = '[exhibit]\nmat = "eye"\n'
    full = lit(tmp_path, eye)
    dim = lit(tmp_path, eye + 'dim_from = "23:00"\ndim_to = "01:00"\ndim_lights = 0.2\n')
    assert full.max() > 0
    assert 0.1 < dim.sum() / full.sum() < 0.3
    assert (lit(tmp_path, eye + 'dim_from = "01:00"\ndim_to = "02:00"\n') == full).all()
    assert lit(tmp_path, eye + 'opens = "09:00"\ncloses = "17:00"\n').max() == 0


def test_opening_hours_follow_wall_clock_after_sync(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    path = tmp_path / "table.toml"
    path.write_text('[web]\nport = 0\n[exhibit]\nopens = "09:00"\ncloses = "17:00"\n')
    wall = [3 * 3600.0]
    with ExitStack() as stack:
        daemon = assemble_exhibit(
            read_settings(path),
            tmp_path,
            lambda: 3 * 3600.0,
            stack,
            sim=True,
            wall=lambda: wall[0],
            read=lambda _: WELL,
            clock_set=lambda _: True,
        )
        daemon.step(3 * 3600.0)
        assert daemon.table.exhibit.stage.name == "rest"
        wall[0] = 12 * 3600.0
        for second in range(10):
            wall[0] += 1
            daemon.step(3 * 3600.0 + second)
        assert daemon.table.exhibit.stage.name == "attract"
