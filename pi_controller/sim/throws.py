"""Plans of simulated throws, a function of (seed, turn) alone. What falls is the game's own.

Pieces, stones and sticks fall as fair coins do, each by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pi_controller.games import registry
from pi_controller.sim.plans import PACES, Mischief, PaceName, Stroke, span, stroke
from pi_controller.sim.seeds import Stream, rng

RATTLE_S = (0.05, 0.5)
"""So long after the tap pieces may be felt that fall back into the bowl."""

GATHER_S = 0.8
"""So long it takes at least to gather the pieces and pass the bowl."""


@dataclass(frozen=True, slots=True)
class ThrowScript:
    """One turn. `rattle` is (seconds after the tap, dBFS) of each piece that is felt.

    `again_s` after the first there is a second tap, None without one; `counts` whether the judge takes it for a foul
    where that is the judge's to say. `spilled`: the throw does not count. `throw` is the action for what shows.
    """

    turn: int
    start_s: float
    tap: Stroke
    rattle: tuple[tuple[float, float], ...]
    again_s: float | None
    counts: bool
    spilled: bool
    read_s: float
    throw: dict[str, Any]

    @property
    def mischief(self) -> str:
        """What goes otherwise than it should, for the record."""
        return ", ".join(filter(None, ("second tap" if self.again_s else "", "spilled" if self.spilled else "")))


def throw_script(
    game: str, seed: int, turn: int, pace: PaceName = "brisk", mischief: Mischief | None = None
) -> ThrowScript:
    """Return what happens in turn number `turn` (1 first) of the table with this seed: always the same."""
    own = registry.floor(game, "sim")
    assert own is not None
    mischief, times = mischief or Mischief(), PACES[pace]
    random = rng(seed, Stream.SCRIPT, turn)
    pieces = int(random.integers(0, 4)) if random.random() < 0.5 else 0
    rattle = sorted((float(random.uniform(*RATTLE_S)), float(random.uniform(-40.0, -24.0))) for _ in range(pieces))
    return ThrowScript(
        turn=turn,
        start_s=GATHER_S + span(random, times.start),
        tap=stroke(random, times, int(random.integers(2, 4)), doubt=bool(random.random() < mischief.doubts)),
        rattle=tuple(rattle),
        again_s=float(random.uniform(0.9, 1.8)) if random.random() < mischief.fouls else None,
        counts=bool(random.random() < 0.5),
        spilled=bool(random.random() < mischief.fouls),
        read_s=0.5 + span(random, times.look),
        throw=own.thrown(random),
    )
