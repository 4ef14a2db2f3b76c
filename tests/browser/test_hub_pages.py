"""The hub's pages in a real Chromium: what people touch, hear, print and open from a folder."""

import re
import time
from contextlib import closing

import pytest
from axe_playwright_python.sync_playwright import Axe
from cases import cases
from headless import await_drawn, wait_until
from hub_site import TEAMS
from served_site import ServedSite

from pi_controller.hub.hub import TableStatus
from pi_controller.hub.join_server import IssuedCode, Joining
from pi_controller.hub.tokens import JoinableTable
from pi_controller.tournament import decisions as d

CODE = "0000-0000-0000-0000-0000"
SIZES = [(390, 844), (1366, 768), (1920, 1080)]


@pytest.fixture
def site(tmp_path):
    with closing(ServedSite(tmp_path)) as made:
        yield made


@pytest.fixture
def tables(view):
    return tuple(TableStatus(f"t{n:02}", f"Table {n}", "ready", view()) for n in (1, 2))


def sign_in(page, site, pin):
    page.goto(f"{site.origin}/director")
    page.fill("#name", "Ann")
    page.fill("#pin", pin)
    page.click("[type=submit]")
    await_drawn(page)


def test_round_clock_runs_and_new_pin_shows(site, tables, chromium):
    pin = site.sign_in()
    site.pages.publish(tables)
    site.decide(do="plan", title="Wacipi", game="slahal", format="round_robin", options={"minutes": 5})
    site.decide(do="enter", teams=[{"name": team} for team in TEAMS])
    site.decide(do="draw", order=[*TEAMS])
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    sign_in(page, site, pin)
    with site.decision(page):
        page.locator("[data-region=clock_buttons] button.main").click()
        page.locator("[data-region=clock_buttons] [data-second]").click()
    assert re.fullmatch(r"[45]:\d\d", page.locator("[data-ends]").text_content())
    page.get_by_text("People who can sign in").click()
    page.fill("[data-people] [name=name]", "Com")
    page.select_option("[data-people] [name=role]", "committee")
    page.click("[data-people] button")
    page.wait_for_function(r"() => /[0-9]{6}/.test(document.querySelector('#people-told').textContent)")
    assert page.locator("#people-list li").count() == 2
    page.context.close()


def test_reason_is_sent_with_its_button_and_logged(site, tables, chromium):
    site.drawn()
    site.pages.publish(tables)
    assert site.decide(do="assign", match="W1-1", table="t01").status_code == 200
    order = site.director.now.current_order(site.director.now.calls["W1-1"])
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    site.share_session(page.context)
    page.goto(f"{site.origin}/director")
    page.get_by_label("Reason for recalling it").fill("the mat is <b>wet</b>")
    with site.decision(page):
        page.get_by_role("button", name="Recall match").click()
    assert page.locator(".log").get_by_text("the mat is <b>wet</b>").is_visible()
    assert site.director.history.decisions[-1].fact == d.Recalled("W1-1", "the mat is <b>wet</b>")
    site.director.decide(9.0, d.HUB, d.Reported("W1-1", order, "t01", "ab" * 16, 9, TEAMS[0]))
    site.await_drawn(page)
    page.get_by_label("Reason for rejecting it").fill("x" * 200)
    with site.decision(page):
        for _ in range(2):
            page.get_by_role("button", name=re.compile("Reject|Touch again")).click()
    assert page.locator(".log").get_by_text("x" * 200).is_visible()
    assert site.director.history.decisions[-1].fact == d.Rejected(order, "x" * 200)
    page.get_by_label("Reason for rejecting it").wait_for(
        state="detached"
    )  # the field is empty, so the part is shown anew
    page.context.close()


