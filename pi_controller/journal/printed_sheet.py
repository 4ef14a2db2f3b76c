"""Score sheet to print and sign: one self-contained HTML page for A4 or Letter, without scripts.

Names may have any Unicode characters: every text is escaped and isolated in its writing direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from pi_controller.host.pdf import Paper
from pi_controller.journal.chain import SHORT_HASH_CHARS
from pi_controller.journal.sheet import Sheet, SheetLine
from pi_controller.text import strip_controls

_WIDEST = 36
"""Most characters of all column headings (longest words); with more, the counts are written below each line."""
_STYLE = """
@page { size: %s; margin: 14mm 12mm 16mm;
  @bottom-left { content: "%s"; font: 8pt monospace; color: #333; }
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #333; } }
* { box-sizing: border-box; }
html { font: 10pt/1.35 "Noto Sans", "Noto Sans Canadian Aboriginal", "DejaVu Sans", sans-serif;
  color: #000; background: #fff; }
body { max-width: 190mm; margin: 0 auto; }
@media screen { body { padding: 8mm; } }
h1 { font-size: 16pt; line-height: 1.2; margin: 0 0 1mm; overflow-wrap: anywhere; }
p { margin: 0 0 1mm; overflow-wrap: anywhere; }
.small { font-size: 8pt; color: #333; }
.result { font-size: 12pt; font-weight: bold; margin: 2mm 0 3mm; }
table { width: 100%%; border-collapse: collapse; }
thead { display: table-header-group; }
th, td { text-align: left; vertical-align: top; padding: .7mm 1.5mm; overflow-wrap: anywhere; }
thead th { font-size: 8pt; border-bottom: .5mm solid #000; vertical-align: bottom; }
td { border-bottom: .15mm solid #bbb; }
tr { break-inside: avoid; }
tbody { border-bottom: .3mm solid #000; }
.turn { font-weight: bold; min-width: 12mm; } .players .turn { min-width: 26mm; }
.n { text-align: right; font-variant-numeric: tabular-nums; width: 1%%; white-space: nowrap; }
thead th { overflow-wrap: normal; }
.t { white-space: nowrap; width: 1%%; font-variant-numeric: tabular-nums; color: #333; }
.ruling td { font-style: italic; } .foul .what { font-weight: bold; } .note td { color: #444; font-size: 8.5pt; }
.gone td { color: #555; } .gone .what { text-decoration: line-through; }
.calls { font-weight: bold; width: 24mm; }
.end { margin-top: 5mm; break-inside: avoid; } .end code { font: 9pt "DejaVu Sans Mono", monospace; }
.sign { display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 8mm; padding-top: 18mm; }
.sign div { border-top: .3mm solid #000; padding-top: 1mm; font-size: 8.5pt; overflow-wrap: anywhere; }
@media screen and (max-width: 150mm) {
  html { font-size: 9pt; } body { padding: 3mm; } th, td { padding: .7mm; overflow-wrap: normal; }
  thead th { font-size: 7pt; } td.t, th.t:first-child { display: none; }
  .turn, .players .turn { min-width: 0; } .calls { width: auto; } .sign { grid-template-columns: 1fr; gap: 0; } }
"""


class Wording(NamedTuple):
    """Texts of the page: the game's name, and how a line is described (by default in the score sheet's own words)."""

    game: str = ""
    line: Callable[[SheetLine], str] = lambda line: line.what


def page(sheet: Sheet, paper: Paper = "A4", wording: Wording = Wording()) -> str:  # noqa: B008 - it is frozen
    """Return the HTML page of `sheet`."""
    game = wording.game or sheet.game
    title = " - ".join(filter(None, (game, *map(strip_controls, sheet.teams.values()))))
    foot = f"{sheet.game}, head {sheet.head[1][:SHORT_HASH_CHARS]}" if sheet.head[1] else sheet.game
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{escape(title)}</title><style>{_STYLE % (paper, foot)}</style></head><body>",
            *_top(sheet, game),
            *_table(sheet, wording),
            *_end(sheet),
            "</body></html>",
            "",
        ]
    )


def _set(text: str) -> str:
    return f"<bdi>{escape(strip_controls(text).strip())}</bdi>"


def _name(sheet: Sheet, side: str) -> str:
    name = strip_controls(sheet.teams.get(side, "")).strip()
    return f"{_set(name)} ({escape(side)})" if name and name != side else _set(side)


def _top(sheet: Sheet, game: str) -> Iterator[str]:
    against = " against ".join(_name(sheet, team) for team in sorted(sheet.teams))
    yield f"<h1>{against or escape(game)}</h1>"
    when = f", begun {sheet.began:%Y-%m-%d %H:%M}" if sheet.began else ""
    yield f"<p>{escape(game)}, rules version {escape(sheet.version)}{when}</p>"
    yield f'<p class="small">{_set(sheet.source)}</p>'
    if sheet.options:
        chosen = ", ".join(
            f"{_set(name.replace('_', ' '))} = {_set(str(value).replace(',', ', '))}"
            for name, value in sheet.options.items()
        )
        yield f'<p class="small">{chosen}</p>'
    yield f'<p class="result">{_result(sheet)}</p>'


def _result(sheet: Sheet) -> str:
    winner = str(sheet.state.get("winner") or "")
    if not winner:
        return "Finished without a winner" if sheet.over else "Not finished"
    if sheet.state.get("finish") == "forfeit":
        return f"Winner: {_name(sheet, winner)}, by forfeit"
    board = sheet.rules.scoreboard(sheet.state)
    points = board.scores if board.goal else {}
    score = f", {points.pop(winner)} to {max(points.values())}" if winner in points and len(points) > 1 else ""
    return f"Winner: {_name(sheet, winner)}{score}"


def _table(sheet: Sheet, wording: Wording) -> Iterator[str]:
    rules = sheet.rules
    heads = rules.scoreboard(sheet.state).list_counts()
    widths = (max(map(len, (*unit.split("_"), side))) for unit, side, _ in heads)
    shown = heads if sum(widths) <= _WIDEST else []
    word = "hide" if rules.hidden else "turn"
    yield "<table>" if sheet.teams else '<table class="players">'
    yield f'<thead><tr><th class="t">time</th><th class="t">{word}</th><th>action</th>'
    yield '<th class="calls">called</th>'
    yield "".join(f'<th class="n">{_set(unit.replace("_", " "))}<br>{_set(side)}</th>' for unit, side, _ in shown)
    yield "</tr></thead>"
    for turn, lines in groupby(sheet.lines, key=lambda line: line.turn):
        yield "<tbody>"
        labelled = gone = False
        for line in lines:
            again = gone and line.counts and line.kind != "ruling"  # the line with the number was taken back
            whose = f"{turn}&nbsp;{_set(line.side)}" if turn and (again or not labelled) else ""
            labelled, gone = True, not line.counts or (gone and not again)
            counts = rules.scoreboard(line.state).list_counts() if line.state else []
            yield _row(line, wording.line(line), whose, counts, len(shown))
        yield "</tbody>"
    yield "</table>"


def _row(line: SheetLine, done: str, turn: str, counts: list[tuple[str, str, int]], columns: int) -> str:
    """Return a row with its `counts` in that many `columns`; without columns they stand below the action."""
    what = _set(done.replace("_", " ")) + (f' <span class="small">[{_set(line.by)}]</span>' if line.by else "")
    if counts and not columns:
        listed = ", ".join(f"{_set(side or unit)} {n}" for unit, side, n in counts)
        what += f'<br><span class="small">{listed}</span>'
    cells = [f'<td class="t">{_clock(line.t)}</td><td class="turn">{turn}</td>', f'<td class="what">{what}</td>']
    cells.append(f'<td class="calls">{escape(", ".join(call.replace("_", " ") for call in line.calls))}</td>')
    cells += [f'<td class="n">{n}</td>' for _, _, n in counts[:columns]] or ['<td class="n"></td>'] * columns
    return f'<tr class="{line.kind}{"" if line.counts else " gone"}">{"".join(cells)}</tr>'


def _clock(t: float) -> str:
    if t < 0:
        return ""  # the clock was set back
    minutes, seconds = divmod(int(t), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _end(sheet: Sheet) -> Iterator[str]:
    yield '<div class="end">'
    if sheet.head[1]:
        grouped = " ".join(sheet.head[1][at : at + 8] for at in range(0, len(sheet.head[1]), 8))
        yield f"<p>The journal has {sheet.head[0]} records. Its head is</p><p><code>{grouped}</code></p>"
        yield f'<p class="small">Journal {escape(sheet.epoch)}. If no play was added since, '
        yield "'moccasin-mat verify' shows the same head; a different head means that records were changed.</p>"
    signers: Sequence[str] = ("Judge",)
    if sheet.teams:
        signers = [*(f"Captain of {_name(sheet, team)}" for team in sorted(sheet.teams)), "Judge"]
    yield f'<div class="sign">{"".join(f"<div>{who}</div>" for who in signers)}</div></div>'
