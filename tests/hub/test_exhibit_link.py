"""An installation that reports to a hub over a real Mosquitto: if the host wants, and nothing of its visitors."""

import asyncio
import json
from contextlib import ExitStack, contextmanager

import pytest
from brokers import PATIENCE_S, VENUE, RunningHub, needs_mosquitto, run_to_its_end
from exhibit_rig import WELL
from http_receiver import http_receiver, status
from linked_table import client
from secrecy_channels import FLEET_TOPICS
from staff_rig import installed, until

from pi_controller import __version__
from pi_controller.config import read_settings
from pi_controller.errors import SettingsError
from pi_controller.exhibit.exhibit import KINDS as WAYS_TO_PLAY
from pi_controller.hub import exhibit_link, fleet, mqtt
from pi_controller.hub.exhibit_link import ExhibitLink, make_report
from pi_controller.hub.fleet import Fleet
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import EXHIBIT_STATE, REPORT, ROOT, Report, State, decode, encode, topic
from pi_controller.hub.run import HubRun
from pi_controller.hub.settings import FleetSection
from pi_controller.hub.store import FleetStore
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.system.machine_health import MachineHealth

NOW = 1_790_000_000.0


@pytest.fixture
def hub(tmp_path, broker):
    with Inbox(tmp_path / "hub.sqlite") as inbox, FleetStore(tmp_path / "hub.sqlite") as store:
        installations = Fleet(store, FleetSection())
        made = RunningHub(inbox, broker.account("hub"), fleet=installations)
        made.fleet, made.quick = installations, True
        yield made
        made.close()


def known(hub, account="t01"):
    return hub.fleet.installations.get(account)


def toml_of(broker, more=""):
    """Return the settings of an installation that reports to `broker` as t01; `more` are keys of [exhibit]."""
    own = broker.folder / "tables" / "t01"
    files = f'password_file = "{own / "password"}"\nca = "{own / "ca.crt"}"\n'
    return f'report = true\n{more}[hub]\naddress = "127.0.0.1"\nport = {broker.port}\ntable = "t01"\n{files}'


@needs_mosquitto
def test_an_installation_reports_what_its_staff_page_shows(tmp_path, broker, hub):
    hot = MachineHealth(81.6, under_voltage=True, under_voltage_since_start=True, free_bytes=150_000_000, fs_errors=0)
    with installed(tmp_path, toml=toml_of(broker), read=lambda _: hot) as (installation, _):
        one = hub.until(lambda hub: (one := known(hub)) and one.report and one.presence == "ready" and one)
        shown = installation.staff.page.shown.faults
    assert (one.report.name, one.report.program, one.report.state) == ("Table 1", __version__, "open")
    assert set(one.report.faults) == {fault.kind for fault in shown} == {"heat", "supply", "disk"}
    assert (one.report.machine.temperature_c, one.report.machine.free_bytes) == (82.0, 100_000_000)
    assert hub.shown("t01") is None, "it is no table"
    hub.until(lambda hub: known(hub).presence == "stopped")


@needs_mosquitto
def test_a_change_is_reported_at_once(tmp_path, broker, hub):
    with installed(tmp_path, toml=toml_of(broker), read=lambda _: WELL) as (installation, _):
        hub.until(lambda hub: (one := known(hub)) and one.report)
        installation.exhibit.close_today(installation.exhibit._now)
        hub.until(lambda hub: known(hub).report.state == "closed_today")


class Clock:
    """A clock of a link, set by hand; `rounds` counts how often it was read."""

    def __init__(self):
        self.t, self.rounds = 0.0, 0

    def __call__(self):
        self.rounds += 1
        return self.t

    def let_pass(self, link, t, report):
        """Let the link look at `report` at the time `t`."""
        link._latest, self.t, before = report, t, self.rounds
        link.wake()
        until(lambda: self.rounds > before)


@needs_mosquitto
def test_a_report_is_repeated_at_a_slow_period(broker, hub, monkeypatch):
    cool, warm = (Report("River House", "1", "open", machine=MachineHealth(one)) for one in (50.0, 51.0))
    clock, reports = Clock(), []
    receive = hub.fleet.receive

    def record(account, kind, data, *, fresh):
        receive(account, kind, data, fresh=fresh)
        if kind == REPORT:
            reports.append(decode(data, Report))

    monkeypatch.setattr(hub.fleet, "receive", record)
    link = ExhibitLink(broker.account("t01"), VENUE, "River House", clock)
    try:
        hub.until(known)
        clock.let_pass(link, 0.0, cool)
        hub.until(lambda _: reports == [cool])
        clock.let_pass(link, exhibit_link.REPORT_S - 1.0, warm)
        clock.let_pass(link, exhibit_link.REPORT_S, warm)
        hub.until(lambda _: reports == [cool, warm])
        clock.let_pass(link, 2 * exhibit_link.REPORT_S - 1.0, warm)
        clock.let_pass(link, 2 * exhibit_link.REPORT_S, warm)
        hub.until(lambda _: reports == [cool, warm, warm])
    finally:
        link.close()


