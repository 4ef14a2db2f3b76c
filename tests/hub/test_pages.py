"""The hub's pages: what everybody sees, what the director decides, what is refused."""

import csv
import html
import io
import json
import re
import secrets
import sqlite3
from contextlib import ExitStack, closing
from datetime import datetime
from typing import get_args

import msgspec
import pytest
from event_stream import Stream
from hub_site import TEAMS, Site

from pi_controller.display.i18n import ENGLISH
from pi_controller.hub import decision_log
from pi_controller.hub.boards import Boards
from pi_controller.hub.decision_log import LATER_MATCH_CHOICES
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director, GameAtTable
from pi_controller.hub.hub import TableStatus
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.pages import LOOK_S, RIGHTS, BreakSent, break_times
from pi_controller.hub.store import StoreError
from pi_controller.table.view import QuestionView
from pi_controller.tournament import decisions as d
from pi_controller.tournament.timetable import Durations, ExpectedStart, Timetable


@pytest.fixture
def tables(view):
    asked = view(question=QuestionView("found", ("found", "missed"), (2,)))
    return (TableStatus("t01", "Table 1", "ready", view()), TableStatus("t02", "Table 2", "ready", asked))


def test_director_plans_draws_calls_and_enters_result(site, tables):
    site.drawn()
    site.pages.publish(tables)
    assert site.director.now.plan.options == {"points": "2"}
    assert site.decide(do="assign", match="W1-1", table="t01").status_code == 200
    assert "called to Table 1" in site.web.get("/").text
    assert site.decide(do="result", match="W1-1", winner=TEAMS[0]).status_code == 200
    assert [one["winner"] for one in site.web.get("/results.json").json()["results"]] == [TEAMS[0]]
    assert site.web.post("/director/undo", json={"key": secrets.token_hex(8)}).status_code == 200
    assert site.web.get("/results.json").json()["results"] == []
    assert site.web.get("/tournament.json").json()["teams"] == [*TEAMS]


def test_planned_groups_are_public_before_the_draw(site):
    site.sign_in()
    assert site.decide(do="plan", title="Wacipi", format="groups").status_code == 200
    found = site.web.get("/tournament.json")
    assert (found.status_code, found.json()["format"], found.json()["champion"]) == (200, "groups", None)


def test_match_form_offers_connected_tables_and_free_judge(site, tables, view):
    """In the order of names it would be Ann, who judges, and t00, which is not connected."""
    site.sign_in()
    for fact in (
        {"do": "plan", "title": "Wacipi", "judges": "hub"},
        {"do": "enter", "teams": [{"name": team} for team in TEAMS]},
        {"do": "appoint", "judges": ["Ann", "Bo"]},
        {"do": "draw", "order": [*TEAMS]},
    ):
        assert site.decide(**fact).status_code == 200
    site.pages.publish((TableStatus("t00", "Table 0", "lost", view()), *tables))
    assert site.decide(do="assign", match="W1-1", table="t01", judge="Ann").status_code == 200
    console = site.web.get("/director").text
    form = console[console.index('data-match="W1-2"') :]
    assert "Table 2</option>" in form
    assert "Table 0</option>" not in form, "it is not connected"
    assert form.index("<option>Bo") < form.index("<option>Ann")


def test_assign_to_busy_or_lost_table_is_refused(site, tables, view):
    site.drawn()
    busy = TableStatus("t03", "Table 3", "ready", view(free=False))
    site.pages.publish((*tables, TableStatus("t04", "Table 4", "lost", view()), busy))
    console = site.web.get("/director").text
    assert "To Table 1" in console
    assert "To Table 4" not in console
    assert "To Table 3" not in console
    reasons = ("t04", "Table 4 is not connected"), ("t03", "in progress at Table 3"), ("t05", "not connected")
    for table, why in reasons:
        refused = site.decide(do="assign", match="W1-1", table=table)
        assert (refused.status_code, why in refused.json()["error"]["message"]) == (409, True), refused.text
    assert not site.director.now.calls


