"""The same hide with what is hidden at each of four places: all that leaves the table is the same until the hit."""

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from secret import HASH, SQLITE_CHANGES, written

from pi_controller.journal.journal import Journal
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeSensors, JudgeUndo
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, SamplesMissing, Strike

FLIP = {0: {}, 1: {1: 2, 2: 1}, 2: {3: 4, 4: 3}, 3: {1: 2, 2: 1, 3: 4, 4: 3}}
HIDDEN = {
    "dakota": (Bead(1, marked=True, x_mm=12.5, y_mm=-3.0),),
    "ojibwe": tuple(Bead(pad, marked=pad == 1) for pad in (1, 2, 3, 4)),
    "slahal": (Bead(1), Bead(3)),
}
each_game = pytest.mark.parametrize("name", HIDDEN)


def moved(name, place):
    """Return what moves everything: all pads turned round by `place`, or each bone to its holder's other hand."""

    def move(beads):
        if name == "slahal":
            return tuple(Bead(FLIP[place].get(bead.pad, bead.pad)) for bead in beads)
        turned = [Bead(bead.pad and (bead.pad + place - 1) % 4 + 1, bead.marked) for bead in beads]
        return tuple(sorted(turned, key=lambda bead: bead.pad or 0) if name == "ojibwe" else turned)

    return move


def a_hide(name):
    yield Link(0.0, up=True)
    yield Button(0.1, "toss_a")
    for n, pad in enumerate((3, 1, 4, 2)):
        yield HandIn(0.5 + n / 10, pad, "hider")
        if name == "dakota":
            yield BeadsAtRest(0.52 + n / 10, HIDDEN[name] if n else ())
        if name != "slahal":
            yield HandOut(0.55 + n / 10, pad, "hider")
    yield BeadsAtRest(1.2, HIDDEN[name])
    yield Button(1.4, "ready")
    yield BeadsAtRest(2.0, HIDDEN[name])


def told(name, then, place, **more):
    return written(name, [*a_hide(name), *then], moved(name, place), **more)


BACK = [Link(8.0, up=False, why="unplugged"), Link(9.0, up=True)]
OFF_AND_ON = [JudgeSensors(8.0, on=False), JudgeSensors(8.5, on=True)]
THEN = [
    [],
    [*BACK, JudgeAnswer(9.5, "none")],
    [JudgeHideAgain(8.0)],
    [Strike(2.5, (1, 2)), JudgeAnswer(9.0, "none")],
    [BeadsAtRest(8.0, ()), JudgeAnswer(9.0, "play_on")],
    [BeadsAtRest(8.0, ()), JudgeAnswer(9.0, "hide_again")],
    [JudgeAction(8.0, {"do": "guess"}), JudgeAction(8.0, {"do": "shoot", "opened": [1]})],
    [JudgeAction(8.0, {"do": "hit", "found": False, "pad": 9})],
]
OF_DAKOTA = [
    [BeadsAtRest(8.0, (Bead(2),)), JudgeAnswer(9.0, "play_on")],
    [BeadsAtRest(8.0, (Bead(2),)), JudgeAnswer(9.0, "2")],
    [Strike(8.0, (1, 2)), Strike(8.1, (1,)), JudgeAnswer(9.0, "none")],
    [*BACK, JudgeAnswer(9.5, "none"), BeadsAtRest(10.0, (Bead(1),))],
    [*OFF_AND_ON, BeadsAtRest(9.0, (Bead(1),)), JudgeAnswer(9.5, "play_on")],
    [JudgeAction(8.0, {"do": "hit", "found": False}), JudgeUndo(9.0), JudgeUndo(9.0)],
]
CASES = [*[(name, then) for name in HIDDEN for then in THEN][:: cases(3, 1)], *(("dakota", then) for then in OF_DAKOTA)]


