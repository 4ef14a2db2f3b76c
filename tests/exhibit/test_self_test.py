"""The nightly self-test on virtual time: when it runs, what it finds, and that it never runs while somebody plays."""

import itertools
from contextlib import ExitStack
from datetime import UTC, datetime, time
from types import SimpleNamespace

import pytest
from exhibit_rig import WELL, Rig, at
from memory_sound import MemorySound
from msgspec.structs import replace

from pi_controller.config import read_settings
from pi_controller.config.model import ExhibitSection
from pi_controller.exhibit.self_test import Check, SelfTest
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.sensing.events import Link, SensorFault, SensorFaultsChange

HOUR = 3600.0
DAY = 24 * HOUR


class Runs:
    """A test of three steps; `at` has when each began."""

    def __init__(self, hour=time(3), kept=None):
        self.at = []
        self.test = SelfTest(hour, self._begin, at, kept)

    def _begin(self, t, before):
        self.at.append(t)
        yield Check("disk")
        yield Check("texts", "a fault")
        yield Check("disk", "full")

    def pass_time(self, begin, end, idle=lambda t: True, step=60.0):
        t, verdicts = begin, 0
        while t < end:
            verdicts += self.test.step(t, idle=idle(t))
            t += step
        return verdicts


def test_it_runs_once_a_night_at_its_hour():
    runs = Runs()
    assert runs.pass_time(4 * HOUR, 4 * HOUR + 600) == 1, "the first one, as none was made yet"
    assert runs.pass_time(5 * HOUR, 5 * DAY) == 4
    assert [datetime.fromtimestamp(t, UTC).hour for t in runs.at[1:]] == [3, 3, 3, 3]
    assert str(runs.test.verdict) == "self-test: disk: full; texts: a fault"


def test_self_test_waits_while_busy_and_then_resumes():
    runs = Runs()
    busy = []

    def idle(t):
        free = not (3 * HOUR - 60 < t % DAY < 4 * HOUR)
        busy.append((t, free, runs.test.running))
        return free

    runs.pass_time(2 * DAY + 2 * HOUR, 2 * DAY + 6 * HOUR, idle)
    assert [t % DAY for t in runs.at] == [2 * HOUR, 4 * HOUR]
    t = 3 * DAY + 3 * HOUR
    assert not runs.test.step(t, idle=True)
    assert runs.test.running
    for later in range(100):
        assert not runs.test.step(t + later, idle=False)
    found = [runs.test.step(t + 200 + n, idle=True) for n in range(4)]
    assert found.count(True) == 1


def test_missed_self_test_runs_after_power_returns(tmp_path):
    runs = Runs(kept=tmp_path / "verdict")
    runs.pass_time(10 * HOUR, 11 * HOUR)
    again = Runs(kept=tmp_path / "verdict")
    assert again.test.verdict == runs.test.verdict
    assert again.pass_time(12 * HOUR, DAY) == 0, "it was made today"
    late = Runs(kept=tmp_path / "verdict")
    assert late.pass_time(DAY + 9 * HOUR, DAY + 10 * HOUR) == 1
    (tmp_path / "verdict").write_bytes(b"\x00 torn")
    assert Runs(kept=tmp_path / "verdict").test.verdict is None


def test_switched_off_it_never_runs():
    assert Runs(hour=None).pass_time(0.0, 3 * DAY) == 0


@pytest.mark.parametrize(
    ("section", "hour"),
    [
        ({}, None),
        ({"opens": "09:00", "closes": "17:00"}, time(1)),
        ({"opens": "18:00", "closes": "02:00"}, time(10)),
        ({"opens": "09:00", "closes": "17:00", "self_test": "off"}, None),
        ({"self_test": "04:30"}, time(4, 30)),
    ],
)
def test_self_test_hour_defaults_to_the_closed_hours(section, hour):
    assert ExhibitSection(**section).self_test_hour == hour


@pytest.fixture
def tested(tmp_path):
    """Return what steps an installation until there is a verdict, with some settings; its checks by name."""

    def run(toml="", change=lambda installation: None, t=DAY * 20000, health=WELL, sound=None):
        path = tmp_path / "table.toml"
        path.write_text(f'[web]\nport = 0\n[exhibit]\nself_test = "03:00"\n{toml}')
        with ExitStack() as stack:
            options = {"read": lambda _: health, "sound": sound}
            daemon = assemble_exhibit(read_settings(path), tmp_path, lambda: t, stack, **options)
            installation = daemon.table
            change(installation)
            now = t
            while installation.self_test.verdict is None:
                now += 0.04
                daemon.step(now)
                assert now < t + 60
            known = {one.part: one.wrong for one in installation.self_test.verdict.checks}
            return SimpleNamespace(wrong={part: why for part, why in known.items() if why}, parts=set(known))

    return run


NOW = datetime(2090, 5, 3, tzinfo=UTC).timestamp()


def test_all_is_well(tested, caplog):
    caplog.set_level("INFO")
    found = tested(t=NOW)
    assert found.wrong == {}
    assert found.parts == {"clock", "disk", "heat", "supply", "texts"}
    assert "self-test: no faults" in caplog.text


def test_every_fault_is_named_in_verdict(tested, tmp_path):
    rig = Rig(3, NOW - 3600, tmp_path, record=True, hides=1)
    rig.begin("mat")
    rig.play_on()
    (journal,) = tmp_path.glob("exhibit-*.sqlite")
    content = bytearray(journal.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    journal.write_bytes(content)

    def change(installation):
        installation.exhibit.handle_mat_event(NOW, Link(NOW, up=False))
        installation.exhibit.handle_mat_event(NOW, SensorFaultsChange(NOW, (SensorFault("disc", 2, "silent"),)))

    health = replace(WELL, temperature_c=79.0, free_bytes=10**6, fs_errors=2, under_voltage_since_start=True)
    found = tested('mat = "sensors"\nfolder = "no such"\n', change, NOW, health)
    assert set(found.wrong) == {"disk", "heat", "journals", "link", "sensors", "supply", "texts"}
    assert journal.name in found.wrong["journals"]
    assert "2 errors" in found.wrong["disk"]
    assert "disc of pad 2: silent" in found.wrong["sensors"]


def test_a_clock_that_cannot_be_right_is_named(tested):
    assert "set it" in tested(t=DAY).wrong["clock"]


@pytest.mark.parametrize("fault", ["", "the loudspeaker is disconnected"])
def test_a_loudspeaker_that_is_wanted_is_opened(tested, tmp_path, fault):
    ticks = itertools.count()
    sound = MemorySound(lambda: next(ticks) * 0.04)
    sound.fails = fault
    assert "loudspeaker" not in tested(t=NOW, sound=sound).parts
    assert not sound.played
    (tmp_path / ".exhibit-self-test").unlink()
    found = tested("[voice]\nenglish = true\n", t=NOW, sound=sound)
    assert "loudspeaker" in found.parts
    assert found.wrong.get("loudspeaker", "") == fault
    assert [gain for *_, gain in sound.played] == ([] if fault else [0.0])


def test_a_game_is_never_disturbed(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text('[web]\nport = 0\n[exhibit]\nself_test = "03:00"\n')
    with ExitStack() as stack:
        daemon = assemble_exhibit(read_settings(path), tmp_path, lambda: NOW, stack, read=lambda _: WELL)
        installation = daemon.table
        installation.exhibit.touch(NOW, "start")
        installation.exhibit.touch(NOW, "game:teams")
        for step in range(200):
            daemon.step(NOW + step / 10)
            assert installation.exhibit.stage.name == "play"
        assert installation.self_test.verdict is None
        assert not installation.self_test.running
