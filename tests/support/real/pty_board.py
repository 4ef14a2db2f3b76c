"""A mat board on a pseudo-terminal: a real MicroPython prompt, or the firmware that was put on it.

`Bench` is the board as the host's USB sees it. Its flash is a folder. At each start it does what an RP2040 does: with
the mat's main.py on it, and not asked to stay, the flashed sampler.py and wire.py talk; else there is MicroPython's
prompt. Around each start the port is gone for a moment, and comes back under its name in `by_id` as another device.
"""

import json
import os
import pty
import select
import subprocess
import sys
import threading
import time
import tty
from pathlib import Path

from load_file import load_file

from pi_controller.board import wire
from pi_controller.simulation.portable_files import load_firmware

REPL = Path(__file__).with_name("repl.mjs")
PICO = {"name": "micropython", "version": (1, 24, 1), "machine": "Adafruit Feather RP2040 with RP2040", "blocks": 200}
NAME = "usb-MicroPython_Board_in_FS_mode_e6614103e7452a2f-if00"
RESET = 75


micropython = load_file("tests/firmware/micropython.py")


class Bench:
    """A board; `pull_after` bytes that the host sends to the prompt, its cable is pulled."""

    def __init__(self, folder, module, name=NAME, says=None, pull_after=None, starts=6):
        self.flash = folder / f"flash-{name[-6:]}"
        self.flash.mkdir()
        self.by_id = folder / "by-id"
        self.by_id.mkdir(exist_ok=True)
        self.link = self.by_id / name
        self.pull_after = pull_after
        self.boots = starts
        self.prompts = 0
        self._module = module
        self._says = json.dumps({**PICO, **(says or {})})
        self._stop = threading.Event()
        self._thread = None

    def plug(self):
        """Give it power; returns when its port is there."""
        self._stop.clear()
        there = threading.Event()
        self._thread = threading.Thread(target=self._power, args=(there,), daemon=True)
        self._thread.start()
        assert there.wait(10)
        return self

    def unplug(self):
        self._stop.set()
        self._thread.join(10)

    def file(self, name):
        path = self.flash / name
        return path.read_bytes() if path.exists() else None

    def names(self):
        return sorted(path.name for path in self.flash.iterdir())

    def _power(self, there):
        again = True
        while again and not self._stop.is_set():
            self.boots += 1
            master, slave = pty.openpty()
            tty.setraw(slave)
            self.link.symlink_to(os.ttyname(slave))
            os.close(slave)
            there.set()
            try:
                again = self._run(master)
            finally:
                self.link.unlink()
                os.close(master)
            self._stop.wait(0.05)

    def _run(self, master):
        stay = self.flash / "stay"
        main = self.file("main.py") or b""
        if b"sampler.Sampler(" in main and not stay.exists():
            return self._mat(master)
        stay.unlink(missing_ok=True)
        self.prompts += 1
        return self._prompt(master)

    def _mat(self, master):
        """Run the flashed firmware until it is asked to stay."""
        board = Quiet(self, master)
        work = flashed(self.flash).Sampler(board)
        while not self._stop.is_set():
            ready, _, _ = select.select([master], [], [], 0.02)
            board.inbox = read(master, self._stop) if ready else b""
            work.step()
            if board.staying:
                (self.flash / "stay").touch()
                return True
        return False

    def _prompt(self, master):
        """Serve MicroPython's prompt until it resets (then True) or the cable is pulled."""
        node, module = self._module
        command = [node, str(REPL), str(module), str(self.flash), self._says]
        heard = 0
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            out = process.stdout.fileno()
            while not self._stop.is_set():
                ready, _, _ = select.select([master, out], [], [], 0.05)
                if out in ready:
                    data = os.read(out, 4096)
                    if not data:
                        break
                    os.write(master, data)
                if master in ready:
                    data = read(master, self._stop)
                    heard += len(data)
                    if self.pull_after is not None and heard >= self.pull_after:
                        break
                    process.stdin.write(data)
            else:
                process.kill()
                return False
            process.kill() if process.poll() is None and self.pull_after is not None else None
            return process.wait(10) == RESET


def read(master, stop):
    try:
        return os.read(master, 4096)
    except OSError:  # nobody has the port open
        stop.wait(0.01)
        return b""


def flashed(folder):
    """Return the sampler that lies on the board, with the files beside it."""
    paths = {path.stem: path for path in folder.glob("*.py")}
    wrote, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        return load_firmware("sampler", paths, {})
    finally:
        sys.dont_write_bytecode = wrote


class Quiet:
    """The face of a board whose sensors feel nothing: bytes go to and from the pseudo-terminal."""

    SAMPLE_HZ, BLOCK, PADS, TOUCH_HZ, MAGNET_HZ, PIXELS = 4000, 32, 4, 50, 20, 69
    overflows = i2c_errors = early = magnets = 0
    boot_reason = 2

    def __init__(self, bench, master):
        self.id = bytes.fromhex("e6614103e7452a2f")
        self.boot_count = bench.boots
        self.news = []
        self.inbox = b""
        self.staying = False
        self._master = master

    def now_us(self):
        return time.monotonic_ns() // 1000

    def read(self):
        data, self.inbox = self.inbox, b""
        # as board.py does: "\\r\\x03" at the start of a frame is no frame but the wish to copy files
        self.staying = self.staying or any(part.startswith(b"\r\x03") for part in data.split(b"\0"))
        return data

    def ticks(self):
        return self.now_us() & 0x3FFFFFFF

    def write(self, data):
        os.write(self._master, data)

    def send(self, body, number):
        self.write(wire.seal(body, number))

    def piezo(self, buf):
        return -1

    def __getattr__(self, name):  # touch, magnet, light, feed and whatever else: nothing there
        return lambda *args: False
