"""Inspect the files of a board, and replace the old ones: MicroPython programs that run on the board.

mpremote runs them. The inspection must run on any Python that may be on the board.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

from pi_controller.tools.boot_drive import FlashError
from pi_controller.tools.find_board import LIST, MAIN

NEW = ".new"
"""Suffix of a file's name while it is copied."""
PREFIX = "MAT "
"""Begins each output line for this program, because a board's boot.py may print, too."""
FAULT = "fault.txt"

_HASH = """
import os, json, hashlib, binascii
def sha(name):
    h = hashlib.sha256()
    with open(name, 'rb') as f:
        b = f.read(512)
        while b:
            h.update(b)
            b = f.read(512)
    return binascii.hexlify(h.digest()).decode()
"""
INSPECT = (
    _HASH
    + f"""
import sys
i = sys.implementation
print('{PREFIX}' + json.dumps({{'name': i.name, 'version': list(i.version)[:3],
    'machine': getattr(i, '_machine', sys.platform)}}))
def look():
    s = os.statvfs('/')
    sizes = {{e[0]: os.stat('/' + e[0])[6] for e in os.ilistdir('/') if e[1] == 0x8000}}
    def text(name, most):
        if name in sizes:
            with open('/' + name) as f:
                return f.read(most)
        return ''
    print('{PREFIX}' + json.dumps({{'block': s[1] or s[0], 'free': (s[1] or s[0]) * s[3], 'sizes': sizes,
        'hashes': {{n: sha('/' + n) for n in sizes if n.endswith('.py') or n == '{LIST}'}},
        'mine': 'sampler.Sampler(' in text('{MAIN}', 4000),
        'fault': text('{FAULT}', 3000), 'list': text('{LIST}', 3000)}}))
if i.name == 'micropython':
    look()
"""
)
"""Prints `BoardPython` and, on a MicroPython, `BoardFiles`."""


class BoardPython(msgspec.Struct, frozen=True):
    """The Python on the board, as it reports itself."""

    name: str
    version: tuple[int, ...]
    machine: str

    @property
    def text(self) -> str:
        """Name, version and board in one line."""
        names = {"micropython": "MicroPython", "circuitpython": "CircuitPython"}
        return f"{names.get(self.name, self.name)} {'.'.join(map(str, self.version))}, {self.machine}"


class BoardFiles(msgspec.Struct, frozen=True):
    """The board's file system: bytes per `block` and `free`, `sizes` and `hashes` of its files, the last `fault`.

    `mine` is true if its main.py is the mat's; `listed` are the files listed by the firmware on the board.
    """

    block: int
    free: int
    sizes: dict[str, int]
    hashes: dict[str, str]
    mine: bool
    fault: str
    list: str

    @property
    def firmware_files(self) -> tuple[str, ...]:
        """The files listed by the firmware on the board."""
        try:
            return msgspec.json.decode(self.list, type=_Listed).files
        except msgspec.DecodeError:
            return ()

    def room(self, sizes: Iterable[int]) -> int:
        """Return the bytes that files of these `sizes` occupy on the board, in whole blocks."""
        return sum(-(-max(size, 1) // self.block) * self.block for size in sizes)


class _Listed(msgspec.Struct, frozen=True):
    files: tuple[str, ...]


def parse_inspection(output: str) -> tuple[BoardPython, BoardFiles | None]:
    """Parse the output of the inspection; `BoardFiles` is None unless it is a MicroPython. Raises `FlashError`."""
    lines = [line.strip()[len(PREFIX) :] for line in output.splitlines() if line.startswith(PREFIX)]
    try:
        who = msgspec.json.decode(lines[0], type=BoardPython)
        return who, msgspec.json.decode(lines[1], type=BoardFiles) if len(lines) > 1 else None
    except (IndexError, msgspec.DecodeError) as error:
        raise FlashError("the board's answer is invalid", "unplug the board, plug it in and try again") from error


def remove_program(names: Iterable[str]) -> str:
    """Return the program that removes the files `names` if they exist."""
    return f"""
import os
for name in {list(names)!r}:
    try:
        os.remove(name)
    except OSError:
        pass
"""


def install_program(hashes: dict[str, str], stale: Iterable[str], main: bool) -> str:
    """Return the program that verifies the copied files and renames them, in the order of `hashes`.

    There is no main.py meanwhile (`main` is true if the board has one), so a board that loses power in these
    milliseconds starts without a program and accepts the next flash.
    """
    return f"""{_HASH}
new = json.loads({json.dumps(hashes)!r})
for name in new:
    if sha(name + '{NEW}') != new[name]:
        raise OSError('not whole: ' + name)
if '{MAIN}' in new:
    if {main}:
        os.remove('{MAIN}')
elif {main}:
    os.rename('{MAIN}', '{MAIN}{NEW}')
{remove_program([*stale, "stay"])}
for name in {[name for name in hashes if name != MAIN]!r}:
    os.rename(name + '{NEW}', name)
if '{MAIN}' in new or {main}:
    os.rename('{MAIN}{NEW}', '{MAIN}')
print('{PREFIX}done')
"""
