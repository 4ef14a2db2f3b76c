"""Ojibwe's marked ball and slahal's bones at four places: all that leaves the table is the same until the hit."""

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from secret import HASH, SQLITE_CHANGES, written

from pi_controller.journal.journal import Journal
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, SamplesMissing, Strike

BALLS = tuple(Bead(pad, marked=pad == 1) for pad in (1, 2, 3, 4))
FLIP = {0: {}, 1: {1: 2, 2: 1}, 2: {3: 4, 4: 3}, 3: {1: 2, 2: 1, 3: 4, 4: 3}}


def balls_moved(place):
    """Return what moves every ball: the pads turned round by `place`, in the order of the pads."""

    def moved(beads):
        turned = [Bead(bead.pad and (bead.pad + place - 1) % 4 + 1, bead.marked) for bead in beads]
        return tuple(sorted(turned, key=lambda bead: bead.pad or 0))

    return moved


def bones_moved(place):
    """Return what moves every bone to its holder's other hand, as the bits of `place` say."""
    return lambda beads: tuple(Bead(FLIP[place].get(bead.pad, bead.pad)) for bead in beads)


MOVED = {"ojibwe": balls_moved, "slahal": bones_moved}


def hidden(name):
    yield Link(0.0, up=True)
    yield Button(0.1, "toss_a")
    for pad in (1, 2, 3, 4):
        yield HandIn(0.5 + pad / 10, pad, "hider")
        if name == "ojibwe":
            yield HandOut(0.55 + pad / 10, pad, "hider")
    yield BeadsAtRest(1.2, BALLS if name == "ojibwe" else (Bead(1), Bead(3)))
    yield Button(1.4, "ready")
    yield BeadsAtRest(2.0, BALLS if name == "ojibwe" else (Bead(1), Bead(3)))


@pytest.mark.parametrize(
    "then",
    [
        [],
        [Link(8.0, up=False, why="unplugged"), Link(9.0, up=True), JudgeAnswer(9.5, "none")],
        [JudgeHideAgain(8.0)],
        [Strike(2.5, (1, 2)), JudgeAnswer(9.0, "none")],
        [BeadsAtRest(8.0, ()), JudgeAnswer(9.0, "play_on")],
        [JudgeAction(8.0, {"do": "guess"}), JudgeAction(8.0, {"do": "shoot", "opened": [1]})],
    ],
    ids=lambda then: "-".join(type(event).__name__ for event in then) or "sealed",
)
@pytest.mark.parametrize("name", list(MOVED))
def test_four_places_one_story(tmp_path, name, then):
    told, sizes = [], set()
    for place in range(4):
        path = tmp_path / f"{place}.sqlite"
        with Journal(path) as journal:
            told.append(written(name, [*hidden(name), *then], MOVED[name](place), journal))
            sizes.add((path.stat().st_size, path.read_bytes()[SQLITE_CHANGES]))
    assert len(sizes) == 1
    assert any(HASH.encode() in line for line in told[0])
    assert told[0] == told[1] == told[2] == told[3]


def test_opened_pad_reveals_its_own_ball_alone():
    """While the marked ball lies under neither pad 3 nor 4, opening those says nothing of where it is."""
    opened = [HandIn(8.0, 3, "hitter"), HandOut(8.5, 3, "hitter"), HandIn(9.0, 4, "hitter"), HandOut(9.5, 4, "hitter")]
    told = {tuple(written("ojibwe", [*hidden("ojibwe"), *opened], balls_moved(place))) for place in (0, 1)}
    assert len(told) == 1
    assert len({tuple(written("ojibwe", [*hidden("ojibwe"), *opened], balls_moved(place))) for place in (0, 2)}) == 2


@pytest.mark.parametrize(
    ("name", "ends"),
    [("ojibwe", [Strike(2.5, (1,))]), ("slahal", [JudgeAction(8.0, {"do": "guess", "signal": "left"})])],
)
def test_reveal_differs_between_places(name, ends):
    """The comparison can fail: what is said after the hide names the place."""
    whole = [*hidden(name), *ends]
    told = {tuple(written(name, [*whole, Button(9.0, "shown")], MOVED[name](place), stop=False)) for place in range(4)}
    assert len(told) == 4


pads = st.integers(1, 4)
times = st.floats(0, 100)
bead_lists = {
    "ojibwe": st.lists(st.builds(Bead, pads, st.booleans()), max_size=4, unique_by=lambda bead: bead.pad).map(tuple),
    "slahal": st.lists(st.builds(Bead, pads), max_size=2, unique_by=lambda bead: bead.pad).map(tuple),
}


def quiet(name):
    return st.one_of(
        st.builds(HandIn, times, pads, st.just("hider")),
        st.builds(HandOut, times, pads, st.just("hider")),
        st.builds(BeadsAtRest, times, bead_lists[name], st.booleans()),
        st.builds(Button, times, st.sampled_from(["toss_a", "ready", "ready", "shown"])),
        st.builds(SamplesMissing, times, times),
        st.builds(Link, times, st.booleans()),
        st.builds(JudgeAnswer, times, st.sampled_from(["none", "play_on", "hide_again"])),
        st.builds(JudgeHideAgain, times),
        st.builds(JudgeUndo, times),
    )


@settings(max_examples=cases(15, 120), deadline=None)
@pytest.mark.parametrize("name", list(MOVED))
@given(data=st.data(), place=st.integers(1, 3), begun=st.booleans())
def test_random_events_give_same_story_for_any_place(name, data, place, begun):
    events = data.draw(st.lists(quiet(name), max_size=30))
    events = [*hidden(name), *events] if begun else events
    assert written(name, events, lambda beads: beads) == written(name, events, MOVED[name](place))
