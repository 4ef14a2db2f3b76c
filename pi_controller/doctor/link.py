"""Checks the link to the board: port, handshake, firmware, sample rate, loss, clock, the board's own events."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pi_controller.doctor.report import Line
from pi_controller.link import wire
from pi_controller.pinmap import pinmap, shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_controller.doctor.sensor_checks import Ears
    from pi_controller.link.connection import BoardConnection

LINK = "Link"
FLASH = "say 'moccasin-mat flash': it puts this program's firmware on the board"
OFF_RATE = 0.005
"""Crystals are good to a ten-thousandth; a rate farther off than this is loss."""
SLOW_RTT_S = 0.05
BUS_ERRORS = 0.01
"""Share of the bus reads that may fail."""

EVENTS = ("start", "self test", "pace", "events")
MOST_EVENTS = 8
"""So many different events are told; the newest."""
STARTS = {
    "power": "from power",
    "reset": "by its RUN button",
    "watchdog": "by its watchdog: its program hung",
    "restart": "by its own program, as after a crash or a flash; 'moccasin-mat flash --check' shows a crash",
}
_OWN = {"started", "brown-out", "tested", "slow"}
"""Those have lines of their own."""


def shipped_firmware() -> str:
    """Return the version of the firmware that this program brings, `x.y.z`."""
    text = shipped("firmware", "sampler.py").read_text("utf-8")
    found = re.search(r"^FIRMWARE = \((\d+), (\d+), (\d+)\)$", text, re.MULTILINE)
    return ".".join(found.groups()) if found else "unknown"


def lines(connection: BoardConnection | None, ears: Ears) -> Iterator[Line]:
    """Yield the lines of the link; `connection` is None for a table without a board."""
    names = ("handshake", "firmware", "chips", *EVENTS, "samples", "losses", "clock", "bus")
    if connection is None:
        yield Line(LINK, "port", "not here", 'the settings want no board: [board] port = "none"')
        yield from (Line(LINK, name, "not here", "no board") for name in names)
        return
    if connection.missing is not None:
        yield Line(LINK, "port", "fail", connection.missing.what, connection.missing.todo)
        yield from (Line(LINK, name, "not here", "no board") for name in names)
        return
    yield Line(LINK, "port", "pass", connection.port.name if connection.port else "")
    if ears.up is None:
        why = connection.why or "the board does not answer"
        todo = FLASH if "protocol" in why or "flash" in why else f"unplug the board and plug it in again; else {FLASH}"
        yield Line(LINK, "handshake", "fail", why, todo)
        yield from (Line(LINK, name, "not here", "the board does not talk") for name in names[1:])
        return
    yield Line(LINK, "handshake", "pass", f"protocol {wire.PROTOCOL[0]}, board {ears.up.board_id}")
    yield _firmware(ears.up.firmware)
    yield _chips(connection)
    yield from board_events(ears, orders=connection.session.takes_orders)
    yield _samples(ears)
    yield _losses(connection, ears)
    yield _clock(connection)
    yield _bus(ears)


def _firmware(version: str) -> Line:
    ours = shipped_firmware()
    if version != ours:
        return Line(LINK, "firmware", "fail", f"the board has version {version}, this program brings {ours}", FLASH)
    return Line(LINK, "firmware", "pass", f"version {version}, the one this program brings")


def _chips(connection: BoardConnection) -> Line:
    board = connection.session.board
    features = board.features if board is not None else 0
    kinds = [name for name, bit in (("QMC5883L", wire.QMC5883L), ("QMC5883P", wire.QMC5883P)) if features & bit]
    if not kinds:
        return Line(
            LINK, "chips", "not here", "no magnetometer has answered yet, or the firmware does not tell their kind"
        )
    return Line(LINK, "chips", "pass", f"magnetometers {kinds[0]}")


def _samples(ears: Ears) -> Line:
    wanted = pinmap().board.sample_hz
    found = f"{ears.rate:.0f} of {wanted} samples a second"
    if abs(ears.rate / wanted - 1.0) > OFF_RATE:
        todo = "use another USB cable and a port of the Pi itself; stop other programs"
        return Line(LINK, "samples", "fail", found, todo)
    return Line(LINK, "samples", "pass", found)


def _losses(connection: BoardConnection, ears: Ears) -> Line:
    stats = connection.session.stats
    restarts = ears.ups - 1
    losses = {
        "gaps": ears.gaps,
        "samples missing": stats.missing_samples,
        "frames lost": stats.lost,
        "frames damaged": stats.bad,
        "frames refused": stats.refused,
        "restarts of the board": restarts,
    }
    wrong = ", ".join(f"{count} {what}" for what, count in losses.items() if count)
    if wrong:
        todo = "check the board's supply" if restarts else "use another USB cable and a port of the Pi itself"
        return Line(LINK, "losses", "fail", wrong, todo)
    return Line(LINK, "losses", "pass", f"none in {stats.frames} frames")


def _clock(connection: BoardConnection) -> Line:
    clock = connection.session.clock
    ppm = 1e6 * clock.drift
    if not clock.known:
        return Line(LINK, "clock", "fail", "the board answers no ping", FLASH)
    found = f"the quickest answer in {1000 * clock.rtt:.1f} ms, {ppm:+.0f} ppm"
    if clock.rtt > SLOW_RTT_S:  # the drift is only told: a few seconds do not measure it
        return Line(LINK, "clock", "fail", found, "stop other programs; use a USB port of the Pi itself")
    return Line(LINK, "clock", "pass", found)


def _bus(ears: Ears) -> Line:
    if len(ears.health) < 2:
        return Line(LINK, "bus", "fail", "the board does not tell of its health", FLASH)
    first, last = ears.health[0], ears.health[-1]
    seconds = max(last.uptime_s - first.uptime_s, 1e-3)
    errors, overflows = last.i2c_errors - first.i2c_errors, last.overflows - first.overflows
    board = pinmap().board
    reads = seconds * (board.touch_hz + board.magnet_hz * len(pinmap().magnetometer_positions()))
    # a light build may have neither magnetometers nor multiplexers
    sensor = ears.without or any(
        line.outcome == "fail" and line.name.startswith(("touch", "magnet")) for line in ears.lines()
    )
    found = f"{errors} errors in {seconds:.0f} s, slowest loop {last.worst_loop_us / 1000:.1f} ms"
    if errors > BUS_ERRORS * reads and not sensor:  # one that is dead makes errors all the time, and has its own line
        return Line(
            LINK, "bus", "fail", found, "check the wires to the touch board and the multiplexers: keep them short"
        )
    if overflows:
        return Line(LINK, "bus", "fail", f"{overflows} overflows on the board; {found}", FLASH)
    return Line(LINK, "bus", "pass", found)


def board_events(ears: Ears, *, orders: bool) -> Iterator[Line]:
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
    tested = [event for event in ears.events if event.kind == "tested" and event.t >= ears.up.t]
    if not tested:
        todo = "unplug the board and plug it in again; else 'moccasin-mat flash'"
        return Line(LINK, "self test", "fail", "the board does not tell of its self test", todo)
    test = tested[-1]
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
    found = [word + (f" ({count} times)" if count > 1 else "") for word, count in counts.items()][:MOST_EVENTS]
    if lost := sum(event.lost for event in ears.events):
        found.append(f"{lost} more that nobody heard")
    return Line(LINK, "events", "pass", "; ".join(found) or "nothing but its start was noticed")
