"""The judge's console in a real browser: games played from it, what is put right on it, and what stops it."""

from __future__ import annotations

import httpx
import pytest
from cases import ALL_CASES
from headless import await_drawn, wait_until
from judge_rig import OTHERS, PIN, Rig, answered, follow, settled, sign_in, touch

from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import ActionPlayed, CommandIssued
from pi_controller.referee.judge import JudgeAction, JudgeClock, JudgeHidden, JudgeRuling, JudgeSensors, JudgeUndo
from pi_controller.rules import registry
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LAPTOP = {"viewport": {"width": 1366, "height": 768}}
EXPECTED = ("net::ERR_", "the server responded with a status of 4")
"""What a browser says on its console of a broken line, and of refusals that the page tells by itself."""


@pytest.fixture
def rigs(tmp_path):
    """Return a function that opens tables; they are closed at the end."""
    opened = []

    def open_it(*args, **how):
        opened.append(Rig(tmp_path, *args, **how))
        return opened[-1]

    yield open_it
    for rig in opened:
        rig.close()


@pytest.fixture
def pages(chromium):
    """Return a function that opens the console; the browser may not complain, and no page ask `are you sure?`.

    With `clock` the test may set the page's clock forward.
    """
    contexts, complaints = [], []

    def open_it(rig, name="Ann", how=PHONE, *, before=None, clock=False):
        context = chromium.new_context(reduced_motion="reduce", **how)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        if before:
            page.add_init_script(before)
        if clock:
            page.clock.install()
        if name:
            sign_in(page, rig.url, name)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert [text for text in complaints if not any(one in text for one in EXPECTED)] == []


def journal(tmp_path, kind=ActionPlayed):
    with Journal(tmp_path / "game.sqlite", read_only=True) as journal:
        return [fact for _, fact in journal.read() if isinstance(fact, kind)]


def text(page, id_):
    return page.locator(f"#{id_}").inner_text()


def wait_text(page, id_, part):
    page.wait_for_function("([id, part]) => document.getElementById(id).textContent.includes(part)", arg=[id_, part])


def press(page, selector):
    """Touch what is below the panel, and wait until the table has answered."""
    page.click(selector)
    answered(page)


def unfold(page, id_):
    page.evaluate("id => { document.getElementById(id).open = true }", id_)


@pytest.mark.smoke
def test_signing_in_by_the_keypad(rigs, pages):
    rig = rigs()
    page = pages(rig, name=None)
    page.goto(rig.url)
    page.tap("[data-name=Ann]")
    for digit in "111111":
        page.tap(f"[data-digit='{digit}']")
    page.tap("[type=submit]")
    page.wait_for_function("() => document.querySelector('#problem').textContent")
    assert page.input_value("#pin") == ""
    for digit in PIN:
        page.tap(f"[data-digit='{digit}']")
    page.tap("[type=submit]")
    await_drawn(page)
    assert page.locator("#play").get_attribute("data-shape") == "choice"
    assert text(page, "me") == "Ann"
    page.tap("#sign-out")
    page.wait_for_selector("#sign-in")


@pytest.mark.smoke
def test_game_without_sensors_takes_two_taps_per_hide(rigs, pages, tmp_path):
    rig = rigs("dakota", {"points": "2"})
    page = pages(
        rig,
        before="window.taps = 0; addEventListener('click', event => { taps += Number(event.isTrusted) }, true)",
    )
    game = registry.game("dakota", {"points": 2})
    state, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    touch(page, "toss-A")
    toss = page.evaluate("window.taps")
    counts, taps = [], 0
    for hit in "ffffmfmmmfffffmmm":
        before = page.evaluate("window.taps")
        touch(page, "found" if hit == "f" else "missed")
        taps += page.evaluate("window.taps") - before
        state, _ = game.play(state, {"do": "hit", "found": hit == "f"})
        view = rig.view
        assert view.sheet == game.sheet(state)
        if view.sheet["owed"] != "second":
            counts.append(taps)
            taps = 0
    assert game.is_over(state)
    assert rig.view.winner == game.sheet(state)["winner"]
    assert "wins" in text(page, "sentence")
    assert toss == 1
    assert len(counts) > 10
    assert max(counts) == 2, counts
    assert len(journal(tmp_path)) == 1 + sum(counts)
    print(f"\n{len(counts)} hides, {sum(counts)} taps, at most {max(counts)} a hide")


