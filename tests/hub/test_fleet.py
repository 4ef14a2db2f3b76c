"""The fleet of a lender: who is lost, which alarm is due, what reaches the webhook, what the page shows."""

import asyncio
import json
import logging

import pytest
from axe_playwright_python.sync_playwright import Axe
from headless import UPDATED, wait_until
from http_receiver import http_receiver, status
from hub_site import Site
from line_faults import LINE_FAULTS
from long_names import LONG_NAMES
from msgspec.structs import replace
from ports import free_port

from pi_controller import __version__
from pi_controller.errors import SettingsError
from pi_controller.exhibit import faults
from pi_controller.hub import fleet as fleet_module
from pi_controller.hub.fleet import (
    CALM_S,
    CAN_WAIT,
    FORGET_S,
    MAX_INSTALLATIONS,
    OFF_S,
    ONSET_S,
    Fleet,
    Installation,
    advance,
    find_reasons,
    list_cards,
    update_lost,
)
from pi_controller.hub.messages import (
    EXHIBIT_STATE,
    MAX_MESSAGE_BYTES,
    REPORT,
    MessageError,
    Report,
    SelfTestResult,
    State,
    decode,
    encode,
)
from pi_controller.hub.settings import FleetSection, load_hub
from pi_controller.hub.store import FleetStore
from pi_controller.runtime.webhook import WebhookError
from pi_controller.system.machine_health import MachineHealth

T = 1_790_000_000.0
LOST_S = 900.0
WELL = Report("River House", __version__, "open")
RUNS = Installation("lent-1", WELL, "ready", T)
FAILED = SelfTestResult(T, ("lights", "disk"))
SIZES = ((390, 844), (800, 480), (1080, 1920), (1366, 768), (1920, 1080), (3840, 2160))
SECRET = "s3cr3t-p4th"
PATH = f"/{SECRET}?k={SECRET}"


def with_faults(*codes, one=RUNS, **changes):
    return replace(one, report=replace(WELL, faults=codes, **changes))


# who is lost


@pytest.mark.parametrize(
    ("changes", "state", "silent_s", "listening_s", "lost"),
    [
        ({}, "open", LOST_S - 1, LOST_S, False),
        ({}, "open", LOST_S, LOST_S, True),
        ({"presence": "lost"}, "open", LOST_S, LOST_S, True),
        ({"presence": "lost"}, "notice", LOST_S, LOST_S, True),
        ({"presence": "lost"}, "closed", OFF_S - 1, OFF_S, False),
        ({"presence": "lost"}, "closed", OFF_S, OFF_S, True),
        ({"presence": "lost"}, "closed_today", LOST_S, LOST_S, False),
        ({"presence": "lost"}, "resting", 9 * OFF_S, 9 * OFF_S, False),
        ({"presence": "stopped"}, "open", LOST_S, LOST_S, False),
        ({"presence": "stopped"}, "open", OFF_S, LOST_S, True),
    ],
)
def test_silence_makes_an_installation_lost(changes, state, silent_s, listening_s, lost):
    one = replace(RUNS, report=replace(WELL, state=state), **changes)
    assert update_lost(one, T + silent_s, listening_s, LOST_S).lost is lost


def test_a_hub_that_was_away_itself_waits_before_it_calls_anybody_lost():
    for listening_s in (0.0, LOST_S - 1):
        assert update_lost(RUNS, T + OFF_S, listening_s, LOST_S) is RUNS
    assert update_lost(RUNS, T + OFF_S, LOST_S, LOST_S).lost


# which alarm is due


def alarms_of(*states):
    """Return the alarms of an installation that goes through `states`, each (its changes, for how many s): what they
    say, and how many s after the start.
    """
    one, told, t = RUNS, [], T
    for change, lasts_s in states:
        one = replace(one, **change)
        for later_s in (0.0, lasts_s):
            t += later_s
            after = advance(one, t)
            if after.pending != one.pending:
                told.append((after.pending.event, after.pending.reasons, t - T))
            one = after
    return told


def report(*codes, **changes):
    return {"report": replace(WELL, faults=codes, **changes)}


def test_an_alarm_is_raised_once_and_cleared_once():
    states = [
        (report(), 10),
        (report("link"), ONSET_S),
        (report("link"), 3600),
        (report(), CALM_S - 1),
        (report(), 1),
        (report(), 3600),
    ]
    assert alarms_of(*states) == [
        ("alarm", ("link",), 10 + ONSET_S),
        ("well", (), 10 + ONSET_S + 3600 + CALM_S),
    ]


