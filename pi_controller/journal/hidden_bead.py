"""Look whether a bead may be hidden: during a hide no other program moves the sensors of a table."""

from pathlib import Path

from pi_controller.errors import MatError
from pi_controller.journal.journal import Journal
from pi_controller.referee.history import fold
from pi_controller.rules.registry import game

PHASES_WITHOUT_BEAD = ("toss", "throw", "over")
"""In all other phases the bead may already, or still, be on the mat."""


def may_hide_bead(path: Path) -> bool:
    """Return True if a bead may be hidden in the game whose journal is at `path`; False without a journal.

    Returns True if the journal cannot be read.
    """
    if not path.exists():
        return False
    try:
        with Journal(path, read_only=True) as journal:
            opened = journal.read_opening()
            if opened is None:
                return False
            story = fold(game(opened.game, opened.options), journal.read())
    except MatError:
        return True
    return story.phase not in PHASES_WITHOUT_BEAD
