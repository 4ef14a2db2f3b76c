"""The demo's lines: one for each hide or throw, with the counts, what happened and what the table waits for next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.registry import kind
from pi_controller.show import phrases, sheet_phrases
from pi_controller.show.game_show import worth
from pi_controller.show.names import player_name
from pi_controller.show.words import word

if TYPE_CHECKING:
    from pi_controller.table.view import View


class DemoLines:
    """Give it every view in order; it says something when there is something new to say."""

    def __init__(self) -> None:
        self._told = 0
        self._before: View | None = None

    def of(self, view: View) -> str | None:
        """Return the line for what has just happened, or None."""
        if not sheet_phrases.has_sheet(view):
            if view.phase not in ("show", "over") or view.hide == self._told:
                return None
            self._told = view.hide
            return _hampa_apena(view)
        before, self._before = self._before, view
        if before is None or (before.sheet == view.sheet and before.phase != "throw"):
            return None
        if before.sheet == view.sheet and view.strokes >= before.strokes:  # a throw of nothing may change nothing
            return None
        self._told += before.phase == "throw"
        return _by_sheet(view, before, self._told)


def _hampa_apena(view: View) -> str:
    hits = " then ".join(
        ("found" if hit.found else "missed") + (f" under pad {hit.pad}" if hit.pad and hit.found else "")
        for hit in view.hits
    )
    what = f"foul: {view.foul}" if view.foul else hits
    words = f"  {', '.join(view.calls)}" if view.calls else ""
    return (
        f"hide {view.hide:>3}  A {view.long['A']:>2}  B {view.long['B']:>2}  middle {view.middle:>2}"
        f"  points {view.short['A']}:{view.short['B']}  {what}{words}"
    )


def _by_sheet(view: View, before: View, number: int) -> str:
    sheet = view.sheet
    hides = kind(view.game).hidden is not None
    head = f"hide {before.hide:>3}" if hides else f"{number:>4}"
    if before.phase == "toss":
        head = " " * len(head)
    match view.game:
        case "ojibwe":
            held, short = sheet["counters"], sheet["short"]
            counts = f"A {held['A']:>2}  B {held['B']:>2}  pool {sheet['pool']:>2}  games {short['A']}:{short['B']}"
        case "slahal":
            counts = "  ".join(
                f"{team} live {sheet['live'][team]} dead {sheet['dead'][team]:>2}" for team in ("A", "B")
            )
            counts += f"  king {sheet['king'] or '-'}"
        case "bageswin":
            counts = "  ".join(f"{player_name(view, one['name'])} {one['sticks']:>3}" for one in sheet["players"])
            counts += f"  bank {sheet['bank']}" if sheet["bank"] or before.sheet["bank"] else ""
        case "plum_stone":
            held = sheet["counters"]
            counts = f"{player_name(view, 'A')} {held['A']:>3}  {player_name(view, 'B')} {held['B']:>3}"
            counts += f"  pile {sheet['pile']:>3}"
        case _:
            counts = "  ".join(f"{player_name(view, one['player'])} {one['progress']:>2}" for one in sheet["horses"])
    new = view.opening is not None and view.opening != before.opening
    lay = f"{_lay(view)}." if new else ""
    said = worth(sheet.get("value")) + "." if sheet.get("value") is not None else lay
    words = ", ".join(word(call, "en", view.game).shown for call in view.calls)
    return "  ".join(filter(None, (head, counts, said, words and f"{words}.", phrases.sentence(view))))


def _lay(view: View) -> str:
    """Return where the marked ball or the bones were, by the opened commitment."""
    assert view.opening is not None
    pads = " and ".join(str(view.opening.pad))
    if view.game == "slahal":
        return f"Bones over {pads}"
    opened = f"Opened {', '.join(map(str, view.opened))}. " if view.opened else ""
    return f"{opened}Ball under {pads}"
