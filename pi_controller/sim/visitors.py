"""Simulated visitors of an installation: thirteen kinds, of whom some mean no good.

They know what anybody in front of it knows: what may be touched now. A visitor is a function of time, chance and the
`Exhibit`; `Visitors` lets one after another come, with nobody there in between. This is a simulation: children do more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.exhibit.stage import IDLE
from pi_controller.mat.events import Bead, Beads, Button, HandIn, HandOut, Link, Strike
from pi_controller.pads import EVERY_PAD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from pi_controller.exhibit.exhibit import Exhibit

BACK_S = 60.0
"""So long after somebody real has touched the page simulated visitors stay away."""


class Visitor:
    """One visitor of a `kind`, who came at `t`."""

    def __init__(self, kind: str, rng: Random, t: float) -> None:
        self.kind, self.rng, self.came = kind, rng, t
        self.next_at = t + rng.uniform(0.5, 4.0)
        self.goes_at = t + rng.uniform(15.0, 60.0 if kind == "walks away" else 420.0)

    @property
    def lingers(self) -> bool:
        """Whether this visitor goes wherever the game is; the others see it to its end, or make no end."""
        return self.kind not in ("plays the mat", "plays a friend", "learns")

    def step(self, t: float, exhibit: Exhibit) -> None:
        """Do what this visitor does, if it is time to."""
        if t >= self.next_at:
            self.next_at = t + KINDS[self.kind](self, t, exhibit)

    def touch(self, t: float, exhibit: Exhibit, wanted: Sequence[str] = ()) -> bool:
        """Touch one of the `wanted`, or anything but the way back."""
        touches = [one for one in exhibit.touches if one not in ("leave", "about", "how")]
        chosen = [one for one in wanted if one in exhibit.touches] or touches
        return bool(chosen) and exhibit.touch(t, self.rng.choice(chosen), exhibit.turn)


def _plays(kind: str, slow: float = 1.0) -> Callable[[Visitor, float, Exhibit], float]:
    def act(self: Visitor, t: float, exhibit: Exhibit) -> float:
        wanted = [f"game:{kind}"] if exhibit.stage.name == "choose" else []
        if exhibit.stage.name == "result" and (t >= self.goes_at or self.rng.random() < 0.6):
            wanted = ["leave"]
        self.touch(t, exhibit, wanted)
        return slow * self.rng.uniform(0.8, 3.5)

    return act


def _walks_away(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Plays for a while and is gone without a word, in the middle of it."""
    return _plays("mat")(self, t, exhibit)


