"""The wall in a browser: nothing runs off any screen, all parts come in turn, names are read from far away."""

import re
import time
from contextlib import closing, contextmanager
from datetime import datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from line_faults import LINE_FAULTS
from long_names import LONG_NAMES
from served_site import ServedSite

from pi_controller.hub.hub import TableStatus
from pi_controller.tournament.decisions import TeamWithdrawn

FIRST_SIZE = (1920, 1080)
SIZES = [(390, 844), (800, 480), (1024, 768), (1280, 720), FIRST_SIZE, (3840, 2160), (1080, 1920)]
NAMES = (
    *("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim", "Lake Traverse", "Old Agency", "Heipa", "Veblen"),
    *("Sisseton", "Peever", "Agency Village", "Očhéthi Šakówiŋ", "Waubay", "Browns Valley", "W" * 60, "Red Iron"),
)
LOST = 3
"""The table without a connection."""
PARTS = 11
"""Of the hall below, in one round of turning."""
LONG = (
    "The Moccasin Game Society of the Lake by the Big Old Oaks, 1",
    "The Moccasin Game Society of the Lake by the Big Old Oaks, 2",
    *(LONG_NAMES[script] for script in ("syllabics", "arabic", "unbroken")),
    *(f"{n:02d} {'Očhéthi Šakówiŋ ' * 4}"[:59] + "x" for n in range(27)),
)
SHORT = tuple(f"Očhéthi Šakówiŋ D {n:02d}" for n in range(32))
"""Names of 20 letters."""
MIN_SIZE = 1 / 45
"""Size of a letter on the wall, in widths of the screen: the page of the hall in the help has the distances."""
TURN_BY_HAND = """(() => {
  const repeat = window.setInterval;
  window.setInterval = (does, ms) => ms === 12_000 ? ((window.turnPart = does), 0) : repeat(does, ms);
})()"""
"""The parts turn every twelve seconds: here only if the test calls `turnPart`, so that a slow machine sees each."""
OUTSIDE = """() => {
    const isOutside = one => {
        const box = one.getBoundingClientRect();
        return box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
    };
    const all = [...document.querySelectorAll(".slide.shown .fitted *, header *, footer *, .called-now *")];
    const visible = all.filter(one => one.getClientRects().length && !one.closest("svg *"));
    const page = document.documentElement;
    if (visible.length < 4 || page.scrollHeight > innerHeight || page.scrollWidth > innerWidth) return ["the page"];
    return visible.filter(isOutside).map(one => one.outerHTML.slice(0, 80));
}"""

FILLED = """() => {
    const slide = document.querySelector(".slide.shown");
    const [inside, around] = [slide.querySelector(".fitted"), slide].map(one => one.getBoundingClientRect());
    return Math.max(inside.width / around.width, inside.height / around.height);
}"""


@pytest.fixture
def site(tmp_path, view):
    made = ServedSite(tmp_path)
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
            TableStatus(
                f"t{n:02d}",
                f"Table {n}",
                "lost" if n == LOST else "ready",
                view(teams=dict(zip("AB", pair, strict=True))),
            )
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
    page.add_init_script(TURN_BY_HAND)
    page.goto("/hall")
    yield page
    context.close()
    assert complaints == []


def at_tables(*views):
    return tuple(TableStatus(f"t{n:02d}", f"Table {n}", "ready", view) for n, view in enumerate(views, 1))


@contextmanager
def hall_of(folder, chromium, teams, view, **plan):
    """Open the wall of a tournament: two results are in, two matches are called; provide the page and the director."""
    with closing(ServedSite(folder)) as site:
        site.sign_in()
        for fact in (
            {"do": "plan", "title": "Wacipi", **plan},
            {"do": "enter", "teams": [{"name": team} for team in teams]},
            {"do": "draw", "order": teams},
        ):
            assert site.decide(**fact).status_code == 200
        for one in site.director.now.competition.ready(site.director.now.state)[:2]:
            assert site.decide(do="result", match=one.id, winner=one.teams[0]).status_code == 200
        site.pages.publish(at_tables(view(), view()))
        for one, table in zip(site.director.now.ready, ("t01", "t02"), strict=False):
            assert site.decide(do="assign", match=one.id, table=table).status_code == 200
        context = chromium.new_context(viewport={"width": 1920, "height": 1080}, base_url=site.origin)
        page = context.new_page()
        page.add_init_script(TURN_BY_HAND)
        page.goto("/hall")
        page.evaluate("document.fonts.ready")
        yield page, site.director
        context.close()


