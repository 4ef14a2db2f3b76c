r"""The record: one open text file for a played game, readable and writable by hand.

`read` takes any bytes and never raises; what was wrong stands in `faults`. `write` has one text for one record.

>>> from pi_controller.record import read, write
>>> record = read(b"Game: dakota\ntoss A\nhit missed 2\nhit fuond\nend\n")
>>> from pi_controller.record import Fault
>>> record.faults == [Fault(line=4, what="'hit' is no action: found cannot be 'fuond'")]
True
>>> print(write(record), end="")
Record: 1
Game: dakota
<BLANKLINE>
     toss A
  1. hit missed 2
end

A record is made of entries in order: what was played (`Move`), ruled (`Ruling`), noted (`Comment`) or counted
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
...     print(error.what)
-1 is no time
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazily
from pi_controller.record.model import Check, Comment, Fault, Move, Record, RecordError, Ruling

if TYPE_CHECKING:
    from pi_controller.record.reading import read
    from pi_controller.record.writing import write
else:
    __getattr__ = lazily(__name__, {"read": "reading", "write": "writing"})  # a table plays without either

__all__ = ["Check", "Comment", "Fault", "Move", "Record", "RecordError", "Ruling", "read", "write"]
