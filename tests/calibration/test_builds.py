"""A mat of every size: the doctor finds no fault, the walk passes, and a whole game is played through bytes."""

import numpy as np
import pytest
from board_faults import parse_fault
from board_rig import Rig
from cases import cases
from ground_truth import compare
from walking import walked

from pi_controller.board import wire
from pi_controller.board.messages import Field
from pi_controller.board.session import BoardSession
from pi_controller.config import Settings
from pi_controller.pinmap import pinmap
from pi_controller.rules.registry import game
from pi_controller.runtime.assembly import mat_sensors
from pi_controller.sensing.beads import BeadTracker
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.simulation import Simulation
from pi_controller.tools.doctor import examine_simulated

SIZES = [24, 16, 12, 8]


def settings_of(size):
    return Settings(board={"magnetometers": size}) if size else Settings(referee={"beads": "judge"})


def mask(size):
    return sum(1 << i for i, there in enumerate(pinmap().magnetometers_built(size)) if there)


def look(size, *faults):
    return examine_simulated(settings_of(size), lambda _: None, 3, [parse_fault(fault) for fault in faults])


def test_pin_map_sizes_match_settings():
    assert sorted(map(int, pinmap().magnetometers.built)) == sorted(SIZES)
    for size in SIZES:
        built = pinmap().magnetometers_built(size)
        assert (len(built), sum(built)) == (24, size)
    assert pinmap().magnetometers_built(0) == (False,) * 24
    assert pinmap().magnetometers_built() == pinmap().magnetometers_built(24)
    assert mask(8) & ~mask(16) == 0  # a mat grows: what is glued in stays where it is


@pytest.mark.parametrize("size", cases([16, 8, 0], [*SIZES, 0]))
def test_the_doctor_finds_no_fault(size):
    lines = look(size)
    assert [line for line in lines if line.outcome == "fail"] == []
    checked = [line for line in lines if line.name.startswith("magnetometer") and line.outcome == "pass"]
    assert len(checked) == size


def test_dead_module_of_small_mat_is_named():
    built = [i for i, there in enumerate(pinmap().magnetometers_built(8)) if there]
    [failed] = [line for line in look(8, f"dead-magnetometer={built[3] + 1}") if line.outcome == "fail"]
    assert failed.name.startswith(f"magnetometer {built[3] + 1} ")


@pytest.mark.parametrize("size", cases([0], [*SIZES, 0]))
def test_the_walk_passes(size):
    result = walked(2, conditions=Conditions(magnetometers=size))
    assert result.view.passed
    assert [step.name for step in result.view.steps] == ["empty", "taps", "hands", *(["bead"] if size else [])]
    profile = result.walk.profile("x", "now", "0")
    assert (profile.magnets is None) == (size == 0)
    if profile.magnets is not None:
        assert profile.magnets.known == pinmap().magnetometers_built(size)


FLAT_MM = 18.0


@pytest.mark.slow
def test_doctor_and_walk_pass_flat_mat():
    flat = Settings(board={"depth_mm": FLAT_MM})
    assert [line for line in examine_simulated(flat, lambda _: None, 3) if line.outcome == "fail"] == []
    assert walked(2, conditions=Conditions(depth_mm=FLAT_MM), depth_mm=FLAT_MM).view.passed


