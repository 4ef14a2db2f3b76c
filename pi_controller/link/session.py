"""The protocol session with one board: bytes in, messages out, stamped with the host's clock.

The session says HELLO until the board answers, keeps pinging, and reports when the board is gone, restarted or not to
be talked to. Loss is counted and shown as a `Gap`, never hidden. A frame that is whole but cannot be true (samples the
converter cannot give, an index that does not fit its time, a time that is not now) is refused: no message comes of it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from pi_controller.link import wire
from pi_controller.link.board_events import BoardEvents
from pi_controller.link.clock import BoardClock
from pi_controller.link.commands import BoardCommand, BoardCommands
from pi_controller.link.messages import REASONS, Field, Gap, Health, LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

FLASH = "'moccasin-mat flash' puts the right firmware on it"
"""What to do about a board that cannot be talked to."""
HELLO_S = 0.5
PING_S = 0.5
SILENCE_S = 0.9
"""Without a valid frame for so long the link is down."""
STALE_S = 2.0
"""Nothing valid is older than this when it arrives, nor more than `AHEAD_S` ahead of the clock."""
AHEAD_S = 0.25


class LinkStats(msgspec.Struct):
    """Counters since the session was made."""

    frames: int = 0
    bad: int = 0
    lost: int = 0
    repeated: int = 0
    refused: int = 0
    gaps: int = 0
    missing_samples: int = 0
    ups: int = 0
    downs: int = 0


class _Board(msgspec.Struct):
    """The contents of WELCOME."""

    id: bytes
    boots: int
    reason: int
    firmware: str
    pads: int
    hz: int
    block: int
    minor: int
    features: int


class Session:
    """The host's end of the link. `write` sends bytes to the board; what it raises passes through.

    Call `start(t)` when the port is open, `feed(data, t)` with whatever was read, then `tick(t)` (about every 10 ms,
    after `feed`), `lost(t, why)` when the port fails, `close()` to say goodbye. Times are host seconds.
    What the board is to do goes through `orders`.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.clock = BoardClock()
        self.board: _Board | None = None
        self.orders = BoardCommands(self._send)
        self._write = write
        self._decoder = wire.Decoder(wire.TO_HOST, wire.WELCOME)
        self._stats = LinkStats()
        self._number = 0
        self._mark = 0
        self._pings: OrderedDict[int, float] = OrderedDict()
        self._out: list[Message] = []
        self._down_reason = ""
        self._up = False
        self._received_at = 0.0
        self._next = float("inf")
        self.next_index = -1
        self._astray = 0
        self._board_events = BoardEvents()
        self._ack: int | None = None
        maps = pinmap()
        self._strips = len(maps.touch.strips)
        self._counts_per_ut = 1.0
        self._sensors = PADS * len(maps.magnetometers.offsets_mm)
        self._bits = 1 << np.arange(self._sensors)
        self._rest = np.int16(1 << maps.board.adc_bits - 1)
        self._over = np.int16(~((1 << maps.board.adc_bits) - 1))

    @property
    def up(self) -> bool:
        """Whether the board has answered and talks."""
        return self._up

    @property
    def pinging(self) -> bool:
        """Whether the newest PING waits for its PONG, whose arrival tells the board's clock."""
        return self._mark in self._pings

    @property
    def stats(self) -> LinkStats:
        """Counters since the session was made."""
        decoder = self._decoder
        self._stats.frames, self._stats.bad = decoder.frames, decoder.bad
        self._stats.lost, self._stats.repeated = decoder.lost, decoder.repeated
        return self._stats

    @property
    def takes_orders(self) -> bool:
        """Whether the connected board, or the last one, takes commands and sends events."""
        return self.board is not None and self.board.minor >= wire.ORDERS

    def has(self, feature: int) -> bool:
        """Whether the connected board, or the last one, takes commands and has `feature` (a `wire.HAS_...`)."""
        return self.board is not None and self.takes_orders and bool(self.board.features & feature)

    def test(self) -> None:
        """Request a self test as soon as the board takes commands; a `BoardEvent` "tested" has the result."""
        self.orders.give(BoardCommand(wire.test_body))

    def start(self, t: float) -> None:
        """Start a session on a port just opened, at `t`."""
        if self._up:
            self._down(t, "The board's port was opened anew.")
        self._decoder.restart()
        self._down_reason = ""
        self._received_at = t
        self._hello(t)

    def lost(self, t: float, why: str) -> list[Message]:
        """The port failed at `t`: nothing is sent until `start`. `why` is one line for the judge."""
        self._down(t, why)
        self._next = float("inf")
        return self._flush()

    def close(self) -> None:
        """Say goodbye, so that the board falls silent at once."""
        self._up = False
        self.orders.end()
        self._next = float("inf")
        self._send(wire.bye_body())

    def feed(self, data: bytes, t: float) -> list[Message]:
        """Take bytes that were read by `t`; return what they mean. Never raises because of them."""
        for kind, _, payload in self._decoder.feed(data):
            if kind == wire.WELCOME:
                good = self._welcome(payload, t)
            elif not self._up:
                continue  # refused, or the tail of a session that is over
            elif kind == wire.PIEZO:
                good = self._piezo(payload, t)
            elif kind == wire.PONG:
                good = self._pong(payload, t)
            elif kind == wire.TOUCH:
                good = self._touch(payload, t)
            elif kind == wire.FIELD:
                good = self._field(payload, t)
            elif kind == wire.HEALTH:
                good = self._health(payload, t)
            elif kind == wire.DONE:
                good = self.orders.done(*wire.done(payload))
            else:
                good = self._event(payload, t)
            if good:
                self._received_at = t
            else:
                self._stats.refused += 1
        return self._flush()

    def tick(self, t: float) -> list[Message]:
        """Let time pass to `t`: HELLO or PING when due, and notice silence. Call it after `feed`."""
        if t - self._received_at > SILENCE_S:
            if self._up:
                self._down(t, "The board has fallen silent.")
                self._hello(t)
            elif not self._down_reason and self._next < float("inf"):
                self._down(t, "The board does not answer.")
        if t >= self._next:
            if self._up:
                self._next = t + PING_S
                self._ping(t)
            else:
                self._hello(t)
        if self._ack is not None:
            number, self._ack = self._ack, None
            self._send(wire.ack_body(number))
        self.orders.tick(t)
        return self._flush()

    def _flush(self) -> list[Message]:
        out = self._out
        self._out = []
        return out

    def _send(self, body: bytearray) -> None:
        frame = wire.seal(body, self._number)
        self._number = self._number + 1 & 0xFFFF
        self._write(frame)

    def _hello(self, t: float) -> None:
        # the PING that follows is answered before the first samples come, so even they have a good time
        self._next = t + HELLO_S
        self._send(wire.hello_body())
        self._ping(t)

    def _ping(self, t: float) -> None:
        self._mark = self._mark + 1 & 0xFFFFFFFF
        self._pings[self._mark] = t
        if len(self._pings) > 8:
            self._pings.popitem(last=False)
        self._send(wire.ping_body(self._mark))

    def _down(self, t: float, why: str) -> None:
        if self._up or why != self._down_reason:
            self._out.append(LinkDown(t, why))
            self._stats.downs += 1
        self._down_reason = why
        self._up = False
        self._ack = None
        self.orders.end()
        self._decoder.restart()

    def _welcome(self, payload: bytes, t: float) -> bool:
        if payload[0] != wire.PROTOCOL[0]:
            theirs, ours = f"{payload[0]}.{payload[1]}", "{}.{}".format(*wire.PROTOCOL)
            self._down(t, f"The board speaks protocol {theirs}, this program {ours}: {FLASH}.")
            return True
        _, minor, x, y, z, name, boots, reason, features, pads, hz, block = wire.welcome(payload)
        board = _Board(name, boots, reason, f"{x}.{y}.{z}", pads, hz, block, minor, features)
        if self._up and self.board is not None:
            if msgspec.structs.replace(board, features=self.board.features) == self.board:
                self._learn(board)  # the answer to a HELLO sent twice, or its magnetometers answered only now
                return True
            if board.id != self.board.id or board.boots == self.board.boots:
                return False
            self._down(t, "The board restarted.")
        if pads != PADS or not 100 <= hz <= 100_000 or not 1 <= block <= 128:
            self._down(t, f"The board has {pads} pads at {hz} Hz, the pin map {PADS}: {FLASH}.")
            return True
        self.clock = BoardClock()
        self._learn(board)
        self.next_index = -1
        self._astray = 0
        self._up = True
        self._down_reason = ""
        self._stats.ups += 1
        self._board_events.begin(name, boots)
        if minor >= wire.ORDERS:
            self.orders.begin()
        self._out.append(LinkUp(t, name.hex(), board.firmware, boots, REASONS.get(reason, "unknown"), pads))
        return True

    def _learn(self, board: _Board) -> None:
        self.board = board
        maps = pinmap().magnetometers
        p = board.features & wire.QMC5883P
        self._counts_per_ut = maps.qmc5883p_counts_per_ut if p else maps.counts_per_ut

    def _when(self, us: int, t: float, last_s: float = 0.0) -> float | None:
        """Return the host time of `us` on the board, or None when that is not about now."""
        board = us * 1e-6
        clock = self.clock
        if us >> 52:
            return None
        if not clock.known:
            clock.arrived(board + last_s, t)
        when = clock.peek(board)
        if not t - STALE_S <= when <= t + AHEAD_S:
            return None
        return clock.host(board, board + last_s)

    def _pong(self, payload: bytes, t: float) -> bool:
        mark, us = wire.pong(payload)
        sent = self._pings.pop(mark, None)
        if sent is None or us >> 52 or (self.clock.known and abs(self.clock.peek(us * 1e-6) - t) > STALE_S):
            return False
        self.clock.ponged(sent, t, us * 1e-6)
        return True

    def _piezo(self, payload: bytes, t: float) -> bool:
        board = self.board
        assert board is not None
        low, _, us = wire.piezo(payload)
        index = -(-us * board.hz // 1_000_000)  # the whole number; the frame has its low 32 bits
        if index & 0xFFFFFFFF != low or len(payload) != wire.PIEZO_HEAD + 2 * PADS * board.block:
            return False
        raw = np.frombuffer(payload, "<i2", offset=wire.PIEZO_HEAD)
        if np.bitwise_or.reduce(raw) & self._over:
            return False
        when = self._when(us, t, board.block / board.hz)
        missing = index - self.next_index if self.next_index >= 0 else 0
        if when is None or missing < 0:
            # a damaged frame, or a board that counts anew: the second in a row decides
            self._astray += 1
            if self._astray > 1:
                self._down(t, "The board lost count of its samples.")
                self._hello(t)
            return False
        self._astray = 0
        if missing:
            self._stats.gaps += 1
            self._stats.missing_samples += missing
            self._out.append(Gap(when - missing / board.hz, when, missing))
        self.next_index = index + board.block
        samples: NDArray[np.int16] = (raw - self._rest).reshape(-1, PADS)
        self._out.append(Piezo(when, index, float(board.hz), samples, int(self._rest)))
        return True

    def _touch(self, payload: bytes, t: float) -> bool:
        us, *counts = wire.touch(payload)
        if max(counts) > 1023 or (when := self._when(us, t)) is None:
            return False
        self._out.append(Touch(when, np.array(counts, np.int16).reshape(PADS, self._strips)))
        return True

    def _field(self, payload: bytes, t: float) -> bool:
        us, mask, *_ = wire.field(payload)
        raw = np.frombuffer(payload, "<i2", offset=12).reshape(self._sensors, 3)
        ok = self._bits & mask != 0
        if mask >> self._sensors or raw[~ok].any() or (when := self._when(us, t)) is None:
            return False
        self._out.append(Field(when, raw / self._counts_per_ut, ok))
        return True

    def _health(self, payload: bytes, t: float) -> bool:
        uptime, overflows, i2c, bad, worst, us = wire.health(payload)
        if us // 1000 & 0xFFFFFFFF != uptime or (when := self._when(us, t)) is None:
            return False
        self._out.append(Health(when, us * 1e-6, overflows, i2c, bad, worst))
        return True

    def _event(self, payload: bytes, t: float) -> bool:
        if not self.clock.known:
            return True  # its time cannot be told yet; it comes again
        _, _, _, us, *_ = wire.event(payload)
        when = self.clock.long_ago(us * 1e-6)
        if us >> 52 or when > t + AHEAD_S:
            return False
        event = self._board_events.take(payload, when)
        if event is None:
            return False
        if self._board_events.fresh:
            self._out.append(event)
        self._ack = self._board_events.upto
        return True
