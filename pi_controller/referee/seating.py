"""Seating: which mat is before the hiders, and whether its pads are mirrored for them.

Pads are told as the hiders see them, pad 1 on their left. One mat between the teams lies the right way round for one of
them only, so it turns with the roles; where each team has a mat of its own, the mat changes instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pi_controller.games.base import Team

Seats = Literal["turn", "stay", "each"]
"""`turn`: one mat, A sits at its near edge and B at the far one. `stay`: one mat, the hiders always sit at its near
edge. `each`: A and B each have a mat before them.
"""


def mirrored(seats: Seats, hiders: Team | None) -> bool:
    """Return whether the hiders are not where A sits: the mat is turned, or it is the other mat."""
    return seats != "stay" and hiders == "B"
