"""Every wiring fault has a name: doctor or calibration says which part it is, and the page for builders has it."""

import pytest
from cases import ALL_CASES
from load_file import load_file

faults = load_file("tests/doctor/wiring_faults.py")
FIRST = [(kind, kind.faults[0]) for kind in faults.KINDS][::3]
EVERY = [(kind, fault) for kind in faults.KINDS for fault in kind.faults]


def test_there_are_forty():
    assert len({fault for _, fault in EVERY}) == len(EVERY) >= 40


@pytest.mark.parametrize(
    ("kind", "fault"), [pytest.param(kind, fault, id=fault) for kind, fault in (EVERY if ALL_CASES else FIRST)]
)
def test_doctor_names_faulty_part_alone_as_page_does(kind, fault):
    said = faults.ask_doctor(fault)
    assert fault == "lost-samples" or all(faults.is_named(kind, fault, [line]) for line in said)
    assert all(hint for *_, hint in said)
    assert faults.is_named(kind, fault, said) == (kind.by != faults.CALIBRATION)
    if fault == kind.faults[0]:
        text = faults.PAGE.read_text("utf-8")
        assert all(faults.say_kind(name, found) in text for name, found, _ in said)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "fault"), [pytest.param(kind, fault, id=fault) for kind, fault in EVERY])
def test_fault_is_named_by_its_listed_checker(kind, fault):
    by_doctor = faults.is_named(kind, fault, faults.ask_doctor(fault))
    by_calibration = faults.is_named(kind, fault, faults.calibrate(fault))
    assert (by_doctor or kind.by == faults.CALIBRATION, by_calibration or kind.by == faults.DOCTOR) == (True, True)
    assert by_doctor or by_calibration


@pytest.mark.slow
def test_wiring_faults_page_matches_generated_page():
    assert faults.PAGE.read_text("utf-8") == faults.page()
