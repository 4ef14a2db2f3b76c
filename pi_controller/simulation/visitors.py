"""Simulated visitors of an installation.

They know only the touches allowed now, as a person in front of the screen does. A visitor is a function of time, chance
and the `Exhibit`; `Visitors` brings one after another, with pauses between. This is a simulation: children do more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from pi_controller.exhibit.stage import IDLE
from pi_controller.pads import EVERY_PAD
from pi_controller.sensing.events import Bead, BeadsAtRest, HandIn, HandOut
from pi_controller.table.table import Observer

if TYPE_CHECKING:
    from pi_controller.exhibit.exhibit import Exhibit
    from pi_controller.exhibit.installation import Installation

ABSENCE_S = 60.0
"""Time that simulated visitors stay away after a real touch of the page."""
TIDIES = 0.8
"""Probability that a visitor has hidden the bead before pressing ready, and that the bead is taken up afterwards."""


Kind = Callable[["Visitor", float, "Exhibit"], float]
"""Does a visitor's next action at a time in an exhibit; returns the seconds until the one after it."""


class Visitor:
    """One visitor of a `kind`, who arrived at `t` and does `act`."""

    def __init__(self, kind: str, act: Kind, rng: Random, t: float) -> None:
        self.kind, self.act, self.rng, self.came = kind, act, rng, t
        self.next_at = t + rng.uniform(0.5, 4.0)
        self.goes_at = t + rng.uniform(15.0, 60.0 if kind == "walks away" else 420.0)

    @property
    def lingers(self) -> bool:
        """True if this visitor may leave in any stage of the game; the others see it to its end, or never leave."""
        return self.kind not in ("plays the mat", "plays a friend", "learns")

    def step(self, t: float, exhibit: Exhibit) -> None:
        """Do this visitor's next action if it is due."""
        if t >= self.next_at:
            game = exhibit.game
            if game is not None and game.view.phase == "show" and self.rng.random() < TIDIES:
                exhibit.handle_mat_event(t, BeadsAtRest(t, ()))  # the bead is taken up
            self.next_at = t + self.act(self, t, exhibit)

    def touch(self, t: float, exhibit: Exhibit, wanted: Sequence[str] = ()) -> bool:
        """Touch one of the `wanted` controls, or any control except the way back; return True if it was accepted."""
        touches = [one for one in exhibit.touches if one not in ("leave", "about", "how")]
        chosen = [one for one in wanted if one in exhibit.touches] or touches
        if not chosen:
            return False
        name = self.rng.choice(chosen)
        if name == "ready" and self.rng.random() < TIDIES:
            self.hide(t, exhibit)
        return exhibit.touch(t, name, exhibit.turn)

    def hide(self, t: float, exhibit: Exhibit) -> None:
        """Put a hand under every cloth and leave the bead under one; a mat without sensors feels none of it."""
        for pad in EVERY_PAD:
            exhibit.handle_mat_event(t, HandIn(t, pad, "hider"))
            exhibit.handle_mat_event(t, HandOut(t, pad, "hider"))
        exhibit.handle_mat_event(t, BeadsAtRest(t, (Bead(self.rng.choice(EVERY_PAD)),)))


def plays(kind: str, slow: float = 1.0) -> Kind:
    """Return the action of a visitor who plays a game of this `kind`, `slow` times as slowly as others."""

    def act(self: Visitor, t: float, exhibit: Exhibit) -> float:
        wanted = [f"game:{kind}"] if exhibit.stage.name == "choose" else []
        if exhibit.stage.name == "result" and (t >= self.goes_at or self.rng.random() < 0.6):
            wanted = ["leave"]
        self.touch(t, exhibit, wanted)
        return slow * self.rng.uniform(0.8, 3.5)

    return act


def _walks_away(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Play for a while and leave in the middle of the game."""
    return plays("mat")(self, t, exhibit)


KINDS: Mapping[str, Kind] = {
    "plays the mat": plays("mat"),
    "plays a friend": plays("teams"),
    "learns": plays("learn", slow=2.5),
    "walks away": _walks_away,
}
"""Action of each kind."""


class Visitors(Observer["Installation"]):
    """Brings visitors to an installation, one after another, each of one of `kinds`."""

    def __init__(self, rng: Random, kinds: Mapping[str, Kind] = KINDS) -> None:
        self._rng, self._kinds = rng, kinds
        self._visitor: Visitor | None = None
        self._comes_at: float | None = None
        self.came: dict[str, int] = dict.fromkeys(kinds, 0)

    def on_step(self, t: float, table: Installation, armed: bool) -> None:  # noqa: ARG002
        """Let the visitors act until `t`, unless a real person has touched the page."""
        self.step(t, table.exhibit, disturbed=table.touched)

    def step(self, t: float, exhibit: Exhibit, *, disturbed: bool = False) -> None:
        """Let the visitors act until `t`; `disturbed`: a real person has touched the installation."""
        if disturbed:
            if self._visitor is not None:  # the simulated visitor leaves
                self._visitor = None
                exhibit.end_session(t)
                exhibit.touch(t, "start", exhibit.turn)
            self._comes_at = t + ABSENCE_S
        idle = exhibit.stage.name in IDLE
        if self._comes_at is None or (self._visitor is None and not idle):
            self._comes_at = max(self._comes_at or 0.0, t + self._rng.uniform(10.0, 40.0))
        if self._visitor is not None:
            self._visitor.step(t, exhibit)
            if t >= self._visitor.goes_at and (self._visitor.lingers or exhibit.stage.name in IDLE):
                self.go(t)
        elif idle and t >= self._comes_at:
            kind = self._rng.choice([*self._kinds])
            self.came[kind] += 1
            self._visitor = Visitor(kind, self._kinds[kind], self._rng, t)

    def go(self, t: float) -> None:
        """Let the present visitor leave and another one come later."""
        self._visitor, self._comes_at = None, t + self._rng.uniform(10.0, 90.0)
