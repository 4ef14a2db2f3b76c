"""Driver of the MCP3008 ADC on the Pi's SPI0, for a table without the board; reads by gpiozero as fast as possible.

`python -m pi_controller.board.mcp3008` writes records to its standard output until the pipe is closed. It runs as a
separate process because a thread would wait for the table's own thread: in a trial about eighty stretches of 3 to 8 ms
went unread each second. It does without numpy to start quickly.

gpiozero's `MCP3008.raw_value` is not used, because it computes the same three bytes for every reading. `Factory.spi`
and `SPI.transfer` are gpiozero's public interface to the bus. The chip begins a conversion when it is selected, so each
conversion takes its own transfer.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_controller.board.gpio import header_factory, no_pins
from pi_controller.errors import PortError, describe_error
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from gpiozero import Factory


RECORD = struct.Struct("<dd4H")
"""One scan of all pads: its begin and end (seconds, monotonic clock), and the count of each pad."""
FLUSH_S = 0.004
"""Interval between writes of records: a write for each would cost as much as the reading."""
LOOKS = 16
"""Scans of zeros only after which the chip is reported missing."""
NULL_BIT = 0x04
"""The chip drives this bit of its answer low; without a chip the line is pulled up."""


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
        """Raise `PortError` if all readings are zero: discs rest at half of the range, force sensors bear a plate."""
        if not any(any(self.scan()) for _ in range(LOOKS)):
            raise _missing()


def _missing() -> PortError:
    return PortError(
        "the MCP3008 does not answer",
        "check its supply and its wires to GPIO8 to GPIO11 (hardware/pinmap.toml); force sensors need their plates",
    )


def _open(port: int, device: int, hz: int, factory: Factory | None) -> Any:
    """Return gpiozero's SPI: `transfer(words)` sends words and returns as many, `close()` releases the pins."""
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
        hint = "turn SPI on with raspi-config (Interface Options), then restart; this user must be in the group spi"
        raise PortError(f"SPI{port}.{device} cannot be opened: {describe_error(error)}", hint) from error
    except (BadPinFactory, ImportError, RuntimeError) as error:
        raise no_pins(PortError) from error
    except (GPIOZeroError, OSError) as error:
        hint = "stop whatever else uses the pins 8 to 11: another table, or light strips on GPIO10"
        raise PortError(f"SPI{port}.{device} cannot be opened: {describe_error(error)}", hint) from error
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
        print(json.dumps({"message": error.message, "hint": error.hint}), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
