import random
import subprocess
from contextlib import suppress
from functools import partial

import pytest
from seats import sit

from pi_controller.journal.journal import MemoryJournal
from pi_controller.referee.judge import JudgeAction, JudgeUndo
from pi_controller.rules.registry import game


@pytest.fixture(scope="session")
def memory_journal():
    return partial(MemoryJournal, token=bytes)


@pytest.fixture
def small_disk(tmp_path):
    """A folder that is a disk of 800 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=800k", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def fill():
    """Fill the disk by a file: `fill(small_disk / "photos")`."""

    def run(path):
        with path.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1024))

    return run


@pytest.fixture(scope="session")
def play_on():
    """Play a game of dakota in the journal, by the judge's word: some legal actions, now and then one taken back."""

    def play(journal, actions, seed=1, t=1000.0):
        chance, dakota = random.Random(seed), game("dakota", {"points": 50})
        table = sit(journal, dakota, teams={"A": "Red", "B": "Blå"}, t=t)
        for n in range(1, actions + 1):
            if n % 40 == 0:
                table.judge(JudgeUndo(t + n, "misread"))
            else:
                legal = [
                    action for action in dakota.legal_actions(table.story.state) if n % 5 or action["do"] == "foul"
                ]
                action = chance.choice(legal or dakota.legal_actions(table.story.state))
                if action["do"] == "foul":
                    action = {"hide": "this", **action}  # between two hides the judge says in which
                table.judge(JudgeAction(t + n, action))
        return table

    return play
