"""Settings of the referee: treatment of sensed fouls, unanswered questions, and time limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from pi_controller.errors import SettingsError
from pi_controller.pads import are_distinct_pads
from pi_controller.referee.judge import Ruling
from pi_controller.rules.base import Action, Game
from pi_controller.text import join_words

Mode = Literal["automatic", "ask", "off"]
BeadSource = Literal["mat", "judge"]
"""The source of the bead's place: the mat's magnetometers, or the judge after each hit."""
Preset = Literal["home", "tournament", "umpired", "demo"]
PRESETS: Mapping[Preset, str] = {
    "home": "the mat calls certain fouls and asks the judge about doubtful ones",
    "tournament": "fouls as at home; the committee decides a protest before play continues",
    "umpired": "a tournament with a judge at each game: the judge confirms every foul before it costs a stick",
    "demo": "visitors keep playing: minor fouls are ignored, only fouls that stop the game are called",
}
"""The purpose of each preset in one line; `FoulTreatment` has its treatment of every foul."""
Singer = Literal["off", "reminder"]
"""Whether the judge is reminded before a game to ask for each team's singer (chapter 12 leaves this blank)."""
TOURNAMENT_PRESETS: tuple[Preset, ...] = ("tournament", "umpired")
"""The presets under the rules of a tournament (chapters 2 and 12)."""
TEAM_READY_PRESETS = TOURNAMENT_PRESETS
"""The presets in which each team says by a button of its own that the bead is hidden."""
MANY_MAGNETOMETERS = 16
"""With fewer, a mat surely reads one bead as two, or one at another place, now and then (hardware/README.md)."""
NEEDS_MANY = ("two_beads", "bead_moved")
"""Fouls that only many magnetometers can tell surely: with few they are questions, never automatic."""
CHECK_TIMEOUT_RANGE_S = (0.2, 60.0)
"""Allowed range of `RefereeSettings.check_timeout_s`, seconds."""
ROUND_PAUSE_RANGE_S = (0.5, 60.0)
"""Allowed range of `RefereeSettings.round_pause_s`, seconds."""
ANSWER_WITHIN_RANGE_S = (1.0, 3600.0)
"""Allowed range of `RefereeSettings.answer_within_s`, seconds."""
PASS_FOULS = ("pad_skipped", "pad_twice")
BEAD_FOULS = ("no_bead", "two_beads", "bead_off_mat")


HITTERS_FOULS = ("time", "early_hit")
"""The fouls of the hitters that the mat or the clock can see; all others are the hiders'."""


def foul_action(game: Game[Any], kind: str) -> Action:
    """Return the action of `game` that settles the foul `kind`."""
    if not game.hand_passes:
        return {"do": kind}
    return {"do": "foul", "by": "hitter" if kind in HITTERS_FOULS else "hider", "kind": kind}


class FoulTreatment(NamedTuple):
    """The treatment of one observation of the mat or the clock in each preset, with a one-line description.

    The preset `tournament` treats them like `home`.
    """

    home: Mode
    umpired: Mode
    demo: Mode
    about: str


