"""Random judges and mats: all that tells of a game must tell the same game, after every step.

python tests/end_to_end/agree.py --runs 400 --steps 60 --seed 0 [--game slahal] [--without replace] [--alone]

A run is one of the six games with options, a preset and fouls chosen at random, at a table with a journal on disk. A
step is what players would do next, or anything else at all: hands, readings, strokes, gaps, a board that comes and
goes, sensors that fail, buttons, time from 10 ms to minutes, and whatever a judge can say, allowed or not. After it
these must agree:

    table       raises nothing but for an invalid or illegal call, and what it refuses changes nothing; sticks are
                conserved; it looks at the clock all the time
    pipe        the same as lines of JSON through `Pipe`, which looks at the clock only when something is due
    pipe without what was refused
    fold        the journal told from its beginning
    resume      a table that is begun anew on a copy of the journal
    record      the written record: read back it is the same, and its actions end with the same score sheet
    replay      the journal told record by record (all steps at once, at the end), and as a score sheet to print
    verify      the journal is whole, and follows the rules (at the end)

What has once disagreed is left out for the rest of its run. Of each kind of disagreement are told the first run, the
difference, and the fewest inputs that still lead to it, as lines that `moccasin-mat referee` takes.

With `--alone` the preset is demo, and each run goes on with nobody there from some of its moments: after a minute no
question may be open that has been for a minute, and what players do next must be felt.
"""

import argparse
import json
import multiprocessing
import random
import sqlite3
import tempfile
import time
import traceback
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import get_args

import msgspec

from pi_controller.errors import UsageError
from pi_controller.games import registry, sheet
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.options import Choice, Flag, Names, OptionalNumber, Whole
from pi_controller.mat.events import (
    Bead,
    Beads,
    Blind,
    Button,
    HandIn,
    HandOut,
    Link,
    MatEvent,
    SensorFault,
    Sensors,
    Strike,
)
from pi_controller.record.converting import from_sheet, to_sheet
from pi_controller.record.playthrough import SET, Playthrough
from pi_controller.record.reading import read
from pi_controller.record.writing import write
from pi_controller.referee.facts import Done, Question, StateSet
from pi_controller.referee.history import History, effective, fold
from pi_controller.referee.judge import (
    ClosedBy,
    JudgeAction,
    JudgeAnswer,
    JudgeCall,
    JudgeClock,
    JudgeClose,
    JudgeHidden,
    JudgeHideAgain,
    JudgeProtest,
    JudgeReplace,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeUndo,
)
from pi_controller.referee.lines import BUTTONS
from pi_controller.referee.referees import referee_for
from pi_controller.referee.settings import PRESETS, SENSED, RefereeSettings
from pi_controller.referee.story import Story
from pi_controller.referee.stream import Pipe
from pi_controller.table.command import Command, StaleError
from pi_controller.table.journal import Journal
from pi_controller.table.record import kept_in
from pi_controller.table.sheet import sheet_of
from pi_controller.table.table import Table
from pi_controller.table.verify import verdict

PADS = (1, 2, 3, 4)
TEAMS = {"A": "Red", "B": "Blue"}
LOOK_S = 0.25
"""How often a table alone looks at the clock, s."""
ALONE_S = 60.0
"""How long it may stand still when nobody answers, s of virtual time."""
WITH_A_JUDGE = ("protest", "sensors", "clock")
"""What only a judge takes back again: left out where nobody is there."""
WITHOUT_REFUSED = "pipe without what was refused"
MOST_TRIES = 300
"""Runs that looking for the fewest inputs may take."""
CLOCKS = ("waiting", "playing")
OF_A_HIDE = ("passes", "vague", "fetched", "waived", "by_hand", "question", "opened", "paused", "notice")
"""What is not so any more in a hide that starts over."""


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


@dataclass(frozen=True)
class Differs:
    """A disagreement: which check, in what (a field, an error), the two sides of it, and after how many inputs."""

    check: str
    where: str
    text: str
    after: int = 0

    @property
    def name(self):
        return f"{self.check}: {self.where}"


# what may come


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
        case Whole(low=low, high=high):
            return rng.choice([n for n in (low, low + 1, 3, 10, 40, option.default) if low <= n <= high])
    raise AssertionError(f"{option}: of which kind are its values?")


