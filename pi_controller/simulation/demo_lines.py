"""Text output of the demo: a line for each hide or throw, with counts, result and the next action."""

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.referee.story import SETTLED
from pi_controller.rules.registry import game_class
from pi_controller.table.view import View


class DemoLines:
    """Formats a line for each finished hide, throw or change of the sheet; takes every view in order."""

    def __init__(self) -> None:
        self._number = 0  # view of the hide or throw described last
        self._before: View | None = None

    def line_for(self, view: View) -> str | None:
        """Return the line for the latest event, or None."""
        if game_class(view.game).hand_passes:
            if view.phase not in SETTLED or view.hide == self._number:
                return None
            self._number = view.hide
            return _by_hide(view)
        before, self._before = self._before, view
        if before is None or (before.sheet == view.sheet and before.phase != "throw"):
            return None
        if before.sheet == view.sheet and view.strokes >= before.strokes:  # a throw may leave the sheet unchanged
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
    return f"hide {view.hide:>3}  {get_show(view.game, ENGLISH).describe_counts(view)}  {what}{words}"


def _by_sheet(view: View, before: View, number: int) -> str:
    show, value = get_show(view.game, ENGLISH), view.sheet.get("value")
    hides = game_class(view.game).hidden is not None
    head = f"hide {before.hide:>3}" if hides else f"{number:>4}"
    if before.phase == "toss":
        head = " " * len(head)
    new = view.opening is not None and view.opening != before.opening
    lay = f"{show.describe_reveal(view)}." if new else ""
    result = f"{show.describe_throw_value(value)}." if value is not None else lay
    words = show.list_words(view.calls)
    return "  ".join(
        filter(None, (head, show.describe_counts(view), result, words and f"{words}.", Phrases(ENGLISH).sentence(view)))
    )
