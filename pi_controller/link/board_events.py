"""Deduplicates and orders board events, per board and boot.

What was told before stays known over a link that goes down and a port that is opened anew, for the board tells again
whatever it does not know to have arrived.
"""

from __future__ import annotations

from pi_controller.link import wire
from pi_controller.link.messages import WORDS, BoardEvent

_NAMES = ("", *WORDS)
_BOARDS = 8
"""So many boards are remembered."""
_KEPT = 32
"""Events that a board keeps, at most."""
_FAR = 0x10000
"""No board notices so many things between two that it can tell."""
_PARTS = {
    wire.STARTED: range(256),
    wire.MAGNET_SILENT: range(1, wire.MAGNETS + 1),
    wire.MAGNET_BACK: range(1, wire.MAGNETS + 1),
    wire.PIEZO_RAIL: range(1, wire.PADS + 1),
    wire.PIEZO_STUCK: range(1, wire.PADS + 1),
    wire.PIEZO_GOOD: range(1, wire.PADS + 1),
    wire.TESTED: range(2 << wire.PADS),
}
"""Kind -> what its part may be; 0 for all others."""
_NONE = range(1)


class BoardEvents:
    """`begin` with each link, `take` each EVENT; `upto` is the number that the board is told has arrived."""

    def __init__(self) -> None:
        self.upto: int = 0
        self.fresh = False
        """Whether the event taken last was a new one, and the next in order."""
        self._boards: dict[bytes, tuple[int, int]] = {}  # board -> its start, and upto
        self._board = b""
        self._boots = 0
        self._known = False
        self._us: int = 0
        self._lost: int = 0

    def begin(self, board: bytes, boots: int) -> None:
        """A link to `board`, which has started `boots` times."""
        if (board, boots) == (self._board, self._boots):
            return
        if self._known:
            self._boards.pop(self._board, None)
            self._boards[self._board] = (self._boots, self.upto)
            if len(self._boards) > _BOARDS:
                del self._boards[next(iter(self._boards))]
        self._board, self._boots, self._us, self._lost = board, boots, 0, 0
        was, upto = self._boards.get(board, (-1, 0))
        self._known = was == boots
        self.upto = upto if self._known else 0

    def take(self, payload: bytes, t: float) -> BoardEvent | None:
        """Take an EVENT of host time `t`. None for one that cannot be true."""
        number, before, dropped, us, kind, part, value = wire.event(payload)
        self.fresh = False
        if not (
            1 <= kind <= wire.KINDS
            and part in _PARTS.get(kind, _NONE)
            and before < _KEPT
            and before + dropped < number
            and not (self._known and number > self.upto + _FAR)
        ):
            return None
        before_all = number - before - 1
        if not self._known or before_all > self.upto:
            # another program may have heard some of these; the board knows how many nobody has
            self._lost += min(before_all - self.upto, dropped)
            self.upto, self._known = before_all, True
        lost = 0
        if number == self.upto + 1:
            if us < self._us:
                return None
            self.upto, self._us, self.fresh = number, us, True
            lost, self._lost = self._lost, 0
        return BoardEvent(t, number, _NAMES[kind], part, value, lost)
