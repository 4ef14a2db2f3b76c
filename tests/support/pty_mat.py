"""The simulated mat behind a pseudo-terminal, which pyserial opens as it opens a real board's port."""

import os
import select
import tempfile
import tty
from pathlib import Path

from pi_controller.board.interfaces import Port
from pi_controller.board.serial_port import SerialPort
from pi_controller.errors import PortError
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.mat import SimMat

LINK_NAME = "usb-Moccasin_Mat_simulated-if00"


class PtyMat(SimMat):
    """A mat on a pseudo-terminal. Close it (or use `with`) to release the terminal and the link.

    `device` is a path that persists over replugging, like those in /dev/serial/by-id.
    """

    _master: int | None = None
    _slave: int | None = None

    def __init__(self, seed: int, conditions: Conditions | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="moccasin-mat-")
        self.device = str(Path(self._folder.name) / LINK_NAME)
        super().__init__(seed, conditions)

    @property
    def is_plugged(self) -> bool:
        return self._master is not None

    def open_port(self) -> Port:
        return SerialPort(self.device)

    def unplug(self) -> None:
        """Pull the cable: the terminal hangs up, the link is removed, the board loses power."""
        if self._master is None or self._slave is None:
            raise PortError("the mat is not plugged in", "plug it in first")
        Path(self.device).unlink()
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = None
        self._outbox.clear()

    def close(self) -> None:
        super().close()
        self._folder.cleanup()

    def _open(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        Path(self.device).symlink_to(os.ttyname(self._slave))

    def _receive(self, expect: int) -> None:
        received = 0
        while True:
            if received < expect and not select.select([self._master], [], [], 1.0)[0]:
                return
            try:
                data = os.read(self._master, 4096)
            except BlockingIOError:
                return
            received += len(data)
            self.board.arrive(data)

    def _flush(self) -> int:
        if self._master is None or not self._outbox:
            return 0
        try:
            n = os.write(self._master, self._outbox)
        except BlockingIOError:
            return 0
        del self._outbox[:n]
        return n
