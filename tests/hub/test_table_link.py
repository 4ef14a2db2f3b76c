"""A table's link to the hub: all arrives, the game never waits, and nothing hidden is sent."""

from contextlib import closing
from itertools import pairwise

import msgspec
import pytest

from pi_controller.hub.messages import LOST_S, MAX_MESSAGE_BYTES, TableReport, encode
from pi_controller.journal import file
from pi_controller.sensing.events import Button, HandIn, HandOut, Link
from pi_controller.web.requests import LOG_BURST


@pytest.fixture
def table(hall):
    return hall.table("t01", name="Table 1")


def stored(path):
    """Return the records of a journal."""
    with closing(file.open_read_only(path)) as db:
        return list(file.rows(db))


def touch(table, *pads):
    for pad in pads:
        table.feel(HandIn(table.clock(), pad), HandOut(table.clock(), pad))


def begin_hide(hall, table):
    """Begin a hide, and wait until the hub has all of before and shows its begin."""
    table.feel(Link(table.clock(), up=True), Button(table.clock(), "toss_a"))
    hall.await_records(table)


def test_hub_stores_and_shows_the_whole_game(hall, table):
    table.do("toss A", "found", "missed", "found")
    hall.await_records(table)
    assert list(hall.inbox.rows("t01", table.epoch)) == stored(table.path)
    hall.until(lambda: hall.shown("t01").view == table.table.view)
    assert (hall.shown("t01").name, hall.shown("t01").state) == ("Table 1", "ready")
    assert hall.inbox.alarms() == []


def test_game_arrives_after_the_line_was_cut(hall, table):
    table.do("toss A", "found")
    hall.await_records(table)
    hall.line.cut.add("t01")
    table.do("found", "missed", "found")
    hall.pass_time(60.0)
    hall.line.cut.clear()
    hall.await_records(table)
    assert list(hall.inbox.rows("t01", table.epoch)) == stored(table.path)


def test_records_are_stored_once_although_answers_are_lost(hall, table):
    table.do("toss A", "found")
    hall.await_records(table)
    hall.line.lost_answers.add("t01")
    table.do("found")
    hall.pass_time(10.0)
    assert hall.count_records(table) == table.journal.seq, "the hub has them although the table does not know"
    hall.line.lost_answers.clear()
    table.do("found", "missed", "found")
    hall.await_records(table)
    assert list(hall.inbox.rows("t01", table.epoch)) == stored(table.path)


def test_hub_tells_stopped_from_lost_tables(hall, table):
    hall.until(lambda: (one := hall.shown("t01")) and one.state == "ready")
    hall.line.cut.add("t01")
    cut = hall.clock()
    hall.until(lambda: hall.shown("t01").state == "lost")
    assert LOST_S - 1.0 <= hall.clock() - cut <= LOST_S + 2.0
    hall.line.cut.clear()
    hall.until(lambda: hall.shown("t01").state == "ready")
    table.disconnect()
    hall.until(lambda: hall.shown("t01").state == "stopped")


def test_table_without_news_reports_every_second(hall, table):
    sent = []
    hall.pass_time(5.0)
    hall.line.sent = lambda *report: sent.append(report)
    hall.pass_time(20.0)
    assert 18 <= len(sent) <= 21
    assert all(len(body) < 200 for _, body in sent)


def test_retries_back_off_and_are_spread(hall, table):
    hall.pass_time(2.0)
    tries = []
    hall.line.sent = lambda *_: tries.append(hall.loop.time())
    hall.line.lost_answers.add("t01")
    hall.pass_time(60.0)
    waits = [after - before for before, after in pairwise(tries)]
    assert max(waits[:2]) < 1.0
    assert min(waits[6:]) >= 1.0
    assert max(waits) <= 3.0 + 2 * 0.05
    assert len({round(wait, 2) for wait in waits[6:]}) > 3


def test_other_hub_at_same_address_gets_everything_again(hall, table):
    """As after a standby took over: nothing has to be started again."""
    table.do("toss A", "found")
    hall.await_records(table)
    hall.stop()
    hall.start()
    hall.until(lambda: (one := hall.shown("t01")) and one.view == table.table.view and one.health)
    table.do("missed", "found")
    hall.await_records(table)
    assert hall.inbox.alarms() == []


def test_health_has_rounded_disk_space_and_clock_error(hall):
    hall.table("t01", slow=600.0)
    shown = hall.until(lambda: (one := hall.shown("t01")) and one.health and one)
    free = shown.health.machine.free_bytes
    assert free is not None
    assert free % 10_000_000 == 0
    assert shown.clock_s == pytest.approx(-600.0, abs=1.0)


def test_hub_notes_last_contact_and_mat(hall, table):
    shown = hall.until(lambda: (one := hall.shown("t01")) and one.heard and one.view and one)
    assert shown.heard == pytest.approx(hall.clock(), abs=1.0)
    assert shown.mat is None, "no mat was heard"
    for up in (True, False):
        table.feel(Link(table.clock(), up=up))
        hall.until(lambda up=up: hall.shown("t01").mat is up)


