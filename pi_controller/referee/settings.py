"""Settings of the referee: treatment of sensed fouls, unanswered questions, and time limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from pi_controller.errors import SettingsError
from pi_controller.games.wording import listed
from pi_controller.pads import each_once
from pi_controller.referee.judge import Ruling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Mode = Literal["automatic", "ask", "off"]
Beads = Literal["mat", "judge"]
"""Who says where the bead lies: the mat's magnetometers, or the judge after each hit."""
Preset = Literal["home", "tournament", "umpired", "demo"]
PRESETS: Mapping[Preset, str] = {
    "home": "what the mat is sure of is called, what it is not goes to whoever judges",
    "tournament": "fouls as at home; protests are decided before play goes on, and only the committee closes a game",
    "umpired": "a tournament with a judge at each game: no foul costs a stick before the judge has said so",
    "demo": "visitors are not stopped: slips are passed over, only what cannot be played on is called",
}
"""What a table is set up for, in a line each; `Sensed` has what that makes of every foul."""
TOURNAMENT: tuple[Preset, ...] = ("tournament", "umpired")
"""Those under the rules of a tournament (chapters 2 and 12)."""
CHECK_TIMEOUT_S = (0.2, 60.0)
"""The least and the most of `RefereeSettings.check_timeout_s`."""
ANSWER_WITHIN_S = (1.0, 3600.0)
"""The least and the most of `RefereeSettings.answer_within_s`."""
PASS_FOULS = ("pad_skipped", "pad_twice")
BEAD_FOULS = ("no_bead", "two_beads", "bead_off_mat")


class Sensed(NamedTuple):
    """How something the mat or the clock notices is treated in each preset, and what that means in a line.

    At a tournament as at home.
    """

    home: Mode
    umpired: Mode
    demo: Mode
    about: str


