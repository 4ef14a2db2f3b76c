"""A virtual machine in qemu: boot it, type at its serial console, reach its ports, pull its plug.

    with VirtualMachine(pc(kernel, initrd, drive), console=folder / "console", forwards=((18000, 8000),)) as machine:
        machine.boot()
        print(machine.run("uname -a").text)

Any machine of qemu's will do that has a root shell on its first serial port: `command` names program and machine.
"""

from __future__ import annotations

import base64
import re
import shutil
import socket
import subprocess
import threading
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

REAL_TIME = ("-accel", "tcg,thread=single", "-cpu", "max,la57=off")
"""An emulated processor whose clock is the wall's: the guest sees a slow machine, which takes the least of this one."""
COUNTED = ("-icount", "shift=0,sleep=on", "-cpu", "max", "-rtc", "clock=vm")
"""An emulated processor whose clock is its own work, 1 ns an instruction: the guest sees 10^9 instructions a second
however slow the emulation is, and so keeps up with its own time; the wall's goes on some times faster."""
KVM = ("-accel", "kvm", "-cpu", "host")
"""The processor itself."""
TRIAL_S = 10.0
"""How long KVM is tried: a /dev/kvm may be there and yet run no ordinary kernel."""
CONNECT_S = 10.0
PIECE = 900
"""Characters a line of the console takes at once."""
PROMPT = rb"[#$] $"


class MachineError(RuntimeError):
    """The machine did not do what was asked; the text ends with the last that its console wrote."""


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit status."""

    text: str
    status: int


def pc(
    kernel: Path,
    initrd: Path,
    drive: str,
    *,
    processor: Sequence[str] = COUNTED,
    memory_mb: int = 1024,
    processors: int = 1,
    append: str = "",
) -> list[str]:
    """Return the command of a PC that starts `kernel` itself; `drive` is its disk as qemu's -drive takes it."""
    words = f"root=/dev/vda rw console=ttyS0,115200 quiet loglevel=3 mitigations=off {append}"
    return [
        *("qemu-system-x86_64", *processor, "-m", str(memory_mb), "-smp", str(processors)),
        *("-kernel", str(kernel), "-initrd", str(initrd), "-append", words.strip()),
        *("-drive", f"{drive},if=virtio", "-device", "virtio-rng-pci"),
    ]


def kvm_runs(kernel: Path, *, console: Path) -> bool:
    """Return whether a kernel says its first word under KVM within `TRIAL_S`."""
    command = ["qemu-system-x86_64", *KVM, "-m", "256", "-kernel", str(kernel)]
    trial = VirtualMachine([*command, "-append", "console=ttyS0 earlyprintk=serial panic=-1"], console=console)
    with trial:
        try:
            trial.start()
            trial.wait(rb"Linux version", TRIAL_S)
        except MachineError:
            return False
    return True


