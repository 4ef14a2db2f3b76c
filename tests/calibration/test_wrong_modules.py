"""Turned modules and exchanged plugs: the bead step names them, and the profile corrects them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np
import pytest
from cases import cases
from walking import walked, wrong

from pi_controller.board.messages import Field
from pi_controller.calibration import profile as profiles
from pi_controller.calibration.bead_step import SPOTS, describe_cause
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.profile import Profile, ProfileError, WrongModule, list_wrong_modules
from pi_controller.calibration.sensor_listener import LISTEN_S, SensorListener
from pi_controller.calibration.wiring_causes import Cause, exchange_groups, group_orders, mirror_groups
from pi_controller.calibration.wrong_modules import WrongModuleSearch
from pi_controller.errors import UsageError
from pi_controller.pinmap import pinmap
from pi_controller.sensing.baseline import ModuleCorrection, identity_correction, learn_baseline
from pi_controller.sensing.bead_solver import BEAD_HEIGHT_MM
from pi_controller.sensing.beads import FLOOR_UT, BeadTracker
from pi_controller.sensing.events import BeadsAtRest
from pi_controller.sensing.module_turns import describe_turn, right_angled_rotations
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation import magnetometers
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.faults import parse_fault
from pi_controller.simulation.listening import SimListening
from pi_controller.simulation.magnetometers import LYING_Z, MARKED_AM2, Magnets, SimBead
from pi_controller.table.mats import mat_sensors_for

TURNS = right_angled_rotations()
HARD = Conditions(field_noise_ut=1.0, field_drift_ut=3.0, field_gain_error=0.01, sensor_place_mm=1.0)
SENSORS = 24
PADS = [list(range(6 * pad, 6 * pad + 6)) for pad in range(4)]
MULTIPLEXERS = [list(range(8 * n, 8 * n + 8)) for n in range(3)]
MISS_MM = 25.0
SCANS = 5


class Wiring(NamedTuple):
    """How the modules of a mat are wired: the module read at each place, and the turn of each place's module."""

    order: tuple[int, ...] = tuple(range(SENSORS))
    turns: Mapping[int, np.ndarray] = MappingProxyType({})

    def read(self, field):
        """Return what the modules read in `field` (..., sensors, 3), in wire order."""
        raw = np.empty_like(field)
        for place, module in enumerate(self.order):
            raw[..., module, :] = field[..., place, :] @ self.turns.get(place, TURNS[0]).T
        return raw

    @property
    def correction(self):
        turns = np.array([self.turns.get(place, TURNS[0]) for place in range(SENSORS)])
        return ModuleCorrection(np.array(self.order), turns)


class Mat:
    """A simulated mat and the readings of a bead on it; `search` is for their cause."""

    def __init__(self, seed, wiring, conditions=None, built=None):
        conditions = conditions or Conditions()
        rng = np.random.default_rng([seed, 99])
        magnets = Magnets(seed, conditions)

        def scans(t, count):
            field = magnets.field(t)
            return wiring.read(field + conditions.field_noise_ut * rng.standard_normal((count, *field.shape)))

        ok = np.ones(SENSORS, bool) if built is None else np.array(built)
        empty = learn_baseline(scans(1.0, 100).mean(axis=0), ok, 100.0, firm=True)
        self.ut, self.asked, self.places = [], [], []
        for pad in range(1, 5):
            x, y = pinmap().pads.centre(pad)
            for number, (_, (dx, dy)) in enumerate(SPOTS):
                axis = rng.standard_normal(3)
                moment = MARKED_AM2 * rng.normal(1.0, 0.03) * axis / np.linalg.norm(axis)
                across, along = np.clip(rng.normal((dx, dy), MISS_MM), (-115.0, -140.0), (115.0, 140.0))
                magnets.beads["bead"] = SimBead(moment, np.array([x + across, y + along, LYING_Z]))
                magnets.update_fields()
                scan = scans(10.0 + 6.0 * (3 * pad + number), SCANS).mean(axis=0)
                self.ut.append(np.where(ok[:, None], scan - empty.offsets - empty.level, 0.0))
                self.asked.append((x + dx, y + dy, BEAD_HEIGHT_MM[0]))
                self.places.append((x + across, y + along, LYING_Z))
        numbers = np.flatnonzero(ok).tolist()
        self.search = WrongModuleSearch(
            np.array(pinmap().magnetometer_positions()),
            np.array(self.ut),
            np.tile(ok, (len(self.ut), 1)),
            np.array(self.asked),
            noise=(FLOOR_UT**2 + conditions.field_noise_ut**2 / SCANS) ** 0.5,
            pads=[[number for number in pad if ok[number]] for pad in PADS],
            multiplexers=[numbers[first : first + 8] for first in range(0, len(numbers), 8)],
        )


