"""The page of a tournament, as a browser reads it."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from matches import play_matches
from printed import read_pdf

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


@pytest.mark.smoke
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_browser_prints_each_side_on_its_own_page(paper, chromium, tmp_path):
    cup = Elimination("double")
    tab = chromium.new_page()
    tab.set_content(page(cup, play_matches(cup, [f"Team of the Lakes {n:02}" for n in range(16)], 99), "Cup", ENGLISH))
    tab.pdf(path=tmp_path / "cup.pdf", format=paper)
    tab.close()
    pages = read_pdf(tmp_path / "cup.pdf")
    assert all(one.is_whole for one in pages)
    found = [
        name
        for one in pages
        for name in ("Winners' side", "Losers' side", "Final", "Standings")
        if f"{name} " in one.text[:60]
    ]
    assert found == ["Winners' side", "Losers' side", "Final", "Standings"]
    assert [one.size[0] > one.size[1] for one in pages[:4]] == [True, True, True, False]
