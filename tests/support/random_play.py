"""Random play, from a seed: options, legal actions, what a mat may feel and what a judge may say.

Every random test of tables and games takes what it plays from here: `legal_action` and `states` for the rules alone,
`RandomPlay` for a whole table. The same seed brings the same game.
"""

import json
import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import get_args

import msgspec

from pi_controller.errors import UsageError
from pi_controller.referee.json_lines import BUTTONS
from pi_controller.referee.judge import (
    ClosedBy,
    JudgeAction,
    JudgeAnswer,
    JudgeClock,
    JudgeClose,
    JudgeCloseVoid,
    JudgeCommand,
    JudgeHidden,
    JudgeHideAgain,
    JudgeProtest,
    JudgeReplace,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeTeams,
    JudgeUndo,
)
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import FOUL_TREATMENTS, PRESETS, RefereeSettings
from pi_controller.rules import registry
from pi_controller.rules.options import Choice, Flag, Names, OptionalNumber, WholeNumber
from pi_controller.sensing.events import (
    Bead,
    BeadsAtRest,
    Button,
    HandIn,
    HandOut,
    Link,
    MatEvent,
    SamplesMissing,
    SensorFault,
    SensorFaultsChange,
    Strike,
)

PADS = (1, 2, 3, 4)
ENDS_AT_ONCE = frozenset({"time", "king_moved", "forfeit"})
"""Actions after which most games are over: left out most of the time, else random games are short."""


def legal_action(rng, game, state, ends=0.02):
    """Return a legal action, or None where there is none; what ends a game at once comes with the chance `ends`.

    A foul says in which hide it is: between two hides a table takes no other.
    """
    legal = [
        {**action, "hide": action.get("hide", "this")} if action["do"] == "foul" else action
        for action in game.legal_actions(state)
    ]
    lasting = [action for action in legal if action["do"] not in ENDS_AT_ONCE]
    return rng.choice(lasting if lasting and rng.random() >= ends else legal) if legal else None


def steps(rng, game, most, ends=0.02):
    """Yield (state, action, state after, words called) of at most so many legal actions of one game."""
    state = game.opening()
    for _ in range(most):
        action = None if game.is_over(state) else legal_action(rng, game, state, ends)
        if action is None:
            return
        after, calls = game.play(state, action)
        yield state, action, after, calls
        state = after


def state_after(rng, game, most, ends=0.02):
    """Return the state after at most so many legal actions."""
    state = game.opening()
    for _, _, after, _ in steps(rng, game, most, ends):
        state = after
    return state


@dataclass(frozen=True)
class Setup:
    """A table: the game with what is chosen about it, and about the referee."""

    game: str
    options: dict
    preset: str = "home"
    fouls: dict = field(default_factory=dict)
    beads: str = "mat"
    nearest: tuple = ()

    def rules(self):
        return registry.game(self.game, self.options)

    def referee(self, game):
        seconds = game.settings.get("hit_seconds")
        settings = RefereeSettings(
            fouls=self.fouls, preset=self.preset, beads=self.beads, nearest=self.nearest, hit_seconds=seconds
        )
        return referee_for(game, settings, bytes)

    def __str__(self):
        words = [f"moccasin-mat referee {self.game} --preset {self.preset}"]
        words += [f"--set {name}={value}" for name, value in self.options.items()]
        words += [f"--foul {kind}={mode}" for kind, mode in self.fouls.items()]
        words += [f"--nearest {','.join(map(str, self.nearest))}"] if self.nearest else []
        return " ".join(words) + (" (the judge confirms beads)" if self.beads == "judge" else "")


@dataclass(frozen=True)
class Input:
    """What comes in; a judge's call with who says it, where somebody is signed in."""

    what: object
    actor: str = ""

    def line(self):
        return msgspec.json.encode(self.what)

    def __str__(self):
        return self.line().decode() + (f"   (said by {self.actor})" if self.actor else "")


