"""How the judge's console looks: for those who see little or use no mouse, and on every screen."""

from __future__ import annotations

import functools
from contextlib import closing

import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe
from headless import await_drawn
from judge_rig import Shown, settled, sign_in
from line_faults import LINE_FAULTS
from phases import ALL, NOW, PHASES

from pi_controller.recording.hits import RecordedStroke, hits_path, open_hits, pack_stroke
from pi_controller.sensing.strikes import StrikeSettings

np = pytest.importorskip("numpy")
SIZES = [(320, 568), (390, 844), (844, 390), (1366, 768), (1920, 1080)]
WIDE = {"A": "W" * 60, "B": "日本" * 30}
AXE = Axe()
LEAST_PX = 44


@functools.cache
def hit():
    """Return what four pads felt of a hit on pad 2."""
    t = np.arange(1600) / 4000
    shock = np.where(t > 0.2, 900 * np.exp(-40 * (t - 0.2)) * np.sin(1500 * t), 0)
    samples = (2048 + shock[:, None] * np.array([0.1, 1.0, 0.4, 0.05])).astype(np.int16)
    return RecordedStroke(1, 10.2, 10.0, 4000.0, 2048, (2,), 8.3, True, StrikeSettings(), samples)


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    folder = tmp_path_factory.mktemp("console")
    with closing(open_hits(hits_path(folder / "no.sqlite"))) as file:
        file.add([pack_stroke(hit())])
    made = Shown(folder, NOW)
    made.show(PHASES["hit"])
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(chromium, console):
    """Return the console, for the head judge; the policy against scripts and styles in the page may not have spoken."""
    context = chromium.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, console.url)
    page.evaluate(AXE.axe_script)
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def phase(page, console):
    """Return a function that shows a phase and waits until the page does."""

    def show(name, **changed):
        options = next((ALL[game] for game in ALL if name.startswith(game)), None)
        show.seq += 1
        view = msgspec.structs.replace(PHASES[name], seq=show.seq, revision=show.seq, **changed)
        console.show(view, options)
        await_drawn(page, show.seq)

    show.seq = console.feed.latest.content.seq + 100
    return show


def violations(page, **options):
    """Return what axe finds, with the elements it finds it in."""
    found = page.evaluate(
        "how => axe.run(how).then(found => found.violations)", {"resultTypes": ["violations"], **options}
    )
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]


CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}


def looked_at(page):
    """Look in light with every rule, in dark at what colours can break; return what is found."""
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    found += violations(page, **CONTRAST)
    page.emulate_media(color_scheme="light")
    return found


@pytest.mark.parametrize("name", PHASES)
def test_every_phase_has_no_axe_violations(page, phase, name):
    phase(name)
    assert looked_at(page) == []


@pytest.mark.slow
def test_unfolded_sections_have_no_axe_violations(page, phase):
    phase("second")
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.wait_for_selector("#people-inside .person")
    page.wait_for_selector("#set-send")
    page.wait_for_selector("[data-hit]")
    assert looked_at(page) == []
    page.click("#help-open")
    assert looked_at(page) == []
    page.keyboard.press("Escape")
    page.click("[data-hit]")
    page.wait_for_function("() => document.querySelector('#picture-img').naturalWidth > 100")
    assert looked_at(page) == []
    page.keyboard.press("Escape")
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = false })")


@pytest.mark.parametrize("size", [(390, 844), (800, 480), (1024, 600), (1366, 768)])
def test_sign_in_page_fits_screen_without_axe_violations(chromium, console, size):
    context = chromium.new_context(viewport=dict(zip(("width", "height"), size, strict=True)), reduced_motion="reduce")
    page = context.new_page()
    page.goto(console.url)
    assert page.evaluate("document.documentElement.scrollHeight") <= size[1]
    assert page.locator("#sign-in .main").evaluate("one => one.getBoundingClientRect().bottom") <= size[1]
    assert page.evaluate(LINE_FAULTS) == []
    page.evaluate(AXE.axe_script)
    assert looked_at(page) == []
    context.close()


