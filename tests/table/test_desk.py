"""The desk: commands from another thread, in the table's own time and order."""

import asyncio
import threading

import pytest

from pi_controller.games import registry
from pi_controller.referee.facts import Called
from pi_controller.referee.judge import JudgeAction, JudgeProtest
from pi_controller.referee.referee import Referee
from pi_controller.table.command import StaleError
from pi_controller.table.desk import A_STEP, Desk, DeskError, Settled
from pi_controller.table.table import Table

TOSS = JudgeAction(0.0, {"do": "toss", "winner": "A"})
MISS = JudgeAction(0.0, {"do": "hit", "found": False})


@pytest.fixture
def table(memory_journal):
    game = registry.game("dakota", {})
    return Table(memory_journal(), game, {"A": "A", "B": "B"}, Referee(game, None, bytes))


async def asked(desk, *calls, key="key", timeout_s=10.0):
    """Ask all at once and give them the time to reach the desk."""
    said = [
        asyncio.ensure_future(desk.ask(call, "Ann", "judge", f"{key}-{n}", timeout_s=timeout_s))
        for n, call in enumerate(calls)
    ]
    await asyncio.sleep(0)
    return said


def test_the_table_says_when_it_was_said(table):
    async def main():
        desk = Desk()
        (toss,) = await asked(desk, TOSS)
        assert desk.serve(table, 7.5) == 1
        return await toss

    done = asyncio.run(main())
    assert done == Settled(table.journal.seq, repeated=False, stand=table.view.stand)
    (called,) = [fact for _, fact in table.journal.read() if isinstance(fact, Called)]
    assert (called.t, called.actor) == (7.5, "Ann")


def test_commands_are_taken_in_order_a_few_a_step(table):
    async def main():
        desk = Desk()
        said = await asked(desk, TOSS, *[MISS] * (A_STEP + 1))
        assert [desk.serve(table, 1.0), desk.serve(table, 2.0), desk.serve(table, 3.0)] == [A_STEP, 2, 0]
        return await asyncio.gather(*said)

    done = asyncio.run(main())
    assert [one.seq for one in done] == sorted(one.seq for one in done)


def test_whoever_is_answered_sees_what_came_of_it(table):
    async def main():
        desk = Desk()
        desk.show(table)
        before = desk.picture
        (toss,) = await asked(desk, TOSS)
        seen = []
        toss.add_done_callback(lambda _: seen.append(desk.picture))
        desk.serve(table, 1.0, "the board is connected")
        await toss
        return before, seen[0]

    before, after = asyncio.run(main())
    assert before.view.hider is None
    assert after.view.hider == "A"
    assert (after.board, after.mark, after.protest) == ("the board is connected", table.story.mark, None)


def test_the_words_of_a_protest_are_in_the_picture_and_not_in_the_view(table):
    async def main():
        desk = Desk()
        said = await asked(desk, TOSS, JudgeProtest(0.0, "B", "his sleeve"))
        desk.serve(table, 1.0)
        await asyncio.gather(*said)
        return desk.picture

    picture = asyncio.run(main())
    assert picture.protest.text == "his sleeve"
    assert "sleeve" not in repr(picture.view)


def test_the_tables_own_errors_come_back(table):
    async def main():
        desk = Desk()
        (toss,) = await asked(desk, TOSS)
        desk.serve(table, 1.0)
        await toss
        stale = asyncio.ensure_future(desk.ask(MISS, "Ann", "judge", "old", expect=0))
        await asyncio.sleep(0)
        desk.serve(table, 2.0)
        with pytest.raises(StaleError):
            await stale

    asyncio.run(main())


def test_a_full_desk_and_a_table_that_hangs(table):
    async def main():
        desk = Desk(most=2)
        said = await asked(desk, TOSS, MISS, MISS, timeout_s=0.05)
        results = await asyncio.gather(*said, return_exceptions=True)
        assert all(isinstance(one, DeskError) for one in results)
        assert "too many" in results[2].what
        assert "does not answer" in results[0].what
        # it goes on: what nobody waits for any more is not done
        assert desk.serve(table, 1.0) == 0
        assert table.view.phase == "toss"

    asyncio.run(main())


def test_said_again_with_its_key_it_counts_once(table):
    async def main():
        desk = Desk()
        first = asyncio.ensure_future(desk.ask(TOSS, "Ann", "judge", "one"))
        again = asyncio.ensure_future(desk.ask(TOSS, "Ann", "judge", "one"))
        await asyncio.sleep(0)
        desk.serve(table, 1.0)
        return await first, await again

    first, again = asyncio.run(main())
    assert (first.repeated, again.repeated) == (False, True)


def test_a_fault_of_the_program_reaches_both_sides(table):
    class Broken:
        def command(self, command):
            raise ZeroDivisionError

    async def main():
        desk = Desk()
        (said,) = await asked(desk, TOSS)
        with pytest.raises(ZeroDivisionError):
            desk.serve(Broken(), 1.0)
        with pytest.raises(ZeroDivisionError):
            await said

    asyncio.run(main())


def test_from_another_thread_while_the_table_plays(table):
    desk, stop = Desk(), threading.Event()

    def play():
        t = 0.0
        while not stop.wait(0.001):
            t += 1.0
            desk.serve(table, t)

    loop = threading.Thread(target=play)
    loop.start()
    try:

        async def main():
            await desk.ask(TOSS, "Ann", "judge", "toss")
            return await asyncio.gather(*(desk.ask(MISS, "Ann", "judge", f"n {n}") for n in range(20)))

        done = asyncio.run(main())
    finally:
        stop.set()
        loop.join()
    assert len({one.seq for one in done}) == 20
