r"""The table: one game with its journal and its public view. The journal is the only source of the game.

A `Table` writes the referee's facts to a `Journal` before it shows them. Its `view` is its only output, and has no
field that could hold the bead's position before the reveal. Its settings are in `pi_controller.config`.

>>> import secrets, tempfile
>>> from pathlib import Path
>>> from pi_controller.rules import game
>>> from pi_controller.referee import JudgeAction, referee_for
>>> from pi_controller.table import Journal, JournalVerdict, Table, View, verify_journal, view_of
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "table.sqlite"
>>> rules = game("dakota")
>>> with Journal(path) as journal:
...     referee = referee_for(rules, None, secrets.token_bytes)
...     table = Table(journal, rules, {"A": "Big Coulee", "B": "Long Hollow"}, referee)
...     facts = table.judge(JudgeAction(5.0, {"do": "toss", "winner": "A"}))
...     isinstance(table.view, View), table.view.scoreboard.turn, table.view.scoreboard.bars
(True, 'A', {'A': 4, 'B': 0, '': 16})

A view can be made from any history, without a journal:

>>> from pi_controller.referee import History
>>> view_of(rules, History(rules).now, seq=0).phase
'toss'

A journal can be verified while it is written; its hash chain shows any change:

>>> found: JournalVerdict = verify_journal(path)
>>> found.whole, found.records, found.game
(True, 2, 'dakota')
>>> folder.cleanup()
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazy_getattr

if TYPE_CHECKING:
    from pi_controller.journal.journal import Journal
    from pi_controller.journal.verify import JournalVerdict, verify_journal
    from pi_controller.table.table import Table
    from pi_controller.table.view import View, view_of
else:
    __getattr__ = lazy_getattr(  # sqlite3
        __name__,
        {
            "Journal": "pi_controller.journal.journal",
            "Table": "table",
            "JournalVerdict": "pi_controller.journal.verify",
            "View": "view",
            "verify_journal": "pi_controller.journal.verify",
            "view_of": "view",
        },
    )

__all__ = ["Journal", "JournalVerdict", "Table", "View", "verify_journal", "view_of"]
