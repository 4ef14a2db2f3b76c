"""Each form of the director's page in a real browser: what is chosen is sent, whatever news arrives in between."""

import json
import re
from contextlib import contextmanager
from itertools import count

import pytest
from headless import wait_until
from markupsafe import Markup
from served_site import ServedSite as Site

from pi_controller.hub import pages
from pi_controller.hub.boards import Boards
from pi_controller.hub.hub import TableStatus
from pi_controller.hub.join_server import Joining
from pi_controller.tournament import decisions as d

UPDATES = 10
TEAMS = ("Lower Sioux", "Spirit Lake", "Prairie Island", "Upper Sioux", "Big Coulee", "Long Hollow", "Veblen", "Peever")
PHONE = {"width": 390, "height": 844}
OTHER_WORDS = {"void", "keep", "disqualified", "chosen why", "at_once", "hub", "tables"}
"""What is chosen by other words than are sent."""
CHOOSE = """form => {
  const chosen = {};
  for (const field of form.querySelectorAll("input, select, textarea")) {
    if (field.type === "file" || !field.checkVisibility()) continue;
    if (field instanceof HTMLSelectElement) {
      const options = [...field.options].filter(one => !one.disabled && one.value !== "" && !one.defaultSelected);
      const last = options.at(-1) ?? field.options[0];
      field.value = last.value;
      field.selectedIndex = last.index;
      const { winner, team, name = last.value } = last.dataset;
      chosen[field.name] = [[last.value, name], [winner, winner], [team, team]].filter(([value]) => value);
    } else if (field.type === "checkbox") {
      field.checked = !field.defaultChecked;
      chosen[field.name] = [];
    } else {
      const number = String(Math.min(Number(field.max || 9), Number(field.min || 0) + 3));
      const order = () => field.value.trim().split("\\n").reverse().join("\\n");
      const text = { order: order(), options: "points=7", table: "t09" }[field.name] ?? `chosen ${field.name}`;
      field.value = { number, time: "14:00" }[field.type] ?? text;
      chosen[field.name] = field.value.split(/[\\n=]/).map(one => [one, one]);
    }
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  return chosen;
}"""
SHOWN = """form => Object.fromEntries([...form.querySelectorAll("input, select, textarea")].map(field =>
  [field.name, field.type === "checkbox" ? field.checked : [field.value, field.selectedOptions?.[0]?.textContent]]))"""
FORMS = """() => [...document.querySelectorAll("main form, main [data-row]:has(input, select, textarea)")].map(one =>
  JSON.stringify({...one.dataset,
    fields: [...one.elements ?? one.querySelectorAll("[name]")].map(field => field.name)}))"""


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    yield made
    made.close()


@pytest.fixture
def news(monkeypatch):
    """Return a function that has every part of every page change."""
    monkeypatch.setattr(pages, "DESK_S", 0.03)
    monkeypatch.setattr(pages, "LOOK_S", 0.03)
    number = count(1)
    now = [next(number)]
    render = Boards._render

    def changed(self, part, **values):
        return render(self, part, **values) + Markup(f'<i hidden data-news="{now[0]}"></i>')

    def bring():
        now[0] = next(number)
        return now[0]

    monkeypatch.setattr(Boards, "_render", changed)
    return bring


def tables(view, n=3):
    return tuple(TableStatus(f"t{i:02d}", f"Table {i}", "ready", view()) for i in range(1, n + 1))


def of_people(site, **plan):
    """Plan a tournament with two players a team and two judges."""
    site.decide(do="plan", title="Wacipi", calling="director", **plan)
    teams = [{"name": team, "players": [f"{team} a", f"{team} b"], "leader": f"{team} a"} for team in TEAMS]
    site.decide(do="enter", teams=teams)
    site.decide(do="appoint", judges=["Jo", "Bo"])