def test_void_game_alert_names_table_and_remedy(site, tables, monkeypatch):
    site.drawn()
    site.pages.publish(tables)
    game = GameAtTable("t02", "W2-1", "a-1", TEAMS[:2], "changed", begun=True)
    monkeypatch.setattr(Director, "games_at_tables", lambda _: (game,))
    told = html.unescape(site.web.get("/director").text)
    assert "Table 2 is still playing a match that no longer counts: Winners' side, round 2, match 1" in told
    assert "Close game, take next match" in told
    refused = site.decide(do="assign", match=site.director.now.ready[0].id, table="t01").json()["error"]
    assert (TEAMS[0] in refused["message"], "Table 2" in refused["message"]) == (True, True)
    site.pages.publish((tables[0], msgspec.structs.replace(tables[1], state="lost")))
    assert "No matches here" in html.unescape(site.web.get("/director").text).split("is still playing")[1][:300]
    site.decide(do="table", table="t02", on=False)
    assert "is still playing" not in site.web.get("/director").text


def test_lost_table_alerts_until_back_or_taken_out(site, tables):
    site.drawn()
    site.pages.publish(tables)
    assert site.decide(do="assign", match="W1-1", table="t02").status_code == 200
    lost = msgspec.structs.replace(tables[1], state="lost")

    def shows(alert="Table 2 has no connection; it plays Winners' side, round 1, match 1"):
        return alert in html.unescape(site.web.get("/director").text)

    assert not shows()
    site.pages.publish((tables[0], lost))
    assert shows("Table 2 has no connection; a match was called there: Winners' side, round 1, match 1")
    assert not shows(), "it has not begun as far as the hub knows"
    site.director.decide(3.0, d.HUB, d.MatchStarted("W1-1"))
    site.pages.publish((tables[0], lost))
    assert shows()
    site.pages.publish(tables)
    assert not shows()
    site.pages.publish((msgspec.structs.replace(tables[0], state="lost"), tables[1]))
    assert not shows(), "a table without a match is only its card's business"
    site.pages.publish((tables[0], lost))
    site.decide(do="table", table="t02", on=False)
    assert not shows()


def test_refused_correction_names_choices_by_page_labels(site):
    site.drawn()
    for match, winner in (("W1-1", TEAMS[0]), ("W1-2", TEAMS[1]), ("W2-1", TEAMS[0])):
        assert site.decide(do="result", match=match, winner=winner).status_code == 200
    refused = site.decide(do="correct", match="W1-1", winner=TEAMS[3]).json()["error"]
    assert "Winners' side, round 2, match 1" in refused["message"]
    for value, label in LATER_MATCH_CHOICES:
        assert label in refused["hint"]
        assert f'"{value}"' not in refused["hint"]
    assert "If later matches have begun" in refused["hint"]


def test_log_names_teams_and_tables(site, tables):
    site.drawn()
    site.pages.publish(tables)
    site.decide(do="assign", match="W1-1", table="t01")
    site.decide(do="result", match="W1-1", winner=TEAMS[0])
    site.decide(do="withdraw", team=TEAMS[1], why="no_show")
    site.web.post("/director/undo", json={"key": secrets.token_hex(8)})
    log = html.unescape(re.search(r'<ol class="log".*?</ol>', site.web.get("/director").text)[0])
    loser = site.director.now.pairing("W1-1").teams[1]
    assert "called to Table 1" in log
    assert f"Winners' side, round 1, match 1: {TEAMS[0]} beats {loser}. Entered by hand." in log
    assert f"{TEAMS[1]} is out of the tournament (did not come)." in log
    assert "Undone: " in log
    assert not re.search(r"t01|no_show|withdraw\b", log)


def test_every_decision_has_a_sentence():
    facts = {fact for fact in get_args(d.Fact) if fact is not d.DecisionUndone}
    assert facts == {*decision_log._SENTENCES}


def test_update_that_changes_nothing_sends_its_number_alone(site):
    site.drawn()
    with site.web.stream("GET", "/events?team=1") as response:
        stream = Stream(response)
        assert int(stream.next("regions")["id"]) == site.pages.seq
        site.decide(do="announce", text="Soup is ready")
        update = stream.next("regions")
        assert (int(update["id"]), update["data"]) == (site.pages.seq, "{}")