def test_wrong_entries_are_corrected_at_once(rigs, pages, tmp_path):
    rig = rigs()
    page = pages(rig)
    touch(page, "toss-A")
    press(page, "#again")
    assert rig.view.sheet["hider"] == "B"
    press(page, "#again")
    page.click("[data-row=pad] [data-value='1']")
    touch(page, "missed")
    assert rig.view.hits[0].pad == 2
    press(page, "#again")
    assert (rig.view.sheet["hider"], rig.view.sheet["long"]) == ("B", {"A": 4, "B": 4}), "it was found"
    for owed in ("second", "first"):
        press(page, "#undo")
        assert (rig.view.sheet["hider"], rig.view.sheet["owed"]) == ("A", owed)
    touch(page, "missed")
    touch(page, "missed")
    unfold(page, "fouls")
    assert page.locator("#fouls [open] summary").inner_text() == "Hide 1, just settled: Big Coulee hid"
    press(page, "[data-hide=last] [data-foul=hider-no_bead]")
    assert rig.view.sheet["hider"] == "B"
    assert journal(tmp_path)[-1].action["hide"] == "last"
    press(page, "[data-hide=this] [data-foul=hitter-outside_help]")
    assert rig.view.sheet["long"]["B"] == 8
    unfold(page, "log")
    assert "undone" in page.locator("#log").inner_text()


@pytest.mark.parametrize(
    ("form", "missing"),
    [("teams", "both names"), ("protest", "team"), ("closing", "Touch who is out"), ("set", "reason")],
)
def test_incomplete_form_names_what_is_missing(rigs, pages, form, missing):
    rig = rigs(teams={"A": "A", "B": "B"})
    page = pages(rig, how=LAPTOP)
    before = rig.view
    page.click(f"#{form} summary")
    page.click(f"#{form}-send")
    assert missing in page.locator(f"#{form}-inside .problem").first.inner_text()
    assert rig.view == before


def test_protest_stops_play_until_ruling(rigs, pages, tmp_path):
    rig = rigs()
    page, keeper = pages(rig, "Bo", LAPTOP), pages(rig, "Cy")
    touch(page, "toss-A")
    page.click("#protest summary")
    page.click("#protest [name=by][value=B]")
    page.fill("#protest-text", "<b>pad</b> 2")
    press(page, "#protest-send")
    assert rig.view.held
    for one in (page, keeper):
        follow(one, rig)
        assert "Long Hollow protests" in text(one, "why")
        one.click("#play [data-id=found]", force=True)
        assert one.locator("#play [data-id=found]").get_attribute("aria-disabled") == "true"
    assert not keeper.locator("#protest").is_visible()
    assert [fact.action["do"] for fact in journal(tmp_path)] == ["toss"]
    assert "<b>pad</b> 2" in page.locator("#protest-inside .asked").inner_text()
    page.click("#to-ruling")
    assert page.evaluate("document.activeElement.id") == "ruling-reason"
    page.click("[data-ruling=play_on]")
    assert "reason" in page.locator("#protest-inside .problem").first.inner_text()
    page.fill("#ruling-reason", "asked at the break")
    press(page, "[data-ruling=play_on]")
    assert not rig.view.held
    page.click("#protest-another summary")
    page.click("#protest-another [name=by][value=A]")
    press(page, "#protest-send")
    assert (rig.view.protest, rig.view.held) == ("A", True)
    assert "Big Coulee protests" in text(page, "why")
    page.fill("#ruling-reason", "nobody saw it")
    press(page, "[data-ruling=denied]")
    assert (rig.view.protest, rig.view.held) == ("B", False)
    touch(page, "found")
    page.fill("#ruling-reason", "seen by two")
    press(page, "[data-ruling=denied]")
    assert page.locator("#protest-text").is_visible()
    assert not rig.view.protest


