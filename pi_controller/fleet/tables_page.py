"""All tables as cards: score, what each waits for, and where a judge is wanted. Public views only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from pi_controller.machine_health import ENOUGH_BYTES
from pi_controller.show import phrases
from pi_controller.show.game_show import show_of
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.names import inline, player_name
from pi_controller.web.game_page import page_of
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_controller.fleet.hub import TableShown
    from pi_controller.table.view import View

HOT_C = 80.0
"""From here a Raspberry Pi slows itself down."""
CLOCK_S = 5.0
"""A clock that is wrong by more is mentioned; the message's way is part of it."""
QUIET_S = 40.0
"""A table that is connected says something every half minute, but for a hide in progress; from here on it is told."""
_LIST = Path(__file__).with_name("tables_list.html")
_PRESENCE = {"ready": mark("connected"), "stopped": mark("switched off"), "lost": mark("no connection")}
_ALARMS = {
    "replaced": mark("Another journal than before: nothing of it is taken until somebody accepts it."),
    "tampered": mark("This journal is not what it was: nothing of it is taken."),
}


class _Cell(NamedTuple):
    mark: str
    look: str
    name: str
    points: int
    sticks: int | None
    turn: bool


class _Row(NamedTuple):
    name: str
    match: str
    state: str
    presence: str
    heard: str
    wanted: str
    alarm: str
    troubles: Sequence[str]
    sentence: str
    cells: Sequence[_Cell]


def tables_markup(
    tables: Sequence[TableShown],
    language: str = "en",
    matches: Mapping[str, str] | None = None,
    now: float | None = None,
) -> Markup:
    """Return all tables as HTML; `matches` are those that they play, by table, `now` is s since 1970."""
    rows = [_row(table, language, (matches or {}).get(table.table, ""), now) for table in tables]
    return Markup(render(_LIST, language, rows=rows))  # noqa: S704 - escaped by it


def wanted(tables: Sequence[TableShown], language: str = "en") -> str:
    """Return in words where a judge is wanted."""
    rows = [_row(table, language) for table in tables]
    return " ".join(f"{row.name}: {row.wanted}" for row in rows if row.wanted)


def _row(table: TableShown, language: str, match: str = "", now: float | None = None) -> _Row:
    text, view = catalogue(language).gettext, table.view
    return _Row(
        name=inline(table.name) if table.name else table.table,
        match=match,
        state=table.state,
        presence=text(_PRESENCE[table.state]),
        heard=last_heard(table, now, language) if now is not None else "",
        wanted=_why_wanted(view, language) if view is not None else "",
        alarm=text(_ALARMS[table.alarm]) if table.alarm else "",
        troubles=troubles(table, language),
        sentence=phrases.sentence(view, language) if view is not None else text("Nothing has been heard of it yet."),
        cells=_cells(view, language) if view is not None else (),
    )


def last_heard(table: TableShown, now: float, language: str = "en") -> str:
    """Return in words when the table was last heard at `now` (s since 1970), "" where that is lately or unknown.

    In steps, so that what watches is not told of every second.
    """
    text = catalogue(language).gettext
    ago = now - table.heard if table.heard is not None else 0.0
    if ago < 10.0 or (table.state == "ready" and ago < QUIET_S):
        return ""
    if ago < 60.0:
        since = text("{n} s ago").format(n=10 * int(ago // 10))
    elif ago < 3600.0:
        since = text("{n} min ago").format(n=int(ago // 60))
    else:
        since = text("{n} h ago").format(n=int(ago // 3600))
    return text("Last heard {since}").format(since=since)


def troubles(table: TableShown, language: str = "en") -> list[str]:
    """Return in words what is wrong with the table's machine, as far as it has said."""
    text = catalogue(language).gettext
    if table.state != "ready":
        return []
    found = [text("Its mat is not heard.")] if table.mat is False else []
    if table.health is None:
        return found
    machine = table.health.machine
    if machine.under_voltage:
        found.append(text("Its power supply is too weak."))
    elif machine.under_voltage_since_start:
        found.append(text("Its power supply was too weak for a moment."))
    if machine.temperature_c is not None and machine.temperature_c >= HOT_C:
        found.append(text("It is hot: {degrees} °C.").format(degrees=round(machine.temperature_c)))
    if machine.free_bytes is not None and machine.free_bytes < ENOUGH_BYTES:
        found.append(text("Its disk is nearly full: {room} MB left.").format(room=machine.free_bytes // 1_000_000))
    if machine.fs_errors:
        found.append(text("Its disk has errors: take another card."))
    if table.clock_s is not None and abs(table.clock_s) > CLOCK_S:
        late = (
            text("Its clock is {seconds} s behind.") if table.clock_s < 0 else text("Its clock is {seconds} s ahead.")
        )
        found.append(late.format(seconds=round(abs(table.clock_s))))
    return found


def _why_wanted(view: View, language: str) -> str:
    text = catalogue(language).gettext
    if view.question is not None:
        return phrases.question(view.question, language)
    if view.protest:
        return text("A protest is not decided.")
    return text("Play is stopped: the journal cannot be written.") if view.phase == "halted" else ""


def _cells(view: View, language: str) -> list[_Cell]:
    page, teams = page_of(view), not show_of(view.game).of_players(view.sheet)
    shown, turn = page.strip(view, language), page.turn(view)
    return [
        _Cell(
            mark=cell.player if teams else str(n),
            look=cell.player.lower() if teams else "player",
            name=player_name(view, cell.player),
            points=cell.points,
            sticks=cell.sticks,
            turn=cell.player == turn,
        )
        for n, cell in enumerate(shown.cells, 1)
    ]
