"""Check the link to the board, and the board's own reports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pi_controller.board import wire
from pi_controller.board.connection import BoardConnection
from pi_controller.board.message_source import Source
from pi_controller.calibration.mat_diagnosis import BUS_HINT
from pi_controller.calibration.sensor_listener import SensorListener
from pi_controller.host.findings import Finding, Group
from pi_controller.pinmap import pinmap, shipped_file

if TYPE_CHECKING:
    pass


LINK = Group("Link")
FLASH_HINT = "run 'moccasin-mat mat flash': it copies this program's firmware to the board"
OFF_RATE = 0.005
"""Largest relative error of the sample rate: crystals are accurate to a ten-thousandth, so more means loss."""
SLOW_RTT_S = 0.05
BUS_ERRORS = 0.01
"""Share of the bus reads that may fail."""

EVENTS = ("start", "self test", "pace", "events")
MAX_EVENTS = 8
"""Most different events listed, the newest."""
STARTS = {
    "power": "from power",
    "reset": "by its RUN button",
    "watchdog": "by its watchdog: its program hung",
    "restart": "by its own program, as after a crash or a flash; 'moccasin-mat mat flash --check' shows a crash",
}
_OWN = {"started", "brown-out", "tested", "slow", "wiring", "strips", "discs"}
"""Kinds with a line of their own."""


def shipped_firmware() -> str:
    """Return the version `x.y.z` of the firmware shipped with this program."""
    text = shipped_file("firmware", "sampler.py").read_text("utf-8")
    found = re.search(r"^FIRMWARE = \((\d+), (\d+), (\d+)\)$", text, re.MULTILINE)
    return ".".join(found.groups()) if found else "unknown"


def link_lines(connection: BoardConnection | None, ears: SensorListener) -> Iterator[Finding]:
    """Yield the lines for the link; `connection` is None for a table without a board."""
    names = ("handshake", "firmware", "chips", *EVENTS, "samples", "losses", "clock", "bus")
    if connection is None:
        yield LINK.absent("port", 'the settings use no board: [board] port = "none"')
        yield from (LINK.absent(name, "no board") for name in names)
        return
    if connection.missing is not None:
        yield LINK.fails("port", connection.missing.message, connection.missing.hint)
        yield from (LINK.absent(name, "no board") for name in names)
        return
    yield LINK.passes("port", connection.port.name if connection.port else "")
    if ears.up is None:
        why = connection.why or "the board does not answer"
        hint = (
            FLASH_HINT
            if "protocol" in why or "flash" in why
            else f"unplug the board and plug it in again; else {FLASH_HINT}"
        )
        yield LINK.fails("handshake", why, hint)
        yield from (LINK.absent(name, "the board does not answer") for name in names[1:])
        return
    yield LINK.passes("handshake", f"protocol {wire.PROTOCOL[0]}, board {ears.up.board_id}")
    yield _firmware(ears.up.firmware)
    yield _chips(connection)
    yield from board_events(ears)
    yield _samples(ears)
    yield _losses(connection, ears)
    yield _clock(connection)
    yield _bus(ears)


def _firmware(version: str) -> Finding:
    ours = shipped_firmware()
    if version != ours:
        return LINK.fails("firmware", f"the board has version {version}, this program includes {ours}", FLASH_HINT)
    return LINK.passes("firmware", f"version {version}, the same as in this program")


def _chips(connection: BoardConnection) -> Finding:
    board = connection.session.board
    features = board.features if board is not None else 0
    kinds = [name for name, bit in (("QMC5883L", wire.QMC5883L), ("QMC5883P", wire.QMC5883P)) if features & bit]
    if not kinds:
        return LINK.absent("chips", "no magnetometer has answered yet")
    return LINK.passes("chips", f"magnetometers {kinds[0]}")


def _samples(ears: SensorListener) -> Finding:
    wanted = pinmap().board.sample_hz
    found = f"{ears.rate:.0f} of {wanted} samples a second"
    if abs(ears.rate / wanted - 1.0) > OFF_RATE:
        hint = "use another USB cable and a port of the Pi itself; stop other programs"
        return LINK.fails("samples", found, hint)
    return LINK.passes("samples", found)


def _losses(connection: BoardConnection, ears: SensorListener) -> Finding:
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
        hint = "check the board's supply" if restarts else "use another USB cable and a port of the Pi itself"
        return LINK.fails("losses", wrong, hint)
    return LINK.passes("losses", f"none in {stats.frames} frames")


def _clock(connection: BoardConnection) -> Finding:
    clock = connection.session.clock
    ppm = 1e6 * clock.drift
    if not clock.known:
        return LINK.fails("clock", "the board answers no ping", FLASH_HINT)
    found = f"the quickest answer in {1000 * clock.rtt:.1f} ms, {ppm:+.0f} ppm"
    if clock.rtt > SLOW_RTT_S:  # the drift is only informative: a few seconds cannot measure it
        return LINK.fails("clock", found, "stop other programs; use a USB port of the Pi itself")
    return LINK.passes("clock", found)


def _bus(ears: SensorListener) -> Finding:
    if len(ears.health) < 2:
        return LINK.fails("bus", "the board does not report its health", FLASH_HINT)
    # the board reports at once, when it may not yet know which magnetometers are built
    first, last = ears.health[min(1, len(ears.health) - 2)], ears.health[-1]
    seconds = max(last.uptime_s - first.uptime_s, 1e-3)
    errors, overflows = last.i2c_errors - first.i2c_errors, last.overflows - first.overflows
    board = pinmap().board
    reads = seconds * (board.touch_hz + board.magnet_hz * ears.magnetometers)
    sensor = any(line.outcome == "fail" and line.group == "Sensors" for line in ears.lines())
    found = f"{errors} errors in {seconds:.0f} s, slowest loop {last.worst_loop_us / 1000:.1f} ms"
    wiring = ears.find_events("wiring")
    if wiring:
        exchanged = bool(wiring[-1].value & wire.EXCHANGED)
        hint = "exchange the two wires at one end" if exchanged else BUS_HINT
        return LINK.fails("bus", wiring[-1].line.rstrip("."), hint)
    if errors > BUS_ERRORS * reads and not sensor:  # a dead sensor causes errors all the time, and has its own line
        return LINK.fails("bus", found, "check the wires to the touch board and the multiplexers: keep them short")
    if overflows:
        return LINK.fails("bus", f"{overflows} overflows on the board; {found}", FLASH_HINT)
    return LINK.passes("bus", found)


def driver_line(name: str, source: Source) -> Finding:
    """Return the line for the link of another package's board driver `name`."""
    if source.up:
        return LINK.passes("port", f"the driver {name}: {source.port.name if source.port else 'open'}")
    missing = source.missing
    if missing is not None:
        return LINK.fails("port", missing.message, missing.hint)
    return LINK.fails("port", source.why or "no readings yet", f"see the manual of the driver {name}")


