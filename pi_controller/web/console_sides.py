"""Who plays and what they hold, small enough for a phone: a card each, told by shape, name and number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.games.base import other
from pi_controller.show import sheet_phrases
from pi_controller.show.game_show import POOL_NAMES, held, pool, show_of
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name, team_name
from pi_controller.web.markup import chip, safe
from pi_controller.web.shapes import drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.table.view import View

    Text = Callable[[str], str]
    Number = tuple[object, str]


def sides(view: View, language: str = "en") -> str:
    """Return the cards as HTML. Every name is escaped and kept apart from the words around it."""
    text = catalogue(language).gettext
    if sheet_phrases.has_sheet(view) and show_of(view.game).of_players(view.sheet):
        return _players(view, language)
    if not sheet_phrases.has_sheet(view):
        middle = _card("middle", "", text("In the middle"), "", [(view.middle, text("sticks"))])
        cards = [
            _team(
                view,
                team,
                _role(view, team, text),
                [(view.long.get(team, 0), text("sticks")), (view.short.get(team, 0), text("points"))],
            )
            for team in "AB"
        ]
        return cards[0] + middle + cards[1]
    sheet = view.sheet
    roles = {team: sheet_phrases.role(view, team, language) for team in "AB"}
    match view.game:
        case "ojibwe":
            numbers = {
                t: [(sheet["counters"][t], text("counters")), (sheet["short"][t], text("short sticks"))] for t in "AB"
            }
            middle = _card("middle", "", text("In the pool"), "", [(sheet["pool"], text("counters"))])
        case "slahal":
            numbers = {t: [(sheet["live"][t], text("live")), (sheet["dead"][t], text("dead"))] for t in "AB"}
            out = [(sheet["pairs_out"], text("pairs out"))] if sheet["pairs_out"] else []
            middle = _card("middle", "", text("Bones"), "", out)
        case "plum_stone":
            numbers = {t: [(sheet["counters"][t], text("counters"))] for t in "AB"}
            middle = _card("middle", "", text("In the pile"), "", [(sheet["pile"], text("counters"))])
        case _:
            rest = pool(sheet)
            numbers = {t: [(n, "")] for t, n in held(sheet).items()}
            middle = _card("middle", "", text(POOL_NAMES[rest[0]]), "", [(rest[1], "")]) if rest else ""
    king = {t: text("king stick") if sheet.get("king") == t else "" for t in "AB"}
    cards = [_team(view, team, roles[team], numbers[team], king[team]) for team in "AB"]
    return cards[0] + middle + cards[1]


def _role(view: View, team: str, text: Text) -> str:
    if view.phase == "over":
        return text("wins") if view.winner == team else ""
    if view.hider not in {"A", "B"}:
        return ""
    return text("hides") if view.hider == team else text("hits") if other(view.hider) == team else ""  # type: ignore[arg-type]


def _team(view: View, team: str, role: str, numbers: Sequence[Number], more: str = "") -> str:
    shape = f'<span class="shape" aria-hidden="true">{team}</span>'
    return _card(team.lower(), shape, team_name(view, team), role, numbers, more)


def _card(look: str, shape: str, name: str, role: str, numbers: Sequence[Number], more: str = "") -> str:
    told = "".join(f"<span><b>{safe(str(n))}</b> {safe(said)}</span>" for n, said in numbers)
    does = f'<span class="role">{safe(role)}</span>' if role else ""
    turn = ' data-turn="yes"' if role else ""
    return (
        f'<li class="side-card {look}"{turn}><div class="side-name">{shape}<bdi>{safe(name)}</bdi></div>'
        f'<div class="side-numbers">{told}</div><div class="side-role">{does}{chip(more)}</div></li>'
    )


def _players(view: View, language: str) -> str:
    text, sheet = catalogue(language).gettext, view.sheet
    cards, rest = "", pool(sheet)
    rows: Sequence[dict[str, Any]] = next(value for value in sheet.values() if isinstance(value, list | tuple))
    for i, (row, (name, count)) in enumerate(zip(rows, held(sheet).items(), strict=True), 1):
        role = text("wins") if sheet["winner"] == name else text("throws") if sheet.get("thrower") == name else ""
        numbers = [(count, text("notches") if "progress" in row else text("sticks"))]
        out = text("out") if row.get("out") else ""
        cards += _card(f"p{i}", drawn(i, str(i)), player_name(view, name), role, numbers, out)
    if rest:
        cards += _card("middle", "", text(POOL_NAMES[rest[0]]), "", [(rest[1], text("sticks"))])
    return cards
