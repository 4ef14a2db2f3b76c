"""The console as its page asks it: a real table, people who sign in."""

import re
import time
from contextlib import ExitStack, closing

import msgspec
import pytest
from event_stream import Stream
from judge_house import PIN, House, cheap, say, sign_in
from travel import run
from visit import together

from pi_controller.config import Settings
from pi_controller.display.i18n import ENGLISH
from pi_controller.referee.facts import CommandIssued
from pi_controller.table.table_queue import TableQueue
from pi_controller.table.view import View
from pi_controller.web.accounts import Authenticator
from pi_controller.web.feed import Feed
from pi_controller.web.judge_api import SESSION_CHECK_S, JudgeApi
from pi_controller.web.judge_setup import JudgeConsole, welcome
from pi_controller.web.roles import HEAD
from pi_controller.web.sessions import Sessions
from pi_controller.web.sign_in import BURST
from pi_controller.web.users import FILE, Users

COMMAND = "/judge/command"
TOSS = {"do": "toss", "winner": "A"}
MISS = {"do": "hit", "found": False}


def state(web):
    answer = web.get("/judge/state.json")
    assert answer.status_code == 200
    return answer.json()


def error(answer, status, code):
    assert answer.status_code == status, answer.text
    told = answer.json()["error"]
    assert told["code"] == code
    assert told["message"]
    return told


def test_the_pages(house):
    with house.browser() as web:
        first = web.get("/judge")
        assert first.status_code == 200
        assert first.text == web.get("/judge/sign-in").text
        assert sign_in(web, "Jo").json() == {"ok": True, "name": "Jo", "role": "judge"}
        console = web.get("/judge")
        assert console.text != first.text
        assert "Jo" in console.text
        assert web.get("/judge/sign-in").headers["location"] == "/judge"


def test_signing_in_and_out(house):
    with house.browser() as web:
        error(web.get("/judge/state.json"), 401, "signed_out")
        told = error(sign_in(web, "Ann", "000000"), 401, "pin")
        assert told["wait_s"] == 0
        assert sign_in(web).status_code == 200
        assert state(web)["me"] == {"name": "Ann", "role": "head"}
        old = web.cookies["mat_session"]
        assert sign_in(web).status_code == 200
        assert web.cookies["mat_session"] != old
        with house.browser() as other:
            other.cookies.set("mat_session", old)
            error(other.get("/judge/state.json"), 401, "signed_out")
        assert web.post("/judge/sign-out", json={}).status_code == 200
        assert "mat_session" not in web.cookies
        error(web.get("/judge/state.json"), 401, "signed_out")


def test_the_state(house):
    with house.signed_in("Jo") as web:
        assert say(web, "key-toss", "action", action=TOSS).status_code == 200
        told = state(web)
        assert msgspec.convert(told["view"], View) == house.table.view
        assert "<span><b>0</b> sticks</span>" in told["regions"]["told"]
        assert told["legal"] == [dict(one) for one in house.table.game.legal_actions(house.table.story.state)]
        (hide,) = told["fouls"]
        assert (hide["hide"], hide["label"], hide["chosen"]) == ("this", "Hide 1: Big Coulee hides", True)
        (late,) = [one for one in hide["buttons"] if one["kind"] == "time"]
        assert (late["by"], late["label"]) == ("hitter", "The time to hit ran out")
        assert late["outcome"] == "For Big Coulee: 4 sticks, 0 points (Long Hollow: 0). The second hit is still to come"
        assert late["say"] == {"judge": "action", "action": {"do": "foul", "by": "hitter", "kind": "time"}}
        assert told["protest"] is None
        assert told["health"] == {
            "link": False, "note": "", "faults": [], "sensors": True, "board": "a table without a board",
        }  # fmt: skip
        assert abs(told["now"] - house.clock()) < 60
        assert told["console"]["undo"] == "Big Coulee won the toss"
        last = told["log"][-1]
        assert (last["who"], last["text"], last["undone"]) == ("Jo", "Big Coulee won the toss", False)


