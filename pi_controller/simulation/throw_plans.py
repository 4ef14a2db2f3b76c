"""Plans of simulated throws, a function of (seed, turn) only. The throw itself comes from the game.

Pieces, stones and sticks fall like fair coins, independently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pi_controller.rules import registry
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.plans import PACES, Mischief, PaceName, Stroke, span, stroke

if TYPE_CHECKING:
    pass


RATTLE_S = (0.05, 0.5)
"""Range of times after the tap at which pieces that fall back into the bowl may be detected."""

GATHER_S = 0.8
"""Shortest time to gather the pieces and pass the bowl."""


@dataclass(frozen=True, slots=True)
class ThrowScript:
    """Plan of one turn. `rattle` is (seconds after the tap, dBFS) of each detectable piece.

    `again_s` is the time of a second tap after the first, None without one; `counts` is True if the judge, where the
    rules leave it open, calls it a foul. `spilled`: the throw does not count. `throw` is the action for the result.
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
        """The irregularities of the turn, for the record."""
        return ", ".join(filter(None, ("second tap" if self.again_s else "", "spilled" if self.spilled else "")))


def throw_script(
    game: str, seed: int, turn: int, pace: PaceName = "brisk", mischief: Mischief | None = None
) -> ThrowScript:
    """Return the plan of turn number `turn` (1 first) of the table with this seed: always the same."""
    own = registry.game_module(game, "people")
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
        throw=own.throw_action(random),
    )