def at_play(site, **plan):
    """Come to a point at which every form of a drawn tournament is there."""
    of_people(site, **plan)
    site.bring_to_play(TEAMS, judges=("Jo", "Bo") if plan.get("judges") == "hub" else None)
    gone = site.director.now.ready[-1].teams[0]
    assert site.decide(do="withdraw", team=gone).status_code == 200


STATES = {
    "before anything is planned": lambda site: None,
    "before the drawing": of_people,
    "elimination": lambda site: at_play(site, best_of=3),
    "a judge for each match": lambda site: at_play(site, judges="hub"),
    "round robin": lambda site: at_play(site, game="slahal", format="round_robin"),
}


@contextmanager
def console(chromium, site):
    page = chromium.new_page(viewport=PHONE, reduced_motion="reduce")
    site.share_session(page.context)
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{site.origin}/director")
    page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    yield page
    page.context.close()
    assert complaints == []


def found(page, key):
    """Return the form with the data `key`."""
    form = page.evaluate_handle(
        "key => [...document.querySelectorAll('main form, main [data-row]')].find(one => {"
        " const {touched, ...rest} = one.dataset;"
        " const fields = [...one.elements ?? one.querySelectorAll('[name]')].map(field => field.name);"
        " return JSON.stringify({...rest, fields}) === key; })",
        key,
    ).as_element()
    assert form is not None, key
    return form


def hold_back(page):
    """Refuse every decision of `page` before it reaches the hub; return the list of the requests, which grows."""
    sent = []

    def refuse(route):
        if route.request.method == "GET":
            return route.fallback()
        sent.append(route.request)
        return route.fulfill(status=409, json={"error": {"message": "no", "hint": ""}})

    page.route(re.compile(r"/director/(command|join|people|teams|undo)$"), refuse)
    return sent


def sent_by(page, form, sent):
    """Touch the form's button, and once more if it asks; return the body of what it sends, and the question."""
    n, question = len(sent), ""
    button = form.query_selector("button[data-why], button:not([type=button]):not([type=reset])")
    button.click()
    wait_until(page, lambda: len(sent) > n or form.query_selector("[data-second]"))
    if len(sent) == n and form.query_selector("[data-second]"):
        question = form.evaluate("form => form.querySelector('.ask')?.textContent ?? ''")
        button.click()
        wait_until(page, lambda: len(sent) > n)
    assert len(sent) == n + 1, (
        form.evaluate(SHOWN),
        form.evaluate("form => form.outerHTML"),
        page.locator("#said").inner_text(),
    )
    return sent[-1].post_data, question


IN_MINUTES = {"rest_s", "grace_s"}
"""Fields that are filled in as minutes and sent as seconds."""


@pytest.mark.parametrize("state", STATES)
def test_every_form_sends_its_choices_after_ten_updates(site, chromium, view, news, state):
    site.sign_in()
    site.pages.publish(tables(view))
    STATES[state](site)
    site.pages.join_server = type("Desk", (), {"joining": Joining()})()
    with console(chromium, site) as page:
        forms = [key for key in page.evaluate(FORMS) if "file" not in json.loads(key)["fields"]]
        assert forms
        assert len({*forms}) == len(forms), "each is told from the others"
        chosen = {key: found(page, key).evaluate(CHOOSE) for key in forms}
        before = {key: found(page, key).evaluate(SHOWN) for key in forms}
        for _ in range(UPDATES):
            n = news()
            site.pages.publish(tables(view))
            for part in ("log", "matches", "setup"):
                page.wait_for_selector(f"[data-region={part}] > [data-news='{n}']", state="attached")
        assert {key: found(page, key).evaluate(SHOWN) for key in forms} == before
        sent = hold_back(page)
        for key in forms:
            body, question = sent_by(page, found(page, key), sent)
            body = json.dumps(json.loads(body), ensure_ascii=False)
            for name, values in chosen[key].items():
                for value, words in values:
                    sent_value = str(60 * int(value)) if name in IN_MINUTES else value
                    assert re.search(rf'[": ]{re.escape(sent_value)}[",}} ]', body), (key, body)
                    assert words in question or "ask" not in json.loads(key) or value in OTHER_WORDS, (key, question)