def test_the_judge_is_reminded_of_the_hiders(house):
    def facts():
        return [fact for fact in told() if "hides" in fact and "Next:" not in fact]

    def told():
        return re.findall(r"<li>(.*?)</li>", state(web)["regions"]["told"])

    with house.signed_in("Jo") as web:
        say(web, "key-toss", "action", action=TOSS)
        assert facts() == ["Big Coulee hides: a new hider. Shake out the moccasins."]
        say(web, "key-miss", "action", action=MISS)
        assert facts() == []
        say(web, "key-miss-again", "action", action=MISS)
        assert facts() == ["Big Coulee hides again: no change of hiders until the bead is found."]
        assert told()[0] == "Next: hide 2, Big Coulee hides"
        assert re.findall('class="what">([^<]*)<', state(web)["regions"]["past"]) == ["Missed · Missed"]


def test_undone_entries_stay_in_the_log(house):
    with house.signed_in("Jo") as web:
        say(web, "key-toss", "action", action=TOSS)
        say(web, "key-miss", "action", action=MISS)
        assert say(web, "key-undo", "undo", reason="misread").status_code == 200
        log = state(web)["log"]
        assert [(one["text"], one["undone"]) for one in log[-3:]] == [
            ("Big Coulee won the toss", False), ("Missed", True), ("Undone: misread", False),
        ]  # fmt: skip
        for n in range(15):
            say(web, f"key-hit-{n}", "action", action=MISS)
            say(web, f"key-undo-{n}", "undo")
        assert len(state(web)["log"]) == 20


def test_command_counts_once_and_stale_revision_is_refused(house):
    with house.signed_in("Jo") as web:
        seen = state(web)["view"]["revision"]
        first = say(web, "the-toss", "action", seen, action=TOSS).json()
        assert first == {"ok": True, "seq": house.table.journal.seq, "repeated": False, "revision": first["revision"]}
        again = say(web, "the-toss", "action", seen, action=TOSS).json()
        assert (again["repeated"], again["seq"]) == (True, first["seq"])
        assert "another command" in error(say(web, "the-toss", "undo"), 409, "key")["message"]
        told = error(say(web, "late-one", "action", seen, action=MISS), 409, "stale")
        assert "has changed" in told["message"]
        assert state(web)["view"]["revision"] == first["revision"]
        error(say(web, "not-now1", "action", first["revision"], action=TOSS), 409, "illegal")
        error(say(web, "no-such1", "action", first["revision"], action={"do": "dance"}), 400, "invalid")
    (called,) = house.facts(CommandIssued)
    assert (called.actor, called.role, called.key) == ("Jo", "judge", "the-toss")
    assert abs(called.t - house.clock()) < 60, "the table's time, not the sender's"


@pytest.mark.parametrize(
    "body",
    [
        {"key": "short", "call": {"judge": "undo"}},
        {"key": "x" * 65, "call": {"judge": "undo"}},
        {"key": "key key key", "call": {"judge": "undo"}},
        {"key": "good-key", "call": {"judge": "undo", "t": 5.0}},
        {"key": "good-key", "call": {"judge": "undo", "more": 1}},
        {"key": "good-key", "call": {"judge": "crown"}},
        {"key": "good-key", "call": {"judge": ["undo"]}},
        {"key": "good-key", "call": "undo"},
        {"key": "good-key", "call": {"judge": "undo", "reason": 7}},
        {"key": "good-key", "call": {"judge": "undo", "reason": "x" * 1001}},
        {"key": "good-key", "call": {"judge": "protest", "by": "C"}},
        {"key": "good-key", "call": {"judge": "clock", "running": 1}},
        {"key": "good-key", "call": {"judge": "action", "action": {"do": "hit", "found": True, "pad": 1e300}}},
        {"key": "good-key", "call": {"judge": "action", "action": {"do": [[[[[[[[1]]]]]]]]}}},
        {"key": "good-key", "call": {"judge": "undo"}, "expect": "0"},
        {"key": "good-key", "call": {"judge": "undo"}, "expect": True},
        {"key": "good-key", "call": {"judge": "undo"}, "actor": "Ann"},
        {"call": {"judge": "undo"}},
        {},
    ],
)
def test_invalid_command_is_refused(house, body):
    with house.signed_in() as web:
        error(web.post("/judge/command", json=body), 400, "invalid")
    assert house.table.journal.seq == 1


