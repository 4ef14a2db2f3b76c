"""What the mat board does, pass after pass: hear the host, send what the sensors saw. Portable: it touches no chip.

The same file runs on the board, and in the simulator against a simulated board. All that differs is behind `board`:
`now_us()`, `piezo(buf)`, `touch(buf)`, `magnet(i, buf, at)`, `read()`, `write(data)`, `feed()`, `light(state)` and
a few numbers; `firmware/README.md` describes each.
"""

try:
    import wire
except ImportError:
    from pi_controller.link import wire

FIRMWARE = (0, 1, 0)
FEATURES = 0b111  # piezo, touch, field
SILENCE_US = 3_000_000  # a host that says nothing for so long is gone
HEALTH_US = 1_000_000


class Sampler:
    """One board's work. Call `step()` for ever; it never waits."""

    def __init__(self, board):
        self.board = board
        self.running = False
        self._ears = wire.Decoder(wire.TO_BOARD, wire.HELLO)
        self._number = 0
        self._heard_us = 0
        self._worst_us = 0
        self._last_us = board.now_us()
        self._block = bytearray(2 * wire.PADS * board.BLOCK)
        self._body = wire.piezo_body(board.BLOCK)
        self._touch = bytearray(2 * wire.ELECTRODES)
        self._touch_us = 1_000_000 // board.TOUCH_HZ
        self._next_touch = 0
        self._field = bytearray(6 * wire.MAGNETS)
        self._magnet_us = 1_000_000 // (board.MAGNET_HZ * wire.MAGNETS)
        self._magnet = 0
        self._ok = 0
        self._next_magnet = 0
        self._next_health = 0
        board.light("wait")

    def step(self):
        """Do one pass: what the host said, then what is finished or due. Nothing is sent before its HELLO."""
        board = self.board
        now = board.now_us()
        self._worst_us = max(self._worst_us, now - self._last_us)
        self._last_us = now
        data = board.read()
        if data:
            for kind, _, payload in self._ears.feed(data):
                self._hear(kind, payload, now)
        if self.running and now - self._heard_us > SILENCE_US:
            self._stop()
        block = self._block
        if self.running:
            index = board.piezo(block)
            while index >= 0:
                # sample i is taken at i / SAMPLE_HZ: sampling and clock start and run together
                wire.piezo_fill(self._body, index, board.overflows, index * 1_000_000 // board.SAMPLE_HZ, block)
                self._send(self._body)
                index = board.piezo(block)
            if now >= self._next_touch:
                self._scan_touch(now)
            if now >= self._next_magnet:
                self._scan_magnets(now)
            if now >= self._next_health:
                self._next_health = now + HEALTH_US
                self._send_health(now)
        else:
            while board.piezo(block) >= 0:  # nobody listens: let go of it
                pass
        board.feed()

    def _send(self, body):
        self.board.write(wire.seal(body, self._number))
        self._number = self._number + 1 & 0xFFFF

    def _hear(self, kind, payload, now):
        self._heard_us = now
        board = self.board
        if kind == wire.HELLO:
            self._send(
                wire.welcome_body(
                    firmware=FIRMWARE,
                    board=board.id,
                    boots=board.boot_count,
                    reason=board.boot_reason,
                    features=FEATURES,
                    pads=board.PADS,
                    sample_hz=board.SAMPLE_HZ,
                    block_samples=board.BLOCK,
                )
            )
            if wire.hello(payload)[0] != wire.PROTOCOL[0]:
                self._stop()
            elif not self.running:
                self._start(now)
        elif kind == wire.PING:
            self._send(wire.pong_body(wire.ping(payload)[0], board.now_us()))
        elif kind == wire.BYE:
            self._stop()

    def _start(self, now):
        while self.board.piezo(self._block) >= 0:  # what was felt before the host was there is not for it
            pass
        self.running = True
        self._magnet = self._ok = 0
        self._next_touch = self._next_magnet = self._next_health = now
        self.board.light("run")

    def _stop(self):
        self.running = False
        self._ears.restart()
        self.board.light("wait")

    def _scan_touch(self, now):
        # never twice in a pass; a pass that came late does not make up for lost scans
        self._next_touch = max(self._next_touch + self._touch_us, now - self._touch_us)
        if self.board.touch(self._touch):
            self._send(wire.touch_body(now, self._touch))

    def _scan_magnets(self, now):
        # a few at a time, as they fall due: all 24 at once would keep the piezos waiting
        field = self._field
        due = min((now - self._next_magnet) // self._magnet_us + 1, wire.MAGNETS)
        self._next_magnet = max(self._next_magnet + due * self._magnet_us, now)
        for _ in range(due):
            i = self._magnet
            if self.board.magnet(i, field, 6 * i):
                self._ok |= 1 << i
            else:
                field[6 * i : 6 * i + 6] = b"\0\0\0\0\0\0"
            i += 1
            if i == wire.MAGNETS:
                self._send(wire.field_body(now, self._ok, field))
                i = self._ok = 0
            self._magnet = i

    def _send_health(self, now):
        board = self.board
        body = wire.health_body(
            uptime_ms=now // 1000,
            overflows=board.overflows,
            i2c_errors=board.i2c_errors,
            bad_frames=self._ears.bad,
            worst_us=self._worst_us,
            us=now,
        )
        self._send(body)
