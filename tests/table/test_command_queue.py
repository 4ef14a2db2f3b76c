"""Commands from other threads, in the loop's own time and order."""

import asyncio
from concurrent.futures import Future

import pytest
from travel import run

from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee.facts import CommandIssued
from pi_controller.referee.judge import JudgeAction, JudgeProtest
from pi_controller.rules import registry
from pi_controller.table.commands import MAX_COMMANDS_PER_STEP, CommandFailedError, CommandQueue, CommandQueueError
from pi_controller.table.table import CommandResult, StaleCommandError, Table
from pi_controller.table.table_queue import TableQueue

TOSS = JudgeAction(0.0, {"do": "toss", "winner": "A"})
MISS = JudgeAction(0.0, {"do": "hit", "found": False})


@pytest.fixture
def table(memory_journal):
    game = registry.game("dakota", {})
    return Table(memory_journal(), game, {"A": "A", "B": "B"}, DakotaReferee(game, None, bytes))


async def asked(command_queue, *calls, key="key", timeout_s=10.0):
    """Ask all at once and give them the time to reach the desk."""
    said = [
        asyncio.ensure_future(command_queue.submit_call(call, "Ann", "judge", f"{key}-{n}", timeout_s=timeout_s))
        for n, call in enumerate(calls)
    ]
    await asyncio.sleep(0)
    return said


def test_command_gets_the_step_time(table):
    async def main():
        command_queue = TableQueue()
        (toss,) = await asked(command_queue, TOSS)
        assert command_queue.serve(table, 7.5) == 1
        return await toss

    done = run(main())
    assert done == CommandResult(table.journal.seq, repeated=False, revision=table.view.revision)
    (called,) = [fact for _, fact in table.journal.read() if isinstance(fact, CommandIssued)]
    assert (called.t, called.actor) == (7.5, "Ann")


def test_commands_run_in_order_few_per_step(table):
    async def main():
        command_queue = TableQueue()
        said = await asked(command_queue, TOSS, *[MISS] * (MAX_COMMANDS_PER_STEP + 1))
        assert [
            command_queue.serve(table, 1.0),
            command_queue.serve(table, 2.0),
            command_queue.serve(table, 3.0),
        ] == [
            MAX_COMMANDS_PER_STEP,
            2,
            0,
        ]
        return await asyncio.gather(*said)

    done = run(main())
    assert [one.seq for one in done] == sorted(one.seq for one in done)


def test_picture_is_updated_before_the_answer(table):
    async def main():
        command_queue = TableQueue()
        command_queue.update_picture(table)
        before = command_queue.picture
        (toss,) = await asked(command_queue, TOSS)
        seen = []
        toss.add_done_callback(lambda _: seen.append(command_queue.picture))
        command_queue.serve(table, 1.0, "the board is connected")
        await toss
        return before, seen[0]

    before, after = run(main())
    assert before.view.sheet["hider"] is None
    assert after.view.sheet["hider"] == "A"
    assert (after.board, after.last_undoable, after.protest) == (
        "the board is connected",
        table.story.undo_target.batch,
        None,
    )


def test_protest_text_is_in_picture_but_not_view(table):
    async def main():
        command_queue = TableQueue()
        said = await asked(command_queue, TOSS, JudgeProtest(0.0, "B", "his sleeve"))
        command_queue.serve(table, 1.0)
        await asyncio.gather(*said)
        return command_queue.picture

    picture = run(main())
    assert picture.protest.text == "his sleeve"
    assert "sleeve" not in repr(picture.view)


def test_the_tables_own_errors_come_back(table):
    async def main():
        command_queue = TableQueue()
        (toss,) = await asked(command_queue, TOSS)
        command_queue.serve(table, 1.0)
        await toss
        stale = asyncio.ensure_future(command_queue.submit_call(MISS, "Ann", "judge", "old", expect=0))
        await asyncio.sleep(0)
        command_queue.serve(table, 2.0)
        with pytest.raises(StaleCommandError):
            await stale

    run(main())


def test_a_full_desk_and_a_table_that_hangs(table):
    async def main():
        command_queue = TableQueue(most=2)
        said = await asked(command_queue, TOSS, MISS, MISS, timeout_s=2.0)
        results = await asyncio.gather(*said, return_exceptions=True)
        assert all(isinstance(one, CommandQueueError) for one in results)
        assert "too many" in results[2].message
        assert "does not answer" in results[0].message
        # it goes on: what nobody waits for any more is not done
        assert command_queue.serve(table, 1.0) == 0
        assert table.view.phase == "toss"

    run(main())


def test_repeated_key_in_queue_counts_once(table):
    async def main():
        command_queue = TableQueue()
        first = asyncio.ensure_future(command_queue.submit_call(TOSS, "Ann", "judge", "one"))
        again = asyncio.ensure_future(command_queue.submit_call(TOSS, "Ann", "judge", "one"))
        await asyncio.sleep(0)
        command_queue.serve(table, 1.0)
        return await first, await again

    first, again = run(main())
    assert (first.repeated, again.repeated) == (False, True)


def test_program_fault_is_answered_and_ends_nothing(caplog):
    queue = CommandQueue()
    broken, whole = queue.put(0), queue.put(2)
    assert queue.drain(lambda number: 1 / number) == 2
    assert isinstance(broken.exception(), CommandFailedError)
    assert whole.result() == 0.5
    assert "ZeroDivisionError" in caplog.text


def test_result_that_takes_longer_answers_later():
    queue, later = CommandQueue(), Future()
    answer = queue.put("play a sound")
    queue.drain(lambda _: later)
    assert not answer.done()
    later.set_result("heard")
    assert answer.result() == "heard"
