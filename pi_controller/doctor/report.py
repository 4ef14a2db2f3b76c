"""The doctor's report: one line for each part, pass, fail or not here, with what to do."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Literal

import msgspec
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

Outcome = Literal["pass", "fail", "not here"]

_FEWEST = 3
"""So many parts that were not looked at share one line."""
_STYLES = {"pass": "green", "fail": "bold red", "not here": "dim"}


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of the table: what was `found`, and what is `todo` where it fails."""

    group: str
    name: str
    outcome: Outcome
    found: str = ""
    todo: str = ""


class Report(msgspec.Struct, frozen=True):
    """All lines. `simulated` says that the mat was none; `versions` are those of the programs it ran with."""

    lines: tuple[Line, ...]
    versions: dict[str, str]
    simulated: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing fails."""
        return not self.failed

    @property
    def failed(self) -> tuple[Line, ...]:
        """The lines that fail."""
        return tuple(line for line in self.lines if line.outcome == "fail")

    def json(self) -> bytes:
        """Return the report as one JSON object: `ok`, `simulated`, `versions`, `lines`."""
        report = {"ok": self.ok, "simulated": self.simulated, "versions": self.versions, "lines": self.lines}
        return msgspec.json.encode(report)

    def summary(self) -> str:
        """Return how many pass, fail and are not here."""
        counts = {outcome: sum(line.outcome == outcome for line in self.lines) for outcome in _STYLES}
        mat = " (a simulated mat)" if self.simulated else ""
        return f"{counts['pass']} pass, {counts['fail']} fail, {counts['not here']} not here{mat}"

    def text(self) -> str:
        """Return the report as plain text, a line for each part and one below it where something is to be done."""
        rows: list[str] = []
        group = ""
        for line in self.lines:
            if line.group != group:
                group = line.group
                rows += ["", group]
            rows.append(f"  {line.outcome:<9} {line.name}{': ' if line.found else ''}{line.found}")
            if line.todo:
                rows.append(f"            -> {line.todo}")
        return "\n".join([*rows[1:], "", self.summary(), ""])

    def show(self, console: Console) -> None:
        """Print the report: the parts by group, what was not looked at in one line, then what to do, and the sum."""
        group = ""
        table = Table.grid(padding=(0, 2))
        for line in _folded(self.lines):
            if line.group != group:
                group = line.group
                if table.rows:
                    console.print(table)
                table = Table.grid(padding=(0, 2))
                table.add_column(width=8)
                table.add_column(width=38)
                table.add_column(overflow="fold")
                console.print(Text(f"\n{group}", "bold"))
            style = _STYLES[line.outcome]
            found = Text(line.found, "" if line.outcome != "not here" else "dim")
            table.add_row(
                Text(line.outcome, style), Text(line.name, "dim" if line.outcome == "not here" else ""), found
            )
        console.print(table)
        console.print(Text(f"\n{self.summary()}", "bold green" if self.ok else "bold red"))
        for line in self.failed:  # below all of it, where the screen ends
            console.print(Text(f"  {line.name}: {line.found}"))
            console.print(Text(f"    > {line.todo}", "yellow"))


def _folded(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines; as one where several parts of a group in a row were not looked at for the same reason."""
    for (group, outcome, found), alike in groupby(lines, key=lambda line: (line.group, line.outcome, line.found)):
        parts = list(alike)
        if outcome != "not here" or len(parts) < _FEWEST:
            yield from parts
        else:
            what = group.lower() if group.endswith("s") else "parts"
            yield Line(group, f"{len(parts)} {what}", outcome, f"not looked at, {found}")
