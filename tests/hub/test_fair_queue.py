"""The hub's queue of messages: a table that floods it delays itself alone."""

import aiomqtt
from linked_table import VENUE

from pi_controller.hub.hub import MAX_AT_ONCE_OF_TABLE, MAX_WAITING_OF_TABLE, FairQueue
from pi_controller.hub.messages import topic


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