def test_plan_form_has_fields_of_its_format_alone(site, chromium):
    site.sign_in()
    with console(chromium, site) as page:
        fields_of = {}
        for kind in ("groups", "single", "double", "round_robin"):
            page.select_option("[data-do=plan] [name=format]", kind)
            fields = page.locator("[data-do=plan] [data-for] [name]:visible")
            fields_of[kind] = {one.get_attribute("name") for one in fields.all()}
        assert fields_of == {
            "double": set(),
            "single": {"third_place"},
            "round_robin": {"clock", "withdrawn", "play_off"},
            "groups": {"groups", "through", "knockout", "third_place", "withdrawn"},
        }
        page.select_option("[data-do=plan] [name=clock]", "round")
        page.select_option("[data-do=plan] [name=game]", "slahal")
        page.select_option("[data-do=plan] [name=format]", "single")
        page.check("[data-do=plan] [name=third_place]")
        page.fill("[data-do=plan] [name=title]", "Wacipi")
        with site.decision(page):
            page.locator("[data-do=plan] button").first.click()
        assert page.locator("h2", has_text="Teams (0)").is_visible()
    plan = site.director.now.plan
    assert (plan.format, plan.game, plan.clock, plan.third_place) == ("single", "slahal", "tables", True)


def drawn(site, view):
    site.sign_in()
    site.pages.publish(tables(view))
    of_people(site)
    assert site.decide(do="draw", order=[*TEAMS]).status_code == 200


@pytest.mark.parametrize("form", ["result", "correct", "withdraw"])
def test_second_touch_sends_the_choice_named_in_confirmation(site, chromium, view, form):
    drawn(site, view)
    winner, loser = site.director.now.pairing("W1-3").teams
    if form == "correct":
        assert site.decide(do="result", match="W1-3", winner=loser).status_code == 200
    with console(chromium, site) as page:
        name, label = (
            ("team", winner) if form == "withdraw" else ("match", f"Winners' side, round 1, match 3: {winner} won")
        )
        page.select_option(f"[data-do={form}] [name={name}]", label=label)
        assert site.decide(do="result", match="W1-1", winner=TEAMS[0]).status_code == 200
        site.await_drawn(page)
        before = len(site.director.history.decisions)
        button = page.locator(f"[data-do={form}] button").first
        button.dblclick()
        question = page.locator(f"[data-do={form}] .ask").inner_text()
        assert winner in question
        assert len(site.director.history.decisions) == before, "a double click confirms nothing"
        with site.decision(page):
            button.click()
    fact = site.director.history.decisions[-1].fact
    if form == "withdraw":
        assert fact == d.TeamWithdrawn(winner)
    else:
        assert (type(fact), fact.match, fact.winner) == (
            {"result": d.Result, "correct": d.Corrected}[form],
            "W1-3",
            winner,
        )
        assert loser in question


@pytest.mark.smoke
def test_changed_choice_asks_for_confirmation_again(site, chromium, view):
    drawn(site, view)
    first, second = site.director.now.pairing("W1-3").teams
    with console(chromium, site) as page:
        button = page.locator("[data-do=result] button").first
        for team in (first, second):
            page.select_option("[data-do=result] [name=match]", label=f"Winners' side, round 1, match 3: {team} won")
            button.click()
            assert f"{team} beats" in page.locator("[data-do=result] .ask").inner_text()
        assert site.director.now.state.games == {}


