r"""The table: one game with its journal, its settings and its public view. What is not in the journal did not happen.

A `Table` writes what a referee concludes to a `Journal` before anybody is shown it; its `view` is all that leaves it,
and has no field that could hold the bead's place before the reveal. `Settings` are a table's, with their defaults;
`load` reads them from a TOML file and tells every fault at once.

>>> import secrets, tempfile
>>> from pathlib import Path
>>> from pi_controller.games import game
>>> from pi_controller.referee import JudgeAction, referee_for
>>> from pi_controller.table import Journal, Settings, Table, Verdict, View, load, verdict, view_of
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "table.sqlite"
>>> rules = game("dakota")
>>> with Journal(path) as journal:
...     referee = referee_for(rules, None, secrets.token_bytes)
...     table = Table(journal, rules, {"A": "Big Coulee", "B": "Long Hollow"}, referee)
...     facts = table.judge(JudgeAction(5.0, {"do": "toss", "winner": "A"}))
...     isinstance(table.view, View), table.view.hider, table.view.long, table.view.middle
(True, 'A', {'A': 4, 'B': 0}, 16)

A view can be made of any history, with no journal at all:

>>> from pi_controller.referee import History
>>> view_of(rules, History(rules).now, seq=0).phase
'toss'

A journal can be looked at while it is written, and proves that it is what was written:

>>> found: Verdict = verdict(path)
>>> found.whole, found.records, found.game
(True, 2, 'dakota')

Settings say which game is played and what hangs on which pin:

>>> (path.parent / "table.toml").write_text('[game]\nname = "slahal"\n[teams]\na = "Big Coulee"\n') > 0
True
>>> load(path.parent / "table.toml").teams.a, Settings().teams.a
('Big Coulee', 'A')
>>> folder.cleanup()
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazily

if TYPE_CHECKING:
    from pi_controller.table.journal import Journal
    from pi_controller.table.settings import Settings, load
    from pi_controller.table.table import Table
    from pi_controller.table.verify import Verdict, verdict
    from pi_controller.table.view import View, view_of
else:
    __getattr__ = lazily(  # pydantic, sqlite3
        __name__,
        {
            "Journal": "journal",
            "Settings": "settings",
            "Table": "table",
            "Verdict": "verify",
            "View": "view",
            "load": "settings",
            "verdict": "verify",
            "view_of": "view",
        },
    )

__all__ = ["Journal", "Settings", "Table", "Verdict", "View", "load", "verdict", "view_of"]
