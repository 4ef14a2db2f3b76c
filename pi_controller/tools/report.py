"""Show the doctor's report: on the screen, as plain text and as JSON."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pi_controller.host.findings import Finding, Group, find_failures

_FEWEST = 3
"""From this number on, unchecked parts share one line."""
_STYLES = {"pass": "green", "fail": "bold red", "not here": "dim"}


class DoctorReport(msgspec.Struct, frozen=True):
    """All findings. `simulated` is true for a simulated mat; `versions` are those of the programs used."""

    lines: tuple[Finding, ...]
    versions: dict[str, str]
    simulated: bool = False

    @property
    def ok(self) -> bool:
        """True if no part fails."""
        return not find_failures(self.lines)

    def json(self) -> bytes:
        """Return the report as one JSON object: `ok`, `simulated`, `versions`, `lines`."""
        report = {"ok": self.ok, "simulated": self.simulated, "versions": self.versions, "lines": self.lines}
        return msgspec.json.encode(report, enc_hook=str)

    def summary(self) -> str:
        """Return the numbers of lines that pass, fail and are not here."""
        counts = {outcome: sum(line.outcome == outcome for line in self.lines) for outcome in _STYLES}
        mat = " (a simulated mat)" if self.simulated else ""
        return f"{counts['pass']} pass, {counts['fail']} fail, {counts['not here']} not here{mat}"

    def text(self) -> str:
        """Return the report as plain text: a line for each part, and its remedy below it."""
        rows: list[str] = []
        group = ""
        for line in self.lines:
            if line.group != group:
                group = line.group
                rows += ["", group]
            rows.append(f"  {line.outcome:<9} {line.name}{': ' if line.message else ''}{line.message}")
            if line.hint:
                rows.append(f"            -> {line.hint}")
        return "\n".join([*rows[1:], "", self.summary(), ""])

    def show(self, console: Console) -> None:
        """Print the report: the parts by group with unchecked ones folded, the summary, and the remedies."""
        group = ""
        table = Table.grid(padding=(0, 2))
        for line in _fold_lines(self.lines):
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
            found = Text(line.message, "" if line.outcome != "not here" else "dim")
            table.add_row(
                Text(line.outcome, style), Text(line.name, "dim" if line.outcome == "not here" else ""), found
            )
        console.print(table)
        console.print(Text(f"\n{self.summary()}", "bold green" if self.ok else "bold red"))
        for line in find_failures(self.lines):  # last, where the screen ends
            console.print(Text(f"  {line.name}: {line.message}"))
            console.print(Text(f"    > {line.hint}", "yellow"))


def _fold_lines(lines: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the lines; consecutive parts of a group that were not checked for the same reason become one."""
    for (group, outcome, message), alike in groupby(lines, key=lambda line: (line.group, line.outcome, line.message)):
        parts = list(alike)
        if outcome != "not here" or len(parts) < _FEWEST:
            yield from parts
        else:
            what = group.lower() if group.endswith("s") else "parts"
            yield Group(group).absent(f"{len(parts)} {what}", "not checked, {why}", why=message)
