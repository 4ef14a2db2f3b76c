"""The page for the wall: nothing runs off any screen, all parts come in turn, names are read from far away."""

from datetime import datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from hub_site import Site

from pi_controller.hub.hub import TableStatus

FIRST_SIZE = (1920, 1080)
SIZES = [(390, 844), (800, 480), (1024, 768), (1280, 720), FIRST_SIZE, (3840, 2160), (1080, 1920)]
NAMES = (
    *("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim", "Lake Traverse", "Old Agency", "Heipa", "Veblen"),
    *("Sisseton", "Peever", "Agency Village", "Očhéthi Šakówiŋ", "Waubay", "Browns Valley", "W" * 40, "Red Iron"),
)
TURN_MS = 12_000
OUTSIDE = """() => {
    const isOutside = one => {
        const box = one.getBoundingClientRect();
        return box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
    };
    const all = [...document.querySelectorAll(".slide.shown .fitted *, header *, footer *")];
    const shown = all.filter(one => one.getClientRects().length && !one.closest("g, svg path, svg text"));
    const page = document.documentElement;
    if (shown.length < 4 || page.scrollHeight > innerHeight || page.scrollWidth > innerWidth) return ["the page"];
    return shown.filter(isOutside).map(one => one.outerHTML.slice(0, 80));
}"""

FILLED = """() => {
    const slide = document.querySelector(".slide.shown");
    const [inside, around] = [slide.querySelector(".fitted"), slide].map(one => one.getBoundingClientRect());
    return Math.max(inside.width / around.width, inside.height / around.height);
}"""


@pytest.fixture
def site(tmp_path, view):
    made = Site(tmp_path)
    made.sign_in()
    later = datetime.now().astimezone() + timedelta(minutes=45)
    for fact in (
        {"do": "plan", "title": "Wacipi", "options": {"points": "5"}},
        {"do": "enter", "teams": [{"name": team} for team in NAMES]},
        {"do": "draw", "order": NAMES},
        {"do": "announce", "text": "Lunch is from 12:30."},
        {"do": "break", "until": f"{later:%H:%M}", "why": "Grand entry and the flags of all nations"},
    ):
        assert made.decide(**fact).status_code == 200
    pairs = list(zip(NAMES[::2], NAMES[1::2], strict=True))
    made.pages.publish(
        tuple(
            TableStatus(f"t{n:02d}", f"Table {n}", "ready", view(teams=dict(zip("AB", pair, strict=True))))
            for n, pair in enumerate(pairs, 1)
        )
    )
    assert made.decide(do="assign", match="W1-1", table="t01").status_code == 200
    yield made
    made.close()


@pytest.fixture
def wall(site, chromium):
    context = chromium.new_context(
        viewport=dict(zip(("width", "height"), FIRST_SIZE, strict=True)), base_url=site.origin
    )
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.clock.install()
    page.goto("/hall")
    page.wait_for_selector(".slide.shown")
    yield page
    context.close()
    assert complaints == []


def part(page):
    """Return the part that is shown, and the tables or the side of the bracket that can be seen."""
    return page.evaluate(
        """() => {
            const slide = document.querySelector(".slide.shown");
            const seen = [...slide.querySelectorAll(".table-card")].filter(one => one.offsetParent);
            const drawn = slide.dataset.slide === "bracket" ? slide.querySelector("svg").getAttribute("viewBox") : "";
            return [slide.dataset.slide, seen.map(one => one.querySelector("h3").innerText).join() || drawn];
        }"""
    )


def test_all_parts_come_in_turn_and_again(wall):
    seen = [part(wall)]
    for _ in range(7):
        wall.clock.run_for(TURN_MS + 100)
        seen.append(part(wall))
    names = [name for name, _ in seen]
    assert names == ["tables", "tables", "queue", "bracket", "bracket", "bracket", "standings", "tables"]
    assert "Table 6" in seen[0][1]
    assert seen[1][1].startswith("Table 7")
    assert len({drawn for name, drawn in seen if name == "bracket"}) == 3, "the whole, and each side"
    assert seen[7] == seen[0]
    wall.keyboard.press("ArrowLeft")
    assert part(wall)[0] == "standings"


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_runs_off_the_screen(wall, size):
    wall.evaluate("addEventListener('resize', () => (document.body.dataset.width = innerWidth))")
    wall.set_viewport_size({"width": size[0], "height": size[1]})
    if size != FIRST_SIZE:  # the page is told of its size with the next frame
        wall.wait_for_selector(f"body[data-width='{size[0]}']")
    for _ in range(7):
        assert wall.evaluate(OUTSIDE) == [], part(wall)
        assert wall.evaluate(FILLED) > 0.9 or size[0] > 3000, part(wall)
        wall.keyboard.press("ArrowRight")


def test_names_are_read_from_fifteen_metres(wall):
    """On a wall of 2 m height a pixel of 1080 is 1.9 mm: 24 px are 45 mm, of which 15 m take 1/330."""
    for _ in range(3):
        sizes = wall.evaluate(
            """() => [...document.querySelectorAll(".slide.shown :is(.score bdi, .queue li)")]
                .filter(one => one.offsetParent)
                .map(one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom)"""
        )
        assert sizes
        assert min(sizes) >= 24
        wall.keyboard.press("ArrowRight")


def test_what_changes_is_shown_at_once(wall, site):
    site.decide(do="announce", text="The final begins.")
    wall.clock.resume()
    wall.wait_for_selector("text=The final begins.")
    assert part(wall)[0] == "tables"


def test_axe_finds_nothing_wrong(wall):
    for _ in range(7):
        wall.evaluate(Axe().axe_script)
        assert wall.evaluate("axe.run().then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []
        wall.keyboard.press("ArrowRight")