def turned(seed, count=1, numbers=range(SENSORS)):
    """Return a mat's wiring with so many modules turned."""
    rng = np.random.default_rng([seed, 5])
    return Wiring(turns={int(n): TURNS[rng.integers(1, 24)] for n in rng.choice(list(numbers), count, replace=False)})


def exchanged(seed, numbers=range(SENSORS)):
    """Return a mat's wiring with the plugs of any two modules exchanged."""
    a, b = np.random.default_rng([seed, 6]).choice(list(numbers), 2, replace=False).tolist()
    return Wiring(exchange_groups(SENSORS, [a], [b]))


def exchanged_groups(seed, groups):
    """Return a mat's wiring with two of `groups` exchanged."""
    a, b = np.random.default_rng([seed, 7]).choice(len(groups), 2, replace=False).tolist()
    return Wiring(exchange_groups(SENSORS, groups[a], groups[b]))


def mirrored(seed):
    """Return a mat's wiring with one multiplexer mirrored."""
    return Wiring(mirror_groups(SENSORS, [MULTIPLEXERS[seed % 3]]))


CASES = {
    "two modules turned": (lambda seed: turned(seed, 2), 2),
    "two of one pad turned": (lambda seed: turned(seed, 2, PADS[seed % 4]), 2),
    "two modules exchanged": (exchanged, 1),
    "two pads exchanged": (lambda seed: exchanged_groups(seed, PADS), 1),
    "two multiplexers exchanged": (lambda seed: exchanged_groups(seed, MULTIPLEXERS), 1),
    "multiplexer mirrored": (mirrored, 1),
}
"""What is wrong with a mat -> its wiring by seed, and the number of causes."""


def diagnose(seed, wiring, **how):
    return Mat(seed, wiring, **how).search.run()


# the rotations and their words


def test_24_rotations_have_distinct_descriptions():
    assert len(TURNS) == 24
    assert all(np.isclose(np.linalg.det(turn), 1.0) for turn in TURNS)
    assert len({turn.tobytes() for turn in TURNS}) == 24
    assert len({describe_turn(turn) for turn in TURNS[1:]}) == 23
    assert np.array_equal(TURNS[0], np.eye(3))


def test_group_orders_are_permutations_that_undo_themselves():
    orders = group_orders(24, PADS, MULTIPLEXERS)
    assert len(orders) == 6 + 3 + 7
    for order in orders:
        assert sorted(order) == list(range(24))
        assert tuple(order[n] for n in order) == tuple(range(24))


def test_groups_of_unequal_size_are_not_exchanged():
    orders = group_orders(24, [[0], [6], [12], [18]], [list(range(8)), list(range(8, 12))])
    assert not [cause for causes in orders.values() for cause in causes if cause.kind == "multiplexers"]


# the search


@pytest.mark.parametrize("conditions", [Conditions(), HARD])
def test_sound_mats_are_not_accused(conditions):
    for seed in range(cases(8, 100)):
        found = diagnose(seed, Wiring(), conditions=conditions)
        assert found.explained
        assert (found.causes, found.contradicting) == ((), ())


@pytest.mark.parametrize("size", [16, 12, 8])
def test_sound_small_mats_are_not_accused(size):
    for seed in range(cases(5, 50)):
        assert diagnose(seed, Wiring(), built=pinmap().magnetometers_built(size)).causes == ()


@pytest.mark.slow
def test_each_turned_module_is_named_with_its_turn():
    every = [(number, turn) for number in range(24) for turn in range(1, 24)]
    for number, turn in every[:: cases(61, 1)]:
        found = diagnose(24 * number + turn, Wiring(turns={number: TURNS[turn]}))
        assert found.explained
        assert found.causes == (Cause("turned", (number,), describe_turn(TURNS[turn])),)
        assert np.array_equal(found.correction.turns[number], TURNS[turn])


