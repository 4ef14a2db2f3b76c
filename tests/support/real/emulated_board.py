"""The mat board as an emulated RP2040: MicroPython's own image, the firmware's files, its chips and a USB host.

It lives in emulated time alone: `run` lets so much of it pass, however long that takes, and nothing happens between.
What is emulated, and what is not, stands in README.md.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from littlefs import LittleFS
from load_file import load_file

from pi_controller.pinmap import pinmap
from pi_controller.tools.find_board import load_shipped

ROOT = Path(__file__).parents[3]
HERE = ROOT / "tests" / "process" / "emulated"
BESIDE = ROOT.parent / "shared" / "rp2040"
UF2 = (
    "MicroPython 1.28 for RPI_PICO, a .uf2 file from MicroPython's own download page of that board: "
    "set MOCCASIN_UF2 to its path"
)
BOOTROM = (
    "the RP2040's boot ROM B1, 16 kB, which Raspberry Pi publishes as pico-bootrom-rp2040, and whose words are in "
    "demo/bootrom.ts of the rp2040js repository: set MOCCASIN_BOOTROM to the path of these words as bytes"
)
BLOCK, BLOCKS = 4096, 352
"""MicroPython's file system on a Pico: 1408 kB."""


class NotHereError(RuntimeError):
    """What the emulated board needs is not on this machine; says what, and where it is to be had."""


def _image(variable: str, pattern: str, wanted: str) -> Path:
    """Return the file that the environment's `variable` names, else the one beside the project."""
    named = os.environ.get(variable)
    found = [Path(named)] if named else sorted(BESIDE.glob(pattern))
    if not found or not found[0].is_file():
        raise NotHereError(f"the emulated board needs {wanted}")
    return found[0]


def images() -> dict[str, str]:
    """Return the paths of MicroPython's image and the boot ROM. Raises `NotHereError`."""
    return {
        "uf2": str(_image("MOCCASIN_UF2", "micropython-rp2-*.uf2", UF2)),
        "bootrom": str(_image("MOCCASIN_BOOTROM", "bootrom-*.bin", BOOTROM)),
    }


def firmware() -> dict[str, bytes]:
    """Return the firmware's files as `moccasin-mat mat flash` copies them."""
    return dict(load_shipped().files)


def edited(name: str, old: str, new: str) -> dict[str, bytes]:
    """Return the firmware's files with `old` replaced once in one of them, for what a test cannot wait for."""
    files = firmware()
    text = files[name].decode()
    assert text.count(old) == 1, f"{name} has no {old!r}"
    return files | {name: text.replace(old, new).encode()}


def _file_system(**options: Any) -> LittleFS:
    """Return a file system as MicroPython makes it, empty unless `options` say that it is not mounted."""
    return LittleFS(block_size=BLOCK, block_count=BLOCKS, prog_size=256, read_size=32, lookahead_size=32, **options)


def _packed(files: dict[str, bytes]) -> str:
    """Return a file system with `files` on it as the board's flash has it, in base64."""
    system = _file_system(disk_version=0x00020000)
    for name, data in files.items():
        with system.open(name, "wb") as file:
            file.write(data)
    return base64.b64encode(bytes(system.context.buffer)).decode()


class EmulatedBoard:
    """An emulated board in a process of its own; `power_on` it, `run` it, `close` it.

    `us` is emulated time since the board was made, microseconds. Raises `NotHereError` without its images or node.
    """

    def __init__(self) -> None:
        micropython = load_file("tests/firmware/micropython.py")
        self._images = images()
        try:
            node, package = micropython.npm_package("rp2040js")
        except micropython.NoMicroPythonError as error:
            raise NotHereError(str(error)) from error
        self.us = 0.0
        self._node = subprocess.Popen(
            [node, str(HERE / "server.cjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "NODE_PATH": str(package.parent)},
        )

    def power_on(
        self, files: dict[str, bytes] | None = None, *, miss_cycles: int = 60, magnetometer: str = "QMC5883L"
    ) -> None:
        """Make a new board with `files` (else the firmware) on it; time begins anew.

        `miss_cycles` is what a miss of the flash cache costs; 0 is a cache that never misses. `magnetometer` is the
        kind that all 24 are.
        """
        board = pinmap().board
        self._order(
            "power_on",
            **self._images,
            files=_packed(firmware() if files is None else files),
            missCycles=miss_cycles,
            pins={
                "strip": board.strip_pin,
                "bias": board.bias_pin,
                "sda": board.i2c["sda"],
                "scl": board.i2c["scl"],
            },
            chips={"touch": board.mpr121_address, "muxes": board.tca9548a_addresses, "magnetometer": magnetometer},
        )
        self.us = 0.0

    def run(self, us: float, send: bytes = b"", **readings: Any) -> bytes:
        """Let `us` pass, with `send` on its way to the board; return what the host read.

        `readings` are what the sensors feel from now on: `samples` {first_us, data: base64 of u16 sums, four a sample},
        `touch` counts of the 12 electrodes, `sheet_fields` counts of the 24 magnetometers.
        """
        more = {"send": base64.b64encode(send).decode()} if send else {}
        answer = self._order("run", us=us, **more, **readings)
        self.us = answer["us"]
        return base64.b64decode(answer["data"])

    def change(self, what: str, value: Any = True) -> None:
        """Change something around the board at once: `changes` in server.cjs has what."""
        self._order("change", what=what, value=value)

    def state(self) -> dict[str, Any]:
        """Return what became of it: `state` in server.cjs. `passes` (us) are those since this was asked last."""
        return self._order("state")

    def files(self) -> dict[str, bytes]:
        """Return the files that lie on it now."""
        system = _file_system(mount=False)
        system.context.buffer = bytearray(base64.b64decode(self._order("files")["data"]))
        system.mount()
        files = {}
        for name in system.listdir("/"):
            with system.open(name, "rb") as file:
                files[name] = file.read()
        return files

    def until(self, text: bytes, most_us: float = 5e6, send: bytes = b"") -> bytes:
        """Let time pass until it has sent `text`; return all that it sent. Raises `TimeoutError`."""
        got = self.run(1000, send)
        end = self.us + most_us
        while text not in got:
            if self.us > end:
                raise TimeoutError(f"{text!r} did not come; {got[-300:]!r} did")
            got += self.run(10_000)
        return got

    def python(self, source: str, most_us: float = 20e6) -> str:
        """Run `source` at MicroPython's raw prompt; return what it printed. Raises `RuntimeError` with its trace."""
        self.until(b"raw REPL; CTRL-B to exit\r\n>", send=b"\r\x03\x03\x01")
        got = self.until(b"\x04>", most_us, send=source.encode() + b"\x04")
        out, error, *_ = got.removeprefix(b"OK").split(b"\x04")
        if error:
            raise RuntimeError(error.decode())
        return out.decode()

    def close(self) -> None:
        """End the process."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.close()
        self._node.stdout.close()
        self._node.wait(10)

    def _order(self, do: str, **more: Any) -> dict[str, Any]:
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps({"do": do, **more}).encode() + b"\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer
