"""How exactly must a mat be built? Beads on simulated mats whose magnetometers are not where the pin map says.

python tests/tools/measure_build.py [N]

The scenes are those of `tests/tools/measure_beads.py`, one marked bead, and ojibwe's four balls: all magnetometers too
deep or too high, each at a random place farther off, or the one nearest to the first bead turned by a quarter. A
simulation, not evidence about a real mat.
"""

import sys
from collections import Counter

import measure_beads as scenes
import numpy as np


def play(kind: str, number: int, *, deeper: float = 0.0, scatter: float = 0.7, turned: bool = False) -> str:
    """Return "right", "unsure" or "wrong" for scene `number` of `kind` on a mat built so; mm."""
    scene = scenes.Play(kind, number, 2026)
    scene.mat.places[:] = scenes.SENSORS + scene.rng.normal(0, scatter, scenes.SENSORS.shape)
    scene.mat.places[:, 2] -= deeper
    if turned:
        bead = scene.scene.beads[0].place
        near = int(np.argmin(np.linalg.norm(scene.mat.places - bead, axis=1)))
        feed_turned(scene, near)
    verdict = scene.told().verdict
    return verdict if verdict in ("right", "unsure") else "wrong"


def feed_turned(scene: scenes.Play, near: int) -> None:
    """Turn sensor `near` of `scene` by a quarter about z."""
    feed = scene.tracker.feed

    def turned(field):
        ut = field.ut.copy()
        ut[near, :2] = -field.ut[near, 1], field.ut[near, 0]
        return feed(type(field)(field.t, ut, field.ok))

    scene.tracker.feed = turned


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rows = [(f"{mm:+.0f} mm deeper", {"deeper": float(mm)}) for mm in (-6, -4, -2, 0, 2, 4, 6)]
    rows += [(f"places off by {mm:g} mm (one sigma)", {"scatter": mm}) for mm in (1.0, 1.5, 2.0, 3.0)]
    rows.append(("one turned by a quarter", {"turned": True}))
    print(f"{count} scenes each: sure and right, unsure, wrong; one bead, then four balls")
    for name, built in rows:
        told = f"{name:>34}"
        for kind in ("marked", "four"):
            many = Counter(play(kind, number, **built) for number in range(count))
            told += f"{many['right']:>8}{many['unsure']:>5}{many['wrong']:>5}"
        print(told, flush=True)


if __name__ == "__main__":
    main()