MEASURE = """least => {
  const found = [];
  const hidden = ".skip, .unseen, dialog:not([open])";
  const seen = one => one.checkVisibility({ visibilityProperty: true }) && !one.closest(hidden);
  const fault = (what, one, more = "") => found.push(`${what}: ${one.outerHTML.slice(0, 80)} ${more}`);
  const wide = document.documentElement;
  if (wide.scrollWidth > wide.clientWidth) found.push(`over the side by ${wide.scrollWidth - wide.clientWidth}`);
  for (const one of document.querySelectorAll("button, summary, select, input, textarea")) {
    const box = one.getBoundingClientRect();
    const small = one.matches("[type=checkbox]") ? one.closest("label").getBoundingClientRect() : box;
    if (seen(one) && Math.min(small.width, small.height) < least) fault("small", one, `${box.width}x${box.height}`);
    if (seen(one) && one.matches("button") && one.scrollWidth > one.clientWidth + 1) fault("clipped", one);
  }
  scrollTo(0, 0);
  for (const one of innerHeight > 480 ? document.querySelectorAll("#play button, .bar button") : []) {
    const box = one.getBoundingClientRect();
    if (seen(one) && (box.top < 0 || box.bottom > innerHeight + 1)) fault("not on the screen", one);
  }
  return found;
}"""


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_everything_can_be_touched_on_every_screen(page, phase, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true })")
    faults = {}
    for name in PHASES:
        phase(name, **({"teams": WIDE} if name == "wide" else {}))
        if found := page.evaluate(MEASURE, LEAST_PX):
            faults[name] = found
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = false })")
    assert faults == {}


def test_touch_during_a_table_change_sends_no_command(page, phase):
    phase("hit")
    settled(page)
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    page.evaluate("""() => new MutationObserver((_, looks) => {
      if (!document.body.dataset.inert) return;
      looks.disconnect();
      document.querySelector("#play [data-id=found]").click();
    }).observe(document.body, { attributes: true })""")
    phase("second")
    page.wait_for_function("() => document.getElementById('why').textContent.includes('just changed')")
    assert "POST" not in sent


def test_reduced_motion_stops_console_transitions(page, phase):
    phase("hit")
    settled(page)
    still = "getComputedStyle(document.querySelector('#undo')).transitionDuration"
    assert page.evaluate(still) == "0s"
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(still) != "0s"
    page.emulate_media(reduced_motion="reduce")


def test_found_button_stays_in_place_across_phases(page, phase):
    places = []
    for name in ("hide", "hit", "second", "point", "held", "foul"):
        phase(name)
        places.append(page.locator("#play [data-id=found]").bounding_box())
    assert places[0] is not None
    assert all(one == places[0] for one in places), places


COLLISIONS = """() => [...document.querySelectorAll(".side-card")].flatMap(card => {
  const all = [...card.querySelectorAll(".shape, .token, bdi, .role, .chip, .side-numbers b")];
  const isOver = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  return all.flatMap((one, n) => all.slice(n + 1)
    .filter(other => isOver(one.getBoundingClientRect(), other.getBoundingClientRect()))
    .map(other => `${one.textContent} and ${other.textContent}`));
})"""


def test_console_lines_are_uncut_and_numbers_unbroken(page, phase):
    wrong = {}
    for name in PHASES:
        phase(name)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            if found := page.evaluate(LINE_FAULTS) + page.evaluate(COLLISIONS):
                wrong[f"{name} {width}x{height}"] = found
    page.set_viewport_size({"width": 390, "height": 844})
    assert wrong == {}


COVERED = """() => {
  const dock = document.querySelector("#dock").getBoundingClientRect();
  return [...document.querySelectorAll(".told > :not(.past, #teams)")]
    .filter(one => one.checkVisibility() && one.textContent.trim())
    .map(one => [one.className, one.getBoundingClientRect().bottom - dock.top])
    .filter(([, under]) => under > 1);
}"""


def test_phone_buttons_cover_no_text(page, phase):
    page.evaluate("scrollTo(0, 0)")
    covered = {}
    for name in PHASES:
        if name in {"wide", "asked", "unasked"}:  # two names of forty letters; a question stands over all else
            continue
        phase(name)
        if found := page.evaluate(COVERED):
            covered[name] = found
    assert covered == {}


def test_the_last_hides_stand_in_whole_lines(page, phase):
    phase("hit")
    lines = page.locator("#past li")
    assert lines.count() == 4
    assert lines.first.inner_text().split("\n") == ["B", "6", "Missed at pad 1 · Found under pad 4 · Paguga"]
    cut = page.evaluate("""() => {
      const box = document.querySelector("#past").getBoundingClientRect();
      return [...document.querySelectorAll("#past li")].map(one => one.getBoundingClientRect())
        .filter(one => one.left < box.right && one.bottom > box.bottom + 1).length;
    }""")
    assert cut == 0


def test_clock_is_visible_during_hits_with_pause_sign(page, phase):
    seen = {}
    for name in ("toss", "hide", "hit", "second", "show"):
        phase(name)
        seen[name] = page.evaluate("""() => {
          const line = document.querySelector("#clock-told");
          return [document.querySelector("#clock").checkVisibility(), line.querySelector("b") !== null,
            getComputedStyle(line, "::before").content !== "none", getComputedStyle(line).textDecorationLine];
        }""")
    none, runs, stands = [False, False, False, "none"], [True, True, False, "none"], [True, True, True, "none"]
    assert [one[0] for one in seen.values()] == [False, False, True, True, False]
    assert (seen["hit"], seen["second"]) == (runs, stands), none
