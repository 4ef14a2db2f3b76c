"""People, PINs, waits and sessions, with a clock that the test turns."""

import asyncio
import json
import re
import sqlite3
import stat
from contextlib import closing, suppress

import pytest
from judge_house import PIN, cheap
from travel import run

from pi_controller.cli import main
from pi_controller.referee.judge import JudgeCommand
from pi_controller.web import throttle
from pi_controller.web.accounts import Authenticator, BusyError, PinError
from pi_controller.web.judge_setup import new_head
from pi_controller.web.pin_hash import PinHasher, is_pin, new_pin
from pi_controller.web.roles import ROLES, has_right
from pi_controller.web.sessions import MAX_SESSION_S, MAX_SESSIONS_PER_PERSON, Sessions
from pi_controller.web.throttle import Throttle, TokenBuckets
from pi_controller.web.users import FILE, UserError, Users, UserStoreError, fold_name

ELSEWHERE = "10.0.0.66"


class Clock:
    def __init__(self):
        self.t = 1e9

    def __call__(self):
        return self.t


@pytest.fixture
def users(tmp_path):
    with closing(Users(tmp_path / FILE)) as users:
        yield users


class Office:
    """A door with Ann, a head judge, behind it."""

    def __init__(self, users):
        self.clock, self.users, self.pins = Clock(), users, cheap()
        self.ann = users.add("Ann", "head", self.pins.hash(PIN))
        self.sessions = Sessions(users)
        self.authenticator = Authenticator(users, self.sessions, self.pins, self.clock)

    def come(self, pin=PIN, address="10.0.0.7", device=None, name="Ann"):
        return run(self.authenticator.sign_in(name, pin, address, device))


@pytest.fixture
def office(users):
    return Office(users)


def wrong(office, times, **how):
    """Try `times` with wrong PINs, at once; return the last wait."""
    wait = 0
    for n in range(times):
        with pytest.raises(PinError) as caught:
            office.come(f"{n:06}", **how)
        wait = caught.value.wait_s
    return wait


def test_each_role_has_its_exact_rights():
    tags = {kind.__struct_config__.tag for kind in JudgeCommand.__args__}
    assert {tag for tag in tags if has_right("head", tag)} == tags
    assert {tag for tag in tags if has_right("scorekeeper", tag)} == {
        "action",
        "answer",
        "hidden",
        "undo",
        "close_void",
    }
    assert {tag for tag in tags if not has_right("judge", tag)} == {"set", "teams", "new_game"}
    assert not any(has_right(role, right) for role in ("viewer", "", "HEAD") for right in (*tags, "people", "raw"))
    assert not any(has_right(role, right) for role in ("scorekeeper", "judge") for right in ("people", "raw"))


def test_pin_is_random_and_stored_as_hash():
    assert len({new_pin() for _ in range(200)}) > 190
    assert all(is_pin(new_pin()) for _ in range(50))
    assert not any(map(is_pin, ("12345", "1" * 17, "12345a", "１２３４５６", "", " 123456")))
    pins = cheap()
    kept = pins.hash(PIN)
    assert kept.startswith("$argon2id$")
    assert PIN not in kept
    assert (pins.verify(kept, PIN), pins.verify(kept, "135791"), pins.verify(None, PIN)) == (True, False, False)
    assert pins.verify("no hash", PIN) is False


def test_pin_hash_uses_the_documented_argon2_cost():
    assert re.match(r"\$argon2id\$v=19\$m=19456,t=2,p=1\$", PinHasher().hash(PIN))


def test_users_file_is_private_without_pins_or_cookies(office, users):
    assert stat.S_IMODE(users.path.stat().st_mode) == 0o600
    came = office.come()
    content = users.path.read_bytes()
    assert b"Ann" in content
    for secret in (PIN, came.session, came.device):
        assert secret.encode() not in content


def test_names_are_compared_as_people_read_them(users):
    users.add("Žofie ", "judge", "x")
    assert users.find_by_name(" žofie")[0].name == "Žofie"
    assert fold_name("ＡＮＮ") == fold_name("ann")
    with pytest.raises(UserError, match="already"):
        users.add("ŽOFIE", "judge", "x")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 61, "a\u202eb"])
