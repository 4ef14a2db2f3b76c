"""Interfaces of the readers of sensors on the Pi's own pins, and the process that reads the piezos.

`link/pins.py` makes messages of what these give. Times are seconds on the clock that the table uses.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pi_controller.drivers.mcp3008 import RECORD
from pi_controller.errors import PortError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

SCAN = np.dtype([("began", "<f8"), ("ended", "<f8"), ("counts", "<u2", (4,))])
"""A reading of all pads in turn, as `mcp3008.RECORD`."""
READER = (sys.executable, "-m", "pi_controller.drivers.mcp3008")
LAST_WORDS_S = 2.0


class PiezoReader(Protocol):
    """Reader of the piezos, in the background and as fast as it can."""

    name: str

    def take(self) -> NDArray[Any]:
        """Return the scans (dtype `SCAN`) since the last call, oldest first. Raises `PortError` when it has ended."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a scan."""
        ...

    def close(self) -> None:
        """Stop reading. Closing twice is fine."""
        ...


class StripReader(Protocol):
    """Reader of the touch strips, in the background, some fifty times a second."""

    @property
    def missing(self) -> PortError | None:
        """Why the chip does not answer; None while it does."""
        ...

    def take(self) -> list[tuple[float, tuple[int, ...]]]:
        """Return (time, twelve counts) of each scan since the last call; all zeros where the chip did not answer."""
        ...

    def close(self) -> None:
        """Stop reading. Closing twice is fine."""
        ...


class ReaderProcess:
    """`mcp3008.main` in a process of its own, on `clock`. Raises `PortError`."""

    def __init__(self, clock: Callable[[], float], command: Sequence[str] = READER) -> None:
        self.name = "the MCP3008 on SPI0"
        self._ahead = clock() - time.monotonic()
        self._rest = b""
        try:
            # a session of its own, so that Ctrl-C reaches the table alone
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise PortError(f"the piezos' reader cannot be started: {error}", "install moccasin-mat again") from error
        assert self.process.stdout is not None
        self._out = self.process.stdout.fileno()
        os.set_blocking(self._out, False)

    def take(self) -> NDArray[Any]:
        """Return the scans since the last call. Raises `PortError`, with the reader's last line, when it has ended."""
        data = bytearray(self._rest)
        while True:
            try:
                more = os.read(self._out, 65536)
            except BlockingIOError:
                break
            if not more:
                raise self._ended()
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

    def _ended(self) -> PortError:
        """Return why the reader has ended, by the last line of its standard error."""
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
