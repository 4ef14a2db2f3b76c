"""The page of a tournament, as a browser reads it."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from matches import play_matches

from pi_controller.display.i18n import ENGLISH
from pi_controller.tournament import Elimination, RoundRobin
from pi_controller.web.bracket_sheets import page


@pytest.mark.parametrize("width", [pytest.param(390, marks=pytest.mark.smoke), 1366])
def test_anybody_can_read_it(width, chromium):
    cup, league = Elimination("double"), RoundRobin()
    names = ["Long Hollow", "Big Coulee", "Buffalo Lake", "Enemy Swim", "The Fourth Street Hunters of Sisseton"]
    tab = chromium.new_page(viewport={"width": width, "height": 900})
    for competition, results in ((cup, 5), (league, 7), (league, 0)):
        # axe adds its script to the page, whose policy would not let it
        html = page(competition, play_matches(competition, names, results), "Cup", ENGLISH).replace(
            "default-src 'none'; ", ""
        )
        tab.set_content(html)
        found = Axe().run(tab).response["violations"]
        assert not [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()
