"""Conserved counters: named pools of sticks with a constant total. Every game counts with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pi_controller.errors import MatError


class SticksError(MatError, ValueError):
    """Too few sticks in a pool, an unknown pool, or an invalid count: a fault in a rule set."""

    code = "sticks"


@dataclass(frozen=True, slots=True)
class Sticks:
    """Named pools with their counts. Frozen and hashable; `move` and `pay` return new ones with the same total.

    >>> Sticks.of(A=0, B=0, middle=20).move(4, "middle", "A")
    Sticks(A=4, B=0, middle=16)
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.counts) or len(set(self.names)) != len(self.names):
            raise SticksError("pools {names} do not fit the counts {counts}", names=self.names, counts=self.counts)
        for count in self.counts:
            if type(count) is not int or count < 0:
                raise SticksError("a pool holds a whole number of sticks, not {count}", count=repr(count))

    @classmethod
    def of(cls, **pools: int) -> Sticks:
        """Return pools with these names and counts."""
        return cls(tuple(pools), tuple(pools.values()))

    def __getitem__(self, pool: str) -> int:
        """Return the number of sticks in `pool`."""
        return self.counts[self._index(pool)]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Iterate over the pools as (name, count)."""
        return zip(self.names, self.counts, strict=True)

    def __repr__(self) -> str:
        return f"Sticks({', '.join(f'{name}={count}' for name, count in self)})"

    @property
    def total(self) -> int:
        """The number of all sticks, which no move changes."""
        return sum(self.counts)

    def move(self, n: int, source: str, to: str) -> Sticks:
        """Move exactly `n` sticks from `source` to `to`. Raises `SticksError` if `source` holds fewer."""
        held = self[source]
        if type(n) is not int or n < 0:
            raise SticksError("cannot move {n} sticks", n=repr(n))
        if n > held:
            raise SticksError("cannot take {n} sticks from {source}: it holds {held}", n=n, source=source, held=held)
        return self.pay(n, to, source)

    def pay(self, n: int, to: str, *sources: str) -> Sticks:
        """Move `n` sticks to `to`, from `sources` in their order; fewer if the sources together hold fewer."""
        if type(n) is not int or n < 0:
            raise SticksError("cannot move {n} sticks", n=repr(n))
        counts = list(self.counts)
        target = self._index(to)
        for source in sources:
            index = self._index(source)
            if index == target:
                raise SticksError("{to} cannot pay itself", to=to)
            taken = min(n, counts[index])
            counts[index] -= taken
            counts[target] += taken
            n -= taken
        return Sticks(self.names, tuple(counts))

    def gather(self, to: str) -> Sticks:
        """Move every stick to `to`."""
        return self.pay(self.total, to, *(name for name in self.names if name != to))

    def _index(self, pool: str) -> int:
        try:
            return self.names.index(pool)
        except ValueError:
            raise SticksError(
                "there is no pool {pool}", "pools: {names}", pool=repr(pool), names=", ".join(self.names)
            ) from None
