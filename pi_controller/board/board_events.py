"""Removes duplicate board events and puts them in order, per board and boot.

The state survives a lost link and a reopened port, because the board resends every event that was not acknowledged.
"""

from pi_controller.board import messages, wire

_NAMES = ("", *messages.WORDS)
_BOARDS = 8
"""Largest number of boards remembered."""
_KEPT = 32
"""Largest number of events that a board keeps."""
_FAR = 0x10000
"""A jump of the event number larger than this is invalid."""
_PARTS = {
    wire.STARTED: range(256),
    wire.MAGNET_SILENT: range(1, wire.MAGNETS + 1),
    wire.MAGNET_BACK: range(1, wire.MAGNETS + 1),
    wire.PIEZO_RAIL: range(1, wire.PADS + 1),
    wire.PIEZO_STUCK: range(1, wire.PADS + 1),
    wire.PIEZO_GOOD: range(1, wire.PADS + 1),
    wire.TESTED: range(2 << wire.PADS),
    wire.STRIPS: range(1, wire.PADS + 1),
    wire.DISCS: range(1, wire.PADS + 1),
}
"""Valid parts by kind; 0 for all others."""
_NONE = range(1)


class BoardEvents:
    """Tracks a board's events: call `begin` for each link and `take` for each EVENT; acknowledge up to `upto`."""

    def __init__(self) -> None:
        self.upto: int = 0
        self.fresh = False
        """True if the last event taken was new and the next in order."""
        self._boards: dict[bytes, tuple[int, int]] = {}  # board -> its boot count, and upto
        self._board = b""
        self._boots = 0
        self._known = False
        self._us: int = 0
        self._lost: int = 0

    def begin(self, board: bytes, boots: int) -> None:
        """Begin a link to `board`, which has booted `boots` times."""
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

    def take(self, payload: bytes, t: float) -> messages.BoardEvent | None:
        """Process an EVENT of host time `t`. Return None for an invalid one."""
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
            # another program may have received some of these; the board counts those that no host acknowledged
            self._lost += min(before_all - self.upto, dropped)
            self.upto, self._known = before_all, True
        lost = 0
        if number == self.upto + 1:
            if us < self._us:
                return None
            self.upto, self._us, self.fresh = number, us, True
            lost, self._lost = self._lost, 0
        return messages.BoardEvent(t, number, _NAMES[kind], part, value, lost)
