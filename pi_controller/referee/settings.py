"""What an organiser chooses about the referee: the fouls it calls, how long it looks, how long a hit may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from pi_controller.errors import SettingsError
from pi_controller.games.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

Mode = Literal["automatic", "ask", "off"]
Beads = Literal["mat", "judge"]
"""Who says where the bead lies: the mat's magnetometers, or the judge after each hit."""
Preset = Literal["home", "tournament", "demo"]
PRESETS: Mapping[Preset, str] = {
    "home": "what the mat is sure of is called, what it is not goes to whoever judges",
    "tournament": "a judge sits at the game: no foul costs a stick before the judge has said so",
    "demo": "visitors are not stopped: slips are passed over, only what cannot be played on is called",
}
"""What a table is set up for, in a line each; `Sensed` has what that makes of every foul."""
PASS_FOULS = ("pad_skipped", "pad_twice")
BEAD_FOULS = ("no_bead", "two_beads", "bead_off_mat")


class Sensed(NamedTuple):
    """How something the mat or the clock notices is treated in each preset, and what that means in a line."""

    home: Mode
    tournament: Mode
    demo: Mode
    about: str


SENSED: Mapping[str, Sensed] = {
    "pad_skipped": Sensed("automatic", "ask", "off", "the hider's hand was not under every pad"),
    "pad_twice": Sensed("automatic", "ask", "off", "the hider's hand was under one pad again"),
    "no_bead": Sensed("automatic", "ask", "automatic", "no bead lies under any pad"),
    "two_beads": Sensed("automatic", "ask", "automatic", "more than one bead lies on the mat"),
    "bead_off_mat": Sensed("automatic", "ask", "automatic", "the bead lies beside or between the pads"),
    "bead_moved": Sensed(
        "ask", "ask", "off", "it lies elsewhere than at ready; automatic: the foul that takes; off: it counts there"
    ),
    # what is light: see `hits.LIGHT_DB`
    "touch": Sensed(
        "automatic",
        "ask",
        "off",
        "a touch is a hit, a doubtful one asked; ask: light ones too; off: doubtful ones never",
    ),
    "two_struck": Sensed(
        "automatic", "automatic", "off", "the nearest counts, or is asked; ask: always; off: else the first touched"
    ),
    "early_hit": Sensed(
        "ask", "ask", "off", "a stroke before the bead was seen to lie well; automatic: it is told, and costs nothing"
    ),
    "same_pad": Sensed(
        "ask",
        "ask",
        "off",
        "a second hit on a pad already hit; automatic: it counts, as missed; off: it does not count",
    ),
    "time": Sensed(
        "automatic",
        "ask",
        "automatic",
        "the game's hit_seconds ran out before the hit; in slahal, the game's minutes",
    ),
    "rehide": Sensed("automatic", "ask", "automatic", "slahal: a bone moved after the hands were out"),
    "double_tap": Sensed("automatic", "ask", "off", "bageswin: the bowl was tapped twice in a turn"),
    "no_throw": Sensed("ask", "ask", "off", "the plum stone game: the bowl was tapped twice in a turn"),
}
"""What the mat and the clock can notice, the first that applies first (booklet, chapters 2 and 12).

`no_throw`: the source of the plum stone game does not name it a foul. Chapter 12 names no payment for `early_hit`.
"""
SENSED_FOULS = tuple(SENSED)


def preset_modes(preset: Preset) -> dict[str, Mode]:
    """Return how `preset` treats each of `SENSED_FOULS`."""
    return {kind: getattr(sensed, preset) for kind, sensed in SENSED.items()}


@dataclass(frozen=True)
class RefereeSettings:
    """How the mat's findings are treated.

    `fouls`: for any of `SENSED_FOULS` whether it is called by itself (`automatic`), put to the judge (`ask`) or left
    alone (`off`); `SENSED` says what that means, and `preset` decides where nothing is said. `check_timeout_s`: how
    long after the hands are away the mat may look for the bead before it asks. `hit_seconds`: time for each hit, or
    None. `nearest`: the pads from the nearest to the hitter on; of those struck at once the first named here counts,
    and without it the judge is asked. `beads`: whether the mat looks for the bead at ready. Where the judge confirms
    it, nothing is waited for or sealed.
    """

    fouls: Mapping[str, Mode] = field(default_factory=dict[str, Mode])
    check_timeout_s: float = 3.0
    hit_seconds: float | None = None
    nearest: tuple[int, ...] = ()
    beads: Beads = "mat"
    preset: Preset = "home"

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
        if self.preset not in PRESETS:
            faults.append(f"there is no preset {self.preset!r}; there are: {listed(PRESETS)}")
        if faults:
            raise SettingsError("\n".join(faults), f"fouls {', '.join(SENSED_FOULS)}: automatic, ask or off")

    def mode(self, kind: str) -> Mode:
        """Return how the foul `kind` is treated."""
        return self.fouls.get(kind) or getattr(SENSED[kind], self.preset)
