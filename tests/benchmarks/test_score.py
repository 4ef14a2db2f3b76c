"""How long 20,000 lines on the score sheet take, beside reading and writing the same JSON and doing nothing else."""

from __future__ import annotations

import io
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from pi_controller.games.dakota.rules import Dakota
from pi_controller.rules import sheet

if TYPE_CHECKING:
    from collections.abc import Callable

LINES = 20_000


def a_long_afternoon() -> list[bytes]:
    """Return `LINES` actions of one game that nobody wins: legal ones with fouls, and every tenth refused."""
    chance = random.Random(20)
    game = Dakota({"points": 99})
    state = game.opening()
    actions: list[bytes] = []
    for number in range(LINES):
        if number % 10 == 9:
            actions.append(chance.choice([b"nope\n", b'{"do":"hit","found":1}\n', b'{"do":"toss","winner":"B"}\n']))
            continue
        legal = [action for action in game.legal_actions(state) if action["do"] != "foul" or chance.random() < 0.05]
        action = chance.choice(legal or [{"do": "hit", "found": True}])
        if legal:
            state, _ = game.play(state, action)
        actions.append(json.dumps(action).encode() + b"\n")
    return actions


@pytest.fixture(scope="module")
def actions() -> list[bytes]:
    return a_long_afternoon()


@pytest.fixture(scope="module")
def answers(actions: list[bytes]) -> list[Any]:
    out = io.StringIO()
    sheet.run(Dakota({"points": 99}), actions, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.benchmark(group="score")
def test_score_sheet(benchmark: Callable[..., Any], actions: list[bytes]):
    status = benchmark(lambda: sheet.run(Dakota({"points": 99}), actions, io.StringIO()))
    assert status == 2


@pytest.mark.benchmark(group="score")
def test_floor_json_in_and_out(benchmark: Callable[..., Any], actions: list[bytes], answers: list[Any]):
    def floor() -> int:
        out = io.StringIO()
        for line, answer in zip(actions, answers[1:], strict=True):
            if line != b"nope\n":
                json.loads(line)
            out.write(json.dumps(answer) + "\n")
            out.flush()
        return out.tell()

    assert benchmark(floor) > LINES
