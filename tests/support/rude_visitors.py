"""Simulated visitors of an installation who read, or mean no good: for hours of visitors on virtual time."""

from pi_controller.exhibit.stage import IDLE
from pi_controller.pads import EVERY_PAD
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.simulation.visitors import KINDS


def reads(self, t, exhibit):
    """Read everything, in every language."""
    if self.rng.random() < 0.4:
        exhibit.touch(t, f"language:{self.rng.choice(exhibit.section.languages)}")
    self.touch(t, exhibit, ["about"] if self.rng.random() < 0.5 else ["leave", "how"])
    return self.rng.uniform(2.0, 15.0)


def mashes(self, t, exhibit):
    """Touch random controls as fast as possible."""
    self.touch(t, exhibit)
    return 0.1


def presses_ready(self, t, exhibit):
    """Press ready twenty times, on the screen and at the mat."""
    turn = exhibit.turn
    for _ in range(20):
        exhibit.touch(t, "ready", turn)
        exhibit.handle_mat_event(t, Button(t, "ready"))
    self.touch(t, exhibit)
    return self.rng.uniform(0.5, 3.0)


def ten_hands(self, t, exhibit):
    """Touch all controls at once with ten hands."""
    turn, touches = exhibit.turn, list(exhibit.touches)
    for _ in range(10):
        if touches:
            exhibit.touch(t, self.rng.choice(touches), turn)
        exhibit.handle_mat_event(t, HandIn(t, self.rng.choice(EVERY_PAD), self.rng.choice(("hider", "hitter", None))))
    return self.rng.uniform(0.3, 2.0)


def jumps(self, t, exhibit):
    """Jump on the mat: strokes on all pads at once, with coins, keys and two beads on it."""
    exhibit.handle_mat_event(t, Strike(t, EVERY_PAD, self.rng.uniform(-3.0, 40.0), self.rng.random() < 0.5))
    beads = tuple(Bead(pad) for pad in self.rng.sample((1, 2, 3, 4, None), self.rng.randint(0, 4)))
    exhibit.handle_mat_event(t, BeadsAtRest(t, beads, self.rng.random() < 0.7))
    if self.rng.random() < 0.4:
        self.touch(t, exhibit)
    return self.rng.uniform(0.2, 3.0)


def unplugs(self, t, exhibit):
    """Pull the cable and plug it in again, and pull the cloth away with the hand on it."""
    exhibit.handle_mat_event(t, Link(t, up=self.rng.random() < 0.5, why="unplugged"))
    exhibit.handle_mat_event(t, HandOut(t, self.rng.choice(EVERY_PAD), sure=False))
    if self.rng.random() < 0.5:
        self.touch(t, exhibit)
    return self.rng.uniform(0.5, 5.0)


def comes_and_goes(self, t, exhibit):
    """Begin and leave repeatedly."""
    self.touch(t, exhibit, ["leave"] if self.rng.random() < 0.5 else [])
    return self.rng.uniform(0.2, 2.0)


def holds(self, t, exhibit):
    """Occupy the installation: confirm being present, but only change how the screen looks."""
    if exhibit.stage.name in IDLE:
        self.touch(t, exhibit)
    exhibit.touch(t, self.rng.choice(("low", "here", f"language:{exhibit.section.languages[0]}")), exhibit.turn)
    return 5.0


def forges(self, t, exhibit):
    """Send touches that the screen does not offer: other names, other turns, nonsense."""
    names = ("pad:0", "pad:5", "pad:x", "game:all", "answer:found", "next", "", ":", "language:xx", "leave:1", "x" * 40)
    for _ in range(5):
        exhibit.touch(t, self.rng.choice(names), exhibit.turn + self.rng.randint(-3, 3))
    self.touch(t, exhibit)
    return self.rng.uniform(0.3, 2.0)


EVERY_KIND = {
    **KINDS,
    "reads": reads,
    "mashes": mashes,
    "presses ready twenty times": presses_ready,
    "ten hands at once": ten_hands,
    "jumps on the mat": jumps,
    "unplugs": unplugs,
    "comes and goes": comes_and_goes,
    "holds on to it": holds,
    "forges touches": forges,
}
"""Action of each kind of visitor."""