@needs_mosquitto
def test_a_lost_connection_is_told_by_the_last_will_and_restored(broker, hub, monkeypatch):
    states = []
    receive = hub.fleet.receive

    def record(account, kind, data, *, fresh):
        receive(account, kind, data, fresh=fresh)
        states.append(known(hub).presence)

    monkeypatch.setattr(hub.fleet, "receive", record)
    link = ExhibitLink(broker.account("t01"), VENUE, "River House")
    try:
        hub.until(lambda _: "ready" in states)

        async def take_over():
            async with mqtt.make_client(broker.account("t01")):
                pass

        asyncio.run(take_over())
        hub.until(lambda _: "lost" in states)
        hub.until(lambda _: states[-1] == "ready")
    finally:
        link.close()


@needs_mosquitto
def test_the_game_goes_on_while_the_broker_is_gone(tmp_path, broker, hub):
    with installed(tmp_path, toml=toml_of(broker), read=lambda _: WELL) as (installation, _):
        hub.until(lambda hub: (one := known(hub)) and one.report)
        broker.kill()
        before = installation.exhibit._now
        installation.exhibit.close_today(before)
        until(lambda: installation.exhibit._now > before + 1.0)
        broker.start()
        hub.until(lambda hub: known(hub).report.state == "closed_today")


@needs_mosquitto
def test_an_installation_sends_under_its_own_topics_alone(tmp_path, broker):
    async def look():
        async with client(broker, "hub") as hub:
            await hub.subscribe(f"{ROOT}/#", 1)
            found = {}
            async with asyncio.timeout(PATIENCE_S):
                while len(found) < len(FLEET_TOPICS):
                    message = await anext(aiter(hub.messages))
                    found[message.topic.value.removeprefix(f"{ROOT}/{VENUE}/")] = message.payload
            return found

    with installed(tmp_path, toml=toml_of(broker)):
        found = asyncio.run(look())
    assert found.keys() == FLEET_TOPICS
    keys = {"name", "program", "state", "faults", "self_test", "machine"}
    assert json.loads(found["t/t01/exhibit/report"]).keys() <= keys


@needs_mosquitto
def test_what_is_no_report_is_passed_over(broker, hub):
    async def send(*messages):
        async with client(broker, "t02") as other:
            for kind, payload in messages:
                await other.publish(topic(VENUE, "t02", kind), payload, 1, retain=kind == EXHIBIT_STATE)

    bad = (b"\xff{", b"", b"{}", b'{"state": "ready"}', b"x" * 1_100_000)
    asyncio.run(send((EXHIBIT_STATE, encode(State("ready", "s")))))
    hub.until(lambda hub: known(hub, "t02"))  # from here on the hub hears every topic
    sent = [(kind, payload) for kind in (REPORT, EXHIBIT_STATE) for payload in bad]
    asyncio.run(send(*sent, (EXHIBIT_STATE, encode(State("stopped", "s")))))
    hub.until(lambda hub: known(hub, "t02").presence == "stopped")
    assert known(hub, "t02").report is None


@needs_mosquitto
def test_a_running_hub_posts_an_alarm_and_remembers_the_fleet(tmp_path, broker, monkeypatch):
    monkeypatch.setattr(fleet, "ONSET_S", 0.0)
    with http_receiver(status(204)) as (url, requests):
        broker.hub_settings()
        with (broker.folder / "hub.toml").open("a") as settings:
            settings.write(f'[fleet]\nwebhook = "{url}"\n')
        with installed(tmp_path, toml=toml_of(broker, 'mat = "sensors"\n'), read=lambda _: WELL), run_hub(broker):
            until(lambda: requests)
        alarm = json.loads(requests[0][2])
        assert (alarm["event"], alarm["account"], alarm["reasons"]) == ("alarm", "t01", ["link"])
        with FleetStore(broker.folder / "hub.sqlite") as store:
            kept = Fleet(store, FleetSection()).installations["t01"]
        assert (kept.report.faults, kept.alarmed, kept.pending) == (("link",), ("link",), None)
        with run_hub(broker):
            pass
        assert len(requests) == 1