class VirtualMachine:
    """One machine; `boot` may be called again after `cut` or `power_off`.

    `command` is the program with all that makes the machine; added are the console, the network and no display.
    `console` is the path of a socket, at most 107 bytes. `forwards` are pairs of a port here, at 127.0.0.1, and one
    inside; the guest reaches nothing outside. `network` is the network's device, "" for none. `prompt` is what the
    console ends with when a root shell waits.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        console: Path,
        forwards: Sequence[tuple[int, int]] = (),
        network: str = "virtio-net-pci,netdev=net,romfile=",
        prompt: bytes = PROMPT,
    ) -> None:
        self.command = list(command)
        self.console = console
        self.forwards = tuple(forwards)
        self.network = network
        self.prompt = prompt
        self.log = bytearray()
        """All that the console wrote since the machine was made."""
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._changed = threading.Condition()
        self._ended = False
        self._read = 0
        self._runs = 0

    @property
    def process_id(self) -> int:
        """Return the id of qemu's process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Give it power, and listen to its console from the first byte on."""
        self.console.unlink(missing_ok=True)
        if shutil.which(self.command[0]) is None:
            raise MachineError(f"there is no {self.command[0]}: apt install qemu-system-x86 or qemu-system-arm")
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{here}-:{inside}" for here, inside in self.forwards)
        net = ["-netdev", f"user,id=net,restrict=on{forwards}", "-device", self.network] if self.network else []
        serial = f"socket,id=console,path={self.console},server=on,wait=on"
        self._process = subprocess.Popen(
            [*self.command, "-nodefaults", "-display", "none", *net, "-chardev", serial, "-serial", "chardev:console"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._ended = False
        self._read = len(self.log)
        self._socket = self._connected()
        threading.Thread(target=self._listen, args=(self._socket,), daemon=True).start()

    def boot(self, limit_s: float = 600.0) -> float:
        """Give it power and wait for a root shell; return the seconds that took."""
        begun = time.monotonic()
        self.start()
        self.wait(self.prompt, limit_s)
        took = time.monotonic() - begun
        self._prepare()
        return took

    def reboot(self, limit_s: float = 600.0) -> float:
        """Have the guest start itself again and wait for its shell; return the seconds that took."""
        begun = time.monotonic()
        self.send("systemctl reboot")
        self.wait(rb"Linux version|login:|" + self.prompt, limit_s, after=rb"reboot: |Restarting system")
        self.wait(self.prompt, limit_s)
        took = time.monotonic() - begun
        self._prepare()
        return took

    def power_off(self, limit_s: float = 180.0) -> float:
        """Shut the guest down; return the seconds that took."""
        assert self._process is not None
        begun = time.monotonic()
        self.send("systemctl poweroff")
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise MachineError(f"it is still on after {limit_s:.0f} s{self._tail()}") from None
        self._close()
        return time.monotonic() - begun

    def cut(self) -> None:
        """Pull the plug: SIGKILL to qemu. Nothing happens where it is off."""
        if self._process is not None:
            self._process.kill()
            with suppress(subprocess.TimeoutExpired):  # one that hangs in /dev/kvm goes when the kernel lets it
                self._process.wait(5)
        self._close()

    def send(self, line: str) -> None:
        """Type a line."""
        assert self._socket is not None
        self._socket.sendall(line.encode() + b"\n")

    def wait(self, pattern: bytes, limit_s: float, *, after: bytes = b"") -> bytes:
        """Wait until the console has written what `pattern` finds, beyond what was waited for before; return it all.

        With `after`, only what comes behind that counts.
        """
        end = time.monotonic() + limit_s
        with self._changed:
            while True:
                new = bytes(self.log[self._read :])
                begin = re.search(after, new)
                found = begin and re.compile(pattern).search(new, begin.end())
                if found:
                    self._read += found.end()
                    return new[: found.end()]
                if self._ended:
                    raise MachineError(f"the machine went off{self._tail()}")
                if not self._changed.wait(end - time.monotonic()) and time.monotonic() >= end:
                    raise MachineError(f"the console has not written {pattern!r} in {limit_s:.0f} s{self._tail()}")

    def run(self, command: str, limit_s: float = 300.0) -> Done:
        """Run a shell's command; return what it printed and its status. `limit_s` is of the wall's time."""
        self._runs += 1
        mark = f"END{self._runs}"
        self.send(f"{command}\necho {mark[:2]}''{mark[2:]}=$?=")
        got = self.wait(rb"%s=\d+=\r?\n" % mark.encode(), limit_s).decode(errors="replace").replace("\r", "")
        text, _, tail = got.rpartition(f"{mark}=")
        return Done(re.sub(r"^(# )+", "", text, flags=re.MULTILINE).strip("\n"), int(tail.split("=")[0]))

    def check(self, command: str, limit_s: float = 300.0) -> str:
        """Run a command that must succeed; return what it printed. Raises `MachineError`."""
        done = self.run(command, limit_s)
        if done.status:
            raise MachineError(f"{command!r} ended with {done.status}:\n{done.text}")
        return done.text

    def put(self, text: str, path: str) -> None:
        """Write a text file inside, over the console."""
        packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
        self.check(f": > {path}.b64")
        for start in range(0, len(packed), PIECE):
            self.check(f"printf %s '{packed[start : start + PIECE]}' >> {path}.b64")
        unpack = f"import base64, zlib; p = '{path}'; d = zlib.decompress(base64.b64decode(open(p + '.b64').read()))"
        self.check(f"python3 -c \"{unpack}; open(p, 'wb').write(d)\" && rm {path}.b64")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.cut()

    def _prepare(self) -> None:
        """Make the shell plain: no echo, a short prompt, no pages, no colours, long lines."""
        self.send("stty -echo cols 300")
        plain = "PS1='# ' PAGER=cat SYSTEMD_PAGER=cat TERM=dumb SYSTEMD_COLORS=0 SYSTEMD_URLIFY=0"
        self.run(f"bind 'set enable-bracketed-paste off' 2>/dev/null; export {plain} PATH=$PATH:/opt/moccasin-mat/bin")

    def _connected(self) -> socket.socket:
        """Return a connection to the console; qemu waits for it before anything runs."""
        assert self._process is not None
        end = time.monotonic() + CONNECT_S
        while True:
            console = socket.socket(socket.AF_UNIX)
            try:
                console.connect(str(self.console))
            except OSError as error:
                console.close()
                if self._process.poll() is None and time.monotonic() < end:
                    time.sleep(0.05)
                    continue
                why = ""
                if self._process.poll() is not None and self._process.stderr is not None:
                    why = self._process.stderr.read().decode(errors="replace").strip()
                self.cut()
                raise MachineError(f"qemu did not start: {why or error}") from error
            return console

    def _listen(self, console: socket.socket) -> None:
        """Keep what the console writes; a guest whose console nobody reads stands still."""
        while True:
            try:
                data = console.recv(65536)
            except OSError:
                data = b""
            with self._changed:
                if console is self._socket:
                    self.log += data
                    self._ended = not data
                self._changed.notify_all()
            if not data:
                return

    def _close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        if self._process is not None and self._process.stderr is not None:
            self._process.stderr.close()
        self._socket = self._process = None

    def _tail(self) -> str:
        return "; the console's last lines:\n" + bytes(self.log[-1500:]).decode(errors="replace")