def test_a_fault_of_a_moment_is_no_alarm():
    states = [(report("link"), ONSET_S - 1), (report(), 1)]
    assert alarms_of(*states, *states, *states) == []


def test_a_fault_that_comes_and_goes_is_one_alarm():
    states = [(report("link") if n % 2 else report(), CALM_S / 2) for n in range(1, 20)]
    assert [event for event, *_ in alarms_of(*states)] == ["alarm"]


def test_another_fault_is_another_alarm_with_all_reasons():
    states = [(report(*codes), ONSET_S) for codes in (("link",), ("link", "heat"), ("heat",), ("link", "heat"))]
    assert [reasons for _, reasons, _ in alarms_of(*states)] == [("link",), ("link", "heat")]


def test_a_fault_after_it_was_well_is_a_new_alarm():
    told = alarms_of((report("link"), ONSET_S), (report(), CALM_S), (report("link"), ONSET_S))
    assert [event for event, *_ in told] == ["alarm", "well", "alarm"]


def test_loss_and_a_failed_self_test_are_alarms_too():
    told = alarms_of(({"lost": True}, 1), ({"lost": False, **report(self_test=FAILED)}, ONSET_S))
    assert told == [("alarm", ("lost",), 0), ("alarm", ("self_test:lights", "self_test:disk"), 1 + ONSET_S)]
    assert alarms_of((report(self_test=SelfTestResult(T)), ONSET_S)) == []


@pytest.mark.parametrize("code", sorted(CAN_WAIT))
def test_a_fault_that_can_wait_is_no_alarm(code):
    assert alarms_of((report(code), ONSET_S)) == []
    assert find_reasons(with_faults(code, "link")) == ("link",)


def test_every_other_fault_is_an_alarm_even_an_unknown_one():
    for code in (*set(faults.KINDS) - CAN_WAIT, "of_a_later_version"):
        assert alarms_of((report(code), ONSET_S)) == [("alarm", (code,), ONSET_S)]


def test_all_codes_fit_into_a_report():
    whole = Report(
        "W" * 60, "9" * 80, "closed_today", faults.KINDS, SelfTestResult(T, ("loudspeaker", "writing", "journal"))
    )
    data = encode(replace(whole, machine=MachineHealth(88.0, True, True, 10**11, 3)))
    assert decode(data, Report).faults == faults.KINDS
    assert len(data) < 1000


# what the hub takes


@pytest.fixture
def store(tmp_path):
    with FleetStore(tmp_path / "hub.sqlite") as made:
        yield made


class Times:
    """A wall clock and a steady one, that pass together."""

    def __init__(self):
        self.t = T

    def clock(self):
        return self.t

    def steady(self):
        return self.t - T + 50.0


class Receiver:
    """A webhook in memory: refuses the first `refusals` messages."""

    def __init__(self, refusals=0):
        self.taken, self.refusals, self.tries = [], refusals, 0

    async def post(self, url, body):
        self.tries += 1
        if self.tries <= self.refusals:
            raise WebhookError("it is down")
        self.taken.append(json.loads(body))


def make_fleet(store, times=None, receiver=None, webhook="https://alarm.example/x"):
    times, receiver = times or Times(), receiver or Receiver()
    return Fleet(store, FleetSection(webhook=webhook), times.clock, times.steady, receiver.post)


def hear(fleet, account="lent-1", report=WELL, presence="ready", fresh=True):
    fleet.receive(account, EXHIBIT_STATE, encode(State(presence, "a")), fresh=fresh)
    fleet.receive(account, REPORT, encode(report), fresh=fresh)


def break_down(fleet, times, **changes):
    """Let an installation report a fault for as long as it takes until that is alarmed."""
    hear(fleet, report=replace(WELL, **{"faults": ("link",), **changes}))
    fleet.check()
    times.t += ONSET_S


async def run_until(fleet, holds):
    async with fleet.running(), asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0)