@contextmanager
def run_hub(broker):
    """Run the hub of `hub run` in the broker's folder."""
    import threading

    hub, closing, loop = HubRun(broker.folder, lambda _: None), asyncio.Event(), asyncio.new_event_loop()
    thread = threading.Thread(target=run_to_its_end, args=(loop, hub.run(closing)))
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(hub.wait_until_listening(), loop).result(PATIENCE_S)
        yield hub
    finally:
        loop.call_soon_threadsafe(closing.set)
        thread.join(PATIENCE_S)


# what it may not tell


@pytest.fixture
def assembled(tmp_path):
    """Return a function that builds an installation of some settings; all is closed at the end."""
    with ExitStack() as stack:

        def assemble(toml="", **options):
            (tmp_path / "table.toml").write_text(f"[web]\nport = 0\n[exhibit]\n{toml}")
            settings = read_settings(tmp_path / "table.toml")
            return assemble_exhibit(settings, tmp_path, lambda: NOW, stack, read=lambda _: WELL, **options)

        yield assemble


HUB = '[hub]\naddress = "127.0.0.1"\nport = 1\ntable = "t01"\n'


@pytest.mark.parametrize(
    ("toml", "options", "links"),
    [
        (HUB, {}, 0),
        (f"report = false\n{HUB}", {}, 0),
        ("report = true\n", {}, 0),
        (f"report = true\n{HUB}", {"sim": True}, 0),
        (f"report = true\n{HUB}", {}, 1),
    ],
)
def test_only_the_host_switches_the_report_on(assembled, toml, options, links):
    assert sum(isinstance(one, ExhibitLink) for one in assembled(toml, **options).observers) == links


def test_files_that_are_missing_are_told_at_the_start(assembled):
    with pytest.raises(SettingsError, match="password"):
        assembled(f'report = true\n{HUB}password_file = "gone"\n')


def play(daemon, kind, seconds, choose, step_s=0.25):
    """Play a session of `kind` by touch; return the reports of each step and the stages seen."""
    exhibit, sent, stages = daemon.table.exhibit, [], set()
    for n in range(int(seconds / step_s)):
        t = NOW + n * step_s
        daemon.step(t)
        sent.append(encode(make_report(daemon.table, t)))
        stages.add(exhibit.stage.name)
        wanted = {"attract": "start", "choose": f"game:{kind}"}.get(exhibit.stage.name)
        offered = [wanted] if wanted else [one for one in exhibit.touches if one != "leave"]
        if exhibit.stage.name != "result" and offered:
            exhibit.touch(t, choose(offered), exhibit.turn)
    return sent, stages


@pytest.mark.parametrize("kind", WAYS_TO_PLAY)
@pytest.mark.parametrize("choose", [min, max])
def test_visitors_change_nothing_in_a_report(assembled, kind, choose):
    """The session is recorded and counted, and at each moment the report is that of an idle installation."""
    daemon = assembled("record = true\nusage = true\nhides = 3\n")
    sent, stages = play(daemon, kind, 240.0, choose)
    assert {"attract", "play", "result"} <= stages
    assert len(set(sent)) == 1
    assert decode(sent[0], Report).faults == ()


def test_the_time_of_a_session_is_not_told_by_a_fault_of_its_recording():
    def at_once(*faults):
        return exhibit_link._at_once(Report("a", "1", "open", faults, machine=WELL))

    assert at_once("recording", "link") == at_once("link") != at_once()


@pytest.mark.parametrize(
    ("toml", "do", "state"),
    [
        ("", "", "open"),
        ('opens = "09:00"\ncloses = "09:01"\n', "", "closed"),
        ("", "close", "closed_today"),
        ('season_from = "01-01"\nseason_to = "01-02"\n', "", "resting"),
        ("", "notice", "notice"),
    ],
)
def test_a_report_tells_whether_visitors_could_play(assembled, toml, do, state):
    daemon = assembled(toml)
    if do == "close":
        daemon.table.exhibit.close_today(NOW)
    if do == "notice":
        daemon.table.exhibit.set_notice(NOW, "Under repair")
    daemon.step(NOW)
    report = make_report(daemon.table, NOW)
    assert report.state == state
    assert b"Under repair" not in encode(report)
