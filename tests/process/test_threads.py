"""What is called from one thread and waits in another: views, commands, backups and PINs."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from judge_house import PIN, cheap

from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.judge import JudgeSensors
from pi_controller.rules import registry
from pi_controller.table.backup import Backup, copy_of
from pi_controller.table.commands import CommandQueue
from pi_controller.table.table import Table
from pi_controller.web.accounts import Authenticator
from pi_controller.web.feed import Feed
from pi_controller.web.sessions import Sessions
from pi_controller.web.users import FILE, Users

LONG = 60.0


def test_no_view_is_lost_between_threads(view):
    """A thread publishes as fast as it can; every watcher ends at the last view and never goes back."""

    async def watch():
        feed = Feed()
        watchers = [feed.subscribe() for _ in range(4)]
        thread = threading.Thread(target=lambda: [feed.publish(view(seq=seq)) for seq in range(1, 2001)])
        thread.start()

        async def follow(watcher):
            seen = [0]
            while seen[-1] < 2000:
                seen.append((await watcher.next(LONG)).content.seq)
            return seen

        followed = await asyncio.gather(*map(follow, watchers))
        thread.join()
        return followed

    for seen in asyncio.run(watch()):
        assert seen == sorted(set(seen))


def test_commands_of_another_thread_are_all_answered():
    queue = CommandQueue()

    async def ask():
        return await asyncio.gather(*(queue.submit(n, LONG) for n in range(20)))

    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(asyncio.run, ask())
        while not answers.done():
            queue.drain(lambda number: number + 1)
    assert answers.result() == list(range(1, 21))


def test_slow_stick_does_not_block_the_game(tmp_path):
    (stick := tmp_path / "stick").mkdir()
    went_on, copied = threading.Event(), []

    def copy(journal, folder):
        assert went_on.wait(LONG)
        copied.append(copy_of(journal, folder))
        return copied[-1]

    with Journal(tmp_path / "game.sqlite") as journal:
        game = registry.game("dakota", {})
        table = Table(journal, game, {"A": "A", "B": "B"}, DakotaReferee(game, None, bytes))
        keeper = Backup(journal.path, stick, every_s=1.0, copy=copy)
        keeper.start()
        for t in range(100):  # each of these steps would wait for ever, were it to wait at all
            keeper.on_step(float(t), table, armed=False)
            table.judge(JudgeSensors(float(t), on=bool(t % 2)))
        assert not copied
        went_on.set()
        keeper.close()
        assert 1 <= len(copied) <= 2
        assert verify_journal(copied[-1]).records == journal.seq


def test_pins_are_hashed_one_at_a_time(tmp_path):
    busy, most, threads, pins = 0, 0, set(), cheap()
    verify = pins.verify

    def watched(kept, pin):
        nonlocal busy, most
        busy += 1
        threads.add(threading.get_ident())
        most = max(most, busy)
        try:
            return verify(kept, pin)
        finally:
            busy -= 1

    pins.verify = watched
    users = Users(tmp_path / FILE)
    users.add("Ann", "head", pins.hash(PIN))
    authenticator = Authenticator(users, Sessions(users), pins, lambda: 1e9)

    async def rush():
        tries = (authenticator.sign_in("Ann", PIN, f"10.1.0.{n}", None) for n in range(8))
        return await asyncio.gather(*tries)

    assert len(asyncio.run(rush())) == 8
    users.close()
    assert most == 1
    assert len(threads) == 1, "each thread that hashes keeps its memory"