def test_an_update_holds_the_parts_that_changed(site):
    site.drawn()
    with site.web.stream("GET", "/events?page=boards") as response:
        stream = Stream(response)
        assert {"notice", "tables", "queue"} <= json.loads(stream.next("regions")["data"]).keys()
        site.decide(do="announce", text="Soup is ready")
        changed = json.loads(stream.next("regions")["data"])
        assert "Soup is ready" in changed["notice"]
        assert not {"tables", "queue"} & changed.keys()


def test_page_is_rendered_once_for_all_watchers(site, monkeypatch):
    site.drawn()
    rendered = []
    render = site.pages._boards.regions
    monkeypatch.setattr(site.pages._boards, "regions", lambda page: rendered.append(page) or render(page))
    with ExitStack() as stack:
        opened = [stack.enter_context(site.web.stream("GET", "/events?page=boards")) for _ in range(20)]
        for stream in map(Stream, opened):
            assert stream.next("regions")
    assert rendered == ["boards"]
    site.loop.advance(2 * LOOK_S)
    rendered.clear()
    site.loop.advance(10 * LOOK_S)
    assert not rendered, "nobody watches it any more"


def test_the_head_of_the_decisions_is_published(site):
    site.drawn()
    seen = set()
    for text in ("Soup is ready", "No more soup"):
        site.decide(do="announce", text=text)
        with closing(sqlite3.connect(site.folder / "hub.sqlite")) as file:
            ((seq, its_hash),) = file.execute("SELECT seq, hash FROM decisions ORDER BY seq DESC LIMIT 1")
        assert site.web.get("/tournament.json").json()["decisions"] == {"seq": seq, "hash": its_hash}
        for path in ("/", "/results"):
            assert f"<code>{its_hash}</code>" in site.web.get(path).text
        seen.add(its_hash)
    assert len(seen) == 2


def test_repeated_command_counts_once(site):
    site.drawn()
    body = {"key": secrets.token_hex(8), "fact": {"do": "announce", "text": "Soup is ready"}}
    first, again = (site.web.post("/director/command", json=body).json() for _ in range(2))
    assert (first["repeated"], again["repeated"], first["seq"]) == (False, True, again["seq"])


def test_decisions_require_sign_in_and_matching_role(site):
    assert site.decide(do="announce", text="x").status_code == 401
    assert site.web.get("/director/events").status_code == 401
    assert "password" in site.web.get("/director").text
    site.drawn()
    assert site.decide(do="protest", match="W1-1", team=TEAMS[0], text="the sleeve").status_code == 200
    ruling = {"do": "ruling", "protest": 1, "ruling": "denied", "reason": "nothing was seen"}
    assert site.decide(**ruling).status_code == 403, "the committee decides"
    site.sign_in("committee", "Bea")
    assert site.decide(do="announce", text="x").status_code == 403
    assert site.decide(**ruling).status_code == 200


def test_cross_site_and_malformed_commands_are_refused(site):
    site.drawn()
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        for path in ("command", "undo", "teams"):
            assert site.web.post(f"/director/{path}", json={}, headers=headers).status_code == 403
    assert site.web.get("/", headers={"host": "evil.example"}).status_code == 400
    for fact in (
        {"do": "report"},
        {"do": "plan", "colour": 1},
        {"do": "nothing"},
        {},
        {"do": "undo", "taken_back": [1]},
    ):
        assert site.decide(**fact).status_code in (400, 403)
    assert site.decide(do="enter", teams=[{"name": "x" * 10_000}]).status_code in (409, 400)


def test_names_stay_text_on_pages_and_in_spreadsheets(site, tables):
    site.drawn()
    site.pages.publish(tables)
    site.decide(do="result", match="W1-1", winner=TEAMS[3])
    site.decide(do="announce", text="<script>alert(1)</script>")
    for path in ("/", "/bracket", "/team/3", "/director"):
        page = site.web.get(path)
        assert page.status_code == 200
        assert "<b>Buffalo" not in page.text
        assert "<script>alert" not in page.text
    rows = list(csv.reader(io.StringIO(site.web.get("/results.csv").text.removeprefix("\ufeff"))))
    assert rows[1][4] == "'=Enemy Swim", "no formula"
    assert site.web.get("/team/99").status_code == 404


