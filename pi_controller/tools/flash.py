"""Flashes this program's firmware onto the mat board, or checks whether it is there."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn
from rich.prompt import Confirm
from rich.table import Table
from rich.text import Text

from pi_controller.errors import PortError
from pi_controller.extras import MissingExtraError
from pi_controller.tools import find_board, probe
from pi_controller.tools.boot_drive import CHIPS, MICROPYTHON_HINT, FlashError
from pi_controller.tools.find_board import LIST, MAIN, Firmware
from pi_controller.tools.probe import BoardIdentity

Mode = Literal["write", "check", "dry-run"]

# MicroPython programs run on the board: inspect its files, and replace the old ones with the new.
#
# mpremote runs them. The inspection must run on any Python that may be on the board.


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
_INSPECT = (
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
    def listed(self) -> tuple[str, ...]:
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


# Plans a flash: which files to copy, which to remove, and what prevents it.


SPARE_BLOCKS = 4
"""Blocks reserved for the file system's metadata and the files `boots` and `fault.txt`."""


class FlashPlan(msgspec.Struct, frozen=True):
    """Names of files: to `copy`, the `same` on both sides, obsolete ones of ours (`stale`), `left` by a broken
    copy.

    `foreign` are another program's files that would be overwritten; `needs` and `free` are bytes on the board.
    """

    copy: tuple[str, ...]
    same: tuple[str, ...]
    stale: tuple[str, ...]
    left: tuple[str, ...]
    foreign: tuple[str, ...]
    has_main: bool
    needs: int
    free: int

    @property
    def done(self) -> bool:
        """True if the board has exactly this firmware."""
        return not (self.copy or self.stale or self.left)

    def check_room(self) -> None:
        """Raise `FlashError` if the files do not fit: the old ones stay until the new ones are complete."""
        if self.needs > self.free:
            raise FlashError(
                f"there is too little room on the board: {self.needs // 1024} kB are needed, "
                f"{self.free // 1024} kB are free",
                "remove files of your own from it: 'mpremote ls' shows what is there, 'mpremote rm :NAME' removes one",
            )


def require_suitable(who: BoardPython, found: BoardFiles | None) -> BoardFiles:
    """Return the board's files. Raises `FlashError` if the board cannot run the firmware."""
    chip = next((chip for chip in CHIPS if chip.name in who.machine), None)
    oldest = (chip or CHIPS[0]).micropython
    if found is None or who.name != "micropython" or who.version[:2] < oldest:
        wanted = f"MicroPython {'.'.join(map(str, oldest))} or newer"
        raise FlashError(f"the board runs {who.text}; the mat needs {wanted}", MICROPYTHON_HINT)
    if chip is None:
        raise FlashError(
            f"the board has neither an {' nor an '.join(chip.name for chip in CHIPS)}: {who.text}",
            "use one of the boards listed in hardware/pins.md",
        )
    return found


def make_plan(firmware: Firmware, found: BoardFiles) -> FlashPlan:
    """Return the plan that updates the board's files to the firmware."""
    hashes = firmware.hashes
    copy = tuple(name for name in hashes if found.hashes.get(name) != hashes[name])
    there = found.sizes.keys()
    listed = set(found.listed)
    ours = listed or found.mine or MAIN not in there
    foreign = () if ours else tuple(name for name in copy if name in there and name != LIST)
    left = tuple(sorted({f"{name}{NEW}" for name in {*hashes, *listed}} & there))
    return FlashPlan(
        copy=copy,
        same=tuple(name for name in hashes if name not in copy),
        stale=tuple(sorted((listed - hashes.keys()) & there)),
        left=left,
        foreign=foreign,
        has_main=MAIN in there,
        needs=found.room(len(firmware.files[name]) for name in copy) + SPARE_BLOCKS * found.block,
        free=found.free + found.room(found.sizes[name] for name in left),
    )


