"""What an organiser chooses about the referee: the fouls it calls, how long it looks, how long a hit may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from pi_controller.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

Mode = Literal["automatic", "ask", "off"]
Beads = Literal["mat", "judge"]
"""Who says where the bead lies: the mat's magnetometers, or the judge after each hit."""
PASS_FOULS = ("pad_skipped", "pad_twice")
BEAD_FOULS = ("no_bead", "two_beads", "bead_off_mat")
SENSED_FOULS = (*PASS_FOULS, *BEAD_FOULS, "time", "rehide", "double_tap", "no_throw")
"""What the mat and the clock can see, the first that applies first (booklet, chapters 2 and 12).

`time` is also the end of a game of slahal, `rehide` a bone that moved after the hands were out; `double_tap` is the
second tap of a turn in bageswin, `no_throw` in the plum stone game, whose source does not name it a foul.
"""
ASKED = ("no_throw",)
"""What the judge is asked about unless the settings say otherwise; everything else is called by itself."""


@dataclass(frozen=True)
class RefereeSettings:
    """How the mat's findings are treated.

    `fouls`: for each of `SENSED_FOULS` whether it is called by itself (`automatic`, also when not named and not in
    `ASKED`), put to the judge (`ask`) or left alone (`off`). `check_timeout_s`: how long after the hands are away the
    mat may look for the bead before it asks. `hit_seconds`: time for each hit, or None. `nearest`: the pads from the
    nearest to the hitter on; of those struck at once the first named here counts, and without it the judge is asked.
    `beads`: whether the mat looks for the bead at ready. Where the judge confirms it, nothing is waited for or sealed.
    """

    fouls: Mapping[str, Mode] = field(default_factory=dict[str, Mode])
    check_timeout_s: float = 3.0
    hit_seconds: float | None = None
    nearest: tuple[int, ...] = ()
    beads: Beads = "mat"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, with every fault at once."""
        faults = [f"the mat does not see the foul {kind!r}" for kind in self.fouls if kind not in SENSED_FOULS]
        faults += [f"foul {kind} cannot be {mode!r}" for kind, mode in self.fouls.items() if mode not in get_args(Mode)]
        if not 0 < self.check_timeout_s < 3600:
            faults.append("check_timeout_s must lie between 0 and 3600 s")
        if self.hit_seconds is not None and not 0 < self.hit_seconds < 86400:
            faults.append("hit_seconds must lie between 0 and 86400 s")
        if len(set(self.nearest)) != len(self.nearest) or not set(self.nearest) <= {1, 2, 3, 4}:
            faults.append("nearest names a pad twice, or one that is not there")
        if self.beads not in get_args(Beads):
            faults.append(f"beads cannot be {self.beads!r}")
        if faults:
            raise SettingsError("\n".join(faults), f"fouls {', '.join(SENSED_FOULS)}: automatic, ask or off")

    def mode(self, kind: str) -> Mode:
        """Return how the foul `kind` is treated."""
        return self.fouls.get(kind, "ask" if kind in ASKED else "automatic")
