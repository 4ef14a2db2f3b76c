"""Status of all tables as cards: score, state of play, and judge requests. Public views only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import isolate_name
from pi_controller.host.machine_health import LOW_DISK_BYTES
from pi_controller.hub.table_names import name_tables
from pi_controller.text import mark
from pi_controller.web.game_page import page_of
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from pi_controller.hub.hub import TableStatus
    from pi_controller.table.view import View


HOT_C = 80.0
"""From this temperature a Raspberry Pi throttles itself."""
MAX_CLOCK_ERROR_S = 5.0
"""A larger clock error is shown; the message's transmission time is part of it."""
QUIET_S = 40.0
"""A connected table sends something every 30 s except during a hide; a longer silence is shown."""
_LIST = Path(__file__).with_name("tables_list.html")
_PRESENCE = {"ready": mark("connected"), "stopped": mark("switched off"), "lost": mark("no connection")}
_ALARMS = {
    "replaced": mark("This table has a different journal than before. It is ignored until you accept it."),
    "tampered": mark("This table's journal has been changed. It is ignored."),
}


def tables_markup(
    tables: Sequence[TableStatus],
    tr: Translator,
    matches: Mapping[str, str] | None = None,
    now: float | None = None,
) -> Markup:
    """Return all tables as HTML.

    `matches` are the current ones by table, `now` is s since 1970.
    """
    names = name_tables(tables)
    rows = [
        {"name": isolate_name(names[table.table])} | _row(table, tr, (matches or {}).get(table.table, ""), now)
        for table in tables
    ]
    return Markup(render(_LIST, tr, rows=rows))  # noqa: S704 - escaped by `render`


def format_judge_requests(tables: Sequence[TableStatus], tr: Translator) -> str:
    """Return a sentence for each table that needs a judge."""
    names = name_tables(tables)
    wanted = [(names[table.table], _why_wanted(table.view, tr)) for table in tables if table.view is not None]
    return " ".join(f"{isolate_name(name)}: {why}" for name, why in wanted if why)


def _row(table: TableStatus, tr: Translator, match: str, now: float | None) -> dict[str, Any]:
    view = table.view
    return {
        "match": match,
        "state": table.state,
        "presence": tr.text(_PRESENCE[table.state]),
        "heard": last_heard(table, now, tr) if now is not None else "",
        "wanted": _why_wanted(view, tr) if view is not None else "",
        "alarm": tr.text(_ALARMS[table.alarm]) if table.alarm else "",
        "troubles": describe_troubles(table, tr),
        "sentence": Phrases(tr).sentence(view) if view is not None else tr.text("It has not connected yet."),
        "cells": _cells(view, tr) if view is not None else (),
    }


def last_heard(table: TableStatus, now: float, tr: Translator) -> str:
    """Return when the table last sent something, as text; "" if that was recently or is unknown.

    `now` is s since 1970. The text changes in steps, so that screen readers are not triggered every second.
    """
    ago = now - table.heard if table.heard is not None else 0.0
    if ago < 10.0 or (table.state == "ready" and ago < QUIET_S):
        return ""
    if ago < 60.0:
        return tr.text("Last contact {n} s ago", n=10 * int(ago // 10))
    if ago < 3600.0:
        return tr.text("Last contact {n} min ago", n=int(ago // 60))
    return tr.text("Last contact {n} h ago", n=int(ago // 3600))


def describe_troubles(table: TableStatus, tr: Translator) -> list[str]:
    """Return the problems that the table's machine has reported, as text."""
    if table.state != "ready":
        return []
    found = [tr.text("Its mat is not connected.")] if table.mat is False else []
    if table.health is None:
        return found
    machine = table.health.machine
    if machine.under_voltage:
        found.append(tr.text("Its power supply is too weak."))
    elif machine.under_voltage_since_start:
        found.append(tr.text("Its power supply was too weak for a moment."))
    if machine.temperature_c is not None and machine.temperature_c >= HOT_C:
        found.append(tr.text("It is hot: {degrees} °C.", degrees=round(machine.temperature_c)))
    if machine.free_bytes is not None and machine.free_bytes < LOW_DISK_BYTES:
        found.append(tr.text("Its disk is nearly full: {room} MB left.", room=machine.free_bytes // 1_000_000))
    if machine.fs_errors:
        found.append(tr.text("Its disk has errors: take another card."))
    if table.clock_s is not None and abs(table.clock_s) > MAX_CLOCK_ERROR_S:
        seconds = round(abs(table.clock_s))
        late, early = mark("Its clock is {seconds} s behind."), mark("Its clock is {seconds} s ahead.")
        found.append(tr.text(late if table.clock_s < 0 else early, seconds=seconds))
    return found


def _why_wanted(view: View, tr: Translator) -> str:
    if view.question is not None:
        return Phrases(tr).question(view.question, view.teams)
    if view.protest:
        return tr.text("A protest is waiting for a decision.")
    return tr.text("Play is stopped: the table cannot save the game.") if view.phase == "halted" else ""


def _cells(view: View, tr: Translator) -> list[dict[str, Any]]:
    teams = view.scoreboard.of_teams
    return [
        {
            "mark": side.sign,
            "look": side.look if teams else "player",
            "name": side.name,
            "points": side.score.n,
            "held": [f"{bar.n} {bar.unit}" for bar in side.counts[1:]],
            "turn": side.state in {"turn", "won"},
        }
        for side in page_of(view, tr).draw_sides(view)
    ]