def test_two_judges_at_the_same_moment(house):
    """Fifty times two judges decide on the same picture at once: one of them is followed, the other is told so."""
    with house.signed_in("Jo") as web:
        say(web, "the-toss", "action", action=TOSS)
    order = []
    with house.signed_in("Jo") as jo, house.signed_in("Ann") as ann:
        for n in range(50):
            call = {"judge": "action", "action": MISS} if n % 2 == 0 else {"judge": "undo"}
            revision = state(jo)["view"]["revision"]
            asked = {
                key: (web, web.build_request("POST", COMMAND, json={"key": key, "expect": revision, "call": call}))
                for key, web in ((f"Jo-{n:06}", jo), (f"Ann-{n:06}", ann))
            }
            answers = dict(zip(asked, together(*asked.values()), strict=True))
            first, late = sorted(asked, key=lambda key: answers[key].status_code)
            order.append((first, answers[first].json()["seq"]))
            assert "has changed" in error(answers[late], 409, "stale")["message"]
    called = house.facts(CommandIssued)
    assert [one.key for one in called] == ["the-toss", *(key for key, _ in order)], "journalled is what was answered"
    assert [seq for _, seq in order] == sorted(seq for _, seq in order)


def test_the_events(house):
    with house.signed_in("Jo") as web, web.stream("GET", "/judge/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = Stream(response)
        first = msgspec.json.decode(events.next("judge")["data"])
        assert first["me"]["name"] == "Jo"
        assert set(first) == set(state(web))
        say(web, "the-toss", "action", action=TOSS)
        told = events.next("judge")
        assert int(told["id"]) == house.table.journal.seq
        assert msgspec.json.decode(told["data"])["view"]["scoreboard"]["turn"] == "A"
        say(web, "the-word", "protest", by="B", text="his sleeve")
        protest = msgspec.json.decode(events.next("judge")["data"])["protest"]
        assert protest == {"by": "B", "text": "his sleeve", "play_on": False, "t": protest["t"]}
        assert "sleeve" not in web.get("/view.json").text


def test_event_waits_for_picture_of_a_published_view(house, monkeypatch):
    """The table's thread does the one right after the other; the web's may look in between."""
    with house.signed_in("Jo") as web, web.stream("GET", "/judge/events") as response:
        events = Stream(response)
        events.next("judge")
        command_queue = house.judges.command_queue
        monkeypatch.setattr(command_queue, "update_picture", lambda *_: None)
        view = msgspec.structs.replace(house.table.view, note="the disk is nearly full")
        house.feed.publish(view)
        began = house.loop.time()
        house.loop.call_later(0.3, setattr, command_queue, "picture", command_queue.picture._replace(view=view))
        assert msgspec.json.decode(events.next("judge")["data"])["health"]["note"] == view.note
        assert house.loop.time() - began < SESSION_CHECK_S


def test_the_events_end_with_the_session(house):
    with house.signed_in("Jo") as web, web.stream("GET", "/judge/events") as response:
        events = Stream(response)
        events.next("judge")
        house.judges.users.remove(house.judges.users.find_by_name("Jo")[0].id)
        with pytest.raises(EOFError):
            events.next("judge")
    with house.signed_in("Ann") as web, web.stream("GET", "/judge/events") as response:
        events = Stream(response)
        events.next("judge")
        house.ahead += 1801
        with pytest.raises(EOFError):
            events.next("judge")


def test_stream_limit_ends_oldest_of_same_session(house):
    with house.signed_in("Sam") as other, house.signed_in("Jo") as web, ExitStack() as stack:
        first = Stream(stack.enter_context(other.stream("GET", "/judge/events")))
        first.next("judge")
        streams = []
        for _ in range(5):
            streams.append(Stream(stack.enter_context(web.stream("GET", "/judge/events"))))
            streams[-1].next("judge")
        with pytest.raises(EOFError):
            streams[0].next("judge")
        assert say(web, "key-stream", "protest", by="A", text="x").status_code == 200
        for one in (first, *streams[1:]):
            one.next("judge")


def test_too_many_commands(house):
    with house.signed_in("Sam") as web, house.signed_in("Jo") as other:
        found = [say(web, f"key-{n:06}", "undo").status_code for n in range(80)]
        assert found == [409] * int(BURST) + [429] * (80 - int(BURST))
        assert "wait 0.1 s" in error(say(web, "key-late", "undo"), 429, "often")["hint"]
        error(say(other, "key-other", "undo"), 409, "illegal")
        house.ahead += 1.0
        assert [say(web, f"key-{n:06}", "undo").status_code for n in range(11)] == [409] * 10 + [429]


def test_hanging_table_answers_busy_and_command_can_retry(house):
    with house.signed_in("Jo") as web:
        house.hangs = True
        told = error(say(web, "the-toss", "action", action=TOSS), 503, "busy")
        assert "does not answer" in told["message"]
        assert state(web)["view"]["phase"] == "toss"
        house.hangs = False
        assert say(web, "the-toss", "action", action=TOSS).json()["repeated"] is False


def test_a_halted_table(house, monkeypatch):
    from pi_controller.errors import JournalError

    def fail(*_):
        raise JournalError("journal: the disk is full", "make room")

    with house.signed_in("Jo") as web:
        monkeypatch.setattr(house.table.journal, "append", fail)
        monkeypatch.setattr(house.table.journal, "reopen", fail)
        told = error(say(web, "the-toss", "action", action=TOSS), 503, "journal")
        assert told == {"code": "journal", "message": "journal: the disk is full", "hint": "make room"}
        assert state(web)["view"]["phase"] == "halted"


def test_the_head_judge_sees_to_the_people(house):
    with house.signed_in() as web, house.browser() as other:
        told = web.post("/judge/people", json={"do": "add", "name": "Bo", "role": "judge"}).json()
        assert sign_in(other, "Bo", told["pin"]).json()["role"] == "judge"
        listed = web.get("/judge/people").json()
        assert [(one["name"], one["role"], one["sessions"]) for one in listed["people"]][3:] == [
            ("Ann", "head", 1), ("Bo", "judge", 1),
        ]  # fmt: skip
        assert told["pin"] not in web.get("/judge/people").text
        assert web.post("/judge/people", json={"do": "revoke", "id": told["id"]}).json() == {"ok": True, "ended": 1}
        error(other.get("/judge/state.json"), 401, "signed_out")
        pin = web.post("/judge/people", json={"do": "new_pin", "id": told["id"]}).json()["pin"]
        error(sign_in(other, "Bo", told["pin"]), 401, "pin")
        assert sign_in(other, "Bo", pin).status_code == 200
        assert web.post("/judge/people", json={"do": "remove", "id": told["id"]}).json() == {"ok": True}
        error(sign_in(other, "Bo", pin), 401, "pin")
        ann = next(one["id"] for one in listed["people"] if one["name"] == "Ann")
        error(web.post("/judge/people", json={"do": "remove", "id": ann}), 409, "people")
        error(web.post("/judge/people", json={"do": "remove", "id": 999}), 404, "missing")
        error(web.post("/judge/people", json={"do": "add", "name": "Bo", "role": "king"}), 400, "invalid")
        error(web.post("/judge/people", json={"do": "dance"}), 400, "invalid")


def test_sessions_outlive_a_restart_of_the_program(house, tmp_path):
    with house.signed_in("Jo") as web:
        say(web, "the-toss", "action", action=TOSS)
        cookie = web.cookies["mat_session"]
    house.close()
    again = House(tmp_path)
    try:
        with again.browser() as web:
            web.cookies.set("mat_session", cookie, path="/judge")
            assert state(web)["me"]["name"] == "Jo"
            assert say(web, "the-toss", "action", action=TOSS).json()["repeated"] is True
    finally:
        again.close()


def test_first_head_pin_is_printed_once_to_terminal(tmp_path):
    with closing(Users(tmp_path / FILE)) as users:
        authenticator = Authenticator(users, Sessions(users), cheap(), time.time)
        api = JudgeApi(TableQueue(), Feed(), authenticator, tmp_path / "table.sqlite", ENGLISH)
        judges = JudgeConsole(api.command_queue, users, [], authenticator, api)
        told = welcome(judges, shows=False)  # to a log
        assert "new-head" in told
        assert not re.search(r"\d{6}", told)
        assert users.list_users() == []
        (pin,) = re.findall(r"PIN (\d{6}) ", welcome(judges, shows=True))
        assert run(judges.authenticator.sign_in(HEAD, pin, "127.0.0.1", None)).person.role == "head"
        assert welcome(judges, shows=True) == ""


def test_without_judges_there_is_no_console(web):
    assert Settings().web.judges is False
    assert web.get("/judge").status_code == 404
    assert web.post("/judge/sign-in", json={"name": "Ann", "pin": PIN}).status_code == 405
    assert web.post("/judge/command", json={}).status_code == 405


def test_tournament_protest_stops_play_until_committee_rules(tmp_path):
    house = House(tmp_path, preset="tournament")
    try:
        with house.signed_in("Jo") as judge, house.signed_in("Com") as committee:
            assert say(judge, "the-toss", "action", action=TOSS).status_code == 200
            assert say(judge, "his-sleeve", "protest", by="B", text="his sleeve").status_code == 200
            assert state(judge)["rulings"] == []
            told = error(say(judge, "by-judge", "ruling", ruling="denied", reason="no"), 403, "role")
            assert told["hint"] == "call a member of the committee"
            assert state(committee)["rulings"] == ["upheld", "denied"]
            error(say(committee, "play-on-", "ruling", ruling="play_on", reason="later"), 409, "illegal")
            error(say(committee, "a-hit-of", "action", action={"do": "hit", "found": True}), 403, "role")
            assert house.table.view.held
            assert say(committee, "decided-", "ruling", ruling="denied", reason="nobody saw it").status_code == 200
            assert not house.table.view.held
    finally:
        house.close()


@pytest.mark.parametrize(("preset", "allowed"), [("home", ("Ann",)), ("tournament", ("Com", "Ann"))])
def test_roles_allowed_to_start_another_game(tmp_path, preset, allowed):
    house = House(tmp_path, preset=preset)
    closing = {"by": "B", "cause": "no_show", "reason": "called three times"}
    try:
        for n, name in enumerate(("Sam", "Jo", "Com", "Ann")):
            with house.signed_in(name) as web, house.signed_in("Ann") as head:
                offered = [one["id"] for one in state(web)["console"]["play"]["buttons"]]
                assert not any(one.startswith("new-game") for one in offered)
                error(say(head, f"too-soon{n}", "new_game"), 409, "illegal")
                say(head, f"closing-{n}", "close", **closing).raise_for_status()
                revision = state(web)["view"]["revision"]
                offered = [one["id"] for one in state(web)["console"]["play"]["buttons"]]
                answer = say(web, f"another-{n}", "new_game", revision, swapped=True)
                if name not in allowed:
                    error(answer, 403, "role")
                    assert offered == []
                    say(head, f"by-head-{n}", "new_game", revision, swapped=True).raise_for_status()
                else:
                    assert offered == ["new-game", "new-game-swapped"]
                    assert answer.json()["repeated"] is False
                    assert say(web, f"another-{n}", "new_game", revision, swapped=True).json()["repeated"] is True
                    told = state(head)
                    assert told["view"]["teams"] == {"A": "Big Coulee", "B": "Long Hollow"} if n % 2 else True
                    assert (told["log"][0]["who"], told["log"][0]["text"][:22]) == (name, "A new game was started")
                error(say(head, f"stale---{n}", "undo", revision), 409, "stale")
                assert house.table.view.phase == "toss"
        assert len(list(tmp_path.glob("table-*.sqlite"))) == 4
    finally:
        house.close()


def test_home_judge_may_rule_or_let_play_continue(house):
    with house.signed_in("Jo") as judge:
        assert say(judge, "the-toss", "action", action=TOSS).status_code == 200
        assert say(judge, "his-sleeve", "protest", by="B").status_code == 200
        assert state(judge)["rulings"] == ["upheld", "denied", "play_on"]
        assert say(judge, "play-on-", "ruling", ruling="play_on", reason="later").status_code == 200


def test_committee_closes_a_game_and_scorekeeper_may_not(house):
    closing = {"by": "B", "cause": "no_show", "reason": "called three times"}
    with house.signed_in("Sam") as scorekeeper, house.signed_in("Com") as committee:
        error(say(scorekeeper, "by-score", "close", **closing), 403, "role")
        error(say(committee, "nobody--", "close", **{**closing, "by": "C"}), 400, "invalid")
        assert 'data-keep="closing"' in state(committee)["regions"]["closing"]
        assert say(committee, "closed--", "close", **closing).status_code == 200
        assert (house.table.view.phase, house.table.view.winner) == ("over", "A")
        assert state(committee)["regions"]["closing"] == ""
        assert state(committee)["log"][-2]["text"] == "Long Hollow were not there when called: called three times"
