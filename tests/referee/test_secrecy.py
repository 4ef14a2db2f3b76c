"""The same hide with the bead at each of the four places: all that leaves the table is the same until the hit."""

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from secret import HASH, SQLITE_CHANGES
from secret import written as written_of

from pi_controller.journal.journal import Journal
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeSensors, JudgeUndo
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, SamplesMissing, Strike


def moved(beads, place):
    """Return the beads with the pads turned round by `place`."""
    return tuple(Bead(bead.pad and (bead.pad + place - 1) % 4 + 1, bead.marked) for bead in beads)


def written(events, place, journal=None):
    return written_of("dakota", events, lambda beads: moved(beads, place), journal)


def a_hide():
    yield Link(0.0, up=True)
    yield Button(0.1, "toss_a")
    for n, pad in enumerate((3, 1, 4, 2)):
        yield HandIn(1.0 + n, pad)
        yield BeadsAtRest(1.2 + n, (Bead(1, marked=True, x_mm=12.5, y_mm=-3.0),) if n else ())
        yield HandOut(1.5 + n, pad)
        yield BeadsAtRest(1.7 + n, (Bead(1, marked=True),))
    yield Button(6.0, "ready")
    yield BeadsAtRest(7.0, (Bead(1),))


@pytest.mark.parametrize(
    "then",
    [
        [],
        [BeadsAtRest(8.0, (Bead(2),)), JudgeAnswer(9.0, "play_on")],
        [BeadsAtRest(8.0, (Bead(2),)), JudgeAnswer(9.0, "2")],
        [BeadsAtRest(8.0, ()), JudgeAnswer(9.0, "hide_again")],
        [Strike(8.0, (1, 2)), Strike(8.1, (1,)), JudgeAnswer(9.0, "none")],
        [
            Link(8.0, up=False, why="unplugged"),
            Link(9.0, up=True),
            JudgeAnswer(9.5, "none"),
            BeadsAtRest(10.0, (Bead(1),)),
        ],
        [
            JudgeSensors(8.0, on=False),
            JudgeSensors(8.5, on=True),
            BeadsAtRest(9.0, (Bead(1),)),
            JudgeAnswer(9.5, "play_on"),
        ],
        [JudgeHideAgain(8.0)],
        [JudgeAction(8.0, {"do": "hit", "found": False}), JudgeUndo(9.0), JudgeUndo(9.0)],
        [JudgeAction(8.0, {"do": "hit", "found": False, "pad": 9})],
    ],
    ids=lambda then: "-".join(type(event).__name__ for event in then) or "sealed",
)
def test_four_places_one_story(tmp_path, then):
    told, sizes = [], set()
    for place in range(4):
        path = tmp_path / f"{place}.sqlite"
        with Journal(path) as journal:
            told.append(written([*a_hide(), *then], place, journal))
            sizes.add((path.stat().st_size, path.read_bytes()[SQLITE_CHANGES]))
    assert len(sizes) == 1
    assert any(HASH.encode() in line for line in told[0])
    assert told[0] == told[1] == told[2] == told[3]


def test_reading_after_withdrawn_seal_hides_bead_place():
    """A seal withdrawn with the sensors off, then a reading: the same is asked wherever the bead lies by then."""
    unplugged = [*a_hide(), JudgeSensors(8.0, on=False), JudgeSensors(8.5, on=True)]
    asked = [written([*unplugged, BeadsAtRest(9.0, (Bead(pad),))], 0) for pad in (1, 2, 3, 4)]
    assert any(b'"about":"sealed_again"' in line for line in asked[0])
    assert asked[0] == asked[1] == asked[2] == asked[3]
    sealed = [
        written([*unplugged, BeadsAtRest(9.0, (Bead(pad),)), JudgeAnswer(9.5, "play_on")], 0) for pad in (1, 2, 3, 4)
    ]
    assert sealed[0] == sealed[1] == sealed[2] == sealed[3]


def test_reveal_differs_between_places():
    """The comparison can fail: with the hits in it, the four stories part."""
    hits = [Strike(8.0, (1,)), Strike(9.0, (2,)), Button(10.0, "shown")]
    told = {tuple(written([*a_hide(), *hits], place)) for place in range(4)}
    assert len(told) > 1


pads = st.integers(1, 4)
beads = st.lists(st.builds(Bead, st.none() | pads, st.booleans()), max_size=2).map(tuple)
times = st.floats(0, 100)
quiet_events = st.one_of(
    st.builds(HandIn, times, pads),
    st.builds(HandOut, times, pads),
    st.builds(BeadsAtRest, times, beads, st.booleans()),
    st.builds(Button, times, st.sampled_from(["toss_a", "ready", "ready", "shown"])),
    st.builds(SamplesMissing, times, times),
    st.builds(Link, times, st.booleans()),
    st.builds(Strike, times, st.just((1, 3))),
    st.builds(JudgeAnswer, times, st.sampled_from(["none", "play_on", "hide_again", "foul"])),
    st.builds(JudgeHideAgain, times),
    st.builds(JudgeUndo, times),
)


@settings(max_examples=cases(15, 150), deadline=None)
@given(events=st.lists(quiet_events, max_size=40), place=st.integers(1, 3), hidden=st.booleans())
def test_random_events_give_same_story_for_any_place(events, place, hidden):
    events = [*a_hide(), *events] if hidden else events
    assert written(events, 0) == written(events, place)
