"""Lines for a terminal or a pipe: a path, an option and a quoted command stay in one piece.

A terminal's lines are wrapped between words. A pipe's are not wrapped, because a program or an editor reads them.
"""

from __future__ import annotations

import re
import shutil
import sys
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 10_000
"""Characters in a line that is written to a pipe or a file, where none is wrapped."""
_COMMAND = re.compile(r"(?<!\w)'[^'\n]+'(?!\w)")
_PADDING = re.compile(r" +(?=\n)")


def line_width(stream: IO[str] | None = None) -> int:
    """Return the width of the terminal behind `stream` (default: standard output), or `PIPE_WIDTH`."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else PIPE_WIDTH


def wrap_words(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Wrap `text` at spaces outside of quoted commands; begin with `indent`, the other lines with `hanging`.

    >>> wrap_words("run 'moccasin-mat setup' in /etc/moccasin-mat", 24)
    ["run 'moccasin-mat setup'", 'in /etc/moccasin-mat']
    """
    from textwrap import wrap  # noqa: PLC0415 - not needed for a pipe

    whole = _COMMAND.sub(lambda found: found[0].replace(" ", "\0"), text)
    lines = wrap(
        whole, width, initial_indent=indent, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\0", " ") for line in lines]


class _Unpadded:
    """A text file that leaves out the blanks at the ends of lines, with which a table fills its cells."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(_PADDING.sub("", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def open_console() -> Console:
    """Return rich's console on standard output, which wraps and pads no line that goes to a pipe."""
    from rich.console import Console  # noqa: PLC0415

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=PIPE_WIDTH, file=cast("IO[str]", _Unpadded(sys.stdout)))
