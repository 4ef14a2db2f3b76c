"""What the installation's screen sends is the same, to the byte and the moment, for all four places of the bead."""

import pytest
from cases import cases
from exhibit_rig import STEP_S, Rig

from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.opponents import Guess
from pi_controller.exhibit.orders import OrderQueue
from pi_controller.exhibit.pages import ExhibitPage, PageContent
from pi_controller.exhibit.screen import build_screen
from pi_controller.pads import EVERY_PAD


class FixedPlace:
    """Chance that lets B win each toss and hides under one pad."""

    def __init__(self, place):
        self.place = place

    def choice(self, among):
        return "toss_b" if "toss_b" in among else self.place


def record_messages(rig, end, skip_at=None, limit_s=60.0):
    """Return the time and the bytes of each message until `end`; touch "skip" at the step numbered `skip_at`."""
    page = ExhibitPage("127.0.0.1", 0, lambda: rig.t, dict, OrderQueue(), tr=ENGLISH)
    sent, latest = [], rig.t + limit_s
    while not end():
        assert rig.t < latest
        if len(sent) == skip_at and "skip" in rig.exhibit.touches:
            assert rig.touch("skip")
        sent.append((rig.t, page.event(PageContent(build_screen(rig.exhibit), rig.exhibit.host.texts, ()))))
        rig.advance(STEP_S)
    return sent


def visitor_hides(kind, place, skip_at):
    rig = Rig(1)
    rig.begin(kind)
    rig.until(lambda: "pad:1" in rig.game.touches and rig.game.view.phase == "hide")
    assert rig.touch(f"pad:{place}")
    sent = record_messages(rig, lambda: rig.game.awaits == "handover" or rig.game.view.hits, skip_at)
    if kind == "teams":
        assert build_screen(rig.exhibit).curtain
        assert rig.touch("handover")
        sent += record_messages(rig, lambda since=rig.t: rig.t > since + 3)
    return sent


def mat_hides(kind, place, skip_at):
    rig = Rig(11)
    if kind == "attract":
        rig.game._guess = Guess(place, place % 4 + 1)  # a demonstration finds it
        return record_messages(rig, lambda: rig.game.aim)
    rig.begin(kind)
    rig.game._rng = FixedPlace(place)
    return record_messages(rig, lambda: rig.game.awaits == "strike", skip_at)


@pytest.mark.parametrize("skip_at", [None, 3, 6][:: cases(2, 1)])
@pytest.mark.parametrize(
    ("hide", "kind"),
    [(visitor_hides, "mat"), (visitor_hides, "teams"), (mat_hides, "mat"), (mat_hides, "attract")],
)
def test_messages_are_the_same_for_all_four_places(hide, kind, skip_at):
    first, *others = [hide(kind, place, skip_at) for place in EVERY_PAD]
    assert len(first) > 5
    assert all(one == first for one in others)


def test_skip_shortens_the_hands_way():
    whole, skipped = (len(visitor_hides("mat", 2, skip_at)) for skip_at in (None, 4))
    assert skipped < whole
