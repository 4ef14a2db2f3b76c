"""Runs mpremote by its command line, which its makers keep stable; its classes change.

It runs in a process of its own, so a board that hangs costs a time limit and nothing else.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.errors import PortError
from pi_controller.flash.firmware import FlashError
from pi_controller.flash.on_board import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import IO

LIMIT_S = 30.0
"""mpremote itself waits 10 s for each answer of a board."""


class SilentError(FlashError):
    """Nothing on the board answers as a Python does."""


def check() -> None:
    """Raise `FlashError` where mpremote is not installed."""
    if importlib.util.find_spec("mpremote") is None:
        raise FlashError("mpremote is not installed", "install it with: pip install 'moccasin-mat[flash]'")


def run(
    device: str, commands: Sequence[str], limit_s: float = LIMIT_S, on_line: Callable[[str], None] = lambda _: None
) -> str:
    """Do mpremote's `commands` on the board at `device`; return what was printed. Each of our lines goes to `on_line`.

    Raises `PortError` when the board is lost or held, `SilentError` when it does not answer within `limit_s`,
    `FlashError` when what it was to do failed.
    """
    command = [sys.executable, "-u", "-m", "mpremote", "connect", device, *commands]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        errors: list[bytes] = []
        aside = threading.Thread(target=_drain, args=(process.stderr, errors), daemon=True)
        aside.start()
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit_s, stop)
        timer.start()
        try:
            lines: list[str] = []
            for raw in process.stdout:
                line = raw.decode("utf-8", "replace").rstrip("\r\n")
                lines.append(line)
                if line.startswith(PREFIX):
                    on_line(line[len(PREFIX) :])
            status = process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:  # the caller was interrupted
                process.kill()
        aside.join()
    output = "\n".join(lines)
    if status or late.is_set():
        raise _failed(device, output + "\n" + b"".join(errors).decode("utf-8", "replace"), late.is_set())
    return output


def _drain(stream: IO[bytes], into: list[bytes]) -> None:
    into.extend(stream)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONIOENCODING": "utf-8"}


def _failed(device: str, text: str, late: bool) -> PortError | FlashError:
    if not Path(device).exists() or "SerialException" in text or "Input/output error" in text:
        return PortError(f"the board at {device} went away", "plug it in again and say 'moccasin-mat flash' once more")
    if "failed to access" in text:
        return PortError(f"another program holds {device}", "stop it: 'moccasin-mat ports' tells which it is")
    if late or "could not enter raw repl" in text:
        return SilentError(f"no MicroPython answers on the board at {device}", "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return FlashError(
        f"the board refused: {lines[-1] if lines else 'it said nothing'}",
        "unplug the board, plug it in and try again; 'moccasin-mat flash --check' tells what is on it",
    )