def hidden_under(pad):
    """Return what the mat feels of a hide."""
    hands = [(kind, one) for one in (1, 2, 3, 4) for kind in (HandIn, HandOut)]
    return [(Link, True), *hands, (BeadsAtRest, (Bead(pad),)), (Button, "ready")]


def test_unsure_strike_is_asked_and_answered(rigs, pages):
    rig = rigs()
    page = pages(rig)
    touch(page, "toss-A")
    rig.feel(*hidden_under(2))
    rig.feel((Strike, (2, 3)))
    follow(page, rig)
    assert page.locator("#play").get_attribute("data-shape") == "question"
    assert "Pads 2 and 3" in text(page, "why")
    touch(page, "answer-3")
    assert rig.view.question is None
    assert [(hit.pad, hit.found) for hit in rig.view.hits] == [(3, False)]
    assert page.locator("#play").get_attribute("data-shape") == "hits"


def test_command_from_stale_screen_is_refused(rigs, pages, tmp_path):
    rig = rigs()
    page, other = pages(rig), pages(rig, "Bo")
    touch(page, "toss-A")
    follow(other, rig)

    def meanwhile(route):
        """Let Bo's word come first: Ann has not seen it when she touches."""
        with httpx.Client(headers={"origin": rig.server.url.rstrip("/")}, trust_env=False) as bo:
            bo.post(f"{rig.url}/sign-in", json={"name": "Bo", "pin": PIN}).raise_for_status()
            call = {"judge": "action", "action": {"do": "hit", "found": False}}
            bo.post(f"{rig.url}/command", json={"key": "key-of-bo", "expect": None, "call": call}).raise_for_status()
        route.continue_()

    page.route("**/judge/command", meanwhile, times=1)
    page.click("#play [data-id=found]")
    page.wait_for_selector("#toast[data-value=warn]")
    message = page.locator("#toast-told").inner_text()
    assert "has changed" in message
    assert "Bo" in message
    assert [fact.action for fact in journal(tmp_path)][1:] == [{"do": "hit", "found": False}]
    page.click("#toast-do")
    for one in (page, other):
        follow(one, rig)
        assert "Second hit" in text(one, "sentence")
    assert {text(page, id_) == text(other, id_) for id_ in ("sentence", "facts", "sides", "undo", "link")} == {True}


def test_an_answer_that_is_lost_counts_once(rigs, pages, tmp_path):
    rig = rigs()
    page = pages(rig)
    touch(page, "toss-A")

    def lose(route):
        route.fetch()
        route.abort()

    page.route("**/judge/command", lose, times=1)
    page.click("#play [data-id=missed]")
    answered(page)
    page.wait_for_function("() => document.querySelector('#toast').dataset.value === ''")
    assert [fact.action["do"] for fact in journal(tmp_path)] == ["toss", "hit"]
    assert len({fact.key for fact in journal(tmp_path, CommandIssued)}) == 2


def test_it_comes_back_after_the_server(rigs, pages):
    rig = rigs(heartbeat_s=0.5)
    page = pages(rig)
    touch(page, "toss-A")
    rig.server.stop()
    page.wait_for_selector("#badge[data-value=stale]")
    wait_text(page, "why", "No connection")
    page.click("#play [data-id=found]", force=True)
    page.wait_for_function("() => document.querySelector('#ago').textContent.includes('0:0')")
    rig.serve()
    page.wait_for_selector("#badge[data-value=live]")
    settled(page)
    assert (text(page, "ago"), rig.view.sheet["owed"]) == ("", "first")
    touch(page, "missed")
    assert rig.view.sheet["owed"] == "second"


