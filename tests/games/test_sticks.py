import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_controller.errors import MatError
from pi_controller.rules.sticks import Sticks, SticksError

POOLS = ("A", "B", "middle")


def test_move_transfers_sticks_between_pools():
    before = Sticks.of(A=0, B=3, middle=20)
    after = before.move(4, "middle", "A")
    assert (after["A"], after["B"], after["middle"]) == (4, 3, 16)
    assert (before["A"], before["middle"]) == (0, 20)
    assert after.total == before.total == 23
    assert repr(after) == "Sticks(A=4, B=3, middle=16)"
    assert list(after) == [("A", 4), ("B", 3), ("middle", 16)]


def test_pay_empties_payers_in_order():
    sticks = Sticks.of(A=1, B=5, middle=2)
    assert sticks.pay(4, "A", "middle", "B") == Sticks.of(A=5, B=3, middle=0)
    assert sticks.pay(9, "A", "middle", "B") == Sticks.of(A=8, B=0, middle=0)
    assert sticks.gather("middle") == Sticks.of(A=0, B=0, middle=8)


@pytest.mark.parametrize("n", [6, -1, True, 2.0, "1", None])
def test_no_overdraft_and_no_count_that_is_none(n: object):
    with pytest.raises(SticksError):
        Sticks.of(A=5, B=0).move(n, "A", "B")  # type: ignore[arg-type]


def test_overdraft_error_names_available_sticks():
    with pytest.raises(SticksError, match="cannot take 6 sticks from A: it holds 5") as caught:
        Sticks.of(A=5, B=0).move(6, "A", "B")
    assert isinstance(caught.value, MatError)
    assert isinstance(caught.value, ValueError)


def test_unknown_pool_and_self_payment_are_refused():
    sticks = Sticks.of(A=5, B=0)
    for wrong in (
        lambda: sticks["C"],
        lambda: sticks.move(1, "C", "A"),
        lambda: sticks.move(1, "A", "C"),
        lambda: sticks.move(1, "A", "A"),
        lambda: sticks.pay(1, "A", "B", "A"),
    ):
        with pytest.raises(SticksError):
            wrong()


@pytest.mark.parametrize("counts", [(-1, 1), (True, 1), (1.0, 1), (1,), (1, 2, 3)])
def test_pools_hold_whole_numbers(counts: tuple[int, ...]):
    with pytest.raises(SticksError):
        Sticks(("A", "B"), counts)


def test_pools_have_different_names():
    with pytest.raises(SticksError):
        Sticks(("A", "A"), (1, 2))


def test_frozen_hashable_and_picklable():
    sticks = Sticks.of(A=5, B=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        sticks.counts = (9, 9)  # type: ignore[misc]
    with pytest.raises(TypeError):
        sticks["A"] = 9  # type: ignore[index]
    assert {sticks: 1}[Sticks.of(A=5, B=0)] == 1
    assert pickle.loads(pickle.dumps(sticks)) == sticks


@given(
    st.lists(st.integers(0, 30), min_size=3, max_size=3),
    st.lists(st.tuples(st.integers(0, 40), st.permutations(POOLS), st.booleans()), max_size=20),
)
def test_random_moves_conserve_total_sticks(counts: list[int], moves: list[tuple[int, list[str], bool]]):
    sticks = Sticks(POOLS, tuple(counts))
    for n, (to, first, second), exactly in moves:
        before = sticks
        try:
            sticks = sticks.move(n, first, to) if exactly else sticks.pay(n, to, first, second)
        except SticksError:
            assert n > before[first]
        assert sticks.total == sum(counts)
        assert min(count for _, count in sticks) >= 0
