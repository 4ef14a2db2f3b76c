"""A terminal of 80 by 24: a program runs in it, and what stands on its screen is read."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

import pyte

COLUMNS, ROWS = 80, 24
PATIENCE_S = 120.0
AGAIN_S = 5.0


class SmallTerminal:
    """Runs `command` in `folder`. It is read until something stands on the screen, never for a length of time."""

    def __init__(self, command, folder):
        self._fd, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        env = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *command],
            cwd=folder, env=env | {"TERM": "xterm-256color"}, stdin=inside, stdout=inside, stderr=inside,
        )  # fmt: skip
        os.close(inside)
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)

    def lines(self):
        """Return what stands on the screen, without empty lines at the foot."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n").split("\n")

    def until(self, text):
        """Read until `text` stands on the screen."""
        while text not in "\n".join(self.lines()):
            self.more()

    def more(self):
        """Wait for the next bytes; fail where there are none."""
        assert self._read(), "the program has ended:\n" + "\n".join(self.lines())

    def type(self, line):
        """Type a line and Enter."""
        self.press(line + "\r")

    def press(self, keys):
        """Press keys."""
        os.write(self._fd, keys.encode())

    def ended(self):
        """Read to the end; return the exit status."""
        while self._read():
            pass
        return self._process.wait(PATIENCE_S)

    def interrupt(self):
        """Press Ctrl-C, and again after 5 s of silence; read to the end and return the exit status.

        Python's `input` does not see a Ctrl-C in the moment between its prompt and its reading.
        """
        reading = True
        while reading:
            self.press("\x03")
            while reading and select.select([self._fd], [], [], AGAIN_S)[0]:
                reading = self._read()
        return self._process.wait(PATIENCE_S)

    def close(self):
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._fd)

    def _read(self):
        assert select.select([self._fd], [], [], PATIENCE_S)[0], "nothing more comes:\n" + "\n".join(self.lines())
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # nobody is at the other end any more
            return False
        self._stream.feed(data)
        return bool(data)
