"""The drawing: places the teams in an order that nobody chose and anybody can work out again.

Each team's lot is SHA-256 of the seed, a slash and the team's name, all in UTF-8; the teams are placed by their lots,
the lowest first. `printf '%s' 'SEED/TEAM' | sha256sum` gives a lot on any computer. The seed is a text that nobody can
choose alone: numbers that the captains say, or dice thrown before their eyes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def lot(seed: str, team: str) -> str:
    """Return the lot of a team, 64 hexadecimal digits.

    >>> lot("4 1 6 2", "Long Hollow")[:8]
    'a97e4d3e'
    """
    return sha256(f"{seed}/{team}".encode()).hexdigest()


def draw(teams: Iterable[str], seed: str) -> tuple[str, ...]:
    """Return the teams in the order of their lots, whatever order they come in."""
    return tuple(sorted(teams, key=lambda team: (lot(seed, team), team)))
