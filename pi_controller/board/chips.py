"""Interfaces of the readers for sensors on the Pi's own pins, and the process that reads the piezos.

`link/pins.py` turns their readings into messages. Times are seconds on the table's clock.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.gpio import header_factory, no_pins
from pi_controller.errors import PortError, describe_error
from pi_controller.extras import install_hint
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from gpiozero import Factory

# Driver of the MCP3008 ADC on the Pi's SPI0, for a table without the board; reads by gpiozero as fast as possible.
#
# `python -m pi_controller.board.chips` writes records to its standard output until the pipe is closed. It runs as a
# separate process because a thread would wait for the table's own thread: in a trial about eighty stretches of 3 to 8
# ms went unread each second. It does without numpy to start quickly.
#
# gpiozero's `MCP3008.raw_value` is not used, because it computes the same three bytes for every reading. `Factory.spi`
# and `SPI.transfer` are gpiozero's public interface to the bus. The chip begins a conversion when it is selected, so
# each conversion takes its own transfer.


RECORD = struct.Struct("<dd4H")
"""One scan of all pads: its begin and end (seconds, monotonic clock), and the count of each pad."""
FLUSH_S = 0.004
"""Interval between writes of records: a write for each would cost as much as the reading."""
LOOKS = 16
"""Scans of zeros only after which the chip is reported missing."""
NULL_BIT = 0x04
"""The chip drives this bit of its answer low; without a chip the line is pulled up."""


class Bus(Protocol):
    """The part of gpiozero's SPI that is used here."""

    def transfer(self, data: list[int], /) -> list[int]:
        """Send words and return as many, with the chip selected throughout."""
        ...

    def close(self) -> None:
        """Release the pins."""
        ...


class Mcp3008:
    """The chip. `factory` is gpiozero's pin factory, by default the header's. Raises `PortError`."""

    def __init__(self, factory: Factory | None = None) -> None:
        self._map = pinmap().pi.mcp3008
        # start bit; single-ended and the channel; then clocks for the ten bits
        self._asks = [(1, (8 | channel) << 4, 0) for channel in self._map.channels]
        self._own = header_factory(PortError) if factory is None else None
        self.bus = _open(self._map.port, self._map.device, self._map.hz, factory or self._own)
        try:
            self._look()
        except PortError:
            self.close()
            raise

    def scan(self) -> list[int]:
        """Read all pads in turn, counts 0 to 1023. Raises `PortError` if the chip does not answer."""
        counts: list[int] = []
        transfer = self.bus.transfer
        for ask in self._asks:
            try:
                _, high, low = transfer(list(ask))
            except OSError as error:
                raise PortError(
                    f"the MCP3008 cannot be read: {describe_error(error)}", "check its wires, then start again"
                ) from error
            if high & NULL_BIT:
                raise _missing()
            counts.append((high & 3) << 8 | low)
        return counts

    def close(self) -> None:
        """Release the pins. Closing twice is fine."""
        self.bus.close()
        if self._own is not None:
            self._own.close()
            self._own = None

    def _look(self) -> None:
        """Raise `PortError` if all readings are zero: the pads rest at half of the chip's range."""
        if not any(any(self.scan()) for _ in range(LOOKS)):
            raise _missing()


def _missing() -> PortError:
    return PortError(
        "the MCP3008 does not answer", "check its supply and its wires to GPIO8 to GPIO11 (hardware/pinmap.toml)"
    )


def _open(port: int, device: int, hz: int, factory: Factory | None) -> Bus:
    try:
        from gpiozero import Device  # noqa: PLC0415 - it takes long to import on a small Pi
        from gpiozero.exc import BadPinFactory, GPIOZeroError, SPIFixedRate, SPISoftwareFallback  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise no_pins(PortError) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SPISoftwareFallback)  # pins set one by one are far too slow
            if factory is None:
                Device.ensure_pin_factory()
                factory = Device.pin_factory
            assert factory is not None
            bus = factory.spi(port=port, device=device)
    except SPISoftwareFallback as error:
        todo = "turn SPI on with raspi-config (Interface Options), then restart; this user must be in the group spi"
        raise PortError(f"SPI{port}.{device} cannot be opened: {describe_error(error)}", todo) from error
    except (BadPinFactory, ImportError, RuntimeError) as error:
        raise no_pins(PortError) from error
    except (GPIOZeroError, OSError) as error:
        todo = "stop whatever else uses the pins 8 to 11: another table, or light strips on GPIO10"
        raise PortError(f"SPI{port}.{device} cannot be opened: {describe_error(error)}", todo) from error
    with suppress(SPIFixedRate, AttributeError):  # the mock's bus has no rate
        bus.rate = hz
    return bus