def options_of(rng, kind, share=1.0):
    """Return values for some of the options of a game's class: each is chosen with the chance `share`."""
    while True:
        options = {each.name: chosen(rng, each) for each in kind.options if share == 1.0 or rng.random() < share}
        with suppress(UsageError):  # an odd number of sticks for two
            registry.game(kind.name, options)
            return options


def chosen(rng, option):
    """Return a value that `option` takes: each that there is, or one near its bounds."""
    match option:
        case Choice(choices=choices):
            return rng.choice(choices)
        case Flag():
            return rng.random() < 0.5
        case OptionalNumber(low=low):
            return rng.choice((None, low, 5, 30))
        case Names():
            return rng.choice(("A,B", "Kate,Big Bear,Zoë", "true,null,1,-"))
        case WholeNumber(low=low, high=high):
            return rng.choice([n for n in (low, low + 1, 3, 10, 40, option.default) if low <= n <= high])
    raise AssertionError(f"{option}: of which kind are its values?")


def setup_of(run, seed, *, game=None, preset=None):
    """Return the setup of a run: games and presets in turn, one in three with the options as when nobody chooses."""
    rng = random.Random(f"{seed} {run} setup")
    name = game or registry.names()[run % 6]
    preset = preset or tuple(PRESETS)[(run + run // 6) % len(PRESETS)]
    default = rng.random() < 1 / 3
    options = {} if default else options_of(rng, registry.game_class(name))
    fouls = {} if rng.random() < 0.5 else {kind: rng.choice(("automatic", "ask", "off")) for kind in FOUL_TREATMENTS}
    beads = "judge" if rng.random() < 0.1 else "mat"
    return Setup(name, options, preset, fouls, beads, tuple(rng.sample(PADS, 4)) if rng.random() < 0.3 else ())


class RandomPlay:
    """Makes what comes: for one run, from its seed. `now` is when it comes, seconds."""

    def __init__(self, rng, game, without=()):
        self.rng = rng
        self.game = game
        self.now = 0.0
        self.lies = ()
        self.without = without
        self.calls = [tag for tag in tags(JudgeCommand) if tag in CALLS and tag not in without]

    def later(self, least, most):
        self.now = round(self.now + self.rng.uniform(least, most), 3)
        return self.now

    def judge_call(self, story):
        """Return anything a judge may say, allowed or not."""
        apt = [tag for tag, now in (("ruling", story.protest), ("answer", story.question)) if now is not None]
        tag = self.rng.choice([*self.calls, *["action"] * 6, *(tag for tag in apt * 4 if tag in self.calls)])
        return CALLS[tag](self, story, self.later(0.01, 3.0))

    def step(self, story):
        """Return the inputs of a step."""
        kind = self.rng.choices(("go_on", "mat", "judge", "time"), (60, 14, 18, 8))[0]
        if kind == "go_on":
            return self.go_on(story)
        if kind == "mat":
            tag = self.rng.choice(list(EVENTS))
            return [Input(EVENTS[tag](self, self.later(0.01, 2.0)))]
        if kind == "judge":
            return [Input(self.judge_call(story), self.rng.choice(("", "", "Ann", "Bea")))]
        self.later(*self.rng.choice(((0.01, 0.05), (0.1, 1.0), (1.0, 20.0), (20.0, 70.0), (60.0, 600.0))))
        return [Input(SensorFaultsChange(self.now, story.link.faults))]  # as it was: time passes, and nothing else

    def go_on(self, story):
        """Return what an orderly game would bring next: mostly from the players, sometimes from the judge."""
        judge = self.rng.random() < 0.15 or self.game.is_over(story.state)
        if story.held_by_protest and "ruling" not in self.without:
            return [Input(JudgeRuling(self.later(1, 9), self.rng.choice(("upheld", "denied", "play_on")), "seen"))]
        if story.question is not None and self.rng.random() < 0.3:
            return [Input(event) for event in self.cleared(story)]
        if story.question is not None:
            return [Input(JudgeAnswer(self.later(0.5, 9), self.rng.choice(story.question.choices)))]
        if story.phase == "over":
            if "set" in self.without or self.rng.random() < 0.4:
                return [Input(CALLS[self.rng.choice(("undo", "action"))](self, story, self.later(1, 5)))]
            return [Input(JudgeSet(self.later(1, 5), _played(self, 3), "another game"))]
        if judge:
            return [Input(CALLS["action"](self, story, self.later(0.5, 5)))]
        if not story.sensors and "sensors" not in self.without:
            return [Input(JudgeSensors(self.later(1, 5), on=True))]
        events = [Link(self.later(0.1, 1), up=True)] if story.link.up is False else []
        return [Input(event) for event in events + players(self, story)]

    def cleared(self, story):
        """Return what may say more about what is asked: play out, the board back, sensors well, all as it lay."""
        every = [HandOut(self.now, pad) for pad in PADS] + [Link(self.now, up=True), SensorFaultsChange(self.now)]
        some = [event for event in every if self.rng.random() < 0.7]
        some += [BeadsAtRest(self.now, self.lies)] if self.rng.random() < 0.8 else players(self, story)
        return [msgspec.structs.replace(event, t=self.later(0.1, 1)) for event in some]

    def place(self):
        return self.rng.choice(PADS)

    def beads_of(self):
        """Return what lies on the mat: one bead, four balls with a marked one, or bones, mostly as it should."""
        self.lies = self._beads()
        return self.lies

    def _beads(self):
        rng = self.rng
        if rng.random() < 0.15:
            return tuple(Bead(rng.choice((None, *PADS)), rng.random() < 0.5) for _ in range(rng.randint(0, 4)))
        if self.game.name == "ojibwe":
            marked = self.place()
            return tuple(Bead(pad, pad == marked) for pad in PADS)
        if self.game.name == "slahal":
            return tuple(map(Bead, rng.choice(((1, 3), (2, 4), (2, 3), (1, 4), (1,), (2,), (3,), (4,)))))
        return (Bead(self.place(), marked=True),)


def players(play, story):
    """Return what the players do next, as the mat feels it: a button, a hide, a stroke, the bead taken up."""
    rng, name, later = play.rng, play.game.name, play.later
    match story.phase:
        case "toss" if name == "patol":
            return [JudgeAction(later(1, 5), rng.choice(play.game.legal_actions(story.state)))]
        case "toss":
            return [Button(later(0.5, 5), rng.choice(("toss_a", "toss_b")))]
        case "hide" | "check" if name == "slahal":
            two = play.game.sheet(story.state)["pairs_out"] == 2
            fists = PADS if two else rng.choice(((1, 2), (3, 4)))
            bones = rng.choice(((1, 3), (2, 4), (2, 3), (1, 4))) if two else (rng.choice(fists),)
            off = [HandOut(later(0.1, 1), pad, "hider") for pad in fists]
            off += [BeadsAtRest(later(0.1, 1), ()), *(HandIn(later(0.1, 0.5), pad, "hider") for pad in fists)]
            lie = [*off, BeadsAtRest(later(0.1, 1), tuple(map(Bead, bones)))]
            return [
                *lie,
                Button(later(0.1, 0.5), "ready")
                if rng.random() < 0.3
                else SensorFaultsChange(later(1.5, 3), story.link.faults),
            ]
        case "check":
            return [BeadsAtRest(later(0.1, 1), play.beads_of())]
        case "hide":
            passes = rng.sample(PADS, 4) if rng.random() < 0.9 else rng.choices(PADS, k=rng.randint(1, 5))
            hide = [each(later(0.2, 1), pad, "hider") for pad in passes for each in (HandIn, HandOut)]
            hide += [BeadsAtRest(later(0.2, 1), play.beads_of()), Button(later(0.2, 1), "ready")]
            if rng.random() < 0.2:
                hide[-2:] = [Button(hide[-2].t, "ready"), BeadsAtRest(hide[-1].t, hide[-2].found)]
            return hide
        case "hit":
            pad, opened = play.place(), []
            if name == "ojibwe" and rng.random() < 0.5:
                open_ = rng.choice(story.hittable_pads or PADS)
                opened = [HandIn(later(0.5, 3), open_, "hitter"), HandOut(later(0.5, 1), open_, "hitter")]
            return [
                *opened,
                Strike(later(0.5, 4), (pad,), rng.choice((None, 3.0, 20.0))),
                SensorFaultsChange(later(0.3, 1), story.link.faults),
            ]
        case "guess":
            two = play.game.sheet(story.state)["pairs_out"] == 2
            return [Button(later(0.5, 5), rng.choice(("left", "right", "inside", "outside")[: 4 if two else 2]))]
        case "throw":
            throws = [each for each in play.game.legal_actions(story.state) if each["do"] == "throw"]
            return [Strike(later(0.5, 3), (play.place(),)), JudgeAction(later(1, 4), rng.choice(throws))]
        case "show":
            return [Button(later(0.5, 3), "shown") if rng.random() < 0.6 else BeadsAtRest(later(0.5, 3), ())]
        case _:
            return [SensorFaultsChange(later(1, 5), story.link.faults)]


def tags(union):
    return [str(kind.__struct_config__.tag) for kind in get_args(union)]


def _strike(play, t):
    rng = play.rng
    pads = tuple(rng.sample(PADS, rng.choice((0, 1, 1, 2, 3, 4))))
    whose = rng.choice((None, None, None, "hider", "hitter", "unclear"))
    return Strike(t, pads, rng.choice((None, 2.0, 15.0)), sure=rng.random() < 0.7, hand=whose)


def _hand(play, t, kind):
    return kind(t, play.place(), play.rng.choice((None, "hider", "hitter")), sure=play.rng.random() < 0.8)


def _faults(play, t):
    rng = play.rng
    faults = [SensorFault("disc", 2, "silent"), SensorFault("strip", 3, "stuck", 1), SensorFault("strip", 1, "lost", 0)]
    return SensorFaultsChange(t, tuple(rng.sample(faults, rng.randint(0, 2))))


EVENTS = {
    "hand_in": lambda play, t: _hand(play, t, HandIn),
    "hand_out": lambda play, t: _hand(play, t, HandOut),
    "beads": lambda play, t: BeadsAtRest(t, play.beads_of(), sure=play.rng.random() < 0.8),
    "strike": _strike,
    "blind": lambda play, t: SamplesMissing(t, t + 0.1),
    "button": lambda play, t: Button(t, play.rng.choice(BUTTONS)),
    "link": lambda play, t: Link(t, play.rng.random() < 0.5, play.rng.choice(("", "unplugged", "stalled"))),
    "sensors": _faults,
}
"""A maker for each event of the mat."""
WORDS = (
    *({"do": do, "winner": "A"} for do in ("toss", "lot", "fly")),
    *({"do": "forfeit", "by": by} for by in ("A", "B", "Kate")),
    *({"do": "foul", "by": "hider", "kind": kind, "hide": "last"} for kind in ("no_bead", "outside_help", "pad_twice")),
    *({"do": "foul", "by": "hitter", "kind": "outside_help", "hide": hide} for hide in ("this", "last")),
    *({"do": "foul", "by": "hitter", "kind": kind} for kind in ("time", "no_bead", "")),
    *({"do": "hit", "found": found, "pad": pad} for found in (True, False, 1) for pad in (1, 2, 4, 7)),
    *({"do": "shoot", "opened": [1, 3], "hit": 2, "ball": ball} for ball in (2, 3, 4)),
    {"do": "shoot", "opened": [2], "hit": None, "ball": 2},
    *({"do": "guess", "signal": "left", "block": True}, {"do": "guess", "signal": "right"}, {"do": "guess"}),
    {"do": "guess", "signal": "right", "actual": "left", "mirror": True},
    *({"do": do} for do in ("rehide", "time", "double_tap", "no_throw", "toss")),
    {"do": "king_moved", "by": "B"},
    *({"do": "start", "player": "A", "river": "north", "direction": way} for way in ("clockwise", "up")),
    *({"do": "throw", "marked": marked} for marked in (0, 3, 9)),
    {"do": "throw", "moons": 1, "whites": 3},
    {"do": "throw", "red": {"woman": 1, "fish": 0, "knives": 0, "buttons": 0}},
    *({}, {"do": None}, {"do": ["hit"]}),
)
"""Actions of all games, and some of none."""


def _action(play, story):
    action = legal_action(play.rng, play.game, story.state, ends=0.1)
    return play.rng.choice(WORDS) if action is None or play.rng.random() < 0.35 else action


def _played(play, most):
    """Return the score sheet after some actions of a game."""
    return json.loads(json.dumps(play.game.sheet(state_after(play.rng, play.game, play.rng.randint(0, most)))))


def _sheet(play, story):
    """Return a score sheet: as it stands, or as it might, or none."""
    rng = play.rng
    found = json.loads(json.dumps(play.game.sheet(story.state))) if rng.random() < 0.4 else _played(play, 12)
    if rng.random() < 0.25:
        found[rng.choice([*found, "none"])] = rng.choice((None, 0, 21, "A", "B", {"A": 3, "B": 2}, []))
    return found


def _answer(play, story):
    answers = ("none", "play_on", "foul", "hide_again", "found", "missed", "1", "3", "left", "yes", "no", "time", "")
    asked = story.question.choices if story.question is not None and play.rng.random() < 0.8 else answers
    return play.rng.choice(asked)


def _reason(play):
    return play.rng.choice(("seen by all", "the drum; not a stroke", "", "  ", "two\nlines", "Ḣoḋ"))


CALLS = {
    "action": lambda play, story, t: JudgeAction(t, _action(play, story)),
    "answer": lambda play, story, t: JudgeAnswer(t, _answer(play, story)),
    "undo": lambda play, story, t: JudgeUndo(t, _reason(play)),
    "hide_again": lambda play, story, t: JudgeHideAgain(t, _reason(play)),
    "replace": lambda play, story, t: JudgeReplace(t, _action(play, story), _reason(play)),
    "hidden": lambda play, story, t: JudgeHidden(t),
    "set": lambda play, story, t: JudgeSet(t, _sheet(play, story), _reason(play)),
    "sensors": lambda play, story, t: JudgeSensors(t, play.rng.random() < 0.5, _reason(play)),
    "protest": lambda play, story, t: JudgeProtest(t, play.rng.choice(("A", "B")), _reason(play)),
    "ruling": lambda play, story, t: JudgeRuling(t, play.rng.choice(("upheld", "denied", "play_on")), _reason(play)),
    "close": lambda play, story, t: JudgeClose(
        t, play.rng.choice(("A", "B", "Kate", "C")), play.rng.choice(get_args(ClosedBy)), _reason(play)
    ),
    "close_void": lambda play, story, t: JudgeCloseVoid(t),
    "teams": lambda play, story, t: JudgeTeams(t, *play.rng.choices(("Red", "Blue", " ", "W" * 61), k=2)),
    "clock": lambda play, story, t: JudgeClock(t, play.rng.random() < 0.5, _reason(play)),
}
"""A maker for each call of a judge."""


OF_THE_TABLE_ALONE = {"new_game"}
"""Calls that begin another journal, of which a pipe knows nothing: see tests/table/test_next_game.py."""


def check_makers():
    """Fail where there is an event or a call that nothing here makes."""
    for what, union, makers in (("event of the mat", MatEvent, EVENTS), ("call of a judge", JudgeCommand, CALLS)):
        known = set(tags(union)) - OF_THE_TABLE_ALONE
        missing, gone = known - set(makers), set(makers) - known
        if missing or gone:
            raise AssertionError(f"each {what} needs a maker here: {', '.join(missing | gone)}")
