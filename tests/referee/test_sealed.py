"""Nothing but `open` gives the bead's place away, and anyone can check an opened commitment."""

import copy
import hashlib
import json
import pickle

import msgspec
import pytest

from pi_controller.referee.commitment import NO_CONTEXT, CommitmentContext, commitment
from pi_controller.referee.sealed import SealedBead, check

NONCE = bytes(range(32))


def beads():
    return [SealedBead("dakota", 7, pad, NONCE) for pad in (1, 2, 3, 4)]


def test_opens_to_sealed_pad_and_nonce():
    for pad, bead in enumerate(beads(), 1):
        assert bead.open() == (pad, NONCE.hex())
        assert [bead.is_under(p) for p in (1, 2, 3, 4)] == [p == pad for p in (1, 2, 3, 4)]


def test_commitment_matches_documented_bytes():
    by_hand = hashlib.sha256(b"moccasin-mat/bead/2|||0|dakota|7|3|" + NONCE).hexdigest()
    assert SealedBead("dakota", 7, 3, NONCE).commitment == by_hand == commitment("dakota", 7, 3, NONCE)


def test_commitment_is_bound_to_table_journal_and_event():
    bound = CommitmentContext("Hall", "0f" * 16, 41)
    by_hand = hashlib.sha256(b"moccasin-mat/bead/2|Hall|" + b"0f" * 16 + b"|41|dakota|7|3|" + NONCE).hexdigest()
    sealed = SealedBead("dakota", 7, 3, NONCE, bound)
    assert sealed.commitment == by_hand
    assert sealed.context == bound
    assert check(by_hand, "dakota", 7, 3, NONCE.hex(), bound)
    others = [
        NO_CONTEXT,
        CommitmentContext("Hal", *bound[1:]),
        CommitmentContext("Hall", "1f" * 16, 41),
        CommitmentContext("Hall", "0f" * 16, 42),
    ]
    assert not any(check(by_hand, "dakota", 7, 3, NONCE.hex(), other) for other in others)


def test_check_accepts_true_opening_alone():
    sealed = SealedBead("dakota", 7, 3, NONCE).commitment
    assert check(sealed, "dakota", 7, 3, NONCE.hex())
    others = [
        ("dakota", 7, 2, NONCE.hex()),
        ("dakota", 8, 3, NONCE.hex()),
        ("ojibwe", 7, 3, NONCE.hex()),
        ("dakota", 7, 3, NONCE[::-1].hex()),
        ("dakota", 7, 3, NONCE.hex()[:-2]),
        ("dakota", 7, 3, "no hex"),
    ]
    assert not any(check(sealed, *fields) for fields in others)
    assert not check("", "dakota", 7, 3, NONCE.hex())


def test_four_guesses_do_not_open_it():
    sealed = SealedBead("dakota", 7, 3, NONCE).commitment
    assert sealed not in {commitment("dakota", 7, pad, bytes(32)) for pad in (1, 2, 3, 4)}


@pytest.mark.parametrize("show", [repr, str, format, lambda b: f"{b!r:>20}", lambda b: b.__sizeof__()])
def test_all_four_look_the_same(show):
    assert len({show(bead) for bead in beads()}) == 1


@pytest.mark.parametrize(
    "write", [pickle.dumps, json.dumps, msgspec.json.encode, msgspec.msgpack.encode, copy.copy, copy.deepcopy, vars]
)
def test_cannot_be_written_down_or_copied(write):
    with pytest.raises(TypeError) as error:
        write(beads()[2])
    assert "3" not in str(error.value)


def test_sealed_bead_equals_itself_alone():
    one, two = SealedBead("dakota", 7, 3, NONCE), SealedBead("dakota", 7, 3, NONCE)
    assert one != two
    assert one == one  # noqa: PLR0124
    assert len({one, two}) == 2


def test_a_short_nonce_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        SealedBead("dakota", 7, 3, b"short")