FOUL_TREATMENTS: Mapping[str, FoulTreatment] = {
    "pad_skipped": FoulTreatment("automatic", "ask", "off", "the hider's hand was not under every pad"),
    "pad_twice": FoulTreatment("automatic", "ask", "off", "the hider's hand was under one pad again"),
    "no_bead": FoulTreatment("automatic", "ask", "automatic", "there is no bead under the pads"),
    "two_beads": FoulTreatment("automatic", "ask", "automatic", "there is more than one bead on the mat"),
    "bead_off_mat": FoulTreatment("automatic", "ask", "automatic", "the bead is beside or between the pads"),
    "bead_moved": FoulTreatment(
        "ask",
        "ask",
        "off",
        "it moved after ready; automatic: a foul; off: its new place counts",
    ),
    # what is light: see `hits.LIGHT_STRIKE_DB`
    "touch": FoulTreatment(
        "automatic",
        "ask",
        "off",
        "a touch is a hit, the judge decides doubtful ones; ask: light ones too; off: doubtful ones are ignored",
    ),
    "two_struck": FoulTreatment(
        "automatic",
        "automatic",
        "off",
        "the nearest pad counts, or the judge decides; ask: the judge; off: the nearest, or the first touched",
    ),
    "early_hit": FoulTreatment(
        "ask", "ask", "off", "a hit before the bead was checked; automatic: a notice without a penalty"
    ),
    "same_pad": FoulTreatment(
        "ask",
        "ask",
        "off",
        "a second hit on the pad of the first; automatic: it counts as a miss; off: it does not count",
    ),
    "time": FoulTreatment(
        "automatic",
        "ask",
        "automatic",
        "no hit within the game's hit_seconds; in slahal, the game's minutes are over",
    ),
    "rehide": FoulTreatment("ask", "ask", "automatic", "slahal: a bone moved after the hands were out"),
    "double_tap": FoulTreatment("automatic", "ask", "off", "bageswin: the bowl was tapped twice in a turn"),
    "no_throw": FoulTreatment("ask", "ask", "off", "the plum stone game: the bowl was tapped twice in a turn"),
}
"""All observations of the mat and the clock, in the order in which they are applied (booklet, chapters 2 and 12).

`no_throw`: the source of the plum stone game does not name it a foul. Chapter 12 names no payment for `early_hit`.
"""
WAIT = "wait"
"""The question waits for the judge without a limit."""


class QuestionDefault(NamedTuple):
    """The allowed default answers to a question, and the one used in the preset `demo`.

    Of `demo` the first one among the question's choices is used; `about` describes the question in a line.
    """

    demo: tuple[str, ...]
    others: tuple[str, ...]
    about: str


