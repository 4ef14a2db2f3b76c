"""A few hours of visitors, some of whom mean no good; `simulated_visitors.py --hours 72` is the long run."""

import pytest
from cases import cases
from load_file import load_file
from rude_visitors import EVERY_KIND

run = load_file("tests/exhibit/simulated_visitors.py").run


@pytest.mark.parametrize("mat", cases(["sensors"], ["screen", "sensors", "eye"]))
def test_hours_of_visitors_leave_it_as_it_was(mat):
    hours = cases(0.25, 3.0)
    report = run(hours, seed=8, mat=mat)
    assert report["wrong"] == []
    assert report["sessions"] > 50 / 3.0 * hours
    assert report["longest_s"] < 931


@pytest.mark.slow
def test_with_recording_too(tmp_path):
    report = run(cases(0.2, 0.5), seed=3, folder=tmp_path)
    assert report["wrong"] == []
    assert len(list(tmp_path.glob("exhibit-*.sqlite"))) == report["sessions"]


@pytest.mark.slow
def test_every_kind_comes():
    assert sum(1 for came in run(8.0, seed=1)["came"].values() if came) == len(EVERY_KIND)


@pytest.mark.slow
def test_power_cuts_and_board_resets_leave_journals_whole(tmp_path):
    report = run(2.0, seed=4, mat="sensors", folder=tmp_path, cuts=30, resets=10)
    assert report["wrong"] == []
    assert report["in_play"] > 3, "cuts that meet no game show nothing"
    assert report["journals"] == report["sessions"] + report["in_play"]