def test_stream_shows_table_chosen_by_director(site, tables, view):
    site.drawn()
    site.decide(do="stream", table="t02")
    site.pages.publish((tables[0], TableStatus("t02", "Table 2", "ready", view(teams={"A": "Veblen", "B": "Peever"}))))
    assert "Veblen" in site.stream("/overlay").text


def test_programs_get_json_and_csv(site):
    for path in ("tournament.json", "results.json", "results.csv", "tables.json"):
        assert site.web.get(f"/{path}").status_code == 200


def test_restart_keeps_tournament_and_changed_store_is_refused(tmp_path):
    site = Site(tmp_path)
    site.drawn()
    site.decide(do="result", match="W1-1", winner=TEAMS[0])
    before = site.web.get("/tournament.json").json()
    site.close()
    again = Site(tmp_path)
    assert again.web.get("/tournament.json").json() == before
    again.close()
    with closing(sqlite3.connect(tmp_path / "hub.sqlite")) as file:
        file.execute("DROP TRIGGER decisions_stay")
        file.execute("UPDATE decisions SET body = replace(body, 'Big Coulee', 'Long Hollow') WHERE seq = 4")
        file.commit()
    with TournamentLog(tmp_path / "hub.sqlite") as log, pytest.raises(StoreError, match="decision 4 was changed"):
        list(log.read())


@pytest.mark.parametrize("name", ["Big\x1b[31m Coulee", "Big \u202eCoulee", "Big \u2067Coulee", "\u200d", "\u3164"])
def test_name_with_invisible_characters_is_refused_everywhere(site, name):
    site.sign_in()
    site.decide(do="plan", title="Wacipi")
    answers = [
        site.decide(do="enter", teams=[{"name": name}]),
        site.web.post("/director/teams", content=f"{name}\n".encode()),
    ]
    if len(name) > 1:
        answers += [
            site.decide(do="enter", teams=[{"name": "Long Hollow", "players": [name]}]),
            site.decide(do="appoint", judges=[name]),
        ]
    for answered in answers:
        assert answered.status_code in (400, 409), answered.text
        assert "\x1b" not in answered.json()["error"]["message"]
    assert (site.director.now.entered, site.director.now.registration.judges) == ((), ())


def test_every_decision_has_a_button_or_form(site, tables):
    """Over a tournament's course; a command without one could not be given by a director with a phone."""
    site.sign_in()
    site.pages.publish(tables)
    found = set()

    def look():
        page = html.unescape(html.unescape(site.web.get("/director").text))
        found.update(re.findall(r'data-do="(\w+)"', page), re.findall(r'"do": "(\w+)"', page))
        found.update(["undo"] if "data-undo" in page else [])

    look()
    lahal = {"game": "slahal", "format": "round_robin", "calling": "director"}
    assert site.decide(do="plan", title="Wacipi", **lahal).status_code == 200
    assert site.director.now.plan.clock == "round", "as the Lahal sheet has it"
    teams = [{"name": team, "players": [f"{n}a", f"{n}b"], "leader": f"{n}a"} for n, team in enumerate(TEAMS)]
    for fact in ({"do": "enter", "teams": teams}, {"do": "appoint", "judges": ["Jo"]}):
        assert site.decide(**fact).status_code == 200
    look()
    assert site.decide(do="draw", order=[*TEAMS]).status_code == 200
    look()
    match, other = site.director.now.pairing("R1-1"), site.director.now.pairing("R1-2")
    for fact in (
        {"do": "assign", "match": "R1-1", "table": "t01"},
        {"do": "clock", "round": 1, "running": True},
        {"do": "protest", "match": "R1-1", "team": match.teams[0], "text": "the sleeve"},
        {"do": "absent", "player": "1b"},
        {"do": "break", "until": "14:00"},
        {"do": "result", "match": "R1-2", "winner": other.teams[0], "sticks": {other.teams[0]: 7, other.teams[1]: 4}},
    ):
        assert site.decide(**fact).status_code == 200, fact
    order = site.director.now.current_order(site.director.now.calls["R1-1"])
    look()
    site.director.decide(9.0, d.HUB, d.MatchStarted("R1-1"))
    look()
    site.director.decide(9.0, d.HUB, d.Reported("R1-1", order, "t01", "ab" * 16, 9, match.teams[0]))
    look()
    assert site.decide(do="withdraw", team=TEAMS[3]).status_code == 200
    look()
    assert RIGHTS["head"] | RIGHTS["committee"] <= found


