"""Validates a score sheet for `Game.restore`: every value is checked, and all faults are reported at once.

The sheet is entered by a judge who sets the table, so its faults are described in words and all together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Literal, TypeVar, cast

from pi_controller.rules.base import InvalidActionError, Json
from pi_controller.rules.validation import W
from pi_controller.text import format_value, join_words

N = TypeVar("N", bound=int)
_KEY = 20
MAX_FAULTS = 20
"""Maximum number of faults reported for one sheet."""
_FOLLOW = ("shooting", "double", "phase", "sticks")
_FOLLOW_IN_ROWS = {"notch": (), "out": (True,)}
"""Keys derived from the rest of a sheet in any game; keys derived from the rest of a row, except with these values."""


def apply_changes(sheet: Mapping[str, Json], changes: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """Return `sheet` with the value at each path (`long.A`, `players.0.sticks`) changed, for `Game.restore`.

    Derived values are removed unless they are among the changes. Raises `InvalidActionError` for an unknown path.
    """
    after = {key: deepcopy(value) for key, value in sheet.items() if key not in _FOLLOW}
    for value in after.values():
        for row in cast("list[dict[str, Json]]", value) if isinstance(value, list) else ():
            for key, kept in _FOLLOW_IN_ROWS.items():
                if row.get(key) not in kept:
                    row.pop(key, None)
    for path, value in changes:
        *way, last = path.split(".")
        at: object = after
        for part in way:
            at = _inside(at, part, path)
        if isinstance(at, dict):
            at[last] = value
        else:
            raise _nowhere(path)
    return after


def _inside(at: object, part: str, path: str) -> object:
    if isinstance(at, dict) and part in at:
        return cast("dict[str, object]", at)[part]
    if isinstance(at, list) and part.isdecimal() and int(part[:9]) < len(cast("list[object]", at)):
        return cast("list[object]", at)[int(part[:9])]
    raise _nowhere(path)


def _nowhere(path: str) -> InvalidActionError:
    return InvalidActionError("the score sheet has no {path}", "name its keys, as in long.A=8", path=format_value(path))


class SheetReader:
    """A score sheet, or an object inside one, as entered by a person.

    An invalid value is noted and a valid placeholder returned for it; `check` raises for all faults together. `needed`
    keys must be present. Keys that `follow` from them may be present; `agree` then checks them.
    """

    def __init__(self, value: object, needed: Sequence[str], follow: Sequence[str] = ()) -> None:
        """Open a whole sheet. Raises `InvalidActionError` if it is not an object."""
        if not isinstance(value, Mapping):
            raise InvalidActionError(
                "a score sheet is an object, not {value}",
                "it has: {needed}",
                value=format_value(value),
                needed=join_words(needed),
            )
        self._faults: list[str] = []
        self._bad: set[str] = set()
        self._path: tuple[str, ...] = ()
        self._open(cast("Mapping[object, Json]", value), needed, follow)

    def _open(self, value: Mapping[object, Json], needed: Sequence[str], follow: Sequence[str]) -> None:
        self._values = value
        self._follow = follow
        for key in needed:
            if key not in value:
                self._note(key, f"{self._dotted_path(key)} is missing")
        for key in value:
            if key not in needed and key not in follow:
                name = key if isinstance(key, str) else ""
                self._note(
                    name, f"there is no {format_value('.'.join((*self._path, name)))}; there are: {join_words(needed)}"
                )

    def part(self, key: str, needed: Sequence[str], follow: Sequence[str] = ()) -> SheetReader:
        """Return the object under `key`."""
        return self._inner((key,), self._values.get(key), needed, follow, silent=key not in self._values)

    def parts(self, key: str, count: int, needed: Sequence[str], follow: Sequence[str] = ()) -> list[SheetReader]:
        """Return the objects in the list under `key`, which must have `count` items."""
        value: object = self._values.get(key)
        items = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else []
        if key in self._values and len(items) != count:
            self._note(key, f"{self._dotted_path(key)} is a list of {count}, in their order")
        items += [None] * (count - len(items))
        return [
            self._inner((key, str(n)), item, needed, follow, silent=key in self._bad)
            for n, item in enumerate(items[:count])
        ]

    def whole(self, key: str, most: int, least: int = 0) -> int:
        """Return a whole number from `least` to `most`."""
        value: object = self._values.get(key, least)
        if type(value) is int and least <= value <= most:
            return value
        self._note(key, f"{self._dotted_path(key)} is a whole number from {least} to {most}, not {format_value(value)}")
        return least

    def whole_or_null(self, key: str, among: Iterable[N]) -> N | None:
        """Return one of the numbers `among`, or None for null."""
        value: object = self._values.get(key)
        for known in among:
            if type(value) is int and value == known:
                return known
        if value is not None:
            self._note(
                key,
                f"{self._dotted_path(key)} is {join_words(map(str, sorted(among)))} or null, not {format_value(value)}",
            )
        return None

    def flag(self, key: str) -> bool:
        """Return true or false; false for a missing or invalid value."""
        value: object = self._values.get(key, False)
        if isinstance(value, bool):
            return value
        self._note(key, f"{self._dotted_path(key)} is true or false, not {format_value(value)}")
        return False

    def word(self, key: str, words: Sequence[W]) -> W | None:
        """Return one of `words`, or None for null."""
        value: object = self._values.get(key)
        for known in words:
            if isinstance(value, str) and value == known:
                return known
        if value is not None:
            self._note(
                key, f"{self._dotted_path(key)} is one of {join_words(words)} or null, not {format_value(value)}"
            )
        return None

    def counts(self, key: str, names: Sequence[str], most: int) -> tuple[int, ...]:
        """Return the whole numbers from 0 to `most` under `names` in the object under `key`."""
        part = self.part(key, names)
        return tuple(part.whole(name, most) for name in names)

    def are_valid(self, *keys: str) -> bool:
        """Return True if these keys have had no fault so far, so that values derived from them can be checked."""
        return not self._bad.intersection(keys)

    def add_fault(self, text: str, *keys: str) -> None:
        """Note a contradiction between values, unless one of `keys` already has a fault of its own."""
        if self.are_valid(*keys):
            self._faults.append(text)

    def sum_is(self, total: int, counts: Iterable[int], what: str, *keys: str) -> None:
        """Note a fault if `counts`, the values of `keys`, do not add up to `total`."""
        found = sum(counts)
        if found != total:
            self.add_fault(f"{what} add up to {found}, not {total}", *keys)

    def forfeit(self, winner: str | None) -> Literal["forfeit"] | None:
        """Return the `finish` of a game that ends by play or by a forfeit; note a forfeit without a winner."""
        finish = self.word("finish", ("forfeit",))
        if finish and winner is None:
            self.add_fault("a forfeit ends the game: winner is the side that won by it", "finish", "winner")
        return finish

    def check_winner(
        self, winner: str | None, points: Iterable[tuple[str, int]], most: int, what: str, *, forfeit: bool = False
    ) -> None:
        """Note a winner without the required `most` points (under short), and a team with them that has not won.

        By a `forfeit` a team wins with fewer; with all of them it would have won by play.
        """
        for team, count in points:
            if forfeit:
                if count == most:
                    self.add_fault(
                        f"{team} has {most} {what}: that is won by play, and finish is null", "finish", "short"
                    )
                continue
            if winner == team and count != most:
                self.add_fault(f"{team} has not won: {count} of {most} {what}", "winner", "short")
            if winner != team and count == most:
                self.add_fault(f"{team} has {most} {what} and is not the winner", "winner", "short")

    def check(self) -> None:
        """Raise `InvalidActionError` with every fault noted so far, if there are any."""
        if self._faults:
            more = len(self._faults) - MAX_FAULTS
            faults = [*self._faults[:MAX_FAULTS], f"and {more} more"] if more > 0 else self._faults
            raise InvalidActionError("; ".join(faults), "correct all faults and set the table again")

    def agree(self, own: Mapping[str, Json]) -> None:
        """Compare the derived values on the sheet with the state's `own` sheet, and raise all faults."""
        for key in self._follow if not self._bad else ():
            if key in self._values and (stated := self._values[key]) != own[key]:
                self._faults.append(
                    f"{self._dotted_path(key)} is derived from the rest: it is {_whole(own[key])}, not {_whole(stated)}"
                )
        if not self._path:
            self.check()

    def _inner(
        self, keys: tuple[str, ...], value: object, needed: Sequence[str], follow: Sequence[str], *, silent: bool
    ) -> SheetReader:
        inner = object.__new__(SheetReader)
        inner._faults, inner._bad, inner._path = self._faults, self._bad, (*self._path, *keys)
        if isinstance(value, Mapping):
            inner._open(cast("Mapping[object, Json]", value), needed, follow)
        else:
            inner._values, inner._follow = {}, ()
            if not silent:
                self._note(
                    keys[0],
                    f"{'.'.join(inner._path)} is an object with {join_words(needed)}, not {format_value(value)}",
                )
        return inner

    def _dotted_path(self, key: str) -> str:
        return ".".join((*self._path, key))

    def _note(self, key: str, text: str) -> None:
        self._faults.append(text)
        self._bad.add(self._path[0] if self._path else key)


def _whole(value: Json) -> str:
    """Return a small object with its contents, any other value as errors show it."""
    if not isinstance(value, Mapping):
        return format_value(value)
    pairs = list(cast("Mapping[object, Json]", value).items())[:4]
    return join_words(f"{format_value(key)[:_KEY]} {format_value(inner)}" for key, inner in pairs) or "an empty object"