def test_invalid_name_is_refused(users, name):
    with pytest.raises(UserError):
        users.add(name, "judge", "x")


def test_the_last_head_judge_stays(office, users):
    with pytest.raises(UserError, match="role"):
        users.add("Bo", "king", "x")
    with pytest.raises(UserError, match="only head"):
        users.remove(office.ann.id)
    bo = users.add("Bo", "head", "x")
    users.remove(office.ann.id)
    assert users.list_users() == [bo]
    with pytest.raises(UserError, match="no such"):
        users.remove(office.ann.id)
    assert users.add("Ann", "judge", "x").id not in (office.ann.id, bo.id)


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "a").write_bytes(b"not a database" * 100)
    with closing(sqlite3.connect(tmp_path / "b")) as db, db:
        db.execute("CREATE TABLE other(x)")
    for name in ("a", "b", "missing/c"):
        with pytest.raises(UserStoreError):
            Users(tmp_path / name)


def test_a_full_disk_is_named(users):
    with users.reading() as db:
        db.execute("PRAGMA max_page_count = 1")  # SQLite takes it for the pages that there are

    def fill():
        for number in range(1000):
            users.add(f"{number}", "head", "x" * 500)

    with pytest.raises(UserStoreError, match="full"):
        fill()
    assert users.list_users(), "it can be read on"


def test_wait_doubles_after_the_free_tries(office):
    assert wrong(office, 2) == 0
    waits = []
    for _ in range(12):
        waits.append(wrong(office, 1))
        office.clock.t += throttle.MAX_WAIT_S
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]


def test_pin_is_not_hashed_during_the_wait(office):
    wrong(office, 3)
    hashed = office.pins.hashed
    with pytest.raises(BusyError):
        office.come(PIN)
    assert office.pins.hashed == hashed
    office.clock.t += 1
    assert office.come(PIN).person == office.ann
    assert wrong(office, 2) == 0, "it was right: its mistakes are forgotten"


def test_each_network_has_its_own_rate(office):
    for n in range(int(throttle.BURST)):
        office.users.add(f"{n}", "judge", "x")
        with pytest.raises(PinError, match="is wrong"):
            office.come(name=f"{n}", address=ELSEWHERE)
    with pytest.raises(BusyError):
        office.come(address=ELSEWHERE)
    assert office.come().person == office.ann
    office.clock.t += 1 / throttle.TRIES_A_SECOND
    assert office.come(address=ELSEWHERE).person == office.ann


def test_unknown_names_share_one_back_off(office):
    for n in range(throttle.FREE_TRIES):
        wrong(office, 1, name=f"Nobody {n}")
    before = office.pins.hashed
    with pytest.raises(BusyError):
        office.come(name="Somebody")
    assert office.pins.hashed == before


def test_own_sign_in_does_not_reset_other_tries(office):
    office.users.add("Bo", "judge", office.pins.hash("999999"))
    refused = 0
    for n in range(60):
        office.clock.t += 1
        with suppress(PinError):
            office.come("999999", address=ELSEWHERE, name="Bo")
        before = office.pins.hashed
        with pytest.raises(PinError):
            office.come(f"{n:06}", address=ELSEWHERE)
        refused += office.pins.hashed == before
    assert refused > 45


@pytest.mark.parametrize("sources", [1, 40, 1000])
def test_thousand_wrong_pins_do_not_lock_out_owner(office, sources):
    """From elsewhere, at once; meanwhile the owner comes from a known device."""
    device = office.come().device
    began = office.pins.hashed
    for n in range(1000):
        office.clock.t += 0.05
        with pytest.raises(PinError):
            office.come(f"{n:06}", address=f"10.{n % sources // 250}.{n % sources % 250}.1")
        if n % 250 == 0:
            assert office.come(device=device).person == office.ann
    assert office.pins.hashed - began < throttle.MAX_NETWORKS + 20
    if sources < throttle.MAX_NETWORKS:  # a new device, from another network
        assert office.come(address="10.9.0.9").person == office.ann
    else:
        office.clock.t += wait_of(office, "10.9.0.9")
        assert office.come(address="10.9.0.9").person == office.ann


