"""Validates a score sheet for `Game.restore`: every value is checked, and all faults are reported at once.

The sheet comes from a judge who says how the table stands, so its faults are told in words and never one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from pi_controller.games.base import InvalidActionError, Json
from pi_controller.games.wording import listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

W = TypeVar("W", bound=str)
N = TypeVar("N", bound=int)
_KEY = 20
MOST = 20
"""Faults told of one sheet: any more say nothing new."""
_FOLLOW = ("shooting", "double", "phase", "sticks")
_FOLLOW_IN_ROWS = {"notch": (), "out": (True,)}
"""What follows from the rest of a sheet in any game, and from the rest of a row in one, but for these values."""


def changed(sheet: Mapping[str, Json], changes: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """Return `sheet` with the value at each path (`long.A`, `players.0.sticks`) changed, for `Game.restore` to judge.

    What follows from the rest is left out unless it is said. Raises `InvalidActionError` for a path that leads nowhere.
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
    return InvalidActionError(f"the score sheet has no {shown(path)}", "name its keys, as in long.A=8")


class Sheet:
    """A score sheet, or an object in one, as somebody wrote it.

    What cannot be taken out is noted, and something that fits returned in its place: `check` raises for all of it.
    `needed` keys must be there; those that `follow` from them may be, and `agree` then sees that they are right.
    `optional` keys may be missing too: sheets of older versions have not got them.
    """

    def __init__(
        self, value: object, needed: Sequence[str], follow: Sequence[str] = (), optional: Sequence[str] = ()
    ) -> None:
        """Open a whole sheet. Raises `InvalidActionError` where it is no object."""
        if not isinstance(value, Mapping):
            raise InvalidActionError(f"a score sheet is an object, not {shown(value)}", f"it has: {listed(needed)}")
        self._faults: list[str] = []
        self._bad: set[str] = set()
        self._path: tuple[str, ...] = ()
        self._open(cast("Mapping[object, Json]", value), needed, follow, optional)

    def _open(
        self, value: Mapping[object, Json], needed: Sequence[str], follow: Sequence[str], optional: Sequence[str] = ()
    ) -> None:
        self._values = value
        self._follow = follow
        for key in needed:
            if key not in value:
                self._note(key, f"{self._named(key)} is missing")
        for key in value:
            if key not in needed and key not in follow and key not in optional:
                name = key if isinstance(key, str) else ""
                self._note(name, f"there is no {shown('.'.join((*self._path, name)))}; there are: {listed(needed)}")

    def part(self, key: str, needed: Sequence[str], follow: Sequence[str] = ()) -> Sheet:
        """Return the object under `key`."""
        return self._inner((key,), self._values.get(key), needed, follow, silent=key not in self._values)

    def parts(self, key: str, count: int, needed: Sequence[str], follow: Sequence[str] = ()) -> list[Sheet]:
        """Return the objects of the list under `key`; there must be `count`."""
        value: object = self._values.get(key)
        items = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else []
        if key in self._values and len(items) != count:
            self._note(key, f"{self._named(key)} is a list of {count}, in their order")
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
        self._note(key, f"{self._named(key)} is a whole number from {least} to {most}, not {shown(value)}")
        return least

    def whole_or_null(self, key: str, among: Iterable[N]) -> N | None:
        """Return a number of those `among`, or None for null."""
        value: object = self._values.get(key)
        for known in among:
            if type(value) is int and value == known:
                return known
        if value is not None:
            self._note(key, f"{self._named(key)} is {listed(map(str, sorted(among)))} or null, not {shown(value)}")
        return None

    def flag(self, key: str) -> bool:
        """Return true or false; false where it is missing."""
        value: object = self._values.get(key, False)
        if isinstance(value, bool):
            return value
        self._note(key, f"{self._named(key)} is true or false, not {shown(value)}")
        return False

    def word(self, key: str, words: Sequence[W]) -> W | None:
        """Return one of `words`, or None for null."""
        value: object = self._values.get(key)
        for known in words:
            if isinstance(value, str) and value == known:
                return known
        if value is not None:
            self._note(key, f"{self._named(key)} is one of {listed(words)} or null, not {shown(value)}")
        return None

    def counts(self, key: str, names: Sequence[str], most: int) -> tuple[int, ...]:
        """Return the whole numbers from 0 to `most` that the object under `key` has for `names`."""
        part = self.part(key, names)
        return tuple(part.whole(name, most) for name in names)

    def well(self, *keys: str) -> bool:
        """Return whether nothing has been amiss with these keys so far: what follows from them can be checked."""
        return not self._bad.intersection(keys)

    def wrong(self, text: str, *keys: str) -> None:
        """Note what is wrong between values, unless one of `keys` is amiss by itself."""
        if self.well(*keys):
            self._faults.append(text)

    def sum_is(self, total: int, counts: Iterable[int], what: str, *keys: str) -> None:
        """Note where `counts`, which stand under `keys`, do not make `total`."""
        found = sum(counts)
        if found != total:
            self.wrong(f"{what} add up to {found}, not {total}", *keys)

    def forfeit(self, winner: str | None) -> Literal["forfeit"] | None:
        """Return the `finish` of a game that ends by play or by a forfeit; a forfeit without a winner is noted."""
        finish = self.word("finish", ("forfeit",))
        if finish and winner is None:
            self.wrong("a forfeit ends the game: winner is who won by it", "finish", "winner")
        return finish

    def won(
        self, winner: str | None, points: Iterable[tuple[str, int]], most: int, what: str, *, forfeit: bool = False
    ) -> None:
        """Note a winner without the `most` points (under short) it takes, and a team that has them and has not won.

        By a `forfeit` a team wins with fewer; with all of them the game was over before it.
        """
        for team, count in points:
            if forfeit:
                if count == most:
                    self.wrong(f"{team} has {most} {what}: that is won by play, and finish is null", "finish", "short")
                continue
            if winner == team and count != most:
                self.wrong(f"{team} has not won: {count} of {most} {what}", "winner", "short")
            if winner != team and count == most:
                self.wrong(f"{team} has {most} {what} and is not the winner", "winner", "short")

    def check(self) -> None:
        """Raise `InvalidActionError` with every fault found so far, if there is one."""
        if self._faults:
            more = len(self._faults) - MOST
            faults = [*self._faults[:MOST], f"and {more} more"] if more > 0 else self._faults
            raise InvalidActionError("; ".join(faults), "correct the sheet, all of it, and set the table again")

    def agree(self, own: Mapping[str, Json]) -> None:
        """Check what follows from the rest and was written all the same, against the state's `own` sheet; `check`."""
        for key in self._follow if not self._bad else ():
            if key in self._values and (stated := self._values[key]) != own[key]:
                self._faults.append(
                    f"{self._named(key)} follows from the rest: it is {_whole(own[key])}, not {_whole(stated)}"
                )
        if not self._path:
            self.check()

    def _inner(
        self, keys: tuple[str, ...], value: object, needed: Sequence[str], follow: Sequence[str], *, silent: bool
    ) -> Sheet:
        inner = object.__new__(Sheet)
        inner._faults, inner._bad, inner._path = self._faults, self._bad, (*self._path, *keys)
        if isinstance(value, Mapping):
            inner._open(cast("Mapping[object, Json]", value), needed, follow)
        else:
            inner._values, inner._follow = {}, ()
            if not silent:
                self._note(keys[0], f"{'.'.join(inner._path)} is an object with {listed(needed)}, not {shown(value)}")
        return inner

    def _named(self, key: str) -> str:
        return ".".join((*self._path, key))

    def _note(self, key: str, text: str) -> None:
        self._faults.append(text)
        self._bad.add(self._path[0] if self._path else key)


def _whole(value: Json) -> str:
    """Return a small object with what is in it, anything else as errors show it."""
    if not isinstance(value, Mapping):
        return shown(value)
    pairs = list(cast("Mapping[object, Json]", value).items())[:4]
    return listed(f"{shown(key)[:_KEY]} {shown(inner)}" for key, inner in pairs) or "an empty object"