@pytest.mark.parametrize("name", CASES)
def test_each_cause_is_named_and_corrected(name):
    make, causes = CASES[name]
    for seed in range(cases(2, 60)):
        wiring = make(seed)
        found = diagnose(seed, wiring)
        assert found.explained
        assert np.array_equal(found.correction.order, wiring.correction.order)
        assert np.array_equal(found.correction.turns, wiring.correction.turns)
        assert len(found.causes) == causes


def test_turned_module_of_exchanged_multiplexer_is_named():
    order = exchange_groups(24, MULTIPLEXERS[0], MULTIPLEXERS[2])
    found = diagnose(3, Wiring(order, {10: TURNS[5]}))
    assert [cause.kind for cause in found.causes] == ["multiplexers", "turned"]
    assert found.causes[1].numbers == (10,)


def test_found_bead_places_match_true_places():
    wiring = Wiring(exchange_groups(24, PADS[0], PADS[3]), {8: TURNS[7]})
    mat = Mat(2, wiring)
    found = mat.search.run()
    assert np.hypot(*(found.places - np.array(mat.places))[:, :2].T).max() < 4.0
    assert np.linalg.norm(found.moments, axis=1) == pytest.approx(0.176, rel=0.15)


def tilt(degrees, axis):
    """Return the rotation by so many degrees about `axis`."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def test_tilted_module_contradicts_without_turn():
    for seed in range(cases(3, 30)):
        number = (7 * seed + 4) % 24
        found = diagnose(seed, Wiring(turns={number: tilt(45.0, (1.0, 0.6, 0.3 * seed))}))
        assert not found.explained
        assert found.causes == ()
        assert found.contradicting == (number,)


def test_second_magnets_accuse_no_module():
    for seed in range(cases(3, 30)):
        mat = Mat(seed, Wiring())
        rng = np.random.default_rng([seed, 8])
        extra = []
        for _ in mat.ut:
            place = np.array([rng.uniform(-500.0, 500.0), rng.uniform(-120.0, 120.0), 7.0])
            moment = rng.standard_normal(3)
            moment *= 0.176 / np.linalg.norm(moment)
            extra.append(magnetometers.response(np.array(pinmap().magnetometer_positions()), place) @ moment)
        found = search_again(mat, np.array(mat.ut) + extra)
        assert not found.explained
        assert found.causes == ()


def search_again(mat, ut):
    """Return the diagnosis of other readings of the same mat."""
    return WrongModuleSearch(
        np.array(pinmap().magnetometer_positions()),
        ut,
        np.ones(ut.shape[:2], bool),
        np.array(mat.asked),
        noise=0.34,
        pads=PADS,
        multiplexers=MULTIPLEXERS,
    ).run()


def test_bead_on_confused_pads_is_no_exchange():
    """A person who confuses two pads looks like exchanged pads; only the other pads' modules tell."""
    mat = Mat(1, Wiring())
    order = [*range(3), *range(6, 9), *range(3, 6), *range(9, 12)]
    found = search_again(mat, np.array(mat.ut)[order])
    assert found.explained
    assert found.causes == ()


def test_a_module_without_readings_is_left_out():
    mat = Mat(4, Wiring(turns={9: TURNS[4]}))
    ut, ok = np.array(mat.ut), np.ones((12, 24), bool)
    ut[:, 3], ok[:, 3] = 0.0, False
    places = np.array(pinmap().magnetometer_positions())
    search = WrongModuleSearch(places, ut, ok, np.array(mat.asked), noise=0.34, pads=PADS, multiplexers=MULTIPLEXERS)
    assert [cause.numbers for cause in search.run().causes] == [(9,)]


# the correction


def test_correction_undoes_any_wiring_of_scans_and_baseline():
    wiring = Wiring(mirror_groups(24, [MULTIPLEXERS[1]]), {2: TURNS[9], 12: TURNS[20]})
    rng = np.random.default_rng(1)
    field = rng.normal((10.0, 20.0, -40.0), 30.0, (24, 3))
    ok = rng.random(24) > 0.2
    raw = Field(1.0, wiring.read(field), np.empty(24, bool))
    raw.ok[list(wiring.order)] = ok
    scan = wiring.correction.correct(raw)
    assert scan.ut == pytest.approx(field)
    assert np.array_equal(scan.ok, ok)
    every = np.ones(24, bool)
    found = wiring.correction.correct_baseline(learn_baseline(raw.ut, every, 50.0, firm=True))
    right = learn_baseline(field, every, 50.0, firm=True)
    assert found.offsets == pytest.approx(right.offsets)
    assert found.level == pytest.approx(right.level)
    assert (found.scatter, found.scans, found.firm) == (pytest.approx(right.scatter), 50.0, True)