def wait_of(office, address):
    """Return how long a right PIN from `address` must wait, s."""
    with pytest.raises(BusyError) as caught:
        office.come(address=address)
    return caught.value.wait_s


def test_many_addresses_share_the_names_back_off(office):
    for n in range(throttle.MAX_NETWORKS):
        wrong(office, 1, address=f"10.1.{n // 250}.{n % 250}")
    before = office.pins.hashed
    for n in range(24 * 60):
        office.clock.t += 60.0
        with pytest.raises(PinError):
            office.come("000000", address=f"10.2.{n // 250}.{n % 250}")
    assert office.pins.hashed - before <= 86_400 / throttle.MAX_WAIT_S + 1


def test_known_device_counts_for_its_own_person(office):
    device = office.come().device
    bo = office.users.add("Bo", "judge", office.pins.hash("999999"))
    assert office.users.has_device(office.ann.id, device)
    assert not office.users.has_device(bo.id, device)
    assert office.come(device=device).device == device
    other = office.come("999999", name="Bo", device=device).device
    assert other != device
    office.users.give_pin(office.ann.id, office.pins.hash("246810"))
    assert not office.users.has_device(office.ann.id, device), "a new PIN: everything begins anew"


def test_simultaneous_tries_share_the_free_tries(office):
    async def rush():
        tries = (office.authenticator.sign_in("Ann", f"{n:06}", ELSEWHERE, None) for n in range(30))
        return await asyncio.gather(*tries, return_exceptions=True)

    before = office.pins.hashed
    assert all(isinstance(one, PinError) for one in run(rush()))
    assert office.pins.hashed - before <= throttle.FREE_TRIES


def test_unknown_name_is_answered_like_wrong_pin(office, caplog):
    told = []
    for name in ("Ann", "Nobody"):
        before = office.pins.hashed
        with pytest.raises(PinError) as caught:
            office.come("000000", name=name)
        told.append((caught.value.message, caught.value.hint, caught.value.wait_s, office.pins.hashed - before))
    assert told[0] == told[1]
    assert "Nobody" not in caplog.text, "it may be a PIN in the wrong place"
    assert "000000" not in caplog.text


def test_known_browser_has_its_own_back_off(office):
    device = office.come().device
    assert wrong(office, 3, device=device) == 1
    with pytest.raises(BusyError):
        office.come(device=device)
    assert office.come().person == office.ann


def test_back_off_ends_after_a_day():
    counts = Throttle()
    for _ in range(throttle.FREE_TRIES):
        assert counts.admit("ann", ELSEWHERE, 1000.0) == 0
    assert counts.wait("ann", ELSEWHERE, 1000.5) == 0.5
    assert counts.wait("ann", ELSEWHERE, 1000.0 + throttle.FORGET_S + 1) == 0
    assert counts.wait("ann", ELSEWHERE, 10.0) == 0


