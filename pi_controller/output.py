"""Lines for a terminal or a pipe: a path, an option and a quoted command stay in one piece; progress of long work.

A terminal's lines are wrapped between words. A pipe's are not wrapped, because a program or an editor reads them.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Timer
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console

PROGRESS_AFTER_S = 2.0
PIPE_WIDTH = 10_000
"""Characters in a line that is written to a pipe or a file, where none is wrapped."""
_COMMAND = re.compile(r"(?<!\w)'[^'\n]+'(?!\w)")
_PADDING = re.compile(r" +(?=\n)")


def line_width(stream: IO[str] | None = None) -> int:
    """Return the width of the terminal behind `stream` (default: standard output), or `PIPE_WIDTH`."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else PIPE_WIDTH


def wrap_words(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Wrap `text` at spaces outside of quoted commands; begin with `indent`, the other lines with `hanging`.

    >>> wrap_words("run 'moccasin-mat service install' in /etc/moccasin-mat", 36)
    ["run 'moccasin-mat service install'", 'in /etc/moccasin-mat']
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


@contextmanager
def show_progress(what: str) -> Iterator[None]:
    """Show `what` and the elapsed time on standard error while a block takes longer than `PROGRESS_AFTER_S`.

    Only on a terminal.
    """
    shown = ExitStack()

    def show() -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        console = Console(stderr=True)
        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        shown.enter_context(Progress(*columns, console=console, transient=True)).add_task(what)

    timer = Timer(PROGRESS_AFTER_S, show)
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()
        shown.close()
