"""What judges the faults must itself be able to say no."""

import fault_lab
import pytest
from fault_watching import Reports, Watcher

from pi_controller.board.messages import BoardEvent, LinkUp


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with fault_lab.Lab(5, tmp_path_factory.mktemp("played")) as it:
        it.begin()
        it.play(2)
        yield it


def test_a_quiet_game_is_clean(lab):
    outcome = lab.outcome("none")
    assert (outcome.invented, outcome.lost, outcome.wrong, outcome.seen_s) == ([], [], [], None)


def test_hit_absent_from_truth_is_invented(lab):
    hits = lab.table.truth.hides[2].hits
    kept = hits.pop()
    assert lab.outcome("none").invented != []
    hits.append(kept)


def test_acknowledged_hit_that_does_not_count_is_lost(lab):
    lab.watcher.acked[2, 7] = (1, True)
    assert lab.outcome("none").lost == ["hide 2: (1, True)"]
    del lab.watcher.acked[2, 7]


def test_watcher_measures_time_to_next_link_change():
    watcher = Watcher("here")
    watcher.edges = [(0.0, False), (1.0, True), (5.0, False), (7.0, True)]
    assert watcher.after(4.5, up=False) == 0.5
    assert watcher.after(6.0, up=True) == 1.0
    assert watcher.after(8.0, up=True) == 0.0
    assert watcher.after(8.0, up=False) is None


def test_repeated_and_missing_board_reports_are_flagged():
    reports = Reports()

    def told(*numbers, boot, lost=0):
        up = LinkUp(0.0, "00", "0.2.0", boot, "power", 4)
        reports.on_messages(0.0, [up, *(BoardEvent(0.0, number, "started", 1, 1, lost) for number in numbers)], False)

    told(1, 2, boot=1)
    told(3, boot=1)
    told(1, boot=2)
    told(4, boot=2, lost=2)
    assert reports.wrong() == []
    told(4, boot=2)
    told(6, boot=2)
    assert len(reports.wrong()) == 2
