"""The nightly self-test on virtual time: when it runs, what it finds, and that it never runs while somebody plays."""

import itertools
from contextlib import ExitStack
from datetime import UTC, datetime, time
from functools import partial

import pytest
from board_faults import parse_fault
from exhibit_rig import WELL, Rig, at
from memory_sound import MemorySound

from pi_controller.config import read_settings
from pi_controller.config.model import ExhibitSection
from pi_controller.exhibit.self_test import SelfTest
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.simulation.listening import SimListening
from pi_controller.tools import machine_checks
from pi_controller.tools.doctor import examine_exhibit
from pi_controller.tools.machine_checks import DISK

HOUR = 3600.0
DAY = 24 * HOUR


class Runs:
    """A test of three steps; `at` has when each began."""

    def __init__(self, hour=time(3), kept=None):
        self.at = []
        self.test = SelfTest(hour, self._begin, at, kept)

    def _begin(self):
        self.at.append(self.now)
        yield DISK.passes("room")
        yield None
        yield DISK.fails("writing", "the {what} is full", "make room", what="disk")

    def pass_time(self, begin, end, idle=lambda t: True, step=60.0):
        t, verdicts = begin, 0
        while t < end:
            self.now = t
            verdicts += self.test.step(t, idle=idle(t))
            t += step
        return verdicts


def test_it_runs_once_a_night_at_its_hour():
    runs = Runs()
    assert runs.pass_time(4 * HOUR, 4 * HOUR + 600) == 1, "the first one, as none was made yet"
    assert runs.pass_time(5 * HOUR, 5 * DAY) == 4
    assert [datetime.fromtimestamp(t, UTC).hour for t in runs.at[1:]] == [3, 3, 3, 3]
    assert str(runs.test.verdict) == "self-test: writing: the disk is full"


def test_self_test_waits_while_busy():
    runs = Runs()
    runs.pass_time(2 * DAY + 2 * HOUR, 2 * DAY + 6 * HOUR, lambda t: not 3 * HOUR - 60 < t % DAY < 4 * HOUR)
    assert [t % DAY for t in runs.at] == [2 * HOUR, 4 * HOUR]


def test_self_test_restarts_after_a_session():
    runs = Runs()
    assert runs.pass_time(DAY, DAY + 120) == 0
    assert runs.test.running
    assert runs.pass_time(DAY + 120, DAY + 180, lambda t: False) == 0
    assert not runs.test.running
    assert runs.pass_time(DAY + 180, DAY + 480) == 1
    assert runs.at == [DAY, DAY + 180]
    assert [line.name for line in runs.test.verdict.lines] == ["room", "writing"]


def test_missed_self_test_runs_after_power_returns(tmp_path):
    runs = Runs(kept=tmp_path / "verdict")
    runs.pass_time(10 * HOUR, 11 * HOUR)
    again = Runs(kept=tmp_path / "verdict")
    assert again.test.verdict == runs.test.verdict
    (wrong,) = again.test.verdict.failures
    assert (wrong.message.template, wrong.hint.template) == ("the {what} is full", "make room"), "to be translated"
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
    """Return what steps an installation with some settings until there is a verdict, and returns it."""

    def run(toml="", sound=None):
        path = tmp_path / "table.toml"
        path.write_text(f'[web]\nport = 0\n[exhibit]\nself_test = "03:00"\n{toml}')
        with ExitStack() as stack:
            options = {"read": lambda _: WELL, "sound": sound, "examine": partial(examine_exhibit, path)}
            daemon = assemble_exhibit(read_settings(path), tmp_path, lambda: NOW, stack, **options)
            now = NOW
            while daemon.table.self_test.verdict is None:
                now += 0.04
                daemon.step(now)
                assert now < NOW + 60
            return daemon.table.self_test.verdict

    return run


NOW = datetime(2090, 5, 3, tzinfo=UTC).timestamp()


def test_all_is_well(tested, caplog):
    caplog.set_level("INFO")
    verdict = tested()
    assert verdict.failures == ()
    assert {"file", "room", "writing", "python", "loudspeaker"} <= {line.name for line in verdict.lines}
    assert "self-test: no faults" in caplog.text


def test_damaged_recorded_game_is_named(tested, tmp_path):
    rig = Rig(3, NOW - 3600, tmp_path, record=True, hides=1)
    rig.begin("mat")
    rig.play_on()
    assert {line.name for line in tested().lines if line.group == "Recorded games"} == {"recorded game"}
    (tmp_path / ".exhibit-self-test").unlink()
    (journal,) = tmp_path.glob("exhibit-*.sqlite")
    content = bytearray(journal.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    journal.write_bytes(content)
    (line,) = tested().failures
    assert (line.name, journal.name in line.message) == ("recorded game", True)


@pytest.mark.parametrize(
    ("mat", "wanted"), [("screen", set()), ("eye", {"group gpio"}), ("sensors", {"group dialout", "group gpio"})]
)
def test_self_test_skips_unused_devices(tmp_path, mat, wanted):
    path = tmp_path / "table.toml"
    path.write_text(f'[buttons]\nkind = "pi"\n[exhibit]\nmat = "{mat}"\n')
    lines = [line for line in examine_exhibit(path, MemorySound(lambda: 0.0)) if line is not None]
    unused = {line.name for line in lines if line.message.startswith("the settings do not use")}
    assert {"group dialout", "group gpio"} - unused == wanted


@pytest.mark.parametrize("fault", ["", "the loudspeaker is disconnected"])
def test_wanted_loudspeaker_is_opened(tested, tmp_path, monkeypatch, fault):
    monkeypatch.setattr(machine_checks, "SPEECH_PROGRAM", "python3")
    ticks = itertools.count()
    sound = MemorySound(lambda: next(ticks) * 0.04)
    sound.fails = fault
    tested(sound=sound)
    assert not sound.played
    (tmp_path / ".exhibit-self-test").unlink()
    failed = tested("[voice]\nenglish = true\n", sound=sound).failures
    assert [line.message.partition(";")[0] for line in failed if line.name == "loudspeaker"] == (
        [fault] if fault else []
    )
    assert [gain for *_, gain in sound.played] == ([] if fault else [0.0])


def test_sensors_of_an_idle_mat_are_examined(tmp_path):
    path = tmp_path / "table.toml"
    with ExitStack() as stack:
        sim = stack.enter_context(SimListening(4, faults=[parse_fault("silent-piezo=2")]))
        path.write_text('[web]\nport = 0\n[exhibit]\nmat = "sensors"\nself_test = "03:00"\n')
        daemon = assemble_exhibit(read_settings(path), tmp_path, lambda: NOW, stack, read=lambda _: WELL)
        installation = daemon.table
        while installation.self_test.verdict is None:
            installation.on_messages(NOW + sim.t, sim.tick(), armed=False)
            installation.maintain(NOW + sim.t)
            assert sim.t < 60
        lines = {line.name: line for line in installation.self_test.verdict.lines}
    assert [name for name, line in lines.items() if line.outcome == "fail"] == ["piezo of pad 2"]
    assert not any("magnetometer" in name and line.outcome != "not here" for name, line in lines.items())
    assert installation.listener is None


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