def test_round_not_begun_is_not_timed_out(tmp_path):
    log, inbox = TournamentLog(tmp_path / "hub.sqlite"), Inbox(tmp_path / "hub.sqlite")
    director, t = Director(log, inbox), [1_000.0]
    shown = Boards(director, lambda: t[0], ENGLISH)
    teams = tuple(d.Entry(name) for name in TEAMS)
    planned = d.Planned("a" * 16, game="slahal", format="round_robin", clock="round", options={"minutes": 1})
    try:
        for fact in (planned, d.Entered(teams), d.TeamsDrawn(order=TEAMS), d.MatchClockSet(1, running=True)):
            director.decide(t[0], "Ann", fact)
        t[0] += 61.0
        assert "round 1 is up" in shown.regions("director")["clock_buttons"]
        for match, winner in (("R1-1", TEAMS[0]), ("R1-2", TEAMS[1])):
            director.decide(t[0], "Ann", d.Result(match, winner))
        buttons = shown.regions("director")["clock_buttons"]
        assert "&#34;round&#34;: 2" in buttons
        assert "is up" not in buttons
    finally:
        log.close()
        inbox.close()


def test_call_posts_deadline_and_alerts_director_after_it(site, tables, monkeypatch):
    site.drawn()
    site.pages.publish(tables)
    site.decide(do="assign", match="W1-1", table="t01")
    call = site.director.now.calls["W1-1"]
    posted = f"{datetime.fromtimestamp(call.t + d.DEFAULT_GRACE_S).astimezone():%H:%M}"
    number = site.web.get("/tournament.json").json()["teams"].index(call.teams[0]) + 1
    assert posted in site.web.get("/").text
    assert posted in site.web.get(f"/team/{number}").text
    late = "have not started in time"
    assert late not in site.web.get("/director").text
    monkeypatch.setattr(site.pages._boards, "_clock", lambda: call.t + d.DEFAULT_GRACE_S + 1)
    told = html.unescape(site.web.get("/director").text)
    assert late in told
    assert "Table 1" in told[told.index(late) - 200 : told.index(late)]
    monkeypatch.undo()
    site.director.decide(call.t + 9.0, d.HUB, d.MatchStarted("W1-1"))
    assert posted not in site.web.get("/").text


def test_boards_and_team_page_show_expected_start(site, tables):
    site.drawn()
    site.pages.publish(tables[:1])
    assert site.decide(do="assign", match="W1-1", table="t01").status_code == 200
    assert "Table 1 in about 25 minutes" in site.web.get("/").text
    assert "Table 1 in about 25 minutes" in site.web.get("/team/2").text
    assert "Next: match" not in site.web.get("/team/1").text, "it is called"


@pytest.mark.parametrize(
    ("table", "minutes", "told"),
    [
        ("t01", (1, 0, 3), "Table 1 very soon"),
        ("t01", (12, 8, 18), "Table 1 in about 10 minutes"),
        ("", (12, 8, 18), "in about 10 minutes"),
        ("t01", (12, 5, 25), "Table 1 in about 10 minutes, between 09:05 and 09:25"),
        ("t01", (12, -5, 25), "Table 1 in about 10 minutes, between 09:00 and 09:25"),
        ("t01", (71, 60, 90), "Table 1 at about 10:10"),
    ],
)
def test_expected_start_is_as_precise_as_its_range(site, tables, monkeypatch, table, minutes, told):
    t = datetime.fromisoformat("2026-07-01T09:00").astimezone().timestamp()
    monkeypatch.setattr(site.pages._boards, "_clock", lambda: t)
    site.pages.publish(tables)
    expected, earliest, latest = (t + 60 * one for one in minutes)
    assert site.pages._boards.describe_start(ExpectedStart("W1-1", table, earliest, expected, latest)) == told