def test_the_last_report_survives_a_restart_of_the_hub(where):
    with FleetStore(where) as store:
        fleet = make_fleet(store, webhook="")
        for faults_now in (("heat",), ("link",)):
            hear(fleet, report=replace(WELL, faults=faults_now, self_test=FAILED))
            asyncio.run(run_until(fleet, lambda: True))
    with FleetStore(where) as store:
        assert make_fleet(store).installations == fleet.installations
        assert fleet.installations["lent-1"].heard == T
        store.write({"lent-1": None})
        assert store.read() == {}


def test_what_another_version_stored_is_left_out(store):
    store.write({"lent-1": '{"account": 1}', "lent-2": '{"account": "lent-2", "later": true}'})
    assert [*make_fleet(store).installations] == ["lent-2"]


def test_what_the_broker_remembers_was_not_heard_now(store):
    times = Times()
    fleet = make_fleet(store, times)
    hear(fleet, presence="lost", fresh=False)
    assert fleet.installations == {}, "it may have been forgotten"
    hear(fleet, "lent-2", fresh=False)
    two = fleet.installations["lent-2"]
    assert (two.report, two.presence, two.heard) == (WELL, "ready", None)
    hear(fleet)
    times.t += 60.0
    hear(fleet, report=replace(WELL, state="closed"), fresh=False)
    one = fleet.installations["lent-1"]
    assert (one.heard, one.presence, one.report.state) == (T, "ready", "closed")


def test_an_installation_that_was_given_back_is_forgotten(store):
    times = Times()
    fleet = make_fleet(store, times, webhook="")
    hear(fleet)
    with fleet.listening():
        times.t += FORGET_S - 1.0
        fleet.check()
        assert fleet.installations["lent-1"].lost
        times.t += 1.0
        asyncio.run(run_until(fleet, lambda: not fleet.installations))
    assert make_fleet(store).installations == {}
    hear(fleet)
    assert not fleet.installations["lent-1"].lost


def test_the_last_will_tells_when_the_connection_ended(store):
    times = Times()
    fleet = make_fleet(store, times)
    hear(fleet)
    times.t += 60.0
    fleet.receive("lent-1", EXHIBIT_STATE, encode(State("lost", "a")), fresh=True)
    assert fleet.installations["lent-1"].heard == T + 60.0
    times.t += 60.0
    fleet.receive("lent-1", EXHIBIT_STATE, encode(State("lost", "a")), fresh=True)
    assert fleet.installations["lent-1"].heard == T + 60.0, "it was away already"


def test_only_its_own_message_finds_a_lost_installation(store):
    times = Times()
    fleet = make_fleet(store, times)
    hear(fleet)
    with fleet.listening():
        times.t += LOST_S
        fleet.check()
    assert fleet.installations["lent-1"].lost
    for fresh, state in ((True, "lost"), (False, "ready")):
        fleet.receive("lent-1", EXHIBIT_STATE, encode(State(state, "a")), fresh=fresh)
        assert fleet.installations["lent-1"].lost
    hear(fleet)
    assert not fleet.installations["lent-1"].lost


def test_nobody_is_lost_while_the_hub_has_no_broker(store):
    times = Times()
    fleet = make_fleet(store, times)
    hear(fleet)
    with fleet.listening():
        times.t += 1.0
    times.t += LOST_S
    fleet.check()
    assert not fleet.installations["lent-1"].lost


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"\xff\xfe", b"[]", b" " * (MAX_MESSAGE_BYTES + 1),
        b'{"name": "", "program": "1", "state": "open"}',
        b'{"name": "%s", "program": "1", "state": "open"}' % (b"n" * 61),
        b'{"name": "a", "program": "1", "state": "ajar"}',
        b'{"name": "a", "program": "1", "state": "open", "sessions": 4}',
        b'{"name": "a", "program": "1", "state": "open", "faults": ["<b>"]}',
        b'{"name": "a", "program": "1", "state": "open", "faults": [%s"x"]}' % (b'"x",' * 32),
        b'{"name": "a", "program": "1", "state": "open", "self_test": {"t": 1e300}}',
        b'{"name": "a", "program": "1", "state": "open", "self_test": {"t": -1}}',
        b'{"name": "a", "program": "1", "state": "open", "machine": {"visitors": 1}}',
    ],
)  # fmt: skip
def test_a_malformed_report_is_refused_and_changes_nothing(store, data):
    fleet = make_fleet(store)
    hear(fleet)
    before = dict(fleet.installations)
    with pytest.raises(MessageError, match=r"invalid report message: ."):
        fleet.receive("lent-1", REPORT, data, fresh=True)
    assert fleet.installations == before