QUESTION_DEFAULTS: Mapping[str, QuestionDefault] = {
    "two_struck": QuestionDefault(("none",), (), "two pads were touched at once"),
    "several_struck": QuestionDefault(("none",), (), "three or four pads shook at once"),
    "doubtful": QuestionDefault(("none",), (), "a doubtful touch"),
    "same_pad": QuestionDefault(("none",), (), "a second hit on a pad already hit"),
    "one_stroke": QuestionDefault(("none",), (), "a second hit within 0.8 s of the first: one stroke or two"),
    "opened_pad": QuestionDefault(("none",), (), "ojibwe: a hit on an open pad"),
    "disc_dead": QuestionDefault(("play_on",), (), "a pad cannot feel hits while a hit is due"),
    "beside_dead": QuestionDefault(("none",), (), "a hit was felt, but another pad cannot feel hits"),
    "link_gap": QuestionDefault(("none",), ("play_on",), "the mat was disconnected while a hit was due"),
    "hitters_hand": QuestionDefault(("play_on",), ("hide_again",), "a hitter's hand was under a pad during hiding"),
    "hand_again": QuestionDefault(
        ("play_on",), ("hide_again", "foul"), "a hand, perhaps the hider's, under a pad after ready"
    ),
    "peek": QuestionDefault(("play_on",), ("hide_again",), "a hitter's hand was under a pad that was not struck"),
    "early_hit": QuestionDefault(("play_on",), ("hide_again",), "a hit before the bead was checked"),
    "bead_moved": QuestionDefault(("play_on",), ("hide_again", "foul"), "the bead moved after ready"),
    "sealed_again": QuestionDefault(("play_on",), ("hide_again", "by_eye"), "the seal was withdrawn: seal it again"),
    "no_reading": QuestionDefault(("hide_again",), ("play_on",), "the mat cannot locate the bead"),
    "passes_unsure": QuestionDefault(
        ("play_on",), ("hide_again", "foul"), "the hand may not have been under every pad once"
    ),
    "foul": QuestionDefault(("play_on",), ("foul",), "a possible foul"),
    "two_magnets": QuestionDefault(
        ("play_on",), ("hide_again", "foul"), "two magnets on one pad: perhaps one bead with two magnets"
    ),
    "found": QuestionDefault(("hide_again", "missed"), (), "a hit, and the mat did not see the bead"),
    "balls": QuestionDefault(
        ("hide_again",), ("play_on",), "ojibwe: not exactly one ball under each pad and one marked"
    ),
    "ball": QuestionDefault(("hide_again",), (), "ojibwe: the mat did not see the marked ball"),
    "ball_moved": QuestionDefault(("play_on",), ("hide_again",), "ojibwe: the marked ball moved"),
    "lifted": QuestionDefault(("no",), (), "ojibwe: a hand at the edge of a pad, or a hand of an unknown side"),
    "opened": QuestionDefault(("hide_again",), (), "ojibwe: a pad was opened, and the mat did not see the ball"),
    "too_many": QuestionDefault(("play_on",), ("hide_again", "counts"), "ojibwe: one pad too many was opened"),
    "bones": QuestionDefault(("hide_again",), ("play_on",), "slahal: not one bone in each hand"),
    "actual": QuestionDefault(("hide_again",), (), "slahal: the mat did not see the bones"),
    "time": QuestionDefault(
        ("time",), ("play_on",), "slahal: the game's time is up, and the mat did not feel all of it"
    ),
    "late_hit": QuestionDefault(("first", "second"), ("none",), "a hit up to 1.5 s after the end of the hitting time"),
    "struck_meanwhile": QuestionDefault(("none",), (), "hits while the previous question was open"),
    "hand_stays": QuestionDefault(
        ("play_on",), ("hide_again",), "a hand under a pad has stopped the hitters' clock for a long time"
    ),
    "puzzled": QuestionDefault(("play_on",), (), "the mat's readings or the clock do not fit the rules"),
    "recovered": QuestionDefault(("play_on",), (), "the journal was damaged, and a part of the game was recovered"),
    "record_lost": QuestionDefault(("play_on",), (), "the journal was damaged, and none of the game was recovered"),
}
"""Every question that the mat or the table asks. At home and at a tournament each waits for the judge."""


WAVED_ON_QUESTIONS = frozenset({"passes_unsure", "hitters_hand", "hand_again", "peek"})
"""Questions about hands that a damp mat asks at every hide."""
MAX_WAVED_ON = 3
"""So often in a row the judge lets play go on until such a question is not asked again in that game."""


def _mode(kind: str, preset: Preset) -> Mode:
    return getattr(FOUL_TREATMENTS[kind], "home" if preset == "tournament" else preset)


def preset_modes(preset: Preset) -> dict[str, Mode]:
    """Return how `preset` treats each of `FOUL_TREATMENTS`."""
    return {kind: _mode(kind, preset) for kind in FOUL_TREATMENTS}