SENSED: Mapping[str, Sensed] = {
    "pad_skipped": Sensed("automatic", "ask", "off", "the hider's hand was not under every pad"),
    "pad_twice": Sensed("automatic", "ask", "off", "the hider's hand was under one pad again"),
    "no_bead": Sensed("automatic", "ask", "automatic", "no bead lies under any pad"),
    "two_beads": Sensed("automatic", "ask", "automatic", "more than one bead lies on the mat"),
    "bead_off_mat": Sensed("automatic", "ask", "automatic", "the bead lies beside or between the pads"),
    "bead_moved": Sensed(
        "ask",
        "ask",
        "off",
        "it lies elsewhere than at ready; automatic: the foul that takes; off: it counts there",
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
    "rehide": Sensed("ask", "ask", "automatic", "slahal: a bone moved after the hands were out"),
    "double_tap": Sensed("automatic", "ask", "off", "bageswin: the bowl was tapped twice in a turn"),
    "no_throw": Sensed("ask", "ask", "off", "the plum stone game: the bowl was tapped twice in a turn"),
}
"""What the mat and the clock can notice, the first that applies first (booklet, chapters 2 and 12).

`no_throw`: the source of the plum stone game does not name it a foul. Chapter 12 names no payment for `early_hit`.
"""
WAIT = "wait"
"""A question that waits for whoever judges, however long that takes."""


class Unasked(NamedTuple):
    """What may follow from a question by itself, where nobody answers it, and what does in the preset `demo`.

    Of `demo` the first that the question takes; `about` says in a line what is asked.
    """

    demo: tuple[str, ...]
    others: tuple[str, ...]
    about: str


UNASKED: Mapping[str, Unasked] = {
    "two_struck": Unasked(("none",), (), "two pads were touched at once"),
    "several_struck": Unasked(("none",), (), "three or four pads shook at once"),
    "doubtful": Unasked(("none",), (), "a touch was in doubt"),
    "same_pad": Unasked(("none",), (), "a second hit on a pad already hit"),
    "opened_pad": Unasked(("none",), (), "ojibwe: a stroke on a pad that was opened"),
    "disc_dead": Unasked(("play_on",), (), "strokes on a pad are not felt while a hit is owed"),
    "beside_dead": Unasked(("none",), (), "a stroke was felt while strokes on another pad are not"),
    "link_gap": Unasked(("none",), ("play_on",), "the mat was not heard while a hit was owed"),
    "early_hit": Unasked(("play_on",), ("hide_again",), "a stroke before the bead was seen to lie well"),
    "bead_moved": Unasked(("play_on",), ("hide_again", "foul"), "the bead lies elsewhere than at ready"),
    "sealed_again": Unasked(("play_on",), ("hide_again", "by_eye"), "the seal was withdrawn: may it be sealed anew"),
    "no_reading": Unasked(("hide_again",), ("play_on",), "the mat cannot see where the bead lies"),
    "passes_unsure": Unasked(("play_on",), ("hide_again", "foul"), "hands may have been under every pad once, or not"),
    "foul": Unasked(("play_on",), ("foul",), "what may be a foul"),
    "found": Unasked(("hide_again", "missed"), (), "a hit whose bead the mat did not see"),
    "balls": Unasked(("hide_again",), ("play_on",), "ojibwe: not one ball under each pad, or not one marked"),
    "ball": Unasked(("hide_again",), (), "ojibwe: the mat did not see the marked ball"),
    "ball_moved": Unasked(("play_on",), ("hide_again",), "ojibwe: the marked ball lies elsewhere"),
    "lifted": Unasked(("no",), (), "ojibwe: a hand at the edge of a pad"),
    "opened": Unasked(("hide_again",), (), "ojibwe: a pad was opened, and the mat did not see what lay there"),
    "too_many": Unasked(("play_on",), ("hide_again", "counts"), "ojibwe: one pad more was opened than may be"),
    "bones": Unasked(("hide_again",), ("play_on",), "slahal: not one bone for each holder"),
    "actual": Unasked(("hide_again",), (), "slahal: the mat did not see the bones"),
    "time": Unasked(("time",), ("play_on",), "slahal: the game's time is up, and the mat did not feel all of it"),
    "puzzled": Unasked(("play_on",), (), "what was felt or the clock leads to what the rules do not allow"),
}
"""Every question that the mat or the table asks. At home and at a tournament each waits for whoever judges."""


def _mode(kind: str, preset: Preset) -> Mode:
    return getattr(SENSED[kind], "home" if preset == "tournament" else preset)


def preset_modes(preset: Preset) -> dict[str, Mode]:
    """Return how `preset` treats each of `SENSED`."""
    return {kind: _mode(kind, preset) for kind in SENSED}


@dataclass(frozen=True)
class RefereeSettings:
    """How the mat's findings are treated.

    `fouls`: for any of `SENSED` whether it is called by itself (`automatic`), put to the judge (`ask`) or
    left alone (`off`); `SENSED` says what that means, and `preset` decides where nothing is said.
    `check_timeout_s`: how long after the hands are away the mat may look for the bead before it asks.
    `hit_seconds`: time for each hit, or None. `nearest`: the pads from the nearest to the hitter on; of those
    struck at once the first named here counts, and without it the judge is asked. `answers`: for any of `UNASKED`
    what is answered where nobody has within `answer_within_s` seconds, or `WAIT`; `preset` decides where nothing is
    said. `beads`: whether the mat looks for the bead at ready. Where the judge confirms it, nothing is waited for
    or sealed.
    """

    fouls: Mapping[str, Mode] = field(default_factory=dict[str, Mode])
    check_timeout_s: float = 3.0
    hit_seconds: float | None = None
    nearest: tuple[int, ...] = ()
    beads: Beads = "mat"
    preset: Preset = "home"
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    answer_within_s: float = 20.0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, with every fault at once."""
        faults = [f"the mat does not see the foul {kind!r}" for kind in self.fouls if kind not in SENSED]
        faults += [f"foul {kind} cannot be {mode!r}" for kind, mode in self.fouls.items() if mode not in get_args(Mode)]
        faults += _outside("check_timeout_s", self.check_timeout_s, CHECK_TIMEOUT_S)
        if self.hit_seconds is not None and not 0 < self.hit_seconds < 86400:
            faults.append("hit_seconds must lie between 0 and 86400 s")
        if not each_once(self.nearest):
            faults.append("nearest names a pad twice, or one that is not there")
        if self.beads not in get_args(Beads):
            faults.append(f"beads cannot be {self.beads!r}")
        if self.preset not in PRESETS:
            faults.append(f"there is no preset {self.preset!r}; there are: {listed(PRESETS)}")
        faults += [f"the mat does not ask about {about!r}" for about in self.answers if about not in UNASKED]
        for about, answer in self.answers.items():
            if about in UNASKED and answer not in possible_answers(about):
                faults.append(f"{about} is not answered {answer!r}; it is one of: {listed(possible_answers(about))}")
        faults += _outside("answer_within_s", self.answer_within_s, ANSWER_WITHIN_S)
        if faults:
            raise SettingsError("\n".join(faults), f"fouls {', '.join(SENSED)}: automatic, ask or off")

    def mode(self, kind: str) -> Mode:
        """Return how the foul `kind` is treated."""
        return self.fouls.get(kind) or _mode(kind, self.preset)

    def unasked(self, about: str, choices: Sequence[str]) -> str | None:
        """Return the answer to the question `about` where nobody gives one of its `choices`; None: it waits.

        Where the organiser's answer is not among them, it is what does no harm.
        """
        chosen = self.answers.get(about) or preset_answers(self.preset).get(about, WAIT)
        answers = () if chosen == WAIT else (chosen, *UNASKED[about].demo)
        return next((answer for answer in answers if answer in choices), None)

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """What can be ruled on a protest: at a tournament it is decided before play goes on (chapter 12)."""
        return tuple(one for one in get_args(Ruling) if one != "play_on" or self.preset not in TOURNAMENT)


def _outside(name: str, value: float, bounds: tuple[float, float]) -> list[str]:
    low, high = bounds
    return [] if low <= value <= high else [f"{name} must be from {low:g} to {high:g} s"]


def preset_answers(preset: Preset) -> dict[str, str]:
    """Return what answers each question by itself in `preset`, where nobody does in time."""
    return {about: unasked.demo[0] if preset == "demo" else WAIT for about, unasked in UNASKED.items()}


def possible_answers(about: str) -> tuple[str, ...]:
    """Return what an organiser may choose for the question `about`."""
    return (WAIT, *UNASKED[about].demo, *UNASKED[about].others)