def test_there_is_a_limit_to_the_installations(store):
    fleet = make_fleet(store)
    for n in range(MAX_INSTALLATIONS):
        hear(fleet, f"x{n}")
    with pytest.raises(MessageError, match="already"):
        hear(fleet, "one-more")
    hear(fleet, "x0")


# what reaches the webhook


def test_an_alarm_reaches_the_webhook_with_its_reasons(store):
    times, receiver = Times(), Receiver()
    fleet = make_fleet(store, times, receiver)
    break_down(fleet, times, faults=("link", "texts"), self_test=FAILED)
    asyncio.run(run_until(fleet, lambda: receiver.taken))
    assert receiver.taken == [
        {
            "event": "alarm",
            "id": "lent-1-1",
            "account": "lent-1",
            "installation": "River House",
            "reasons": ["link", "self_test:lights", "self_test:disk"],
            "heard": T,
            "sent": T + ONSET_S,
            "text": receiver.taken[0]["text"],
        }
    ]
    assert "River House" in receiver.taken[0]["text"]


def test_a_refused_alarm_is_sent_again_after_longer_and_longer(store, monkeypatch):
    waits, times, receiver = [], Times(), Receiver(refusals=12)

    async def wait(seconds):
        waits.append(seconds)

    class Waiting(fleet_module.Retry):
        async def wait_after_failure(self, why):
            await wait(self._wait)
            self._wait = min(2 * self._wait, self._longest_s)

    monkeypatch.setattr(fleet_module, "Retry", Waiting)
    fleet = make_fleet(store, times, receiver)
    break_down(fleet, times)
    asyncio.run(run_until(fleet, lambda: receiver.taken))
    assert waits[:3] == [2.0, 4.0, 8.0]
    assert waits[-1] == 600.0
    assert len(receiver.taken) == 1


def test_a_restart_repeats_no_alarm_and_loses_none(store):
    times, away = Times(), Receiver(refusals=10**6)
    fleet = make_fleet(store, times, away)
    break_down(fleet, times)
    asyncio.run(run_until(fleet, lambda: away.tries))  # the hub ends before the webhook has it
    receiver = Receiver()
    fleet = make_fleet(store, times, receiver)
    asyncio.run(run_until(fleet, lambda: receiver.taken))
    assert [one["id"] for one in receiver.taken] == ["lent-1-1"]
    again = Receiver()
    fleet = make_fleet(store, times, again)
    hear(fleet, report=replace(WELL, faults=("link",)), fresh=False)
    times.t += ONSET_S

    async def some_rounds():
        async with fleet.running():
            for _ in range(200):
                await asyncio.sleep(0)

    asyncio.run(some_rounds())
    assert again.tries == 0


def test_lost_is_not_told_again_after_a_restart(store):
    times, receiver = Times(), Receiver()
    fleet = make_fleet(store, times, receiver)
    hear(fleet)
    with fleet.listening():
        times.t += LOST_S
        asyncio.run(run_until(fleet, lambda: receiver.taken))
    fleet = make_fleet(store, times, receiver)
    with fleet.listening():
        for _ in range(3):
            times.t += LOST_S
            fleet.check()
    assert fleet.installations["lent-1"].pending is None
    hear(fleet)
    fleet.check()
    times.t += CALM_S
    fleet.check()
    assert fleet.installations["lent-1"].pending.event == "well"


def test_without_a_webhook_no_alarm_is_kept_for_later(store):
    times = Times()
    fleet = make_fleet(store, times, webhook="")
    break_down(fleet, times)
    fleet.check()
    assert fleet.installations["lent-1"].pending is None


def test_no_failure_tells_the_secret_address(store, caplog):
    caplog.set_level(logging.DEBUG)
    port = free_port()
    urls = [
        f"http://127.0.0.1:{port}/{SECRET}",
        f"https://127.0.0.1:{free_port()}/{SECRET}",
        f"https://{SECRET}.invalid/{SECRET}",
    ]
    with http_receiver(status(200), PATH) as (plain, _):
        urls.append(plain.replace("http:", "https:"))  # no TLS there
        for url in urls:
            fleet = Fleet(store, FleetSection(webhook=url))
            with pytest.raises(WebhookError) as refused:
                asyncio.run(fleet.test_webhook())
            assert SECRET not in str(refused.value)
            assert "127.0.0.1" not in str(refused.value)
    times = Times()
    down = Fleet(store, FleetSection(webhook=urls[0]), times.clock)
    break_down(down, times)
    asyncio.run(run_until(down, lambda: "will retry" in caplog.text))
    assert SECRET not in caplog.text
    assert str(port) not in caplog.text
    assert SECRET not in repr(FleetSection(webhook=urls[0]))