def test_missing_check_in_shows_to_director_and_announcer(site):
    site.sign_in()
    site.decide(do="plan", title="Wacipi")
    site.decide(do="enter", teams=[{"name": team} for team in TEAMS])
    assert "Not checked in" not in site.web.get("/director").text, "nobody is checked in here"
    site.sign_in("scorekeeper", "Kim")
    for team in TEAMS[:3]:
        assert site.decide(do="check_in", team=team, here=True).status_code == 200
    assert f"Not checked in: {TEAMS[3]}." in html.unescape(site.web.get("/director").text)
    assert site.decide(do="draw", order=[*TEAMS]).status_code == 403, "a scorekeeper checks in and draws nothing"
    site.sign_in("head", "Bea")
    assert site.decide(do="draw", order=[*TEAMS]).status_code == 200
    late = [team for match in site.director.now.ready for team in match.teams if team == TEAMS[3]]
    assert site.web.get("/announcer").text.count("not checked in") == len(late) == 1
    site.decide(do="check_in", team=TEAMS[3], here=True)
    assert "not checked in" not in site.web.get("/announcer").text


def test_start_list_has_undecided_matches_with_players(site, tables):
    site.sign_in()
    site.pages.publish(tables)
    site.decide(do="plan", title="Wacipi", calling="director")
    site.decide(do="enter", teams=[{"name": team, "players": [f"{team} a", f"{team} b"]} for team in TEAMS])
    assert "No match is waiting" in site.web.get("/start-list").text
    site.decide(do="draw", order=[*TEAMS])
    site.decide(do="assign", match="W1-2", table="t01")
    listed = html.unescape(site.web.get("/start-list").text)
    rows = [row for row in re.findall(r"<tr>.*?</tr>", listed) if "<td>Winners" in row]
    assert [re.findall(r"match (\d)</td>", row) for row in rows] == [["2"], ["1"]], "a called match first"
    assert "Table 1" in rows[0]
    first, second = site.director.now.pairing("W1-2").teams
    assert all(f"{team} {player}" in rows[0] for team in (first, second) for player in "ab")
    for n, match in enumerate(("W1-1", "W1-2")):
        winner = site.director.now.pairing(match).teams[0]
        assert site.decide(do="result", match=match, winner=winner).status_code == 200
        assert f"match {n + 1}</td>" not in site.web.get("/start-list").text
        results = site.web.get("/results").text
        assert results.split("Every game")[-1].count("<td>Winners") == n + 1
        assert 'id="print"' in results
        assert site.web.get("/static/print.js").status_code == 200


def test_estimate_names_its_durations_and_match_count(site):
    played = Durations("dakota", "double", 7, 1_320.0, (600.0, 1_320.0, 1_800.0))
    told = site.pages._boards.describe_durations(Timetable(played, {}))
    assert "22 minutes (usually 9 to 33)" in told
    assert "7 matches" in told


def test_day_line_estimates_from_measured_matches_alone(site, tables):
    site.sign_in()
    site.pages.publish(tables)
    teams = [f"Spirit Lake {n}" for n in range(16)]
    for fact in (
        {"do": "plan", "title": "Wacipi", "format": "single", "calling": "director"},
        {"do": "enter", "teams": [{"name": team} for team in teams]},
        {"do": "draw", "order": teams},
    ):
        assert site.decide(**fact).status_code == 200
    told = [site.pages._boards.describe_day()]
    for n in range(5):
        match, t = site.director.now.ready[0], 10_000.0 * (n + 1)
        site.director.decide(t, "Ann", d.Assigned(match.id, "t01", f"{n:016x}"))
        site.director.decide(t + 1_200.0, "Ann", d.Result(match.id, match.teams[0]))
        told.append(site.pages._boards.describe_day())
    assert told[0] == "Round 1 of 4, 0 of 15 matches played."
    assert told[2] == "Round 1 of 4, 2 of 15 matches played."
    assert told[3] == "Round 1 of 4, 3 of 15 matches played, about 2 h left.", "12 of 20 minutes at two tables"
    assert told[5] == "Round 1 of 4, 5 of 15 matches played, about 1.5 h left."
    line = re.search(r'<p class="day-line" data-region="day">(.*?)</p>', site.web.get("/director").text)
    assert line[1] == told[5]
    now = site.clock()
    site.director.decide(now, "Ann", d.BreakPlanned(now + 600.0, now + 600.0 + 3_600.0))
    assert site.pages._boards.describe_day().endswith("about 2.5 h left.")
    site.director.decide(now, "Ann", d.BreakCancelled(1))
    for _ in range(8):
        match = site.director.now.ready[0]
        site.director.decide(90_000.0, "Ann", d.Result(match.id, match.teams[0]))
    assert site.pages._boards.describe_day() == "Round 3 of 4, 13 of 15 matches played, about 40 minutes left."


