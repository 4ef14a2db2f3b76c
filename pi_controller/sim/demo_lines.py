"""Text output of the demo: a line for each hide or throw, with counts, result and what is waited for next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.registry import kind
from pi_controller.show import phrases
from pi_controller.show.game_show import has_sheet, show_of, worth
from pi_controller.show.words import word

if TYPE_CHECKING:
    from pi_controller.table.view import View


class DemoLines:
    """Makes a line of each hide that is over, or of each throw and change of the sheet; takes every view in order."""

    def __init__(self) -> None:
        self._number = 0  # of the hide or throw last described
        self._before: View | None = None

    def of(self, view: View) -> str | None:
        """Return the line for what has just happened, or None."""
        if not has_sheet(view):
            if view.phase not in ("show", "over") or view.hide == self._number:
                return None
            self._number = view.hide
            return _by_hide(view)
        before, self._before = self._before, view
        if before is None or (before.sheet == view.sheet and before.phase != "throw"):
            return None
        if before.sheet == view.sheet and view.strokes >= before.strokes:  # a throw of nothing may change nothing
            return None
        self._number += before.phase == "throw"
        return _by_sheet(view, before, self._number)


def _by_hide(view: View) -> str:
    hits = " then ".join(
        ("found" if hit.found else "missed") + (f" under pad {hit.pad}" if hit.pad and hit.found else "")
        for hit in view.hits
    )
    what = f"foul: {view.foul}" if view.foul else hits
    words = f"  {', '.join(view.calls)}" if view.calls else ""
    return f"hide {view.hide:>3}  {show_of(view.game).score(view, view)}  {what}{words}"


def _by_sheet(view: View, before: View, number: int) -> str:
    show, value = show_of(view.game), view.sheet.get("value")
    hides = kind(view.game).hidden is not None
    head = f"hide {before.hide:>3}" if hides else f"{number:>4}"
    if before.phase == "toss":
        head = " " * len(head)
    new = view.opening is not None and view.opening != before.opening
    lay = f"{show.lay(view)}." if new else ""
    result = f"{worth(value)}." if value is not None else lay
    words = ", ".join(word(call, "en", view.game).shown for call in view.calls)
    return "  ".join(
        filter(None, (head, show.score(view, before), result, words and f"{words}.", phrases.sentence(view)))
    )
