"""The sets of tests: slow ones are left out by day, and a dear one must be marked."""

import pytest

TESTS = """
import pytest

def work():
    sum(range(20_000_000))

def test_quick():
    pass

def test_dear():
    work()

@pytest.mark.slow
def test_slow():
    work()
"""


@pytest.mark.parametrize(("options", "outcomes"), [((), (1, 1)), (("--all",), (3, 0))])
def test_dear_test_without_the_mark_fails(options, outcomes, pytester, monkeypatch):
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nmarkers = slow: left out by day")
    with monkeypatch.context() as inside:
        inside.setenv("MOCCASIN_ALL", "")
        inside.setattr("sets.MAX_S", 0.05)
        done = pytester.runpytest_inprocess("-p", "sets", "-p", "no:xdist", *options)
    done.assert_outcomes(passed=outcomes[0], failed=outcomes[1], deselected=0 if options else 1)