def test_tracker_forgets_the_correction_for_another_board():
    tracker = BeadTracker(correction=ModuleCorrection(np.arange(24)[::-1], np.repeat(np.eye(3)[None], 24, axis=0)))
    tracker.forget()
    tracker.set_empty()
    for n in range(30):
        ut = np.zeros((24, 3))
        ut[0] = 3.0 + 0.01 * (n % 2)
        tracker.feed(Field(n / 20, ut, np.ones(24, bool)))
    assert tracker.baseline is not None
    assert np.abs(tracker.baseline.offsets).max(axis=1).argmax() == 0


def test_profile_keeps_the_correction(tmp_path):
    wiring = Wiring(exchange_groups(24, [4], [17]), {4: TURNS[3], 20: TURNS[11]})
    wrong_modules = list_wrong_modules(wiring.correction)
    assert [module.place for module in wrong_modules] == [5, 18, 21]
    profile = Profile("x", "", "", "", magnets=magnets(wrong_modules))
    profiles.save_profile(tmp_path, profile)
    found = profiles.load_profile(tmp_path, "x").correction()
    assert np.array_equal(found.order, wiring.correction.order)
    assert np.array_equal(found.turns, wiring.correction.turns)
    assert list_wrong_modules(identity_correction(24)) == ()
    assert Profile("x", "", "", "", magnets=magnets(())).correction() is None
    assert b"modules" not in msgspec.json.encode(magnets(()))


def magnets(modules):
    return profiles.MagnetProfile(
        ((1.0, 2.0, 3.0),) * 24, (True,) * 24, 100.0, 10.0, (0.0, 0.0, 50.0), 0.5, (0.17,) * 4, modules=modules
    )


@pytest.mark.parametrize(
    "modules",
    [
        (WrongModule(25, 25, (2, -1, 3)),),
        (WrongModule(0, 0, (2, -1, 3)),),
        (WrongModule(1, 2),),
        (WrongModule(1, 1, (2, -1, 3)), WrongModule(1, 1, (2, -1, 3))),
        (WrongModule(1, 1, (2, 1, 3)),),
        (WrongModule(1, 1, (1, 1, 3)),),
        (WrongModule(1, 1, (0, 2, 3)),),
    ],
)
def test_profile_with_impossible_modules_is_refused(tmp_path, modules):
    profiles.save_profile(tmp_path, Profile("x", "", "", "", magnets=magnets(modules)))
    with pytest.raises(ProfileError, match="wrong modules"):
        profiles.load_profile(tmp_path, "x")


# the walk, through bytes


def bead_only(sim, walk, view):
    if view.at in {1, 2} and not view.over:
        walk.skip_step()


WALKS = [
    ("turned-module=5", "magnetometer 5 (pad 1, hitter left) is turned: a quarter to the left"),
    ("exchanged-modules=3,15", "magnetometer 3 (pad 1, middle left) and magnetometer 15 (pad 3, middle left) are"),
    ("exchanged-pads=2,4", "the magnetometers of pads 2 and 4 are exchanged"),
    ("exchanged-multiplexers=1,3", "the multiplexers 0x70 and 0x72 are exchanged"),
    ("mirrored-multiplexer=2", "the channels of multiplexer 0x71 are in reverse order"),
]


def first_reading(profile, fault, seed, pad):
    """Return the first sure reading of a bead on `pad` of a mat with `fault`, with `profile`."""
    with SimListening(seed, None, [parse_fault(fault)]) as sim:
        made = mat_sensors_for("dakota", profile=profile)
        sim.mat.world.drop("bead", pad)
        while sim.t < 4.0:
            for message in sim.tick():
                for event in made.feed(message):
                    if isinstance(event, BeadsAtRest) and event.sure:
                        return event
    return None


