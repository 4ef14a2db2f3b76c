"""Driver of the MCP3008 ADC on the Pi's SPI0, for a table without the board; read by gpiozero as fast as it gives.

`python -m pi_controller.drivers.mcp3008` reads and writes records to its standard output until nobody listens. It is a
process of its own because a thread is not enough: while the table's own thread works, a reading thread waits for it,
and in a trial some eighty stretches of 3 to 8 ms went unread each second. No numpy here: it starts quickly.

gpiozero's `MCP3008.raw_value` is not used: it works out the same three bytes for every reading. `Factory.spi` and
`SPI.transfer` are gpiozero's public way to the bus under it. The chip begins a conversion when it is selected, so each
takes a transfer of its own.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from pi_controller.drivers.gpio import header_factory
from pi_controller.errors import INSTALL_PI, PortError
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpiozero import Factory

RECORD = struct.Struct("<dd4H")
"""One reading of all pads: when it began and ended (seconds, monotonic clock), and the count of each pad."""
FLUSH_S = 0.004
"""Records are passed on this often: a write for each would cost as much as the reading."""
LOOKS = 16
"""Readings after which a chip that has said nothing but zeros is held to be missing."""
NULL_BIT = 0x04
"""The chip drives this bit of its answer low; nobody does where there is no chip and the line is pulled up."""


class Bus(Protocol):
    """What is used of gpiozero's SPI."""

    def transfer(self, data: list[int], /) -> list[int]:
        """Send and return as many words, the chip selected all the while."""
        ...

    def close(self) -> None:
        """Give the pins back."""
        ...


class Mcp3008:
    """The chip. `factory` is gpiozero's pin factory (its own choice unless given). Raises `PortError`."""

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
        """Read all pads in turn, counts 0 to 1023. Raises `PortError` when the chip does not answer."""
        counts: list[int] = []
        transfer = self.bus.transfer
        for ask in self._asks:
            try:
                _, high, low = transfer(list(ask))
            except OSError as error:
                raise PortError(f"the MCP3008 cannot be read: {error}", "check its wires, then start again") from error
            if high & NULL_BIT:
                raise _missing()
            counts.append((high & 3) << 8 | low)
        return counts

    def close(self) -> None:
        """Give the pins back. Closing twice is fine."""
        self.bus.close()
        if self._own is not None:
            self._own.close()
            self._own = None

    def _look(self) -> None:
        """Raise `PortError` where nothing but zeros comes: the pads rest at half of what the chip can tell."""
        if not any(any(self.scan()) for _ in range(LOOKS)):
            raise _missing()


def _missing() -> PortError:
    return PortError(
        "the MCP3008 does not answer", "check its supply and its wires to GPIO8 to GPIO11 (hardware/pinmap.toml)"
    )


def _open(port: int, device: int, hz: int, factory: Factory | None) -> Bus:
    from gpiozero import Device  # noqa: PLC0415 - it takes long to import on a small Pi
    from gpiozero.exc import BadPinFactory, GPIOZeroError, SPIFixedRate, SPISoftwareFallback  # noqa: PLC0415

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
        raise PortError(f"SPI{port}.{device} cannot be opened: {' '.join(str(error).split())}", todo) from error
    except (BadPinFactory, ImportError) as error:
        raise PortError("this machine has no pins", INSTALL_PI) from error
    except (GPIOZeroError, OSError) as error:
        todo = "stop whatever else uses the pins 8 to 11: another table, or light strips on GPIO10"
        raise PortError(f"SPI{port}.{device} cannot be opened: {' '.join(str(error).split())}", todo) from error
    with suppress(SPIFixedRate, AttributeError):  # the mock's bus has no rate
        bus.rate = hz
    return bus


def record(chip: Mcp3008, write: Callable[[bytes], object], clock: Callable[[], float] = time.monotonic) -> None:
    """Read for ever and `write` the records a few at a time; ends with what `write` or the chip raises."""
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
    """Read until nobody listens; an error goes to standard error as one line of JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the table, which ends this
    try:
        chip = Mcp3008()
        try:
            record(chip, lambda data: os.write(sys.stdout.fileno(), data))
        finally:
            chip.close()
    except BrokenPipeError:
        return 0
    except PortError as error:
        print(json.dumps({"what": error.what, "todo": error.todo}), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
