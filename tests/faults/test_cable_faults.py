"""The cable pulled, replugged, renamed, stalled and shared, under a game on the real firmware: what the judge sees."""

import fault_lab
import fault_stopped
import pytest
from cases import cases
from fault_kinds import FAULTS, struck_with_the_cable_cut

GONE = "the board is disconnected"
NONE = "no mat board is plugged in"
HIDES = cases(4, 6)
"""So many are played; the fault comes in the second."""
GAME = 8
"""The seed of a game in whose first hides nobody pauses after tidying the pads: the mat has no other reason to ask."""
HIT = "The mat was disconnected for a moment. Was there a hit?"


def clean(outcome):
    """Check what holds for every fault: the game goes on, and the journal says what happened."""
    assert outcome.winner is not None or outcome.hides >= HIDES
    assert outcome.invented == []
    assert outcome.lost == []
    assert outcome.wrong == []


def done(name, tmp_path):
    outcome = fault_lab.run(FAULTS[name], GAME, tmp_path, HIDES)
    clean(outcome)
    return outcome


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("unplugged in mid-hide, 3 s", "passes_unsure"),
        ("unplugged in mid-frame, 2 s", "link_gap"),
        ("another name after replugging, 2 s", "link_gap"),
    ][:: cases(3, 1)],
)
def test_unplugged_cable_is_reported_and_reconnects(name, question, tmp_path):
    outcome = done(name, tmp_path)
    assert all(map(outcome.shows, (GONE, NONE)))
    assert set(outcome.questions) == {question}
    assert not any("usb-" in line for line in outcome.sees), "which port it is stays at the terminal"
    assert outcome.seen_s <= 0.1
    assert outcome.back_s <= 3.0


@pytest.mark.parametrize("after", [1, 420, 1000])
@pytest.mark.slow
def test_a_stroke_cut_in_two_is_the_judges(after, tmp_path):
    with fault_lab.Lab(4, tmp_path) as lab:
        lab.until(lambda lab: lab.view.hide >= 2)
        before = lab.told()
        struck_with_the_cable_cut(lab, after)
        assert lab.cable.cut_frames == 1
        assert lab.told() == before or HIT in lab.watcher.sees
        lab.play(HIDES)
        outcome = lab.outcome()
    clean(outcome)
    assert outcome.shows(HIT)


@pytest.mark.slow
def test_cable_stall_is_reported_and_old_bytes_discarded(tmp_path):
    outcome = done("the cable stalls, 5 s", tmp_path)
    assert outcome.shows("The board has stopped answering.")
    assert outcome.seen_s <= 1.1
    assert outcome.back_s <= 3.0


@pytest.mark.slow
def test_second_daemon_is_refused_and_first_plays_on(tmp_path):
    outcome = done("a second daemon on the port", tmp_path)
    assert "another program is using the board's port" in outcome.note
    assert outcome.sees == []
    assert outcome.questions == {}
    assert outcome.seen_s is None


@pytest.mark.slow
def test_host_sleep_discards_old_bytes(tmp_path):
    outcome = done("the host sleeps, 60 s", tmp_path)
    assert outcome.seen_s <= 1.0
    assert outcome.back_s <= 3.0
    assert outcome.shows(HIT)


@pytest.mark.slow
def test_stopped_daemon_discards_old_bytes(tmp_path):
    outcome = fault_stopped.run(3, tmp_path)
    clean(outcome)
    assert outcome.seen_s <= 1.0
    assert outcome.back_s <= 3.0
    assert outcome.shows(HIT)