def part(page):
    """Return the part that is shown, and the tables, matches or teams that can be seen."""
    return page.evaluate(
        """() => {
            const slide = document.querySelector(".slide.shown");
            const seen = [...slide.querySelectorAll(".table-card")].filter(one => one.offsetParent);
            const all = [...slide.querySelectorAll("li[data-match], tbody tr")];
            const rows = all.filter(one => one.getClientRects().length);
            const names = rows.map(one => one.dataset.match ?? one.cells[1].firstChild.title);
            return [slide.dataset.slide, seen.map(one => one.querySelector("h3").innerText).join() || names.join()];
        }"""
    )


@pytest.mark.smoke
def test_all_parts_come_in_turn_and_again(wall):
    seen = [part(wall)]
    for _ in range(2 * PARTS):
        wall.evaluate("turnPart()")
        seen.append(part(wall))
    names = [name for name, _ in seen]
    assert names[: PARTS + 1] == ["tables", "tables", "queue", "queue", *["bracket"] * 4, *["standings"] * 3, "tables"]
    assert "Table 6" in seen[0][1]
    assert seen[1][1].startswith("Table 7")
    first, second = (seen[n * PARTS : (n + 1) * PARTS] for n in (0, 1))
    assert first[:7] == second[:7], "the matches that can be played are shown each time"
    assert first[7] != second[7], "of the others each time some more"
    wall.keyboard.press("ArrowLeft")
    assert part(wall) == second[-1]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_all_parts_fit_every_screen_size(wall, size):
    wall.evaluate("addEventListener('resize', () => (document.body.dataset.width = innerWidth))")
    wall.set_viewport_size({"width": size[0], "height": size[1]})
    if size != FIRST_SIZE:  # the page is told of its size with the next frame
        wall.wait_for_selector(f"body[data-width='{size[0]}']")
    for _ in range(PARTS):
        assert wall.evaluate(OUTSIDE) == [], part(wall)
        assert wall.evaluate(LINE_FAULTS) == [], part(wall)
        assert wall.evaluate(FILLED) > 0.9 or size[0] > 3000, part(wall)
        wall.keyboard.press("ArrowRight")


NAME_SIZES = """() => [...document.querySelectorAll(
    ".slide.shown :is(.score bdi, .queue li, .side:not(.from) bdi, .ranking bdi)")]
    .filter(one => one.getClientRects().length)
    .map(one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom)"""


def test_slides_state_distance_of_smaller_names(wall):
    wall.wait_for_function("() => document.fonts.status === 'loaded'")
    for _ in range(PARTS):
        sizes, told = wall.evaluate(NAME_SIZES), wall.locator("#reach").inner_text()
        metres = 600 * 0.714 * min(sizes, default=100.0) / FIRST_SIZE[0]
        stated = re.findall(r"from (\d+) m", told)
        assert min(sizes, default=100.0) >= 24
        assert stated or metres >= 14.5, part(wall)
        assert not stated or abs(int(stated[0]) - metres) <= 1, part(wall)
        wall.keyboard.press("ArrowRight")


MIN_TABLE_SIZE = MIN_SIZE / 2