@pytest.mark.smoke
def test_next_team_is_typed_while_answer_is_pending(site, tables, chromium):
    site.sign_in()
    site.pages.publish(tables)
    site.decide(do="plan", title="Wacipi")
    page = chromium.new_page()
    site.share_session(page.context)
    page.goto(f"{site.origin}/director")
    first = []

    def hold_first(route):  # not `times=1`: to end interception while the second is sent may hold that for ever
        if first:
            route.continue_()
        else:
            first.append((route, route.fetch()))

    page.route("**/director/command", hold_first)
    page.locator("[name=team]").focus()
    page.keyboard.type("Big Coulee")
    page.keyboard.press("Enter")
    wait_until(page, lambda: first)
    site.await_drawn(page)
    assert page.locator("ul.chips").get_by_text("Big Coulee", exact=True).is_visible(), "before the answer is here"
    page.keyboard.type("Long Hollow")
    page.keyboard.press("Enter")
    page.keyboard.type("Enemy")
    route, answer = first[0]
    with page.expect_response(lambda response: "Long Hollow" in (response.request.post_data or "")):
        route.fulfill(response=answer)
    assert page.input_value("[name=team]") == "Enemy"
    assert [*site.director.now.entered] == ["Big Coulee", "Long Hollow"]
    page.fill("[name=team]", "Enemy Swim, Ann, Ann")
    page.keyboard.press("Enter")
    page.wait_for_selector("#said:not(:empty)")
    assert page.input_value("[name=team]") == "Enemy Swim, Ann, Ann", "what was refused can be mended"
    page.context.close()


@pytest.mark.smoke
def test_console_works_in_browser_and_pages_are_public(site, tables, chromium):
    pin = site.sign_in()
    site.pages.publish(tables)
    context = chromium.new_context()
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, site, pin)
    page.fill("[name=title]", "Wacipi")
    page.click("[data-do=plan] button")
    for team in TEAMS:
        page.fill("[name=team]", team)
        with site.decision(page):
            page.click("[data-do=enter] button")
        assert page.locator("ul.chips").get_by_text(team, exact=True).is_visible()
    page.fill("[name=seed]", "4 1 6 2")
    with site.decision(page):
        page.click("[data-do=draw] button")
    with site.decision(page):
        page.locator("[data-region=matches] button", has_text="To Table 1").first.click()
    assert page.get_by_text("Recall match").is_visible()
    assert len(site.director.now.calls) == 1
    with site.decision(page):
        page.locator("[data-undo]").click()
        page.locator("[data-undo]").click()  # touched again, to be sure
    assert not page.get_by_text("Recall match").is_visible()
    for size in cases(SIZES[:1], SIZES):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for path in ("", "bracket", "team/1", "announcer", "start-list", "results", "director"):
            page.goto(f"{site.origin}/{path}")
            page.evaluate(Axe().axe_script)
            found = page.evaluate("axe.run().then(found => found.violations.map(one => [one.id, one.nodes.length]))")
            assert found == [], (path, size)
            assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()
    assert complaints == []


RECORD_RINGING = """() => {
  Object.assign(window, { tones: [], vibrations: [], locks: 0 });
  window.AudioContext = class { currentTime = 0; destination = {}; async close() {}
    createGain() { const gain = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
      return { gain, connect: one => one } }
    createOscillator() { const frequency = { value: 0 };
      return { frequency, connect: one => one, stop() {}, start() { tones.push(frequency.value) } } } };
  navigator.vibrate = times => vibrations.push(times);
  Object.defineProperty(navigator, "wakeLock", { value: { request: async () => {
    locks += 1; return { release: async () => { locks -= 1 } } } } });
}"""


