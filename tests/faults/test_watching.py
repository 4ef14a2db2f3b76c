"""What judges the faults must itself be able to say no."""

import fault_lab
import pytest


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with fault_lab.Lab(5, tmp_path_factory.mktemp("played")) as it:
        it.begin()
        it.play(2)
        yield it


def test_a_quiet_game_is_clean(lab):
    outcome = lab.outcome()
    assert (outcome.invented, outcome.lost, outcome.wrong, outcome.seen_s) == ([], [], [], None)


def test_hit_absent_from_truth_is_invented(lab):
    hits = lab.table.truth.hides[2].hits
    kept = hits.pop()
    assert lab.outcome().invented != []
    hits.append(kept)


def test_acknowledged_hit_that_does_not_count_is_lost(lab):
    lab.watcher.acked[2, 7] = (1, True)
    assert lab.outcome().lost == ["hide 2: (1, True)"]
    del lab.watcher.acked[2, 7]