def board_events(ears: SensorListener) -> Iterator[Finding]:
    """Yield the lines for the board's events in `ears`."""
    yield _start(ears)
    yield _test(ears)
    yield _pace(ears)
    yield _events(ears)


def _start(ears: SensorListener) -> Finding:
    assert ears.up is not None
    weak = [event for event in ears.events if event.kind == "brown-out"]
    if weak:
        hint = "use a better supply: a short, thick cable at a port of the Pi itself; power the strip separately"
        return LINK.fails("start", weak[-1].line.rstrip("."), hint)
    reason = STARTS.get(ears.up.boot_reason, ears.up.boot_reason)
    return LINK.passes("start", f"its {ears.up.boot_count}., {reason}")


def _test(ears: SensorListener) -> Finding:
    tested = ears.find_events("tested")
    if not tested:
        hint = "unplug the board and plug it in again; else 'moccasin-mat mat flash'"
        return LINK.fails("self test", "the board does not report its self test", hint)
    test = tested[-1]
    if not ears.checks_magnetometers:
        found, sound = test.line, test.is_good
    else:
        found, sound = test.detailed_line, test.is_all_good
    if sound:
        return LINK.passes("self test", found.rstrip("."))
    if any(line.outcome == "fail" for line in ears.lines()):
        return LINK.passes("self test", "done; its findings are listed separately")
    return LINK.fails("self test", found.rstrip("."), "run the check again; a plug may be loose")


def _pace(ears: SensorListener) -> Finding:
    slow = ears.find_events("slow")
    if not slow:
        return LINK.passes("pace", "the board keeps up with its sensors")
    hint = "repair the sensors that fail: each silent sensor slows the board down; else 'moccasin-mat mat flash'"
    return LINK.fails("pace", slow[-1].line.rstrip("."), hint)


def _events(ears: SensorListener) -> Finding:
    """Return the line for all other events: past faults of sensors and bus, whose present state has its own lines."""
    secret = not ears.checks_magnetometers
    words = [
        (event.line if secret else event.detailed_line).rstrip(".")
        for event in ears.events
        if event.kind not in _OWN and (event.is_public or not secret)
    ]
    counts = Counter(reversed(words))  # the newest first
    found = [word + (f" ({count} times)" if count > 1 else "") for word, count in counts.items()][:MAX_EVENTS]
    if lost := sum(event.lost for event in ears.events):
        found.append(f"{lost} more were lost")
    return LINK.passes("events", "; ".join(found) or "only its start")