def _reads(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Reads everything, in every language."""
    if self.rng.random() < 0.4:
        exhibit.touch(t, f"language:{self.rng.choice(exhibit.section.languages)}")
    self.touch(t, exhibit, ["about"] if self.rng.random() < 0.5 else ["leave", "how"])
    return self.rng.uniform(2.0, 15.0)


def _mashes(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Touches whatever is there, as fast as can be."""
    self.touch(t, exhibit)
    return 0.1


def _presses_ready(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Presses ready twenty times, on the screen and at the mat."""
    turn = exhibit.turn
    for _ in range(20):
        exhibit.touch(t, "ready", turn)
        exhibit.felt(t, Button(t, "ready"))
    self.touch(t, exhibit)
    return self.rng.uniform(0.5, 3.0)


def _ten_hands(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Ten hands on everything there is, at once."""
    turn, touches = exhibit.turn, list(exhibit.touches)
    for _ in range(10):
        if touches:
            exhibit.touch(t, self.rng.choice(touches), turn)
        exhibit.felt(t, HandIn(t, self.rng.choice(EVERY_PAD), self.rng.choice(("hider", "hitter", None))))
    return self.rng.uniform(0.3, 2.0)


def _jumps(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Jumps on the mat: strokes on all pads at once; coins, keys and two beads lie there."""
    exhibit.felt(t, Strike(t, EVERY_PAD, self.rng.uniform(-3.0, 40.0), self.rng.random() < 0.5))
    beads = tuple(Bead(pad) for pad in self.rng.sample((1, 2, 3, 4, None), self.rng.randint(0, 4)))
    exhibit.felt(t, Beads(t, beads, self.rng.random() < 0.7))
    if self.rng.random() < 0.4:
        self.touch(t, exhibit)
    return self.rng.uniform(0.2, 3.0)


def _unplugs(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Pulls the cable and puts it back, and the cloth away with the hand on it."""
    exhibit.felt(t, Link(t, up=self.rng.random() < 0.5, why="unplugged"))
    exhibit.felt(t, HandOut(t, self.rng.choice(EVERY_PAD), sure=False))
    if self.rng.random() < 0.5:
        self.touch(t, exhibit)
    return self.rng.uniform(0.5, 5.0)


def _comes_and_goes(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Begins and leaves, begins and leaves."""
    self.touch(t, exhibit, ["leave"] if self.rng.random() < 0.5 else [])
    return self.rng.uniform(0.2, 2.0)


def _holds(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Keeps the installation for itself: says it is there, and does nothing but change how the screen looks."""
    if exhibit.stage.name in IDLE:
        self.touch(t, exhibit)
    exhibit.touch(t, self.rng.choice(("low", "here", f"language:{exhibit.section.languages[0]}")), exhibit.turn)
    return 5.0


def _forges(self: Visitor, t: float, exhibit: Exhibit) -> float:
    """Sends what no screen has: other names, other turns, nonsense."""
    names = ("pad:0", "pad:5", "pad:x", "game:all", "answer:found", "next", "", ":", "language:xx", "leave:1", "x" * 40)
    for _ in range(5):
        exhibit.touch(t, self.rng.choice(names), exhibit.turn + self.rng.randint(-3, 3))
    self.touch(t, exhibit)
    return self.rng.uniform(0.3, 2.0)


KINDS: Mapping[str, Callable[[Visitor, float, Exhibit], float]] = {
    "plays the mat": _plays("mat"),
    "plays a friend": _plays("teams"),
    "learns": _plays("learn", slow=2.5),
    "walks away": _walks_away,
    "reads": _reads,
    "mashes": _mashes,
    "presses ready twenty times": _presses_ready,
    "ten hands at once": _ten_hands,
    "jumps on the mat": _jumps,
    "unplugs": _unplugs,
    "comes and goes": _comes_and_goes,
    "holds on to it": _holds,
    "forges touches": _forges,
}
"""What each kind does at a moment; it returns after how many seconds it does the next."""
CIVIL = ("plays the mat", "plays a friend", "learns", "walks away")


class Visitors:
    """Lets visitors come to an installation, one after another, each of one of `kinds`."""

    def __init__(self, rng: Random, kinds: Sequence[str] = tuple(KINDS)) -> None:
        self._rng, self._kinds = rng, kinds
        self._visitor: Visitor | None = None
        self._comes_at: float | None = None
        self.came: dict[str, int] = dict.fromkeys(kinds, 0)

    def step(self, t: float, exhibit: Exhibit, *, disturbed: bool = False) -> None:
        """Let the visitors do what they do until `t`; `disturbed`: somebody real has touched the installation."""
        if disturbed:
            if self._visitor is not None:  # the simulated one makes room
                self._visitor = None
                exhibit.touch(t, "leave", exhibit.turn)
                exhibit.touch(t, "start", exhibit.turn)
            self._comes_at = t + BACK_S
        idle = exhibit.stage.name in IDLE
        if self._comes_at is None or (self._visitor is None and not idle):
            self._comes_at = max(self._comes_at or 0.0, t + self._rng.uniform(10.0, 40.0))
        if self._visitor is not None:
            self._visitor.step(t, exhibit)
            if t >= self._visitor.goes_at and (self._visitor.lingers or exhibit.stage.name in IDLE):
                self.go(t)
        elif idle and t >= self._comes_at:
            kind = self._rng.choice(self._kinds)
            self.came[kind] += 1
            self._visitor = Visitor(kind, self._rng, t)

    def go(self, t: float) -> None:
        """Whoever is there goes, and somebody else comes in a while."""
        self._visitor, self._comes_at = None, t + self._rng.uniform(10.0, 90.0)
