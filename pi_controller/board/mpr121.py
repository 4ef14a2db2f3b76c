"""Driver of the MPR121 touch controller on the Pi's I2C, for a table without the board; by Blinka's `busio`.

It reads the filtered data of all twelve electrodes at once. The chip is configured as on the mat board
(`firmware/i2c.py`; a test compares them): its own baseline stays off, because it adapts to a resting hand. That is
why adafruit-circuitpython-mpr121 is not used: it switches that baseline on with every register it writes, uses fixed
charge currents that are weak under a cloth, and takes a transfer for each electrode.

`TouchChip.poll` reads no clock and never sleeps; `TouchThread` calls it periodically.
"""

from __future__ import annotations

import os
import struct
import threading
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from pi_controller.errors import PortError, describe_error
from pi_controller.extras import install_hint
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    pass


ELECTRODES = 12
NO_COUNTS = (0,) * ELECTRODES
"""The counts of a scan while the chip does not answer; the hand detector takes them as silence."""
RETRY_S = 1.0
"""Interval between attempts to reach a chip that does not answer."""
KEPT = 250
"""Most scans kept until the table takes them: five seconds."""
FILTERED = b"\x04"
"""First register of the filtered data, two bytes per electrode."""
SET_UP = (
    b"\x80\x63",  # reset
    b"\x5e\x00",  # stop
    b"\x5c\x10",  # 6 samples, 16 uA
    b"\x5d\x21",  # 0.5 us, 4 samples, every 2 ms: a value each 8 ms
    b"\x7b\x09",  # find each electrode's current and time, once
    b"\x7d\xc9",  # for 3.3 V: upper limit,
    b"\x7e\x82",  # lower limit,
    b"\x7f\xb5",  # target: about 724 counts
    b"\x5e\x4c",  # run, 12 electrodes, no baseline
)


class I2C(Protocol):
    """The part of Blinka's `busio.I2C` that is used here. A chip that does not answer raises `OSError`."""

    def writeto(self, address: int, buffer: bytes, /) -> None:
        """Write to a chip."""
        ...

    def writeto_then_readfrom(self, address: int, buffer_out: bytes, buffer_in: bytearray, /) -> None:
        """Write to a chip, and read from it without releasing the bus."""
        ...

    def deinit(self) -> None:
        """Release the pins."""
        ...


class TouchChip:
    """The chip on the bus opened by `open_bus`, which raises `PortError` if there is none."""

    def __init__(self, open_bus: Callable[[], I2C]) -> None:
        self.missing: PortError | None = None
        """Why the chip does not answer; None while it does."""
        self._open_bus = open_bus
        self._bus: I2C | None = None
        self._address = pinmap().pi.mpr121.address
        self._ready = False
        self._again = float("-inf")

    def poll(self, t: float) -> tuple[int, ...]:
        """Return the twelve counts, or `NO_COUNTS` if the chip does not answer; retry it once a second."""
        if not self._ready and t < self._again:
            return NO_COUNTS
        try:
            if self._bus is None:
                self._again = t + RETRY_S
                self._bus = self._open_bus()
            if not self._ready:
                self._again = t + RETRY_S
                for pair in SET_UP:
                    self._bus.writeto(self._address, pair)
                self._ready = True
                return NO_COUNTS  # the first values come after some milliseconds
            raw = bytearray(2 * ELECTRODES)
            self._bus.writeto_then_readfrom(self._address, FILTERED, raw)
        except PortError as error:
            self.missing = error
        except OSError as error:
            self._ready = False
            what = f"the MPR121 at 0x{self._address:02X} does not answer"
            self.missing = PortError(
                f"{what}: {describe_error(error)}", "check its four wires; turn I2C on with raspi-config"
            )
        else:
            counts = struct.unpack(f"<{ELECTRODES}H", raw)
            self._ready = any(counts)  # all zero: the chip has restarted
            if self._ready:
                self.missing = None
            return counts
        return NO_COUNTS

    def close(self) -> None:
        """Release the pins. Closing twice is fine."""
        if self._bus is not None:
            self._bus.deinit()
            self._bus = None
            self._ready = False


class TouchThread:
    """Polls `strips` on `clock` in a thread, so that a hanging bus does not block the table."""

    def __init__(self, strips: TouchChip, clock: Callable[[], float]) -> None:
        self._strips = strips
        self._clock = clock
        self._scans = deque[tuple[float, tuple[int, ...]]](maxlen=KEPT)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="touch strips", daemon=True)
        self._thread.start()

    @property
    def missing(self) -> PortError | None:
        """Why the chip does not answer; None while it does."""
        return self._strips.missing

    def take(self) -> list[tuple[float, tuple[int, ...]]]:
        """Return the scans since the last call."""
        return [self._scans.popleft() for _ in range(len(self._scans))]

    def close(self) -> None:
        """Stop the thread; one that hangs is abandoned."""
        self._stop.set()
        self._thread.join(RETRY_S)

    def _run(self) -> None:
        period = 1.0 / pinmap().pi.mpr121.hz
        due = self._clock()
        while not self._stop.is_set():
            t = self._clock()
            self._scans.append((t, self._strips.poll(t)))
            due = max(due + period, t)
            self._stop.wait(max(0.0, due - self._clock()))
        self._strips.close()


def open_i2c() -> I2C:
    """Return the Pi's I2C by Blinka. Raises `PortError`. Blinka is imported only here: importing it probes hardware."""
    # otherwise Blinka offers, on a terminal, to run pip
    os.environ.setdefault("BLINKA_SKIP_DEPENDENCY_CHECK", "1")
    try:
        board, busio = import_module("board"), import_module("busio")
        bus = busio.I2C(board.SCL, board.SDA)
    except ImportError as error:
        what = f"the touch strips need a package that is not installed: {error.name}"
        raise PortError(what, install_hint("pi"), what) from error
    except (AttributeError, NotImplementedError) as error:
        raise PortError("this machine has no I2C for the touch strips", "use a Raspberry Pi") from error
    except (OSError, RuntimeError, ValueError) as error:
        hint = "turn I2C on with raspi-config (Interface Options); this user must be in the group i2c"
        raise PortError(f"the I2C of the touch strips cannot be opened: {describe_error(error)}", hint) from error
    bus.try_lock()  # no other device uses this bus
    return bus
