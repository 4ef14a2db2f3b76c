"""Text output of the demo: a line for each hide or throw, with what was done and the counts."""

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.referee.story import SETTLED, PlayedTurn
from pi_controller.rules.registry import game_class
from pi_controller.table.view import View


class DemoLines:
    """Formats a line for each settled hide or throw; takes every view in order."""

    def __init__(self) -> None:
        self._last: PlayedTurn | None = None

    def line_for(self, view: View) -> str | None:
        """Return the line for the latest event, or None."""
        turn = view.past[-1] if view.past else None
        if turn is None or turn is self._last or (game_class(view.game).hand_passes and view.phase not in SETTLED):
            return None
        self._last = turn
        head = f"hide {turn.number:>3}" if turn.number else " " * 8
        return "  ".join(
            (head, get_show(view.game, ENGLISH).describe_counts(view), Phrases(ENGLISH).describe_turn(view, turn))
        )
