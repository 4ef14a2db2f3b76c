"""What the mat board does, pass after pass: receive from the host, send what the sensors saw. It touches no chip.

The same file runs on the board, and in the simulator against a simulated board. All that differs is behind `board`:
`board.Board`, or `SimBoard` of `pi_controller/simulation/board.py`.

A pass that has nothing special to do makes no object, and no number in it is beyond MicroPython's small integers (31
bits): frames are made once and filled again and again, and time is kept as hundredths of a second since boot, `now`,
and the microseconds beyond them.
"""

import guards
import wire
from events import Events
from guards import BiasStep, Piezos, Silence

FIRMWARE = (0, 6, 0)
FEATURES = wire.HAS_PIEZO | wire.HAS_TOUCH | wire.HAS_FIELD | wire.HAS_STRIP
SILENCE_TIME = 300  # a host that says nothing for so long (hundredths of a second) is gone
HEALTH_US = 1_000_000
TEST_TIME = 130  # a sensor that did not answer is asked again after a second: both chances
JOLT_US = 5500  # after a jolt the touch strips tell whether it was a hand's: a hand lies over them by then
FRESH_US = 8_000  # the touch chip has a new value so often
LATE_US = 100_000
LATE_EACH_TIME = 1000  # and reported no oftener
LOST_EACH_TIME = 100
RATE_TIME = 200  # so long scans are counted: with fewer than nine tenths of those due the board is slow
SLOW_EACH_TIME = 1000
EARLY_STARTS = 3  # so many starts from power in a row without a calm run, and the supply is doubted
CALM_TIME = 1000  # since boot, with nobody listening
TICKS = 0x3FFFFFFF


