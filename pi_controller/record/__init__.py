r"""The record: one open text file for a played game, readable and writable by hand.

`read` accepts any bytes and never raises; problems are listed in `faults`. `write` has exactly one text for a record.

>>> from pi_controller.record import read, write
>>> record = read(b"Game: dakota\ntoss A\nhit missed 2\nhit fuond\nend\n")
>>> from pi_controller.record import ParseIssue
>>> record.faults == [ParseIssue(line=4, message="'hit' is no action: found cannot be 'fuond'")]
True
>>> print(write(record), end="")
Record: 1
Game: dakota
<BLANKLINE>
     toss A
  1. hit missed 2
end

A record is a sequence of entries: actions (`Move`), rulings (`Ruling`), comments (`Comment`) and stated counts
(`Check`).

>>> from pi_controller.record import Check, Comment, Move, Record, RecordError, Ruling
>>> made = Record(
...     game="dakota",
...     teams={"A": "Big Coulee", "B": "Long Hollow"},
...     entries=(
...         Move({"do": "toss", "winner": "B"}),
...         Ruling("the cloth was lifted, not struck", t=40.0),
...         Check((("long.B", 4),)),
...         Comment("the teams ate here"),
...     ),
... )
>>> read(write(made).encode()) == made
True
>>> try:
...     Ruling("", t=-1)
... except RecordError as error:
...     print(error.message)
-1 is not a time
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazy_getattr
from pi_controller.record.model import Check, Comment, Move, ParseIssue, Record, RecordError, Ruling

if TYPE_CHECKING:
    from pi_controller.record.file import read
    from pi_controller.record.writing import write
else:
    __getattr__ = lazy_getattr(__name__, {"read": "file", "write": "writing"})  # a table needs neither to play

__all__ = ["Check", "Comment", "Move", "ParseIssue", "Record", "RecordError", "Ruling", "read", "write"]