@pytest.mark.parametrize(
    "url",
    [
        "http://alarm.example/", "http://8.8.8.8/", "http://localhost.evil.example/", "ftp://127.0.0.1/", "alarm",
        "https://user:word@alarm.example/", "https://alarm.example:99999/", "http://2130706433/", "https://a b/",
        "https://alarm.example/\r\nx: y",
    ],
)  # fmt: skip
def test_an_address_that_is_not_safe_is_refused_without_repeating_it(tmp_path, url):
    file = tmp_path / "hub.toml"
    file.write_text(f"[fleet]\nwebhook = {json.dumps(f'{url}{SECRET}')}\n")
    with pytest.raises(SettingsError) as refused:
        load_hub(tmp_path)
    assert "webhook" in str(refused.value)
    assert SECRET not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    "url", ["", "https://alarm.example/a?b=c", "http://localhost:8123/x", "http://192.168.1.20/", "http://10.0.0.9:80"]
)
def test_a_safe_address_is_taken(url):
    assert FleetSection(webhook=url).webhook == url


# the page


HOSTILE = "<script>alert(1)</script>\u202e"


def fill(fleet):
    """Put an installation in every state into `fleet`; return their accounts, the most urgent first."""
    lost = replace(RUNS, account="lent-7", report=replace(WELL, name="Zoo <b>"), presence="lost", lost=True)
    hot = replace(
        WELL, name=LONG_NAMES["spaces"], faults=("link", "heat"), machine=MachineHealth(88.0, free_bytes=10**8)
    )
    tested = replace(WELL, name=LONG_NAMES["syllabics"], self_test=FAILED)
    late = replace(WELL, name="Harbour Museum", program="0.0.1", faults=("texts", "later_one"))
    parts = [
        lost,
        replace(RUNS, account="lent-5", report=late),
        replace(RUNS, account="a-long-account-name-of-31-chars", report=hot),
        replace(RUNS, account="lent-4", report=tested),
        replace(RUNS, account="lent-6", report=replace(WELL, name="Notice", state="notice")),
        replace(RUNS, account="lent-1", report=replace(WELL, name="A well one", self_test=SelfTestResult(T))),
        replace(RUNS, account="lent-2", report=replace(WELL, name="Closed", state="closed_today")),
        replace(RUNS, account="lent-3", report=replace(WELL, name="Off", state="closed"), presence="lost"),
    ]
    fleet.installations |= {one.account: one for one in reversed(parts)}
    return [one.account for one in parts]


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path, alarm={"webhook": f"https://127.0.0.1/{SECRET}"})
    yield made
    made.close()


def test_the_page_is_for_signed_in_staff_alone(site):
    fill(site.fleet)
    found = site.web.get("/fleet", follow_redirects=True)
    assert 'id="sign-in"' in found.text
    assert "Harbour" not in found.text
    assert site.web.get("/director/fleet/events").status_code == 401
    assert site.web.post("/director/fleet/test", json={}).status_code == 401
    site.sign_in("scorekeeper")
    found = site.web.get("/fleet", follow_redirects=True)
    assert "Harbour Museum" in found.text
    assert 'id="test"' not in found.text
    assert site.web.post("/director/fleet/test", json={}).status_code == 403


def test_those_that_need_somebody_come_first(site):
    order = fill(site.fleet)
    cards = list_cards(site.fleet.installations)
    assert [one.account for one in cards] == order
    assert [one.level for one in cards] == ["now"] * 4 + ["soon"] + ["well"] * 3


def test_a_card_says_what_to_do_by_the_installations_own_words():
    (card,) = list_cards({"lent-1": with_faults("link", "heat", machine=MachineHealth(88.0))})
    assert [step for _, step in card.steps] == [faults.STEPS["link"][1], faults.STEPS["heat"][1]]
    assert "88" in card.steps[1][0]
    assert not card.older


