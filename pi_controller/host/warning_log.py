"""The warning log: the machine's last warnings in one small file that survives a power cut.

The card keeps systemd's journal in memory. `python -m pi_controller.host.warning_log` copies the warnings and errors
of this program's units, of systemd and of the kernel, and the fault shown on the screen, into `warnings.log`. The file
has at most `MAX_BYTES`, is replaced atomically, and at most once in `WRITE_S` (after a fault in `FAULT_WRITE_S`). Hides
are never logged; sign-ins and addresses are left out.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from pi_controller import __version__
from pi_controller.errors import describe_error
from pi_controller.host.files import atomic_write
from pi_controller.host.status import StartFault, card_id, own_channel

FILE = "warnings.log"
POSITION = "warnings-position"
"""File in the run folder with the position up to which systemd's journal was copied."""
MAX_BYTES = 64_000
MAX_LINE_CHARS = 300
MAX_NEW = 500
"""Most entries that one run reads, the newest."""
WRITE_S = 540.0
"""Less than the timer's ten minutes."""
FAULT_WRITE_S = 60.0
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w:])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){3,7}(?![\w:])")
_PERSONAL = re.compile(r"^sign-in refused")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


class Position(msgspec.Struct, frozen=True):
    """Position up to which systemd's journal was copied, and the last fault noted."""

    cursor: str = ""
    fault: str = ""


def read_entries(output: Iterable[bytes]) -> tuple[list[str], str]:
    """Return log lines for the `output` of `journalctl --output=json`, and its last cursor ("" for none).

    Equal messages in a row become one line.
    """
    lines: list[str] = []
    cursor, before, times = "", ("", ""), 1
    for raw in output:
        try:
            entry = msgspec.json.decode(raw, type=dict[str, Any])
        except msgspec.MsgspecError:
            continue
        cursor = str(entry.get("__CURSOR", cursor))
        source, message = _source(entry), _message(entry.get("MESSAGE"))
        if not source or not message or _PERSONAL.match(message):
            continue
        if (source, message) == before:
            times += 1
            lines[-1] = f"{lines[-1].removesuffix(f' ({times - 1} times)')} ({times} times)"
            continue
        before, times = (source, message), 1
        lines.append(f"{_local_time(entry.get('__REALTIME_TIMESTAMP'))} {source}: {message}")
    return lines, cursor


def _source(entry: dict[str, Any]) -> str:
    """Return the entry's source; "" if it is none of this program's units, systemd and the kernel."""
    unit = str(entry.get("_SYSTEMD_UNIT", ""))
    if unit.startswith("moccasin-mat"):
        return unit.removesuffix(".service")
    if entry.get("_TRANSPORT") == "kernel":
        return "kernel"
    return "systemd" if entry.get("_PID") == "1" else ""


def _message(value: object) -> str:
    """Return a message in one line without addresses; "" for binary data, which journalctl prints as numbers."""
    text = value if isinstance(value, str) else ""
    return _ADDRESS.sub("(address)", _CONTROL.sub(" ", text)).strip()[:MAX_LINE_CHARS]


def _local_time(microseconds: object) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(int(str(microseconds)) / 1e6))
    except (ValueError, OverflowError, OSError):
        return "?"


def is_due(path: Path, t: float, *, new_fault: bool) -> bool:
    """Return True if the log may be written at `t`, s since 1970, also after the clock was set back."""
    try:
        age = t - path.stat().st_mtime
    except OSError:
        return True
    return not 0 <= age < (FAULT_WRITE_S if new_fault else WRITE_S)


def append(path: Path, lines: Iterable[str]) -> None:
    """Append `lines` atomically, and drop the oldest above `MAX_BYTES`. Raises `OSError`."""
    new = "".join(f"{line}\n" for line in lines).encode()
    content = (path.read_bytes() if path.exists() else b"") + new
    if len(content) > MAX_BYTES:
        content = content[-MAX_BYTES:]
        content = content[content.find(b"\n") + 1 :]
    atomic_write(path, content, 0o640)


def update(path: Path, run: Path, output: Iterable[bytes], fault: StartFault | None, t: float) -> bool:
    """Add the new entries of `output` and the `fault` to the log at `path`; return True if it was written.

    `run` is the folder with the position; like systemd's journal it is lost at power-off. Raises `OSError`.
    """
    position = read_position(run)
    noted = "" if fault is None else f"{fault.since} {fault.code}: {fault.message}; {fault.hint}"
    new_fault = bool(noted) and noted != (position or Position()).fault
    entries, cursor = read_entries(output)
    if not (entries or new_fault) or not is_due(path, t, new_fault=new_fault):
        return False
    lines = [] if position else [f"--- switched on: version {__version__}, card {card_id() or '-'}"]
    append(path, lines + entries + ([f"fault since {_CONTROL.sub(' ', noted)}"] if new_fault else []))
    after = Position(cursor or (position.cursor if position else ""), noted)
    atomic_write(run / POSITION, msgspec.json.encode(after))
    return True


def read_position(run: Path) -> Position | None:
    """Return the position up to which the journal was copied since power-on; None if it was not."""
    try:
        return msgspec.json.decode((run / POSITION).read_bytes(), type=Position)
    except (OSError, msgspec.MsgspecError):
        return None


def read_log(path: Path) -> str:
    """Return the log, or why there is none."""
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return "no warnings are kept on this machine\n"
    except OSError as error:
        return f"the warnings cannot be read: {describe_error(error)}\n"


def journal_output(cursor: str) -> list[bytes]:
    """Return the entries of systemd's journal from warning level up since `cursor`, as JSON lines."""
    command = ["journalctl", "--boot", "--priority=warning", "--output=json", "--no-pager", f"--lines={MAX_NEW}"]
    done = subprocess.run(
        [*command, *([f"--after-cursor={cursor}"] if cursor else [])], capture_output=True, timeout=60, check=False
    )
    return done.stdout.splitlines()


def main() -> int:
    """Update the log of this machine; return 0, or 1 if it cannot be written."""
    folder, run = (Path(os.environ[name].split(":")[0]) for name in ("STATE_DIRECTORY", "RUNTIME_DIRECTORY"))
    position = read_position(run) or Position()
    try:
        update(folder / FILE, run, journal_output(position.cursor), own_channel().read(), time.time())
    except (OSError, subprocess.SubprocessError) as error:
        print(f"<5>the warnings are not kept: {describe_error(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
