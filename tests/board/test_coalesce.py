"""Blocks that follow on one another become one; nothing else is touched, and no sample is lost."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pi_controller.board.connection import coalesce
from pi_controller.board.messages import BoardHealth, Gap, LinkDown, Piezo


def block(index, n=4):
    samples = np.arange(index, index + n, dtype=np.int16)[:, None] * np.ones((1, 4), np.int16)
    return Piezo(index / 4000, index, 4000.0, samples)


HEALTH = BoardHealth(0.0, 1.0, 0, 0, 0, 0)


def test_four_blocks_merge_at_position_of_first():
    out = coalesce([block(0), HEALTH, block(4), block(8), HEALTH, block(12)])
    assert [type(message) for message in out] == [Piezo, BoardHealth, BoardHealth]
    assert (out[0].index, out[0].t) == (0, 0.0)
    assert out[0].samples[:, 2].tolist() == list(range(16))


def test_index_jump_gap_or_link_down_prevents_merge():
    for between in ([], [Gap(0.0, 1.0, 4)], [LinkDown(0.0, "gone")]):
        out = coalesce([block(0), *between, block(8 if not between else 4)])
        assert [message.index for message in out if isinstance(message, Piezo)] == [0, 8 if not between else 4]


@given(st.lists(st.sampled_from(["next", "jump", "gap", "health"]), max_size=30))
def test_no_sample_is_lost_or_moved(kinds):
    messages, index = [], 0
    for kind in kinds:
        if kind == "health":
            messages.append(HEALTH)
            continue
        index += 8 if kind != "next" else 0
        if kind == "gap":
            messages.append(Gap(0.0, 1.0, 8))
        messages.append(block(index))
        index += 4
    numbered = [
        [
            number
            for message in some
            if isinstance(message, Piezo)
            for number in range(message.index, message.index + len(message.samples))
        ]
        for some in (messages, coalesce(messages))
    ]
    assert numbered[0] == numbered[1]
    assert [type(m) for m in coalesce(messages) if not isinstance(m, Piezo)] == [
        type(m) for m in messages if not isinstance(m, Piezo)
    ]
