"""Plays the actions of a recorded game and counts the hide or turn that each belongs to."""

from __future__ import annotations

from typing import Any, Generic, cast

from pi_controller.record.model import Check, RecordError
from pi_controller.record.tokens import format_token, is_same_json
from pi_controller.rules.base import Action, Game, IllegalActionError, Json, S
from pi_controller.text import format_value

SET = "set"
"""The word for a table set by the judge: `set` and the score sheet's keys. No game has this word."""
OUTSIDE_TURNS = ("forfeit", "start")
"""Words of actions outside hides and turns: a side that leaves the game, a horse of patol that starts."""


class Playthrough(Generic[S]):
    """One game from its opening on.

    `sheet` is the current score sheet, `turn` the hide or turn last begun, from 1, and `open` whether it goes on.
    """

    def __init__(self, game: Game[S]) -> None:
        self.game = game
        self.state = game.opening()
        self.sheet = game.sheet(self.state)
        self.turn = 0
        self.open = False

    @property
    def side(self) -> str | None:
        """The side whose hide or throw it is; None before that is decided."""
        return self.game.hiders(self.state) or self.game.thrower(self.state)

    def play(self, action: Action) -> tuple[int | None, tuple[str, ...]]:
        """Play `action`; return the number of the hide or turn that it begins (or None), and the words called.

        Raises the game's errors; the playthrough is then unchanged.
        """
        if action.get("do") == SET:
            return self._set(action), ()
        before, side = self.sheet, self.side
        self.state, calls = self.game.play(self.state, action)
        self.sheet = self.game.sheet(self.state)
        same_thrower = self.game.thrower(self.state) == side
        if action["do"] in OUTSIDE_TURNS:
            self.open = self.open and same_thrower
        if side is None or action["do"] in OUTSIDE_TURNS or action.get("hide") == "last":
            return None, calls
        number = None
        if not self.open:
            self.turn += 1
            number = self.turn
        # a turn lasts until the bowl passes, a hide until its last hit; an action without effect ends neither
        no_effect = self.sheet == before and (self.game.hand_passes or not calls)
        self.open = same_thrower or self.game.phase_of(self.state) == "hit" or no_effect
        return number, calls

    def check_action(self, action: Action) -> None:
        """Check that `action` is an action of this game.

        Its legality at the time it was played is not checked, because that state is not known any more.
        """
        try:
            if action.get("do") == SET:
                self.game.restore(_sheet(action))
            else:
                self.game.play(self.state, action)
        except IllegalActionError:
            return

    def _set(self, action: Action) -> int | None:
        """Set the table; return the number of the hide if one begins by this, because its second hit is due.

        Any other hide or turn in progress is void.
        """
        self.state = self.game.restore(_sheet(action))
        self.sheet = self.game.sheet(self.state)
        before, self.open = self.open, self.game.phase_of(self.state) == "hit"
        if before or not self.open:
            return None
        self.turn += 1
        return self.turn

    def differences(self, check: Check) -> str:
        """Return the differences between `check` and the score sheet in one line, or ""."""
        return "; ".join(filter(None, (self._differs(path, value) for path, value in check.values)))

    def end_line(self) -> str:
        """Return the last line of the record."""
        return f"end winner={format_token(self.sheet.get('winner'))}" if self.game.is_over(self.state) else "end"

    def _differs(self, path: str, stated: Json) -> str:
        try:
            value = self._at(path)
        except RecordError as error:
            return error.message
        return "" if is_same_json(value, stated) else f"{path} is {format_value(value)}, not {format_value(stated)}"

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
                raise RecordError(f"the score sheet has no {format_value(path)}")
        return at


def _sheet(action: Action) -> dict[str, Json]:
    return {key: value for key, value in action.items() if key != "do"}