def setup_of(run, seed, *, game=None, preset=None):
    """Return the setup of a run: games and presets in turn, one in three with the options as when nobody chooses."""
    rng = random.Random(f"{seed} {run} setup")
    name = game or registry.names()[run % 6]
    preset = preset or tuple(PRESETS)[(run + run // 6) % len(PRESETS)]
    default = rng.random() < 1 / 3
    while True:
        options = {} if default else {each.name: chosen(rng, each) for each in registry.kind(name).options}
        with suppress(UsageError):  # an odd number of sticks for two
            registry.game(name, options)
            break
    fouls = {} if rng.random() < 0.5 else {kind: rng.choice(("automatic", "ask", "off")) for kind in SENSED}
    beads = "judge" if rng.random() < 0.1 else "mat"
    return Setup(name, options, preset, fouls, beads, tuple(rng.sample(PADS, 4)) if rng.random() < 0.3 else ())


class Hands:
    """Makes what comes: for one run, from its seed. `now` is when it comes, seconds."""

    def __init__(self, rng, game, without=()):
        self.rng = rng
        self.game = game
        self.now = 0.0
        self.lies = ()
        self.without = without
        self.calls = [tag for tag in tags(JudgeCall) if tag in CALLS and tag not in without]

    def later(self, least, most):
        self.now = round(self.now + self.rng.uniform(least, most), 3)
        return self.now

    def step(self, story):
        """Return the inputs of a step."""
        kind = self.rng.choices(("go_on", "mat", "judge", "time"), (60, 14, 18, 8))[0]
        if kind == "go_on":
            return self.go_on(story)
        if kind == "mat":
            tag = self.rng.choice(list(EVENTS))
            return [Input(EVENTS[tag](self, self.later(0.01, 2.0)))]
        if kind == "judge":
            apt = [tag for tag, now in (("ruling", story.protest), ("answer", story.question)) if now is not None]
            tag = self.rng.choice([*self.calls, *(tag for tag in apt * 4 if tag in self.calls)])
            actor = self.rng.choice(("", "", "Ann", "Bea"))
            return [Input(CALLS[tag](self, story, self.later(0.01, 3.0)), actor)]
        self.later(*self.rng.choice(((0.01, 0.05), (0.1, 1.0), (1.0, 20.0), (20.0, 70.0), (60.0, 600.0))))
        return [Input(Sensors(self.now, story.faults))]  # as it was: time passes, and nothing else

    def go_on(self, story):
        """Return what an orderly game would bring next: mostly from the players, sometimes from the judge."""
        judge = self.rng.random() < 0.15 or self.game.over(story.state)
        if story.held and "ruling" not in self.without:
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
        events = [Link(self.later(0.1, 1), up=True)] if story.link is False else []
        return [Input(event) for event in events + players(self, story)]

    def cleared(self, story):
        """Return what may say more about what is asked: hands out, the board back, sensors well, all as it lay."""
        every = [HandOut(self.now, pad) for pad in PADS] + [Link(self.now, up=True), Sensors(self.now)]
        some = [event for event in every if self.rng.random() < 0.7]
        some += [Beads(self.now, self.lies)] if self.rng.random() < 0.8 else players(self, story)
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


def players(hands, story):
    """Return what the players do next, as the mat feels it: a button, a hide, a stroke, the bead taken up."""
    rng, name, later = hands.rng, hands.game.name, hands.later
    match story.phase:
        case "toss" if name == "patol":
            return [JudgeAction(later(1, 5), rng.choice(hands.game.legal_actions(story.state)))]
        case "toss":
            return [Button(later(0.5, 5), rng.choice(("toss_a", "toss_b")))]
        case "hide" | "check" if name == "slahal":
            two = hands.game.sheet(story.state)["pairs_out"] == 2
            fists = PADS if two else rng.choice(((1, 2), (3, 4)))
            bones = rng.choice(((1, 3), (2, 4), (2, 3), (1, 4))) if two else (rng.choice(fists),)
            off = [HandOut(later(0.1, 1), pad, "hider") for pad in fists]
            off += [Beads(later(0.1, 1), ()), *(HandIn(later(0.1, 0.5), pad, "hider") for pad in fists)]
            lie = [*off, Beads(later(0.1, 1), tuple(map(Bead, bones)))]
            return [
                *lie,
                Button(later(0.1, 0.5), "ready") if rng.random() < 0.3 else Sensors(later(1.5, 3), story.faults),
            ]
        case "check":
            return [Beads(later(0.1, 1), hands.beads_of())]
        case "hide":
            passes = rng.sample(PADS, 4) if rng.random() < 0.9 else rng.choices(PADS, k=rng.randint(1, 5))
            hide = [each(later(0.2, 1), pad, "hider") for pad in passes for each in (HandIn, HandOut)]
            hide += [Beads(later(0.2, 1), hands.beads_of()), Button(later(0.2, 1), "ready")]
            if rng.random() < 0.2:
                hide[-2:] = [Button(hide[-2].t, "ready"), Beads(hide[-1].t, hide[-2].found)]
            return hide
        case "hit":
            pad, opened = hands.place(), []
            if name == "ojibwe" and rng.random() < 0.5:
                open_ = rng.choice(story.pads_open or PADS)
                opened = [HandIn(later(0.5, 3), open_, "hitter"), HandOut(later(0.5, 1), open_, "hitter")]
            return [
                *opened,
                Strike(later(0.5, 4), (pad,), rng.choice((None, 3.0, 20.0))),
                Sensors(later(0.3, 1), story.faults),
            ]
        case "guess":
            two = hands.game.sheet(story.state)["pairs_out"] == 2
            return [Button(later(0.5, 5), rng.choice(("left", "right", "inside", "outside")[: 4 if two else 2]))]
        case "throw":
            throws = [each for each in hands.game.legal_actions(story.state) if each["do"] == "throw"]
            return [Strike(later(0.5, 3), (hands.place(),)), JudgeAction(later(1, 4), rng.choice(throws))]
        case "show":
            return [Button(later(0.5, 3), "shown") if rng.random() < 0.6 else Beads(later(0.5, 3), ())]
        case _:
            return [Sensors(later(1, 5), story.faults)]


def tags(union):
    return [str(kind.__struct_config__.tag) for kind in get_args(union)]


def _strike(hands, t):
    rng = hands.rng
    pads = tuple(rng.sample(PADS, rng.choice((0, 1, 1, 2, 3, 4))))
    whose = rng.choice((None, None, None, "hider", "hitter", "unclear"))
    return Strike(t, pads, rng.choice((None, 2.0, 15.0)), sure=rng.random() < 0.7, hand=whose)


def _hand(hands, t, kind):
    return kind(t, hands.place(), hands.rng.choice((None, "hider", "hitter")), sure=hands.rng.random() < 0.8)


def _faults(hands, t):
    rng = hands.rng
    faults = [SensorFault("disc", 2, "silent"), SensorFault("strip", 3, "stuck", 1), SensorFault("strip", 1, "lost", 0)]
    return Sensors(t, tuple(rng.sample(faults, rng.randint(0, 2))))


EVENTS = {
    "hand_in": lambda hands, t: _hand(hands, t, HandIn),
    "hand_out": lambda hands, t: _hand(hands, t, HandOut),
    "beads": lambda hands, t: Beads(t, hands.beads_of(), sure=hands.rng.random() < 0.8),
    "strike": _strike,
    "blind": lambda hands, t: Blind(t, t + 0.1),
    "button": lambda hands, t: Button(t, hands.rng.choice(BUTTONS)),
    "link": lambda hands, t: Link(t, hands.rng.random() < 0.5, hands.rng.choice(("", "unplugged", "stalled"))),
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
    *({"do": do, "opened": [1, 3], "hit": 2, "ball": ball} for do in ("hunt", "shoot") for ball in (2, 3, 4)),
    *({"do": do, "opened": [2], "hit": None, "ball": 2} for do in ("hunt", "shoot")),
    *({"do": "guess", "signal": "left", "block": True}, {"do": "guess", "signal": "right"}, {"do": "guess"}),
    {"do": "guess", "signal": "right", "actual": "left", "mirror": True},
    *({"do": do} for do in ("rehide", "time", "double_tap", "no_throw", "toss")),
    {"do": "king_moved", "by": "B"},
    *({"do": "start", "player": "A", "river": "north", "direction": way} for way in ("sunwise", "clockwise", "up")),
    *({"do": "throw", "marked": marked} for marked in (0, 3, 9)),
    {"do": "throw", "moons": 1, "whites": 3},
    {"do": "throw", "red": {"woman": 1, "fish": 0, "knives": 0, "buttons": 0}},
    *({}, {"do": None}, {"do": ["hit"]}),
)
"""Actions of all games, and some of none."""


def _action(hands, story):
    legal = hands.game.legal_actions(story.state)
    if not legal or hands.rng.random() < 0.35:
        return hands.rng.choice(WORDS)
    lasting = [each for each in legal if each["do"] not in ("forfeit", "king_moved", "time")]
    return hands.rng.choice(lasting if lasting and hands.rng.random() < 0.9 else legal)


def _played(hands, most):
    """Return the score sheet after some actions of a game."""
    state = hands.game.opening()
    for _ in range(hands.rng.randint(0, most)):
        if not hands.game.over(state):
            state, _ = hands.game.play(state, hands.rng.choice(hands.game.legal_actions(state)))
    return json.loads(json.dumps(hands.game.sheet(state)))


def _sheet(hands, story):
    """Return a score sheet: as it stands, or as it might, or none."""
    rng = hands.rng
    found = json.loads(json.dumps(hands.game.sheet(story.state))) if rng.random() < 0.4 else _played(hands, 12)
    if rng.random() < 0.25:
        found[rng.choice([*found, "none"])] = rng.choice((None, 0, 21, "A", "B", {"A": 3, "B": 2}, []))
    return found


def _answer(hands, story):
    answers = ("none", "play_on", "foul", "hide_again", "found", "missed", "1", "3", "left", "yes", "no", "time", "")
    asked = story.question.choices if story.question is not None and hands.rng.random() < 0.8 else answers
    return hands.rng.choice(asked)


def _reason(hands):
    return hands.rng.choice(("seen by all", "the drum; not a stroke", "", "  ", "two\nlines", "Ḣoḋ"))


CALLS = {
    "action": lambda hands, story, t: JudgeAction(t, _action(hands, story)),
    "answer": lambda hands, story, t: JudgeAnswer(t, _answer(hands, story)),
    "undo": lambda hands, story, t: JudgeUndo(t, _reason(hands)),
    "hide_again": lambda hands, story, t: JudgeHideAgain(t, _reason(hands)),
    "replace": lambda hands, story, t: JudgeReplace(t, _action(hands, story), _reason(hands)),
    "hidden": lambda hands, story, t: JudgeHidden(t),
    "set": lambda hands, story, t: JudgeSet(t, _sheet(hands, story), _reason(hands)),
    "sensors": lambda hands, story, t: JudgeSensors(t, hands.rng.random() < 0.5, _reason(hands)),
    "protest": lambda hands, story, t: JudgeProtest(t, hands.rng.choice(("A", "B")), _reason(hands)),
    "ruling": lambda hands, story, t: JudgeRuling(t, hands.rng.choice(("upheld", "denied", "play_on")), _reason(hands)),
    "close": lambda hands, story, t: JudgeClose(
        t, hands.rng.choice(("A", "B", "Kate", "C")), hands.rng.choice(get_args(ClosedBy)), _reason(hands)
    ),
    "clock": lambda hands, story, t: JudgeClock(t, hands.rng.random() < 0.5, _reason(hands)),
}
"""A maker for each call of a judge."""


OF_THE_TABLE_ALONE = {"new_game"}
"""Calls that begin another journal, of which a pipe knows nothing: see tests/table/test_next_game.py."""


def check_makers():
    """Fail where there is an event or a call that nothing here makes."""
    for what, union, makers in (("event of the mat", MatEvent, EVENTS), ("call of a judge", JudgeCall, CALLS)):
        known = set(tags(union)) - OF_THE_TABLE_ALONE
        missing, gone = known - set(makers), set(makers) - known
        if missing or gone:
            raise AssertionError(f"each {what} needs a maker here: {', '.join(missing | gone)}")


# where it comes in


class Sitting:
    """A table with a journal in `folder`, and the pipes that must agree with it. `differs` are the disagreements."""

    def __init__(self, setup, folder, pipes=("pipe", WITHOUT_REFUSED)):
        self.setup = setup
        self.game = setup.rules()
        self.journal = Journal(Path(folder) / "table.sqlite", token=bytes)
        self.referee = setup.referee(self.game)
        self.table = Table(self.journal, self.game, TEAMS, self.referee)
        self.differs = {}
        self.broken = False
        self.now = 0.0
        self.taken = 0
        self.count = Counter()
        self.stood = {}
        self._said = []
        self.pipes = {name: Pipe(self.game, setup.referee(self.game), self._said.append) for name in pipes}
        self.ahead = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.journal.close()

    def _settled(self, name):
        """Return whether a check has disagreed: where the pipe has, so will the other pipe."""
        return name in self.differs or (name == WITHOUT_REFUSED and "pipe" in self.differs)

    def found(self, check, where, text):
        """Note a disagreement; what has disagreed is not asked again."""
        self.differs.setdefault(check, Differs(check, where, str(text), self.taken))

    def raised(self, check, error, text):
        at = traceback.extract_tb(error.__traceback__)[-1]
        self.found(check, f"{type(error).__name__} in {at.name}", f"{error!r}: {text}")

    def takes(self, one):
        """Take an input everywhere."""
        if self.broken:
            return
        self.taken += 1
        try:
            self.passes(one.what.t)
            refused = self._table(one)
        except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
            self.raised("table", error, one)
            self.broken = True
            return
        self.count[f"{one.what.__struct_config__.tag}{' refused' if refused else ''}"] += 1
        for name in self.pipes:
            if not self._settled(name):
                if refused and name == WITHOUT_REFUSED:
                    self._pipe(
                        name, Input(Sensors(one.what.t, self.table.story.faults)), None
                    )  # time passes all the same
                else:
                    self._pipe(name, one, refused)

    def passes(self, t):
        """Let time come to `t`: the table looks at its clock whenever something is due, and in between."""
        before, self.now = self.now, max(t, self.now)
        for n in (1, 2, 3):
            at = before + (self.now - before) * n / 3
            while (due := self.referee.due(self.table.story)) is not None and due <= at:
                if not self.table.tick(due):
                    break
            if n < 3:
                self.table.tick(at)

    def _table(self, one):
        """Give an input to the table; return why it was refused, if it was."""
        before, seq = self.table.story, self.journal.seq
        try:
            if isinstance(one.what, get_args(MatEvent)):
                self.table.mat_event(one.what)
            elif one.actor:
                self._commanded(one, before)
            else:
                self.table.judge(one.what)
        except (InvalidActionError, IllegalActionError) as error:
            if (self.table.story, self.journal.seq) != (before, seq):
                self.found("table", "a refused call changed it", f"{error.what}: {one}")
            return error
        return None

    def _commanded(self, one, before):
        """Say it with a key: of a picture that is stale it does not count, and said twice it counts once."""
        key, role = (
            f"key {self.journal.seq} {one.what.t}",
            "committee" if isinstance(one.what, JudgeRuling) else "judge",
        )
        try:
            self.table.command(Command(one.what, one.actor, role, f"stale {key}", before.revision + 1))
            self.found("table", "a stale command counts", one)
        except StaleError:
            pass
        command = Command(one.what, one.actor, role, key, before.revision)
        self.table.command(command)
        story, seq = self.table.story, self.journal.seq
        if not self.table.command(command).repeated or (self.table.story, self.journal.seq) != (story, seq):
            self.found("table", "a command said twice counts twice", one)

    def _pipe(self, name, one, refused):
        self._said.clear()
        try:
            taken = self.pipes[name].line(one.line())
        except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
            self.raised(name, error, one)
            return
        if taken == (refused is not None):
            tag, why = (
                one.what.__struct_config__.tag,
                "; ".join(json.dumps(said["error"]) for said in self._said if "error" in said),
            )
            where = f"{'takes' if taken else 'refuses'} {tag}, which the table does not"
            self.found(name, where, f"{one}\n    table: {refused or 'taken'!r}\n    pipe:  {why or 'taken'}")

    def compare(self, checks=None):
        """Look whether all agree now; with `checks` only these of them."""
        same = self.journal.seq in self.stood  # what is told from the journal is told as before
        self.stood[self.journal.seq] = self.table.story
        self._compare(EACH, checks, ("table", *self.pipes) if same else ())

    def end(self, checks=None):
        """Look whether what tells of all of the journal at once agrees with how the table stood after each step."""
        self._compare(WHOLE, checks)

    def _compare(self, all_checks, checks, only=()):
        for name, check in all_checks.items() if not self.broken else ():
            if self._settled(name) or name not in (checks or all_checks) or name not in (only or all_checks):
                continue
            try:
                differs = check(self)
            except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
                self.raised(name, error, "")
                continue
            if differs is not None:
                self.found(name, *differs)


# what must agree: each check returns where it differs and how, or None


def apart(left, right, ahead=None, without=()):
    """Return the first field in which two stories differ. `ahead`: so many batches more went into the left one."""
    for name in (each.name for each in fields(Story)):
        a, b = getattr(left, name), getattr(right, name)
        if name in ("last_undoable", "revision") and a and b and ahead is not None:
            a -= ahead.setdefault("batches", a - b)
        if a != b and name not in without:
            return name, f"{name}\n    {a!r}\n    {b!r}"
    return None


def _piped(sitting, name):
    pipe = sitting.pipes.get(name)
    return pipe and apart(sitting.table.story, pipe.story, sitting.ahead.setdefault(name, {}), ("teams",))


def _sticks(state):
    """Return all that is counted in sticks or counters on a score sheet, but not the games won."""
    counted = 0
    for key in ("long", "middle", "counters", "pool", "live", "dead", "bank", "pile"):
        value = state.get(key, 0)
        counted += sum(value.values()) if isinstance(value, dict) else value
    return counted + sum(row.get("sticks", 0) for row in state.get("players", ()))


def _table(sitting):
    game, story, view = sitting.game, sitting.table.story, sitting.table.view
    begun, now = _sticks(game.sheet(game.opening())), _sticks(game.sheet(story.state))
    if begun != now:
        return "sticks", f"{begun} at the beginning, {now} now"
    if msgspec.json.decode(msgspec.json.encode(view), type=type(view)) != view:
        return "view", "what is shown does not read back the same"
    if sitting.table.halted is not None:
        return "halted", str(sitting.table.halted)
    over = game.over(story.state)
    return ("over", f"phase {story.phase}, over {over}") if (story.phase == "over") != over else None


def _fold(sitting):
    return apart(sitting.table.story, fold(sitting.game, sitting.journal.read()))


def _resume(sitting):
    """Begin anew on a copy: a hide in progress may start over, and what was sealed and felt is gone."""
    with tempfile.TemporaryDirectory(dir=sitting.journal.path.parent) as place:
        copy = Path(place, "copy.sqlite")
        with closing(sqlite3.connect(sitting.journal.path)) as live, closing(sqlite3.connect(copy)) as db:
            live.backup(db)
        with Journal(copy) as journal:
            table = Table(journal, sitting.game, TEAMS, sitting.setup.referee(sitting.game), sitting.now)
            new = [fact.__struct_config__.tag for seq, _, fact in journal.records() if seq > sitting.journal.seq]
            lost = (
                "commit",
                "withdrawn",
                "unsealed",
                "note",
                "link",
                "link_why",
                "faults",
                "doubt",
                "revision",
                "last_t",
                *CLOCKS,
            )
            if "hide_again" in new:
                return apart(sitting.table.story, table.story, without=(*lost, *OF_A_HIDE))
            return apart(sitting.table.story, table.story, without=lost) or _clocks(sitting.table.story, table.story)


def _clocks(before, after):
    """Return the first clock that does not show after a restart what it showed before."""
    for name in CLOCKS:
        old, new = getattr(before, name), getattr(after, name)
        shown = old and old.shown(before.last_t), new and new.shown(after.last_t)
        if (old is None) != (new is None) or (old is not None and abs(shown[0] - shown[1]) > 1e-6):
            return name, f"{shown[0]} s and {shown[1]} s: {old}, {new}"
    return None


def _verify(sitting):
    found = verdict(sitting.journal.path)
    return None if found.whole else ("not whole", found.wrong)


def _replay(sitting):
    for seq, step in enumerate(History(sitting.game).walk(sitting.journal.read()), 1):
        differs = apart(sitting.stood.get(seq, step.after), step.after)
        if differs is not None:
            return differs[0], f"after record {seq}: {differs[1]}"
    kept, story = sheet_of(sitting.journal), sitting.table.story
    if (kept.state, kept.over) != (sitting.game.sheet(story.state), sitting.game.over(story.state)):
        return "score sheet", f"{kept.state}"
    return None


def _record(sitting):
    record, now = kept_in(str(sitting.journal.path)), json.dumps(sitting.game.sheet(sitting.table.story.state))
    again = read(write(record).encode())
    if again != record or again.faults:
        first = next(((a, b) for a, b in zip(record.entries, again.entries, strict=False) if a != b), "its head")
        return "read back", f"{again.faults or first}"
    counting = [fact for _, fact in effective(sitting.journal.read()) if isinstance(fact, Done | StateSet)]
    actions = [fact.action if isinstance(fact, Done) else {"do": SET, **fact.sheet} for fact in counting]
    if json.dumps([move.action for move in again.moves()], sort_keys=True) != json.dumps(actions, sort_keys=True):
        return "the actions that count", f"{len(again.moves())} and {len(actions)}"
    course = Playthrough(registry.game(again.game, again.options))
    for move in again.moves():
        course.play(move.action)
    if json.dumps(course.sheet) != now:
        return "its end", f"{course.sheet}\n    {now}"
    if any(action["do"] == SET for action in actions):
        return None  # which a score sheet cannot tell
    out, lines = StringIO(), [line.encode() for line in to_sheet(again)]
    status = sheet.run(sitting.game, lines, out)
    last = json.dumps(json.loads(out.getvalue().splitlines()[-1]).get("state"))
    if status or last != now:
        return "score sheet", f"status {status}\n    {last}\n    {now}"
    faults = from_sheet(b"\n".join(lines), sitting.game).faults
    return ("from the score sheet", f"{faults}") if faults else None


EACH = {
    "table": _table,
    "pipe": partial(_piped, name="pipe"),
    WITHOUT_REFUSED: partial(_piped, name=WITHOUT_REFUSED),
    "fold": _fold,
    "resume": _resume,
    "record": _record,
}
WHOLE = {"verify": _verify, "replay": _replay}


# runs


@dataclass
class Run:
    """What came of a run: the inputs of all its steps, the disagreements by their names, and what came up."""

    number: int
    setup: Setup
    inputs: list
    differs: list
    count: Counter


def folder():
    """Return a folder that is gone afterwards: in memory where there is one, for a disk says the same more slowly."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


def play(number, seed=0, steps=60, game=None, without=(), checks=None):
    """Play run `number` and look after each step whether all agree."""
    setup = setup_of(number, seed, game=game)
    makes = Hands(random.Random(f"{seed} {number}"), setup.rules(), without)
    inputs, count = [Input(Link(0.0, up=True))], Counter()
    with folder() as place, Sitting(setup, place) as sitting:
        sitting.takes(inputs[0])
        for _ in range(steps):
            for one in makes.step(sitting.table.story):
                inputs.append(one)
                sitting.takes(one)
            sitting.compare(checks)
            story = sitting.table.story
            count[f"phase {story.phase}"] += 1
        sitting.end(checks)
        facts = [fact for _, fact in sitting.journal.read()]
        count += Counter(f"asked {fact.foul or fact.about}" for fact in facts if isinstance(fact, Question))
        count += Counter(f"fact {fact.__struct_config__.tag}" for fact in facts)
        count += sitting.count
        count["steps"] += steps
        return Run(number, setup, inputs, list(sitting.differs.values()), count)


def fails(setup, inputs, differs):
    """Return the disagreement of the same name that `inputs` lead to, or None."""
    pipes = {"pipe": ("pipe",), WITHOUT_REFUSED: ("pipe", WITHOUT_REFUSED)}.get(differs.check, ())
    with folder() as place, Sitting(setup, place, pipes) as sitting:
        for one in inputs:
            sitting.takes(one)
            sitting.compare([*pipes, differs.check])
            if differs.check in sitting.differs:
                break
        sitting.end([differs.check])
        found = sitting.differs.get(differs.check)
    return found if found is not None and found.name == differs.name else None


def fewest(setup, inputs, differs, failing=fails, tries=MOST_TRIES):
    """Return the setup, the inputs and the disagreement again, with as little as still leads to it."""
    inputs = inputs[: differs.after]
    found = failing(setup, inputs, differs)
    if found is None:
        return setup, inputs, differs  # it takes looking after whole steps
    preset = setup.preset if failing is left else "home"
    for plain in ({"fouls": {}, "nearest": ()}, {"options": {}}, {"preset": preset}, {"beads": "mat"}):
        found = failing(replace(setup, **plain), inputs, differs)
        if found is not None:
            setup, inputs, differs = replace(setup, **plain), inputs[: found.after], found
    size = len(inputs) // 2
    while size:
        at = 0
        while at < len(inputs) and tries:
            fewer, tries = inputs[:at] + inputs[at + size :], tries - 1
            found = failing(setup, fewer, differs)
            if found is None:
                at += size
            else:
                inputs, differs = fewer[: found.after], found
        size //= 2
    return setup, inputs, differs


# nobody is there


def moments(run):
    """Return after how many inputs of a run to leave it alone: at its end, and where a question or a phase is new."""
    seen, at = set(), [len(run.inputs)]
    with folder() as place, Sitting(run.setup, place, ()) as sitting:
        for n, one in enumerate(run.inputs, 1):
            sitting.takes(one)
            story = sitting.table.story
            stands = (story.phase, story.question and (story.question.about, story.question.foul))
            if stands not in seen:
                seen.add(stands)
                at.append(n)
    return sorted(set(at))


def left(setup, inputs, differs=None):
    """Leave a table alone after `inputs`; return how it stands still, or None (with `differs`: when not as there)."""
    with folder() as place, Sitting(setup, place, ()) as sitting:
        for one in inputs:
            sitting.takes(one)
        found = _left(sitting)
    return found if found is None or differs is None or found.name == differs.name else None


def _left(sitting):
    table, after = sitting.table, sitting.taken
    until = sitting.now + ALONE_S
    while sitting.now < until or (table.story.question is not None and sitting.now < table.story.question.t + ALONE_S):
        sitting.now += LOOK_S
        table.tick(sitting.now)
    story = table.story
    if story.question is not None:
        return Differs("alone", f"asks {story.question.foul or story.question.about}", f"{story.question}", after)
    if story.held or story.phase == "check":
        return Differs("alone", f"stands in {story.phase}", f"held {story.held}", after)
    makes = Hands(random.Random(0), sitting.game)
    makes.now = sitting.now
    for _ in range(8 * (story.phase != "over")):
        for event in (Link(makes.later(0.1, 1), up=True), *players(makes, table.story)):
            sitting.takes(Input(event))
            if (table.story.revision, table.story.phase) != (story.revision, story.phase):
                return None
    return (
        None
        if story.phase == "over"
        else Differs("alone", f"does not feel what is done in {story.phase}", story.note, after)
    )


def play_alone(number, seed=0, steps=60, game=None, without=()):
    """Play run `number` in the preset demo, and leave it alone at its end, and where a question or a phase is new."""
    setup = replace(setup_of(number, seed, game=game, preset="demo"), fouls={})
    makes = Hands(random.Random(f"{seed} {number}"), setup.rules(), {*without, *WITH_A_JUDGE})
    inputs, moments = [Input(Link(0.0, up=True))], {}
    with folder() as place, Sitting(setup, place, ()) as sitting:
        sitting.takes(inputs[0])
        for _ in range(steps):
            for one in makes.step(sitting.table.story):
                inputs.append(one)
                sitting.takes(one)
                asked = sitting.table.story.question
                moments.setdefault((sitting.table.story.phase, asked and (asked.about, asked.foul)), len(inputs))
    found = [left(setup, inputs[:n]) for n in (*moments.values(), len(inputs))]
    count = Counter({"steps": steps, "left alone": len(found)})
    return Run(number, setup, inputs, [each for each in found if each is not None], count)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the run to begin with")
    parser.add_argument("--game", choices=registry.names(), help="one game alone")
    parser.add_argument("--without", action="append", default=[], choices=list(CALLS), help="a call that is not made")
    parser.add_argument("--alone", action="store_true", help="whether a table goes on with nobody there")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    check_makers()
    one = partial(
        play_alone if args.alone else play,
        seed=args.seed,
        steps=args.steps,
        game=args.game,
        without=tuple(args.without),
    )
    began, count, names, first = time.monotonic(), Counter(), Counter(), {}
    with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        for run in pool.imap_unordered(one, range(args.first, args.first + args.runs)):
            count += run.count
            for differs in run.differs:
                names[differs.name] += 1
                if differs.name not in first or run.number < first[differs.name][0].number:
                    first[differs.name] = run, differs
    for name, (run, differs) in sorted(first.items(), key=lambda item: item[1][0].number):
        setup, inputs, differs = fewest(run.setup, run.inputs, differs, left if args.alone else fails)  # noqa: PLW2901
        print(f"\n{names[name]} times, first in run {run.number} after {differs.after} inputs: {name}")
        print(f"  {setup}\n" + "".join(f"    {each}\n" for each in inputs) + f"  {differs.text}")
    print(f"\n{args.runs} runs, seed {args.seed}, {time.monotonic() - began:.0f} s: {_listed(count)}")
    print(f"{names.total()} disagreements of {len(names)} kinds")
    return 1 if names else 0


def _listed(counts):
    return ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))


if __name__ == "__main__":
    raise SystemExit(main())