@pytest.mark.parametrize(("fault", "words"), cases(WALKS[:1], WALKS))
@pytest.mark.slow
def test_walk_names_cause_and_profile_corrects_play(fault, words):
    done = walked(3, faults=[fault], meddle=bead_only)
    assert done.view.passed
    [said] = [line for line in done.view.steps[3].found if words in line]
    assert "the profile corrects it" in said
    profile = done.walk.profile("x", "", "")
    assert profile.magnets.moment_am2 == pytest.approx([0.176] * 4, rel=0.1)
    number = parse_fault(fault).number
    pad = number if "pads" in fault else 1 + (number - 1) // 6
    read = first_reading(profile, fault, 3, pad)
    assert read is not None
    assert [bead.pad for bead in read.found] == [pad]


@pytest.mark.slow
def test_walk_fails_on_unexplained_contradicting_module(monkeypatch):
    plain, askew = magnetometers.Magnets.field, tilt(50.0, (1.0, 0.5, 0.2))

    def field(self, t):
        seen = plain(self, t)
        seen[9] = askew @ seen[9]
        return seen

    monkeypatch.setattr(magnetometers.Magnets, "field", field)
    done = walked(2, meddle=bead_only)
    assert not done.view.passed
    assert wrong(done.view, "bead").startswith("magnetometer 10 (pad 2, middle right) contradicts the other")


@pytest.mark.slow
def test_bead_step_asks_each_spot_in_turn():
    done = walked(1, meddle=bead_only)
    asked = [(view.pad, view.spot) for view in done.seen if view.at == 3 and not view.over]
    assert list(dict.fromkeys(asked)) == [(pad, spot) for pad in (1, 2, 3, 4) for spot in range(len(SPOTS))]
    words = {view.ask for view in done.seen if view.at == 3 and not view.over}
    assert len(words) == 4 * len(SPOTS)


def test_doctor_ignores_turn_corrected_by_profile():
    """With small offsets the doctor tells a turned module, unless the profile turns its readings back."""
    quiet = Conditions(field_offset_ut=3.0)
    correction = Wiring(turns={6: TURNS[0]}).correction
    correction.turns[6] = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    failed = []
    for known in (None, correction):
        listener = SensorListener(Detectors(StrikeSettings()), correction=known)
        with SimListening(3, quiet, [parse_fault("turned-module=7")]) as sim:
            while sim.t < LISTEN_S:
                listener.take(sim.tick())
        failed.append([line.name for line in listener.lines() if "turned" in line.message])
    assert failed == [["magnetometer 7 (pad 2, hider left)"], []]


def test_every_cause_has_a_sentence():
    causes = [Cause("turned", (3,), "a half"), Cause("modules", (1, 2)), Cause("pads", (1, 2))]
    causes += [Cause("multiplexers", (1, 3)), Cause("mirrored", (2,))]
    words = [describe_cause(cause) for cause in causes]
    assert len(set(words)) == len(words)
    assert all("the profile corrects it" in each for each in words)


# the simulated faults


@pytest.mark.parametrize(
    "text",
    [
        "turned-module=25", "turned-module=3:xyq", "turned-module=3:xxy", "turned-module=3:yxz", "exchanged-pads=1",
        "exchanged-pads=1,1", "exchanged-pads=1,5", "exchanged-modules=0,3", "exchanged-multiplexers=1,2,3",
        "mirrored-multiplexer=4", "mirrored-multiplexer=1,2", "dead-bus=1",
    ],
)  # fmt: skip
def test_impossible_faults_are_refused(text):
    with pytest.raises(UsageError):
        parse_fault(text)


@pytest.mark.parametrize("kind", ["turned-module", "exchanged-modules", "exchanged-pads", "exchanged-multiplexers"])
def test_faults_have_default_parts(kind):
    fault = parse_fault(kind)
    assert fault.number
    assert fault.turn if kind == "turned-module" else fault.other not in {0, fault.number}


def test_mirrored_multiplexer_of_small_mat_mirrors_channels():
    built = np.array(pinmap().magnetometers_built(8))
    fields = []
    for faults in ([], [parse_fault("mirrored-multiplexer=1")]):
        with SimListening(1, Conditions(magnetometers=8), faults) as sim:
            out = []
            while sim.t < 2.0:
                out += [message.ut for message in sim.tick() if isinstance(message, Field)]
            fields.append(np.mean(out, axis=0)[built])
    assert fields[1] == pytest.approx(fields[0][::-1], abs=1.0)