class Sampler:
    """One board's work. Call `step()` for ever; it never waits."""

    def __init__(self, board):
        self.board = board
        self.running = False
        self.events = Events()
        self.decoder = wire.Decoder(wire.TO_BOARD, wire.HELLO)
        self.frame_number = 0
        self._order = -1
        self._result = wire.OBEYED
        self._dirty = True  # pixels keep their last frame while the board starts anew
        us = board.now_us()
        self._ticks = us & TICKS
        now = self._now = us // 10_000
        self._more_us = us % 10_000
        self._received_at = now
        self._fell_silent = False
        self._worst_us = 0
        self._late_us = 0
        self._late_again = now
        self._lost = board.overflows
        self._lost_again = now
        self._calm = False
        self._lit = ""
        self._piezo = wire.piezo_body(board.BLOCK)
        self._block = memoryview(self._piezo)[3 + wire.PIEZO_HEAD : -2]
        self._block_us = board.BLOCK * 1_000_000 // board.SAMPLE_HZ
        self._touch = wire.touch_body(0, bytearray(2 * wire.ELECTRODES))
        self._counts = memoryview(self._touch)[11:-2]
        self._asked = False  # for a self-test: the host wants to know more than that all answers
        self._touch_us = 1_000_000 // board.TOUCH_HZ
        self._touch_in = 0  # us until the next scan
        self._touched = 0  # us since the last
        self._jolt_at = 0  # what these must be for the scan that a jolt wants, 0 for none
        self._sample_us = 1_000_000 // board.SAMPLE_HZ
        self._field = wire.field_body(0, 0, bytearray(6 * wire.MAGNETS))
        self._magnet_us = 1_000_000 // (board.MAGNET_HZ * wire.MAGNETS)
        self._magnet_in = 0
        self._magnet = 0
        self._ok = 0
        self._built = wire.ALL_MAGNETS
        self._health = wire.health_body(uptime_ms=0, overflows=0, i2c_errors=0, bad_frames=0, worst_us=0, us=0)
        self._health_in = 0
        self._counted_at = now
        self._touches = self._fields = 0
        self._slow_again = now
        self._chips = board.magnets
        self._piezos = Piezos(board.BLOCK, self.add_event)
        self._strips = Silence(1, self._report_touch)
        self._magnets = Silence(wire.MAGNETS, self._report_magnet)
        self._bias = BiasStep(board, self._report_disc)
        self._bus_stuck = False
        self.add_event(wire.STARTED, board.boot_reason, board.early)
        if board.boot_reason == wire.POWER and board.early >= EARLY_STARTS:
            self.add_event(wire.BROWN_OUT, 0, board.early)
        self._testing = True
        self._test(now)
        self._light()
        self._give = self._send  # the method, bound once: each time it would be a new object

    def step(self):
        """Do one pass: what the host sent, then what is finished or due. Nothing is sent before its HELLO."""
        board = self.board
        took = self._pass_time()
        now = self._now
        self._worst_us = max(self._worst_us, took)
        if took > LATE_US or self._late_us:
            self._late(took, now)
        data = board.read()
        if data:
            for kind, _, payload in self.decoder.feed(data):
                self._receive(kind, payload, now)
            board.flush()  # a PONG is worth more the sooner it goes
        running = self.running
        if running and now - self._received_at > SILENCE_TIME:
            self._fell_silent = True
            self.add_event(wire.HOST_SILENT, 0, 10 * (now - self._received_at))
            self.decoder.restart()
            self._stop()
            running = False
        looking = running or self._testing
        block = self._block
        number = board.piezo(block)
        while number >= 0:
            if self._bias.busy:
                self._bias.hold(block, number)
            if running and not self._jolt_at:
                since = guards.jolt(block, guards.JOLT)
                if since:
                    self._jolt_at = max(self._touched + took + JOLT_US - since * self._sample_us, FRESH_US)
            if looking:
                self._piezos.feed(block, now)
            if running:
                # sample i begins at i / SAMPLE_HZ: sampling and clock start and run together
                wire.piezo_number(self._piezo, number, board.BLOCK, self._block_us, board.overflows)
                self._send(self._piezo)
            number = board.piezo(block)
        if looking:
            self._touch_in -= took
            self._touched += took
            if self._touch_in <= 0 or (
                # the scan that is due next, and no other: there are never more than so many a second
                self._jolt_at and self._touched >= self._jolt_at and self._touch_in <= self._touch_us
            ):
                self._scan_touch(now)
            self._magnet_in -= took
            if self._magnet_in <= -self._magnet_us:
                self._scan_magnets(now)
            if self._testing or board.news or board.overflows != self._lost:
                self._watch(now)
        if running:
            self._health_in -= took
            if self._health_in <= 0:
                self._health_in = HEALTH_US
                self._send_health(now)
            if self.events.confirmed != self.events.newest:
                self.events.send(now, self._give)
        elif not self._calm and now > CALM_TIME:  # never while a host listens: writing would stop the samples
            self._calm = True
            board.calm()
        if self._dirty and board.show():
            self._dirty = False
        board.flush()
        board.feed()

    def _pass_time(self):
        """Let the clock go on to now; return the microseconds since it was asked last."""
        ticks = self.board.ticks()
        took = ticks - self._ticks & TICKS
        self._ticks = ticks
        more = self._more_us + took
        if more >= 10_000:
            self._now += more // 10_000
            more %= 10_000
        self._more_us = more
        return took

    def _now_us(self):
        """Return the microseconds since boot when the pass began; after 18 minutes no small integer."""
        return self._now * 10_000 + self._more_us

    def _send(self, body):
        self.board.send(body, self.frame_number)
        self.frame_number = self.frame_number + 1 & 0xFFFF

    def add_event(self, kind, part=0, value=0):
        """Keep an event of this pass for the host, and let the lamp show what it changes."""
        self.events.add(self._now_us(), kind, part, value)
        self._light()  # whatever it shows comes with an event

    def _receive(self, kind, payload, now):
        board = self.board
        silent = now - self._received_at
        self._received_at = now
        if kind == wire.HELLO:
            self._order = -1  # after each HELLO the first order may bear any number
            self._build(wire.ALL_MAGNETS, now)
            self._welcome()
            if wire.hello(payload)[0] != wire.PROTOCOL[0]:
                self._stop()
                return
            if self._fell_silent:
                self._fell_silent = False
                self.add_event(wire.HOST_BACK, 0, 10 * silent)
            self.events.begin(now)
            if not self.running:
                self._start(now)
        elif not self.running:
            return  # after a BYE only a HELLO counts, and that may lie in the same read
        elif kind == wire.PING:
            us = self._now_us() + (board.ticks() - self._ticks & TICKS)
            self._send(wire.pong_body(wire.ping(payload)[0], us))
        elif kind == wire.BYE:
            self._stop()
        elif kind == wire.ACK:
            self.events.acked(wire.ack(payload)[0])
        else:
            self._ordered(kind, payload, now)

    def _welcome(self):
        board = self.board
        self._send(
            wire.welcome_body(
                firmware=FIRMWARE,
                board=board.id,
                boots=board.boot_count,
                reason=board.boot_reason,
                features=FEATURES | self._chips,
                pads=board.PADS,
                sample_hz=board.SAMPLE_HZ,
                block_samples=board.BLOCK,
            )
        )

    def _ordered(self, kind, payload, now):
        # an order is done once; one that comes again was done, and only its DONE was lost
        order = wire.order(payload)
        if self._order < 0 or order == self._order + 1 & 0xFFFF:
            self._order = order
            self._result = wire.OBEYED
            if kind == wire.TEST:
                self._asked = True
                self._test(now)
            elif kind == wire.BUILT:
                self._build(wire.built_mask(payload), now)
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

    def _build(self, built, now):
        # a scan begun before is not finished: it would mix two ways to count
        if built != self._built:
            self._built = built
            self.board.build(built)
            self._magnet = self._ok = 0
            self._magnets.gone &= built
            self._magnets.begin(now)

    def _start(self, now):
        while self.board.piezo(self._block) >= 0:  # what was felt before the host was there is not for it
            pass
        self.running = True
        self._lost = self.board.overflows
        self._magnet = self._ok = 0
        self._touch_in = self._magnet_in = self._health_in = self._jolt_at = 0
        self._counted_at, self._touches, self._fields = now, 0, 0
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
        self._touch_in = max(self._touch_in + self._touch_us, -self._touch_us)
        if self._jolt_at:
            self._jolt_at = 0 if self._touched >= self._jolt_at else max(self._jolt_at - self._touched, FRESH_US)
        self._touched = 0
        self._touches += 1
        answered = self.board.touch(self._counts)
        if not answered or self._strips.doubt:
            self._strips.asked(0, answered, now)
        if answered and self.running:
            wire.put(self._touch, 3, now, 10_000, self._more_us)
            self._send(self._touch)

    def _scan_magnets(self, now):
        # two or a few at a time, as they fall due: all 24 at once would keep the piezos waiting, one costs a pass
        field = self._field
        board = self.board
        silence = self._magnets
        due = min(-self._magnet_in // self._magnet_us + 1, wire.MAGNETS)
        self._magnet_in = max(self._magnet_in + due * self._magnet_us, 0)
        doubt = silence.doubt
        built = self._built
        i = self._magnet
        at = 15 + 6 * i
        while due:
            due -= 1
            answered = board.magnet(i, field, at) if built >> i & 1 else None
            if answered:
                self._ok |= 1 << i
                if doubt:
                    silence.asked(i, True, now)
            else:
                if answered is False or doubt & built & 1 << i:
                    silence.asked(i, answered is not False, now)
                for byte in range(at, at + 6):
                    field[byte] = 0
            i += 1
            at += 6
            if i == wire.MAGNETS:
                self._fields += 1
                if self.running:
                    self._send_field(now)
                i = self._ok = 0
                at = 15
        self._magnet = i

    def _send_field(self, now):
        chips = self.board.magnets
        if chips != self._chips:
            self._chips = chips
            self._welcome()  # the host must not take its counts for those of a QMC5883L
        wire.put(self._field, 3, now, 10_000, self._more_us)
        ok = self._ok
        self._field[11] = ok & 0xFF
        self._field[12] = ok >> 8 & 0xFF
        self._field[13] = ok >> 16
        self._send(self._field)

    def _send_health(self, now):
        board = self.board
        body = self._health
        wire.put(body, 3, now, 10, self._more_us // 1000)  # each writes eight bytes, of which the next keeps four
        wire.put(body, 7, board.overflows, 1, 0)
        wire.put(body, 11, board.i2c_errors, 1, 0)
        wire.put(body, 15, self.decoder.bad, 1, 0)
        wire.put(body, 19, self._worst_us, 1, 0)
        wire.put(body, 23, now, 10_000, self._more_us)
        self._send(body)
        if now - self._counted_at >= RATE_TIME:
            self._count(now)

    def _count(self, now):
        # scans that came, in hundredths of those that were due: a board that cannot keep its rates says so
        board = self.board
        took = now - self._counted_at
        came = min(10_000 * self._touches // (took * board.TOUCH_HZ), 10_000 * self._fields // (took * board.MAGNET_HZ))
        self._counted_at, self._touches, self._fields = now, 0, 0
        if came < 90 and now >= self._slow_again:
            self._slow_again = now + SLOW_EACH_TIME
            self.add_event(wire.SLOW, 0, came)

    def _late(self, took, now):
        if took > LATE_US:
            self._late_us = max(self._late_us, took)
        if now >= self._late_again:
            self.add_event(wire.LATE, 0, self._late_us)
            self._late_us = 0
            self._late_again = now + LATE_EACH_TIME

    def _watch(self, now):
        board = self.board
        if board.overflows != self._lost and now >= self._lost_again:
            self.add_event(wire.LOST, 0, board.overflows - self._lost)
            self._lost = board.overflows
            self._lost_again = now + LOST_EACH_TIME
        while board.news:
            kind, value = board.news.pop(0)
            stuck = kind == wire.BUS_STUCK
            if stuck != self._bus_stuck:  # a bus that stays stuck is found so again and again
                self._bus_stuck = stuck
                self.add_event(kind, 0, value)
        if self._testing and now >= self._tested_at:
            self._testing = False
            self.add_event(
                wire.TESTED,
                self._piezos.good | self._strips.good << wire.PADS,
                self._magnets.good | wire.ALL_MAGNETS ^ self._built,
            )
            if self._asked:
                self._asked = False
                self._measure_strips()
                self._bias.begin()

    def _test(self, now):
        self._testing = True
        self._tested_at = now + TEST_TIME
        wrong = self.board.check_wiring()
        if wrong:
            self.add_event(wire.WIRING, 0, wrong)
        self._piezos.begin(now)
        self._strips.begin(now)
        self._magnets.begin(now)

    def _measure_strips(self):
        charge = bytearray(wire.CHARGE_BYTES)
        if self.board.charge(charge):
            for pad in range(wire.PADS):
                self.add_event(wire.STRIPS, pad + 1, wire.pack_strips(charge, self._counts, pad))

    def _report_disc(self, pad, value):
        self.add_event(wire.DISCS, pad, value)

    def _report_touch(self, back, _, time):
        self.add_event(wire.TOUCH_BACK if back else wire.TOUCH_SILENT, 0, 10 * time)

    def _report_magnet(self, back, i, time):
        self.add_event(wire.MAGNET_BACK if back else wire.MAGNET_SILENT, i + 1, 10 * time)

    def _light(self):
        # the lamp is seen by all, and a magnetometer's fault could tell of a bead: it is not shown
        state = "wait"
        if self.running:
            state = "fault" if self._piezos.wrong or self._strips.gone or self._bus_stuck else "run"
        if state != self._lit:
            self._lit = state
            self.board.light(state)