def test_due_health_waits_for_end_of_hide(hall, table):
    begin_hide(hall, table)
    first = hall.until(lambda: hall.shown("t01").health)
    touch(table, 2)
    table.link._health_at = 0.0  # it is due
    touch(table, 3)
    hall.pass_time(5.0)
    assert hall.shown("t01").health == first
    table.disconnect()
    hall.until(lambda: hall.shown("t01").state == "stopped")
    assert hall.shown("t01").health == first


def test_records_of_a_hide_stay_at_the_table(hall, table):
    """A hand under a pad is in the journal, and not in the public view."""
    begin_hide(hall, table)
    before = table.journal.seq
    touch(table, 2, 3)
    assert table.journal.seq > before
    hall.until(lambda: hall.shown("t01").view == table.table.view)
    table.disconnect()  # sends what may be sent
    hall.until(lambda: hall.shown("t01").state == "stopped")
    assert hall.count_records(table) == before


def test_next_game_raises_no_alarm(hall, table):
    table.do("toss A", "found")
    epoch = table.epoch
    hall.await_records(table)
    table.do("close A forfeit gone")
    archived = table.journal.archive_path()
    table.do("new", "toss B")
    assert table.epoch != epoch, "another game has begun"
    hall.await_records(table)
    assert list(hall.inbox.rows("t01", epoch)) == stored(archived)
    assert hall.inbox.alarms() == []


def test_games_before_the_first_hub_are_not_sent(hall, table):
    table.disconnect()
    hall.stop()
    for path in hall.folder.glob("hub.sqlite*"):
        path.unlink()
    (hall.folder / "t01.sqlite.hub").unlink(missing_ok=True)
    table.do("toss A", "close A forfeit gone")
    epoch = table.epoch
    table.do("new", "toss B")
    assert table.epoch != epoch
    hall.start()
    table.reach = lambda: hall.line.client("t01")
    table.connect()
    hall.await_records(table)
    assert epoch not in hall.inbox.record_counts()["t01"]


def test_another_card_is_refused_and_not_merged(hall, table):
    table.do("toss A", "found")
    hall.await_records(table)
    table.close()
    other = hall.tables["t01"] = hall.linked(hall.folder / "other.sqlite", "t01")
    hall.until(lambda: hall.shown("t01").alarm == "replaced")
    assert hall.count_records(other) == 0


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "message"),
        (b"\xff{", 400, "message"),
        (b'{"since":"a","mood":"good"}', 400, "message"),
        (b'{"since":"a","records":{"kind":"events","epoch":"","records":[]}}', 400, "message"),
        (b"[" * 100_000, 400, "message"),
        (b" " * (MAX_MESSAGE_BYTES + 1), 413, "large"),
    ],
)
def test_unreadable_report_is_refused_and_named(hall, table, body, status, code):
    answer = hall.post("t02", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert ("messages of t02" in hall.director.notes) is (code == "message")
    table.do("toss A", "found")
    hall.await_records(table)


def test_undrawable_view_holds_up_no_report(hall, table):
    hall.pass_time(1.0)
    broken = msgspec.Raw(b'{"seq": 1, "game": "chess"}')
    assert hall.post("t01", encode(TableReport("aa", view=broken))).status_code == 200
    assert hall.shown("t01").view == table.table.view
    assert "messages of t01" in hall.director.notes


@pytest.mark.parametrize("token", ["x", "a" * 43, "é" * 10, "y" * 5000])
def test_report_with_a_wrong_token_is_refused(hall, table, token):
    answer = hall.post("t01", encode(TableReport("aa")), token.encode("latin-1"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "signed_out")


def test_wrong_tokens_log_a_line_a_minute(hall, table, caplog):
    for _ in range(300):
        hall.post("t01", encode(TableReport("aa")), "x")
    assert caplog.text.count("refused: 401") == LOG_BURST
    hall.pass_time(60.0)
    for _ in range(300):
        hall.post("t01", encode(TableReport("aa")), "x")
    assert caplog.text.count("refused: 401") == LOG_BURST + 1


def test_token_of_another_table_is_refused(hall, table):
    token = hall.tokens.issue("t02")
    assert hall.post("t01", encode(TableReport("aa")), token).status_code == 401
    assert hall.post("t02", encode(TableReport("aa")), token).status_code == 200
    hall.tokens.revoke("t02")
    assert hall.post("t02", encode(TableReport("aa")), token).status_code == 401


def test_flooding_table_is_slowed_and_delays_no_other(hall, table):
    token = hall.tokens.issue("t02")
    answers = [hall.post("t02", encode(TableReport("aa")), token) for _ in range(1000)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert float(refused[0].headers["retry-after"]) >= 1
    table.do("toss A")
    hall.await_records(table)
