"""Put this program's firmware on the mat board, or tell whether it is there."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn
from rich.prompt import Confirm
from rich.table import Table
from rich.text import Text

from pi_controller.errors import PortError
from pi_controller.flash.firmware import FlashError
from pi_controller.flash.on_board import FAULT
from pi_controller.flash.plan import plan, suited

if TYPE_CHECKING:
    from typing import Literal

    from rich.console import Console

    from pi_controller.flash.firmware import Firmware
    from pi_controller.flash.on_board import Found, Who
    from pi_controller.flash.plan import Plan
    from pi_controller.flash.probe import Answer
    from pi_controller.flash.work import Work

    Mode = Literal["write", "check", "dry-run"]


def flash(work: Work, firmware: Firmware, console: Console, mode: Mode = "write", *, force: bool = False) -> int:
    """Flash the board that `work` is for, and report each step. Raises `PortError` and `FlashError`."""
    with console.status("looking at the board"):
        running = work.open_up()
        who, found = work.look()
    try:
        _show_board(console, work, firmware, running, who)
        fit = suited(who, found)
        todo = plan(firmware, fit)
        _show(console, firmware, fit, todo)
        if not todo.done and mode != "check":
            todo.check_room()
            _agree(console, todo, force, asking=mode == "write")
        if not todo.done and mode == "write":
            _copy(console, work, firmware, todo)
    except FlashError:
        with suppress(PortError):  # what ran before runs again, and the first error is the one to tell
            _restart(console, work)
        raise
    _restart(console, work)
    if mode != "write":
        return 0 if todo.done or mode == "dry-run" else 1
    with console.status("waiting for the mat"):
        answer = work.meet(firmware)
    console.print(Text(f"the mat runs: {answer.text()}, {answer.start()}", "bold green"))
    return 0


def _show_board(console: Console, work: Work, firmware: Firmware, running: Answer | None, who: Who) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("port", Text(work.device))
    table.add_row("board", Text(who.text))
    table.add_row("runs", Text(f"{running.text()}" if running else "no mat"))
    table.add_row("brought", Text(f"firmware {firmware.version}"))
    console.print(table)


def _show(console: Console, firmware: Firmware, found: Found, todo: Plan) -> None:
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


def _agree(console: Console, todo: Plan, force: bool, asking: bool) -> None:
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
        "keep what you need of it ('mpremote cp :main.py .' copies it here), then say --force",
    )


def _copy(console: Console, work: Work, firmware: Firmware, todo: Plan) -> None:
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

        def copied(name: str) -> None:
            if name in firmware.files:
                progress.update(task, advance=len(firmware.files[name]), description=next(names))

        work.write(firmware, todo, copied)
    console.print(f"copied {len(todo.copy)} files, each whole on the board")


def _restart(console: Console, work: Work) -> None:
    with console.status("the board restarts"):
        work.restart()
