"""Each form of the judge's console in a real browser: what is chosen is sent, whatever news arrives in between."""

import json

import pytest
from headless import wait_until
from judge_rig import Rig, answered, follow, sign_in

from pi_controller.referee.judge import JudgeProtest, JudgeTeams

UPDATES = 10
CHOOSE = """id => {
  const place = document.getElementById(id), chosen = [];
  for (const group of place.querySelectorAll("[role=group]")) {
    const pick = [...group.querySelectorAll(".pick")].at(-1);
    pick?.click();
    if (pick) chosen.push(pick.value);
  }
  for (const field of place.querySelectorAll("input, select, textarea")) {
    if (field.tagName === "SELECT") field.selectedIndex = field.options.length - 1;
    else field.value = field.type === "number" ? String(Number(field.value || 0) + 1) : `chosen ${field.id}`;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    if (field.type === "text" || field.tagName !== "INPUT") chosen.push(field.value);
  }
  return chosen.filter(one => !/^(null|false|true|"|\\d)/.test(one));
}"""
SHOWN = """id => [...document.getElementById(id).querySelectorAll("input, select, textarea, .pick")].map(one =>
  [one.id, one.value, one.getAttribute("aria-pressed")])"""
FORMS = """() => [...document.querySelectorAll("details .inside")].filter(one =>
  one.querySelector("input, select, textarea, .pick")).map(one => one.id)"""


@pytest.mark.parametrize("state", ["before the first hit", "a protest is ruled on", "another protest"])
def test_every_form_sends_its_choices_despite_updates(tmp_path, chromium, state):
    rig = Rig(tmp_path)
    page = chromium.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    try:
        if state != "before the first hit":
            rig.do(lambda table, t: table.judge(JudgeProtest(t, "A", "the sleeve")))
        sign_in(page, rig.url)
        page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
        page.locator("#people-name").wait_for()
        forms = page.evaluate(FORMS)
        assert {"teams-inside", "protest-inside", "closing-inside", "set-inside", "people-inside"} == {*forms}
        chosen = {id_: page.evaluate(CHOOSE, id_) for id_ in forms}
        before = {id_: page.evaluate(SHOWN, id_) for id_ in forms}
        for n in range(UPDATES):
            rig.do(lambda table, t, n=n: table.judge(JudgeTeams(t, f"Veblen {n}", f"Peever {n}")))
            follow(page, rig)
        assert {id_: page.evaluate(SHOWN, id_) for id_ in forms} == before
        sent = []
        page.route("**/judge/command", lambda route: (sent.append(route.request.post_data), route.fulfill(json=NO)))
        page.route(
            "**/judge/people",
            lambda route: (
                route.fallback()
                if route.request.method == "GET"
                else (sent.append(route.request.post_data), route.fulfill(json=NO))
            ),
        )
        for id_ in forms:
            sent.clear()
            answered(page)
            first = "[data-ruling=denied]" if state == "a protest is ruled on" else "[id$=-send]"
            button = page.locator(f"#{id_} {first}")
            button = button if button.count() else page.locator(f"#{id_} :is([id$=-send], #people-role ~ button)")
            button.first.click()
            wait_until(page, lambda: sent)
            body = json.dumps(json.loads(sent[0]), ensure_ascii=False)
            if id_ == "protest-inside" and state != "before the first hit":  # two forms in one section
                ruled = state == "a protest is ruled on"
                chosen[id_] = [value for value in chosen[id_] if ("ruling" in value) == ruled]
                assert chosen[id_]
            assert all(f'"{value}"' in body for value in chosen[id_]), (chosen[id_], body)
    finally:
        page.context.close()
        rig.close()


NO = {"ok": True, "revision": 0, "seq": 1, "repeated": False}