def stream_readings(
    chip: Mcp3008, write: Callable[[bytes], object], clock: Callable[[], float] = time.monotonic
) -> None:
    """Read forever and `write` the records in small batches, until `write` or the chip raises an error."""
    waiting = bytearray()
    pack, scan = RECORD.pack, chip.scan
    began = flushed = clock()
    while True:
        counts = scan()
        ended = clock()
        waiting += pack(began, ended, *counts)
        if ended - flushed >= FLUSH_S:
            write(bytes(waiting))
            waiting.clear()
            flushed = ended
        began = clock()


def main() -> int:
    """Read until the pipe is closed; write an error to standard error as one line of JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the table, which ends this
    try:
        chip = Mcp3008()
        try:
            stream_readings(chip, lambda data: os.write(sys.stdout.fileno(), data))
        finally:
            chip.close()
    except BrokenPipeError:
        return 0
    except PortError as error:
        print(json.dumps({"what": error.message, "todo": error.hint}), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())


SCAN = np.dtype([("began", "<f8"), ("ended", "<f8"), ("counts", "<u2", (4,))])
"""A scan of all pads, laid out as `mcp3008.RECORD`."""
READER = (sys.executable, "-m", "pi_controller.board.chips")
LAST_WORDS_S = 2.0


class PiezoReader(Protocol):
    """Reader of the piezos, in the background and as fast as possible."""

    name: str

    def take(self) -> NDArray[Any]:
        """Return the scans (dtype `SCAN`) since the last call, oldest first. Raises `PortError` if it has ended."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a scan."""
        ...

    def close(self) -> None:
        """Stop reading. Closing twice is fine."""
        ...


class TouchReader(Protocol):
    """Reader of the touch strips, in the background, about fifty times a second."""

    @property
    def missing(self) -> PortError | None:
        """Why the chip does not answer; None while it does."""
        ...

    def take(self) -> list[tuple[float, tuple[int, ...]]]:
        """Return (time, twelve counts) of each scan since the last call; all zeros if the chip did not answer."""
        ...

    def close(self) -> None:
        """Stop reading. Closing twice is fine."""
        ...


class ReaderProcess:
    """Runs `mcp3008.main` in a separate process and converts its times to `clock`. Raises `PortError`."""

    def __init__(self, clock: Callable[[], float], command: Sequence[str] = READER) -> None:
        self.name = "the MCP3008 on SPI0"
        self._ahead = clock() - time.monotonic()
        self._rest = b""
        try:
            # a new session, so that Ctrl-C reaches only the table
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise PortError(
                f"the piezos' reader cannot be started: {describe_error(error)}", "install moccasin-mat again"
            ) from error
        assert self.process.stdout is not None
        self._out = self.process.stdout.fileno()
        os.set_blocking(self._out, False)

    def take(self) -> NDArray[Any]:
        """Return the scans since the last call. Raises `PortError` with the reader's last line if it has ended."""
        data = bytearray(self._rest)
        while True:
            try:
                more = os.read(self._out, 65536)
            except BlockingIOError:
                break
            if not more:
                raise self._exit_error()
            data += more
        whole = len(data) // RECORD.size * RECORD.size
        self._rest = bytes(data[whole:])
        scans = np.frombuffer(bytes(data[:whole]), SCAN).copy()
        scans["began"] += self._ahead
        scans["ended"] += self._ahead
        return scans

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a scan."""
        select.select([self._out], [], [], seconds)

    def close(self) -> None:
        """Stop the reader."""
        self.process.terminate()
        try:
            self.process.wait(LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _exit_error(self) -> PortError:
        """Return the error of a reader that ended, from the last line of its standard error."""
        try:
            _, stderr = self.process.communicate(timeout=LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            stderr = b""
        lines = stderr.decode(errors="replace").strip().splitlines()
        with suppress(IndexError, ValueError, KeyError, TypeError):
            fault = json.loads(lines[-1])
            return PortError(str(fault["what"]), str(fault["todo"]))
        why = f": {lines[-1]}" if lines else ""
        return PortError(f"the piezos' reader has ended{why}", "start the table again; see its log")


# Driver of the MPR121 touch controller on the Pi's I2C, for a table without the board; by Blinka's `busio`.
#
# It reads the filtered data of all twelve electrodes at once. The chip is configured as on the mat board
# (`firmware/i2c.py`; a test compares them): its own baseline stays off, because it adapts to a resting hand. That is
# why adafruit-circuitpython-mpr121 is not used: it switches that baseline on with every register it writes, uses fixed
# charge currents that are weak under a cloth, and takes a transfer for each electrode.
#
# `Strips.poll` reads no clock and never sleeps; `TouchThread` calls it periodically.


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
        todo = "turn I2C on with raspi-config (Interface Options); this user must be in the group i2c"
        raise PortError(f"the I2C of the touch strips cannot be opened: {describe_error(error)}", todo) from error
    bus.try_lock()  # no other device uses this bus
    return bus
