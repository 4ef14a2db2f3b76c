"""What survives an update of a region in a real browser, and what changes."""

from __future__ import annotations

import random

import pytest
from headless import draw_view
from phases import PHASES

from pi_controller.display.i18n import ENGLISH
from pi_controller.web.frames import FRAMES, frame_regions

START = """async html => {
  const { draw } = await import("/static/regions.js");
  document.body.innerHTML = `<div data-region="part">${html}</div>`;
  window.draw = part => draw({ part });
  window.by = id => document.querySelector(`#${id}`);
}"""
ROW = '<li><form data-match="{0}"><label>{0} <input name="why" value=""></label><button>Save</button></form></li>'


@pytest.fixture
def start(open_page):
    def start(html):
        page = open_page("find")
        page.evaluate(START, html)
        return page

    return start


def draw(page, html):
    page.evaluate("html => draw(html)", html)


def test_update_keeps_focus_caret_and_unfolded_parts(start):
    html = """<details data-keep="more"><summary>{0}</summary><p>{0}</p></details>
      <p id="text">{0}</p><input id="field" value="abc">"""
    page = start(html.format(1))
    page.evaluate("""() => {
      document.querySelector("details").open = true;
      window.same = [by("text"), by("field"), document.querySelector("details")];
      by("field").focus();
      by("field").setSelectionRange(1, 2);
    }""")
    draw(page, "<p>new</p>" + html.format(2))
    assert page.locator("#text").text_content() == "2"
    assert page.evaluate("""[document.activeElement.id, by("field").selectionStart, by("field").selectionEnd,
      document.querySelector("details").open, same.every(one => one.isConnected)]""") == ["field", 1, 2, True, True]


def test_input_stays_with_its_form_when_rows_change(start):
    page = start("<ul>" + ROW.format("W1") + ROW.format("W2") + "</ul>")
    page.fill("[data-match=W2] input", "late")
    page.evaluate("document.activeElement.blur()")
    draw(page, "<ul>" + ROW.format("W3") + ROW.format("W2") + ROW.format("W1") + "</ul>")
    rows = page.evaluate("[...document.querySelectorAll('form')].map(one => [one.dataset.match, one.why.value])")
    assert rows == [["W3", ""], ["W2", "late"], ["W1", ""]]


def test_a_form_in_use_delays_its_region(start):
    page = start("<ul>" + ROW.format("W1") + "</ul>")
    page.fill("[data-match=W1] input", "la")
    draw(page, "<ul>" + ROW.format("W2") + ROW.format("W1") + "</ul>")
    assert page.locator("form").count() == 1
    page.evaluate("document.activeElement.blur()")
    page.wait_for_selector("[data-match=W2]")
    draw(page, "<p>over</p>")
    assert page.locator("[data-match=W1] input").input_value() == "la", "its decision is gone, its input is not"


def test_untouched_fields_get_the_values_sent(start):
    html = """<form data-do="x"><input name="a" value="{0}"><input name="b" type="checkbox"{1}>
      <select name="c"><option{1}>1</option><option{2}>2</option></select><textarea name="d">{0}</textarea></form>"""
    page = start(html.format("one", " checked selected", ""))
    page.evaluate("document.forms[0].a.value = 'one'")  # as a script may have set it: the attribute counts no more
    draw(page, html.format("two", "", " selected"))
    values = page.evaluate("(f => [f.a.value, f.b.checked, f.c.value, f.d.value])(document.forms[0])")
    assert values == ["two", False, "2", "two"]


def test_update_keeps_a_running_motion(start):
    page = start('<ol><li class="on">1</li><li>2</li></ol>')
    page.evaluate("""() => {
      window.motion = document.querySelector("li").animate([{ opacity: 0 }, { opacity: 1 }], 60000);
      motion.currentTime = 30000;
    }""")
    draw(page, '<p>new</p><ol><li>3</li><li class="on">4</li><li>5</li></ol>')
    assert page.evaluate("motion.playState === 'running' && motion.currentTime >= 30000")
    assert page.evaluate("document.getAnimations().includes(motion)")
    assert page.locator("li").all_text_contents() == ["3", "4", "5"]


def test_parts_of_the_page_itself_are_left_alone(start):
    page = start('<section data-keep="a"><p id="badge" data-own>mine</p></section>')
    page.evaluate("by('badge').dataset.value = 'stale'")
    draw(page, '<section data-keep="b"><b>1</b><p id="badge" data-own></p></section>')
    assert page.locator("#badge").text_content() == "mine"
    assert page.locator("#badge").get_attribute("data-value") == "stale"


def test_focus_does_not_go_to_another_decision(start):
    page = start('<button data-send="1">Confirm</button>')
    page.focus("button")
    draw(page, '<button data-send="2">Confirm</button>')
    assert page.evaluate("document.activeElement === document.body")


def test_equal_news_leaves_the_live_region_alone(start):
    page = start('<p role="status">Tap pad 1.</p>')
    page.evaluate("""() => {
      window.changes = 0;
      new MutationObserver(all => changes += all.length).observe(document.body, { subtree: true, childList: true,
        characterData: true, attributes: true });
    }""")
    draw(page, '<p role="status">Tap pad 1.</p>')
    draw(page, '<p role="status">Tap pad 1.</p> ')
    assert page.evaluate("changes") <= 1, "only the space is new"


SAME = """regions => Object.entries(regions).filter(([name, html]) => {
  const clean = place => {
    for (const one of place.querySelectorAll("[data-ends]")) [one.textContent, one.dataset.over] = ["", ""];
    for (const one of place.querySelectorAll("[data-own]")) one.outerHTML = "";
    for (const one of place.querySelectorAll("[style]")) one.removeAttribute("style"); // a stick that flies
    return place;
  };
  const fresh = document.createElement("div");
  fresh.innerHTML = html;
  const shown = clean(document.querySelector(`[data-region=${name}]`).cloneNode(true));
  return shown.innerHTML !== clean(fresh).innerHTML;
}).map(([name]) => name)"""
"""The regions of a page that differ from what the server sent, apart from what is the page's own."""


@pytest.mark.parametrize("frame", FRAMES)
def test_updated_page_equals_a_reloaded_page(open_page, feed, frame):
    page = open_page(frame)
    order = random.Random(5).choices(list(PHASES), k=2 * len(PHASES))
    for phase in order:
        draw_view(page, feed, PHASES[phase])
        sent = {name: str(html) for name, html in frame_regions(feed.latest.content, ENGLISH, frame).items()}
        assert page.evaluate(SAME, sent) == [], phase
