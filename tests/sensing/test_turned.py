"""Events as those at the other edge of the mat see them."""

from hypothesis import given
from hypothesis import strategies as st

from pi_controller.pinmap import pinmap
from pi_controller.sensing.events import (
    Bead,
    BeadsAtRest,
    Button,
    HandIn,
    HandOut,
    Link,
    SamplesMissing,
    SensorFault,
    SensorFaultsChange,
    Strike,
)
from pi_controller.sensing.mirror import mirror_event

PADS = st.integers(1, 4)
SIDES = st.sampled_from(("hider", "hitter", None))
AT = st.floats(-600.0, 600.0)
BEADS = st.builds(Bead, st.none() | PADS, st.booleans(), AT, AT)
FAULTS = st.builds(SensorFault, st.just("strip"), PADS, st.just("silent"), st.integers(0, 2))
EVENTS = st.one_of(
    st.builds(HandIn, st.just(1.0), PADS, SIDES),
    st.builds(HandOut, st.just(1.0), PADS, SIDES),
    st.builds(BeadsAtRest, st.just(1.0), st.lists(BEADS, max_size=3).map(tuple)),
    st.builds(Strike, st.just(1.0), st.lists(PADS, max_size=4, unique=True).map(tuple)),
    st.builds(SensorFaultsChange, st.just(1.0), st.lists(FAULTS, max_size=3).map(tuple)),
    st.sampled_from((SamplesMissing(1.0, 2.0), Button(1.0, "ready"), Link(1.0, up=False, why="gone"))),
)


@given(EVENTS)
def test_turned_twice_is_the_same_again(event):
    assert mirror_event(mirror_event(event)) == event


@given(x=st.floats(-560.0, 560.0), y=st.floats(-140.0, 140.0))
def test_mirrored_bead_pad_matches_its_position(x, y):
    pads = pinmap().pads
    (bead,) = mirror_event(BeadsAtRest(1.0, (Bead(pads.at(x, y), x_mm=x, y_mm=y),))).found
    assert bead.pad == pads.at(bead.x_mm, bead.y_mm)


def test_mirroring_swaps_pads_sides_and_strips():
    assert mirror_event(Strike(1.0, (1, 3), onsets=(1.0, 1.001))).pads == (4, 2)
    assert mirror_event(HandIn(1.0, 2, "hitter")) == HandIn(1.0, 3, "hider")
    assert mirror_event(SensorFaultsChange(1.0, (SensorFault("strip", 1, "silent", 0),))).faults == (
        SensorFault("strip", 4, "silent", 2),
    )
