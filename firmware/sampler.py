"""What the mat board does, pass after pass: hear the host, send what the sensors saw. Portable: it touches no chip.

The same file runs on the board, and in the simulator against a simulated board. All that differs is behind `board`;
`firmware/README.md` says what is asked of it.
"""

import wire
from events import Events
from guards import Piezos, Silence

FIRMWARE = (0, 2, 0)
FEATURES = wire.HAS_PIEZO | wire.HAS_TOUCH | wire.HAS_FIELD | wire.HAS_STRIP
SILENCE_US = 3_000_000  # a host that says nothing for so long is gone
HEALTH_US = 1_000_000
TEST_US = 1_300_000  # a sensor that did not answer is asked again after a second: both chances
LATE_US = 100_000
LATE_EACH_US = 10_000_000  # and told of no oftener
LOST_EACH_US = 1_000_000
EARLY_STARTS = 3  # so many starts from power in a row without a calm run, and the supply is doubted
CALM_US, SURELY_CALM_US = 10_000_000, 600_000_000  # with nobody listening, and in any case


class Sampler:
    """One board's work. Call `step()` for ever; it never waits."""

    def __init__(self, board):
        self.board = board
        self.running = False
        self.events = Events()
        self.decoder = wire.Decoder(wire.TO_BOARD, wire.HELLO)
        self.frame_number = 0
        self._minor = 0
        self._order = -1
        self._result = wire.OBEYED
        self._dirty = True  # pixels keep their last frame while the board starts anew
        self._heard_us = 0
        self._fell_silent = False
        self._worst_us = 0
        now = self._now = self._last_us = board.now_us()
        self._late_us = 0
        self._late_again = now
        self._lost = board.overflows
        self._lost_again = now
        self._calm = False
        self._lit = ""
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
        self._piezos = Piezos(board.BLOCK, self.add_event)
        self._strips = Silence(1, self._touch_told)
        self._magnets = Silence(wire.MAGNETS, self._magnet_told)
        self._bus_stuck = False
        self.add_event(wire.STARTED, board.boot_reason, board.early)
        if board.boot_reason == 1 and board.early >= EARLY_STARTS:
            self.add_event(wire.BROWN_OUT, 0, board.early)
        self._testing = True
        self._test(now)
        self._light()

    def step(self):
        """Do one pass: what the host said, then what is finished or due. Nothing is sent before its HELLO."""
        board = self.board
        now = self._now = board.now_us()
        took = now - self._last_us
        self._last_us = now
        self._worst_us = max(self._worst_us, took)
        if took > LATE_US or self._late_us:
            self._late(took, now)
        data = board.read()
        if data:
            for kind, _, payload in self.decoder.feed(data):
                self._hear(kind, payload, now)
        if self.running and now - self._heard_us > SILENCE_US:
            self._fell_silent = True
            self.add_event(wire.HOST_SILENT, 0, (now - self._heard_us) // 1000)
            self.decoder.restart()
            self._stop()
        running = self.running
        block = self._block
        index = board.piezo(block)
        while index >= 0:
            if running:
                # sample i is taken at i / SAMPLE_HZ: sampling and clock start and run together
                wire.piezo_fill(self._body, index, board.overflows, index * 1_000_000 // board.SAMPLE_HZ, block)
                self._send(self._body)
            if running or self._testing:
                self._piezos.feed(block, now)
            index = board.piezo(block)
        if running or self._testing:
            if now >= self._next_touch:
                self._scan_touch(now)
            if now >= self._next_magnet:
                self._scan_magnets(now)
            if self._testing or board.news or board.overflows != self._lost:
                self._watch(now)
        if running:
            if now >= self._next_health:
                self._next_health = now + HEALTH_US
                self._send_health(now)
            if self._minor >= wire.ORDERS:
                self.events.send(now, self._send)
        if self._dirty and board.show():
            self._dirty = False
        if not self._calm and now > (SURELY_CALM_US if running else CALM_US):
            self._calm = True
            board.calm()
        board.feed()

    def _send(self, body):
        self.board.write(wire.seal(body, self.frame_number))
        self.frame_number = self.frame_number + 1 & 0xFFFF

    def add_event(self, kind, part=0, value=0):
        """Keep an event of this moment for the host."""
        self.events.add(self._now, kind, part, value)
        self._light()  # whatever it shows comes with an event

    def _hear(self, kind, payload, now):
        board = self.board
        silent_us = now - self._heard_us
        self._heard_us = now
        if kind == wire.HELLO:
            major, self._minor = wire.hello(payload)
            self._order = -1  # after each HELLO the first order may bear any number
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
            if major != wire.PROTOCOL[0]:
                self._stop()
                return
            if self._fell_silent:
                self._fell_silent = False
                self.add_event(wire.HOST_BACK, 0, silent_us // 1000)
            self.events.begin(now)
            if not self.running:
                self._start(now)
        elif not self.running:
            return  # after a BYE only a HELLO counts, and that may lie in the same read
        elif kind == wire.PING:
            self._send(wire.pong_body(wire.ping(payload)[0], board.now_us()))
        elif kind == wire.BYE:
            self._stop()
        elif kind == wire.ACK:
            self.events.acked(wire.ack(payload)[0])
        else:
            self._ordered(kind, payload, now)

    def _ordered(self, kind, payload, now):
        # an order is done once; one that comes again was done, and only its DONE was lost
        order = wire.order(payload)
        if self._order < 0 or order == self._order + 1 & 0xFFFF:
            self._order = order
            self._result = wire.OBEYED
            if kind == wire.TEST:
                self._test(now)
            else:
                runs = wire.runs(payload, self.board.PIXELS)
                if runs is None:
                    self._result = wire.REFUSED
                else:
                    for first, colours in runs:
                        self.board.paint(first, colours)
                    self._dirty = True
        if order == self._order:
            self._send(wire.done_body(order, self._result))

    def _start(self, now):
        while self.board.piezo(self._block) >= 0:  # what was felt before the host was there is not for it
            pass
        self.running = True
        self._lost = self.board.overflows
        self._magnet = self._ok = 0
        self._next_touch = self._next_magnet = self._next_health = now
        if not self._testing:
            self._piezos.begin(now)
            self._strips.begin(now)
            self._magnets.begin(now)
        self._light()

    def _stop(self):
        self.running = False
        self.board.paint(0, bytes(3 * self.board.PIXELS))  # without a host the lights would say what is no longer so
        self._dirty = True
        self._light()

    def _scan_touch(self, now):
        # never twice in a pass; a pass that came late does not make up for lost scans
        self._next_touch = max(self._next_touch + self._touch_us, now - self._touch_us)
        answered = self.board.touch(self._touch)
        if not answered or self._strips.doubt:
            self._strips.asked(0, answered, now)
        if answered and self.running:
            self._send(wire.touch_body(now, self._touch))

    def _scan_magnets(self, now):
        # a few at a time, as they fall due: all 24 at once would keep the piezos waiting
        field = self._field
        due = min((now - self._next_magnet) // self._magnet_us + 1, wire.MAGNETS)
        self._next_magnet = max(self._next_magnet + due * self._magnet_us, now)
        for _ in range(due):
            i = self._magnet
            answered = self.board.magnet(i, field, 6 * i)
            if answered is False or self._magnets.doubt >> i & 1:
                self._magnets.asked(i, answered is not False, now)
            if answered:
                self._ok |= 1 << i
            else:
                field[6 * i : 6 * i + 6] = b"\0\0\0\0\0\0"
            i += 1
            if i == wire.MAGNETS:
                if self.running:
                    self._send(wire.field_body(now, self._ok, field))
                i = self._ok = 0
            self._magnet = i

    def _send_health(self, now):
        board = self.board
        body = wire.health_body(
            uptime_ms=now // 1000,
            overflows=board.overflows,
            i2c_errors=board.i2c_errors,
            bad_frames=self.decoder.bad,
            worst_us=self._worst_us,
            us=now,
        )
        self._send(body)

    def _late(self, took, now):
        if took > LATE_US:
            self._late_us = max(self._late_us, took)
        if now >= self._late_again:
            self.add_event(wire.LATE, 0, self._late_us)
            self._late_us = 0
            self._late_again = now + LATE_EACH_US

    def _watch(self, now):
        board = self.board
        if board.overflows != self._lost and now >= self._lost_again:
            self.add_event(wire.LOST, 0, board.overflows - self._lost)
            self._lost = board.overflows
            self._lost_again = now + LOST_EACH_US
        while board.news:
            kind, value = board.news.pop(0)
            stuck = kind == wire.BUS_STUCK
            if stuck != self._bus_stuck:  # a bus that stays stuck is found so again and again
                self._bus_stuck = stuck
                self.add_event(kind, 0, value)
        if self._testing and now >= self._tested_at:
            self._testing = False
            self.add_event(wire.TESTED, self._piezos.good | self._strips.good << wire.PADS, self._magnets.good)

    def _test(self, now):
        self._testing = True
        self._tested_at = now + TEST_US
        self._piezos.begin(now)
        self._strips.begin(now)
        self._magnets.begin(now)

    def _touch_told(self, back, _, us):
        self.add_event(wire.TOUCH_BACK if back else wire.TOUCH_SILENT, 0, us // 1000)

    def _magnet_told(self, back, i, us):
        self.add_event(wire.MAGNET_BACK if back else wire.MAGNET_SILENT, i + 1, us // 1000)

    def _light(self):
        # the lamp is seen by all, and a magnetometer's fault could tell of a bead: it is not shown
        state = "wait"
        if self.running:
            state = "fault" if self._piezos.wrong or self._strips.gone or self._bus_stuck else "run"
        if state != self._lit:
            self._lit = state
            self.board.light(state)
