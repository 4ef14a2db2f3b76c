"""Plays the actions of a recorded game and counts the hide or turn that each belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, cast

from pi_controller.games.base import Action, Game, IllegalActionError, Json, S
from pi_controller.games.wording import shown
from pi_controller.record.model import RecordError
from pi_controller.record.values import put, same

if TYPE_CHECKING:
    from pi_controller.record.model import Check

SET = "set"
"""The word of a judge who says how the table stands: `set` and the score sheet's keys. No game has it."""
BESIDE = ("forfeit", "start")
"""Words of what belongs to no hide or turn: a side that leaves the game, a horse of patol that starts."""
SIDES = ("hider", "hiding", "thrower")
"""Where a score sheet says whose hide or turn it is."""


class Playthrough(Generic[S]):
    """One game from its opening on.

    `sheet` is the score sheet now, `turn` the hide or turn last begun, from 1, and `open` whether it goes on.
    """

    def __init__(self, game: Game[S]) -> None:
        self.game = game
        self.state = game.opening()
        self.sheet = game.sheet(self.state)
        self.turn = 0
        self.open = False

    def play(self, action: Action) -> tuple[int | None, tuple[str, ...]]:
        """Play `action`; return the number of the hide or turn that it begins, if it does, and the words called.

        Raises the game's errors; then nothing has changed.
        """
        if action.get("do") == SET:
            return self._set(action), ()
        before = self.sheet
        self.state, calls = self.game.play(self.state, action)
        self.sheet = self.game.sheet(self.state)
        side = next((before[key] for key in SIDES if key in before), None)
        if action["do"] in BESIDE:
            self.open = self.open and self.sheet.get("thrower") == side
        if side is None or action["do"] in BESIDE or action.get("hide") == "last":
            return None, calls
        number = None
        if not self.open:
            self.turn += 1
            number = self.turn
        if "owed" in before:
            self.open = self.sheet["owed"] == "second" or self.sheet == before
        else:  # a turn lasts until the bowl passes; a hide is one action, but for one that changes nothing
            self.open = self.sheet.get("thrower") == side or (self.sheet == before and not calls)
        return number, calls

    def once(self, action: Action) -> None:
        """Check that `action` is valid in this game; whether it was legal when it was done is no longer known."""
        try:
            if action.get("do") == SET:
                self.game.restore(_sheet(action))
            else:
                self.game.play(self.state, action)
        except IllegalActionError:
            return

    def _set(self, action: Action) -> int | None:
        """Set the table; return the number of the hide that this begins, if it does: the second hit of it is owed.

        Any other hide or turn in progress is void.
        """
        self.state = self.game.restore(_sheet(action))
        self.sheet = self.game.sheet(self.state)
        before, self.open = self.open, self.sheet.get("owed") == "second"
        if before or not self.open:
            return None
        self.turn += 1
        return self.turn

    def wrong(self, check: Check) -> str:
        """Return what `check` states that is not so, in one line, or nothing."""
        return "; ".join(filter(None, (self._differs(path, value) for path, value in check.values)))

    def ended(self) -> str:
        """Return the last line of the record."""
        return f"end winner={put(self.sheet.get('winner'))}" if self.game.over(self.state) else "end"

    def _differs(self, path: str, stated: Json) -> str:
        try:
            value = self._at(path)
        except RecordError as error:
            return error.what
        return "" if same(value, stated) else f"{path} is {shown(value)}, not {shown(stated)}"

    def _at(self, path: str) -> Json:
        at: Any = self.sheet
        for part in path.split("."):
            if isinstance(at, dict) and part in at:
                at = cast("dict[str, Json]", at)[part]
            elif (
                isinstance(at, list)
                and part.isascii()
                and part.isdecimal()
                and int(part[:9]) < len(cast("list[Json]", at))
            ):
                at = cast("list[Json]", at)[int(part[:9])]
            else:
                raise RecordError(f"the score sheet has no {shown(path)}")
        return at


def _sheet(action: Action) -> dict[str, Json]:
    return {key: value for key, value in action.items() if key != "do"}
