"""What is written reads back the same, for random games of every kind with anything at all said in between."""

import random

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.record.file import read
from pi_controller.record.writing import write
from pi_controller.rules import registry

TEXTS = st.lists(st.text(max_size=30), min_size=1, max_size=4)
EACH = -(-cases(120, 1000) // len(registry.names()))


@pytest.mark.parametrize("name", registry.names())
def test_records_read_back_as_they_were_written(fuzz, name):
    @given(st.integers(0, 2**32), TEXTS)
    @settings(max_examples=EACH, deadline=None)
    def one(seed, texts):
        rng = random.Random(seed)
        record = fuzz.record_of(rng, name, (*texts, *fuzz.TEXTS), moves=20)
        text = write(record)
        again = read(text.encode())
        assert again == record
        assert again.faults == []
        assert write(again) == text

    one()


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode), st.sampled_from([*registry.names(), ""]))
@settings(max_examples=cases(15, 300), deadline=None)
def test_any_bytes_are_read(fuzz, data, name):
    head = f"Game: {name}\n".encode() if name else b""
    assert fuzz.check(head + data) == ""


def test_a_short_run_of_the_fuzzer(fuzz):
    rng = random.Random(3)
    other = b"end\n"
    for _ in range(cases(75, 400)):
        plain = write(fuzz.record_of(rng)).encode()
        assert fuzz.check(fuzz.damage(rng, plain, other)) == ""
        other = plain