@pytest.mark.parametrize(("name", "then"), CASES)
def test_four_places_one_story(tmp_path, name, then):
    stories, sizes = [], set()
    for place in range(4):
        path = tmp_path / f"{place}.sqlite"
        with Journal(path) as journal:
            stories.append(told(name, then, place, journal=journal))
            sizes.add((path.stat().st_size, path.read_bytes()[SQLITE_CHANGES]))
    assert len(sizes) == 1
    assert any(HASH.encode() in line for line in stories[0])
    assert stories[0] == stories[1] == stories[2] == stories[3]


@pytest.mark.parametrize("answered", [False, True])
def test_reading_after_withdrawn_seal_hides_bead_place(answered):
    """A seal withdrawn with the sensors off, then a reading: the same is asked wherever the bead lies by then."""
    answer = [JudgeAnswer(9.5, "play_on")] if answered else []
    asked = [told("dakota", [*OFF_AND_ON, BeadsAtRest(9.0, (Bead(pad),)), *answer], 0) for pad in (1, 2, 3, 4)]
    assert any(b'"about":"sealed_again"' in line for line in asked[0])
    assert asked[0] == asked[1] == asked[2] == asked[3]


def test_opened_pad_reveals_its_own_ball_alone():
    """While the marked ball lies under neither pad 3 nor 4, opening those says nothing of where it is."""
    opened = [HandIn(8.0, 3, "hitter"), HandOut(8.5, 3, "hitter"), HandIn(9.0, 4, "hitter"), HandOut(9.5, 4, "hitter")]
    assert told("ojibwe", opened, 0) == told("ojibwe", opened, 1) != told("ojibwe", opened, 2)


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("dakota", [Strike(8.0, (1,)), Strike(9.0, (2,))]),
        ("ojibwe", [Strike(2.5, (1,))]),
        ("slahal", [JudgeAction(8.0, {"do": "guess", "signal": "left"})]),
    ],
)
def test_reveal_differs_between_places(name, ends):
    """The comparison can fail: what is said after the hide names the place."""
    stories = {tuple(told(name, [*ends, Button(10.0, "shown")], place, stop=False)) for place in range(4)}
    assert len(stories) == 4


pads = st.integers(1, 4)
times = st.floats(0, 100)
beads = {
    "dakota": st.lists(st.builds(Bead, st.none() | pads, st.booleans()), max_size=2).map(tuple),
    "ojibwe": st.lists(st.builds(Bead, pads, st.booleans()), max_size=4, unique_by=lambda bead: bead.pad).map(tuple),
    "slahal": st.lists(st.builds(Bead, pads), max_size=2, unique_by=lambda bead: bead.pad).map(tuple),
}


def quiet(name):
    sides = st.sampled_from((None, "hider") if name == "dakota" else ("hider",))
    answers = ["none", "play_on", "hide_again", *(["foul"] if name == "dakota" else [])]
    return st.one_of(
        st.builds(HandIn, times, pads, sides),
        st.builds(HandOut, times, pads, sides),
        st.builds(BeadsAtRest, times, beads[name], st.booleans()),
        st.builds(Button, times, st.sampled_from(["toss_a", "ready", "ready", "shown"])),
        st.builds(SamplesMissing, times, times),
        st.builds(Link, times, st.booleans()),
        *([st.builds(Strike, times, st.just((1, 3)))] if name == "dakota" else []),
        st.builds(JudgeAnswer, times, st.sampled_from(answers)),
        st.builds(JudgeHideAgain, times),
        st.builds(JudgeUndo, times),
    )


@settings(max_examples=cases(15, 150), deadline=None)
@each_game
@given(data=st.data(), place=st.integers(1, 3), begun=st.booleans())
def test_random_events_give_same_story_for_any_place(name, data, place, begun):
    events = data.draw(st.lists(quiet(name), max_size=40))
    events = [*a_hide(name), *events] if begun else events
    assert written(name, events, moved(name, 0)) == written(name, events, moved(name, place))