def flash(
    work: BoardFlasher, firmware: Firmware, console: Console, mode: Mode = "write", *, force: bool = False
) -> int:
    """Flash the board of `work` and print each step; return the exit status. Raises `PortError` and `FlashError`."""
    with console.status("looking at the board"):
        running = work.interrupt_firmware()
        who, found = work.inspect()
    try:
        _show_board(console, work, firmware, running, who)
        fit = require_suitable(who, found)
        todo = make_plan(firmware, fit)
        _show(console, firmware, fit, todo)
        if not todo.done and mode != "check":
            todo.check_room()
            _confirm_overwrite(console, todo, force, asking=mode == "write")
        if not todo.done and mode == "write":
            _copy(console, work, firmware, todo)
    except FlashError:
        with suppress(PortError):  # start the board's old program again; the first error is the one to report
            work.restart()
        raise
    with console.status("the board restarts"):
        work.restart()
    if mode != "write":
        return 0 if todo.done or mode == "dry-run" else 1
    with console.status("waiting for the mat"):
        answer = work.verify_running(firmware)
    console.print(Text(f"the mat runs: {answer.text()}, {answer.start()}", "bold green"))
    return 0


def _show_board(
    console: Console, work: BoardFlasher, firmware: Firmware, running: BoardIdentity | None, who: BoardPython
) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("port", Text(work.device))
    table.add_row("board", Text(who.text))
    table.add_row("runs", Text(f"{running.text()}" if running else "no mat"))
    table.add_row("brought", Text(f"firmware {firmware.version}"))
    console.print(table)


def _show(console: Console, firmware: Firmware, found: BoardFiles, todo: FlashPlan) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=8)
    table.add_column()
    table.add_column(justify="right")
    for name in todo.copy:
        what = "replace" if name in found.sizes else "add"
        style = "bold red" if name in todo.foreign else "yellow"
        table.add_row(Text(what, style), name, _kb(len(firmware.files[name])))
    for name in (*todo.stale, *todo.left):
        table.add_row(Text("remove", "yellow"), name, _kb(found.sizes[name]))
    for name in todo.same:
        table.add_row(Text("same", "dim"), Text(name, "dim"), Text(_kb(len(firmware.files[name])), "dim"))
    console.print(Padding(table, (1, 2)))
    if "boot.py" in found.sizes:
        console.print(Text("boot.py is not the mat's: it stays, and runs before the mat", "dim"))
    if found.fault:
        console.print(Text(f"the last crash, from the board's {FAULT}:", "bold red"))
        console.print(Padding(Text(found.fault.strip()), (0, 2)))
    if todo.done:
        console.print("nothing to do: the board has this firmware")


def _kb(size: int) -> str:
    return f"{size / 1024:.1f} kB"


def _confirm_overwrite(console: Console, todo: FlashPlan, force: bool, asking: bool) -> None:
    if not todo.foreign or force:
        return
    names = ", ".join(todo.foreign)
    if (
        asking
        and sys.stdin.isatty()
        and Confirm.ask(f"another program is on the board; overwrite its {names}?", console=console, default=False)
    ):
        return
    raise FlashError(
        f"another program is on the board: {names} would be overwritten",
        "keep what you need of it ('mpremote cp :main.py .' copies it here), then use --force",
    )


