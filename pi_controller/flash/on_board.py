"""MicroPython snippets run on the board: inspect its files, and put the new ones in place of the old.

These are MicroPython programs, given to mpremote. The first must run on whatever is on the board.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from pi_controller.flash.firmware import LIST, MAIN, FlashError

if TYPE_CHECKING:
    from collections.abc import Iterable

NEW = ".new"
"""What a file is called while it is copied."""
PREFIX = "MAT "
"""Begins each line that is for us; a board's boot.py may print, too."""
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
_LOOK = (
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


class Who(msgspec.Struct, frozen=True):
    """Which Python is on the board, as it says itself."""

    name: str
    version: tuple[int, ...]
    machine: str

    @property
    def text(self) -> str:
        """Name, version and board in one line."""
        names = {"micropython": "MicroPython", "circuitpython": "CircuitPython"}
        return f"{names.get(self.name, self.name)} {'.'.join(map(str, self.version))}, {self.machine}"


class Found(msgspec.Struct, frozen=True):
    """The board's file system: bytes a `block` and `free`, `sizes` and `hashes` of its files, the last `fault`.

    `mine` says that its main.py is the mat's; `listed` are the files that an earlier firmware says are its own.
    """

    block: int
    free: int
    sizes: dict[str, int]
    hashes: dict[str, str]
    mine: bool
    fault: str
    list: str

    @property
    def listed(self) -> tuple[str, ...]:
        """The files that the firmware on the board says are its own."""
        try:
            return msgspec.json.decode(self.list, type=_Listed).files
        except msgspec.DecodeError:
            return ()

    def room(self, sizes: Iterable[int]) -> int:
        """Return how many bytes files of these `sizes` take on the board: whole blocks."""
        return sum(-(-max(size, 1) // self.block) * self.block for size in sizes)


class _Listed(msgspec.Struct, frozen=True):
    files: tuple[str, ...]


def look() -> str:
    """Return the program that prints `Who` and, on a MicroPython, `Found`."""
    return _LOOK


def parse_look(output: str) -> tuple[Who, Found | None]:
    """Return what the look's output says; no `Found` of another Python. Raises `FlashError`."""
    lines = [line.strip()[len(PREFIX) :] for line in output.splitlines() if line.startswith(PREFIX)]
    try:
        who = msgspec.json.decode(lines[0], type=Who)
        return who, msgspec.json.decode(lines[1], type=Found) if len(lines) > 1 else None
    except (IndexError, msgspec.DecodeError) as error:
        raise FlashError("the board's answer makes no sense", "unplug the board, plug it in and try again") from error


def clear(names: Iterable[str]) -> str:
    """Return the program that removes `names` where they are."""
    return f"""
import os
for name in {list(names)!r}:
    try:
        os.remove(name)
    except OSError:
        pass
"""


def put_in_place(hashes: dict[str, str], stale: Iterable[str], main: bool) -> str:
    """Return the program that checks the copied files and gives them their names, in the order of `hashes`.

    While it works there is no main.py (`main` says that the board has one), so a board that loses its power in these
    milliseconds starts with none of it and takes the next flash.
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
{clear([*stale, "stay"])}
for name in {[name for name in hashes if name != MAIN]!r}:
    os.rename(name + '{NEW}', name)
if '{MAIN}' in new or {main}:
    os.rename('{MAIN}{NEW}', '{MAIN}')
print('{PREFIX}done')
"""
