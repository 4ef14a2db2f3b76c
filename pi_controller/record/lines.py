"""Decodes a file's bytes to lines, for any origin: encodings, line ends, NULs, and noise.

No function here raises. At most one line and a bounded list of faults are kept in memory.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from pi_controller.record import tokens
from pi_controller.record.model import ParseIssue

MAX_BYTES = 32_000_000
MAX_LINES = 100_000
MAX_LINE_BYTES = 40_000
"""Maximum length of a line in UTF-8, bytes."""
MAX_ISSUES = 100


class ParseIssues:
    """A bounded list of faults: the first hundred, each with its line, and the number of the others."""

    def __init__(self) -> None:
        self._found: list[ParseIssue] = []
        self._more = 0
        self._last = 0

    def add(self, line: int, what: str) -> None:
        """Note a fault."""
        if len(self._found) < MAX_ISSUES:
            self._found.append(ParseIssue(line, what))
        else:
            self._more += 1
            self._last = line

    def by_line(self) -> list[ParseIssue]:
        """Return the faults in the order of their lines."""
        more = [ParseIssue(self._last, f"and {self._more} more faults, up to here")] if self._more else []
        return sorted(self._found, key=lambda fault: fault.line) + more


def decode_lines(data: bytes, faults: ParseIssues) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line that is not blank, stripped."""
    if len(data) > MAX_BYTES:
        faults.add(1, f"longer than {MAX_BYTES} bytes: the rest was not read")
        data = data[:MAX_BYTES]
    data = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    at, number = 0, 0
    while at < len(data):
        number += 1
        if number > MAX_LINES:
            faults.add(number, f"more than {MAX_LINES} lines: the rest was not read")
            return
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if end - at > MAX_LINE_BYTES:
            faults.add(number, f"longer than {MAX_LINE_BYTES} bytes: skipped")
        elif text := _decode_line(data[at:end], number, faults):
            yield number, text
        at = end + 1


def _decode_line(line: bytes, number: int, faults: ParseIssues) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        faults.add(number, "not UTF-8, skipped: save the file as UTF-8")
        return ""
    kept = tokens.remove_controls(text)
    if kept != text:
        faults.add(number, "control characters or NULs: left out")
    return kept.strip()