@pytest.mark.smoke
def test_team_page_rings_for_call_once_enabled(site, tables, chromium):
    site.drawn()
    site.pages.publish(tables)
    teams = [*site.director.now.state.teams]
    number = teams.index(site.director.now.pairing("W1-1").teams[0]) + 1
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{site.origin}/team/{number}")
    page.evaluate(RECORD_RINGING)

    def call_again():
        site.decide(do="recall", match="W1-1")
        site.await_drawn(page)
        assert site.decide(do="assign", match="W1-1", table="t01").status_code == 200
        site.await_drawn(page)

    assert page.get_by_role("alert").inner_text() == ""
    assert site.decide(do="assign", match="W1-1", table="t01").status_code == 200
    site.await_drawn(page)
    assert page.get_by_role("alert").inner_text() == "Table 1, now. Winners' side, round 1, match 1."
    assert page.evaluate("[tones, vibrations, locks]") == [[], [], 0]
    page.click("#ring")
    page.wait_for_selector("#ring[aria-pressed=true]")
    page.wait_for_function("locks === 1")
    assert page.evaluate("tones") == [880], "the switch itself"
    call_again()
    assert page.evaluate("vibrations.length") == 1
    assert page.evaluate("tones") == [880, *[659, 880] * 3]
    site.director.decide(site.director.now.calls["W1-1"].t + 9.0, d.HUB, d.MatchStarted("W1-1"))
    site.await_drawn(page)
    assert page.locator("[data-call]").count() == 0
    assert page.evaluate("vibrations.length") == 1
    page.click("#ring")
    page.wait_for_function("locks === 0")
    page.close()


@pytest.mark.smoke
def test_announcer_sees_each_call_and_marks_it_announced(site, tables, chromium):
    site.drawn()
    site.decide(do="pronounce", team=TEAMS[0], said="big koo-lee")
    site.pages.publish(tables)
    match = next(one for one in site.director.now.ready if TEAMS[0] in one.teams)
    other = next(one for one in site.director.now.ready if one != match)
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{site.origin}/announcer")
    assert page.locator("[data-call]").count() == 0
    assert page.locator(".later .call").count() == 2
    assert site.decide(do="assign", match=match.id, table="t01").status_code == 200
    call = page.locator("[data-call]")
    site.await_drawn(page)
    assert "Table 1" in call.inner_text()
    assert "big koo-lee" in call.inner_text()
    assert page.locator(".later .call").count() == 1
    page.locator("[data-call] button").click()
    site.decide(do="assign", match=other.id, table="t02")
    site.await_drawn(page)
    assert page.locator(f"[data-call^='{other.id} '] [aria-pressed=false]").is_visible()
    assert page.locator("[aria-pressed=true]").count() == 1
    assert page.locator("[data-call]:visible").count() == 2, "what was announced stays below"
    page.reload()
    assert page.locator(f"[data-call^='{match.id} '] [aria-pressed=true]").is_visible()
    site.decide(do="recall", match=match.id)
    site.await_drawn(page)
    assert page.locator(f"[data-call^='{match.id} ']").count() == 0
    site.decide(do="assign", match=match.id, table="t01")
    site.await_drawn(page)
    again = page.locator(f"[data-call^='{match.id} '] [aria-pressed=false]")
    assert not again.is_visible(), "one call at a time"
    assert page.get_by_text("1 more to announce").is_visible()
    page.locator(f"[data-call^='{other.id} '] button").click()
    assert again.is_visible(), "a new call is said again"
    page.context.close()


class Desk:
    """What `JoinServer` is to the pages."""

    joining = Joining()

    async def open(self, table, *, anew):
        ends = time.time() + 600.0
        self.joining = Joining((JoinableTable(table, ends),), frozenset({"t01"}))
        return IssuedCode(CODE, f"moccasin-mat hub join 192.0.2.7 {CODE}", ends)


def test_console_shows_a_code_until_it_is_used(site, chromium):
    desk = site.pages.join_server = Desk()
    site.sign_in()
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    site.share_session(page.context)
    page.goto(f"{site.origin}/director")
    page.locator("[data-join] [name=table]").fill("t09")
    page.get_by_role("button", name="Show a code").click()
    command = page.locator(".join-code code").inner_text()
    assert command.endswith(f"192.0.2.7 {CODE}")
    assert command in page.locator(".join-code svg").get_attribute("aria-label")
    site.await_drawn(page)
    assert page.locator("[data-joining=t09]").count() == 1
    page.get_by_text("Tables that joined").click()
    assert page.locator("[data-joined=t01] button").inner_text() == "Take out"
    desk.joining = Joining()
    page.locator(".join-code").wait_for(state="detached")
    assert CODE not in page.content()
    page.context.close()
