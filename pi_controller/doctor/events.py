"""What the board says of itself: why it started, its self test, and what it noticed while nobody listened."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pi_controller.doctor.report import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_controller.doctor.sensor_checks import Ears

LINK = "Link"
NAMES = ("start", "self test", "pace", "events")
MOST = 8
"""So many different events are told; the newest."""
STARTS = {
    "power": "from power",
    "reset": "by its RUN button",
    "watchdog": "by its watchdog: its program hung",
    "restart": "by its own program, as after a crash or a flash; 'moccasin-mat flash --check' shows a crash",
}
_OWN = {"started", "brown-out", "tested", "slow"}
"""Those have lines of their own."""


def lines(ears: Ears, *, orders: bool) -> Iterator[Line]:
    """Yield the lines of a board that `ears` listened to. `orders`: it was asked for a self test."""
    yield _start(ears)
    yield _test(ears) if orders else Line(LINK, "self test", "not here", "the board's firmware has none")
    yield _pace(ears) if orders else Line(LINK, "pace", "not here", "the board's firmware does not tell")
    yield _events(ears)


def _start(ears: Ears) -> Line:
    assert ears.up is not None
    weak = [event for event in ears.events if event.kind == "brown-out"]
    if weak:
        todo = "give it a better supply: a short, thick cable at a port of the Pi itself; feed the light strip apart"
        return Line(LINK, "start", "fail", weak[-1].line.rstrip("."), todo)
    reason = STARTS.get(ears.up.boot_reason, ears.up.boot_reason)
    return Line(LINK, "start", "pass", f"its {ears.up.boot_count}., {reason}")


def _test(ears: Ears) -> Line:
    assert ears.up is not None
    told = [event for event in ears.events if event.kind == "tested" and event.t >= ears.up.t]
    if not told:
        todo = "unplug the board and plug it in again; else 'moccasin-mat flash'"
        return Line(LINK, "self test", "fail", "the board does not tell of its self test", todo)
    test = told[-1]
    if not ears.looks_at_magnetometers:
        found, sound = test.line, test.good
    else:
        found, sound = test.whole_line, test.sound
    if sound:
        return Line(LINK, "self test", "pass", found.rstrip("."))
    if any(line.outcome == "fail" for line in ears.lines()):
        return Line(LINK, "self test", "pass", "done; what it found has a line of its own")
    return Line(LINK, "self test", "fail", found.rstrip("."), "look once more; a plug may be loose")


def _pace(ears: Ears) -> Line:
    assert ears.up is not None
    slow = [event for event in ears.events if event.kind == "slow" and event.t >= ears.up.t]
    if not slow:
        return Line(LINK, "pace", "pass", "the board keeps up with its sensors")
    todo = "mend the sensors whose lines fail, for each that does not answer costs it time; else 'moccasin-mat flash'"
    return Line(LINK, "pace", "fail", slow[-1].line.rstrip("."), todo)


def _events(ears: Ears) -> Line:
    """The events of sensors and of the bus are of some time ago: whether they last has its own lines."""
    secret = not ears.looks_at_magnetometers
    words = [
        (event.line if secret else event.whole_line).rstrip(".")
        for event in ears.events
        if event.kind not in _OWN and (event.public or not secret)
    ]
    counts = Counter(reversed(words))  # the newest first
    found = [word + (f" ({count} times)" if count > 1 else "") for word, count in counts.items()][:MOST]
    if lost := sum(event.lost for event in ears.events):
        found.append(f"{lost} more that nobody heard")
    return Line(LINK, "events", "pass", "; ".join(found) or "nothing but its start was noticed")
