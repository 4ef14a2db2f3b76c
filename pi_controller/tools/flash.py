"""Flashes this program's firmware onto the mat board, or checks whether it is there."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, Literal

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn
from rich.prompt import Confirm
from rich.table import Table
from rich.text import Text

from pi_controller.errors import PortError
from pi_controller.tools.board_files import FAULT, BoardFiles, BoardPython
from pi_controller.tools.board_flasher import BoardFlasher
from pi_controller.tools.boot_drive import FlashError
from pi_controller.tools.find_board import Firmware
from pi_controller.tools.flash_plan import FlashPlan, make_plan, require_suitable
from pi_controller.tools.probe import BoardIdentity

Mode = Literal["write", "check", "dry-run"]


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


def check_firmware(work: BoardFlasher, firmware: Firmware) -> dict[str, Any]:
    """Compare the board of `work` with `firmware`; `ok` is True if it has this firmware. Raises as `flash`."""
    running = work.interrupt_firmware()
    who, files = work.inspect()
    try:
        found = require_suitable(who, files)
        todo = make_plan(firmware, found)
    finally:
        with suppress(PortError):
            work.restart()
    return {
        "ok": todo.done,
        "port": work.device,
        "board": who.text,
        "runs": running.text() if running else None,
        "brought": firmware.version,
        "copy": todo.copy,
        "remove": [*todo.stale, *todo.left],
        "crash": found.fault.strip(),
    }


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
