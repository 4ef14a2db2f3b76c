"""The machine's clock is changed under each program: durations go on, appointments follow, nothing is lost."""

import asyncio
import os
import ssl
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from hub_hall import TEAMS, HubHall
from judge_house import House, sign_in
from staff_rig import set_up

from pi_controller.config.model import HubSection
from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.orders import ScreenTouch
from pi_controller.exhibit.session_games import has_open_seal
from pi_controller.host.clock import SteadyClock
from pi_controller.host.notify import Notifier
from pi_controller.host.retention import DAY_S, Retention
from pi_controller.hub import table_link
from pi_controller.hub.run import HubRun
from pi_controller.hub.setup import CA, load_server_tls, write_certificates
from pi_controller.journal.convert import from_journal
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.record.model import Comment
from pi_controller.referee.commitment import CommitmentContext, check
from pi_controller.referee.facts import Commit, Reveal, WallClockSet
from pi_controller.referee.judge import JudgeAction
from pi_controller.runtime.run import TableDesk
from pi_controller.tournament import decisions as d
from pi_controller.web.event_log import read_event_log
from pi_controller.web.server import WebServer

NEAR_S, STEP_S = 3.0, 0.5


@contextmanager
def hub_run(machine):
    """Yield the hub of `machine` as `hub run` runs it, without a server."""
    run, closed = HubRun(machine.folder, lambda _: None, shows=False), asyncio.Event()
    with mock.patch.object(WebServer, "start"):
        task = machine.loop.create_task(run.run(closed))
        machine.loop.run(run.wait_until_listening())
    yield run
    closed.set()
    machine.loop.run(task)


def hub(machine):
    """Deadlines, sessions, wrong PINs and join codes are durations, also over a restart of the hub."""
    with hub_run(machine) as run:
        clock, signing, began = run.pages._clock, run.pages._signing.authenticator, machine.passed_s
        plan = d.Planned("cup", options={"points": 2}, calling="director", grace_s=400.0)
        teams = d.Entered(tuple(d.Entry(team) for team in TEAMS)), d.TeamsDrawn(order=TEAMS)
        for fact in (plan, *teams, d.Assigned("W1-1", "t01", "a" * 16)):
            run.director.decide(clock(), "Ann", fact)
        ann = run.pages.users.add("Ann", "head", "no PIN")
        token = signing.sessions.begin(ann, clock())
        for _ in range(4):
            signing.throttle.admit(ann.id, "", clock())
            machine.loop.advance(1.5)
        machine.loop.run(run.pages.join_server.open("t09"))
        yield
        machine.loop.advance(3.0)
        assert ("clock" in run.director.notes) == bool(machine.by_s)
        assert signing.throttle.wait(ann.id, "", clock()) == 0.0
        server = run.pages.join_server
        assert [one.table for one in server.joining.waiting] == ["t09"]
        machine.loop.advance(600.0)
        assert not server.joining.waiting, "ten minutes, not three years"
        assert machine.loop.run(signing.session(token, touch=False)) is not None
        passed, t = machine.passed_s, clock()
    with hub_run(machine) as run:
        assert run.pages._clock() == pytest.approx(t, abs=NEAR_S)
        (late,) = run.director.now.overdue_calls(t)
        assert run.director.now.call_deadline(late) - t == pytest.approx(400.0 - (passed - began), abs=NEAR_S)
        assert machine.loop.run(run.pages._signing.authenticator.session(token, touch=False)) is not None


def hub_round(machine):
    """A round of twenty minutes lasts twenty minutes, also for a table that reconnects."""
    with closing(HubHall(machine.folder, loop=machine.loop)) as hall:
        table = hall.table("t01", "slahal")
        options = {"minutes": 20}
        hall.plan(game="slahal", format="round_robin", clock="round", options=options, calling="automatic")
        hall.until(lambda: table.match)
        table.do("duo A yes B no")
        hall.do(d.MatchClockSet(1, running=True))
        began = machine.passed_s
        hall.until(lambda: table.table.view.ends_stood is None and table.table.view.ends)
        yield
        hall.set_s = machine.by_s
        table.disconnect()
        table.connect()
        hall.pass_time(5.0)
        left = 1200.0 - (machine.passed_s - began)
        assert hall.now.clock_of(1).ends - hall.clock() == pytest.approx(left, abs=NEAR_S)
        assert table.table.view.ends - table.clock() == pytest.approx(left, abs=NEAR_S)


class ClockHouse(House):
    """A table as `run` runs it, on the clock of a `Machine`."""

    def __init__(self, machine):
        self.steady = SteadyClock()
        super().__init__(machine.folder, loop=machine.loop)
        queue = self.judges.command_queue
        self.desk = TableDesk(self.daemon, self.clock, Notifier(), queue, ahead=self.steady.ahead)

    def clock(self):
        return self.steady()


def table_and_sign_in(machine):
    """Clocks and sessions of a table go on, and the journal has one note, which the record and the judge see."""
    with closing(ClockHouse(machine)) as house, house.browser() as web:
        assert sign_in(web).status_code == 200
        house.table.judge(JudgeAction(house.clock(), {"do": "toss", "winner": "A"}))
        before, t, began = house.table.story, house.clock(), machine.passed_s
        yield
        house.step()
        house.step()
        assert house.clock() - t == pytest.approx(machine.passed_s - began)
        assert house.table.story.state == before.state
        noted = house.facts(WallClockSet)
        lines = read_event_log(house.table.journal.path, "dakota", {}, ENGLISH).lines
        assert len([one for one in lines if "clock was set" in one.text]) == len(noted)
        assert 'id="pin"' not in web.get("/judge").text, "still signed in"
        assert [one.by_s for one in noted] == ([pytest.approx(machine.by_s)] if machine.by_s else [])
        record = from_journal(list(house.table.journal.read()), {})
        assert len([one for one in record.entries if isinstance(one, Comment) and "clock" in one.text]) == len(noted)
    assert verify_journal(house.settings.table.journal).whole


