"""Decodes a file's bytes to lines, whatever wrote them: encodings, line ends, NULs, and noise.

Nothing here raises, and no more is kept than a line at a time and a bounded list of faults.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from pi_controller.record.model import Fault
from pi_controller.record.values import without_controls

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 32_000_000
MOST_LINES = 100_000
LONGEST_LINE = 40_000
"""Bytes of a line in UTF-8."""
MOST_FAULTS = 100

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins it
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Faults:
    """What is wrong, the first hundred faults each with its line, and how many more there were."""

    def __init__(self) -> None:
        self._found: list[Fault] = []
        self._more = 0
        self._last = 0

    def add(self, line: int, what: str) -> None:
        """Note a fault."""
        if len(self._found) < MOST_FAULTS:
            self._found.append(Fault(line, what))
        else:
            self._more += 1
            self._last = line

    def listed(self) -> list[Fault]:
        """Return the faults in the order of their lines."""
        more = [Fault(self._last, f"and {self._more} more faults, up to here")] if self._more else []
        return sorted(self._found, key=lambda fault: fault.line) + more


def lines(data: bytes, faults: Faults) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line that is not blank, stripped."""
    if len(data) > MOST_BYTES:
        faults.add(1, f"longer than {MOST_BYTES} bytes: the rest was not read")
        data = data[:MOST_BYTES]
    data = _as_utf8(data, faults).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    at, number = 0, 0
    while at < len(data):
        number += 1
        if number > MOST_LINES:
            faults.add(number, f"more than {MOST_LINES} lines: the rest was not read")
            return
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if end - at > LONGEST_LINE:
            faults.add(number, f"longer than {LONGEST_LINE} bytes: skipped")
        elif text := _decoded(data[at:end], number, faults):
            yield number, text
        at = end + 1


def _as_utf8(data: bytes, faults: Faults) -> bytes:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            if encoding == "utf-8":
                return data.removeprefix(mark)
            break
    else:
        mark, encoding = b"", _guessed(data[:1000])
        if not encoding:
            return data
    faults.add(1, f"not UTF-8: read as {encoding.upper()}")
    return data.removeprefix(mark).decode(encoding, "replace").encode("utf-8", "replace")


def _guessed(head: bytes) -> str:
    """Return UTF-16's kind where every other byte is mostly NUL, or nothing."""
    first, second = head[0::2].count(0), head[1::2].count(0)
    if second > len(head) / 4 and second > 10 * first:
        return "utf-16-le"
    return "utf-16-be" if first > len(head) / 4 and first > 10 * second else ""


def _decoded(line: bytes, number: int, faults: Faults) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text, name = line.decode("cp1252"), "Windows-1252"
        except UnicodeDecodeError:
            text, name = line.decode("latin-1"), "Latin-1"
        faults.add(number, f"not UTF-8: read as {name}")
    kept = without_controls(text)
    if kept != text:
        faults.add(number, "control characters or NULs: left out")
    return kept.strip()