def test_the_clock_warns_by_tones_and_is_stopped(rigs, pages):
    rig = rigs("dakota", {"hit_seconds": "11"}, hit_seconds=11.0)
    tones = """window.tones = [];
      window.AudioContext = class { currentTime = 0; destination = {}; close() {}
        createGain() { const gain = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
          return { gain, connect: one => one } }
        createOscillator() { const frequency = { value: 0 };
          return { frequency, connect: one => one, stop() {}, start() { tones.push(frequency.value) } } } }"""
    page = pages(rig, before=tones)
    page.click("#sound")
    touch(page, "toss-A")
    touch(page, "hidden")
    wait_text(page, "clock-told", "left")
    wait_text(page, "clock-told", "nearly up")
    assert page.evaluate("tones") == [880, 880], "one when it was switched on, one at ten seconds"
    press(page, "#clock-set")
    wait_text(page, "clock-told", "stopped")
    rig.later += 60
    settled(page)
    assert page.evaluate("tones").count(440) == 0
    press(page, "#clock-set")
    wait_text(page, "clock-told", "nearly up")
    assert rig.view.paused is None
    assert rig.view.sheet["owed"] == "first", "the minute that it stood does not count"


def test_by_the_keyboard_alone(rigs, pages, tmp_path):
    rig = rigs()
    page = pages(rig, name=None, how=LAPTOP)
    page.goto(rig.url)
    keys = page.keyboard
    keys.type("Ann")
    keys.press("Tab")
    keys.type(PIN)
    keys.press("Enter")
    await_drawn(page)
    settled(page)
    keys.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    keys.press("Enter")
    keys.press("Tab")
    assert page.evaluate("document.activeElement.dataset.id") == "toss-A"
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    for key in ("Enter", "h", "2", "m", "f", "u"):
        keys.press(key)
        answered(page)
    assert [hit.pad for hit in rig.view.hits] == [2]
    assert rig.view.sheet["owed"] == "second"
    keys.press("?")
    assert page.locator("dialog#help").is_visible()
    keys.press("f")
    keys.press("Escape")
    assert not page.locator("dialog#help").is_visible()
    assert len(journal(tmp_path)) == 3
    for _ in range(60):
        keys.press("Tab")
        if page.evaluate("document.activeElement?.closest('#protest') !== null"):
            break
    keys.press("Enter")
    assert page.evaluate("document.querySelector('#protest').open")


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_games_are_played_from_it_too(rigs, pages, tmp_path, name):
    options = {"players": "Ann,Bo"} if name in {"bageswin", "patol"} else {}
    rig = rigs(name, options)
    page = pages(rig, how=LAPTOP)
    touches, actions = OTHERS[name]
    for one in touches:
        page.click(f"#play {one}")
        answered(page)
    assert [fact.action for fact in journal(tmp_path)] == actions
    game = registry.game(name, options)
    state = game.opening()
    for action in actions:
        state, _ = game.play(state, action)
    assert rig.view.sheet == game.sheet(state)
    assert page.locator("#undo span").inner_text()
    press(page, "#undo")
    assert "undone" in page.locator("#log").text_content()


def test_block_takes_two_guesses_and_mirror_one(rigs, pages, tmp_path):
    rig = rigs("slahal")
    page = pages(rig)
    touch(page, "duo-1")
    page.click("[data-row=signal] [data-value='2']")
    page.click("[data-row=block] button")  # what was touched was no guess of a block
    assert page.locator("#play .pick[aria-pressed=true]").count() == 1
    assert page.locator("[data-row=signal] [data-value='2']").get_attribute("aria-disabled") == "true"
    page.click("[data-row=signal] [data-value='0']")
    page.click("[data-row=actual] [data-value='0']")
    assert page.locator("[data-row=block] .order").inner_text() == "2."
    assert "the holder on the guesser's right" in page.locator("#said").text_content()
    assert len(journal(tmp_path)) == 1
    for row, value in (("signal", 1), ("actual", 0), ("mirror", 0), ("signal", 0), ("actual", 1)):
        page.click(f"[data-row={row}] [data-value='{value}']")
        answered(page)
    assert [fact.action for fact in journal(tmp_path)][1:] == [
        {"do": "guess", "signal": "outside", "actual": "left", "block": True},
        {"do": "guess", "signal": "left", "actual": "right", "mirror": True},
    ]
    assert [fact.calls for fact in journal(tmp_path)][1:] == [("split",), ("miss",)]
    assert page.locator("[data-row=block]").count() == 0


