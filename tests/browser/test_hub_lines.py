"""Nothing on a page of the hub is cut in half, no number broken over two lines, and no page wider than its screen."""

import pytest
from line_faults import LINE_FAULTS
from long_names import LONG_NAMES
from served_site import ServedSite as Site

from pi_controller.hub.hub import TableStatus

SIZES = ((390, 844), (800, 480), (1080, 1920), (1366, 768), (1920, 1080), (3840, 2160))
PAGES = ("", "hall", "announcer", "bracket", "results", "start-list", "team/1", "director")
NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
TEAMS = tuple(LONG_NAMES[script] for script in ("spaces", "syllabics", "unbroken", "cjk", "arabic"))
TEAMS += ("Spirit Lake 2026", "Prairie Island", "Team 12345678901234567890")


def tables(view):
    names = ("Table 1", "The table at the drum, by the northern door of the big arbor", "3")
    return tuple(
        TableStatus(f"t{n:02d}", name, state, view(teams=dict(zip("AB", TEAMS[n : n + 2], strict=True))))
        for n, (name, state) in enumerate(zip(names, ("ready", "ready", "lost"), strict=True), 1)
    )


@pytest.fixture
def site(tmp_path, view):
    made = Site(tmp_path)
    made.sign_in()
    made.pages.publish(tables(view))
    yield made
    made.close()


def before_the_draw(site):
    site.decide(do="plan", title="Wacipi of the Upper River, the 117th since 1909", calling="director")
    site.decide(do="enter", teams=[{"name": team} for team in TEAMS])


def at_play(site):
    before_the_draw(site)
    site.bring_to_play(TEAMS, protest="the sleeve, hide 12345")
    assert (
        site.decide(do="announce", text="Grand entry at 14:00. All captains come to the drum, please.").status_code
        == 200
    )


@pytest.mark.parametrize("state", [before_the_draw, at_play])
def test_page_text_is_never_clipped_or_broken(chromium, site, state):
    state(site)
    tab, wrong = chromium.new_page(reduced_motion="reduce"), {}
    site.share_session(tab.context)
    for path in PAGES:
        tab.goto(f"{site.origin}/{path}")
        for width, height in SIZES:
            tab.set_viewport_size({"width": width, "height": height})
            tab.evaluate(NEXT_FRAME)  # the page fits its parts to the new size
            found = tab.evaluate(LINE_FAULTS)
            if (wide := tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")) > 0:
                found.append(f"{wide} px too wide")
            if (
                path == "hall"
                and (high := tab.evaluate("() => document.documentElement.scrollHeight - innerHeight")) > 0
            ):
                found.append(f"{high} px too high")
            if found:
                wrong[f"/{path} {width}x{height}"] = found
    tab.close()
    assert wrong == {}
