"""The attack of `hostile.py`, with fewer records, on both stores."""

import random

import aiomqtt
import pytest
from brokers import VENUE, needs_mosquitto
from load_file import load_file

from pi_controller.hub.boards import format_judge_requests, tables_markup
from pi_controller.hub.hub import MAX_AT_ONCE_OF_TABLE, MAX_WAITING_OF_TABLE, FairQueue, TableStatus
from pi_controller.hub.messages import MessageError, decode, topic
from pi_controller.table.view import View

program = load_file("tests/hub/hostile.py")

pytestmark = needs_mosquitto


@pytest.mark.timeout(600)
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
@pytest.mark.slow
def test_hub_outlives_hostile_records_and_answers_honest_tables(tmp_path, store, request):
    server = request.getfixturevalue("postgres") if store == "postgresql" else None
    figures = program.hostile(tmp_path, records=400, seed=3, server=server)
    assert program.good(figures), figures
    assert figures["tracebacks"] == 0
    assert figures["ack_ms"]["p50"] < 1000, figures


def message(table, n):
    return aiomqtt.Message(topic(VENUE, table, "ev"), b"%d" % n, 1, False, n, None)


def test_flooding_table_delays_no_other_table():
    queue, taken = FairQueue(), []
    for n in range(3 * MAX_WAITING_OF_TABLE):
        queue.put(message("t01", n))
    for n in range(20):
        queue.put(message("t02", n))
        queue.put(message("t03", n))
    first = queue.take()
    taken += first
    assert [one.topic.value.count("t01") for one in first].count(1) == MAX_AT_ONCE_OF_TABLE
    assert {one.topic.value for one in first} == {topic(VENUE, table, "ev") for table in ("t01", "t02", "t03")}
    while queue:
        taken += queue.take()
    for table, count in (("t01", MAX_WAITING_OF_TABLE), ("t02", 20), ("t03", 20)):
        assert [int(one.payload) for one in taken if table in one.topic.value] == [*range(count)]


def test_strange_views_are_refused_or_rendered(tmp_path):
    _, views = program.played(tmp_path, 40)
    rng, shown = random.Random(1), 0
    for _ in range(300):
        try:
            view = decode(program.strange_view(views[-1], rng), View)
        except MessageError:
            continue
        table = TableStatus("t01", view=view, state="ready")
        assert "t01" in tables_markup((table,))
        format_judge_requests((table,))
        shown += 1
    assert shown > 50