def test_a_whole_game_and_a_rematch(rigs, pages, chromium, tmp_path):
    rig = rigs("dakota", {"points": "1"})
    page, com = pages(rig, clock=True), pages(rig, "Bo")
    viewer = chromium.new_context().new_page()
    viewer.goto(rig.server.url)
    viewer.evaluate("window.same = true")
    touch(page, "toss-A")
    while rig.view.phase != "over":
        touch(page, "missed")
    won = rig.view
    await_drawn(viewer, won.seq)
    assert "wins" in viewer.locator(".sentence").text_content()
    follow(com, rig)
    assert com.locator("#play").get_attribute("data-shape") == "over"
    assert com.locator("#play button").count() == 0, "a judge of the table begins none"
    page.click("#play [data-id=new-game-swapped]")
    assert "Touch again" in page.locator("[data-id=new-game-swapped]").inner_text()
    page.click("#play [data-id=new-game]")
    assert "Touch again" in page.locator("[data-id=new-game]").inner_text()
    assert (
        page.locator("[data-id=new-game-swapped]")
        .inner_text()
        .startswith("Rematch with sides changed: Big Coulee as B")
    )
    page.click("#play [data-id=new-game-swapped]")
    assert rig.view == won, "one touch each begins nothing"
    page.clock.fast_forward(700)  # a touch that comes sooner is the second of a double tap
    touch(page, "new-game-swapped")
    assert (rig.view.phase, rig.view.teams) == ("toss", {"A": "Long Hollow", "B": "Big Coulee"})
    viewer.wait_for_function("() => document.querySelector('.sentence').textContent.includes('coin toss')")
    com.wait_for_selector("#play [data-id=toss-A]")
    touch(page, "toss-B")
    for hit in ("missed", "missed", "found"):
        touch(page, hit)
    await_drawn(viewer, rig.view.seq)
    assert viewer.locator(".sentence").text_content().startswith("Found at the first hit")
    assert viewer.evaluate("window.same") is True, "the page went on by itself"
    assert viewer.locator("#badge").get_attribute("data-value") == "live"
    (path,) = tmp_path.glob("game-*.sqlite")
    with Journal(path, read_only=True) as old, Journal(tmp_path / "game.sqlite", read_only=True) as new:
        assert old.meta.epoch != new.meta.epoch
        assert next(fact.call for _, fact in new.read() if isinstance(fact, CommandIssued)) == "new_game"
        assert [type(fact).__name__ for _, fact in old.read()][-1] == "ActionPlayed"
    unfold(page, "log")
    assert f"The last one is saved: {path.name}" in page.locator("#log").inner_text()
    viewer.context.close()


UNTOUCHED = {
    "bageswin": (None, "none", {"do": "throw", "red": {"woman": 0, "fish": 0, "knives": 0, "buttons": 0}}),
    "plum_stone": ("lot-A", "none", {"do": "throw", "moons": 0, "whites": 0}),
    "ojibwe": ("toss-A", "", None),
    "slahal": ("duo-1", "", None),
}


@pytest.mark.parametrize("game", UNTOUCHED)
def test_submit_without_a_pick_enters_no_action(rigs, pages, tmp_path, game):
    rig = rigs(game, {"players": "Ann,Bo"} if game == "bageswin" else None)
    page = pages(rig, how=LAPTOP)
    first, none, action = UNTOUCHED[game]
    if first:
        touch(page, first)
    before = rig.view
    submit = page.locator("#play .main")
    for _ in range(3):
        page.keyboard.press("e")
        if submit.count():  # a guess is entered by its last touch
            assert submit.get_attribute("aria-disabled") == "true"
            submit.click(force=True)
    assert rig.view == before
    if none:
        piece = page.locator("#play .pick").first
        page.click(f"[data-row={none}] .pick")
        piece.click()
        assert page.locator(f"[data-row={none}] .pick").get_attribute("aria-pressed") == "false"
        page.click(f"[data-row={none}] .pick")
        assert piece.get_attribute("aria-pressed") == "false"
        press(page, "#play .main")
        assert journal(tmp_path)[-1].action == action


