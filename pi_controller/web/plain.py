"""Any game on the pages by its score sheet, for a game that has no page of its own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pi_controller.games import registry
from pi_controller.record.notation import spoken
from pi_controller.show.game_show import everything, held, plain, pool, show_of
from pi_controller.show.names import player_name
from pi_controller.show.paint import share
from pi_controller.web.markup import head, label, middle, strokes, team
from pi_controller.web.shapes import drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from pi_controller.table.view import View

_STROKES = 20


def table_of(view: View, language: str) -> str:
    """Return the table as HTML: by `table` of the game's own module in `web/games/`, plainly where it has none."""
    own = registry.floor(view.game, "web.games")
    make: Callable[[View, str], str] = table if own is None else own.table
    return make(view, language)


def table(view: View, language: str) -> str:
    """Return a plain table as HTML: each side with what it holds, the pool, and what else stands on the sheet."""
    show, counts, total, rest = show_of(view.game), held(view.sheet), everything(view.sheet), pool(view.sheet)
    others = "".join(label(f"{plain(key)}: {value}") for key, value in show.others(view))
    pile = f'{strokes("long", share(rest[1], total, _STROKES), _STROKES)}<p class="count">{rest[1]}</p>' if rest else ""
    between = middle(plain(rest[0]) if rest else "", pile + others)
    if not show.of_players(view.sheet):
        sections = [
            team(view, side, show.turn(view), head(view, side, None, "", language) + _row(n, total))
            for side, n in counts.items()
        ]
        return sections[0] + between + sections[1]
    seats = ""
    for i, (side, n) in enumerate(counts.items(), 1):
        role = show.role(view, side, language)
        seats += (
            f'<li class="p{i}" data-value="{"throws" if role else ""}" data-player="{i}">{drawn(i, str(i))}'
            f"<div><h2><bdi>{escape(player_name(view, side))}</bdi></h2><p>{n}</p>"
            + (f'<span class="role">{escape(role)}</span>' if role else "")
            + "</div></li>"
        )
    return f'<section class="riders"><ol>{seats}</ol></section>{between}'


def _row(n: int, total: int) -> str:
    return f'{strokes("long", share(n, total, _STROKES), _STROKES)}<p class="count">{n}</p>'


def named(game: str, action: Mapping[str, Any]) -> str:
    """Return what a button for `action` is called: the line that says it, as in a record."""
    return plain(spoken(game, action))
