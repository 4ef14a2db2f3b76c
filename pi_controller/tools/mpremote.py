"""Run mpremote by its command line, which is stable; its classes change.

It runs in a separate process, so a board that hangs only runs into the time limit.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pi_controller.errors import PortError
from pi_controller.extras import MissingExtraError
from pi_controller.tools.board_files import PREFIX
from pi_controller.tools.boot_drive import FlashError

LIMIT_S = 30.0
"""mpremote itself waits 10 s for each answer of a board."""


class SilentError(FlashError):
    """No Python on the board answers."""


def require_mpremote() -> None:
    """Raise `MissingExtraError` if mpremote is not installed."""
    if importlib.util.find_spec("mpremote") is None:
        raise MissingExtraError("flash", "flash")


def run_mpremote(
    device: str, commands: Sequence[str], limit_s: float = LIMIT_S, on_line: Callable[[str], None] = lambda _: None
) -> str:
    """Run mpremote's `commands` on the board at `device`; return the output. Lines with `PREFIX` go to
    `on_line`.

    Raises `PortError` if the board is lost or held, `SilentError` if it does not answer within `limit_s`, `FlashError`
    if a command failed.
    """
    command = [sys.executable, "-u", "-m", "mpremote", "connect", device, *commands]
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        errors: list[bytes] = []
        aside = threading.Thread(target=errors.extend, args=(process.stderr,), daemon=True)
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
        raise _explain_failure(device, output + "\n" + b"".join(errors).decode("utf-8", "replace"), late.is_set())
    return output


def _explain_failure(device: str, text: str, late: bool) -> PortError | FlashError:
    if not Path(device).exists() or "SerialException" in text or "Input/output error" in text:
        return PortError(
            f"the board at {device} went away", "plug it in again and run 'moccasin-mat mat flash' once more"
        )
    if "failed to access" in text:
        return PortError(f"another program is using {device}", "stop it: 'moccasin-mat mat ports' names it")
    if late or "could not enter raw repl" in text:
        return SilentError(f"no MicroPython answers on the board at {device}", "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return FlashError(
        f"the board refused: {lines[-1] if lines else 'it said nothing'}",
        "unplug the board, plug it in and try again; 'moccasin-mat mat flash --check' shows what is on it",
    )