def test_slow_double_tap_is_ignored_in_next_hide(rigs, pages, tmp_path):
    rig = rigs(settle_s=30.0)
    page = pages(rig, clock=True)

    def click(selector):
        """Click as slowly as a slow double tap, and longer after the last change than any other is inert."""
        page.clock.fast_forward(700)
        page.click(selector)
        page.wait_for_function("() => !document.querySelector('[data-busy]')")

    click("#play [data-id=toss-A]")
    await_drawn(page, rig.view.seq)
    click("#play [data-id=found]")
    assert page.locator("#why").inner_text() == "The table has just changed. Check, then touch again."
    page.keyboard.press("m")
    assert [fact.action["do"] for fact in journal(tmp_path)] == ["toss"]
    click("#play [data-id=hidden]")
    click("#play [data-id=missed]")
    assert "Second hit" in text(page, "sentence")
    click("#play [data-id=missed]")  # the second hit of the same hide is not kept waiting
    assert "Next: hide 2, Big Coulee hides" in text(page, "facts")
    click("#play [data-id=missed]")
    assert len(journal(tmp_path)) == 3
    click("#undo")
    assert "Second hit" in text(page, "sentence")


def test_found_and_missed_weigh_the_same(rigs, pages):
    page = pages(rigs())
    touch(page, "toss-A")
    looks = [
        page.locator(f"#play [data-id={id_}]").evaluate(
            "one => { const { color, backgroundColor, border, fontWeight, fontSize, width, height } = "
            "getComputedStyle(one); return [color, backgroundColor, border, fontWeight, fontSize, width, height] }"
        )
        for id_ in ("found", "missed")
    ]
    assert looks[0] == looks[1]


def test_stale_badge_stays_visible_when_scrolled_down(rigs, pages):
    page = pages(rigs())
    touch(page, "toss-A")
    unfold(page, "fouls")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.context.set_offline(True)
    page.wait_for_selector("#badge[data-value=stale]")
    seen = page.locator("#badge").evaluate(
        "one => { const { x, y, width } = one.getBoundingClientRect(); "
        "const top = document.elementFromPoint(x + width / 2, y + 5); return [scrollY > 0, y, one.contains(top)] }"
    )
    assert seen == [True, 0, True]
    assert page.locator("#badge").inner_text().startswith("Not live")


def test_upheld_protest_offers_undo_and_score_by_role(rigs, pages):
    rig = rigs()
    page, judge = pages(rig, how=LAPTOP), pages(rig, "Bo")
    touch(page, "toss-A")
    touch(page, "missed")
    for one, more in ((page, True), (judge, False)):
        one.evaluate("() => { document.querySelector('#protest').open = true }")
        one.click("#protest [name=by][value=B]")
        press(one, "#protest-send")
        one.fill("#ruling-reason", "seen by two")
        press(one, "[data-ruling=upheld]")
        assert "Upheld" in one.locator("#toast-told").inner_text()
        offered = one.locator("#toast button:visible").all_inner_texts()
        assert offered == (["Undo: Missed", "Set the score by hand"] if more else ["Close", "Undo: Missed"])
    page.click("#toast-do")
    page.wait_for_selector("#set-send")
    press(judge, "#toast-do")
    assert rig.view.sheet["owed"] == "first"


def test_accepted_command_vibrates_and_refused_does_not(rigs, pages):
    rig = rigs()
    page = pages(rig, before="window.felt = []; navigator.vibrate = ms => felt.push(ms) > 0")
    touch(page, "toss-A")
    assert page.evaluate("felt") == [40]
    refused = {"error": {"code": "x", "message": "no"}}
    page.route("**/judge/command", lambda route: route.fulfill(status=400, json=refused))
    page.click("#play [data-id=found]")
    page.wait_for_selector("#toast[data-value=warn]")
    assert page.evaluate("felt") == [40], "what is refused is not"