def _copy(console: Console, work: BoardFlasher, firmware: Firmware, todo: FlashPlan) -> None:
    with Progress(
        TextColumn("  {task.description:<22}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("", total=sum(len(firmware.files[name]) for name in todo.copy))
        names = iter([*todo.copy[1:], "checking"])
        progress.update(task, description=todo.copy[0] if todo.copy else "checking")

        def report_copied(name: str) -> None:
            if name in firmware.files:
                progress.update(task, advance=len(firmware.files[name]), description=next(names))

        work.write(firmware, todo, report_copied)
    console.print(f"copied {len(todo.copy)} files, each whole on the board")


# Runs mpremote by its command line, which is stable; its classes change.
#
# It runs in a separate process, so a board that hangs only runs into the time limit.


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
        return PortError(f"the board at {device} went away", "plug it in again and run 'moccasin-mat flash' once more")
    if "failed to access" in text:
        return PortError(f"another program is using {device}", "stop it: 'moccasin-mat ports' names it")
    if late or "could not enter raw repl" in text:
        return SilentError(f"no MicroPython answers on the board at {device}", "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return FlashError(
        f"the board refused: {lines[-1] if lines else 'it said nothing'}",
        "unplug the board, plug it in and try again; 'moccasin-mat flash --check' shows what is on it",
    )


# The steps of a flash on one board: inspect, copy, verify, restart. The caller decides whether to write.


COPY_S = 120.0
"""Time limit for copying, which takes some seconds, in case the board hangs."""
FIRST_ANSWER_S = 8.0
"""Longest wait for an answer after the last data from a starting board, which takes a second or two."""
START_S = 120.0
"""Longest wait in all."""


class BoardFlasher:
    """Flashes the board at `device`. `limit_s` limits each run of mpremote, `answer_s` the wait for a mat's answer."""

    def __init__(self, device: str, limit_s: float = LIMIT_S, answer_s: float = probe.ANSWER_S) -> None:
        self.device = device
        self._limit_s = limit_s
        self._answer_s = answer_s

    def interrupt_firmware(self) -> BoardIdentity | None:
        """Interrupt the firmware so that files can be copied; return the identity of the mat that was running, if any.

        Raises `PortError` if the port is held, forbidden or lost.
        """
        port = find_board.open_port(self.device)
        try:
            answer = probe.probe(port, self._answer_s).answer
            if answer is None:
                return None
            before = find_board.enumeration_id(self.device)
            with suppress(PortError):  # the board may restart during the write
                port.write(probe.INTERRUPT)
        finally:
            port.close()
        find_board.wait_until_back(self.device, before)
        return answer

    def inspect(self) -> tuple[BoardPython, BoardFiles | None]:
        """Inspect the board's Python and files. Raises `PortError`, and `FlashError` if no MicroPython answers."""
        before = find_board.enumeration_id(self.device)
        try:
            return parse_inspection(self._mpremote("exec", _INSPECT))
        except PortError:
            # mpremote interrupts a mat that hangs in its start; it then restarts without its program
            find_board.wait_until_back(self.device, before)
            return parse_inspection(self._mpremote("exec", _INSPECT))
        except SilentError as error:
            raise FlashError(error.message, f"if it is new, or runs another system: {MICROPYTHON_HINT}") from error

    def write(self, firmware: Firmware, plan: FlashPlan, copied: Callable[[str], None]) -> None:
        """Copy the files of `plan` beside the old ones, verify them on the board, and install them all at once.

        `copied` is called with each name. The board restarts at the end. Raises `PortError` and `FlashError`; the old
        files stay untouched until the final step.
        """
        with tempfile.TemporaryDirectory() as folder:
            commands = ["exec", remove_program(plan.left)]
            for name in plan.copy:
                path = Path(folder) / name
                path.write_bytes(firmware.files[name])
                commands += ["fs", "cp", "-f", str(path), f":{name}{NEW}", "+", "exec", f"print('MAT copied {name}')"]
            hashes = {name: firmware.hashes[name] for name in plan.copy}
            commands += ["exec", install_program(hashes, plan.stale, main=plan.has_main)]
            run_mpremote(self.device, commands, COPY_S, lambda line: copied(line.rpartition(" ")[2]))

    def restart(self) -> None:
        """Restart the board as if it had been plugged in, and wait until it is back. Raises `PortError`."""
        before = find_board.enumeration_id(self.device)
        with suppress(PortError):  # the board may disappear before mpremote is done
            self._mpremote("reset")
        find_board.wait_until_back(self.device, before)

    def verify_running(self, firmware: Firmware) -> BoardIdentity:
        """Send HELLO to the mat that runs now. Raises `FlashError` if it does not run this firmware."""
        port = find_board.open_port(self.device)
        try:
            result = probe.probe(port, FIRST_ANSWER_S, starting_s=START_S)
        finally:
            port.close()
        answer = result.answer
        if result.prompt:
            raise FlashError(
                "the firmware is on the board, but its program ended, and MicroPython's prompt is there",
                "'moccasin-mat flash --check' shows its last crash, if it kept one",
            )
        if answer is None:
            raise FlashError(
                "the firmware is on the board, but the board does not answer",
                "unplug it and plug it in; then 'moccasin-mat flash --check' shows its last crash, if it had one",
            )
        if not answer.is_supported or answer.firmware != firmware.version:
            identity = answer.text()
            raise FlashError(
                f"the board {identity if not answer.is_supported else f'answers with firmware {answer.firmware}'}; "
                f"copied was firmware {firmware.version}, protocol {probe.own_protocol()}",
                "run 'moccasin-mat flash' once more",
            )
        return answer

    def _mpremote(self, *commands: str) -> str:
        return run_mpremote(self.device, commands, self._limit_s)