def test_token_bucket_refills_to_its_burst():
    buckets = TokenBuckets(2.0, 3.0)
    assert [buckets.take("a", 0.0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.take("b", 0.0) == 0
    assert buckets.take("a", 0.5) == 0
    assert buckets.take("a", -5.0) > 0, "a clock that goes back gives nothing"
    assert [buckets.take("a", 100.0) for _ in range(4)] == [0, 0, 0, 0.5]


def test_token_buckets_are_bounded(monkeypatch):
    monkeypatch.setattr(throttle, "MAX_BUCKETS", 100)
    buckets = TokenBuckets(2.0, 3.0)
    for n in range(1000):
        buckets.take(n, 0.0)
    assert len(buckets) == 100


def test_session_ends_after_idle_and_maximum_time(office):
    token = office.come().session
    look = office.sessions.find
    office.clock.t += 1700
    assert look(token, office.clock.t, touch=False).person == office.ann, "who only looks stays no longer"
    office.clock.t += 101
    assert look(token, office.clock.t, touch=True) is None
    token = office.come().session
    for _ in range(25):
        office.clock.t += 1700
        assert look(token, office.clock.t, touch=True)
    office.clock.t += MAX_SESSION_S - 25 * 1700 + 1
    assert look(token, office.clock.t, touch=True) is None
    assert office.sessions.of_all(office.clock.t) == []


def test_session_and_its_idle_time_survive_restart(office, users):
    token = office.come().session
    office.clock.t += 1000
    office.sessions.find(token, office.clock.t, touch=True)
    again = Sessions(users)
    assert again.find(token, office.clock.t + 1700, touch=False).person == office.ann
    assert again.find(token, office.clock.t + 1900, touch=False) is None
    token = office.come().session
    assert Sessions(users).find(token, office.clock.t - 3600, touch=False) is None, "the clock was set back"


def test_sessions_are_few_listed_and_revoked(office, users):
    tokens = []
    for n in range(MAX_SESSIONS_PER_PERSON + 2):
        office.clock.t += 1
        tokens.append(office.come(address=f"10.0.1.{n}").session)
    alive = [token for token in tokens if office.sessions.find(token, office.clock.t, touch=False)]
    assert alive == tokens[2:]
    listed = office.sessions.of_all(office.clock.t)
    assert len(listed) == MAX_SESSIONS_PER_PERSON
    assert not any(one.id in token or token in one.id for one in listed for token in tokens)
    assert office.sessions.revoke(office.ann.id) == MAX_SESSIONS_PER_PERSON
    assert not any(office.sessions.find(token, office.clock.t, touch=True) for token in tokens)
    token = office.come(address="10.0.2.1").session
    users.add("Bo", "head", "x")
    users.remove(office.ann.id)
    assert office.sessions.find(token, office.clock.t, touch=True) is None


def test_a_new_head_from_the_shell(users):
    name, first = new_head(users, cheap())
    assert new_head(users, cheap())[0] == name
    assert len(users.list_users()) == 1
    assert not cheap().verify(users.find_by_name(name)[1], first)
    users.add("Jo", "judge", "x")
    with pytest.raises(UserError, match="is a judge"):
        new_head(users, cheap(), "Jo")


def test_the_verb(tmp_path, capsys):
    settings = tmp_path / "table.toml"
    settings.write_text(f'[table]\njournal = "{tmp_path}/j.sqlite"\n[web]\njudges = true\n')

    def judges(*words, status=0):
        assert main(["judges", "--settings", str(settings), *words]) == status
        return capsys.readouterr().out

    assert judges("list") == "nobody\n"
    pin = re.search(r"Head judge: (\d{6}) ", judges("new-head"))[1]
    judges("add", "Jo", "judge")
    with closing(Users(tmp_path / FILE)) as users:
        assert PinHasher().verify(users.find_by_name("head judge")[1], pin)
    assert judges("list") == "Head judge: head\nJo: judge\n"
    assert json.loads(judges("list", "--json"))[1] == {"name": "Jo", "role": "judge"}
    assert re.search(r"Jo: \d{6} ", judges("new-pin", "jo"))
    assert judges("revoke", "Jo") == "Jo: 0 sessions ended\n"
    judges("remove", "Jo")
    judges("remove", "Jo", status=2)
    judges("add", status=2)
    judges("add", "Jo", status=2)
    judges("crown", status=2)
    assert judges("list") == "Head judge: head\n"
    assert set(ROLES) == {"scorekeeper", "judge", "committee", "head"}


def test_judges_without_settings_says_defaults_are_used(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.toml").write_text("[web]\njudges = true\n")
    assert main(["judges", "list"]) == 0
    assert "without --settings FILE these are the defaults" in capsys.readouterr().err
    assert main(["judges", "--settings", "table.toml", "list"]) == 0
    assert capsys.readouterr().out == "nobody\n"


def test_accounts_of_another_version_are_refused_unchanged(tmp_path):
    path = tmp_path / FILE
    Users(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 2")
    before = path.read_bytes()
    with pytest.raises(UserStoreError, match="written by another version"):
        Users(path)
    assert path.read_bytes() == before
