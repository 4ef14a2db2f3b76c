"""Whether a bead may lie hidden now, by the journal of a table: then nobody looks at the mat's sensors from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.errors import MatError
from pi_controller.games.registry import game
from pi_controller.referee.history import fold
from pi_controller.table.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

NOTHING_HIDDEN = ("toss", "throw", "over")
"""In the others the hider may already have laid the bead down, or not yet taken it up."""


def hide_open(path: Path) -> bool:
    """Return whether the game in the journal at `path` stands where a bead may lie hidden. No journal: no bead.

    Where the journal cannot be read, that is taken for yes.
    """
    if not path.exists():
        return False
    try:
        with Journal(path, read_only=True) as journal:
            opened = journal.opened()
            if opened is None:
                return False
            story = fold(game(opened.game, opened.options), journal.read())
    except MatError:
        return True
    return story.phase not in NOTHING_HIDDEN