GAMES = {"bageswin": {"players": "Ann,Bo"}, "patol": {"players": "Ann,Bo"}}
TOSS, MISSED = {"do": "toss", "winner": "A"}, {"do": "hit", "found": False}
MOMENTS = {
    "toss": ("dakota", [], False),
    "hide": ("dakota", [TOSS], False),
    "hit": ("dakota", [TOSS], True),
    "second": ("dakota", [TOSS, MISSED], False),
    "show": ("dakota", [TOSS, MISSED, MISSED], False),
    "over": ("dakota", [TOSS, {"do": "forfeit", "by": "B"}], False),
    **{name: (name, OTHERS[name][1][:1], False) for name in OTHERS},
}
"""The game, what was done in it, and whether the hiders are ready."""
TOUCHED = "#play button, .bar button, #clock button"
BELOW = ".more button, .more summary, #teams button, #teams summary"
SIGNS_OUT = "Remove", "Sign out everywhere", "New PIN"


@pytest.mark.parametrize("moment", MOMENTS if ALL_CASES else ("toss", "hit", "over", "ojibwe"))
def test_double_tap_on_control_counts_at_most_once(rigs, pages, tmp_path, moment):
    game, actions, ready = MOMENTS[moment]
    rig = rigs(game, GAMES.get(game))
    page = pages(rig)

    def put_back(table, t):
        """Let the table stand as the moment has it, whatever was said to it."""
        story = table.story
        if story.protest:
            table.judge(JudgeRuling(t, "denied", "by mistake"))
        if not story.sensors:
            table.judge(JudgeSensors(t, on=True))
        if story.clocks.paused is not None:
            table.judge(JudgeClock(t, running=True))
        while table.story.undo_target.batch:
            table.judge(JudgeUndo(t))
        for action in actions:
            table.judge(JudgeAction(t, action))
        if ready:
            table.judge(JudgeHidden(t))

    def stand():
        rig.do(put_back)
        follow(page, rig)

    stand()
    if moment in {"second", "over"}:
        page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true })")
        page.wait_for_selector("#people-inside .person")
    controls = page.locator(f"{TOUCHED}, {BELOW}" if moment in {"second", "over"} else TOUCHED)
    tapped = counted = 0
    for i in range(controls.count()):
        control = controls.nth(i)
        if not control.count() or not control.is_visible() or control.inner_text() in SIGNS_OUT:
            continue
        before = len(journal(tmp_path, CommandIssued))
        revision, epoch = rig.view.revision, rig.view.phase
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        for _ in range(2):  # where the finger is, whatever stands there by then
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        answered(page)
        commands = len(journal(tmp_path, CommandIssued)) - before
        assert commands <= 1, page.evaluate("() => document.querySelector('#log').innerText")
        tapped, counted = tapped + 1, counted + commands
        if commands or (rig.view.revision, rig.view.phase) != (revision, epoch):
            stand()
        page.evaluate("() => document.querySelectorAll('#play [aria-pressed=true]').forEach(one => one.click())")
        page.evaluate("() => document.querySelector('dialog[open]')?.close()")
    print(f"\n{moment}: {tapped} controls touched twice, {counted} of them counted, each once")
    assert tapped > 1
    assert rig.view.phase == "over" or moment != "over", "no other game was begun"


def test_repeated_tap_on_remove_removes_one_person(rigs, pages):
    rig = rigs()
    page = pages(rig, how={"viewport": {"width": 1366, "height": 1800}}, clock=True)
    page.click("#people summary")
    page.wait_for_selector("#people-inside .person")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 3.0)  # more would be a silence, which moves all
    box = page.locator(".person:has-text('Bo') button:has-text('Remove')").bounding_box()
    for count in (3, 2, 2):  # by its own loop: the page's, by which a function is waited for, stands still
        wait_until(page, lambda count=count: page.locator(".person").count() == count)
        page.mouse.click(box["x"] + 5, box["y"] + 5)
    assert [one.name for one in rig.users.list_users()] == ["Ann", "Cy"]