def test_team_list_counts_after_preview(site, chromium):
    site.sign_in()
    site.decide(do="plan", title="Wacipi")
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"Veblen;Ann;Bo\nPeever;Cy\n"}
    with console(chromium, site) as page:
        form = page.locator("form[data-file]")
        for _ in range(2):  # chosen again, it is shown again
            form.locator("input").set_input_files(file)
            form.locator("button").click()
            form.locator(".preview").wait_for()
            assert form.locator("bdi").all_inner_texts() == ["Veblen", "Ann", "Bo", "Peever", "Cy"]
        assert site.director.now.entered == ()
        form.locator("button").click()
        wait_until(page, lambda: site.director.now.entered == ("Veblen", "Peever"))


def test_done_message_disappears_and_covers_no_button(site, chromium, view):
    drawn(site, view)
    with console(chromium, site) as page:
        page.clock.install()
        page.fill("[data-do=announce] [name=text]", "Soup is ready")
        page.click("[data-do=announce] button")
        room = "document.querySelector('main').getBoundingClientRect().toJSON()"
        before = page.evaluate(room)
        page.locator("#done", has_text="Done").wait_for()
        assert page.evaluate(room) == before, "nothing moves"
        page.clock.run_for(6_000)
        assert page.locator("#done").inner_text() == ""


def test_offers_are_fresh_while_a_question_is_open(site, chromium, view):
    drawn(site, view)
    site.decide(do="assign", match="W1-1", table="t01")
    with console(chromium, site) as page:
        won = page.locator("[data-region=matches] button", has_text=f"{TEAMS[0]} won")
        won.click()
        asked = page.locator("[data-region=matches] button[data-second]")
        before = asked.bounding_box()
        assert page.locator("[data-region=matches] button", has_text="To Table 2").count() == 3
        for match, table in (("W1-2", "t02"), ("W1-3", "t03")):
            assert site.decide(do="assign", match=match, table=table).status_code == 200
        site.await_drawn(page)
        assert page.locator("[data-region=matches] button", has_text="To Table").count() == 0, "no table is free"
        assert page.locator("[data-region=matches] .ask").inner_text().endswith(f"{TEAMS[0]} beats Peever.")
        assert asked.bounding_box() == before, "the button stays under the finger"
        with site.decision(page):
            asked.click()
        assert site.director.now.state.games["W1-1"][0].winner == TEAMS[0]
        page.locator("[data-region=matches] button", has_text="Recall match").first.wait_for()
        page.locator("[data-region=matches] button", has_text=f"{TEAMS[3]} won").click()
        (match,) = [one.id for one in site.director.now.ready if TEAMS[3] in one.teams]
        assert site.decide(do="recall", match=match).status_code == 200
        site.await_drawn(page)
        assert page.locator("[data-second], .ask").count() == 0, "a question about what is gone is withdrawn"


FIRST = """() => [...document.querySelectorAll("main button, main summary")].filter(one => one.checkVisibility())
  .map(one => ({one, box: one.getBoundingClientRect()})).filter(({box}) => box.left < innerWidth / 2)
  .sort((a, b) => a.box.top - b.box.top)
  .map(({one}) => one.closest("[data-region]")?.dataset.region ?? "")[0]"""
"""The part of the page with the highest button in its left half."""


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1366, "height": 768}])
def test_console_begins_with_the_open_tasks(site, chromium, view, viewport):
    site.sign_in()
    site.pages.publish(tables(view))
    with console(chromium, site) as page:
        page.set_viewport_size(viewport)
        calm = page.locator(".calm")
        assert page.evaluate(FIRST) == "setup", "the plan, before the draw"
        at_play(site)
        site.await_drawn(page)
        assert page.evaluate(FIRST) == "reports"
        assert not calm.is_visible()
        (order,) = site.director.now.reports
        assert site.decide(do="reject", order=order, why="").status_code == 200
        protest = site.director.now.open_protests[0].number
        site.director.decide(10.0, "Cy", d.ProtestDecided(protest, "denied", "seen"))
        site.await_drawn(page)
        assert calm.is_visible()
        assert page.evaluate(FIRST) == "matches"