def test_an_unknown_fault_and_absurd_figures_are_shown_as_such():
    odd = with_faults("later_one", "heat", "disk", machine=MachineHealth(1e300, free_bytes=-5), program="x" * 80)
    (card,) = list_cards({"lent-1": odd})
    assert "later_one" in card.steps[0][0]
    assert [what for what, _ in card.steps[1:]] == [faults.STEPS["heat"][0], faults.STEPS["disk"][0]]
    assert not card.older, "that is no version"
    (card,) = list_cards({"lent-1": with_faults(program="0.0.1")})
    assert card.older
    assert card.level == "soon"


def test_hostile_names_stay_text(site):
    site.sign_in()
    hear(site.fleet, report=replace(WELL, name=HOSTILE, program="<img src=x>\u202e1"))
    page = site.web.get("/director/fleet").text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_the_page_says_if_the_hub_itself_hears_nobody(site):
    site.sign_in()
    fill(site.fleet)
    assert 'class="alarm"' in site.web.get("/director/fleet").text
    with site.fleet.listening():
        assert 'class="alarm"' not in site.web.get("/director/fleet").text


def test_an_installation_without_a_report_is_not_shown(store):
    fleet = make_fleet(store)
    fleet.receive("lent-1", EXHIBIT_STATE, encode(State("ready", "a")), fresh=True)
    assert list_cards(fleet.installations) == []


def test_a_hub_without_installations_has_no_link_and_says_how_one_joins(site):
    site.sign_in()
    assert "/director/fleet" not in site.web.get("/director").text
    assert "join-steps" in site.web.get("/director/fleet").text
    fill(site.fleet)
    assert "/director/fleet" in site.web.get("/director").text
    assert "join-steps" not in site.web.get("/director/fleet").text


def test_the_webhooks_address_is_on_no_page(site):
    site.sign_in()
    fill(site.fleet)
    refused = site.web.post("/director/fleet/test", json={})
    assert refused.status_code == 503
    for told in (refused.text, site.web.get("/director/fleet").text, site.web.get("/director").text):
        assert SECRET not in told


def test_a_test_from_another_site_is_refused(site):
    site.sign_in()
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert site.web.post("/director/fleet/test", json={}, headers=headers).status_code == 403
    assert site.web.post("/director/fleet/test", json={"url": "http://127.0.0.1"}).status_code == 400


@pytest.mark.chromium
@pytest.mark.parametrize("state", ["empty", "full"])
@pytest.mark.slow
def test_the_page_fits_every_screen_and_is_accessible(chromium, site, state):
    site.sign_in()
    if state == "full":
        fill(site.fleet)
    wrong = {}
    for scheme in ("light", "dark"):
        tab = chromium.new_page(color_scheme=scheme, reduced_motion="reduce")
        site.share_session(tab.context)
        tab.goto(f"{site.origin}/fleet")
        tab.wait_for_function(UPDATED)
        for width, height in SIZES:
            tab.set_viewport_size({"width": width, "height": height})
            found = tab.evaluate(LINE_FAULTS)
            if (wide := tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")) > 0:
                found.append(f"{wide} px too wide")
            if scheme == "light" or width == 390:
                found += [one["id"] for one in Axe().run(tab).response["violations"]]
            if found:
                wrong[scheme, width] = found
        tab.close()
    assert wrong == {}


@pytest.mark.chromium
def test_a_new_fault_appears_by_itself_and_the_test_is_sent_by_touch(chromium, tmp_path):
    with http_receiver(status(200), PATH) as (url, bodies):
        site = Site(tmp_path, alarm={"webhook": url})
        try:
            site.sign_in()
            hear(site.fleet)
            tab = chromium.new_page(viewport={"width": 390, "height": 844})
            site.share_session(tab.context)
            tab.goto(f"{site.origin}/fleet")
            assert tab.locator('[data-level="well"]').count() == 1
            hear(site.fleet, report=replace(WELL, faults=("link",)))
            site.pages.publish(())
            tab.wait_for_selector('[data-level="now"] .steps')
            tab.click("#test")
            tab.wait_for_function("() => document.getElementById('said').textContent")
            wait_until(tab, lambda: bodies)
            assert json.loads(bodies[0][2])["event"] == "test"
            tab.close()
        finally:
            site.close()