def test_break_is_announced_and_can_be_cancelled(site, tables):
    site.drawn()
    site.pages.publish(tables)
    assert site.decide(do="break", until="14:00", why="Grand entry").status_code == 200
    (planned,) = site.director.now.breaks
    assert datetime.fromtimestamp(planned.ends).astimezone().strftime("%H:%M") == "14:00"
    for page in ("/", "/team/1"):
        assert "no match is called before 14:00: Grand entry" in site.web.get(page).text
    assert "Grand entry" in site.web.get("/director").text
    assert site.decide(do="break", until="soon").status_code == 400
    assert site.decide(do="no_break", number=1).status_code == 200
    assert "14:00" not in site.web.get("/team/1").text


@pytest.mark.parametrize(
    ("now", "given", "hours"),
    [
        ("09:00", BreakSent(begins="12:00", until="13:00"), (3, 4)),
        ("12:30", BreakSent(begins="12:00", until="13:00"), (-0.5, 0.5)),
        ("20:00", BreakSent(begins="22:00", until="09:00"), (2, 13)),
        ("09:00", BreakSent(until="14:00"), (0, 5)),
    ],
)
def test_break_times_are_the_next_such_times(now, given, hours):
    t = datetime.fromisoformat(f"2026-07-01T{now}").astimezone().timestamp()
    begins, ends = break_times(given, t)
    assert (begins - t, ends - t) == tuple(3_600 * one for one in hours)


def test_every_page_handles_match_without_winner(site, tables):
    site.drawn()
    site.pages.publish(tables)
    first, second, third, fourth = TEAMS
    for team in (first, fourth):
        assert site.decide(do="withdraw", team=team, why="no_show").status_code == 200
    assert ">nobody<" in site.web.get("/bracket").text
    assert "no winner" in site.web.get("/results").text
    for page in ("/", "/hall", "/team/1", "/team/2", "/start-list", "/announcer", "/director", "/results.csv"):
        assert site.web.get(page).status_code == 200
    assert site.decide(do="result", match="W1-2", winner=second).status_code == 200
    assert "<bdi></bdi>" not in site.web.get("/team/2").text
    for team in (second, third):
        assert site.decide(do="withdraw", team=team, why="disqualified").status_code == 200
    told = site.web.get("/tournament.json").json()
    assert (told["champion"], told["over"]) == (None, True)
    assert "There is no winner." in site.web.get("/").text


def test_protest_about_a_counted_result_is_offered(site, tables):
    site.drawn()
    site.pages.publish(tables)
    for match, winner in (("W1-1", TEAMS[0]), ("W1-2", TEAMS[1])):
        assert site.decide(do="result", match=match, winner=winner).status_code == 200
    assert f'<option value="W1-1" data-team="{TEAMS[3]}">' in site.web.get("/director").text
    assert site.decide(do="protest", match="W1-1", team=TEAMS[3], text="the sleeve").status_code == 200
    assert "a protest is not decided" in site.web.get("/").text
    refused = site.decide(do="assign", match="W2-1", table="t01")
    assert (refused.status_code, "not decided" in refused.json()["error"]["message"]) == (409, True)


class Hanging:
    """A lock that is held while the store hangs."""

    def __enter__(self):
        raise AssertionError("a page waits for the store")

    def __exit__(self, *_):
        return

    def acquire(self, *, blocking):
        assert not blocking
        return False


def test_pages_wait_for_no_store_that_hangs(site):
    site.drawn()
    site.director._lock = site.inbox._lock = site.pages._tokens._lock = Hanging()
    site.loop.advance(2.0)
    for page in ("", "bracket", "hall", "announcer", "start-list", "results", "team/1", "results.csv", "director"):
        assert site.web.get(f"/{page}").status_code == 200, page
    report = site.browser().post("/api/tables/t01/records", content=b"{}")
    assert report.status_code != 500
