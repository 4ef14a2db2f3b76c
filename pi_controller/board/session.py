"""The protocol session with one board: turns bytes into messages stamped with the host's clock.

The session sends HELLO until the board answers, keeps pinging, and reports a board that is gone, restarted or
incompatible. Losses are counted and reported as a `Gap`. An intact frame with impossible content (samples beyond the
converter's range, an index that contradicts its time, a time far from now) is refused and yields no message.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np
from numpy.typing import NDArray

from pi_controller.board import messages, wire
from pi_controller.board.board_commands import BoardCommand, BoardCommands
from pi_controller.board.board_events import BoardEvents
from pi_controller.board.clock import BoardClock
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

FLASH_HINT = "'moccasin-mat mat flash' copies the right firmware to it"
"""Hint for an incompatible board."""
HELLO_S = 0.5
PING_S = 0.5
SILENCE_S = 0.9
"""The link is down after this long without a valid frame."""
MAX_LOSSES, LOSSES_WITHIN_S, SETTLE_S = 3, 10.0, 2.0
"""A link lost this often within this time stays down for `SETTLE_S`: a noisy board would fill the journal."""
REASON_S = 1.0
"""Shortest time between two reported reasons while the link stays down."""
STALE_S = 2.0
"""A frame older than this on arrival, or more than `AHEAD_S` ahead of the clock, is invalid."""
AHEAD_S = 0.25


class LinkStats(msgspec.Struct):
    """Counters since the session was created."""

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
    features: int


class BoardSession:
    """The host's end of the link. `write` sends bytes to the board; its errors are passed on.

    Call `start(t)` when the port is open, `feed(data, t)` with the bytes read, then `tick(t)` (about every 10 ms, after
    `feed`), `lost(t, why)` if the port fails, `close()` to send BYE. Times are host seconds. Commands to the board go
    through `commands`. `magnetometers` is how many the mat has (`PinMap.magnetometers_built`).
    """

    def __init__(self, write: Callable[[bytes], None], magnetometers: int | None = None) -> None:
        self.clock = BoardClock()
        self.board: _Board | None = None
        self.commands = BoardCommands(self._send)
        self._write = write
        self._decoder = wire.Decoder(wire.TO_HOST, wire.WELCOME)
        self._stats = LinkStats()
        self._number = 0
        self._mark = 0
        self._pings: OrderedDict[int, float] = OrderedDict()
        self._out: list[messages.Message] = []
        self._down_reason = ""
        self._told_at = self._settles_at = float("-inf")
        self._losses = deque[float](maxlen=MAX_LOSSES)
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
        self._built = int(self._bits[list(maps.magnetometers_built(magnetometers))].sum())
        self._is_built_known = False
        """True if the board numbers the magnetometers as this session does."""

    @property
    def up(self) -> bool:
        """True if the board has answered and its frames arrive."""
        return self._up

    @property
    def pinging(self) -> bool:
        """True while the newest PING waits for its PONG, whose arrival time sets the clock."""
        return self._mark in self._pings

    @property
    def stats(self) -> LinkStats:
        """Counters since the session was created."""
        decoder = self._decoder
        self._stats.frames, self._stats.bad = decoder.frames, decoder.bad
        self._stats.lost, self._stats.repeated = decoder.lost, decoder.repeated
        return self._stats

    def has_feature(self, feature: int) -> bool:
        """Return True if the connected or last board has `feature` (a `wire.HAS_...`)."""
        return self.board is not None and bool(self.board.features & feature)

    def request_self_test(self) -> None:
        """Request a self test as soon as a board answers; a `BoardEvent` "tested" has the result."""
        self.commands.enqueue(BoardCommand(wire.test_body))

    def start(self, t: float) -> None:
        """Start a session at `t` on a port just opened."""
        if self._up:
            self._down(t, "The board's port was reopened.")
        self._decoder.restart()
        self._down_reason = ""
        self._received_at = max(t, self._settles_at)
        self._hello(t)

    def report_port_loss(self, t: float, why: str) -> list[messages.Message]:
        """Take the link down at `t` after the port failed; stay silent until `start`. `why` is a line for the judge."""
        self._down(t, why)
        self._next = float("inf")
        return self._flush()

    def close(self) -> None:
        """Send BYE, so that the board falls silent at once."""
        self._up = False
        self.commands.end()
        self._next = float("inf")
        self._send(wire.bye_body())

    def feed(self, data: bytes, t: float) -> list[messages.Message]:
        """Process bytes read by `t`; return their messages. Never raises because of the bytes."""
        frames = self._decoder.feed(data)
        # the blocks of one read are converted together: each call to numpy costs as much as a block
        blocks = [payload[wire.PIEZO_HEAD :] for kind, _, payload in frames if kind == wire.PIEZO]
        raw = np.frombuffer(b"".join(blocks), "<u2").reshape(-1, PADS)
        samples, end = (raw - np.uint16(wire.REST)).view(np.int16), 0
        peak = int(np.maximum.reduce(raw, axis=None)) if blocks else 0
        for kind, _, payload in frames:
            first = end
            if kind == wire.PIEZO:
                end += (len(payload) - wire.PIEZO_HEAD) // (2 * PADS)
            if kind == wire.WELCOME:
                good = self._welcome(payload, t)
            elif not self._up:
                continue  # refused, or the tail of a session that is over
            elif kind == wire.PIEZO:
                in_range = peak <= wire.TOP or int(raw[first:end].max()) <= wire.TOP
                good = in_range and self._piezo(payload, samples[first:end], t)
            elif kind == wire.PONG:
                good = self._pong(payload, t)
            elif kind == wire.TOUCH:
                good = self._touch(payload, t)
            elif kind == wire.FIELD:
                good = self._field(payload, t)
            elif kind == wire.HEALTH:
                good = self._health(payload, t)
            elif kind == wire.DONE:
                good = self.commands.take_result(*wire.done(payload))
            else:
                good = self._event(payload, t)
            if good:
                self._received_at = t
            else:
                self._stats.refused += 1
        return self._flush()

    def tick(self, t: float) -> list[messages.Message]:
        """Advance to `t`: send HELLO or PING if due, and detect silence. Call it after `feed`."""
        if t - self._received_at > SILENCE_S:
            if self._up:
                self._down(t, "The board has stopped answering.")
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
        self.commands.tick(t)
        return self._flush()

    def _flush(self) -> list[messages.Message]:
        out = self._out
        self._out = []
        return out

    def _send(self, body: bytearray) -> None:
        frame = wire.seal(body, self._number)
        self._number = self._number + 1 & 0xFFFF
        self._write(frame)

    def _hello(self, t: float) -> None:
        if t < self._settles_at:
            self._next = self._settles_at
            return
        # the PING that follows is answered before the first samples arrive, so even they get accurate times
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
        if self._up:
            self._losses.append(t)
            if len(self._losses) == MAX_LOSSES and t - self._losses[0] < LOSSES_WITHIN_S:
                self._settles_at = t + SETTLE_S
        new = why != self._down_reason and (not self._down_reason or t - self._told_at >= REASON_S)
        if self._up or new:
            self._out.append(messages.LinkDown(t, why))
            self._stats.downs += 1
            self._down_reason, self._told_at = why, t
        self._up = False
        self._ack = None
        self.commands.end()
        self._decoder.restart()

    def _welcome(self, payload: bytes, t: float) -> bool:
        if payload[0] != wire.PROTOCOL[0]:
            theirs, ours = f"{payload[0]}.{payload[1]}", "{}.{}".format(*wire.PROTOCOL)
            self._down(t, f"The board speaks protocol {theirs}, this program {ours}: {FLASH_HINT}.")
            return True
        _, _, x, y, z, name, boots, reason, features, pads, hz, block = wire.welcome(payload)
        board = _Board(name, boots, reason, f"{x}.{y}.{z}", pads, hz, block, features)
        if self._up and self.board is not None:
            if msgspec.structs.replace(board, features=self.board.features) == self.board:
                self._learn(board)  # the answer to a repeated HELLO, or its magnetometers answered only now
                return True
            if board.id != self.board.id or board.boots == self.board.boots:
                return False
            self._down(t, "The board restarted.")
        if pads != PADS or not 100 <= hz <= 100_000 or not 1 <= block <= 128:
            self._down(t, f"The board has {pads} pads at {hz} Hz, the pin map {PADS}: {FLASH_HINT}.")
            return True
        if t < self._settles_at:
            return True
        self.clock = BoardClock()
        self._learn(board)
        self.next_index = -1
        self._astray = 0
        self._up = True
        self._down_reason = ""
        self._stats.ups += 1
        self._board_events.begin(name, boots)
        self.commands.begin()
        self._is_built_known = self._built == wire.ALL_MAGNETS
        if not self._is_built_known:
            self.commands.enqueue(BoardCommand(partial(wire.built_body, self._built), self._take_built))
        self._out.append(
            messages.LinkUp(t, name.hex(), board.firmware, boots, messages.REASONS.get(reason, "unknown"), pads)
        )
        return True

    def _take_built(self, result: int | None) -> None:
        self._is_built_known = result == wire.OBEYED

    def _learn(self, board: _Board) -> None:
        self.board = board
        maps = pinmap().magnetometers
        p = board.features & wire.QMC5883P
        self._counts_per_ut = maps.qmc5883p_counts_per_ut if p else maps.counts_per_ut

    def _host_time(self, us: int, t: float, last_s: float = 0.0) -> float | None:
        """Return the host time of board time `us`, or None if that is not close to `t`."""
        board = us * 1e-6
        clock = self.clock
        if us >> 52:
            return None
        if not clock.known:
            clock.take_arrival(board + last_s, t)
        when = clock.peek_host(board)
        if not t - STALE_S <= when <= t + AHEAD_S:
            return None
        return clock.to_host(board, board + last_s)

    def _pong(self, payload: bytes, t: float) -> bool:
        mark, us = wire.pong(payload)
        sent = self._pings.pop(mark, None)
        if sent is None or us >> 52 or (self.clock.known and abs(self.clock.peek_host(us * 1e-6) - t) > STALE_S):
            return False
        self.clock.take_pong(sent, t, us * 1e-6)
        return True

    def _piezo(self, payload: bytes, samples: NDArray[np.int16], t: float) -> bool:
        board = self.board
        assert board is not None
        low, _, us = wire.piezo(payload)
        index = -(-us * board.hz // 1_000_000)  # the whole number; the frame has its low 32 bits
        if index & 0xFFFFFFFF != low or len(payload) != wire.PIEZO_HEAD + 2 * PADS * board.block:
            return False
        when = self._host_time(us, t, board.block / board.hz)
        missing = index - self.next_index if self.next_index >= 0 else 0
        if when is None or missing < 0:
            # a damaged frame, or a board that restarted its count: the second one in a row decides
            self._astray += 1
            if self._astray > 1:
                self._down(t, "The board lost count of its samples.")
                self._hello(t)
            return False
        self._astray = 0
        if missing:
            self._stats.gaps += 1
            self._stats.missing_samples += missing
            self._out.append(messages.Gap(when - missing / board.hz, when, missing))
        self.next_index = index + board.block
        self._out.append(messages.Piezo(when, index, float(board.hz), samples, wire.REST))
        return True

    def _touch(self, payload: bytes, t: float) -> bool:
        us, *counts = wire.touch(payload)
        if max(counts) > 1023 or (when := self._host_time(us, t)) is None:
            return False
        self._out.append(messages.Touch(when, np.array(counts, np.int16).reshape(PADS, self._strips)))
        return True

    def _field(self, payload: bytes, t: float) -> bool:
        us, mask, *_ = wire.field(payload)
        raw = np.frombuffer(payload, "<i2", offset=12).reshape(self._sensors, 3)
        ok = self._bits & mask != 0
        if mask >> self._sensors or raw[~ok].any() or (when := self._host_time(us, t)) is None:
            return False
        if self._built and self._is_built_known:
            self._out.append(messages.Field(when, raw / self._counts_per_ut, ok))
        return True

    def _health(self, payload: bytes, t: float) -> bool:
        uptime, overflows, i2c, bad, worst, us = wire.health(payload)
        if us // 1000 & 0xFFFFFFFF != uptime or (when := self._host_time(us, t)) is None:
            return False
        self._out.append(messages.BoardHealth(when, us * 1e-6, overflows, i2c, bad, worst))
        return True

    def _event(self, payload: bytes, t: float) -> bool:
        if not self.clock.known:
            return True  # its time is not known yet; the board resends it
        _, _, _, us, *_ = wire.event(payload)
        when = self.clock.past_to_host(us * 1e-6)
        if us >> 52 or when > t + AHEAD_S:
            return False
        event = self._board_events.take(payload, when)
        if event is None:
            return False
        if self._board_events.fresh and (event.is_public or self._built >> event.part - 1 & 1):
            self._out.append(event)
        self._ack = self._board_events.upto
        return True