def visit(machine, clock, daemon, seconds):
    """Let visitors touch what is offered first for some time; return the stages seen."""
    exhibit, seen = daemon.table.exhibit, []
    for _ in range(round(seconds / STEP_S)):
        touches = [one for one in exhibit.touches if one not in ("about", "leave", "here")]
        if touches:
            daemon.table.orders.put(ScreenTouch(touches[0], exhibit.turn))
        daemon.step(clock())
        machine.loop.advance(STEP_S)
        seen.append(exhibit.stage.name)
    return seen


def assert_seals_open(path):
    """Assert that each seal of the journal was opened as sealed, or withdrawn."""
    assert not has_open_seal(path)
    with Journal(path, read_only=True) as journal:
        facts = [fact for _, fact in journal.read()]
    sealed = {fact.hide: fact.hash for fact in facts if isinstance(fact, Commit)}
    opened = [fact for fact in facts if isinstance(fact, Reveal)]
    assert opened
    for fact in opened:
        context = CommitmentContext(fact.table, fact.epoch, fact.event)
        assert check(sealed[fact.hide], "dakota", fact.hide, fact.pad, fact.nonce, context)


def exhibit(machine):
    """Visitors play on, their seals are opened, no recorded game is deleted, and the staff is told."""
    old = machine.folder / "exhibit-2035-03-01-191502-1a2b.sqlite"
    old.write_bytes(b"")
    os.utime(old, times=(machine.wall() - 3600.0,) * 2)
    with ExitStack() as stack:
        clock, toml = SteadyClock(), "record = true\npoints = 5\n"
        daemon = set_up(machine.folder, clock, stack, toml=toml, wall=time.time, clock_set=lambda _: True)
        assert visit(machine, clock, daemon, 30.0)[-1] == "play"
        game = daemon.table.exhibit.game
        yield
        assert set(visit(machine, clock, daemon, 15.0)) == {"play"}
        assert daemon.table.exhibit.game is game, "the visitors play the same game"
        facts = [fact for fact in daemon.table.staff.page.shown.machine if fact.name == "Clock"]
        assert len(facts) == len([fact for _, fact in game.table.journal.read() if isinstance(fact, WallClockSet)])
        assert len(facts) == bool(machine.by_s)
        daemon.table.exhibit.end_session(clock())
        assert old.exists()
    for path in machine.folder.glob("exhibit-2036-*-??????-????.sqlite"):
        assert_seals_open(path)


def opening_hours(machine):
    """The exhibit opens and closes by the time of day."""
    local = datetime.fromtimestamp(machine.wall(), UTC).astimezone()
    opens, closes = f"{local - timedelta(minutes=30):%H:%M}", f"{local + timedelta(minutes=30):%H:%M}"
    with ExitStack() as stack:
        clock, toml = SteadyClock(), f'opens = "{opens}"\ncloses = "{closes}"\n'
        daemon = set_up(machine.folder, clock, stack, toml=toml, wall=time.time, clock_set=lambda _: True)
        daemon.step(clock())
        assert daemon.table.exhibit.stage.name == "attract"
        yield
        for _ in range(5 * 60):
            machine.loop.advance(1.0)
            daemon.step(clock())
        now = f"{datetime.fromtimestamp(machine.wall(), UTC).astimezone():%H:%M}"
        assert daemon.table.exhibit.stage.name == ("attract" if opens <= now < closes else "rest")


def recorder(machine):
    """No recording of the last hour is deleted, and one of 31 days is, a day after the clock was set."""
    retention = Retention(machine.folder, "*.sensors", 30, 10**9)
    new, old = machine.folder / "new.sensors", machine.folder / "old.sensors"
    for path, age_s in ((new, 3600.0), (old, 29.5 * DAY_S)):
        path.write_bytes(b"")
        os.utime(path, times=(machine.wall() - age_s,) * 2)
    retention.make_room()
    yield
    machine.loop.advance(7200.0)
    retention.make_room()
    assert new.exists()
    assert old.exists()
    machine.loop.advance(1.5 * DAY_S)
    retention.make_room()
    assert not old.exists()


def certificate(machine):
    """A table trusts the venue's certificate whatever its dates are."""
    write_certificates(machine.folder, "hall", ["127.0.0.1"], datetime.fromtimestamp(machine.wall(), UTC))
    token = machine.folder / "token"
    token.write_text("secret")
    token.chmod(0o600)
    section = HubSection(address="127.0.0.1", table="t01", token_file=str(token), ca=str(machine.folder / CA))
    yield
    with mock.patch.object(table_link.httpx, "AsyncClient") as client:
        table_link.make_client(section)
    trusted = client.call_args.kwargs["verify"]
    ways = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        trusted.wrap_bio(*ways, server_hostname="127.0.0.1"),
        load_server_tls(machine.folder).wrap_bio(*reversed(ways), server_side=True),
    ]
    for side in sides * 2 + sides[:1]:
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    assert sides[0].version() == "TLSv1.3"


PROGRAMS = (hub, hub_round, table_and_sign_in, exhibit, opening_hours, recorder, certificate)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_goes_on_when_clock_changes(machine, program):
    with contextmanager(program)(machine):
        machine.set_clock()
