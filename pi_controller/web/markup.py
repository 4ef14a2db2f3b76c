"""Pieces of a table as HTML. Every text goes through `safe`; styles stand in the style sheet, as the policy demands."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pi_controller.show.names import player_name, team_name
from pi_controller.show.sheet_phrases import role
from pi_controller.web.page import sticks

if TYPE_CHECKING:
    from pi_controller.table.view import View

safe = escape


def strokes(kind: str, lit: int, of: int) -> str:
    """Return a row of `of` strokes, the first `lit` on, under the class `kind`; said in numbers elsewhere."""
    return f'<div class="{kind} sticks" aria-hidden="true">{sticks(lit, of)}</div>'


def label(text: str) -> str:
    """Return a small grey label."""
    return f'<p class="label">{safe(text)}</p>'


def chip(text: str) -> str:
    """Return a short fact in a frame, or nothing."""
    return f'<span class="chip">{safe(text)}</span>' if text else ""


def part(view: View, team: str, turn: str | None) -> str:
    """Return how a team's section is marked: `won`, `hides` for whose turn it is, `hits` for the other, or nothing."""
    if view.sheet["winner"]:
        return "won" if view.sheet["winner"] == team else ""
    return "" if turn is None else "hides" if turn == team else "hits"


def head(view: View, team: str, points: tuple[int, str] | None, chips: str, language: str) -> str:
    """Return the top of a team's section: its letter in its shape, its name, a large number, and what it does."""
    name = team_name(view, team) if points else player_name(view, team)
    said = role(view, team, language)
    score = f'<p class="points"><b>{points[0]}</b><span class="label">{safe(points[1])}</span></p>' if points else ""
    does = f'<span class="role">{safe(said)}</span>' if said else ""
    return (
        f'<div class="who"><span class="shape" aria-hidden="true">{team}</span><h2><bdi>{safe(name)}</bdi></h2></div>'
        f'{score}<div class="state">{does}{chips}</div>'
    )


def team(view: View, letter: str, turn: str | None, inside: str) -> str:
    """Return a team's section around `inside`; `turn` is the team whose turn it is."""
    return (
        f'<section class="team {letter.lower()}" data-value="{part(view, letter, turn)}" data-team="{letter}">'
        f"{inside}</section>"
    )


def middle(title: str, inside: str) -> str:
    """Return the section between the two teams."""
    return f'<section class="team middle"><div class="who"><h2 class="label">{safe(title)}</h2></div>{inside}</section>'


def bowl_value(value: int | None, said: str) -> str:
    """Return what the last throw was worth, as it stands in the bowl."""
    return f'<p class="value"><b>{"–" if value is None else value}</b><span class="label">{safe(said)}</span></p>'