@pytest.mark.parametrize(("lies", "said"), [(FLAT_MM, 30.0), pytest.param(30.0, FLAT_MM, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_walk_names_wrong_depth_setting(lies, said):
    view = walked(2, conditions=Conditions(depth_mm=lies), depth_mm=said).view
    assert not view.passed
    (found,) = [one for step in view.steps for one in step.wrong]
    assert found.hint == "set [board] depth_mm: 30, or 18 for a flat mat"
    assert abs(float(found.message.split()[4]) - lies) <= 3.0


@pytest.mark.parametrize("lies", [pytest.param(27.0, marks=pytest.mark.slow), 34.0])
@pytest.mark.slow
def test_walk_passes_magnetometers_few_millimetres_off_depth(lies):
    assert walked(2, conditions=Conditions(depth_mm=lies), depth_mm=30.0).view.passed


def test_sensor_depth_follows_settings():
    flat = mat_sensors(Settings(board={"depth_mm": FLAT_MM}))
    assert set(flat.beads.fitter.sensors_mm[:, 2]) == {-FLAT_MM}
    assert set(mat_sensors(Settings()).beads.fitter.sensors_mm[:, 2]) == {-pinmap().magnetometers.depth_mm}


def test_a_flat_mat_of_few_magnetometers_is_refused():
    assert Settings(board={"depth_mm": FLAT_MM}).find_conflicts() == []
    (issue,) = Settings(board={"depth_mm": FLAT_MM, "magnetometers": 16}).find_conflicts()
    assert issue.keys == ("board", "depth_mm")


@pytest.mark.slow
def test_whole_game_is_played_on_flat_mat(tmp_path):
    rules = game("dakota", {"points": "1"})
    with Simulation(4, tmp_path / "j.sqlite", rules, conditions=Conditions(depth_mm=FLAT_MM)) as table:
        table.play()
        assert compare(table.truth, [fact for _, fact in table.journal.read()], rules) == []


@pytest.mark.parametrize("size", cases([8], SIZES))
@pytest.mark.slow
def test_a_whole_game_is_played(size, tmp_path):
    rules = game("dakota", {"points": "1"})
    with Simulation(4, tmp_path / "j.sqlite", rules, conditions=Conditions(magnetometers=size)) as table:
        table.play()
        assert table.view.winner is not None
        assert compare(table.truth, [fact for _, fact in table.journal.read()], rules) == []


def connect(magnetometers, seed=1):
    rig = Rig(seed)
    rig.session = BoardSession(rig.write, magnetometers)
    return rig, rig.connect()


@pytest.mark.parametrize("size", [16, 12, 8, 0])
def test_board_gets_built_mask_before_first_field(size):
    rig, out = connect(size)
    out += rig.run(2.0)
    assert rig.board.built[-1] == mask(size)
    fields = [message for message in out if isinstance(message, Field)]
    assert bool(fields) == bool(size)
    for field in fields:
        assert tuple(field.ok) == pinmap().magnetometers_built(size)
        assert not field.ut[~field.ok].any()
    assert rig.sampler.events.newest == 2  # started, tested: what is not built is not missed
    assert rig.session.stats.refused == 0


def test_a_whole_mat_sends_no_order():
    rig, out = connect(None)
    out += rig.run(0.5)
    assert rig.session.commands.number == 0
    assert any(isinstance(message, Field) for message in out)


def test_host_without_sizes_gets_whole_mat_again():
    rig, _ = connect(8)
    rig.session.close()
    rig.step()
    rig.session = BoardSession(rig.write)
    out = [*rig.connect(), *rig.run(0.5)]
    assert rig.board.built[-1] == wire.ALL_MAGNETS
    assert all(field.ok.all() for field in out if isinstance(field, Field))


def test_lost_built_order_is_repeated_before_fields():
    rig = Rig(1)
    rig.session = BoardSession(rig.write, 8)
    lost = iter((b"", b""))
    rig.spoil_said = lambda data: next(lost, data) if data[1] == wire.BUILT else data
    out = [*rig.connect(), *rig.run(3.0)]
    assert rig.board.built[-1] == mask(8)
    assert rig.session.commands.repeated > 0
    assert {tuple(field.ok) for field in out if isinstance(field, Field)} == {pinmap().magnetometers_built(8)}


def test_unbuilt_modules_are_no_evidence_of_fault():
    """A dead module is found among those that are there, and silence of the others is none."""
    built = np.array(pinmap().magnetometers_built(12))
    tracker = BeadTracker(magnetometers=12)
    quiet = np.random.default_rng(1)
    dead = int(np.flatnonzero(built)[4])
    for n in range(100):
        ok = built.copy()
        ok[dead] = n < 20
        tracker.feed(Field(n / 20, quiet.normal(0, 0.5, (24, 3)) * ok[:, None], ok))
    assert tracker.faults == {dead: "silent"}


@pytest.mark.parametrize(
    ("fault", "size", "words"),
    [
        ("dead-bus", 24, ["I2C bus"]),
        pytest.param("dead-multiplexer=2", 24, ["0x71"], marks=pytest.mark.slow),
        pytest.param("dead-multiplexer=1", 8, ["0x70"], marks=pytest.mark.slow),
        ("dead-multiplexer=2", 12, ["0x71"]),
    ],
)
@pytest.mark.slow
def test_walk_names_silent_bus_part_once(fault, size, words):
    result = walked(3, conditions=Conditions(magnetometers=size), faults=[fault], limit_s=70.0)
    empty = result.view.steps[0]
    assert empty.state == "failed"
    assert len(empty.wrong) == len(words)
    for finding, word in zip(empty.wrong, words, strict=True):
        assert word in str(finding)


@pytest.mark.parametrize(("size", "mode"), [(24, "automatic"), (16, "automatic"), (12, "ask"), (8, "ask")])
def test_small_mat_downgrades_undetectable_foul_calls(size, mode):
    settings = Settings(board={"magnetometers": size}).referee_settings({})
    assert settings.mode("two_beads") == mode
    assert settings.mode("bead_moved") == "ask"
    off = Settings(board={"magnetometers": size}, referee={"fouls": {"two_beads": "off"}}).referee_settings({})
    assert off.mode("two_beads") == "off"
