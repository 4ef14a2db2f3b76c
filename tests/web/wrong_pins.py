"""Guess PINs at a real server, and say what comes of it: how many are looked at, how long it takes, who is kept out.

python tests/web/wrong_pins.py [--pins 1000] [--addresses 10]

First in a rush: several addresses of this machine, several names, as fast as the line goes, hashes at their full cost.
Meanwhile a judge who is signed in commands the table, one with a known device signs in again and again, and one with a
new device signs in from the table's own address. Then in patience, on a clock that is turned on: each address waits as
long as it is told and guesses again.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import logging
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from judge_house import PIN, ROLES, say, sign_in
from served_house import ServedHouse as House

from pi_controller.web.accounts import KEPT, PinHasher

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

NAMES = (*ROLES, "Nobody", "Somebody")
PINS = 10**6


def wrong_pin(number: int) -> str:
    """Return a PIN that is not `PIN`."""
    return f"{(int(PIN) + 1 + number) % PINS:06}"


def kib() -> int:
    """Return the memory of this program, KiB."""
    return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line).split()[1])


class Rush(NamedTuple):
    """What came of a rush: answers by status; times in seconds; memory in KiB."""

    answers: Counter[int]
    looked_at: int
    took: float
    commands: list[float]
    known: list[float]
    new: list[tuple[float, int]]
    counts: int
    grew: int


def rush(house: House, pins: int, addresses: int) -> Rush:
    """Guess `pins` times from `addresses` at once. Raises `AssertionError` where a judge at the table is kept out."""
    answers: Counter[int] = Counter()
    ended = threading.Event()

    def guess(number: int) -> None:
        for n in range(number, pins, addresses):
            answer = sign_in(webs[number], NAMES[n // addresses % len(NAMES)], wrong_pin(n))
            answers[answer.status_code] += 1

    def come() -> None:
        with house.browser() as fresh:
            while not (ended.wait(1.0) and new):
                fresh.cookies.clear()  # nobody knows this browser
                new.append(_patient(fresh))

    commands, known, new = list[float](), list[float](), list[tuple[float, int]]()
    with ExitStack() as stack:
        at_table = stack.enter_context(house.signed_in("Jo"))
        returning = stack.enter_context(house.signed_in("Ann"))
        webs = [stack.enter_context(house.browser(f"127.0.1.{n + 1}")) for n in range(addresses)]
        before, memory, began = house.pins.hashed, kib(), time.perf_counter()
        guessers = [threading.Thread(target=guess, args=(n,)) for n in range(addresses)]
        for one in guessers:
            one.start()
        watch = threading.Thread(target=lambda: ([one.join() for one in guessers], ended.set()))
        watch.start()
        comes = threading.Thread(target=come)
        comes.start()
        for turn in itertools.count():
            if turn % 8 == 0:
                known.append(_timed(partial(sign_in, returning, "Ann")))
            call = (
                {"call": "protest", "by": "A"}
                if turn % 2 == 0
                else {"call": "ruling", "ruling": "denied", "reason": "x"}
            )
            commands.append(_timed(partial(say, at_table, f"while-{turn:06}", **call)))
            if turn % 2 == 1 and ended.wait(0.5):
                break
        watch.join()
        comes.join()
        took = time.perf_counter() - began
        looked_at = house.pins.hashed - before - len(known) - len(new)
    counts = len(house.judges.authenticator.throttle.counts)
    return Rush(answers, looked_at, took, commands, known, new, counts, kib() - memory)


def _timed(ask: Callable[[], httpx.Response]) -> float:
    began = time.perf_counter()
    answer = ask()
    assert answer.status_code == 200, answer.text
    return time.perf_counter() - began


def _patient(web: httpx.Client) -> tuple[float, int]:
    """Sign in as often as it takes, waiting as told; return how long it took, s, and how many tries."""
    began = time.perf_counter()
    for tries in range(1, 30):
        answer = sign_in(web, "Sam")
        if answer.status_code == 200:
            return time.perf_counter() - began, tries
        time.sleep(answer.json()["error"]["wait_s"])
    raise AssertionError("the judge at the table is kept out")


class Patience(NamedTuple):
    """What came of patience: how many were looked at, of how many tries, in how many seconds of the table's clock."""

    looked_at: int
    tries: int
    took: float


def patience(house: House, pins: int, addresses: int) -> Patience:
    """Guess until `pins` of Ann's were looked at, each address as soon as it is told it may."""
    house.clock.stop()
    start, before, tries = house.clock.ahead, house.pins.hashed, 0
    with ExitStack() as stack:
        webs = [stack.enter_context(house.browser(f"127.0.2.{n + 1}")) for n in range(addresses)]
        turns = [(0.0, n) for n in range(addresses)]
        while house.pins.hashed - before < pins:
            at, n = heapq.heappop(turns)
            house.clock.ahead = max(house.clock.ahead, start + at)
            told = sign_in(webs[n], "Ann", wrong_pin(tries)).json()["error"]
            tries += 1
            heapq.heappush(turns, (house.clock.ahead - start + max(told["wait_s"], 0.01), n))
    return Patience(house.pins.hashed - before, tries, house.clock.ahead - start)


def main() -> int:
    """Guess at two tables of its own, and print what came of it."""
    parser = argparse.ArgumentParser(description="Guess PINs at a real server, and say what comes of it.")
    parser.add_argument("--pins", type=int, default=1000)
    parser.add_argument("--addresses", type=int, default=10)
    args = parser.parse_args()
    logging.getLogger("pi_controller").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder), PinHasher())
        try:
            found = rush(house, args.pins, args.addresses)
        finally:
            house.close()
    answers = ", ".join(f"{count} times {status}" for status, count in sorted(found.answers.items()))
    print(f"in a rush: {args.pins} wrong PINs from {args.addresses} addresses in {found.took:.1f} s: {answers}")
    print(f"  looked at: {found.looked_at}; counts kept: {found.counts} of at most {KEPT}; memory {found.grew:+} KiB")
    for what, times in (
        ("commands of a judge who is signed in", found.commands),
        ("sign-ins from a known device", found.known),
    ):
        median, longest = statistics.median(times) * 1000, max(times) * 1000
        print(f"  {len(times)} {what}: median {median:.0f} ms, longest {longest:.0f} ms")
    longest, tries = max(found.new)[0], max(tries for _, tries in found.new)
    print(f"  {len(found.new)} sign-ins at the table, new device: in after {longest:.2f} s and {tries} tries at most")
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        try:
            slow = patience(house, args.pins, args.addresses)
        finally:
            house.close()
    days = slow.took / 86_400
    print(f"in patience: {slow.looked_at} looked at from {args.addresses} addresses in {days:.2f} days of the clock")
    years = PINS / slow.looked_at * days / 365
    print(f"  ({slow.tries} tries): all PINs of six digits would take {years:.1f} years")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
