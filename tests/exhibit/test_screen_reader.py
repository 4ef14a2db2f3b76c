"""What a screen reader is told of a visit: the bead's place and the sticks after each hide, nothing of it before."""

from itertools import pairwise

import pytest
from exhibit_rig import STEP_S, Rig

from pi_controller.exhibit.lessons import sticks
from pi_controller.exhibit.pages import describe_news
from pi_controller.exhibit.screen import Heard, build_screen


def hear_visit(kind, seed, hides=4):
    """Yield each announcement of a visit with the rig, as `announce.js` makes it of two screens."""
    rig = Rig(seed, hides=hides)
    before = describe_news(build_screen(rig.exhibit).heard)
    rig.begin(kind)
    while rig.stage in ("play", "result"):
        news = describe_news(build_screen(rig.exhibit).heard)
        came = (news["moment"] != before["moment"] and news["outcome"]) or ""
        changed = [line for line, last in zip(news["lines"], before["lines"], strict=True) if line != last]
        if told := " ".join(filter(None, (came, *changed))):
            yield told, rig
        before = news
        if rig.stage == "play" and rig.game.touches:
            rig.touch(rig.rng.choice(list(rig.game.touches)))
        rig.advance(STEP_S)


@pytest.mark.parametrize("kind", ["mat", "teams", "learn"])
def test_each_hide_tells_the_bead_and_the_sticks(kind):
    places, counts = 0, 0
    for told, rig in hear_visit(kind, 4):
        view = rig.game.view
        assert told.count("The bead was under") + told.count(": found.") <= 1
        if view.phase not in ("show", "over") or rig.stage == "result":
            assert "The bead was under" not in told
            continue
        if not told.startswith(("First hit, cloth", "Second hit, cloth")):
            continue
        place = view.opening.pad
        assert f"The bead was under cloth {place}." in told or f"cloth {place}: found." in told
        places += 1
        if view.winner is None:
            a, middle, b = sticks(view)
            names = ("side A", "side B") if kind == "teams" else ("your side", "the mat")
            assert f"Long sticks: {names[0]} {a}, {names[1]} {b}." in told.replace("\u2068", "").replace("\u2069", "")
            assert (f"{middle} lie in the middle" in told) == (middle > 1)
            counts += 1
    assert places >= 3
    assert counts >= 2


def test_transcript_tells_each_event_once():
    transcript = [told for told, _ in hear_visit("mat", 4)]
    assert transcript[0] == "A coin toss decides who hides first."
    assert all(one != other for one, other in pairwise(transcript))
    assert not any("lit cloth" in one or "pad" in one for one in transcript), "it is said by its number"
    assert any(one.startswith("The mat hits cloth ") for one in transcript)
    assert "ahead!" in transcript[-1] or "wins the point!" in transcript[-1] or "equal" in transcript[-1]


def test_lesson_is_read_whole():
    told = next(
        told for told, rig in hear_visit("learn", 2) if "second hit" in told.lower() and "There are two" in told
    )
    assert told.endswith("After a miss, the hitters want to miss again: finding it now costs more sticks.")


def test_nothing_is_told_while_nobody_visits():
    rig = Rig(2)
    for _ in range(100):
        rig.advance(STEP_S)
        assert build_screen(rig.exhibit).heard == Heard()
    assert build_screen(Rig(t=3 * 3600, opens="09:00", closes="17:00").exhibit).heard == Heard()