@pytest.mark.parametrize("count", [1, 4, 8, 16])
@pytest.mark.parametrize("size", [(1280, 720), FIRST_SIZE, (3840, 2160)], ids=str)
def test_long_name_cards_fit_readable_from_ten_metres(site, chromium, view, count, size):
    pairs = [dict(zip("AB", (LONG[n % 5], LONG[(n + 1) % 5]), strict=True)) for n in range(count)]
    site.pages.publish(at_tables(*(view(teams=pair, phase="hide") for pair in pairs)))
    page = chromium.new_page(viewport=dict(zip(("width", "height"), size, strict=True)))
    page.add_init_script(TURN_BY_HAND)
    page.goto(f"{site.origin}/hall")
    page.evaluate("document.fonts.ready")
    for _ in range(-(-count // 6)):
        assert page.evaluate(OUTSIDE) == []
        sizes = page.locator(".slide.shown :is(.score bdi, .now):visible").evaluate_all(
            "all => all.map(one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom / innerWidth)"
        )
        assert min(sizes) >= MIN_TABLE_SIZE
        page.keyboard.press("ArrowRight")
    page.close()


TEXTS = """() => [...document.querySelectorAll(".slide.shown .wall-part:not([hidden]) bdi")].map(one => {
    const box = one.getBoundingClientRect();
    const inside = box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
    const size = parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom;
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${size}px ${getComputedStyle(one).fontFamily}`;
    const capital = pen.measureText("H").actualBoundingBoxAscent / innerWidth;
    const isName = !one.closest(".from");
    return [one.textContent, isName ? capital : 1, inside && one.scrollWidth <= one.clientWidth, one.dataset.whole];
})"""
CAPITAL = 1 / 40
"""Height of a capital of a team's name in a bracket, in widths of the screen: 48 px of 1920."""
KINDS = ({"format": "double"}, {"format": "single", "third_place": True})


@pytest.mark.parametrize("plan", KINDS, ids=("double", "single"))
@pytest.mark.parametrize("count", [pytest.param(4, marks=pytest.mark.smoke), 8, 16, 24, 32])
def test_whole_bracket_is_read_from_fifteen_metres(tmp_path, chromium, view, count, plan):
    names = LONG if count in (8, 24) else SHORT
    with hall_of(tmp_path, chromium, names[:count], view, **plan) as (page, director):
        left = {size: {one.id for one in director.now.pairings} for size in ((1920, 1080), (1280, 720))}
        for size, matches in left.items():
            page.evaluate("addEventListener('resize', () => (document.body.dataset.width = innerWidth))")
            page.set_viewport_size({"width": size[0], "height": size[1]})
            if size != FIRST_SIZE:
                page.wait_for_selector(f"body[data-width='{size[0]}']")
            for _ in range(300):
                name, content = part(page)
                if name == "bracket":
                    page.wait_for_function("() => document.fonts.status === 'loaded'")
                    texts = page.evaluate(TEXTS)
                    assert texts
                    assert [one for one in texts if one[1] < CAPITAL or not one[2]] == []
                    assert [one for one in texts if len(one[3]) <= 20 and one[0] != one[3]] == [], "names are whole"
                    assert page.locator("#reach").inner_text() == ""
                    matches -= set(content.split(","))
                page.keyboard.press("ArrowRight")
                if not matches:
                    break
        assert not any(left.values()), "some matches are in no part"


def test_long_names_that_begin_alike_stay_different(tmp_path, chromium, view):
    with hall_of(tmp_path, chromium, LONG[:4], view, format="single") as (page, _):
        while part(page)[0] != "bracket":
            page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.fonts.status === 'loaded'")
        texts = [text for text, *_ in page.evaluate(TEXTS)]
    moccasin = {text for text in texts if text.startswith("The Mocc")}
    assert {text[-1] for text in moccasin} == {"1", "2"}
    assert all("…" in text for text in moccasin)
    assert any(text.startswith("ᐊᓂᔑᓈᐯ") and text.endswith("…") for text in texts)


@pytest.mark.parametrize(
    "plan", [{"format": "round_robin", "options": {"points": "2"}}, KINDS[0]], ids=("all", "double")
)
def test_standings_show_every_team_in_large_letters(tmp_path, chromium, view, plan):
    with hall_of(tmp_path, chromium, LONG[:16], view, **plan) as (page, director):
        director.decide(time.time(), "Ann", TeamWithdrawn(LONG[15], "no_show"))
        page.locator("td", has_text="did not come").wait_for(state="attached")
        kinds, teams = set(), set()
        for _ in range(16):
            name, content = part(page)
            kinds.add(name)
            if name == "standings":
                teams |= set(content.split(","))
                sizes = page.evaluate(
                    """() => [...document.querySelectorAll(".slide.shown :is(th, td)")]
                        .filter(one => one.getClientRects().length)
                        .map(one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom / innerWidth)"""
                )
                assert min(sizes) >= MIN_SIZE
                rows = ".slide.shown tbody tr:not([hidden])"
                heights = page.locator(rows).evaluate_all("all => all.map(one => Math.round(one.clientHeight / 3))")
                assert len(set(heights)) == 1, "each team has one line"
                assert page.evaluate(OUTSIDE) == []
            page.keyboard.press("ArrowRight")
        assert teams == set(",".join(LONG[:16]).split(","))
        assert kinds == (
            {"tables", "queue", "standings"}
            if plan["format"] == "round_robin"
            else {"tables", "queue", "bracket", "standings"}
        )


SMALL = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), small = [];
    while (walker.nextNode()) {
        const [text, one] = [walker.currentNode.textContent.trim(), walker.currentNode.parentElement];
        const seen = one.checkVisibility({visibilityProperty: true}) && one.getClientRects().length;
        const size = parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom;
        if (text && seen && !one.closest(".unseen") && size < 26) small.push([text, size]);
    }
    return small;
}"""


@pytest.mark.smoke
def test_no_text_is_below_26_px_at_1080p(wall, site):
    for _ in range(PARTS):
        assert wall.evaluate(SMALL) == [], part(wall)
        wall.keyboard.press("ArrowRight")
    wall.goto(f"{site.origin}/announcer")
    assert wall.evaluate(SMALL) == []


def test_announcement_switches_wall_to_tables_at_once(wall, site):
    site.decide(do="announce", text="The final begins.")
    site.await_drawn(wall)
    assert wall.get_by_text("The final begins.").is_visible()
    assert part(wall)[0] == "tables"


def test_every_part_passes_axe_check(wall):
    for _ in range(PARTS):
        wall.evaluate(Axe().axe_script)
        assert wall.evaluate("axe.run().then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []
        wall.keyboard.press("ArrowRight")