@dataclass(frozen=True)
class RefereeSettings:
    """The organiser's settings for the treatment of readings.

    `fouls`: for any of `FOUL_TREATMENTS` whether it is called at once (`automatic`), put to the judge (`ask`) or
    ignored (`off`); `FOUL_TREATMENTS` describes each, and `preset` decides for the others. `check_timeout_s`: how long
    after the hands are away the mat may look for the bead before it asks. `round_pause_s`: a pause this long between
    two hands begins a new round (Between two hides). `hit_seconds`: time for each hit, or None.
    `nearest`: the pads in order of distance from the hitter; of those struck at once the first one named here counts,
    and if it is empty the judge is asked. `answers`: for any of `QUESTION_DEFAULTS` the answer used if the judge gives
    none within `answer_within_s` seconds, or `WAIT`; `preset` decides for the others. `beads`: whether the mat
    looks for the bead at ready. If the judge confirms it, there is no wait and no seal. `magnetometers` are those of
    a mat: with few of them the fouls of `NEEDS_MANY` are put to the judge.
    """

    fouls: Mapping[str, Mode] = field(default_factory=dict[str, Mode])
    check_timeout_s: float = 3.0
    round_pause_s: float = 2.0
    hit_seconds: float | None = None
    nearest: tuple[int, ...] = ()
    beads: BeadSource = "mat"
    preset: Preset = "home"
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    answer_within_s: float = 20.0
    magnetometers: int = MANY_MAGNETOMETERS

    def __post_init__(self) -> None:
        """Raise `SettingsError` with every invalid value."""
        faults = [f"the mat does not see the foul {kind!r}" for kind in self.fouls if kind not in FOUL_TREATMENTS]
        faults += [f"foul {kind} cannot be {mode!r}" for kind, mode in self.fouls.items() if mode not in get_args(Mode)]
        faults += _outside("check_timeout_s", self.check_timeout_s, CHECK_TIMEOUT_RANGE_S)
        faults += _outside("round_pause_s", self.round_pause_s, ROUND_PAUSE_RANGE_S)
        if self.hit_seconds is not None and not 0 < self.hit_seconds < 86400:
            faults.append("hit_seconds must lie between 0 and 86400 s")
        if not are_distinct_pads(self.nearest):
            faults.append("nearest names a pad twice, or one that is not there")
        if self.beads not in get_args(BeadSource):
            faults.append(f"beads cannot be {self.beads!r}")
        if self.preset not in PRESETS:
            faults.append(f"there is no preset {self.preset!r}; there are: {join_words(PRESETS)}")
        faults += [f"the mat does not ask about {about!r}" for about in self.answers if about not in QUESTION_DEFAULTS]
        for about, answer in self.answers.items():
            if about in QUESTION_DEFAULTS and answer not in possible_answers(about):
                faults.append(
                    f"{about} is not answered {answer!r}; it is one of: {join_words(possible_answers(about))}"
                )
        faults += _outside("answer_within_s", self.answer_within_s, ANSWER_WITHIN_RANGE_S)
        if faults:
            raise SettingsError(
                "\n".join(faults), "fouls {words}: automatic, ask or off", words=", ".join(FOUL_TREATMENTS)
            )

    def mode(self, kind: str) -> Mode:
        """Return how the foul `kind` is treated."""
        mode = self.fouls.get(kind) or _mode(kind, self.preset)
        unsure = kind in NEEDS_MANY and self.magnetometers < MANY_MAGNETOMETERS
        return "ask" if unsure and mode == "automatic" else mode

    def choose_default_answer(self, about: str, choices: Sequence[str]) -> str | None:
        """Return the default answer to the question `about`, one of its `choices`, or None if it waits for the judge.

        If the organiser's answer is not among the choices, a harmless one is used.
        """
        chosen = self.answers.get(about) or preset_answers(self.preset).get(about, WAIT)
        answers = () if chosen == WAIT else (chosen, *QUESTION_DEFAULTS[about].demo)
        return next((answer for answer in answers if answer in choices), None)

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """The rulings allowed on a protest: at a tournament it is decided before play continues (chapter 12)."""
        return tuple(one for one in get_args(Ruling) if one != "play_on" or self.preset not in TOURNAMENT_PRESETS)


def _outside(name: str, value: float, bounds: tuple[float, float]) -> list[str]:
    low, high = bounds
    return [] if low <= value <= high else [f"{name} must be from {low:g} to {high:g} s"]


def preset_answers(preset: Preset) -> dict[str, str]:
    """Return the default answer to each question in `preset`."""
    return {about: unasked.demo[0] if preset == "demo" else WAIT for about, unasked in QUESTION_DEFAULTS.items()}


def possible_answers(about: str) -> tuple[str, ...]:
    """Return the default answers that an organiser may choose for the question `about`."""
    return (WAIT, *QUESTION_DEFAULTS[about].demo, *QUESTION_DEFAULTS[about].others)
