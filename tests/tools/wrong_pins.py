"""Guess PINs at a table, and say what comes of it: how many are looked at, how long it takes, who is kept out.

python tests/tools/wrong_pins.py [--pins 1000] [--addresses 10]

First in a rush: several addresses and several names, ten times a second. Meanwhile a judge who is signed in commands
the table, one with a known device signs in again and again, and one with a new device signs in from the table's own
address. Then in patience: each address waits as long as it is told and guesses again.
"""

from __future__ import annotations

import argparse
import heapq
import logging
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from judge_house import PIN, ROLES, House, say, sign_in
from visit import together

from pi_controller.web.throttle import MAX_BUCKETS

NAMES = (*ROLES, "Nobody", "Somebody")
PINS = 10**6
TURN_S = 0.1


def wrong_pin(number: int) -> str:
    """Return a PIN that is not `PIN`."""
    return f"{(int(PIN) + 1 + number) % PINS:06}"


class Rush(NamedTuple):
    """What came of a rush: answers by status, the sign-ins of a known device, and the tries that each new one took."""

    answers: Counter[int]
    looked_at: int
    known: int
    new: list[int]
    counts: int


def rush(house: House, pins: int, addresses: int) -> Rush:
    """Guess `pins` times from `addresses` at once. Raises `AssertionError` if a judge at the table is kept out."""
    answers, new = Counter[int](), list[int]()
    known, tries, again = 0, 0, house.clock()
    with ExitStack() as stack:
        at_table = stack.enter_context(house.signed_in("Jo"))
        returning = stack.enter_context(house.signed_in("Ann"))
        fresh = stack.enter_context(house.browser())
        webs = [stack.enter_context(house.browser(f"127.0.1.{n + 1}")) for n in range(addresses)]
        before = house.pins.hashed
        for turn in range(pins // addresses):
            bodies = [
                {"name": NAMES[turn % len(NAMES)], "pin": wrong_pin(turn * addresses + n)} for n in range(addresses)
            ]
            asked = [
                (web, web.build_request("POST", "/judge/sign-in", json=body))
                for web, body in zip(webs, bodies, strict=True)
            ]
            answers.update(answer.status_code for answer in together(*asked))
            house.loop.advance(TURN_S)
            if turn % 5 == 0:
                more = {"by": "A"} if turn % 2 == 0 else {"ruling": "denied", "reason": "x"}
                call = "protest" if turn % 2 == 0 else "ruling"
                assert say(at_table, f"while-{turn:06}", call, **more).status_code == 200
                assert sign_in(returning, "Ann").status_code == 200
                known += 1
            if house.clock() >= again:
                answer, tries = sign_in(fresh, "Sam"), tries + 1
                again = house.clock() + 1.0
                if answer.status_code == 200:
                    fresh.cookies.clear()  # nobody knows this browser
                    new.append(tries)
                    tries = 0
                else:
                    again = house.clock() + answer.json()["error"]["wait_s"]
        looked_at = house.pins.hashed - before - known - len(new)
    new += [tries] * bool(tries)
    return Rush(answers, looked_at, known, new, len(house.judges.authenticator.throttle))


class Patience(NamedTuple):
    """What came of patience: how many were looked at, of how many tries, in how many seconds of the table's clock."""

    looked_at: int
    tries: int
    took: float


def patience(house: House, pins: int, addresses: int) -> Patience:
    """Guess until `pins` of Ann's were looked at, each address as soon as it is told it may."""
    began, before, tries = house.clock(), house.pins.hashed, 0
    with ExitStack() as stack:
        webs = [stack.enter_context(house.browser(f"127.0.2.{n + 1}")) for n in range(addresses)]
        turns = [(began, n) for n in range(addresses)]
        while house.pins.hashed - before < pins:
            at, n = heapq.heappop(turns)
            house.ahead += max(0.0, at - house.clock())
            error = sign_in(webs[n], "Ann", wrong_pin(tries)).json()["error"]
            tries += 1
            heapq.heappush(turns, (house.clock() + max(error["wait_s"], 0.01), n))
    return Patience(house.pins.hashed - before, tries, house.clock() - began)


def main() -> int:
    """Guess at two tables of its own, and print what came of it."""
    parser = argparse.ArgumentParser(description="Guess PINs at a table, and say what comes of it.")
    parser.add_argument("--pins", type=int, default=1000)
    parser.add_argument("--addresses", type=int, default=10)
    args = parser.parse_args()
    logging.getLogger("pi_controller").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, closing(House(Path(folder))) as house:
        found = rush(house, args.pins, args.addresses)
    answers = ", ".join(f"{count} times {status}" for status, count in sorted(found.answers.items()))
    print(f"in a rush: {found.answers.total()} wrong PINs from {args.addresses} addresses: {answers}")
    print(f"  looked at: {found.looked_at}; counts kept: {found.counts} of at most {MAX_BUCKETS}")
    print(
        f"  {found.known} sign-ins from a known device, {len(found.new)} from new ones: {max(found.new)} tries at most"
    )
    with tempfile.TemporaryDirectory() as folder, closing(House(Path(folder))) as house:
        slow = patience(house, args.pins, args.addresses)
    days = slow.took / 86_400
    print(f"in patience: {slow.looked_at} looked at from {args.addresses} addresses in {days:.2f} days of the clock")
    years = PINS / slow.looked_at * days / 365
    print(f"  ({slow.tries} tries): all PINs of six digits would take {years:.1f} years")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
