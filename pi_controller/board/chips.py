"""The process that reads the piezos on the Pi's own pins.

`board.pins` turns their readings into messages. Times are seconds on the table's clock.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.mcp3008 import RECORD
from pi_controller.errors import PortError, describe_error

SCAN = np.dtype([("began", "<f8"), ("ended", "<f8"), ("counts", "<u2", (4,))])
"""A scan of all pads, laid out as `mcp3008.RECORD`."""
READER = (sys.executable, "-m", "pi_controller.board.mcp3008")
LAST_WORDS_S = 2.0


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
            return PortError(str(fault["message"]), str(fault["hint"]))
        why = f": {lines[-1]}" if lines else ""
        return PortError(f"the piezos' reader has ended{why}", "start the table again; see its log")
